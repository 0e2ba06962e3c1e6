"""`okey export`: write a trained agent as a bot that plays without the trainer."""

import argparse
from pathlib import Path

HELP = "write a trained agent as a bot folder that plays without the trainer"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("run", type=Path, help="folder of the training")
    parser.add_argument("folder", type=Path, help="folder to write the bot to")


def run(arguments: argparse.Namespace) -> int:
    """Export, and say where the bot is."""
    from okey_agents.training.export import export

    print(f"exported: {export(arguments.run, arguments.folder)}")
    return 0
