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
from okey_env.encoders.facts import COUNTS, FACTS, fill_counts, fill_facts
from okey_env.encoders.loops import fill_many_of
from okey_env.engine._jit import kernel
from okey_env.engine.hand import BIT_OF_KIND
from okey_env.engine.state import NO_TILE
from okey_env.tiles import NUM_FACES, NUM_KINDS, NUM_NUMBERS, NUM_SEATS, WILD

VERSION = 1

PLANES = (
    *COUNTS,
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
    *FACTS,
    Piece("wilds", 2, "1 for: one wild tile held, two"),
    Piece("stock_ends", 1, "4 / (4 + tiles left in the stock)"),
    Piece("rules", 2, "1 if: a false joker finishes like the okey, pairs and the okey double twice"),
)
"""The small facts of the game."""

PIECES = (*PLANES, *TABLE)
NUM_PLANES = len(PLANES)
SIZE = size_of(PIECES)
_AT = starts_of(PIECES)
_TAKEN, _OFFER, _INDICATOR, _FALSE_JOKER = (_AT[name] for name in ("taken_right", "offer", "indicator", "false_joker"))
_WILD, _ONES, _SECONDS, _FACTS = (_AT[name] for name in ("wild", "ones", "seconds", FACTS[0].name))
_WILDS, _STOCK_ENDS, _RULES = _AT["wilds"], _AT["stock_ends"], _AT["rules"]
_ONE = np.uint64(1)


@kernel(borrows=True)
def fill(seen: np.record, out: npt.NDArray[np.float32]) -> None:
    """Fill `(SIZE,)` float32, or the beginning of a longer array, from one OBSERVATION."""
    out[:SIZE] = 0
    fill_counts(seen, out)
    for kind in range(NUM_KINDS):
        bit = np.uint64(BIT_OF_KIND[kind])
        for step in range(1, NUM_SEATS):
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
    fill_facts(seen, out[_FACTS:_WILDS])
    out[_WILDS] = seen.rack[WILD] == 1
    out[_WILDS + 1] = seen.rack[WILD] == 2
    out[_STOCK_ENDS] = np.float32(4) / np.float32(4 + int(seen.stock_left))
    out[_RULES] = seen.rules.false_joker_as_okey
    out[_RULES + 1] = seen.rules.combine_product


TILES_RAW = Encoder("tiles_raw", VERSION, PIECES, fill, fill_many_of(fill, borrows=True), num_planes=NUM_PLANES)
