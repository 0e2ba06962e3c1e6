"""The engine agrees with the reference twin on every step: 1,000 rounds here, 100,000 in scripts/lockstep.py."""

from collections import Counter

import pytest

from okey_env.engine._jit import JIT_IS_OFF
from tests.lockstep import play

ROUNDS = 100 if JIT_IS_OFF else 1_000  # as plain Python the engine is slow, and only coverage is asked of it
CHUNKS = 10


@pytest.mark.parametrize("chunk", [0, *(pytest.param(chunk, marks=pytest.mark.heavy) for chunk in range(1, CHUNKS))])
def test_engine_and_twin_agree_on_every_step(chunk: int) -> None:
    size = ROUNDS // CHUNKS
    endings = Counter(play(seed)[0] for seed in range(chunk * size, (chunk + 1) * size))
    if JIT_IS_OFF:
        return
    # rounds that only ever end in one way would prove little
    assert sum(count for ending, count in endings.items() if ending.startswith("finish")) >= size // 10
    assert endings["void"] >= size // 10
    assert any("pairs" in ending for ending in endings)
