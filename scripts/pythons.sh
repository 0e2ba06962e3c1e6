#!/usr/bin/env bash
# Runs `make test` of the last commit with other interpreters, each in a clone of its own:
# scripts/pythons.sh python3.12 python3.13. From 3.12 on a newer numpy is pinned (constraints.txt).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# -gt 0 ] || {
    echo "pythons: name interpreters, as in: scripts/pythons.sh python3.12 python3.13" >&2
    exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for python in "$@"; do
    clone=$work/$(basename "$python")
    git clone -q . "$clone"
    echo "pythons: $("$python" --version)"
    PYTHON=$python make -C "$clone" test
done
