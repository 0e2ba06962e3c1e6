"""`okey train`: trains an agent from a configuration."""

import argparse
from pathlib import Path

from okey_agents.commands._arguments import pairs

HELP = "train an agent from a configuration"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("config", type=Path, help="a TOML file, like training_configs/demo.toml")
    parser.add_argument("--run", type=Path, metavar="FOLDER", help="folder for checkpoints and logs")
    parser.add_argument("--resume", action="store_true", help="continue from the last checkpoint in that folder")
    parser.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set a key of the configuration, like run.seed=2; may be repeated",
    )


def run(arguments: argparse.Namespace) -> int:
    """Train, and print the folder of the result."""
    from okey_agents.training.train import train

    overrides = pairs(arguments.settings, like="run.seed=2")
    print(f"trained: {train(arguments.config, arguments.run, arguments.resume, overrides=overrides)}")
    return 0
