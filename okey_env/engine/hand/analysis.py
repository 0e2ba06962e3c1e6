"""`analyse`: all that a player needs to know of the melds in a hand before a throw, in one search.

The cover M of a hand (see `search`) changes by 0 or 1 with each tile, so two sets decide everything:

* The *keep set* holds the tiles that can be thrown without loss: t with M(h - t) = M. A best rack is a rack T with
  |T ∩ h| = M. The tile t is in the keep set if and only if some best rack uses fewer copies of t than the hand has,
  which means that t is *left over* in some best arrangement.
* The *useful tiles* are f with M(h + f) = M + 1. The tile f is useful if and only if some best rack uses more copies of
  f than the hand has, which means that f is *missing* in some best arrangement. The tile f is useful after t is thrown
  if and only if t is left over and f is missing in the same best arrangement.

Therefore the search of the module `search` is run again with M known, through *all* best arrangements. At the end of
each arrangement, the missing tiles are collected for each left-over tile. Parts are chosen in the same order as in
`search`; only the last slots are treated differently:

* Slots that take single tiles: any left-over tile may be that single tile, and every tile that can lie in a meld with
  it is missing.
* A last slot that takes two tiles: for each left-over tile, all pairs among the other tiles are found at once by
  operations on words.
* Two last slots that take two tiles each: for each pair, the search finds the tiles that can be left over while another
  pair stays in the hand.

A winning rack has exactly 14 tiles, so extra tiles that no part uses make the melds larger: more tiles are then missing
around each part. A missing tile is never a left-over tile, because otherwise the arrangement would not be a best one.
"""

from typing import Any, NamedTuple

import numpy as np

from okey_env.engine._jit import kernel, linked
from okey_env.engine.hand.bits import (
    FACES,
    FOUR,
    KIND_OF_BIT,
    ONE,
    THREE,
    TWO,
    WILD_BIT,
    WORD,
    ZERO,
    Word,
    as_int,
    fold,
    lowest_bit,
    next_colour,
    opposite_colour,
    popcount,
    with_top,
)
from okey_env.engine.hand.finish import natural_tiles
from okey_env.engine.hand.parts import (
    EXTRA,
    FITTING,
    GROUPS,
    HELD,
    MARKS,
    PAIRS,
    RUNS,
    bits_of_pattern,
    missing_of_part,
    patterns_held,
    tiles_of_part,
)
from okey_env.engine.hand.search import largest_of, search_cover, without

LEFT_OVER = 1 << 60  # a mark in a word of missing tiles: this tile was left over in a best arrangement

# A chosen part is written as `pattern << 6 | bit`. The `collect_*` kernels write into `found` uint64. `found [53]` has,
# by kind of the left-over tile, the word of the missing tiles. `found [1]` has one word of the missing tiles for all
# left-over tiles together; it serves hands with more tiles than their cover, in which some tile is always left over.
# `run_13_1` is not passed on, because the callers mask the tiles at position 13 at the very end.


@kernel
def missing_of(part: int, more: int) -> int:
    """The missing tiles of a chosen part, as a word, if its meld may be `more` tiles larger than the smallest one."""
    return missing_of_part(part >> 6, part & 63, more)


@kernel
def beside(word: int, reach: int) -> int:
    """The faces of the same colour up to `reach` numbers away from a tile of `word`, as a word; `reach` is 2 to 4."""
    positions = word << 4 | word >> 4 | word << 8 | word >> 8
    if reach >= 3:
        positions |= word << 12 | word >> 12
    if reach >= 4:
        positions |= word << 16 | word >> 16
    return positions


@kernel
def same_number(word: int) -> int:
    """All faces that have the number of a face in `word`, as a word."""
    numbers = word | word >> 1
    numbers = (numbers | numbers >> 2) & 0x1111111111111
    return numbers * 15


