"""One draw further than the distance: what becomes of a hand with each of the tiles that may come.

Two hands at the same distance with as many useful tiles are not worth the same. One has many ways on after the next
useful tile, the other few; one is opened up by tiles that do not shorten its distance, the other is not. The learned
parts see that: the candidate scorer among the tiles that are unseen, the value network in the true stock.

Useful tiles are counted before the throw that follows a draw. The best throw may lose some of them, but to try them all
costs three times as much and tells a scorer no more (training_configs/README.md).
"""

from typing import NamedTuple

import numpy as np

from okey_env.engine._jit import kernel
from okey_env.engine.hand import lowest_bit, popcount
from okey_env.engine.hand.after_draw import prepare_after_draw, useful_after_draw
from okey_env.engine.hand.bits import FACES


class AfterDrawCounts(NamedTuple):
    """What the tiles that may come next make of a hand, both float64."""

    next_useful: float
    """Useful tiles after the next useful tile has come: the mean over those tiles; 0 at distance 1."""
    opened_up: float
    """Useful tiles more after a tile that leaves the distance as it is: the sum over those tiles; 0 from distance 3 on,
    where it tells nothing."""


@kernel
def count_after_draw(
    once: np.uint64,
    twice: np.uint64,
    wilds: int,
    run_13_1: bool,
    distance: int,
    useful: int,
    there: int,
    twice_there: int,
) -> AfterDrawCounts:
    """Try each face that may come; wild tiles are left out, since they help every hand.

    Args:
        once, twice, wilds: a hand of 14 tiles.
        run_13_1: whether a 1 may follow a 13.
        distance: of the hand, above 0.
        useful: the kinds that shorten it, as a word.
        there: the kinds that may come, as a word.
        twice_there: those of which two may.
    """
    now = useful & FACES
    count = popcount(now & there) + popcount(now & twice_there)
    drawing = prepare_after_draw(once, twice, 14 - wilds - distance, now, run_13_1)
    next_useful, helping, opened_up = 0, 0, 0
    kinds = there & FACES
    if distance == 1:
        kinds &= ~useful  # with these the hand is complete
    elif distance > 2:
        kinds &= useful
    while kinds:
        bit = lowest_bit(kinds)
        kinds &= kinds - 1
        faces = useful_after_draw(drawing, bit)
        most = popcount(faces & there) + popcount(faces & twice_there)
        copies = 1 + (twice_there >> bit & 1)
        if useful >> bit & 1:
            next_useful += copies * most
            helping += copies
        elif most > count:
            opened_up += copies * (most - count)
    return AfterDrawCounts(next_useful / max(helping, 1), float(opened_up))
