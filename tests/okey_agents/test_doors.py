"""What comes into the players' side is checked at every door: budgets, suites, configurations, measurements, the coach.

Every value that is wrong everywhere goes through every door, and every door names what was given in one sentence.
"""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okey_agents.benchmark.runner import run_suite
from okey_agents.benchmark.suite import Spending, read_suite
from okey_agents.bots.greedy import GreedyBot
from okey_agents.bots.search import SearchBot
from okey_agents.coach.advice import advise
from okey_agents.evaluate.arena import evaluate
from okey_agents.evaluate.ladder import play_ladder
from okey_agents.evaluate.measure import measure
from okey_agents.evaluate.sprt import Sprt
from okey_agents.training.budget import Budget
from okey_agents.training.exploit.best_response import exploit
from okey_agents.training.recipes import config_from_dict
from okey_agents.training.train import train
from okey_env import Observation, Round

NAN, INF = float("nan"), float("inf")
WRONG: list[Any] = [-1, NAN, INF, -INF, True, "3", b"3", [], {"a": 1}, np.array([1, 2]), 1j, object(), 10**400]
"""Nothing that any door takes."""
NOT_WHOLE: list[Any] = [1.5, 2.0, np.float64(3.0), np.float32(1)]
HUGE: list[Any] = [2**64, 2**70]


@functools.cache
def seen() -> Observation:
    round = Round(seed=1)
    return round.observe(round.turn)


TASK = "okey/Finish-v0"
WHOLE: dict[str, Callable[[Any], object]] = {
    "Budget(decisions)": lambda value: Budget(decisions=_below(value)),
    "Budget(points)": lambda value: Budget(decisions=1, points=value),
    "Budget.goes_on": lambda value: Budget(decisions=1).goes_on(_below(value), lambda: "random"),
    "Spending(decisions)": lambda value: Spending(decisions=_below(value)),
    "Spending(deals)": lambda value: Spending(decisions=1, deals=_below(value)),
    "evaluate(deals)": lambda value: evaluate("greedy", "random", value, workers=1),
    "evaluate(seed)": lambda value: evaluate("greedy", "random", 2, seed=value, workers=1),
    "evaluate(workers)": lambda value: evaluate("greedy", "random", 2, workers=value),
    "measure(deals)": lambda value: measure(TASK, "random", value),
    "measure(seed)": lambda value: measure(TASK, "random", 2, value),
    "measure(workers)": lambda value: measure(TASK, "random", 2, 1, value),
    "play_ladder(deals)": lambda value: play_ladder(["greedy", "random"], value, workers=1),
    "play_ladder(fewer)": lambda value: play_ladder(["greedy", "random"], 2, workers=1, fewer={"random": value}),
    "exploit(decisions)": lambda value: exploit("greedy", RULES, decisions=_below(value), deals=1),
    "exploit(deals)": lambda value: exploit("greedy", RULES, deals=value),
    "exploit(seed)": lambda value: exploit("greedy", RULES, seed=value),
    "exploit(workers)": lambda value: exploit("greedy", RULES, workers=value),
    "advise(worlds)": lambda value: advise(seen(), worlds=value),
    "advise(seed)": lambda value: advise(seen(), worlds=0, seed=value),
    "SearchBot(seed)": lambda value: SearchBot(value),
    "SearchBot(rollouts)": lambda value: SearchBot(rollouts=value),
    "GreedyBot.reset": lambda value: GreedyBot().reset(value),
    "run_suite(workers)": lambda value: run_suite(read_suite("smoke"), Path("no-such-folder"), value),
    "run.seed": lambda value: config_from_dict({"run": {"seed": value}}),
    "run.workers": lambda value: config_from_dict({"run": {"workers": value}}),
    "env.num_envs": lambda value: config_from_dict({"env": {"num_envs": value}}),
    "network.trunk": lambda value: config_from_dict({"network": {"trunk": [value]}}),
}
REAL: dict[str, Callable[[Any], object]] = {
    "Budget(cpu_seconds)": lambda value: Budget(cpu_seconds=value),
    "Spending(cpu_seconds)": lambda value: Spending(cpu_seconds=value),
    "Sprt(high)": lambda value: Sprt(0.0, value),
    "Sprt(alpha)": lambda value: Sprt(0.0, 1.0, alpha=value),
    "evaluate(move_limit)": lambda value: evaluate("greedy", "random", 2, workers=1, move_limit=value),
    "exploit(margin)": lambda value: exploit("greedy", RULES, margin=value),
    "SearchBot(milliseconds)": lambda value: SearchBot(milliseconds=value),
    "maskable_ppo.learning_rate": lambda value: config_from_dict({"maskable_ppo": {"learning_rate": value}}),
    "maskable_ppo.gamma": lambda value: config_from_dict({"maskable_ppo": {"gamma": value}}),
}
OTHER: dict[str, Callable[[Any], object]] = {
    "evaluate(rules)": lambda value: evaluate("greedy", "random", 2, value, workers=1),
    "measure(task)": lambda value: measure(value, "random", 2),
    "exploit(rules)": lambda value: exploit("greedy", value),
    "advise(observation)": lambda value: advise(value, worlds=0),
    "read_suite": lambda value: read_suite(str(value)),
    "game.rules": lambda value: config_from_dict({"game": {"rules": value}}),
    "env.reward": lambda value: config_from_dict({"env": {"reward": value}}),
    "opponents.seats": lambda value: config_from_dict({"opponents": {"seats": value if value != [] else 3}}),
    "run.recipe": lambda value: config_from_dict({"run": {"recipe": value}}),
    "run.tensorboard": lambda value: config_from_dict({"run": {"tensorboard": 1 if value is True else value}}),
    "section": lambda value: config_from_dict({"run": value}),
    "key": lambda value: config_from_dict({"run": {str(value): 1}}),
    "configuration": lambda value: config_from_dict(value),
}
RULES: Any = "gamelake"


