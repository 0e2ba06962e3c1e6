"""One draw further than the distance: what becomes of a hand with each of the tiles that may come.

Two hands at the same distance with as many useful tiles are not worth the same. One has many ways on after the next
useful tile, the other few; one is opened up by tiles that do not shorten its distance, the other is not. The learned
parts see that: the candidate scorer among the tiles that are unseen, the value network in the true stock.
"""

from typing import NamedTuple

import numpy as np

from okey_env.engine._jit import kernel
from okey_env.engine.hand import KIND_OF_BIT, analyse, lowest_bit, popcount
from okey_env.engine.hand.bits import FACES, as_int
from okey_env.tiles import NUM_KINDS


class Ahead(NamedTuple):
    """What the tiles that may come next make of a hand, after the best throw that follows; all are float64."""

    then: float
    """Useful tiles left after the next useful tile has come: the mean over those tiles, 0 at distance 1."""
    gained: float
    """Useful tiles more after a tile that leaves the distance as it is: the sum over those tiles."""


@kernel
def look_ahead(
    once: np.uint64,
    twice: np.uint64,
    wilds: int,
    run_13_1: bool,
    distance: int,
    useful: int,
    there: int,
    twice_there: int,
) -> Ahead:
    """Try each face that may come; wild tiles are left out, since they help every hand.

    Args:
        once, twice, wilds: a hand of 14 tiles.
        run_13_1: whether a 1 may follow a 13.
        distance: of the hand, above 0.
        useful: the kinds that shorten it, as a word.
        there: the kinds that may come, as a word.
        twice_there: those of which two may.
    """
    after = np.empty(NUM_KINDS, np.uint64)
    count = popcount(useful & there) + popcount(useful & twice_there)
    then, helping, gained = 0, 0, 0
    kinds = there & FACES
    if distance == 1:
        kinds &= ~useful  # with these the hand is complete
    while kinds:
        bit = lowest_bit(kinds)
        kinds &= kinds - 1
        tile = np.uint64(1 << bit)
        _, keep, _ = analyse(once | tile, twice | once & tile, wilds, run_13_1, after)
        most = 0
        throws = as_int(keep) & FACES
        while throws:
            helps = as_int(after[KIND_OF_BIT[lowest_bit(throws)]])
            most = max(most, popcount(helps & there) + popcount(helps & twice_there))
            throws &= throws - 1
        copies = 1 + (twice_there >> bit & 1)
        if useful >> bit & 1:
            then += copies * most
            helping += copies
        elif most > count:
            gained += copies * (most - count)
    return Ahead(then / max(helping, 1), float(gained))
