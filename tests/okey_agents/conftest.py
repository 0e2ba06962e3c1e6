"""A run of a few seconds, and the bot exported from it."""

from pathlib import Path
from typing import Any

import pytest

from okey_agents.training.config import ScorerConfig, TrainConfig, config_from_dict

TINY: dict[str, Any] = {
    "env": {"num_envs": 8},
    "opponents": {"seats": ["random"]},
    "network": {"trunk": [16]},
    "ppo": {"decisions": 256, "steps": 8, "minibatch": 32, "epochs": 1},
    "evaluation": {"against": ["random"], "deals": 2},
    "run": {"checkpoint_every": 64, "tensorboard": False},
}


@pytest.fixture(scope="session")
def tiny_config() -> TrainConfig:
    """Four rollouts of 64 decisions, a checkpoint after each."""
    config = config_from_dict(TINY)
    assert isinstance(config, TrainConfig)
    return config


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory, tiny_config: TrainConfig) -> Path:
    """The finished run of that configuration."""
    from okey_agents.training.train import train_config

    return train_config(tiny_config, tmp_path_factory.mktemp("runs") / "tiny")


@pytest.fixture(scope="session")
def tiny_bot(tiny_run: Path) -> Path:
    """The bot folder of that run."""
    from okey_agents.training.export import export

    return export(tiny_run, tiny_run.parent / "tiny-bot")


TINY_BRANCHING: dict[str, Any] = {
    "branching": {"decisions": [600, 600], "chunk": 300, "minibatch": 128},
    "evaluation": {"deals": 4, "fresh_deals": 4},
    "run": {"recipe": "branching", "tensorboard": False},
}
TINY_PPO: dict[str, Any] = {
    "clone": {"decisions": 500, "minibatch": 128},
    "ppo": {"updates": 4, "rounds": 16, "minibatch": 64, "past_selves": 0.3, "all_actions": 0.2},
    "evaluation": {"deals": 4, "fresh_deals": 4, "every": 2},
    "run": {"recipe": "ppo", "tensorboard": False, "checkpoint_every": 2},
}


def scorer_config(data: dict[str, Any]) -> ScorerConfig:
    """A configuration of the candidate scorer."""
    config = config_from_dict(data)
    assert isinstance(config, ScorerConfig)
    return config


@pytest.fixture(scope="session")
def tiny_scorer_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of branching in two small generations."""
    from okey_agents.training.train import train_config

    return train_config(scorer_config(TINY_BRANCHING), tmp_path_factory.mktemp("runs") / "branching")


@pytest.fixture(scope="session")
def tiny_ppo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of self-play PPO in four small updates."""
    from okey_agents.training.train import train_config

    return train_config(scorer_config(TINY_PPO), tmp_path_factory.mktemp("runs") / "ppo")
