"""`analyse`: everything one wants to know about a hand before a throw, in one search.

The cover M of a hand (see `search`) changes by 0 or 1 with each tile, so two sets decide everything:

* the *keep set*, the tiles that can go without loss: t with M(h - t) = M. That is so if and only if some best rack T,
  one with |T ∩ h| = M, uses fewer copies of t than the hand has: if t is *left over* in some best arrangement.
* the *useful tiles*, f with M(h + f) = M + 1: if and only if some best rack uses more copies of f than the hand has,
  if f is *missing* in some best arrangement. And f is useful after t is thrown if both are true of one arrangement.

So the search of `search` is run again with M known, through *all* best arrangements, and at the end of each it notes
the missing tiles with each left-over one. Parts are chosen in the same order; what differs is the end:

* slots that take single tiles: any left-over tile may be one, and all that can lie in a meld with it is missing;
* a last slot that takes two tiles: for each left-over tile, the pairs among the others, all at once by word operations;
* two last slots that take two tiles each: for each pair, the tiles that may go so that another pair stays.

Unused extra tiles make the melds larger (there are racks of 14 only), so they widen what is missing around a part.
A missing tile is never among the left-over ones, or the arrangement would not have been best.
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

LEFT_OVER = 1 << 60  # a mark beside the missing tiles: this tile was left over in a best arrangement

# A chosen part is noted as `pattern << 6 | bit`. `found [53]`, by kind, collects for each left-over tile the missing
# ones; `found [1]` collects those of all together, for hands with more tiles than their cover, which always leave one
# over. `run_13_1` is not passed on: tiles at position 13 are masked at the very end.


@kernel
def missing_of(part: int, more: int) -> int:
    """The missing tiles of a chosen part whose meld may be `more` tiles larger than need be."""
    return missing_of_part(part >> 6, part & 63, more)


@kernel
def beside(word: int, reach: int) -> int:
    """The places in runs up to `reach` from the tiles of `word`."""
    places = word << 4 | word >> 4 | word << 8 | word >> 8
    if reach >= 3:
        places |= word << 12 | word >> 12
    if reach >= 4:
        places |= word << 16 | word >> 16
    return places


@kernel
def same_number(word: int) -> int:
    """All faces of the numbers in `word`."""
    numbers = word | word >> 1
    numbers = (numbers | numbers >> 2) & 0x1111111111111
    return numbers * 15


@kernel(borrows=True)
def note_one(tile: int, missing: int, found: Any) -> None:
    """A tile is left over in an arrangement that lacks `missing`."""
    place = KIND_OF_BIT[lowest_bit(tile)] if len(found) > 1 else 0
    found[place] |= np.uint64((missing & (WORD | MARKS)) | LEFT_OVER)


@kernel(borrows=True)
def note(once: int, missing: int, found: Any) -> None:
    """Every tile of `once` is left over in an arrangement that lacks `missing`."""
    tiles = once & FACES
    if len(found) == 1:
        tiles &= -tiles
    while tiles:
        note_one(tiles, missing, found)
        tiles &= tiles - 1


@kernel(borrows=True)
def note_singles(once: int, twice: int, slots: int, reach: int, groups: int, missing: int, found: Any) -> None:
    """The last `slots` take a tile each, for runs up to `reach` away and, if `groups` is 1, for groups."""
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
        note_one(tile, missing | more & WORD, found)


@kernel
def pair_starts(held: int, extra: int) -> int:
    """The tiles of `held` (with its top) at which a pair begins that a slot with `extra` tiles to spare can take."""
    others = held >> 4 | held >> 8 | next_colour(held) | opposite_colour(held)
    if extra >= 1:
        others |= held >> 12
        if extra >= 2:
            others |= held >> 16
    return held & others


@kernel
def places_in_pair(tile: int, extra: int) -> int:
    """Where the second tile of a pair may lie that begins at `tile`."""
    places = tile << 4 | tile << 8 | (same_number(tile) ^ tile)
    if extra >= 1:
        places |= tile << 12
        if extra >= 2:
            places |= tile << 16
    return places


@kernel
def spare_beside_pair(once: int, twice: int, extra: int) -> int:
    """The tiles of which any one may go so that the others still hold a pair for a slot with `extra` tiles to spare."""
    starts = pair_starts(once, extra)
    if starts == 0:
        return 0
    first = starts & -starts
    second = places_in_pair(first, extra) & once
    pair = fold(first | (second & -second)) & ~twice
    spare = once & FACES & ~pair  # for all others this pair is there
    while pair:
        tile = pair & -pair
        pair ^= tile
        rest, _ = without(once, twice, tile)
        if pair_starts(rest, extra):
            spare |= tile
    return spare


class Start(NamedTuple):
    """Where a search goes on: pattern `first` at the bits of `floor`, then later patterns. Earlier parts were tried."""

    first: int
    floor: int


@kernel(borrows=True)
def note_two_pairs(once: int, twice: int, mask: int, extra: int, start: Start, a: int, b: int, found: Any) -> None:
    """The last two slots take two tiles each, of the patterns in `mask`.

    One pair is chosen, and it is enough to know that there is another: what is missing around that one is noted when it
    is chosen itself, here or, if it comes before `start`, in an earlier slot.
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
            for used in range(extra_left + 1):  # by the other pair: the less it uses, the more is missing
                if len(found) > 1:
                    spare = tiles & spare_beside_pair(once_left, twice_left, used)
                else:
                    spare = tiles if pair_starts(once_left, used) else 0
                if spare:
                    more = extra_left - used
                    missing = missing_of(a, more) | missing_of(b, more) | missing_of_part(pattern, bit, more)
                    note(spare, missing, found)
                    tiles &= ~spare
                if tiles == 0:
                    break


