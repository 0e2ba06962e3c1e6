#!/usr/bin/env bash
# Makes .venv with the pinned versions and the project itself, editable. Does nothing when that is done already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The interpreter that is asked for, else the one that .venv was made with, else python3.
python=python3
if [ "$(.venv/bin/python -c 'import sys; print(sys.prefix)' 2>/dev/null)" = "$PWD/.venv" ]; then
    python=.venv/bin/python
fi
python=${PYTHON:-$python}

version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || {
    echo "venv: cannot run $python; name an interpreter, as in: PYTHON=python3.11 make venv" >&2
    exit 1
}
case $version in
    3.11 | 3.12 | 3.13) ;;
    *)
        echo "venv: okey-env needs Python 3.11 to 3.13, and $python is $version;" \
            "name another, as in: PYTHON=python3.11 make venv" >&2
        exit 1
        ;;
esac

# The stamp says what .venv was made from. The folder is in it because an environment cannot be moved.
stamp=.venv/made-from.txt
wanted=$(pwd && echo "$version" && cat pyproject.toml constraints.txt scripts/venv.sh)
if [ -x .venv/bin/okey ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
    exit 0
fi

if [ "$(.venv/bin/python -c 'import sys; print(sys.prefix, "%d.%d" % sys.version_info[:2])' 2>&1)" != "$PWD/.venv $version" ]; then
    echo "venv: making .venv with Python $version (a few minutes)"
    "$python" -m venv --clear .venv
fi
rm -f "$stamp"

install() {
    local quiet=-q
    [ -t 1 ] || quiet=-qq # no terminal, no progress bars
    .venv/bin/python -m pip install --no-input --disable-pip-version-check "$quiet" --constraint constraints.txt "$@"
}

# torch first and alone: any later step then finds the pinned one in place and does not go looking for another.
echo "venv: installing torch"
install torch
echo "venv: installing the other packages"
install hatchling editables
install --no-build-isolation --editable '.[train,dev]'
.venv/bin/python -m pip check --disable-pip-version-check
echo "$wanted" >"$stamp"
