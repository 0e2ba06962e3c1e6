#!/usr/bin/env bash
# Trains the agents that ship again, from nothing, and measures them; what lies in runs/reproduce is gone on with.
# Without arguments all of them; with names, like flat-gamelake, those.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE # torch learns on one thread; the other core plays
okey=.venv/bin/okey
folder=runs/reproduce

names=("$@")
[ $# -gt 0 ] || names=(learned-gamelake learned-klasik flat-gamelake flat-klasik zero-gamelake zero-klasik)
for name in "${names[@]}"; do
    case $name in
    learned-gamelake) config=branching opponent=expert rules=gamelake ;;
    learned-klasik) config=branching_klasik opponent=expert rules=klasik ;;
    flat-gamelake) config=flat opponent=efficient rules=gamelake ;;
    flat-klasik) config=flat_klasik opponent=efficient rules=klasik ;;
    zero-gamelake) config=zero opponent=expert rules=gamelake ;;
    zero-klasik) config=zero_klasik opponent=expert rules=klasik ;;
    *) echo "reproduce: there is no recipe for $name: expected learned-, flat- or zero-, and gamelake or klasik" >&2 && exit 2 ;;
    esac
    resume=()
    [ ! -d "$folder/$name-run" ] || resume=(--resume)
    "$okey" train "training_configs/$config.toml" --run "$folder/$name-run" "${resume[@]}"
    "$okey" export "$folder/$name-run" "$folder/$name"
    "$okey" evaluate "$folder/$name" "$opponent" --rules "$rules" --deals 10000 --seed 2
done
