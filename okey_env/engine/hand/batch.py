"""The solver on many hands, on one thread: kernels read `counts [N, 53]` uint8 by kind and fill the caller's arrays."""

from typing import Any

import numpy as np

from okey_env.engine._jit import kernel
from okey_env.engine.hand.analysis import analyse, distance_and_useful
from okey_env.engine.hand.bits import (
    EIGHT_KINDS,
    KIND_OF_BIT,
    LOW_BITS,
    U1,
    as_int,
    counts_of_set,
    hand_of_counts,
    kind_set,
    lowest_bit,
    popcount,
)
from okey_env.engine.hand.finish import finishing_melds, finishing_pairs, melds_distance, pairs_distance
from okey_env.engine.words import get_word, scratch
from okey_env.tiles import NUM_KINDS, WILD

LAST_FOUR = np.uint64(0x0001010101000000)  # of the kinds 45 … 52: the faces 48 … 51


@kernel(borrows=True)
def first_wrong(counts: Any, fewest: int, most: int) -> int:
    """The index of the first wrong rack of `counts [N, 53]`; -1 if all are right.

    A rack is wrong if it has more than two tiles of a kind, fewer than `fewest` tiles, or more than `most`.
    """
    for i in range(len(counts)):
        wilds = counts[i, WILD]
        many = np.uint64(wilds > 2)
        total = as_int(wilds)
        for row in range(len(EIGHT_KINDS)):
            eight = get_word(counts[i], EIGHT_KINDS[row])
            one, two = eight & LOW_BITS, (eight >> U1) & LOW_BITS
            many |= (eight ^ one ^ (two << U1)) | (one & two)
            if row == len(EIGHT_KINDS) - 1:  # the row before has three of these kinds, and the last kind is wild
                one, two = one & LAST_FOUR, two & LAST_FOUR
            total += popcount(one) + 2 * popcount(two)
        if many != 0 or total < fewest or total > most:
            return i
    return -1


@kernel(borrows=True)
def that_can_come(useful: np.uint64, wilds: int) -> np.uint64:
    """The useful kinds, without the wild kind if the hand holds both wild tiles: there is no third (R1.6)."""
    return useful & ~kind_set(WILD) if wilds > 1 else useful


@kernel(borrows=True)
def melds_of_batch(counts: Any, run_13_1: bool, distances: Any) -> None:
    """Write the melds distances of hands of 14 or 15 tiles into `distances [N]`."""
    for i in range(len(counts)):
        once, twice, wilds = hand_of_counts(counts[i])
        distances[i] = melds_distance(once, twice, wilds, run_13_1)


@kernel(borrows=True)
def pairs_of_batch(counts: Any, distances: Any) -> None:
    """Write the pairs distances of hands of 14 or 15 tiles into `distances [N]`."""
    for i in range(len(counts)):
        once, twice, wilds = hand_of_counts(counts[i])
        distances[i] = pairs_distance(once, twice, wilds)


@kernel(borrows=True)
def finishing_of_batch(counts: Any, run_13_1: bool, melds: Any, pairs: Any) -> None:
    """Mark in `melds [N, 53]` and `pairs [N, 53]` with 1 the kinds with which hands of 15 tiles can finish."""
    for i in range(len(counts)):
        once, twice, wilds = hand_of_counts(counts[i])
        counts_of_set(finishing_melds(once, twice, wilds, run_13_1), melds[i])
        counts_of_set(finishing_pairs(once, twice, wilds), pairs[i])


@kernel(borrows=True)
def analyse_batch(
    counts: Any,
    run_13_1: bool,
    distances: Any,
    pairs: Any,
    after_throw: Any,
    keep_set: Any,
    useful: Any,
    useful_after: Any,
) -> None:
    """Write the results of `analyse` for hands of 14 or 15 tiles, and their pairs distances.

    Args:
        counts: `[N, 53]` uint8 by kind.
        run_13_1: whether a 1 may follow a 13 (R4.1).
        distances: `[N]`, filled with the melds distances.
        pairs: `[N]`, filled with the pairs distances.
        after_throw: `[N, 53]`, filled with the melds distance after each throw; -1 for a kind that is not held.
        keep_set: `[N, 53]`, filled with 1 for each kind whose throw keeps the distance, else 0.
        useful: `[N, 53]`, filled with 1 for each kind that shortens the distance, else 0.
        useful_after: `[N, 53, 53]` by the kind thrown and the kind that comes next. It must hold zeros; 1 is written
            where the kind that comes next is useful.
    """
    after = scratch(NUM_KINDS)
    for i in range(len(counts)):
        once, twice, wilds = hand_of_counts(counts[i])
        distance, kept, helpful = analyse(once, twice, wilds, run_13_1, after)
        distances[i] = distance
        pairs[i] = pairs_distance(once, twice, wilds)
        counts_of_set(kept, keep_set[i])
        counts_of_set(that_can_come(helpful, wilds), useful[i])
        for kind in range(NUM_KINDS):
            after_throw[i, kind] = distance + 1 - as_int(keep_set[i, kind]) if counts[i, kind] > 0 else -1
        tiles = as_int(kept)
        while tiles:
            kind = KIND_OF_BIT[lowest_bit(tiles)]
            tiles &= tiles - 1
            counts_of_set(that_can_come(after[kind], wilds), useful_after[i, kind])


@kernel(borrows=True)
def useful_of_batch(counts: Any, run_13_1: bool, useful: Any) -> None:
    """Mark in `useful [N, 53]` with 1 the kinds that shorten the melds distance of hands of 14 tiles."""
    found = scratch(1)
    for i in range(len(counts)):
        once, twice, wilds = hand_of_counts(counts[i])
        _, helpful = distance_and_useful(once, twice, wilds, run_13_1, found)
        counts_of_set(that_can_come(helpful, wilds), useful[i])
