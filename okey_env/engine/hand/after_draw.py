"""What is useful after one more tile, for each tile that may come, in half the time of analysing every such hand.

Let M be the cover of a hand h (see `search`), with M less than the number of its tiles, and let t be one more tile.

* If t is useful, the cover of h + t is M + 1. Every best arrangement of h + t holds t, because h alone has no
  arrangement of M + 1 tiles.
* If t is not useful, the cover of h + t is M. The best arrangements without t only show which tiles are useful now;
  whatever becomes useful by t comes from arrangements with t.

So the search looks only at arrangements with t: for each part that holds t, it fills the three other slots from the
rest of h. Such a search does not depend on t, only on the other tiles of the part, and two neighbours belong to many
parts. So its result is kept: the missing tiles, and the most extra tiles that stay unused, by which the part of t may
grow. To find that number, the search gets a part that stands for the part outside the hand. What that part lacks with
0, 1 and 2 tiles more is a mark.

If t stands alone in a slot, no search is needed: only its neighbours become useful; everything else was useful already.

Racks 5+5+4 are searched for each t, but only if the hand can nearly fill one.
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

_KEPT = 256
"""Searches that are kept, each at the index that its hash gives."""
_SPREAD = 0x9E3779B97F4A7C1
_MORE_THAN_ANY = 15
_MAX_PARTS = 2 * 5 * NUM_PATTERNS  # a part holds at most five tiles, and a 1 is at both ends of its colour


class AfterDraw(NamedTuple):
    """A hand, prepared for questions about one more tile, and the results of searches so far."""

    top: int
    """The faces of which it holds a copy, with the top."""
    top_twice: int
    """The faces of which it holds both copies, with the top."""
    covered: int
    """Its cover."""
    useful: int
    """The faces that raise the cover."""
    run_13_1: bool
    """Whether a 1 may follow a 13 (R4.1)."""
    unused: int
    """The most extra tiles that stay unused when three slots hold `covered - 1` tiles; -1 if they cannot."""
    in_fives: int
    """The most tiles that a rack 5+5+4 holds; `covered - 2` if it does not hold more than that."""
    in_three: npt.NDArray[np.int64]
    """`(3,)` by 0 to 2 extra tiles: the most tiles that three slots hold which share them."""
    kept: npt.NDArray[np.int64]
    """`(3, 256)` by hash: the search, its missing tiles, and the most extra tiles unused or -1."""
    parts: npt.NDArray[np.int64]
    """`(n,)` overwritten by `find_parts`: parts, as `pattern << 6 | bit`."""
    found: npt.NDArray[np.uint64]
    """`(1,)` overwritten by searches."""


@linked("int64", "int64", "int64", "int64")
def most_in_three(once: int, twice: int, extra: int) -> int:
    """The most tiles that three slots hold which share `extra` tiles beyond nine."""
    return fill_three(once, twice, extra, 0, 0, -1, 0, _MORE_THAN_ANY)


@linked("void", "int64", "int64", "int64", "int64", "int64", "uint64[::1]")
def collect_beside(once: int, twice: int, extra: int, needed: int, part: int, found: Any) -> None:
    """Go through the arrangements in three slots that hold `needed` tiles, beside a part chosen already."""
    collect_three(once, twice, extra, needed, 0, -1, part, found)


@kernel(borrows=True)
def most_in_fives(once: int, twice: int, best: int, stop: int) -> int:
    """The most tiles that a rack 5+5+4 holds, also with single tiles in slots of five; `best` if that is not less.

    Args:
        once, twice: the hand, with its top.
        best: smaller results are not looked for.
        stop: the search ends when it finds this many.
    """
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
    kept = np.empty((3, _KEPT), np.int64)
    kept[0] = -1
    in_fives = most_in_fives(top, top_twice, covered - 2, covered)
    parts, found = np.empty(_MAX_PARTS, np.int64), np.empty(1, np.uint64)
    return AfterDraw(
        top=top,
        top_twice=top_twice,
        covered=covered,
        useful=useful,
        run_13_1=run_13_1,
        unused=unused,
        in_fives=in_fives,
        in_three=in_three,
        kept=kept,
        parts=parts,
        found=found,
    )


@kernel(borrows=True)
def find_parts(drawing: AfterDraw, ends: int, needed: int) -> int:
    """Fill `drawing.parts` with the parts that hold a tile and may belong to an arrangement of `needed` tiles.

    Args:
        drawing: the hand.
        ends: the tile, as a word with its top.
        needed: tiles.

    Returns:
        How many parts there are.
    """
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
    """The faces that raise the cover after one more tile has come.

    Args:
        drawing: the hand.
        bit: of the tile that comes.

    Returns:
        The faces as a word, without those of which the hand then holds both copies.
    """
    tile = 1 << bit
    helps = drawing.useful >> bit & 1
    needed = drawing.covered + helps
    ends = with_top(tile, drawing.run_13_1)
    missing = 0
    for index in range(find_parts(drawing, ends, needed)):
        part = drawing.parts[index]
        pattern, first = part >> 6, part & 63
        extra = 2 - EXTRA[pattern]
        others = tiles_of_part(pattern, first) & ~ends
        search = others | extra << 56 | helps << 58
        at = (search * _SPREAD >> 48) & (_KEPT - 1)
        if drawing.kept[0, at] != search:
            drawing.found[0] = np.uint64(0)
            once, twice = without(drawing.top, drawing.top_twice, others)
            collect_beside(once, twice, extra, needed - HELD[pattern], OUTSIDE, drawing.found)
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
    """Which throws keep the cover after a useful tile has come, and what is useful after each of them.

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
    for index in range(find_parts(drawing, ends, needed)):
        part = drawing.parts[index]
        pattern, first = part >> 6, part & 63
        once, twice = without(drawing.top, drawing.top_twice, tiles_of_part(pattern, first) & ~ends)
        collect_beside(once, twice, 2 - EXTRA[pattern], needed - HELD[pattern], part, after)
    once, twice = drawing.top | ends, drawing.top_twice | drawing.top & ends
    if drawing.in_fives >= drawing.covered:
        collect_two_fives(once, twice, needed, after)
    allowed = WORD if drawing.run_13_1 else FACES
    keep = 0
    tiles = once & FACES
    while tiles:
        kind = KIND_OF_BIT[lowest_bit(tiles)]
        if after[kind]:
            keep |= tiles & -tiles
            after[kind] = np.uint64(fold(as_int(after[kind]) & allowed) & ~twice)
        tiles &= tiles - 1
    return keep