@kernel
def missing_of_pairs(held: int, more: int, missing_0: int, missing_1: int, missing_2: int) -> int:
    """What is missing if the last slot takes any pair of `held`, 0 if there is none; see `note_pairs`."""
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
def note_pairs(once: int, twice: int, more: int, missing_0: int, missing_1: int, missing_2: int, found: Any) -> None:
    """The last slot takes two tiles. `more` extra tiles are unused, and `missing_x` what lacks if x stay so."""
    missing = missing_of_pairs(once, more, missing_0, missing_1, missing_2)
    if missing == 0:
        return
    if len(found) == 1:
        note(once, missing, found)
        return
    tiles = once & FACES
    while tiles:
        tile = tiles & -tiles
        tiles ^= tile
        rest, _ = without(once, twice, tile)
        missing = missing_of_pairs(rest, more, missing_0, missing_1, missing_2)
        if missing:
            note_one(tile, missing, found)


@kernel(borrows=True)
def note_last(
    once: int, twice: int, extra: int, needed: int, start: Start, chosen: tuple[int, int, int], found: Any
) -> None:
    """One slot is left and must take `needed` tiles; three parts were chosen before."""
    a, b, c = chosen
    if needed == 1:
        missing = missing_of(a, extra) | missing_of(b, extra) | missing_of(c, extra)
        note_singles(once, twice, needed, 2 + extra, ONE, missing, found)
        return
    if needed == 2:
        missing_0 = missing_of(a, ZERO) | missing_of(b, ZERO) | missing_of(c, ZERO)
        missing_1 = 0
        missing_2 = 0
        if extra >= 1:
            missing_1 = missing_of(a, ONE) | missing_of(b, ONE) | missing_of(c, ONE)
            if extra >= 2:
                missing_2 = missing_of(a, TWO) | missing_of(b, TWO) | missing_of(c, TWO)
        note_pairs(once, twice, extra, missing_0, missing_1, missing_2, found)
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
            note(rest, missing | missing_of_part(pattern, bit, more), found)


@kernel(borrows=True)
def note_two(once: int, twice: int, extra: int, needed: int, start: Start, a: int, b: int, found: Any) -> None:
    """Two slots are left; see `note_four`."""
    if needed > 6 + extra:
        return
    if needed == 2:
        missing = missing_of(a, extra) | missing_of(b, extra)
        note_singles(once, twice, needed, 2 + extra, ONE, missing, found)
        return
    mask = patterns_held(once) & FITTING[extra] & -1 << start.first
    if needed == 4:
        note_two_pairs(once, twice, mask & PAIRS, extra, start, a, b, found)
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
            note_last(once_left, twice_left, extra_left, needed_left, Start(pattern, -1 << bit), (a, b, part), found)


@kernel(borrows=True)
def note_three(once: int, twice: int, extra: int, needed: int, first: int, floor: int, a: int, found: Any) -> None:
    """Three slots are left; see `note_four`."""
    if needed > 9 + extra:
        return
    if needed == 3:
        note_singles(once, twice, needed, 2 + extra, ONE, missing_of(a, extra), found)
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
            note_two(once_left, twice_left, extra_left, needed_left, Start(pattern, -1 << bit), a, part, found)


