"""`arrange`: a best arrangement of a hand on the rack, with the face that every wild tile stands for (R4).

It chooses part by part with the kernels of `search`: a part is taken if the tiles left still reach the cover.
"""

from typing import Any

import numpy as np

from okey_env.engine._jit import kernel
from okey_env.engine.hand.bits import ALL, FACES, ONE, TWO, WORD, ZERO, Word, as_int, lowest_bit, popcount, with_top
from okey_env.engine.hand.finish import natural_tiles
from okey_env.engine.hand.parts import (
    EXTRA,
    FITTING,
    GROUPS,
    HELD,
    HOLES,
    NUM_PATTERNS,
    RUNS,
    bits_of_pattern,
    patterns_held,
    tiles_of_part,
)
from okey_env.engine.hand.search import fill_four, fill_three, fill_two, largest_part, search_cover, without

SINGLE = NUM_PATTERNS  # stands for a pattern where a slot holds one tile
ADJACENT = 13  # the pattern "11": a run that needs one tile at either end

# A chosen part is written as `pattern << 6 | bit`.


@kernel
def reaches(once: int, twice: int, slots: int, extra: int, needed: int) -> bool:
    """Whether `slots` slots (0 to 3) with `extra` extra tiles can take at least `needed` of the tiles left."""
    if needed <= slots:
        return True
    if slots == 0:
        return False
    if slots == 1:
        return largest_part(once, extra) >= needed
    if slots == 2:
        return fill_two(once, twice, extra, ZERO, ZERO, ALL, needed - 1, needed) >= needed
    return fill_three(once, twice, extra, ZERO, ZERO, ALL, needed - 1, needed) >= needed


@kernel
def choose_part(once: int, twice: int, fitting: int, extra: int, slots: int, needed: int) -> int:
    """The first part after which the later slots still reach what is needed; a single tile if there is no such part.

    Args:
        once, twice: the tiles left, with their top.
        fitting: the mask of the patterns that may be chosen.
        extra: tiles beyond three that this slot and the later ones may share.
        slots: the number of later slots.
        needed: the tiles that this slot and the later ones must take.
    """
    mask = patterns_held(once) & fitting
    while mask:
        pattern = lowest_bit(mask)
        mask &= mask - 1
        bits = bits_of_pattern(once, pattern)
        while bits:
            bit = lowest_bit(bits)
            bits &= bits - 1
            once_left, twice_left = without(once, twice, tiles_of_part(pattern, bit))
            if reaches(once_left, twice_left, slots, extra - EXTRA[pattern], needed - HELD[pattern]):
                return pattern << 6 | bit
    return SINGLE << 6 | lowest_bit(once & FACES)


@kernel
def tiles_of_choice(part: int) -> int:
    """The tiles of a chosen part as a word; a 1 that follows a 13 is at position 13."""
    if part >> 6 == SINGLE:
        return 1 << (part & 63)
    return tiles_of_part(part >> 6, part & 63)


@kernel
def choose_four(once: int, twice: int, covered: int, parts: Any) -> int:
    """Write into `parts [4]` the parts of a rack of four slots that cover `covered` tiles; returns how many there are.

    There are fewer than four if the tiles run out.
    """
    extra = TWO
    needed = covered
    for slot in range(4):
        if once == 0:
            return slot
        part = choose_part(once, twice, FITTING[extra], extra, 3 - slot, needed)
        parts[slot] = part
        once, twice = without(once, twice, tiles_of_choice(part))
        if part >> 6 != SINGLE:
            extra -= EXTRA[part >> 6]
            needed -= HELD[part >> 6]
        else:
            needed -= 1
    return 4


@kernel
def choose_two_fives(once: int, twice: int, covered: int, parts: Any) -> int:
    """Write into `parts [4]` the parts of a rack 5+5+4 that cover `covered` tiles; returns how many: 3, or 0 for none.

    It is called only if four slots cover fewer tiles, so each of the three slots holds two tiles or more.
    """
    mask = patterns_held(once) & RUNS
    while mask:
        pattern = lowest_bit(mask)
        mask &= mask - 1
        bits = bits_of_pattern(once, pattern)
        while bits:
            bit = lowest_bit(bits)
            bits &= bits - 1
            once_left, twice_left = without(once, twice, tiles_of_part(pattern, bit))
            needed = covered - HELD[pattern]
            second_mask = patterns_held(once_left) & RUNS
            while second_mask:
                second = lowest_bit(second_mask)
                second_mask &= second_mask - 1
                second_bits = bits_of_pattern(once_left, second)
                while second_bits:
                    second_bit = lowest_bit(second_bits)
                    second_bits &= second_bits - 1
                    once_last, twice_last = without(once_left, twice_left, tiles_of_part(second, second_bit))
                    if largest_part(once_last, ONE) >= needed - HELD[second]:
                        parts[0] = pattern << 6 | bit
                        parts[1] = second << 6 | second_bit
                        parts[2] = choose_part(once_last, twice_last, FITTING[1], ONE, ZERO, needed - HELD[second])
                        return 3
    return 0