def _below(value: Any) -> Any:
    """A count may be large where it only ends what is done."""
    if isinstance(value, int) and value > 2**60:
        raise ValueError("left out")
    return value


@pytest.mark.parametrize("door", [*WHOLE, *REAL, *OTHER])
def test_a_wrong_value_is_refused_in_one_sentence(door: str) -> None:
    values = [*WRONG, *NOT_WHOLE, *HUGE] if door in WHOLE else WRONG if door in REAL else [*WRONG, *NOT_WHOLE]
    pass_through = {**WHOLE, **REAL, **OTHER}[door]
    for value in values:
        with pytest.raises((ValueError, TypeError)) as refused:
            pass_through(value)
        sentence = str(refused.value)
        assert sentence, (door, value)
        assert "\n" not in sentence, sentence
        assert len(sentence) < 700, sentence
        assert isinstance(refused.value, ValueError) or "rules=" in sentence, sentence


def test_numbers_of_numpy_are_numbers() -> None:
    assert Budget(decisions=np.int64(5), points=np.uint8(2)).decisions == 5  # type: ignore[arg-type]
    report = evaluate("random", "random", np.int64(2), seed=np.uint64(3), workers=np.int8(1))  # type: ignore[arg-type]
    assert report.points == evaluate("random", "random", 2, seed=3, workers=1).points
    assert config_from_dict({"run": {"seed": np.int64(3)}}).to_dict()["run"]["seed"] == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[run]\nseed = "x"\n', r"run.seed='x' is not a whole number: expected 0 to 2\*\*63 - 1"),
        ("[maskable_ppo]\nlearning_rate = nan\n", "maskable_ppo.learning_rate=nan is not a finite number: expected"),
        ("[maskable_ppo]\nlearning_rate = -0.1\n", "maskable_ppo.learning_rate=-0.1 is out of range: expected"),
        ('[game]\nrules = { preset = "klasik", "a\\nb" = 1 }\n', r"'a\\nb' is not a switch of the rules"),
        ("run = 1979-05-27\n", "run=datetime.date.* is not a section"),
    ],
)
def test_a_configuration_file_is_refused_before_the_run_starts(tmp_path: Path, text: str, message: str) -> None:
    config = tmp_path / "wrong.toml"
    config.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message) as refused:
        train(config, tmp_path / "run", resume=False)
    assert str(refused.value).count("\n") == 0
    assert not (tmp_path / "run").exists()
