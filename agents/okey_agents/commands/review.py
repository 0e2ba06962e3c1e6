"""`okey review`: prints what the coach says about a round or match that was played."""

import argparse
from pathlib import Path

from okey_agents.commands._arguments import whole
from okey_env.checks import MAX_DEALS

HELP = "have the coach review a record: the costliest decisions, and what was better"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("record", type=Path, help="a record of a round or a match")
    parser.add_argument("--seat", type=int, choices=range(4), help="only the decisions of this seat")
    parser.add_argument("--most", type=whole(0), default=5, metavar="N", help="decisions to show (%(default)s)")
    parser.add_argument(
        "--worlds",
        type=whole(2, MAX_DEALS),
        default=300,
        metavar="N",
        help="worlds (deals of the hidden tiles) in which each move is tried (%(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Review the record, and print the costliest decisions and a line for each player."""
    from rich.progress import track

    from okey_agents.coach.review import review
    from okey_agents.console import PlainConsole, one_line
    from okey_env.record import Record
    from okey_env.tiles import NUM_SEATS

    record = Record.read(arguments.record)
    seats = range(NUM_SEATS) if arguments.seat is None else [arguments.seat]
    errors = PlainConsole(stderr=True)
    notes = list(track(review(record, seats, arguments.worlds), "reviewing", console=errors, transient=True))
    console = PlainConsole()
    costly = sorted((note for note in notes if note.cost > 0), key=lambda note: -note.cost)
    for note in costly[: arguments.most]:
        where = (
            f"round {note.round + 1}, throw {note.throws + 1}, {one_line(record.players[note.seat])} (line {note.line})"
        )
        console.print(f"{where}: {note.text()}\n", soft_wrap=True)
    for seat in seats:
        own = [note for note in notes if note.seat == seat]
        agreed = sum(note.played.action == note.best.action for note in own)
        given = sum(note.cost for note in own)
        name, count = one_line(record.players[seat]), len(own)
        console.print(f"{name}: {count} decisions, {agreed} as the coach, {given:.2f} points given away")
    return 0
