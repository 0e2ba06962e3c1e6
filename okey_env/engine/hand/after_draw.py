"""What is useful after one more tile, for each tile that may come, in half the time of analysing every such hand.

Let M be the cover of a hand h (see `search`), less than its tiles, and t one more tile.

* If t is useful, the cover of h + t is M + 1, and every best arrangement of h + t holds t, or h alone had held as much.
* If not, it is M. The best arrangements without t say only which tiles are useful now; what is new comes from those
  with t.

So only arrangements with t are looked through: for each part that holds t, those of three slots with what is left of
h. They do not depend on t but on the other tiles of its part, and a pair of neighbours is part of many melds: what one
such search finds is kept, namely the missing tiles, and how many extra tiles stay unused at most, by which the part of
t itself may grow. To learn that number, the search is given a part that stands for the one outside the hand: what it
lacks with 0, 1 and 2 tiles more is a mark. A t by itself in a slot is the same with no other tiles, and needs no
search: what lies beside it is new, and the rest is useful now.

Racks 5+5+4 are looked through anew for each t, if the hand comes near to one at all.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel, linked
from okey_env.engine.hand.analysis import beside, collect_three, collect_two_fives, same_number
from okey_env.engine.hand.bits import FACES, KIND_OF_BIT, WORD, Word, as_int, fold, lowest_bit, with_top
from okey_env.engine.hand.parts import (
    EXTRA,
    FITTING,
    HELD,
    NUM_PATTERNS,
    OUTSIDE,
    RUNS,
    bits_of_pattern,
    missing_of_part,
    patterns_held,
    tiles_of_part,
    unused_of_marks,
)
from okey_env.engine.hand.search import fill_three, fill_two_fives, largest_of, largest_part, without

_PLACES = 256
_SPREAD = 0x9E3779B97F4A7C1
_MORE_THAN_ANY = 15
_MOST_PARTS = 2 * 5 * NUM_PATTERNS  # a part holds five tiles at most, and a 1 lies at both ends


class AfterDraw(NamedTuple):
    """A hand whose arrangements with one more tile are asked for, and what has been found of them so far."""

    top: int
    top_twice: int
    covered: int
    useful: int
    """The faces that raise the cover."""
    run_13_1: bool
    unused: int
    """The most extra tiles unused when three slots hold `covered - 1` tiles; -1 if they do not."""
    in_fives: int
    """The most tiles that a rack 5+5+4 holds, if more than `covered - 2`; no more than `covered` is looked for."""
    in_three: npt.NDArray[np.int64]
    """`(3,)` the most tiles that three slots hold which share so many extra ones."""
    kept: npt.NDArray[np.int64]
    """`(3, places)`: the search, its missing tiles, and the most extra tiles unused or -1."""
    parts: npt.NDArray[np.int64]
    """Room for the parts with one tile."""
    found: npt.NDArray[np.uint64]
    """`(1,)` to work in."""


@linked("int64", "int64", "int64", "int64")
def most_in_three(once: int, twice: int, extra: int) -> int:
    """The most tiles that three slots hold which share `extra` tiles drawing nine."""
    return fill_three(once, twice, extra, 0, 0, -1, 0, _MORE_THAN_ANY)


@linked("void", "int64", "int64", "int64", "int64", "int64", "uint64[::1]")
def note_beside(once: int, twice: int, extra: int, needed: int, part: int, found: Any) -> None:
    """Go through the arrangements in three slots that hold `needed` tiles, beside a part chosen already."""
    collect_three(once, twice, extra, needed, 0, -1, part, found)


@kernel(borrows=True)
def most_in_fives(once: int, twice: int, best: int, stop: int) -> int:
    """The most tiles that a rack 5+5+4 holds, slots of five with single tiles among them, or `best` if not more."""
    best = fill_two_fives(once, twice, best, stop)
    mask = patterns_held(once)
    largest_four = largest_of(mask & FITTING[1])
    best = max(best, 2 + largest_four)
    mask &= RUNS
    while mask:
        pattern = lowest_bit(mask)
        mask &= mask - 1
        if HELD[pattern] + 1 + largest_four <= best:
            break
        bits = bits_of_pattern(once, pattern)
        while bits:
            rest, _ = without(once, twice, tiles_of_part(pattern, lowest_bit(bits)))
            bits &= bits - 1
            best = max(best, HELD[pattern] + 1 + largest_part(rest, 1))
    return best


@kernel
def prepare_after_draw(once: Word, twice: Word, covered: int, useful: int, run_13_1: bool) -> AfterDraw:
    """Prepare to ask `useful_after_draw` and `throws_after_draw` of a hand.

    Args:
        once, twice: the hand, of more tiles than its cover.
        covered: its cover.
        useful: the faces that raise it.
        run_13_1: whether a 1 may follow a 13 (R4.1).
    """
    top = with_top(once, run_13_1)
    top_twice = with_top(twice, run_13_1)
    in_three = np.empty(3, np.int64)
    unused = -1
    for extra in range(3):
        in_three[extra] = most_in_three(top, top_twice, extra)
        if in_three[extra] >= covered - 1:
            unused = max(unused, 2 - extra)
    kept = np.empty((3, _PLACES), np.int64)
    kept[0] = -1
    in_fives = most_in_fives(top, top_twice, covered - 2, covered)
    parts, found = np.empty(_MOST_PARTS, np.int64), np.empty(1, np.uint64)
    return AfterDraw(top, top_twice, covered, useful, run_13_1, unused, in_fives, in_three, kept, parts, found)


@kernel(borrows=True)
def find_parts(drawing: AfterDraw, ends: int, needed: int) -> int:
    """Fill `drawing.parts` with those that hold a tile and may be in an arrangement of `needed` tiles; how many."""
    up = ends | ends << 4 | ends << 8 | ends << 12 | ends << 16
    around = up | ends >> 4 | ends >> 8 | ends >> 12 | ends >> 16 | same_number(ends)
    near = (drawing.top | ends) & around
    count = 0
    mask = patterns_held(near)
    while mask:
        pattern = lowest_bit(mask)
        mask &= mask - 1
        if needed - HELD[pattern] > drawing.in_three[2 - EXTRA[pattern]]:
            continue
        bits = bits_of_pattern(near, pattern)
        while bits:
            first = lowest_bit(bits)
            bits &= bits - 1
            if tiles_of_part(pattern, first) & ends:
                drawing.parts[count] = pattern << 6 | first
                count += 1
    return count


@kernel(borrows=True)
def useful_after_draw(drawing: AfterDraw, bit: int) -> int:
    """The faces that would raise the cover after one more tile has come, of which the hand has not two.

    Args:
        drawing: the hand.
        bit: of the tile that comes.
    """
    tile = 1 << bit
    helps = drawing.useful >> bit & 1
    needed = drawing.covered + helps
    ends = with_top(tile, drawing.run_13_1)
    missing = 0
    for place in range(find_parts(drawing, ends, needed)):
        part = drawing.parts[place]
        pattern, first = part >> 6, part & 63
        extra = 2 - EXTRA[pattern]
        others = tiles_of_part(pattern, first) & ~ends
        search = others | extra << 56 | helps << 58
        at = (search * _SPREAD >> 48) & (_PLACES - 1)
        if drawing.kept[0, at] != search:
            drawing.found[0] = np.uint64(0)
            once, twice = without(drawing.top, drawing.top_twice, others)
            note_beside(once, twice, extra, needed - HELD[pattern], OUTSIDE, drawing.found)
            drawing.kept[0, at] = search
            drawing.kept[1, at] = as_int(drawing.found[0])
            drawing.kept[2, at] = unused_of_marks(as_int(drawing.found[0]))
        if drawing.kept[2, at] >= 0:
            missing |= drawing.kept[1, at] | missing_of_part(pattern, first, drawing.kept[2, at])
    once, twice = drawing.top | ends, drawing.top_twice | drawing.top & ends
    if drawing.in_fives >= needed - 1:
        drawing.found[0] = np.uint64(0)
        collect_two_fives(once, twice, needed, drawing.found)
        missing |= as_int(drawing.found[0])
    if helps == 0 and drawing.unused >= 0:
        missing |= beside(ends, 2 + drawing.unused) | (same_number(ends & FACES) & ~ends)
    missing = fold(missing & (WORD if drawing.run_13_1 else FACES))
    if helps == 0:
        missing |= drawing.useful
    return missing & ~twice


@kernel(borrows=True)
def throws_after_draw(drawing: AfterDraw, bit: int, after: Any) -> int:
    """All about the throws after a useful tile has come.

    Args:
        drawing: the hand.
        bit: of the tile that comes, a useful one.
        after: `[53]` uint64 by kind, overwritten: for each kind whose throw keeps the cover, the faces that would raise
            it then, with marks above them; 0 for the others.

    Returns:
        The faces whose throw keeps the cover.
    """
    after[:] = np.uint64(0)
    needed = drawing.covered + 1
    ends = with_top(1 << bit, drawing.run_13_1)
    for place in range(find_parts(drawing, ends, needed)):
        part = drawing.parts[place]
        pattern, first = part >> 6, part & 63
        once, twice = without(drawing.top, drawing.top_twice, tiles_of_part(pattern, first) & ~ends)
        note_beside(once, twice, 2 - EXTRA[pattern], needed - HELD[pattern], part, after)
    once, twice = drawing.top | ends, drawing.top_twice | drawing.top & ends
    if drawing.in_fives >= drawing.covered:
        collect_two_fives(once, twice, needed, after)
    places = WORD if drawing.run_13_1 else FACES
    keep = 0
    tiles = once & FACES
    while tiles:
        kind = KIND_OF_BIT[lowest_bit(tiles)]
        if after[kind]:
            keep |= tiles & -tiles
            after[kind] = np.uint64(fold(as_int(after[kind]) & places) & ~twice)
        tiles &= tiles - 1
    return keep
