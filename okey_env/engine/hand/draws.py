"""One draw further than the distance: what becomes of a hand with each of the tiles that may come.

Two hands at the same distance with equally many useful tiles are not worth the same. After the next useful tile one
hand may have many useful tiles and the other few; tiles that do not shorten the distance may open up one hand and not
the other. Networks see both numbers: the encoder `tiles` and the candidate scorer count among the unseen tiles, the
value network among the tiles in the stock.

Useful tiles are counted before the throw that follows a draw. The best throw may lose some of them, but trying all
throws costs three times as much and tells a scorer no more (docs/experiments/scorer.md).
"""

from typing import NamedTuple

from okey_env.engine._jit import kernel
from okey_env.engine.hand import Hand, lowest_bit, popcount
from okey_env.engine.hand.after_draw import prepare_after_draw, useful_after_draw
from okey_env.engine.hand.bits import FACES


class TileSet(NamedTuple):
    """Tiles of which there are one or two of a kind, such as those that may come; both int64 words of kinds."""

    once: int
    """The kinds of which there is one tile at least."""
    twice: int
    """The kinds of which there are two."""


@kernel
def tiles_of(kinds: int, tiles: TileSet) -> int:
    """How many of some tiles are of a set of kinds."""
    return popcount(kinds & tiles.once) + popcount(kinds & tiles.twice)


class AfterDrawCounts(NamedTuple):
    """What the tiles that may come next make of a hand; both are float64."""

    next_useful: float
    """Useful tiles after the next useful tile has come, as a mean over those tiles; 0 at distance 1."""
    opened_up: float
    """By how many the useful tiles grow after a tile that leaves the distance as it is, as a sum over those tiles; 0
    from distance 3 on, where the number tells nothing."""


@kernel
def count_after_draw(hand: Hand, run_13_1: bool, distance: int, useful: int, coming: TileSet) -> AfterDrawCounts:
    """Try each face that may come; wild tiles are left out, since they help every hand.

    Args:
        hand: 14 tiles.
        run_13_1: whether a 1 may follow a 13.
        distance: of the hand, above 0.
        useful: the kinds that shorten the distance, as a word.
        coming: the tiles that may come.
    """
    now = useful & FACES
    count = tiles_of(now, coming)
    drawing = prepare_after_draw(hand.once, hand.twice, 14 - hand.wilds - distance, now, run_13_1)
    next_useful, helping, opened_up = 0, 0, 0
    kinds = coming.once & FACES
    if distance == 1:
        kinds &= ~useful  # with these the hand is complete
    elif distance > 2:
        kinds &= useful
    while kinds:
        bit = lowest_bit(kinds)
        kinds &= kinds - 1
        most = tiles_of(useful_after_draw(drawing, bit), coming)
        copies = 1 + (coming.twice >> bit & 1)
        if useful >> bit & 1:
            next_useful += copies * most
            helping += copies
        elif most > count:
            opened_up += copies * (most - count)
    return AfterDrawCounts(next_useful / max(helping, 1), float(opened_up))
