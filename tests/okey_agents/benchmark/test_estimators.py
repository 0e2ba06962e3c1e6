"""The estimators against their definitions written out, and the bootstrap against what is known of it."""

import itertools
import math

import numpy as np
import pytest

from okey_agents.benchmark.curves import CPU, DECISIONS, band, reached
from okey_agents.benchmark.estimators import Bootstrap, Floats, aggregate, compare, improvement, iqm, profile
from okey_agents.evaluate.statistics import t_quantile


def test_iqm_is_the_mean_of_the_middle() -> None:
    """rliable: `scipy.stats.trim_mean(scores, 0.25, axis=None)`, which cuts int(n / 4) numbers at each end."""
    assert iqm([5.0]) == 5
    assert iqm([3.0, 1.0, 2.0]) == 2  # int(0.75) = 0: none is cut
    assert iqm([100.0, 1.0, 2.0, -50.0]) == 1.5
    assert iqm([9.0, 1.0, 2.0, 3.0, -9.0]) == 2
    assert iqm(np.arange(10.0)) == pytest.approx(np.mean([2, 3, 4, 5, 6, 7]))
    assert iqm([[0.0, 1.0, 2.0, 99.0], [4.0, 4.0, 4.0, 0.0]]).tolist() == [1.5, 4.0]


