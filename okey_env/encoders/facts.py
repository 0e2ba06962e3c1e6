"""What encoders tell alike of an OBSERVATION: where tiles lie, and the small facts of the game.

An encoder places these pieces in its own table. Saved bots rely on the numbers, so a change here is a new version of
every encoder that has the pieces.
"""

import numpy as np
import numpy.typing as npt

from okey_env.encoders.encoder import Piece, starts_of
from okey_env.engine._jit import kernel
from okey_env.engine.hand import popcount
from okey_env.engine.state import NO_SEAT, PHASE_DRAW, PHASE_THROW
from okey_env.tiles import NUM_KINDS, NUM_SEATS

_POINTS = 24.0
_SCORES = 21.0

COUNTS = (
    Piece("rack", NUM_KINDS, "own rack, copies by kind / 2"),
    Piece("unseen", NUM_KINDS, "copies by kind that may be in another rack or in the stock / 2"),
    Piece("heap_own", NUM_KINDS, "own throws that nobody took, copies / 2"),
    Piece("heap_right", NUM_KINDS, "the same of the right-hand neighbour"),
    Piece("heap_opposite", NUM_KINDS, "the same of the seat opposite"),
    Piece("heap_left", NUM_KINDS, "the same of the left neighbour"),
    Piece(
        "known_right", NUM_KINDS, "tiles known to be in the right-hand neighbour's rack (taken or shown), copies / 2"
    ),
    Piece("known_opposite", NUM_KINDS, "the same of the seat opposite"),
    Piece("known_left", NUM_KINDS, "the same of the left neighbour"),
)
"""Where tiles lie, by kind."""

FACTS = (
    Piece("phase", 2, "1 for: drawing, throwing"),
    Piece("turn", NUM_SEATS, "1 for the seat to move: observer, right, opposite, left"),
    Piece("starter", NUM_SEATS, "1 for the seat that began"),
    Piece("has_thrown", NUM_SEATS, "1 for each seat whose first turn is past"),
    Piece("shown_by", NUM_SEATS, "1 for the seat that showed the indicator's twin"),
    Piece("takes", NUM_SEATS, "different kinds that each seat has taken / 13, at most 1"),
    Piece("may", 3, "1 if the observer may: draw, take, show"),
    Piece("stock", 1, "tiles left in the stock / 48"),
    Piece("throws", 1, "throws so far / the most that the rules allow"),
    Piece("last_chance", 1, "1 if the tile on offer may be taken only to finish"),
    Piece("points", NUM_SEATS, "points won minus points lost in this round / 24, between -1 and 1"),
    Piece("scores", NUM_SEATS, "points of the match / 21, between -1 and 1"),
)
"""The small facts of the game."""

_IN_COUNTS, _IN_FACTS = starts_of(COUNTS), starts_of(FACTS)
_RACK, _UNSEEN, _HEAPS, _KNOWN = (_IN_COUNTS[name] for name in ("rack", "unseen", "heap_own", "known_right"))
_PHASE, _TURN, _STARTER, _HAS_THROWN = (_IN_FACTS[name] for name in ("phase", "turn", "starter", "has_thrown"))
_SHOWN_BY, _TAKES, _MAY, _STOCK = (_IN_FACTS[name] for name in ("shown_by", "takes", "may", "stock"))
_THROWS, _LAST_CHANCE = _IN_FACTS["throws"], _IN_FACTS["last_chance"]
_POINTS_AT, _SCORES_AT = _IN_FACTS["points"], _IN_FACTS["scores"]


@kernel(borrows=True)
def fill_counts(seen: np.record, out: npt.NDArray[np.float32]) -> None:
    """Fill every entry of `COUNTS` from one OBSERVATION."""
    half = np.float32(0.5)
    for kind in range(NUM_KINDS):
        out[_RACK + kind] = half * seen.rack[kind]
        out[_UNSEEN + kind] = half * seen.unseen[kind]
        for step in range(NUM_SEATS):
            out[_HEAPS + step * NUM_KINDS + kind] = half * seen.heap[step, kind]
        for step in range(1, NUM_SEATS):
            out[_KNOWN + (step - 1) * NUM_KINDS + kind] = half * seen.known[step, kind]


@kernel(borrows=True)
def fill_facts(seen: np.record, out: npt.NDArray[np.float32]) -> None:
    """Fill `FACTS`, which must be zeros, from one OBSERVATION."""
    out[_PHASE] = seen.phase == PHASE_DRAW
    out[_PHASE + 1] = seen.phase == PHASE_THROW
    out[_TURN + int(seen.turn)] = 1
    out[_STARTER + int(seen.starter)] = 1
    if seen.shown_by != NO_SEAT:
        out[_SHOWN_BY + int(seen.shown_by)] = 1
    out[_MAY] = seen.can_draw
    out[_MAY + 1] = seen.can_take
    out[_MAY + 2] = seen.can_show
    out[_STOCK] = seen.stock_left / np.float32(48)
    out[_THROWS] = seen.throws / np.float32(seen.rules.max_throws)
    out[_LAST_CHANCE] = seen.last_chance
    for step in range(NUM_SEATS):
        out[_HAS_THROWN + step] = (seen.has_thrown >> step) & 1
        out[_TAKES + step] = min(np.float32(1), np.float32(popcount(seen.taken[step])) / np.float32(13))
        points = (np.float32(seen.won[step]) - np.float32(seen.lost[step])) / np.float32(_POINTS)
        out[_POINTS_AT + step] = min(np.float32(1), max(np.float32(-1), points))
        score = seen.scores[step] / np.float32(_SCORES)
        out[_SCORES_AT + step] = min(np.float32(1), max(np.float32(-1), score))
