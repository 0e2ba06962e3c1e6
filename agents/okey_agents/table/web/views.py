"""What a seat is told of its table, as plain data for messages.

A running round is read from the seat's `Observation`, never from the round itself. Only a round that is over is shown
with all its tiles.
"""

import dataclasses
import weakref
from typing import Any

import numpy as np

from okey_agents.table.web.fair import hash_of
from okey_agents.table.web.table import BOT_NAMES, Table
from okey_env import actions, hands
from okey_env.engine.events import EVENTS, unpack_event
from okey_env.observation import Observation
from okey_env.round import Round
from okey_env.tiles import NUM_KINDS, NUM_SEATS, WILD, face_text, kind_text, kinds_of


def view(table: Table, number: int | None) -> dict[str, Any]:
    """The table as seat `number` may see it, or as somebody who watches (None) may."""
    match, scores = table.match, table.match.scores
    return {
        "type": "view",
        "table": table.id,
        "you": number,
        "stage": table.stage,
        "moves": table.moves,
        "settings": table.settings.to_json(),
        "rules": dataclasses.asdict(match.rules),
        "invite": table.invite if any(seat.bot is None and seat.token is None for seat in table.seats) else None,
        "seats": [
            {
                "name": seat.name or ("" if seat.token or not table.started else BOT_NAMES[i]),
                "bot": seat.bot,
                "taken": seat.bot is not None or seat.token is not None,
                "here": seat.bot is not None or seat.here > 0,
                "bot_plays": table.bot_plays(i),
                "ready": seat.ready,
                "score": scores[i],
                "replaced": seat.replaced,
            }
            for i, seat in enumerate(table.seats)
        ],
        "clock": _clock(table),
        "preparing": list(table.preparing),
        "fair": {"hash": hash_of(table.secret), "secret": table.secret if match.over else None},
        "match": {
            "round": len(match.earlier) + 1,
            "over": match.over,
            "winners": list(match.winners),
            "history": _history(table),
        },
        "round": round_view(table, number) if table.started else None,
        "result": result(match.round) if match.round.over else None,
    }


def _clock(table: Table) -> dict[str, int] | None:
    """When the turn, or the wait for the next round, began, by the server's clock, and how long it may take; in ms."""
    if table.seconds is None:
        return None
    return {"at": int(table.began_at * 1000), "for": int(table.seconds * 1000), "turn": table.settings.clock * 1000}


def round_view(table: Table, number: int | None) -> dict[str, Any]:
    """The round under way as `number` may see it, as in `view`. Seats have their numbers at the table."""
    watching = number is None
    seen = table.match.round.observe(number or 0)
    okey = seen.okey
    may = np.flatnonzero(seen.action_mask) if not watching else np.empty(0, int)
    rack = table.seats[number].rack if number is not None else None
    return {
        "starter": _seat_of(seen, seen.starter),
        "turn": _seat_of(seen, seen.turn),
        "phase": seen.phase,
        "indicator": face_text(seen.indicator),
        "okey": face_text(okey),
        "stock": seen.stock_left,
        "offer": None if seen.offer is None else kind_text(seen.offer, okey),
        "shown_by": None if seen.shown_by is None else _seat_of(seen, seen.shown_by),
        "tiles": [14 + (seen.phase == "throw" and _seat_of(seen, seen.turn) == seat) for seat in range(NUM_SEATS)],
        "heaps": _heaps(seen),
        "rack": list(rack.places) if rack else None,
        "down": sorted(rack.down) if rack else [],
        "may": {
            "draw": actions.DRAW in may,
            "take": actions.TAKE in may,
            "show": actions.SHOW in may,
            "throw": bool(seen.my_turn and seen.phase == "throw" and not watching),
        },
        "events": _events(seen, watching),
        "lost": _by_seat(seen, seen.lost),
    }


def _seat_of(seen: Observation, step: int) -> int:
    """The seat so many steps to the observer's right."""
    return (seen.seat + step) % NUM_SEATS


def _by_seat(seen: Observation, values: tuple[int, ...]) -> list[int]:
    """Values that begin with the observer's, by seat."""
    return [values[(seat - seen.seat) % NUM_SEATS] for seat in range(NUM_SEATS)]


def _events(seen: Observation, watching: bool) -> list[list[Any]]:
    """What has happened: seat, event, tile. A drawn tile is None unless the observer drew it and is not `watching`."""
    return [
        [
            _seat_of(seen, event.seat),
            event.event,
            None if event.kind is None or (watching and event.event == "draw") else kind_text(event.kind, seen.okey),
        ]
        for event in seen.events
    ]