@pytest.mark.parametrize("n", range(1, 14))
def test_iqm_by_brute_force(n: int) -> None:
    scores = np.random.default_rng(n).normal(size=n)
    kept = sorted(scores)
    for _ in range(n // 4):
        kept.remove(max(kept))
        kept.remove(min(kept))
    assert iqm(scores) == pytest.approx(math.fsum(kept) / len(kept))


def test_improvement_by_brute_force() -> None:
    """rliable: for each task U / (n m) of Mann and Whitney, ties one half; then the mean over tasks."""
    random = np.random.default_rng(3)
    first = [random.integers(0, 4, 3).astype(float), random.integers(0, 4, 5).astype(float)]
    second = [random.integers(0, 4, 4).astype(float), random.integers(0, 4, 2).astype(float)]
    by_hand = []
    for one, other in zip(first, second, strict=True):
        won = [1.0 if a > b else 0.5 if a == b else 0.0 for a, b in itertools.product(one, other)]
        by_hand.append(sum(won) / len(won))
    assert improvement(first, second) == pytest.approx(sum(by_hand) / 2)
    assert improvement(second, first) == pytest.approx(1 - sum(by_hand) / 2)


def test_profile_by_brute_force() -> None:
    """rliable: `np.mean(scores > tau)` for each tau."""
    scores = np.array([0.2, 0.5, 0.5, 0.9])
    assert profile(scores, [0.0, 0.2, 0.5, 0.7, 0.9]).tolist() == [1.0, 0.75, 0.25, 0.25, 0.0]
    assert profile([scores, scores + 1], [0.5, 1.2]).tolist() == [[0.25, 0.0], [1.0, 0.75]]


def test_runs_are_drawn_within_their_task() -> None:
    """One run for each task: nothing but deals can vary, and equal deals leave an interval of width 0."""
    scores = {"a": np.full((1, 20), 0.25), "b": np.full((1, 20), 0.75)}
    found = aggregate(scores, Bootstrap({"a": 20, "b": 20}))
    assert found == (0.5, 0.5, 0.5)
    uneven = {"a": np.zeros((3, 20)), "b": np.ones((1, 20))}
    drawn = Bootstrap({"a": 20, "b": 20}).runs(uneven)
    assert drawn["a"].shape == (2_000, 3)
    assert not drawn["a"].any()
    assert drawn["b"] == pytest.approx(1)


@pytest.mark.parametrize("runs", [2, 3])
def test_seeds_are_drawn_again_as_all_their_combinations_are(runs: int) -> None:
    """Without noise of deals, the mean over drawn seeds has the distribution of all n^n equally likely draws."""
    values = np.array([0.0, 1.0, 5.0])[:runs]
    drawn = Bootstrap({"a": 20}, resamples=40_000).runs({"a": np.repeat(values[:, None], 20, axis=1)})["a"].mean(axis=1)
    every = [np.mean(chosen) for chosen in itertools.product(values, repeat=runs)]
    for value in set(np.round(every, 9)):
        assert np.mean(np.isclose(drawn, value)) == pytest.approx(np.mean(np.isclose(every, value)), abs=0.01)


def test_deals_are_drawn_again_and_the_same_for_all_algorithms() -> None:
    """The spread is that of a mean of G groups; a shift of all deals leaves no spread in the difference."""
    groups = np.random.default_rng(1).normal(size=(1, 20))
    bootstrap = Bootstrap({"a": 20}, resamples=20_000)
    one, other = (bootstrap.runs({"a": groups + shift})["a"][:, 0] for shift in (0, 0.1))
    assert one.std() == pytest.approx(groups.std() / math.sqrt(20), rel=0.03)
    assert np.allclose(other - one, 0.1)
    assert compare({"a": groups + 0.1}, {"a": groups}, bootstrap) == (1, 1, 1)


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    """Runs with noise of seeds and of deals: with ten seeds, 95 % intervals hold the mean in nine cases of ten."""
    random = np.random.default_rng(7)
    held = 0
    for number in range(200):
        scores = random.normal(0, 1, (10, 1)) + random.normal(0, 1, (1, 20)) + random.normal(0, 1, (10, 20))
        found = aggregate({"a": scores}, Bootstrap({"a": 20}, number, 400), of=lambda v: np.asarray(v).mean(axis=-1))
        held += found.low <= 0 <= found.high
    assert 0.86 <= held / 200 <= 0.99


def test_algorithms_without_a_common_task_are_not_compared() -> None:
    scores = np.zeros((1, 20))
    with pytest.raises(ValueError, match="no task in common"):
        compare({"a": scores}, {"b": scores}, Bootstrap({"a": 20, "b": 20}))


def curve(*points: tuple[float, float, float, float]) -> Floats:
    return np.array(points)


def test_a_band_is_the_mean_where_all_seeds_were_measured() -> None:
    first = curve((10, 1, 0.0, 0.0), (1000, 100, 1.0, 0.0))
    second = curve((100, 10, 0.5, 0.0), (2000, 200, 0.5, 0.0))
    found = band([first, second], DECISIONS)
    assert found is not None
    assert found.x[[0, -1]] == pytest.approx([100, 1000])
    assert found.mean[[0, -1]] == pytest.approx([0.5, 0.75])  # halfway on the log scale from 10 to 1000
    assert (found.low[-1], found.high[-1]) == pytest.approx((0.5, 1.0))
    by_time = band([first, second], CPU)
    assert by_time is not None
    assert by_time.x[[0, -1]] == pytest.approx([10, 100])


def test_the_band_of_one_seed_is_that_of_its_deals() -> None:
    found = band([curve((10, 1, 0.3, 0.2))], DECISIONS)
    assert found is not None
    assert (found.low[0], found.high[0]) == pytest.approx((0.1, 0.5), abs=0.03)
    assert t_quantile(10**6) == pytest.approx(1.96, abs=0.001)


def test_curves_that_share_nothing_have_no_band() -> None:
    assert band([curve((10, 1, 0, 0)), curve((20, 2, 0, 0))], DECISIONS) is None
    assert band([curve((0, 0, 0, 0))], DECISIONS) is None
    assert band([], DECISIONS) is None


def test_of_points_at_the_same_place_the_last_counts() -> None:
    found = band([curve((10, 1, 0.0, 0.0), (10, 2, 1.0, 0.0))], DECISIONS)
    assert found is not None
    assert found.mean.tolist() == [1.0]


def test_a_score_is_reached_at_the_first_point_that_has_it() -> None:
    path = curve((10, 1, 0.0, 0.1), (20, 2, 0.6, 0.1), (40, 4, 0.4, 0.1))
    assert reached(path, 0.5) == (20, 2.0)
    assert reached(path, 0.0) == (10, 1.0)
    assert reached(path, 0.7) is None
