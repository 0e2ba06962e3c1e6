"""Reward functions in batches: they pay what the same reward pays by its name, and what they pay in `OkeyEnv`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from okey_env import OkeyEnv, OkeyVectorEnv, Round, SelfPlay, make_bot, rewards
from okey_env.rewards import as_reward

RULES = {"max_throws": 40}
START = {"deal": 1.0, "distance-1": 2.0}
EXPERT = make_bot("efficient", seed=1)


def function_of(name: str) -> Callable[[Round], Any]:
    return lambda round: as_reward(name)(round)


def soon(round: Round) -> list[float]:
    """Changes with every throw, which no reward by name does."""
    return [points * (1 + round.stock_left / 48) - round.stock_left / 8 for points in rewards.zero_sum(round)]


def sensible(records: npt.NDArray[np.record]) -> npt.NDArray[np.int64]:
    return EXPERT.act_batch(records)  # type: ignore[attr-defined, no-any-return] # a compiled bot


@pytest.mark.parametrize("name", ["zero_sum", "win", "points+distance", "zero_sum+potential"])
def test_self_play_pays_as_by_name(name: str) -> None:
    common: dict[str, Any] = {"rules": RULES, "encoder": None, "seed": 4, "start": START}
    named, asked = SelfPlay(12, reward=name, **common), SelfPlay(12, reward=function_of(name), **common)
    named.reset()
    asked.reset()
    ends = 0
    for _ in range(150):
        actions = sensible(named.records)
        named.step(actions)
        asked.step(actions)
        np.testing.assert_allclose(asked.rewards, named.rewards, atol=1e-5)
        for field in ("terminated", "truncated", "records", "masks", "seats"):
            np.testing.assert_array_equal(getattr(asked, field), getattr(named, field))
        ends += int((named.terminated | named.truncated).sum())
    assert ends > 20


@pytest.mark.parametrize("name", ["zero_sum", "points+distance"])
@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_a_vector_pays_as_by_name(name: str, mode: str) -> None:
    common: dict[str, Any] = {"rules": RULES, "seed": 4, "start": START, "autoreset_mode": mode}
    named, asked = OkeyVectorEnv(8, reward=name, **common), OkeyVectorEnv(8, reward=function_of(name), **common)
    named.reset(seed=3)
    asked.reset(seed=3)
    ends = 0
    for step in range(120):
        actions = sensible(named.records)
        waits = named.masks.any(axis=1)  # with NextStep an action is ignored after an end
        actions = np.where(waits, actions, 0)
        if step % 40 == 39 and name == "zero_sum":
            actions[step % 8] = 108  # ends an episode; of a function, only what it pays at ends is known
        before, after = named.step(actions), asked.step(actions)
        np.testing.assert_array_equal(after[0]["observation"], before[0]["observation"])
        np.testing.assert_allclose(after[1], before[1], atol=1e-5)
        for place in (2, 3):
            np.testing.assert_array_equal(after[place], before[place])
        ends += int((before[2] | before[3]).sum())
    assert ends > 12


def test_a_function_of_ones_own_pays_the_same_in_a_vector_as_in_one_environment() -> None:
    many = OkeyVectorEnv(1, rules=RULES, reward=soon, opponents="random", learning_seat=2)
    one = OkeyEnv(rules=RULES, reward=soon, opponents="random", learning_seat=2)
    for seed in range(6):
        seen, _ = many.reset(seed=[seed])
        first, _ = one.reset(seed=seed)
        np.testing.assert_array_equal(seen["observation"][0], first["observation"])
        over = False
        while not over:
            action = int(sensible(many.records)[0]) if seed < 5 else 108
            _, paid, terminated, truncated, _ = many.step(np.array([action]))
            _, alone, ended, cut, _ = one.step(action)
            assert paid[0] == pytest.approx(alone, abs=1e-9)
            assert (terminated[0], truncated[0]) == (ended, cut)
            over = ended or cut


def test_a_restored_game_is_paid_from_there_on() -> None:
    first, second = (SelfPlay(2, RULES, encoder=None, seed=seed, reward=soon) for seed in (1, 2))
    first.reset()
    second.reset()
    for step in range(50):
        if step == 20:
            second.restore(1, first.save(0))
        first.step(sensible(first.records))
        second.step(sensible(second.records))
        if step >= 20:
            np.testing.assert_allclose(second.rewards[1], first.rewards[0], atol=1e-5)


@pytest.mark.parametrize("make", [SelfPlay, OkeyVectorEnv])
def test_what_is_no_reward_function_of_a_batch_is_refused(make: Any) -> None:
    with pytest.raises(ValueError, match="not a reward of a batch of matches: expected one of"):
        make(2, reward=soon, episode="match")
    with pytest.raises(ValueError, match="or a function of a Round"):
        make(2, reward=3)
    with pytest.raises(ValueError, match="expected four numbers, one for each seat"):
        make(2, reward=lambda round: [1, 2, 3], seed=1).reset()
    plain = make(2, reward=soon)
    with pytest.raises(ValueError, match="no dense term to weigh"):
        plain.distance_weight = 1.0
