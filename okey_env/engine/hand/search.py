"""`cover`: the most natural tiles of a hand that can belong to one winning rack made of melds.

This one number M answers every question about melds. A winning rack T is a multiset of 14 tiles that falls into
melds; M is the largest overlap of the hand's natural tiles with any T. The tiles of T that the hand lacks must come
from its wild tiles and from the stock. So with w wild tiles the hand is `max(0, 14 - w - M)` tiles from a finish.

**Which racks there are.** A run of six or more (R4.3) splits into shorter runs, so melds of three to five tiles
suffice, and 14 is then 5+3+3+3, 4+4+3+3 or 5+5+4. The first two are four *slots* of three tiles that share two *extra*
tiles; the third is searched separately.

**The search** puts parts of melds (see `parts`) into slots; the parts that hold the most tiles come first. A slot that
gets no part takes one left-over tile, since any tile can begin a meld; there are always enough left-over tiles. Two
bounds end the search early: no slot holds more tiles than the slot before it, and all slots together hold three tiles
each and the extra tiles.

A rack may name a face three times, the third time by a wild tile (R1.3), so T may be any multiset.
"""

from okey_env.engine._jit import kernel, linked
from okey_env.engine.hand.bits import ONE, both_ends, lowest_bit
from okey_env.engine.hand.parts import (
    EXTRA,
    FITTING,
    HELD,
    NUM_PATTERNS,
    RUNS,
    bits_of_pattern,
    patterns_held,
    tiles_of_part,
)


@kernel
def largest_of(mask: int) -> int:
    """The tiles that the largest part in a mask of patterns holds, 2 to 5; 1 for an empty mask."""
    return int(HELD[lowest_bit(mask | 1 << NUM_PATTERNS)])


@kernel
def largest_part(held: int, extra: int) -> int:
    """The most tiles of `held` that one slot with `extra` extra tiles can take, 1 to 5."""
    return largest_of(patterns_held(held) & FITTING[extra])


@kernel
def without(once: int, twice: int, tiles: int) -> tuple[int, int]:
    """The words of a hand (with their top) without one copy of each of `tiles`; a tile serves once (R4.5)."""
    tiles = both_ends(tiles)
    return once & ~(tiles & ~twice), twice & ~tiles


@kernel
def fill_two(once: int, twice: int, extra: int, value: int, first: int, floor: int, best: int, stop: int) -> int:
    """Fill the last two slots; returns the largest total of held tiles, or `best` if no total is larger.

    `fill_two`, `fill_three` and `fill_four` differ in the number of slots left. They are not one function that calls
    itself, because numba cannot keep such a function on disk.

    Args:
        once, twice: the tiles left, with their top.
        extra: tiles beyond three that the slots left may share.
        value: tiles held by the slots filled before.
        first, floor: the part chosen last. Only this part and later ones are tried: pattern `first` at the bits of
            `floor`, then later patterns.
        best: the largest total known so far.
        stop: the search ends as soon as it reaches this total.
    """
    if value + 6 + extra <= best:
        return best
    mask = patterns_held(once) & FITTING[extra] & -1 << first
    while mask:
        pattern = lowest_bit(mask)
        mask &= mask - 1
        held = value + HELD[pattern]
        if value + 2 * HELD[pattern] <= best:
            break
        bits = bits_of_pattern(once, pattern)
        if pattern == first:
            bits &= floor
        while bits:
            bit = lowest_bit(bits)
            once_left, _ = without(once, twice, tiles_of_part(pattern, bit))
            best = max(best, held + largest_part(once_left, extra - EXTRA[pattern]))
            if best >= stop:
                return best
            bits &= bits - 1
    return max(best, value + 2)


@kernel
def fill_three(once: int, twice: int, extra: int, value: int, first: int, floor: int, best: int, stop: int) -> int:
    """Fill the last three slots; the arguments and the result are those of `fill_two`."""
    best = max(best, value + 3)
    if value + 9 + extra <= best:
        return best
    mask = patterns_held(once) & FITTING[extra] & -1 << first
    while mask:
        pattern = lowest_bit(mask)
        mask &= mask - 1
        held = value + HELD[pattern]
        if value + 3 * HELD[pattern] <= best:
            break
        bits = bits_of_pattern(once, pattern)
        if pattern == first:
            bits &= floor
        while bits:
            bit = lowest_bit(bits)
            once_left, twice_left = without(once, twice, tiles_of_part(pattern, bit))
            extra_left = extra - EXTRA[pattern]
            best = fill_two(once_left, twice_left, extra_left, held, pattern, -1 << bit, best, stop)
            if best >= stop:
                return best
            bits &= bits - 1
    return best


@kernel
def fill_four(once: int, twice: int, best: int, stop: int) -> int:
    """The largest total of a rack of four slots, or `best` if no total is larger; arguments as in `fill_two`."""
    best = max(best, 4)
    mask = patterns_held(once)
    while mask:
        pattern = lowest_bit(mask)
        mask &= mask - 1
        if 4 * HELD[pattern] <= best:
            break
        bits = bits_of_pattern(once, pattern)
        while bits:
            bit = lowest_bit(bits)
            once_left, twice_left = without(once, twice, tiles_of_part(pattern, bit))
            extra_left = 2 - EXTRA[pattern]
            best = fill_three(once_left, twice_left, extra_left, HELD[pattern], pattern, -1 << bit, best, stop)
            if best >= stop:
                return best
            bits &= bits - 1
    return best


@linked("int64", "int64", "int64", "int64", "int64")
def fill_two_fives(once: int, twice: int, best: int, stop: int) -> int:
    """The largest total of a rack 5+5+4, or `best` if no total is larger; the arguments are those of `fill_two`.

    The slots of five take runs only; the slot of four is computed directly. Such a rack rarely matters: it holds at
    most one tile more than the best rack of four slots.
    """
    mask = patterns_held(once)
    largest_four = largest_of(mask & FITTING[1])
    mask &= RUNS
    while mask:
        pattern = lowest_bit(mask)
        mask &= mask - 1
        if 2 * HELD[pattern] + largest_four <= best:
            return best
        bits = bits_of_pattern(once, pattern)
        while bits:
            bit = lowest_bit(bits)
            bits &= bits - 1
            once_left, twice_left = without(once, twice, tiles_of_part(pattern, bit))
            second_mask = patterns_held(once_left) & RUNS & -1 << pattern
            while second_mask:
                second = lowest_bit(second_mask)
                second_mask &= second_mask - 1
                value = HELD[pattern] + HELD[second]
                if value + largest_four <= best:
                    break
                second_bits = bits_of_pattern(once_left, second)
                while second_bits:
                    rest, _ = without(once_left, twice_left, tiles_of_part(second, lowest_bit(second_bits)))
                    second_bits &= second_bits - 1
                    best = max(best, value + largest_part(rest, ONE))
                    if best >= stop:
                        return best
    return best


@linked("int64", "int64", "int64", "int64", "int64")
def search_cover(once: int, twice: int, best: int, stop: int) -> int:
    """The cover of a hand (words with their top) if it is above `best`, else `best`; the search ends at `stop`."""
    best = fill_four(once, twice, best, stop)
    if best < stop:
        best = fill_two_fives(once, twice, best, stop)
    return best
