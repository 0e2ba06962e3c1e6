"""The encoder `tiles_raw`: what lies open, tile by tile, and nothing that a solver computed.

The array begins with *planes*: one number for each of the 53 kinds. A network that looks at every kind with the same
weights reads them as `(53, NUM_PLANES)` (`as_planes`). The small facts of the game follow. So whether a network can
learn by itself what a meld is, is a question that this encoder asks; `tiles` gives the answers of the exact solver too.

No plane tells two colours apart, and numbers are told apart by their place at the end of runs only. So each of the 48
symmetries of the tiles (`okey_env.symmetries`) turns the array of a game into the array of an equally likely game.

Version history: 1, the first.
"""

import numpy as np
import numpy.typing as npt

from okey_env.encoders.encoder import Encoder, Piece, size_of, starts_of
from okey_env.encoders.loops import fill_many_of
from okey_env.engine._jit import kernel
from okey_env.engine.hand import BIT_OF_KIND, popcount
from okey_env.engine.state import NO_SEAT, NO_TILE, PHASE_DRAW, PHASE_THROW
from okey_env.tiles import NUM_FACES, NUM_KINDS, NUM_NUMBERS, NUM_SEATS, WILD

VERSION = 1
_POINTS = 24.0
_SCORES = 21.0

PLANES = (
    Piece("rack", NUM_KINDS, "own rack, copies by kind / 2"),
    Piece("unseen", NUM_KINDS, "copies by kind that may be in a hidden place / 2"),
    Piece("heap_own", NUM_KINDS, "own throws that nobody took, copies / 2"),
    Piece("heap_right", NUM_KINDS, "the same of the right-hand neighbour"),
    Piece("heap_opposite", NUM_KINDS, "the same of the seat opposite"),
    Piece("heap_left", NUM_KINDS, "the same of the left neighbour"),
    Piece("known_right", NUM_KINDS, "tiles known to be in the right-hand neighbour's rack, copies / 2"),
    Piece("known_opposite", NUM_KINDS, "the same of the seat opposite"),
    Piece("known_left", NUM_KINDS, "the same of the left neighbour"),
    Piece("taken_right", NUM_KINDS, "1 for each kind that the right-hand neighbour has taken"),
    Piece("taken_opposite", NUM_KINDS, "the same of the seat opposite"),
    Piece("taken_left", NUM_KINDS, "the same of the left neighbour"),
    Piece("offer", NUM_KINDS, "1 for the kind on offer to the seat to move"),
    Piece("indicator", NUM_KINDS, "1 for the indicator's face"),
    Piece("false_joker", NUM_KINDS, "1 for the face that the false jokers have"),
    Piece("wild", NUM_KINDS, "1 for the wild kind"),
    Piece("ones", NUM_KINDS, "1 for the faces of number 1, which lie at both ends of runs"),
    Piece("seconds", NUM_KINDS, "1 for the faces of the numbers 2 and 13"),
)
"""The planes, by kind."""

TABLE = (
    Piece("phase", 2, "1 for: drawing, throwing"),
    Piece("turn", NUM_SEATS, "1 for the seat to move: observer, right, opposite, left"),
    Piece("starter", NUM_SEATS, "1 for the seat that began"),
    Piece("has_thrown", NUM_SEATS, "1 for each seat whose first turn is past"),
    Piece("shown_by", NUM_SEATS, "1 for the seat that showed the indicator's twin"),
    Piece("takes", NUM_SEATS, "different kinds that each seat has taken / 13, at most 1"),
    Piece("may", 3, "1 if the observer may: draw, take, show"),
    Piece("wilds", 2, "1 for: one wild tile held, two"),
    Piece("stock", 1, "tiles left in the stock / 48"),
    Piece("stock_ends", 1, "4 / (4 + tiles left in the stock)"),
    Piece("throws", 1, "throws so far / the most that the rules allow"),
    Piece("last_chance", 1, "1 if the tile on offer may only be taken to finish"),
    Piece("points", NUM_SEATS, "points won less lost in this round / 24"),
    Piece("scores", NUM_SEATS, "points of the match / 21, between -1 and 1"),
    Piece("rules", 2, "1 if: a false joker finishes like the okey, pairs and the okey double twice"),
)
"""The small facts of the game."""