@kernel(borrows=True)
def collect_one(tile: int, missing: int, found: Any) -> None:
    """Collect `missing`, the missing tiles of one arrangement, for the left-over tile `tile` (a word of one bit)."""
    index = KIND_OF_BIT[lowest_bit(tile)] if len(found) > 1 else 0
    found[index] |= np.uint64((missing & (WORD | MARKS)) | LEFT_OVER)


@kernel(borrows=True)
def collect(once: int, missing: int, found: Any) -> None:
    """Collect `missing`, the missing tiles of one arrangement, for every tile of `once`: all of them are left over."""
    tiles = once & FACES
    if len(found) == 1:
        tiles &= -tiles
    while tiles:
        collect_one(tiles, missing, found)
        tiles &= tiles - 1


@kernel(borrows=True)
def collect_singles(once: int, twice: int, slots: int, reach: int, groups: int, missing: int, found: Any) -> None:
    """Collect for arrangements in which each of the last `slots` slots takes a single tile.

    Args:
        once, twice: the tiles that no part holds, as words.
        slots: the number of slots that take a single tile.
        reach: how many numbers away a tile can lie in a run with a single tile.
        groups: 1 if a single tile may lie in a group too, else 0.
        missing: the missing tiles of the parts chosen before.
        found: what is collected, see the top of this module.
    """
    if popcount(once & FACES) + popcount(twice & FACES) <= slots:
        return
    tiles = once & FACES
    while tiles:
        tile = tiles & -tiles
        tiles ^= tile
        others, _ = without(once, twice, tile)
        more = beside(others, reach)
        if groups:
            more |= same_number(others & FACES) & ~others
        collect_one(tile, missing | more & WORD, found)


@kernel
def pair_starts(held: int, extra: int) -> int:
    """The first tiles of the pairs in `held` (with its top) that fit into a slot with `extra` extra tiles: a word."""
    others = held >> 4 | held >> 8 | next_colour(held) | opposite_colour(held)
    if extra >= 1:
        others |= held >> 12
        if extra >= 2:
            others |= held >> 16
    return held & others


@kernel
def second_of_pair(tile: int, extra: int) -> int:
    """The faces that make a pair with `tile` as its first tile, in a slot with `extra` extra tiles, as a word."""
    positions = tile << 4 | tile << 8 | (same_number(tile) ^ tile)
    if extra >= 1:
        positions |= tile << 12
        if extra >= 2:
            positions |= tile << 16
    return positions


@kernel
def spare_beside_pair(once: int, twice: int, extra: int) -> int:
    """The tiles that can be left over one at a time, as a word: the other tiles still hold a pair.

    Args:
        once, twice: the tiles that no part holds, as words.
        extra: the extra tiles of the slot that takes the pair.
    """
    starts = pair_starts(once, extra)
    if starts == 0:
        return 0
    first = starts & -starts
    second = second_of_pair(first, extra) & once
    pair = fold(first | (second & -second)) & ~twice
    spare = once & FACES & ~pair  # a tile outside this pair leaves the pair whole
    while pair:
        tile = pair & -pair
        pair ^= tile
        rest, _ = without(once, twice, tile)
        if pair_starts(rest, extra):
            spare |= tile
    return spare


class Start(NamedTuple):
    """Where a search continues: pattern `first` at the bits of `floor`, then later patterns; earlier parts are done."""

    first: int
    floor: int


@kernel(borrows=True)
def collect_two_pairs(once: int, twice: int, mask: int, extra: int, start: Start, a: int, b: int, found: Any) -> None:
    """Collect for arrangements in which the last two slots take two tiles each, of the patterns in `mask`.

    For each pair it is enough to know that another pair exists. The missing tiles around the other pair are collected
    when the other pair is chosen: in this call or, if it comes before `start`, in a call for an earlier slot.
    """
    while mask:
        pattern = lowest_bit(mask)
        mask &= mask - 1
        bits = bits_of_pattern(once, pattern)
        if pattern == start.first:
            bits &= start.floor
        while bits:
            bit = lowest_bit(bits)
            bits &= bits - 1
            once_left, twice_left = without(once, twice, tiles_of_part(pattern, bit))
            extra_left = extra - EXTRA[pattern]
            tiles = once_left & FACES
            for used in range(extra_left + 1):  # extra tiles of the other pair; fewer leave more tiles missing
                if len(found) > 1:
                    spare = tiles & spare_beside_pair(once_left, twice_left, used)
                else:
                    spare = tiles if pair_starts(once_left, used) else 0
                if spare:
                    more = extra_left - used
                    missing = missing_of(a, more) | missing_of(b, more) | missing_of_part(pattern, bit, more)
                    collect(spare, missing, found)
                    tiles &= ~spare
                if tiles == 0:
                    break


