"""`okey verify`: a record played again by the rules."""

import argparse
from pathlib import Path

HELP = "play a record again and say whether it agrees with the rules, or which line does not"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a record of a round or a match")


def run(arguments: argparse.Namespace) -> int:
    """Verify; a record that does not agree is a mistake of the user's, and ends as one."""
    from okey_env.record import Record

    record = Record.read(arguments.file)
    record.verify()
    rounds = record.steps[-1].round + 1
    moves = len(record.steps) - rounds
    print(f"{arguments.file}: {rounds} {'round' if rounds == 1 else 'rounds'}, {moves} moves, all by the rules")
    return 0
