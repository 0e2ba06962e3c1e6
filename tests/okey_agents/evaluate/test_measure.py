"""Scores on tasks: the numbers of the arena where it plays, the rewards of the environment elsewhere."""

import dataclasses

import numpy as np
import pytest

from okey_agents.errors import BotFailureError, BotWarning
from okey_agents.evaluate.arena import evaluate
from okey_agents.evaluate.measure import BLOCK, measure
from okey_env import Observation, OkeyEnv, make_bot
from okey_env.round import derive_seed
from okey_env.tasks import TASKS, task


@pytest.mark.parametrize(("id", "opponent"), [("okey/Round-v0", "greedy"), ("okey/RoundExpert-v0", "expert")])
def test_points_in_rounds_are_those_of_the_arena(id: str, opponent: str) -> None:
    found = measure(id, "cover", deals=30, seed=4)
    assert found.score == evaluate("cover", opponent, deals=30, seed=4, workers=1).points
    assert (found.task, found.bot, found.failures) == (id, "cover", "")
    assert found.means.shape == (30,)


@pytest.mark.parametrize("id", ["okey/Race-v0", "okey/Finish-v0"])
def test_the_score_is_the_reward_of_the_environment(id: str) -> None:
    """The same deals one by one in `OkeyEnv`, with bots whose seed stays the same."""
    own = derive_seed(9, 0)
    greedy = make_bot("greedy", seed=0)

    def steady(observation: Observation) -> int:
        return greedy.act(observation)

    quiet = dataclasses.replace(TASKS[id], opponents=steady, reward="soon")  # type: ignore[arg-type]  # a task names its bots
    expected = np.zeros(6)
    found = measure(quiet, steady, deals=6, seed=9)
    assert found.means.max() > 0
    for seat in range(4):
        env = OkeyEnv(**{**quiet.environment, "learning_seat": seat})
        for deal in range(6):
            env.reset(seed=derive_seed(own, deal))
            over, total = False, 0.0
            while not over:
                _, reward, terminated, truncated, _ = env.step(greedy.act(env.round.observe(seat)))
                total, over = total + reward, terminated or truncated
            expected[deal] += total / 4
    assert found.means == pytest.approx(expected)


def test_a_match_is_scored_by_who_wins_it() -> None:
    found = measure("okey/Match-v0", "expert", deals=3)
    values = {-1 / 3, 1.0, 1 / 3, 1 / 9, 0.0}
    assert all(min(abs(4 * mean - sum(parts)) for parts in _fours(values)) < 1e-6 for mean in found.means)
    assert measure("okey/Match-v0", "random", deals=3).score.mean == pytest.approx(-1 / 3)


def _fours(values: set[float]) -> list[tuple[float, ...]]:
    import itertools

    return list(itertools.combinations_with_replacement(sorted(values), 4))


def test_a_batch_changes_nothing() -> None:
    greedy = make_bot("greedy")

    class OneByOne:
        name = "one by one"

        def reset(self, seed: int) -> None:
            greedy.reset(seed)

        def act(self, observation: Observation) -> int:
            return greedy.act(observation)

    task = dataclasses.replace(TASKS["okey/Finish-v0"], reward="soon+distance")
    alone, together = measure(task, OneByOne(), deals=4), measure(task, "greedy", deals=4)
    assert alone.means.tolist() == together.means.tolist()
    assert alone.means.any()
    assert (alone.bot, together.bot) == ("one by one", "greedy")


@pytest.mark.heavy
@pytest.mark.parametrize("id", ["okey/Race-v0", "okey/Round-v0"])
def test_workers_change_nothing(id: str) -> None:
    one, two = (measure(id, "random", deals=BLOCK + 20, seed=2, workers=workers) for workers in (1, 2))
    assert one.means.tobytes() == two.means.tobytes()


def test_misbehaviour_in_the_arena_is_told() -> None:
    def late(observation: Observation) -> int:
        return observation.legal_actions[0] if observation.throws < 8 else 108

    with pytest.warns(BotWarning):
        found = measure("okey/Round-v0", late, deals=2)
    assert "illegal replies" in found.failures
    with pytest.raises(BotFailureError, match="failed at every one of its"):
        measure("okey/Round-v0", lambda observation: 108, deals=2)


def test_wrong_numbers() -> None:
    with pytest.raises(ValueError, match="deals=1 is out of range: expected 2 to"):
        measure("okey/Race-v0", "random", deals=1)
    with pytest.raises(ValueError, match="workers=0 is out of range"):
        measure("okey/Race-v0", "random", workers=0)
    with pytest.raises(ValueError, match="there is no task 'Race'"):
        measure("Race", "random")
    assert task("okey/Race-v0").reward == "win"
