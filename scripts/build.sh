#!/usr/bin/env bash
# Builds the wheel, looks at what is in it, and plays a round from it where the sources cannot be seen.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$PWD/.venv/bin/python
unset PYTHONPATH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "build: the wheel"
"$python" -m build --wheel --no-isolation --outdir "$work/dist" >"$work/build.log" 2>&1 || {
    cat "$work/build.log"
    exit 1
}
.venv/bin/check-wheel-contents "$work"/dist/*.whl

# An environment of its own for the wheel, which borrows the dependencies of .venv. A folder named in a .pth file is put
# on the path without its own .pth files being read, so the editable install there stays out of sight.
echo "build: installing it"
"$python" -m venv --without-pip "$work/venv"
"$python" -m pip --python "$work/venv/bin/python" install -qq --no-input --disable-pip-version-check \
    --no-deps --no-index "$work"/dist/*.whl
"$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
    >"$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/borrowed.pth"

echo "build: playing from it"
cp scripts/play_from_wheel.py "$work"
mkdir "$work/elsewhere"
cd "$work/elsewhere"
export NUMBA_CACHE_DIR="$work/kernels" OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE
"$work/venv/bin/okey" rules klasik >rules.txt
"$work/venv/bin/python" -I "$work/play_from_wheel.py" "$work/venv"
