"""Every algorithm runs within its budget, gives the same bot for the same seed, and learns what is easy to learn."""

import inspect
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from okey_agents.bots.flat import FlatBot
from okey_agents.evaluate.arena import evaluate
from okey_agents.training.algorithms import ALGORITHMS, algorithm
from okey_env import SelfPlay
from okey_env.bots import choose_for, make_bot
from tests.okey_agents.training.algorithms.problems import Decisions, RecallTask, Task
from tests.places import ROOT

AT_ONE_SEAT = {"maskable_ppo"}
FROM_NOTHING = sorted(set(ALGORITHMS) - {"behaviour_cloning", "dagger", "maskable_ppo", "ppo"})
"""Those that learn from rewards alone. SB3 and `ppo` need a real environment; `ppo` has tests of its own."""


def _train(name: str, limit: int, opponents: str | None = "greedy", seed: int = 1, **options: Any) -> Any:
    budget = Decisions(limit)
    options = {"games": 8, "steps": 16, "minibatch": 64, **options}
    return algorithm(name)(Task(opponents), budget, seed, **options), budget


def _scores(bot: FlatBot) -> Any:
    """What its network says of the same 16 observations."""
    games = SelfPlay(16, encoder=bot.encoder, seed=9)
    games.reset()
    return bot.network(games.observations).copy()


@pytest.mark.heavy
@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_runs_within_its_budget_and_gives_the_same_bot_again(name: str) -> None:
    bot, budget = _train(name, 384)
    assert budget.told == [0, 128, 256, 384]
    again, _ = _train(name, 384)
    other, _ = _train(name, 384, seed=2)
    scores, same, different = (_scores(one) for one in (bot, again, other))
    np.testing.assert_array_equal(scores, same)
    assert (scores != different).any()
    first, last = (_scores(one) for one in budget.bots[::3])
    np.testing.assert_array_equal(last, scores)
    assert (first != last).any()  # a bot does not change while its network learns on
    assert evaluate(bot, "random", 5, workers=1).rounds == 20


@pytest.mark.heavy
@pytest.mark.parametrize("name", sorted(set(ALGORITHMS) - AT_ONE_SEAT))
def test_all_seats_learn_in_self_play_and_the_bot_moves_legally(name: str) -> None:
    bot, budget = _train(name, 256, opponents=None, network="mlp", encoder="flat")
    assert budget.told == [0, 128, 256]
    games = SelfPlay(16, seed=3)
    games.reset()
    for _ in range(60):
        games.step(choose_for(bot, games.games, np.arange(16), games.records))  # raises if a move is illegal


@pytest.mark.parametrize("name", sorted(AT_ONE_SEAT))
def test_refuses_self_play(name: str) -> None:
    with pytest.raises(ValueError, match="self-play"):
        _train(name, 256, opponents=None)


@pytest.mark.heavy
@pytest.mark.parametrize("name", FROM_NOTHING)
def test_learns_to_recall(name: str) -> None:
    """The first of two decisions is paid after the second: 1/4 of it by chance."""
    budget = Decisions(40_000)
    options = {"games": 64, "steps": 16, "minibatch": 128, "network": "mlp", "learning_rate": 3e-3}
    bot = algorithm(name)(RecallTask(), budget, 1, **options)
    shown = np.eye(5, dtype=np.float32)[:4]
    begun, learned = (one.network(shown).copy() for one in (budget.bots[0], bot))
    assert (begun[:, :4].argmax(1) == range(4)).sum() < 4
    np.testing.assert_array_equal(learned[:, :4].argmax(1), range(4))


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["behaviour_cloning", "dagger"])
def test_imitates_the_teacher(name: str) -> None:
    bot, budget = _train(name, 8_192, games=32, steps=64)
    games = SelfPlay(64, seed=5)
    games.reset()
    teacher, every = make_bot("expert", seed=1), np.arange(64)
    same = {"begun": list[Any](), "learned": list[Any]()}
    for _ in range(60):
        moves = choose_for(teacher, games.games, every, games.records)
        for when, one in (("begun", budget.bots[0]), ("learned", bot)):
            same[when].append(choose_for(one, games.games, every, games.records) == moves)
        games.step(moves)
    assert np.mean(same["begun"]) < 0.5
    assert np.mean(same["learned"]) > 0.6, np.mean(same["begun"])


def test_an_unknown_name_is_refused_and_no_torch_is_imported_before_it_is_needed() -> None:
    with pytest.raises(ValueError, match="algorithm='sarsa' is not an algorithm: expected 'behaviour_cloning'"):
        algorithm("sarsa")
    code = "import sys, okey_agents.training.algorithms; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_the_page_tells_the_options_of_each(name: str) -> None:
    page = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8").splitlines()
    (row,) = [line for line in page if line.startswith(f"| `{name}` |")]
    told = row.split("|")[-2]
    common = {"task", "budget", "seed", "network", "encoder", "reward", "games", "steps", "learning_rate", "minibatch"}
    parameters = inspect.signature(algorithm(name)).parameters
    own = {key for key, value in parameters.items() if value.kind is not value.VAR_KEYWORD} - common
    assert set(re.findall(r"`(\w+)`", told)) == own
