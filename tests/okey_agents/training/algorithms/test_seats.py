"""Rollouts, returns and choices that the algorithms share."""

import numpy as np
import pytest
import torch

from okey_agents.training.algorithms.seats import (
    Rollout,
    Seats,
    best_of,
    explore,
    falling,
    flat,
    lambda_returns,
    minibatches,
    play,
    sample,
    scores_of,
)
from okey_agents.training.networks.network import legal_log_probs
from tests.okey_agents.training.algorithms.problems import Task


def _rollout(num_steps: int, num_games: int, num_seats: int, seed: int) -> Rollout:
    """Seats, rewards and ends at random; nothing to see."""
    rng = np.random.default_rng(seed)
    shape = (num_steps, num_games)
    return Rollout(
        observations=np.zeros((*shape, 0), np.float32),
        masks=np.zeros((*shape, 0), np.bool_),
        actions=np.zeros(shape, np.int64),
        seats=rng.integers(0, num_seats, shape),
        rewards=rng.normal(size=(*shape, num_seats)).astype(np.float32),
        over=rng.random(shape) < 0.15,
    )


def _expected(rollout: Rollout, values: np.ndarray, trace: np.ndarray, gamma: float, step: int, game: int) -> float:
    """The lambda-return of one decision, by its definition, going forward in time."""
    seat, paid = rollout.seats[step, game], 0.0
    for later in range(step, len(rollout.seats)):
        paid += rollout.rewards[later, game, seat]
        if rollout.over[later, game]:
            return float(paid)
        if later + 1 < len(rollout.seats) and rollout.seats[later + 1, game] == seat:
            value, weight = values[later + 1, game], trace[later + 1, game]
            following = _expected(rollout, values, trace, gamma, later + 1, game)
            return float(paid + gamma * (value if np.isnan(following) else (1 - weight) * value + weight * following))
    return np.nan


@pytest.mark.parametrize("num_seats", [1, 4])
def test_lambda_returns_are_those_of_the_definition(num_seats: int) -> None:
    rollout = _rollout(30, 5, num_seats, seed=num_seats)
    rng = np.random.default_rng(9)
    values = rng.normal(size=(30, 5)).astype(np.float32)
    trace = rng.random((30, 5)).astype(np.float32)
    expected = [[_expected(rollout, values, trace, 0.9, step, game) for game in range(5)] for step in range(30)]
    assert np.isnan(expected).any()
    np.testing.assert_allclose(lambda_returns(rollout, values, trace, 0.9), expected, atol=1e-4)


def test_without_values_only_decisions_of_whole_rounds_have_a_return() -> None:
    rollout = _rollout(40, 6, 4, seed=3)
    found = lambda_returns(rollout, values=None, trace=1)
    for game in range(6):
        ends = np.flatnonzero(rollout.over[:, game])
        for step in range(40):
            end = ends[ends >= step]
            seat = rollout.seats[step, game]
            if len(end):
                total = rollout.rewards[step : end[0] + 1, game, seat].sum()
                assert found[step, game] == pytest.approx(total, abs=1e-4)
            else:
                assert np.isnan(found[step, game])


def test_a_mix_of_distributions_has_the_mean_of_the_mixed_means() -> None:
    rollout = _rollout(4, 20_000, 1, seed=4)
    rollout = rollout._replace(rewards=np.zeros_like(rollout.rewards), over=np.zeros_like(rollout.over))
    values = np.broadcast_to(np.array([[1, 3], [2, 4], [5, 7], [6, 8]], np.float32)[:, None], (4, 20_000, 2))
    drawn = lambda_returns(rollout, values, 0.3, rng=np.random.default_rng(1))
    mixed = lambda_returns(rollout, values.mean(2), 0.3)
    assert set(np.unique(drawn[0])) == {2, 4, 5, 7, 6, 8}  # one estimate is taken whole
    assert drawn[0].mean() == pytest.approx(mixed[0, 0], abs=0.03)


def test_choices_are_legal_and_even() -> None:
    rng = np.random.default_rng(0)
    scores = np.tile(np.array([9, 1, 2, 9, 0], np.float32), (40_000, 1))
    masks = np.tile(np.array([False, True, True, False, True]), (40_000, 1))
    assert set(best_of(scores, masks)) == {2}
    shares = np.bincount(explore(scores, masks, 0.6, rng), minlength=5) / 40_000
    np.testing.assert_allclose(shares, [0, 0.2, 0.6, 0, 0.2], atol=0.015)
    drawn = np.bincount(sample(scores, masks, rng), minlength=5) / 40_000
    softmax = np.exp([1, 2, 0]) / np.exp([1, 2, 0]).sum()
    np.testing.assert_allclose(drawn, [0, softmax[0], softmax[1], 0, softmax[2]], atol=0.015)
    policy = legal_log_probs(torch.from_numpy(scores[:1]), torch.from_numpy(masks[:1])).exp().numpy()[0]
    np.testing.assert_allclose(policy, [0, softmax[0], softmax[1], 0, softmax[2]], atol=1e-6)


@pytest.mark.parametrize("opponents", ["random", None])
def test_a_rollout_keeps_what_was_seen_before_each_action(opponents: str | None) -> None:
    task = Task(opponents, rules={"max_throws": 30})
    seats = Seats(task, 6, seed=2)
    rng = np.random.default_rng(1)
    rollout = play(seats, 150, lambda seen, masks: explore(np.zeros_like(masks, np.float32), masks, 1, rng))
    assert rollout.rewards.shape == (150, 6, 4 if opponents is None else 1)
    assert np.take_along_axis(rollout.masks, rollout.actions[..., None], 2).all()
    assert rollout.over.any()
    again = Seats(task, 6, seed=2)
    for step in range(150):
        np.testing.assert_array_equal(rollout.observations[step], again.observations)
        np.testing.assert_array_equal(rollout.seats[step], again.seats)
        paid, over = again.step(rollout.actions[step])
        np.testing.assert_array_equal(rollout.rewards[step], paid)
        np.testing.assert_array_equal(rollout.over[step], over)


def test_scores_do_not_depend_on_chunks_and_may_be_none() -> None:
    network = torch.nn.Module()
    network.forward = lambda seen: (seen * 2, seen[:, 0])
    seen = np.arange(12, dtype=np.float32).reshape(6, 2)
    np.testing.assert_array_equal(scores_of(network, seen, chunk=4), seen * 2)
    assert scores_of(network, seen[:0]).shape == (0, 2)


def test_schedules_parts_and_flat_arrays() -> None:
    assert [falling(1.0, 0.5, share) for share in (0, 0.5, 1)] == [1, 0.75, 0.5]
    parts = list(minibatches(10, 4, np.random.default_rng(0)))
    assert [len(part) for part in parts] == [4, 4, 2]
    assert sorted(np.concatenate(parts)) == list(range(10))
    rollout = _rollout(3, 2, 1, seed=1)
    np.testing.assert_array_equal(flat(rollout, rollout.seats), rollout.seats.ravel())
