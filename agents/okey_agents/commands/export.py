"""`okey export`: writes a trained agent as a bot folder, which plays without torch."""

import argparse
from pathlib import Path

HELP = "write a trained agent as a bot folder, which plays without torch"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("run", type=Path, help="folder of the training run")
    parser.add_argument("folder", type=Path, help="folder to write the bot to")


def run(arguments: argparse.Namespace) -> int:
    """Export the bot and print its folder."""
    from okey_agents.training.export import export

    print(f"exported: {export(arguments.run, arguments.folder)}")
    return 0
