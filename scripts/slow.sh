#!/usr/bin/env bash
# The long proofs, beyond what CI runs; docs/proofs.md has their last results. About three hours on two cores. Stopped, the
# fuzzers go on where they were.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE

echo "slow: engine and reference twin, step by step"
.venv/bin/python scripts/lockstep.py --rounds 100000
echo "slow: random steps under random rules, with invariants"
mkdir -p runs/slow
.venv/bin/python scripts/fuzz.py --steps 100000000 --state runs/slow/fuzz.json
echo "slow: messages to the tables, good and bad"
.venv/bin/python scripts/fuzz_wire.py --messages 100000 --state runs/slow/fuzz_wire.json
echo "slow: kill -9 of training, evaluation and the table"
PYTHONPATH=.:agents .venv/bin/python scripts/kills.py --kills 20
echo "slow: a million rounds and two thousand matches in one process"
.venv/bin/python scripts/soak.py
echo "slow: matches and reference twin"
.venv/bin/python -m pytest tests/okey_env/test_match.py -m slow -s -q -p no:cacheprovider
echo "slow: solver and oracle, hand by hand"
.venv/bin/python scripts/check_solver.py --hands 100000
