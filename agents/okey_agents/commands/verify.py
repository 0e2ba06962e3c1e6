"""`okey verify`: plays a record again and checks it against the rules."""

import argparse
from pathlib import Path

HELP = "play a record again and check that it agrees with the rules; name the first line that does not"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a record of a round or a match")
    parser.add_argument("--secret", help="what the table showed after the match: check that all deals follow from it")
    parser.add_argument("--hash", help="what the table showed before the match: check that it is the secret's")


def run(arguments: argparse.Namespace) -> int:
    """Verify the record and print what was checked; a record that does not agree is reported like any mistake."""
    from okey_env.record import Record

    record = Record.read(arguments.file)
    record.verify()
    rounds = record.steps[-1].round + 1
    moves = len(record.steps) - rounds
    print(f"{arguments.file}: {rounds} {'round' if rounds == 1 else 'rounds'}, {moves} moves, all by the rules")
    if arguments.secret is None and arguments.hash is not None:
        raise ValueError("--hash without --secret: expected the secret that the table showed after the match as well")
    if arguments.secret is not None:
        from okey_agents.table.web.fair import check_deals

        found = check_deals(record, arguments.secret, arguments.hash)
        known = "which was given" if arguments.hash else "which the table must have shown before the match"
        print(f"all deals follow from the secret, whose hash is {found}, {known}")
    return 0
