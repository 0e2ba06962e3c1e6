#!/usr/bin/env bash
# Runs the tests and doctests, all or those named: scripts/test.sh tests/okey_env/engine -k pairs
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE # idle threads of torch would otherwise spin beside the tests

if [ $# -eq 0 ]; then
    set -- -n 2 --dist loadfile --no-loadscope-reorder --durations 10
fi
.venv/bin/python -m pytest "$@"
