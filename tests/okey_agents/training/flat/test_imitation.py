"""Imitation: what the teacher wants of its pupil, and that a stopped run changes nothing."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okey_agents.bots.flat import FlatBot
from okey_agents.bots.folder import load_bot
from okey_agents.bots.network import Network
from okey_agents.bots.rated import rate_batch
from okey_agents.thinking.rule_weights import EXPERT
from okey_agents.training.checkpoint import checkpoints, load_checkpoint
from okey_agents.training.export import export
from okey_agents.training.flat import imitation as module
from okey_agents.training.flat.batches import Batch, collect
from okey_agents.training.flat.imitation import Teacher
from okey_agents.training.recipes import config_from_dict
from okey_agents.training.schema import Config
from okey_agents.training.train import train_config
from okey_env.vector import SelfPlay


@pytest.fixture
def games() -> SelfPlay:
    """Sixteen rounds, some decisions after the deal."""
    games = SelfPlay(16, seed=1)
    games.reset()
    for _ in range(9):
        games.step(games.masks.argmax(axis=1))
    return games


def test_a_hard_lesson_is_the_move_alone(games: SelfPlay) -> None:
    teacher = Teacher("greedy", 1, 0.0)
    actions = teacher.choose(games)
    np.testing.assert_array_equal(teacher.targets(), np.eye(109, dtype=np.float32)[actions])


def test_a_soft_lesson_is_the_softmax_of_the_ratings(games: SelfPlay) -> None:
    teacher = Teacher("expert", 1, 0.4)
    actions = teacher.choose(games)
    targets = teacher.targets()
    ratings = np.empty((16, 109), np.float32)
    rate_batch(games.records, EXPERT, ratings)
    np.testing.assert_array_equal(actions, ratings.argmax(axis=1))
    assert (targets[games.masks == 0] == 0).all()
    assert targets.sum(axis=1) == pytest.approx(1)
    odds = np.exp(0.4 * (ratings - ratings.max(axis=1, keepdims=True)).astype(np.float64))
    np.testing.assert_allclose(targets, odds / odds.sum(axis=1, keepdims=True), atol=1e-6)


def test_a_configuration_that_nothing_can_be_learned_from_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"imitation.teacher='greedy' does not rate its moves: .* 'efficient' or 'expert'"
    ):
        config_from_dict({"imitation": {"teacher": "greedy", "softness": 0.4}})
    with pytest.raises(
        ValueError, match=r"imitation.decisions=0 is out of range: the recipe 'imitation' expects at least 1"
    ):
        config_from_dict({"run": {"recipe": "imitation"}})


def _config() -> Config:
    """Three batches of 512 decisions, an interval after each, exported in half precision."""
    return config_from_dict(
        {
            "network": {"trunk": [], "policy": [16], "half": True},
            "imitation": {
                "decisions": 1536,
                "teacher": "expert",
                "softness": 0.4,
                "minibatch": 128,
                "value_weight": 0.0,
            },
            "evaluation": {"deals": 0},
            "checkpoints": {"every": 512},
            "run": {"recipe": "imitation", "tensorboard": False},
        }
    )


def test_a_run_that_was_stopped_and_taken_up_ends_with_the_same_weights_and_exports_them_in_half_precision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "NUM_GAMES", 8)
    monkeypatch.setattr(module, "NUM_STEPS", 64)
    whole = train_config(_config(), tmp_path / "whole")

    batches: list[Batch] = []

    def dying(*arguments: Any) -> Batch:
        if len(batches) == 2:
            raise KeyboardInterrupt
        batches.append(collect(*arguments))
        return batches[-1]

    with monkeypatch.context() as patch:
        patch.setattr(module, "collect", dying)
        with pytest.raises(KeyboardInterrupt):
            train_config(_config(), tmp_path / "stopped")
    assert load_checkpoint(checkpoints(tmp_path / "stopped" / "checkpoints")[0]).decisions == 1024
    train_config(_config(), tmp_path / "stopped", resume=True)
    one, other = (
        load_checkpoint(checkpoints(tmp_path / name / "checkpoints")[0]).arrays for name in ("whole", "stopped")
    )
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)

    bot = load_bot(export(whole, tmp_path / "bot"))
    assert isinstance(bot, FlatBot)
    assert isinstance(bot.network, Network)
    for weights, bias in bot.network.layers:
        for array in (weights, bias):
            np.testing.assert_array_equal(array, array.astype(np.float16).astype(np.float32))
    policy = {name.removeprefix("policy."): array for name, array in one.items() if name.startswith("policy.")}
    np.testing.assert_array_equal(bot.network.layers[-1][0], policy["action_net.weight"].T.astype(np.float16))
