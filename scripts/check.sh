#!/usr/bin/env bash
# Runs parts of what CI runs, one after the other, and says how long each took: scripts/check.sh lint types
# Without arguments: format, lint, types and import contracts. None of them changes anything.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH="$PWD/.venv/bin:$PATH"

[ $# -gt 0 ] || set -- format lint types contracts

run() {
    case $1 in
    format) ruff format --check . ;;
    lint) ruff check . ;;
    types) mypy ;;
    contracts) lint-imports --no-logo ;;
    tests) scripts/test.sh ;;
    quick) scripts/test.sh -n 2 --dist loadfile --no-loadscope-reorder -m "not slow and not heavy" ;;
    wheel) scripts/build.sh ;;
    *)
        echo "check: there is no part $1: expected format, lint, types, contracts, tests, quick or wheel" >&2
        return 2
        ;;
    esac
}

times=""
part=""
show_times() {
    local status=$?
    [ "$status" -eq 0 ] || times="$times, $part failed after $SECONDS s"
    echo "check:${times#,}"
}
trap show_times EXIT

for part in "$@"; do
    echo "check: $part"
    SECONDS=0
    run "$part"
    times="$times, $part $SECONDS s"
done