PIECES = (*PLANES, *TABLE)
NUM_PLANES = len(PLANES)
SIZE = size_of(PIECES)
_AT = starts_of(PIECES)
_RACK, _UNSEEN, _HEAPS, _KNOWN, _TAKEN = (
    _AT[name] for name in ("rack", "unseen", "heap_own", "known_right", "taken_right")
)
_OFFER, _INDICATOR, _FALSE_JOKER, _WILD = (_AT[name] for name in ("offer", "indicator", "false_joker", "wild"))
_ONES, _SECONDS = _AT["ones"], _AT["seconds"]
_PHASE, _TURN, _STARTER, _HAS_THROWN = (_AT[name] for name in ("phase", "turn", "starter", "has_thrown"))
_SHOWN_BY, _TAKES, _MAY, _WILDS = (_AT[name] for name in ("shown_by", "takes", "may", "wilds"))
_STOCK, _STOCK_ENDS, _THROWS, _LAST_CHANCE = (_AT[name] for name in ("stock", "stock_ends", "throws", "last_chance"))
_POINTS_AT, _SCORES_AT, _RULES = _AT["points"], _AT["scores"], _AT["rules"]
_ONE = np.uint64(1)


@kernel(borrows=True)
def fill(seen: np.record, out: npt.NDArray[np.float32]) -> None:
    """Fill `(SIZE,)` float32, or the beginning of a longer array, from one OBSERVATION."""
    out[:SIZE] = 0
    half = np.float32(0.5)
    for kind in range(NUM_KINDS):
        bit = np.uint64(BIT_OF_KIND[kind])
        out[_RACK + kind] = half * seen.rack[kind]
        out[_UNSEEN + kind] = half * seen.unseen[kind]
        for step in range(NUM_SEATS):
            out[_HEAPS + step * NUM_KINDS + kind] = half * seen.heap[step, kind]
        for step in range(1, NUM_SEATS):
            out[_KNOWN + (step - 1) * NUM_KINDS + kind] = half * seen.known[step, kind]
            out[_TAKEN + (step - 1) * NUM_KINDS + kind] = (seen.taken[step] >> bit) & _ONE
    for kind in range(NUM_FACES):
        number = kind % NUM_NUMBERS
        out[_ONES + kind] = number == 0
        out[_SECONDS + kind] = number == 1 or number == NUM_NUMBERS - 1
    if seen.offer != NO_TILE:
        out[_OFFER + int(seen.offer)] = 1
    out[_INDICATOR + int(seen.indicator)] = 1
    out[_FALSE_JOKER + int(seen.okey)] = 1
    out[_WILD + WILD] = 1
    _fill_facts(seen, out)


@kernel(borrows=True)
def _fill_facts(seen: np.record, out: npt.NDArray[np.float32]) -> None:
    """The small facts, from `phase` to `rules`."""
    out[_PHASE] = seen.phase == PHASE_DRAW
    out[_PHASE + 1] = seen.phase == PHASE_THROW
    out[_TURN + int(seen.turn)] = 1
    out[_STARTER + int(seen.starter)] = 1
    if seen.shown_by != NO_SEAT:
        out[_SHOWN_BY + int(seen.shown_by)] = 1
    out[_MAY] = seen.can_draw
    out[_MAY + 1] = seen.can_take
    out[_MAY + 2] = seen.can_show
    out[_WILDS] = seen.rack[WILD] == 1
    out[_WILDS + 1] = seen.rack[WILD] == 2
    out[_STOCK] = seen.stock_left / np.float32(48)
    out[_STOCK_ENDS] = np.float32(4) / np.float32(4 + int(seen.stock_left))
    out[_THROWS] = seen.throws / np.float32(seen.rules.max_throws)
    out[_LAST_CHANCE] = seen.last_chance
    out[_RULES] = seen.rules.false_joker_as_okey
    out[_RULES + 1] = seen.rules.combine_product
    for step in range(NUM_SEATS):
        out[_HAS_THROWN + step] = (seen.has_thrown >> step) & 1
        out[_TAKES + step] = min(np.float32(1), np.float32(popcount(seen.taken[step])) / np.float32(13))
        points = (np.float32(seen.won[step]) - np.float32(seen.lost[step])) / np.float32(_POINTS)
        out[_POINTS_AT + step] = min(np.float32(1), max(np.float32(-1), points))
        score = seen.scores[step] / np.float32(_SCORES)
        out[_SCORES_AT + step] = min(np.float32(1), max(np.float32(-1), score))


TILES_RAW = Encoder("tiles_raw", VERSION, PIECES, fill, fill_many_of(fill, borrows=True), num_planes=NUM_PLANES)
