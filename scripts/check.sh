#!/usr/bin/env bash
# Format, lint, types and import contracts. Changes nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH="$PWD/.venv/bin:$PATH"

echo "check: format"
ruff format --check .
echo "check: lint"
ruff check .
echo "check: types"
mypy
echo "check: import contracts"
lint-imports --no-logo
