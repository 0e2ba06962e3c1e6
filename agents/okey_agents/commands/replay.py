"""`okey replay`: shows a record as it was played, with all racks open."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from okey_agents.console import one_line

if TYPE_CHECKING:
    from okey_env.match import Match
    from okey_env.record import Record, Step

HELP = "show a record as it was played, with all racks open"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a record of a round or a match")
    parser.add_argument(
        "--step", action="store_true", help="show the whole table after each move; Enter goes on, q ends"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print each move, or the whole table after each move."""
    from okey_env.record import Record

    record = Record.read(arguments.file)
    print(f"a {record.episode}, rules {record.rules.name}, seed {record.seed}: {', '.join(_names(record))}")
    for step, match in record.replay():
        if arguments.step:
            print("\n" + "\n".join(_table(record, step, match)))
            if step is not record.steps[-1] and _wants_to_end():
                return 0
        else:
            print("\n".join(_line(record, step, match)))
    if not record.complete:
        print(f"the record stops here, before the end of the {record.episode}")
    return 0


def _wants_to_end() -> bool:
    try:
        return input("Enter goes on, q ends: ").strip().lower().startswith("q")
    except EOFError:  # there is no terminal to ask
        return False


def _line(record: "Record", step: "Step", match: "Match") -> Iterator[str]:
    """The lines of a step: a deal with all racks, or a move with the rack after it, and the points after a round."""
    from okey_env.tiles import face_text, rack_text

    round = match.round
    name = _names(record)[step.seat]
    if step.action is None:
        yield f"\nround {step.round}, indicator {face_text(round.indicator)}, okey {face_text(round.okey)}"
        if record.episode == "match":
            yield "points: " + _of_all(record, match.scores)
        yield from (
            f"  {who:14.14}  {rack_text(rack, round.okey)}"
            for who, rack in zip(_names(record), round.racks, strict=True)
        )
        yield f"  {name} begins"
        return
    action = f"{step.text} ({step.tile})" if step.tile else step.text
    yield f"{round.stock_left:2}  {name:14.14}  {action:12}  {rack_text(round.racks[step.seat], round.okey)}"
    if round.over:
        yield from _end(record, match)


def _table(record: "Record", step: "Step", match: "Match") -> Iterator[str]:
    """The lines that show the whole table after a step."""
    from okey_env.render import table_text

    yield f"round {step.round}, {_names(record)[step.seat]}: {step.text}" + (f" ({step.tile})" if step.tile else "")
    if record.episode == "match":
        yield "points: " + _of_all(record, match.scores)
    yield table_text(match.round)
    if match.round.over:
        yield from _end(record, match)


def _end(record: "Record", match: "Match") -> Iterator[str]:
    """The lines at the end of a round: the melds of the winner, the points, and who has won the match."""
    from okey_env.tiles import kind_text

    round = match.round
    if round.winner is None:
        yield "the round is void: " + ("the stock is empty" if round.ending == "void" else "too many throws")
    else:
        laid = kind_text(int(round.fields["finish_kind"][0]), round.okey)
        yield f"{_names(record)[round.winner]} finishes, laying {laid}: {_winning_rack(match)}"
    if record.episode == "round":
        yield "points lost: " + _of_all(record, round.lost)
        return
    yield "points: " + _of_all(record, match.scores)
    if match.over:
        names = " and ".join(_names(record)[seat] for seat in match.winners)
        yield f"the match goes to {names}" if names else "the match is cut off: nobody wins"


def _winning_rack(match: "Match") -> str:
    """The 14 tiles of the winner as melds, or as pairs."""
    from okey_env import hands
    from okey_env.tiles import kind_text, rack_text

    round = match.round
    assert round.winner is not None
    rack = round.racks[round.winner]
    if round.fields["by_pairs"][0]:
        return f"seven pairs, {rack_text(rack, round.okey)}"
    melds = hands.arrange(rack, run_13_1=match.rules.run_13_1)
    assert isinstance(melds, hands.Arrangement)
    return " | ".join(" ".join(kind_text(kind, round.okey) for kind in meld.kinds) for meld in melds.melds)


def _names(record: "Record") -> list[str]:
    """The players with their seats, because two of them may have the same name."""
    return [f"{seat} {one_line(name)}" for seat, name in enumerate(record.players)]


def _of_all(record: "Record", numbers: tuple[int, ...]) -> str:
    return ", ".join(f"{name} {number}" for name, number in zip(_names(record), numbers, strict=True))
