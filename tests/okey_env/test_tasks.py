"""Tasks: they are registered, playable and scored, and say which environment they are."""

import json
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest

import okey_env
from okey_env import OkeyVectorEnv, SelfPlay
from okey_env.encoders import ENCODERS
from okey_env.tasks import REFERENCES, SCORES_FILE, TASKS, Task, task

WITH_BOTS = [one.id for one in TASKS.values() if not one.only_self_play]


def test_the_tasks() -> None:
    assert list(TASKS) == [
        "okey/Finish-v0",
        "okey/Race-v0",
        "okey/Round-v0",
        "okey/RoundExpert-v0",
        "okey/SelfPlay-v0",
        "okey/RoundRaw-v0",
        "okey/Match-v0",
    ]
    assert okey_env.TASKS is TASKS
    assert okey_env.task("okey/Race-v0") is TASKS["okey/Race-v0"]


def test_an_unknown_task_is_named_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"no task 'okey/Rounds-v0'.*did you mean 'okey/Round-v0'\?"):
        task("okey/Rounds-v0")


@pytest.mark.parametrize("id", WITH_BOTS)
def test_gymnasium_makes_the_environment_of_the_task(id: str) -> None:
    """The same first observation as that of the class itself, and legal play to the end of an episode."""
    one, many = gymnasium.make(id), gymnasium.make_vec(id, num_envs=3)
    observation, _ = one.reset(seed=5)
    size = ENCODERS[TASKS[id].encoder].size
    assert observation["observation"].shape == (size,)
    first, _ = many.reset(seed=5)
    own = TASKS[id].make_vec(3, seed=5)
    assert first["observation"].tobytes() == own.reset()[0]["observation"].tobytes()
    assert first["observation"].shape == (3, size)
    plain: Any = one.unwrapped
    assert {bot.name for bot in plain._opponents} == {okey_env.make_bot(TASKS[id].opponents).name}
    for _ in range(5_000):
        observation, reward, terminated, truncated, _ = one.step(int(np.flatnonzero(observation["action_mask"])[-1]))
        assert np.isfinite(float(reward))
        if terminated or truncated:
            break
    else:
        raise AssertionError("no end")
    many.close()


def test_self_play_is_pettingzoos_and_has_no_bots() -> None:
    one = task("okey/SelfPlay-v0")
    assert "okey/SelfPlay-v0" not in gymnasium.registry
    env: Any = pettingzoo.make("aec", "okey/SelfPlay-v0")
    env.reset(seed=1)
    assert env.last()[0]["observation"].shape == (ENCODERS["tiles"].size,)
    with pytest.raises(ValueError, match=r"okey/SelfPlay-v0 has no bot in training: expected self_play\(\)"):
        one.make_vec(2)


@pytest.mark.parametrize("id", TASKS)
def test_self_play_of_every_task(id: str) -> None:
    one = TASKS[id]
    games = one.self_play(2, seed=3)
    assert isinstance(games, SelfPlay)
    assert games.encoder is ENCODERS[one.encoder]
    games.reset()
    for _ in range(50):
        games.step(games.masks.argmax(axis=1))
    changed = one.self_play(2, seed=3, encoder=None)
    assert changed.encoder is None


def test_keywords_can_be_changed_for_training() -> None:
    env = task("okey/Round-v0").make_vec(2, seed=1, encoder="flat", reward="win")
    assert isinstance(env, OkeyVectorEnv)
    assert env.encoder is ENCODERS["flat"]


@pytest.mark.parametrize("id", ["okey/Finish-v0", "okey/Race-v0"])
def test_the_clock_runs_out_after_forty_throws(id: str) -> None:
    env = TASKS[id].make_vec(20, seed=2)
    env.reset()
    most = 0
    for _ in range(200):
        throws = env.games["throws"].copy()
        _, reward, _, truncated, _ = env.step(env.masks.argmax(axis=1))
        most = max(most, int(throws.max()))
        assert reward[truncated].tolist() == [0.0] * int(truncated.sum())
    assert 35 <= most < 40


def test_scores_are_kept_for_every_task_with_their_margins() -> None:
    kept = json.loads(SCORES_FILE.read_text(encoding="utf-8"))
    assert set(kept["scores"]) == set(kept["made"]) == set(TASKS)
    for one in TASKS.values():
        assert set(one.scores) == set(REFERENCES)
        assert all(score.margin < 0.1 * (one.expert - one.random) for score in one.scores.values())
        assert one.random < one.greedy < one.efficient
        assert one.random < one.learned
        assert one.normalised(one.random) == 0
        assert one.normalised(one.expert) == pytest.approx(1)
        assert one.normalised((one.random + one.expert) / 2) == pytest.approx(0.5)
        assert kept["made"][one.id]["command"].startswith("okey tasks random greedy")


def test_a_task_without_scores_says_so() -> None:
    with pytest.raises(ValueError, match="okey/Mine-v0 has no measured scores"):
        Task("okey/Mine-v0", "Mine.").normalised(1.0)
