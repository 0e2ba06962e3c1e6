#!/usr/bin/env bash
# Plays all bots against each other and writes docs/ladder.md, docs/ladder.svg and docs/ladder.json. Stopped, it goes
# on from runs/ladder.jsonl. Arguments are passed on: scripts/ladder.sh --deals 2000 --fewer search=100
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export OMP_WAIT_POLICY=PASSIVE
exec .venv/bin/okey ladder --into docs --state runs/ladder.jsonl "$@"
