#!/usr/bin/env bash
# Trains the agents that ship again, from nothing, and measures them; what lies in runs/reproduce is gone on with.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE # torch learns on one thread; the other core plays
okey=.venv/bin/okey
folder=runs/reproduce

for preset in "${@:-gamelake}"; do
    config=training_configs/branching.toml
    [ "$preset" = gamelake ] || config=training_configs/branching_$preset.toml
    resume=()
    [ ! -d "$folder/$preset" ] || resume=(--resume)
    "$okey" train "$config" --run "$folder/$preset" "${resume[@]}"
    "$okey" export "$folder/$preset" "$folder/learned-$preset"
    "$okey" evaluate "$folder/learned-$preset" expert --rules "$preset" --deals 10000 --seed 2
done
