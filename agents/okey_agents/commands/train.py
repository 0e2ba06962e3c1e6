"""`okey train`: train an agent as a configuration says."""

import argparse
from pathlib import Path

from okey_agents.commands._arguments import pairs

HELP = "train an agent as a configuration says"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("config", type=Path, help="the TOML file, like training_configs/smoke.toml")
    parser.add_argument("--run", type=Path, metavar="FOLDER", help="folder for checkpoints and logs")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint of that folder")
    parser.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a key of the configuration set otherwise, like ppo.learning_rate=1e-4; may be repeated",
    )


def run(arguments: argparse.Namespace) -> int:
    """Train, and say where the result is."""
    from okey_agents.training.train import train

    print(f"trained: {train(arguments.config, arguments.run, arguments.resume, overrides=pairs(arguments.settings))}")
    return 0
