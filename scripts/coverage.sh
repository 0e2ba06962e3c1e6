#!/usr/bin/env bash
# Which lines and branches of the engine its tests reach. Kernels run as plain Python, since compiled code hides them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export NUMBA_DISABLE_JIT=1

# What other tests reach as well is left to them where it takes minutes without the compiler.
# Numbers wrap around as in compiled code (random.py counts on it), but plain numpy says so each time.
.venv/bin/python -m pytest tests/okey_env/engine tests/okey_env/test_observation.py tests/okey_env/test_saving.py \
    tests/okey_env/test_match.py::test_matches_agree_with_the_twin \
    tests/okey_env/test_match.py::test_each_game_of_a_batch_is_the_match_it_would_be_alone[rules0-zero_sum] \
    tests/okey_env/test_match.py::test_each_game_of_a_batch_is_the_match_it_would_be_alone[rules1-placement] \
    tests/okey_env/test_vector.py::test_each_game_is_the_round_it_would_be_alone[gamelake-points] \
    tests/okey_env/test_vector.py::test_each_game_is_the_round_it_would_be_alone[rules1-win] \
    -n 2 --cov=okey_env/engine --cov-report=term-missing \
    -W "ignore:overflow encountered in scalar:RuntimeWarning" "$@"