@linked("void", "int64", "int64", "int64", "uint64[::1]")
def note_four(once: int, twice: int, needed: int, found: Any) -> None:
    """Go through the arrangements in four slots that hold `needed` tiles, the cover of the hand."""
    if needed == 4:
        note_singles(once, twice, FOUR, FOUR, ONE, ZERO, found)
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
            note_three(once_left, twice_left, extra_left, needed_left, pattern, -1 << bit, pattern << 6 | bit, found)


@kernel(borrows=True)
def note_slot_of_four(once: int, twice: int, needed: int, fives: int, fives_single: int, found: Any) -> None:
    """The slot of four of a rack 5+5+4, when the slots of five lack `fives` and `fives_single` of them take one tile.

    A single tile in a slot of five is in a run that reaches four numbers away.
    """
    if needed == 1:
        note_singles(once, twice, 1 + fives_single, FOUR if fives_single else THREE, ONE, fives, found)
        return
    if needed == 2 and fives_single == 0:
        note_pairs(once, twice, ONE, fives, fives, fives, found)
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
                note(once_left, missing, found)
            else:
                note_singles(once_left, twice_left, fives_single, FOUR, ZERO, missing, found)


@linked("void", "int64", "int64", "int64", "uint64[::1]")
def note_two_fives(once: int, twice: int, needed: int, found: Any) -> None:
    """Go through the arrangements in racks 5+5+4 that hold `needed` tiles."""
    mask = patterns_held(once)
    largest_four = largest_of(mask & FITTING[1])
    mask &= RUNS
    if 2 * largest_of(mask) + largest_four < needed:
        return
    if needed - 2 <= largest_four:
        note_slot_of_four(once, twice, needed - 2, ZERO, TWO, found)
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
                note_slot_of_four(once_left, twice_left, needed_left - 1, fives, ONE, found)
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
                    note_slot_of_four(once_last, twice_last, needed_last, both, ZERO, found)


@kernel(borrows=True)
def useful_of_cover(once: Word, twice: Word, covered: int, run_13_1: bool, found: Any) -> np.uint64:
    """The kinds that raise the cover of a hand whose cover is known, and less than its tiles, as a word.

    Args:
        once, twice: the hand, of more tiles than its cover.
        covered: its cover: how many of its tiles a best arrangement holds.
        run_13_1: whether a 1 may follow a 13 (R4.1).
        found: `[1]` uint64, overwritten.
    """
    top = with_top(once, run_13_1)
    top_twice = with_top(twice, run_13_1)
    found[0] = np.uint64(0)
    note_four(top, top_twice, covered, found)
    note_two_fives(top, top_twice, covered, found)
    missing = as_int(found[0]) & (WORD if run_13_1 else FACES)
    return np.uint64((fold(missing) & ~(top_twice & FACES)) | 1 << WILD_BIT)


@kernel(borrows=True)
def distance_and_useful(once: Word, twice: Word, wilds: int, run_13_1: bool, found: Any) -> tuple[int, np.uint64]:
    """The distance and the useful kinds as `analyse` has them, in less time; `found [1]` uint64 is overwritten."""
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
    """All about the melds of a hand of 14 or 15 tiles, in one pass.

    Args:
        once, twice, wilds: the hand.
        run_13_1: whether a 1 may follow a 13 (R4.1).
        after: `[53]` uint64 by kind, overwritten: for each kind whose throw keeps the distance, the kinds that would
            be useful after that throw, as a word; 0 for the others, and everywhere when the distance is 0.

    Returns:
        distance: tiles to exchange before 14 of them are all melds, as `melds_distance`.
        keep: the kinds whose throw keeps that distance, as a word; any other throw adds 1 to it.
        useful: the kinds that shorten the distance when they come to the hand, as a word; none when it is 0.
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
    note_four(top, top_twice, covered, after)
    note_two_fives(top, top_twice, covered, after)
    drawable = ~(top_twice & FACES)
    places = WORD if run_13_1 else FACES
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
            missing = fold(missing & places) & drawable
            useful |= missing
            after[kind] = np.uint64(missing | 1 << WILD_BIT)
    if distance > 0:
        useful |= 1 << WILD_BIT
    return distance, np.uint64(keep), np.uint64(useful)
