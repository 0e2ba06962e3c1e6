"""Self-play PPO: it learns, the same seed gives the same weights, and stopping it changes nothing."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from okey_agents.bots.flat import FlatBot
from okey_agents.bots.folder import load_bot
from okey_agents.training.checkpoint import Arrays, checkpoints, load_checkpoint
from okey_agents.training.export import export
from okey_agents.training.games import FourSeats
from okey_agents.training.networks import make_network
from okey_agents.training.ppo import learner as module
from okey_agents.training.ppo.learner import Learner
from okey_agents.training.ppo.recipe import PpoConfig
from okey_agents.training.recipes import config_from_dict
from okey_agents.training.schema import Config
from okey_agents.training.sections import RunConfig
from okey_agents.training.train import train_config
from okey_env import SelfPlay


class Stopped(Exception):  # noqa: N818 (it stands for a kill, not for an error)
    pass


def _config(**ppo: Any) -> Config:
    """Four rollouts of 512 decisions, a checkpoint after every second."""
    return config_from_dict(
        {
            "env": {"num_envs": 16, "encoder": "tiles", "reward": "zero_sum+distance"},
            "policy": {"width": 16},
            "ppo": {"decisions": 2048, "steps": 32, "minibatch": 128, **ppo},
            "evaluation": {"against": ["random"], "deals": 2},
            "checkpoints": {"every": 1024},
            "run": {"recipe": "ppo", "tensorboard": False},
        }
    )


def _weights(run: Path) -> Arrays:
    return load_checkpoint(checkpoints(run / "checkpoints")[0]).arrays


def _assert_same(one: Arrays, other: Arrays) -> None:
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_config(_config(), tmp_path_factory.mktemp("runs") / "ppo")


def test_a_run_logs_what_it_learned(finished: Path) -> None:
    lines = [json.loads(line) for line in (finished / "log.jsonl").read_text().splitlines()]
    learned = [line for line in lines if line["event"] == "learned"]
    assert [line["decisions"] for line in learned] == [512, 1024, 1536, 2048]
    assert all(line["entropy"] > 0.5 for line in learned)
    assert lines[-1]["event"] == "finished"


def test_a_seed_settles_the_weights_for_any_number_of_threads(finished: Path, tmp_path: Path) -> None:
    two = _config().replace(dataclasses.replace(_config()[RunConfig], workers=2))
    _assert_same(_weights(train_config(two, tmp_path / "two")), _weights(finished))
    other = _config().replace(dataclasses.replace(_config()[RunConfig], seed=2))
    weights = _weights(train_config(other, tmp_path / "other"))
    assert (weights["policy.network.lay.weight"] != _weights(finished)["policy.network.lay.weight"]).any()


@pytest.mark.parametrize("iteration", [1, 3, 4])
def test_a_run_that_is_stopped_and_resumed_ends_with_the_same_weights(
    iteration: int, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Dying(Learner):
        seen = 0

        def iterate(self, share: float) -> dict[str, float]:
            self.seen += 1
            if self.seen == iteration:
                raise Stopped
            return super().iterate(share)

    with monkeypatch.context() as patch:
        patch.setattr(module, "Learner", Dying)
        with pytest.raises(Stopped):
            train_config(_config(), tmp_path / "run")
    _assert_same(_weights(train_config(_config(), tmp_path / "run", resume=True)), _weights(finished))


def test_pay_for_distance_and_discount_fall_and_rise_to_their_ends() -> None:
    torch.manual_seed(1)
    games = FourSeats(SelfPlay(4, encoder="tiles", reward="zero_sum+3*distance"))
    settings = PpoConfig(steps=8, minibatch=32, dense_share=0.5)
    learner = Learner([games], make_network("kinds", games.encoder), settings, 6.0)
    for share, weight in ((0.0, 3.0), (0.25, 1.5), (0.5, 0.0), (1.0, 0.0)):
        learner.iterate(share)
        assert games.distance_weight == pytest.approx(weight)


def test_a_run_is_exported_as_a_bot_that_plays_its_network(finished: Path, tmp_path: Path) -> None:
    bot = load_bot(export(finished, tmp_path / "bot"))
    assert isinstance(bot, FlatBot)
    assert bot.manifest["training"]["decisions"] == 2048
    assert bot.manifest["network"] == {"kind": "kinds", "width": 16, "pooled": 64}
    weights = _weights(finished)
    network = make_network("kinds", bot.encoder, width=16)
    network.load_state_dict(
        {name: torch.from_numpy(weights[f"policy.network.{name}"]) for name in network.state_dict()}
    )
    games = SelfPlay(64, encoder="tiles", seed=3)
    games.reset()
    for _ in range(20):
        with torch.no_grad():
            scores = network(torch.from_numpy(games.observations))[0].numpy()
        best = np.where(games.masks != 0, scores, -np.inf).argmax(axis=1)
        actions = bot.act_batch(games.records)
        assert np.mean(actions == best) > 0.99  # sums in another order: nearly equal scores may change places
        games.step(actions)


@pytest.mark.heavy
def test_it_learns_from_nothing_to_finish_rounds() -> None:
    torch.manual_seed(1)
    torch.set_num_threads(1)
    games = FourSeats(SelfPlay(128, encoder="tiles", reward="zero_sum+distance"))
    learner = Learner([games], make_network("kinds", games.encoder), PpoConfig(dense_share=1.0), 6.0)
    learner.begin(1)
    told = [learner.iterate(i / 30) for i in range(30)]  # 245,760 decisions
    assert np.mean([one["finished"] for one in told[:5]]) < 0.3
    assert np.mean([one["finished"] for one in told[-5:]]) > 0.8
    assert told[-1]["explained"] > 0.2
