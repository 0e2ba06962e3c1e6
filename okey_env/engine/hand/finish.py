"""Distances from a finish, and the tiles with which a hand of 15 can finish (R5.1).

Melds and pairs are never mixed (R4.4), so there is a kernel for each. Hands are `once, twice, wilds` (see `bits`).
"""

import numpy as np

from okey_env.engine._jit import kernel, linked
from okey_env.engine.hand.bits import (
    FACES,
    ONE,
    WILD_BIT,
    ZERO,
    Word,
    as_int,
    fold,
    next_colour,
    opposite_colour,
    popcount,
    with_top,
)
from okey_env.engine.hand.search import search_cover, without


@kernel
def natural_tiles(once: Word, twice: Word) -> int:
    """The number of tiles in the hand that are not wild."""
    return popcount(as_int(once) & FACES) + popcount(as_int(twice) & FACES)


@kernel
def cover(once: Word, twice: Word, run_13_1: bool) -> int:
    """The most natural tiles that can belong to one winning rack made of melds, 0 to 14 (see the module `search`)."""
    limit = min(14, natural_tiles(once, twice))
    return min(limit, search_cover(with_top(once, run_13_1), with_top(twice, run_13_1), 0, limit))


@kernel
def cover_at_least(once: Word, twice: Word, run_13_1: bool, tiles: int) -> bool:
    """Whether the `cover` of the hand is at least `tiles`; faster than to compute the cover."""
    if tiles <= 0:
        return True
    if tiles > min(14, natural_tiles(once, twice)):
        return False
    return search_cover(with_top(once, run_13_1), with_top(twice, run_13_1), tiles - 1, tiles) >= tiles


@kernel
def melds_distance(once: Word, twice: Word, wilds: int, run_13_1: bool) -> int:
    """How many tiles of a hand of 14 or 15 must be exchanged until 14 of them are all melds; 0 if they are already."""
    return max(0, 14 - wilds - cover(once, twice, run_13_1))


@kernel
def pairs_distance(once: Word, twice: Word, wilds: int) -> int:
    """How many tiles of a hand of 14 or 15 must be exchanged until 14 are seven pairs (R4.4); 0 if they are already.

    The seven faces are chosen among those held, faces held twice first. The tiles that they lack must be wild or drawn.
    """
    pairs = popcount(as_int(twice) & FACES)
    singles = popcount(as_int(once) & FACES) - pairs
    if pairs >= 7:
        return 0
    return max(0, 14 - wilds - 2 * pairs - min(7 - pairs, singles))


@kernel
def lone_tiles(once: int) -> int:
    """The faces of `once` (with its top) that are in no complete natural meld of the hand."""
    run_starts = once & once >> 4 & once >> 8
    neighbours = once & next_colour(once)
    group_starts = neighbours & opposite_colour(once)
    in_runs = run_starts | run_starts << 4 | run_starts << 8
    # A group of three may start at any of the four colours; then every tile of that number that is held is in a group.
    numbers = group_starts | group_starts >> 1
    numbers = (numbers | numbers >> 2) & 0x1111111111111
    return once & FACES & ~fold(in_runs) & ~(numbers * 15)


@kernel
def may_leave(once: int, twice: int, wilds: int, left_over: int) -> bool:
    """Whether all natural tiles except `left_over` may be in melds: a quick test that is never False wrongly.

    A tile in no complete natural meld is left over, or its meld has a wild tile. A meld of at most five tiles with a
    wild tile has at most four such tiles. Hence a hand with more than `left_over + 4 * wilds` such tiles fails.
    """
    lone = lone_tiles(once)
    return popcount(lone) + popcount(lone & twice) <= left_over + 4 * wilds


@kernel
def is_finished_melds(once: Word, twice: Word, wilds: int, run_13_1: bool) -> bool:
    """Whether 14 tiles are all melds (R4)."""
    top = with_top(once, run_13_1)
    top_twice = with_top(twice, run_13_1)
    if not may_leave(top, top_twice, wilds, ZERO):
        return False
    return search_cover(top, top_twice, 13 - wilds, 14 - wilds) >= 14 - wilds


@kernel
def is_finished_pairs(once: Word, twice: Word, wilds: int) -> bool:
    """Whether 14 tiles are seven pairs (R4.4): each single needs a wild tile; two wild tiles left are a pair."""
    return popcount(as_int(once) & ~as_int(twice) & FACES) <= wilds


@linked("uint64", "uint64", "uint64", "int64", "boolean")
def finishing_melds(once: Word, twice: Word, wilds: int, run_13_1: bool) -> np.uint64:
    """The kinds that a hand of 15 tiles may lay on the stock so that the other 14 are all melds (R5.1), as a word.

    The wild kind is one of them if the natural tiles need one wild tile less.
    """
    top = with_top(once, run_13_1)
    top_twice = with_top(twice, run_13_1)
    if not may_leave(top, top_twice, wilds, ONE):
        return np.uint64(0)
    needed = 14 - wilds
    cover_of_all = search_cover(top, top_twice, needed - 1, needed + 1)
    if cover_of_all < needed:
        return np.uint64(0)
    finishing = 0
    if wilds > 0 and cover_of_all > needed:
        finishing = 1 << WILD_BIT
    tiles = top & FACES
    while tiles:
        tile = tiles & -tiles
        tiles ^= tile
        rest, rest_twice = without(top, top_twice, tile)
        if may_leave(rest, rest_twice, wilds, ZERO) and search_cover(rest, rest_twice, needed - 1, needed) >= needed:
            finishing |= tile
    return np.uint64(finishing)


@kernel
def finishing_pairs(once: Word, twice: Word, wilds: int) -> np.uint64:
    """The kinds that a hand of 15 tiles may lay on the stock so that the other 14 are seven pairs, as a word.

    15 is odd, so the number of singles and wild tiles together is odd too. After the right throw, the number of wild
    tiles that pair with no single is 0 or 2, and two wild tiles are a pair.
    """
    pairs = as_int(twice) & FACES
    singles = as_int(once) & FACES & ~pairs
    finishing = 0
    if popcount(singles) - 1 <= wilds:
        finishing |= singles
    if popcount(singles) + 1 <= wilds:
        finishing |= pairs | 1 << WILD_BIT
    return np.uint64(finishing)
