# Every command starts here and is one short script in scripts/. `make` alone lists them.
# PYTHON=python3.12 make venv  chooses the interpreter that .venv is made with; the other commands keep to it.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help venv demo reproduce quick test pythons check format slow adapters bench coverage clean

help:  ## list these commands
	@sed -n 's/^\([a-z]*\):.*##  *\(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do \
		printf '  make %-10s %s\n' "$$name" "$$text"; done

venv:  ## make .venv with all that the other commands need (they do it themselves)
	@scripts/venv.sh

demo: venv  ## train a small agent, export it as a bot, measure it against other bots
	scripts/demo.sh

reproduce: venv  ## train the agents that ship again, from nothing, and measure them
	scripts/reproduce.sh

quick: venv  ## the daily round, in two minutes: checks, and the tests that are not heavy
	scripts/check.sh format lint types contracts quick

test: venv  ## all that CI runs: checks, tests and doctests, the wheel
	scripts/check.sh format lint types contracts tests wheel

pythons:  ## the same in fresh clones with other interpreters: make pythons PYTHONS="python3.12 python3.13"
	scripts/pythons.sh $(PYTHONS)

check: venv  ## format, lint, types, import contracts (nothing is changed)
	scripts/check.sh

format: venv  ## put sources into the project's format and mend what lint can mend
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

slow: venv  ## the long proofs, beyond what CI runs
	scripts/slow.sh

adapters:  ## the adapters to other frameworks, each in its own environment (.adapters/); minutes
	scripts/adapters.sh

bench: venv  ## measure the speed of the engine and of the environments
	.venv/bin/okey bench

coverage: venv  ## which lines of the engine its tests reach, with the compiler off
	scripts/coverage.sh

clean:  ## remove .venv, caches and build output; trained runs stay
	rm -rf .adapters .venv build dist .coverage .coverage.* htmlcov
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find okey_env agents scripts tests -name __pycache__ -type d -prune -exec rm -rf {} +
