"""A run of a few seconds, and the bot exported from it."""

from pathlib import Path
from typing import Any

import pytest

from okey_agents.training.recipes import config_from_dict
from okey_agents.training.schema import Config

TINY: dict[str, Any] = {
    "env": {"num_envs": 8},
    "opponents": {"seats": ["random"]},
    "network": {"trunk": [16]},
    "maskable_ppo": {"decisions": 256, "steps": 8, "minibatch": 32, "epochs": 1},
    "evaluation": {"against": ["random"], "deals": 2},
    "checkpoints": {"every": 64},
    "run": {"tensorboard": False},
}


@pytest.fixture(scope="session")
def tiny_config() -> Config:
    """Four rollouts of 64 decisions, a checkpoint after each."""
    return config_from_dict(TINY)


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory, tiny_config: Config) -> Path:
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
    "duel": {"deals": 4, "fresh_deals": 4},
    "run": {"recipe": "branching", "workers": 2, "tensorboard": False},
}
TINY_SCORER_PPO: dict[str, Any] = {
    "soft_clone": {"decisions": 500, "minibatch": 128},
    "scorer_ppo": {
        "updates": 4,
        "checkpoint_every": 2,
        "rounds": 16,
        "minibatch": 64,
        "past_selves": 0.3,
        "all_actions": 0.2,
    },
    "duel": {"deals": 4, "fresh_deals": 4, "every": 2},
    "run": {"recipe": "scorer_ppo", "workers": 2, "tensorboard": False},
}


@pytest.fixture(scope="session")
def tiny_scorer_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of branching in two small generations."""
    from okey_agents.training.train import train_config

    return train_config(config_from_dict(TINY_BRANCHING), tmp_path_factory.mktemp("runs") / "branching")


@pytest.fixture(scope="session")
def tiny_ppo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of self-play PPO in four small updates."""
    from okey_agents.training.train import train_config

    return train_config(config_from_dict(TINY_SCORER_PPO), tmp_path_factory.mktemp("runs") / "ppo")