@kernel
def missing_of_pairs(held: int, more: int, missing_0: int, missing_1: int, missing_2: int) -> int:
    """The missing tiles of all arrangements in which the last slot takes a pair of `held`, with the mark LEFT_OVER.

    Args:
        held: the tiles for the last slot, as a word with its top.
        more: extra tiles that are still unused, 0 to 2.
        missing_0, missing_1, missing_2: the missing tiles of the other parts if 0, 1 or 2 extra tiles stay unused.

    Returns:
        A word; 0 if `held` has no such pair.
    """
    missing = 0
    rest = 0
    first_second = held & held >> 4
    first_third = held & held >> 8
    in_groups = held & (next_colour(held) | opposite_colour(held))
    if first_second | first_third | in_groups:
        rest = LEFT_OVER
        missing = first_second << 8 | first_second >> 4 | first_third << 4
        missing |= same_number(in_groups) & ~held
        if more == 0:
            rest |= missing_0
        else:
            missing |= first_second << 12 | first_second >> 8 | first_third << 12 | first_third >> 4
            if more == 1:
                rest |= missing_1
            else:
                missing |= first_second << 16 | first_second >> 12 | first_third << 16 | first_third >> 8
                rest |= missing_2
    if more >= 1:
        first_fourth = held & held >> 12
        if first_fourth:
            rest |= LEFT_OVER
            missing |= first_fourth << 4 | first_fourth << 8
            if more == 1:
                rest |= missing_0
            else:
                rest |= missing_1
                missing |= first_fourth << 16 | first_fourth >> 4
        if more >= 2:
            first_fifth = held & held >> 16
            if first_fifth:
                rest |= missing_0 | LEFT_OVER
                missing |= first_fifth << 4 | first_fifth << 8 | first_fifth << 12
    return missing & WORD | rest


@kernel(borrows=True)
def collect_pairs(once: int, twice: int, more: int, missing_0: int, missing_1: int, missing_2: int, found: Any) -> None:
    """Collect for arrangements in which the last slot takes two tiles; arguments as in `missing_of_pairs`."""
    missing = missing_of_pairs(once, more, missing_0, missing_1, missing_2)
    if missing == 0:
        return
    if len(found) == 1:
        collect(once, missing, found)
        return
    tiles = once & FACES
    while tiles:
        tile = tiles & -tiles
        tiles ^= tile
        rest, _ = without(once, twice, tile)
        missing = missing_of_pairs(rest, more, missing_0, missing_1, missing_2)
        if missing:
            collect_one(tile, missing, found)


