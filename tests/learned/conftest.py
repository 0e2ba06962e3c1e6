"""A run of a few seconds, and the bot exported from it."""

from pathlib import Path
from typing import Any

import pytest

from agents.learned.config import TrainConfig, config_from_dict

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
    return config_from_dict(TINY)


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory, tiny_config: TrainConfig) -> Path:
    """The finished run of that configuration."""
    from agents.learned.train import train_config

    return train_config(tiny_config, tmp_path_factory.mktemp("runs") / "tiny")


@pytest.fixture(scope="session")
def tiny_bot(tiny_run: Path) -> Path:
    """The bot folder of that run."""
    from agents.learned.export import export

    return export(tiny_run, tiny_run.parent / "tiny-bot")
