"""Drawing and taking by regression: it finds what a take is worth, and changes nothing else."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from okey_agents.training.checkpoint import Arrays, checkpoints, load_checkpoint
from okey_agents.training.games import FourSeats
from okey_agents.training.networks import Kinds, make_network
from okey_agents.training.ppo import recipe
from okey_agents.training.ppo.learner import Learner
from okey_agents.training.ppo.recipe import PpoConfig
from okey_agents.training.ppo.sources import Tried
from okey_agents.training.recipes import config_from_dict
from okey_agents.training.train import train_config
from okey_env import SelfPlay
from okey_env.actions import DRAW, TAKE
from okey_env.encoders import as_encoder


def learner_of(games: int = 64) -> Learner:
    torch.manual_seed(0)
    encoder = as_encoder("tiles")
    played = FourSeats(SelfPlay(games, "gamelake", encoder, reward="zero_sum+distance"))
    learner = Learner([played], make_network("kinds", encoder, width=16), PpoConfig(steps=64), 6.0)
    learner.begin(3)
    return learner


def both_legal(masks: Any) -> Any:
    return (masks[..., DRAW] != 0) & (masks[..., TAKE] != 0)


def test_a_share_of_the_draws_and_takes_is_by_chance() -> None:
    learner = learner_of()
    network = learner.network
    assert isinstance(network, Kinds)
    last = network.source[-1]
    assert isinstance(last, torch.nn.Linear)
    with torch.no_grad():
        last.weight.zero_()
        last.bias[:] = torch.tensor([20.0, 0.0])  # it always draws
    for explore, expected in ((0.0, 0.0), (0.5, 0.25), (1.0, 0.5)):
        ((rollout, _),) = learner.try_both(explore)
        both = both_legal(rollout.masks)
        assert np.mean(rollout.actions[both] == TAKE) == pytest.approx(expected, abs=0.06)
        assert not (rollout.actions[~both & (rollout.masks[..., TAKE] == 0)] == TAKE).any()


def test_it_finds_what_a_take_is_worth_and_changes_nothing_else() -> None:
    """Advantages made for the test: a take is worth what the network sees of it, less what it sees of a draw."""
    learner = learner_of()
    network = learner.network
    tried = Tried(network)
    before = {name: array.clone() for name, array in network.state_dict().items()}
    assert isinstance(network, Kinds)
    for _ in range(6):
        ((rollout, _),) = learner.try_both(1.0)
        seen = torch.from_numpy(rollout.observations.reshape(-1, rollout.observations.shape[-1]))
        inputs = network.source_inputs(seen)
        size = network._places.after_size
        gain = (
            (inputs[:, size : 2 * size].sum(1) - inputs[:, :size].sum(1))
            .detach()
            .numpy()
            .reshape(rollout.actions.shape)
        )
        worth = np.where(rollout.actions == TAKE, gain, 0).astype(np.float32)
        noise = np.random.default_rng(1).normal(0, 0.3, worth.shape).astype(np.float32)
        tried.add(rollout, worth + noise)
    tried.fit(1, steps=300)
    scores = (
        network(torch.from_numpy(rollout.observations.reshape(-1, rollout.observations.shape[-1])))[0].detach().numpy()
    )
    both = both_legal(rollout.masks).ravel() & (np.abs(gain.ravel()) > 0.15)
    assert both.sum() > 100
    better = scores[both, TAKE] > scores[both, DRAW]
    assert np.mean(better == (gain.ravel()[both] > 0)) > 0.95
    changed = {name for name, array in network.state_dict().items() if not torch.equal(array, before[name])}
    assert changed == {"source.0.weight", "source.0.bias", "source.2.weight", "source.2.bias"}


def config_of(**ppo: Any) -> Any:
    return config_from_dict(
        {
            "env": {"num_envs": 16, "encoder": "tiles", "reward": "zero_sum+distance"},
            "policy": {"width": 16},
            "ppo": {"decisions": 1024, "steps": 32, "minibatch": 128, "sources": 1024, **ppo},
            "evaluation": {"against": ["random"], "deals": 2},
            "checkpoints": {"every": 1024},
            "run": {"recipe": "ppo", "tensorboard": False},
        }
    )


def weights_of(folder: Path) -> Arrays:
    return load_checkpoint(checkpoints(folder / "checkpoints")[0]).arrays


def test_a_run_that_is_stopped_before_its_last_stage_ends_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("okey_agents.training.ppo.sources.STEPS", 20)
    whole = train_config(config_of(), tmp_path / "whole")

    def stopped(*_: Any) -> int:
        raise InterruptedError

    with monkeypatch.context() as stop:
        stop.setattr(recipe, "_learn_sources", stopped)
        with pytest.raises(InterruptedError):
            train_config(config_of(), tmp_path / "stopped")
    ended = train_config(config_of(), tmp_path / "stopped", resume=True)
    one, other = weights_of(whole), weights_of(ended)
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)
    again = train_config(config_of(), tmp_path / "stopped", resume=True)  # it is over: nothing is done twice
    np.testing.assert_array_equal(
        weights_of(again)["policy.network.source.0.weight"], one["policy.network.source.0.weight"]
    )


@pytest.mark.parametrize("changed", [{"policy": {"network": "mlp"}}, {"env": {"encoder": "tiles_raw"}}])
def test_a_network_without_a_part_for_it_is_refused(changed: dict[str, Any]) -> None:
    words = re.escape("ppo.sources=5: expected policy.network 'kinds' and env.encoder 'tiles', or 0")
    with pytest.raises(ValueError, match=words):
        config_from_dict({"run": {"recipe": "ppo"}, "ppo": {"sources": 5}, **changed})
