"""Sparse rows give back what was put in; a reservoir is even."""

import numpy as np
import pytest

from okey_agents.training.algorithms.memory import Reservoir, SparseRows


def test_rows_come_back_and_grow() -> None:
    rng = np.random.default_rng(1)
    rows = SparseRows(20, 300)
    few = np.where(rng.random((20, 300)) < 0.02, rng.integers(1, 50, (20, 300)), 0).astype(np.float32)
    many = np.where(rng.random((5, 300)) < 0.5, rng.integers(1, 50, (5, 300)), 0).astype(np.float32)
    many[0] = 0
    many[1, 0] = 7
    rows.put(np.arange(20), few)
    small = rows.nbytes
    rows.put(np.array([3, 4, 8, 9, 19]), many)
    few[[3, 4, 8, 9, 19]] = many
    order = rng.permutation(20)
    np.testing.assert_array_equal(rows.get(order), few[order])
    assert small < rows.nbytes < 20 * 300 * 4
    with pytest.raises(ValueError, match="size=70000: expected 65536 or less"):
        SparseRows(1, 70_000)


def test_a_reservoir_keeps_each_with_the_same_probability() -> None:
    rng = np.random.default_rng(2)
    counts = np.zeros(60)
    for _ in range(4_000):
        reservoir, held = Reservoir(10, rng), np.full(10, -1)
        for begin in range(0, 60, 20):  # also within one call, later ones replace earlier ones
            kept, places = reservoir.places(20)
            assert len(set(places)) == len(places)
            held[places] = begin + kept
        assert len(reservoir) == 10
        counts[held] += 1
    np.testing.assert_allclose(counts / 4_000, 1 / 6, atol=0.03)  # five standard deviations
