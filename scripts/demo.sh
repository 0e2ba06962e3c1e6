#!/usr/bin/env bash
# The whole way in a few minutes: trains a small bot, exports it, and measures it against other bots.
# All of it lies in runs/demo afterwards; what an earlier demo left there is replaced.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE # torch learns on one thread; more only get in each other's way
okey=.venv/bin/okey
folder=runs/demo

rm -rf "$folder"
echo "demo: training a bot (training_configs/smoke.toml)"
"$okey" train training_configs/smoke.toml --run "$folder/run"
echo "demo: exporting it to $folder/bot"
"$okey" export "$folder/run" "$folder/bot"
for opponent in random greedy; do
    echo "demo: measuring it against $opponent"
    "$okey" evaluate "$folder/bot" "$opponent" --deals 1000 --seed 1 --json "$folder/against_$opponent.json"
done
echo "demo: the bot is in $folder/bot; okey evaluate $folder/bot greedy plays it again"
