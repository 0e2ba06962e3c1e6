"""`okey verify`: plays a record again and checks it against the rules."""

import argparse
from pathlib import Path

HELP = "play a record again and check that it agrees with the rules; name the first line that does not"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a record of a round or a match")


def run(arguments: argparse.Namespace) -> int:
    """Verify the record and print what was checked; a record that does not agree is reported like any mistake."""
    from okey_env.record import Record

    record = Record.read(arguments.file)
    record.verify()
    rounds = record.steps[-1].round + 1
    moves = len(record.steps) - rounds
    print(f"{arguments.file}: {rounds} {'round' if rounds == 1 else 'rounds'}, {moves} moves, all by the rules")
    return 0