def _heaps(seen: Observation) -> list[list[str]]:
    """The throws of each seat that lie on the table, the last on top; only the last if the rules hide others (R3.4)."""
    heaps: list[list[str]] = [[] for _ in range(NUM_SEATS)]
    events = _events(seen, watching=True)
    for seat, event, tile in events:
        if event == "throw":
            heaps[seat].append(tile)
        elif event == "take":
            heaps[seat - 1].pop()
    if not events:
        for step, kind in enumerate(seen.last_throws):
            if kind is not None:
                heaps[_seat_of(seen, step)].append(kind_text(kind, seen.okey))
    return heaps


# --- rounds that are over ------------------------------------------------------------------------------------


def rounds_over(table: Table) -> list[Round]:
    """The rounds of this match that have ended."""
    return [*table.match.earlier, *([table.match.round] if table.match.round.over else [])]


def _history(table: Table) -> list[dict[str, Any]]:
    """The score sheet; the lines of earlier rounds, which do not change any more, are made once."""
    for round in table.match.earlier:
        if round not in _LINES:
            _LINES[round] = score_line(round)
    now = table.match.round
    return [*(_LINES[round] for round in table.match.earlier), *([score_line(now)] if now.over else [])]


_LINES: weakref.WeakKeyDictionary[Round, dict[str, Any]] = weakref.WeakKeyDictionary()


def score_line(round: Round) -> dict[str, Any]:
    """A round that is over as a line of the score sheet."""
    return {
        "lost": list(round.lost),
        "winner": round.winner,
        "ending": round.ending,
        "by_pairs": bool(round.fields["by_pairs"].item()),
        "by_okey": bool(round.fields["by_okey"].item()),
        "shown_by": None if (shown_by := round.fields["shown_by"].item()) >= NUM_SEATS else shown_by,
    }


def result(round: Round) -> dict[str, Any]:
    """A round that is over, with every rack arranged: as seven pairs if it won with them, otherwise as melds."""
    okey = round.okey
    finish = int(round.fields["finish_kind"].item())
    return {
        **score_line(round),
        "finish": kind_text(finish, okey) if round.winner is not None else None,
        "racks": [
            _laid_as_pairs(rack, okey)
            if seat == round.winner and round.fields["by_pairs"].item()
            else _laid_as_melds(rack, okey, round.rules.run_13_1)
            for seat, rack in enumerate(round.racks)
        ],
    }


def _laid_as_melds(rack: hands.Counts, okey: int, run_13_1: bool) -> dict[str, Any]:
    found = hands.arrange(rack, run_13_1=run_13_1)
    assert isinstance(found, hands.Arrangement)
    return {
        "melds": [[kind_text(kind, okey) for kind in meld.kinds] for meld in found.melds],
        "parts": [[kind_text(kind, okey) for kind in part.kinds] for part in found.parts],
        "left": [kind_text(kind, okey) for kind in kinds_of(found.left_over)],
    }


def _laid_as_pairs(rack: hands.Counts, okey: int) -> dict[str, Any]:
    wilds = int(rack[WILD])
    pairs = [[kind_text(kind, okey)] * 2 for kind in range(NUM_KINDS - 1) if rack[kind] == 2]
    for kind in range(NUM_KINDS - 1):
        if rack[kind] == 1:
            pairs.append([kind_text(kind, okey), "*"])
            wilds -= 1
    return {"melds": [*pairs, *([["*", "*"]] if wilds == 2 else [])], "parts": [], "left": []}


def replay_of(round: Round) -> dict[str, Any]:
    """A round that is over, for its replay: all racks as they were dealt, and all events."""
    log = [int(entry) for entry in round.fields["log"][0, : round.fields["num_events"].item()]]
    events = [(seat, EVENTS[event], kind) for event, seat, kind in map(unpack_event, log)]
    racks = round.racks.astype(int)
    for seat, event, kind in events:  # undo all events
        racks[seat, kind] += {"draw": -1, "take": -1, "throw": 1, "finish": 1}.get(event, 0)
    return {
        **score_line(round),
        "starter": int(round.fields["starter"].item()),
        "indicator": face_text(round.indicator),
        "okey": face_text(round.okey),
        "racks": [[kind_text(kind, round.okey) for kind in kinds_of(rack)] for rack in racks],
        "events": [[seat, event, kind_text(kind, round.okey)] for seat, event, kind in events],
        "result": result(round),
    }
