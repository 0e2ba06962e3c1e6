#!/usr/bin/env bash
# The long proofs, beyond what CI runs; docs/proofs.md has their last results. About two hours on two cores.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE

echo "slow: engine and reference twin, step by step"
.venv/bin/python scripts/lockstep.py --rounds 100000
echo "slow: random steps under random rules, with invariants"
.venv/bin/python scripts/fuzz.py --steps 100000000
echo "slow: matches and reference twin"
.venv/bin/python -m pytest tests/okey_env/test_match.py -m slow -s -q -p no:cacheprovider
echo "slow: solver and oracle, hand by hand"
.venv/bin/python scripts/check_solver.py --hands 100000
