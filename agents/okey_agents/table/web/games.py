"""Earlier matches of a person: what is kept of each, its replay, and its review by the coach.

A browser has a secret of its own, under whose hash the matches that it has played are kept.
"""

import hashlib
import time
from pathlib import Path
from typing import Any

from okey_agents.coach.review import review
from okey_agents.table.web.refusal import Refused
from okey_agents.table.web.table import Table
from okey_agents.table.web.views import replay_of, rounds_over, score_line
from okey_env.actions import to_text
from okey_env.record import Record

_LONGEST = 100
"""Characters of a browser's secret."""
_MOST_NOTES = 8


def person_of(secret: Any) -> str | None:
    """The name under which a browser's matches are kept; None: it has given no secret.

    Raises:
        Refused: the secret is not a text of 16 to 100 characters.
    """
    if secret is None:
        return None
    if not isinstance(secret, str) or not 16 <= len(secret) <= _LONGEST:
        raise Refused("malformed", f"me: expected a text of 16 to {_LONGEST} characters")
    return hashlib.sha256(secret.encode()).hexdigest()


def lines_of(table: Table, names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """By person, what is kept of a match that is over."""
    return {
        seat.person: {
            "record": table.record_name,
            "ended": int(time.time() * 1000),
            "seat": number,
            "players": names,
            "bots": [other.bot or (None if other.token else "") for other in table.seats],
            "winners": list(table.match.winners),
            "scores": list(table.match.scores),
            "rounds": [score_line(round)["winner"] for round in rounds_over(table)],
            "review": None,
        }
        for number, seat in enumerate(table.seats)
        if seat.person is not None
    }


def replay_in(path: Path, number: int) -> dict[str, Any]:
    """The replay of a round of a kept record.

    Raises:
        Refused: the match has no such round.
        ValueError, OSError: the record cannot be read.
    """
    *_, (_, match) = Record.read(path).replay()
    rounds = [*match.earlier, match.round]
    if not 1 <= number <= len(rounds):
        raise Refused("no_replay", f"round={number}: expected a round of that match, 1 to {len(rounds)}")
    return {"round": number, "rounds": len(rounds), **replay_of(rounds[number - 1])}


def review_in(path: Path, seat: int, worlds: int) -> dict[str, Any]:
    """What the coach says of a seat's decisions in a kept record: how many, the points given away, the costliest."""
    notes = list(review(Record.read(path), [seat], worlds))
    costly = sorted((note for note in notes if note.cost > 0), key=lambda note: -note.cost)
    return {
        "decisions": len(notes),
        "agreed": sum(note.played.action == note.best.action for note in notes),
        "given": round(100 * sum(note.cost for note in notes)),
        "notes": [
            {
                "round": note.round + 1,
                "throws": note.throws + 1,
                "cost": round(100 * note.cost),
                "played": to_text(note.played.action, note.okey),
                "best": to_text(note.best.action, note.okey),
            }
            for note in costly[:_MOST_NOTES]
        ],
    }