@kernel(borrows=True)
def collect_last(
    once: int, twice: int, extra: int, needed: int, start: Start, chosen: tuple[int, int, int], found: Any
) -> None:
    """Collect for arrangements in which the last slot takes `needed` tiles; `chosen` are the three parts before it."""
    a, b, c = chosen
    if needed == 1:
        missing = missing_of(a, extra) | missing_of(b, extra) | missing_of(c, extra)
        collect_singles(once, twice, needed, 2 + extra, ONE, missing, found)
        return
    if needed == 2:
        missing_0 = missing_of(a, ZERO) | missing_of(b, ZERO) | missing_of(c, ZERO)
        missing_1 = 0
        missing_2 = 0
        if extra >= 1:
            missing_1 = missing_of(a, ONE) | missing_of(b, ONE) | missing_of(c, ONE)
            if extra >= 2:
                missing_2 = missing_of(a, TWO) | missing_of(b, TWO) | missing_of(c, TWO)
        collect_pairs(once, twice, extra, missing_0, missing_1, missing_2, found)
        return
    mask = patterns_held(once) & FITTING[extra] & -1 << start.first
    while mask:
        pattern = lowest_bit(mask)
        mask &= mask - 1
        if HELD[pattern] < needed:
            return
        bits = bits_of_pattern(once, pattern)
        if pattern == start.first:
            bits &= start.floor
        while bits:
            bit = lowest_bit(bits)
            bits &= bits - 1
            rest, _ = without(once, twice, tiles_of_part(pattern, bit))
            more = extra - EXTRA[pattern]
            missing = missing_of(a, more) | missing_of(b, more) | missing_of(c, more)
            collect(rest, missing | missing_of_part(pattern, bit, more), found)


@kernel(borrows=True)
def collect_two(once: int, twice: int, extra: int, needed: int, start: Start, a: int, b: int, found: Any) -> None:
    """Collect for arrangements in which the last two slots take `needed` tiles; parts `a` and `b` came before them."""
    if needed > 6 + extra:
        return
    if needed == 2:
        missing = missing_of(a, extra) | missing_of(b, extra)
        collect_singles(once, twice, needed, 2 + extra, ONE, missing, found)
        return
    mask = patterns_held(once) & FITTING[extra] & -1 << start.first
    if needed == 4:
        collect_two_pairs(once, twice, mask & PAIRS, extra, start, a, b, found)
        mask &= ~PAIRS
    while mask:
        pattern = lowest_bit(mask)
        mask &= mask - 1
        if 2 * HELD[pattern] < needed:
            return
        if HELD[pattern] > needed - 1:
            continue
        bits = bits_of_pattern(once, pattern)
        if pattern == start.first:
            bits &= start.floor
        while bits:
            bit = lowest_bit(bits)
            bits &= bits - 1
            once_left, twice_left = without(once, twice, tiles_of_part(pattern, bit))
            extra_left = extra - EXTRA[pattern]
            needed_left = needed - HELD[pattern]
            part = pattern << 6 | bit
            collect_last(once_left, twice_left, extra_left, needed_left, Start(pattern, -1 << bit), (a, b, part), found)


@kernel(borrows=True)
def collect_three(once: int, twice: int, extra: int, needed: int, first: int, floor: int, a: int, found: Any) -> None:
    """Collect for arrangements in which the last three slots take `needed` tiles; the part `a` came before them."""
    if needed > 9 + extra:
        return
    if needed == 3:
        collect_singles(once, twice, needed, 2 + extra, ONE, missing_of(a, extra), found)
        return
    mask = patterns_held(once) & FITTING[extra] & -1 << first
    while mask:
        pattern = lowest_bit(mask)
        mask &= mask - 1
        if 3 * HELD[pattern] < needed:
            return
        if HELD[pattern] > needed - 2:
            continue
        bits = bits_of_pattern(once, pattern)
        if pattern == first:
            bits &= floor
        while bits:
            bit = lowest_bit(bits)
            bits &= bits - 1
            once_left, twice_left = without(once, twice, tiles_of_part(pattern, bit))
            extra_left = extra - EXTRA[pattern]
            needed_left = needed - HELD[pattern]
            part = pattern << 6 | bit
            collect_two(once_left, twice_left, extra_left, needed_left, Start(pattern, -1 << bit), a, part, found)


@linked("void", "int64", "int64", "int64", "uint64[::1]")
def collect_four(once: int, twice: int, needed: int, found: Any) -> None:
    """Collect for the arrangements in four slots that hold `needed` tiles, the cover of the hand."""
    if needed == 4:
        collect_singles(once, twice, FOUR, FOUR, ONE, ZERO, found)
        return
    mask = patterns_held(once)
    while mask:
        pattern = lowest_bit(mask)
        mask &= mask - 1
        if 4 * HELD[pattern] < needed:
            return
        if HELD[pattern] > needed - 3:
            continue
        bits = bits_of_pattern(once, pattern)
        while bits:
            bit = lowest_bit(bits)
            bits &= bits - 1
            once_left, twice_left = without(once, twice, tiles_of_part(pattern, bit))
            extra_left = 2 - EXTRA[pattern]
            needed_left = needed - HELD[pattern]
            collect_three(once_left, twice_left, extra_left, needed_left, pattern, -1 << bit, pattern << 6 | bit, found)


