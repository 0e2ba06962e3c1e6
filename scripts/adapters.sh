#!/usr/bin/env bash
# Runs the tests of other frameworks, each in an environment of its own with pinned versions: scripts/adapters.sh tianshou
# Without arguments: all of them. The first run of each installs its packages into .adapters/NAME.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE # idle threads of torch would otherwise spin beside the tests

[ $# -gt 0 ] || set -- openspiel tianshou torchrl rllib ray
for name in "$@"; do
    wanted=tests/adapters/requirements/$name.txt
    [ -f "$wanted" ] || { echo "adapters: there is no $wanted" >&2; exit 2; }
    home=.adapters/$name
    if [ ! -f "$home/made-from.txt" ] || ! cmp -s "$wanted" "$home/made-from.txt"; then
        echo "adapters: installing $name"
        python3 -m venv --clear "$home"
        # torch first and alone: any later step then finds the pinned one and does not bring packages for CUDA
        "$home/bin/pip" install -q --disable-pip-version-check "$(grep '^torch==' "$wanted")"
        "$home/bin/pip" install -q --disable-pip-version-check -r "$wanted" -e .
        cp "$wanted" "$home/made-from.txt"
    fi
    echo "adapters: $name"
    "$home/bin/python" -m pytest -o addopts=--import-mode=importlib -o filterwarnings=default --noconftest -rP \
        "tests/adapters/test_$name.py"
done