@kernel
def holes_of(part: int, positions: int) -> int:
    """The tiles that complete a part to its smallest meld, as a word; `positions` is the word of what runs may use."""
    pattern = part >> 6
    bit = part & 63
    number = bit & ~3
    if pattern == SINGLE:  # with two wild tiles: a group in two other colours
        return ((1 << ((bit + 1) & 3)) | (1 << ((bit + 2) & 3))) << number
    if pattern == ADJACENT:
        above = 1 << bit << 8
        return above if above & positions else 1 << bit >> 4
    holes = HOLES[pattern, bit & 3] << number
    if GROUPS >> pattern & 1:
        return 0 if HELD[pattern] >= 3 else holes & -holes
    return holes


@kernel
def one_more(meld: int, is_group: bool, positions: int) -> int:
    """A tile by which a complete meld can grow, as a word of one bit; 0 if it cannot grow."""
    if is_group:
        others = (15 << (lowest_bit(meld) & ~3)) & ~meld
        return others & -others
    above = meld << 4 & ~meld & positions
    if above:
        return above
    return meld >> 4 & ~meld & positions


@kernel
def arrange(once: Word, twice: Word, wilds: int, run_13_1: bool, melds: Any) -> tuple[int, int]:
    """A best arrangement of a hand of 14 or 15 tiles.

    Args:
        once, twice, wilds: the hand.
        run_13_1: whether a 1 may follow a 13 (R4.1).
        melds: `[4, 2]` uint64, overwritten. A row for each complete meld, then a row for each part of a meld that is
            not complete: the natural tiles, and the faces that wild tiles stand for. Both are words in which a 1 that
            follows a 13 is at position 13 (bits 52 to 55).

    Returns:
        num_melds: the number of rows that are complete melds.
        num_parts: the number of rows after them, which are parts of two tiles or more.
        Tiles in no row are left over. All tiles of a finished hand are in melds, except the finishing tile of 15.
    """
    top = with_top(once, run_13_1)
    top_twice = with_top(twice, run_13_1)
    limit = min(14, natural_tiles(once, twice))
    covered = min(limit, search_cover(top, top_twice, 0, limit))
    parts = np.zeros(4, dtype=np.int64)
    if fill_four(top, top_twice, covered - 1, covered) >= covered:
        num_chosen = choose_four(top, top_twice, covered, parts)
    else:
        num_chosen = choose_two_fives(top, top_twice, covered, parts)
    positions = WORD if run_13_1 else FACES
    wilds_left = wilds
    to_place = 14 - covered if covered + wilds >= 14 else 0  # the wild tiles that a finished hand uses
    melds[:] = np.uint64(0)
    num_melds = 0
    for wanted in range(3):  # the parts that need the fewest wild tiles are completed first
        for slot in range(num_chosen):
            holes = holes_of(parts[slot], positions)
            if popcount(holes) == wanted and wanted <= wilds_left:
                melds[num_melds, 0] = np.uint64(tiles_of_choice(parts[slot]))
                melds[num_melds, 1] = np.uint64(holes)
                num_melds += 1
                wilds_left -= wanted
                to_place -= wanted
                parts[slot] = -1
    for _ in range(2):
        for meld in range(num_melds):
            if to_place > 0:
                tiles = as_int(melds[meld, 0] | melds[meld, 1])
                is_group = tiles >> (lowest_bit(tiles) & ~3) < 16  # all tiles have the number of the lowest one
                grown = one_more(tiles, is_group, positions)
                if grown:
                    melds[meld, 1] |= np.uint64(grown)
                    to_place -= 1
    num_parts = 0
    for slot in range(num_chosen):
        if parts[slot] >= 0 and parts[slot] >> 6 != SINGLE:
            melds[num_melds + num_parts, 0] = np.uint64(tiles_of_choice(parts[slot]))
            num_parts += 1
    return num_melds, num_parts