@kernel(borrows=True)
def collect_slot_of_four(once: int, twice: int, needed: int, fives: int, fives_single: int, found: Any) -> None:
    """Collect for the slot of four tiles in a rack 5+5+4, once the slots of five are settled.

    A single tile in a slot of five is in a run that reaches four numbers away.

    Args:
        once, twice: the tiles that no part holds, as words.
        needed: the tiles that the slot of four must take.
        fives: the missing tiles of the parts in the slots of five.
        fives_single: the number of slots of five that take a single tile, 0 to 2.
        found: what is collected, see the top of this module.
    """
    if needed == 1:
        collect_singles(once, twice, 1 + fives_single, FOUR if fives_single else THREE, ONE, fives, found)
        return
    if needed == 2 and fives_single == 0:
        collect_pairs(once, twice, ONE, fives, fives, fives, found)
        return
    mask = patterns_held(once) & FITTING[1]
    while mask:
        pattern = lowest_bit(mask)
        mask &= mask - 1
        if HELD[pattern] < needed:
            return
        if HELD[pattern] > needed:
            continue
        bits = bits_of_pattern(once, pattern)
        more = 1 if GROUPS >> pattern & 1 else 1 - EXTRA[pattern]
        while bits:
            bit = lowest_bit(bits)
            bits &= bits - 1
            once_left, twice_left = without(once, twice, tiles_of_part(pattern, bit))
            missing = fives | missing_of_part(pattern, bit, more)
            if fives_single == 0:
                collect(once_left, missing, found)
            else:
                collect_singles(once_left, twice_left, fives_single, FOUR, ZERO, missing, found)


@linked("void", "int64", "int64", "int64", "uint64[::1]")
def collect_two_fives(once: int, twice: int, needed: int, found: Any) -> None:
    """Collect for the arrangements in racks 5+5+4 that hold `needed` tiles, the cover of the hand."""
    mask = patterns_held(once)
    largest_four = largest_of(mask & FITTING[1])
    mask &= RUNS
    if 2 * largest_of(mask) + largest_four < needed:
        return
    if needed - 2 <= largest_four:
        collect_slot_of_four(once, twice, needed - 2, ZERO, TWO, found)
    while mask:
        pattern = lowest_bit(mask)
        mask &= mask - 1
        if 2 * HELD[pattern] + largest_four < needed:
            return
        bits = bits_of_pattern(once, pattern)
        while bits:
            bit = lowest_bit(bits)
            bits &= bits - 1
            once_left, twice_left = without(once, twice, tiles_of_part(pattern, bit))
            fives = missing_of_part(pattern, bit, 2 - EXTRA[pattern])
            needed_left = needed - HELD[pattern]
            second_mask = patterns_held(once_left)
            largest_left = largest_of(second_mask & FITTING[1])
            if 2 <= needed_left <= 1 + largest_left:
                collect_slot_of_four(once_left, twice_left, needed_left - 1, fives, ONE, found)
            second_mask &= RUNS & -1 << pattern
            while second_mask:
                second = lowest_bit(second_mask)
                second_mask &= second_mask - 1
                needed_last = needed_left - HELD[second]
                if needed_last > largest_left:
                    break
                if needed_last < 1:
                    continue
                second_bits = bits_of_pattern(once_left, second)
                if second == pattern:
                    second_bits &= -1 << bit
                while second_bits:
                    bit_2 = lowest_bit(second_bits)
                    second_bits &= second_bits - 1
                    once_last, twice_last = without(once_left, twice_left, tiles_of_part(second, bit_2))
                    both = fives | missing_of_part(second, bit_2, 2 - EXTRA[second])
                    collect_slot_of_four(once_last, twice_last, needed_last, both, ZERO, found)


