#!/usr/bin/env bash
# Shows learning in a few minutes: a network learns from its own games, from random weights to a bot that beats greedy.
# All of it lies in runs/demo afterwards; what an earlier demo left there is replaced.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE # each thread of Python is one thread of torch
okey=.venv/bin/okey
folder=runs/demo

rm -rf "$folder"
echo "demo: learning from random weights (training_configs/demo.toml)"
"$okey" train training_configs/demo.toml --run "$folder/run"
.venv/bin/python scripts/curves.py "$folder/run" --into "$folder/curve.svg"
echo "demo: exporting the bot to $folder/bot"
"$okey" export "$folder/run" "$folder/bot"
echo "demo: measuring it against greedy, on fresh deals"
"$okey" evaluate "$folder/bot" greedy --deals 1000 --seed 1 --json "$folder/against_greedy.json"
echo "demo: the learning curve is $folder/curve.svg"
echo "demo: sit down against the bot: $okey play --bot $folder/bot"