@kernel(borrows=True)
def useful_of_cover(once: Word, twice: Word, covered: int, run_13_1: bool, found: Any) -> np.uint64:
    """The kinds that raise the cover of a hand, as a word.

    Args:
        once, twice: the hand. It has more natural tiles than its cover.
        covered: its cover: the number of its natural tiles that a best arrangement holds.
        run_13_1: whether a 1 may follow a 13 (R4.1).
        found: `[1]` uint64, overwritten.
    """
    top = with_top(once, run_13_1)
    top_twice = with_top(twice, run_13_1)
    found[0] = np.uint64(0)
    collect_four(top, top_twice, covered, found)
    collect_two_fives(top, top_twice, covered, found)
    missing = as_int(found[0]) & (WORD if run_13_1 else FACES)
    return np.uint64((fold(missing) & ~(top_twice & FACES)) | 1 << WILD_BIT)


@kernel(borrows=True)
def distance_and_useful(once: Word, twice: Word, wilds: int, run_13_1: bool, found: Any) -> tuple[int, np.uint64]:
    """The distance and the useful kinds, as `analyse` gives them but faster; `found [1]` uint64 is overwritten."""
    top = with_top(once, run_13_1)
    top_twice = with_top(twice, run_13_1)
    limit = min(14, natural_tiles(once, twice))
    covered = min(limit, search_cover(top, top_twice, 0, limit))
    distance = max(0, 14 - wilds - covered)
    if distance == 0:
        return distance, np.uint64(0)
    return distance, useful_of_cover(once, twice, covered, run_13_1, found)


@kernel(borrows=True)
def analyse(once: Word, twice: Word, wilds: int, run_13_1: bool, after: Any) -> tuple[int, np.uint64, np.uint64]:
    """The melds distance, the keep set and the useful kinds of a hand of 14 or 15 tiles, in one pass.

    Args:
        once, twice, wilds: the hand.
        run_13_1: whether a 1 may follow a 13 (R4.1).
        after: `[53]` uint64 by kind, overwritten. For each kind whose throw keeps the distance: the kinds that would
            be useful after that throw, as a word. For every other kind, and if the distance is 0: 0.

    Returns:
        distance: tiles to exchange before 14 of them are all melds, as `melds_distance`.
        keep: the kinds whose throw keeps the distance, as a word; any other throw adds 1 to the distance.
        useful: the kinds that shorten the distance when the hand gets them, as a word; empty if the distance is 0.
    """
    after[:] = np.uint64(0)
    top = with_top(once, run_13_1)
    top_twice = with_top(twice, run_13_1)
    limit = min(14, natural_tiles(once, twice))
    covered = min(limit, search_cover(top, top_twice, 0, limit))
    distance = max(0, 14 - wilds - covered)
    keep = 0
    useful = 0
    if covered + wilds >= 15:
        keep = top & FACES
        if wilds:
            keep |= 1 << WILD_BIT
        return distance, np.uint64(keep), np.uint64(0)
    collect_four(top, top_twice, covered, after)
    collect_two_fives(top, top_twice, covered, after)
    drawable = ~(top_twice & FACES)
    positions = WORD if run_13_1 else FACES
    tiles = top & FACES
    while tiles:
        bit = lowest_bit(tiles)
        tiles &= tiles - 1
        kind = KIND_OF_BIT[bit]
        missing = as_int(after[kind])
        if missing == 0:
            continue
        keep |= 1 << bit
        if distance == 0:
            after[kind] = np.uint64(0)
        else:
            missing = fold(missing & positions) & drawable
            useful |= missing
            after[kind] = np.uint64(missing | 1 << WILD_BIT)
    if distance > 0:
        useful |= 1 << WILD_BIT
    return distance, np.uint64(keep), np.uint64(useful)
