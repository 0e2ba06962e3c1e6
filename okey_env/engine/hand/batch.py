"""The loops over many hands: `counts [N, 53]` uint8 by kind in, arrays of the caller out. One thread."""

from typing import Any

import numpy as np

from okey_env.engine._jit import kernel
from okey_env.engine.hand.analysis import analyse
from okey_env.engine.hand.bits import BIT_OF_KIND, as_int, counts_of_set, hand_of_counts
from okey_env.engine.hand.finish import finishing_melds, finishing_pairs, melds_distance, pairs_distance


@kernel
def distances_of_batch(counts: Any, run_13_1: bool, melds: Any, pairs: Any) -> None:
    """Write the distances of hands of 14 or 15 tiles into `melds [N]` and `pairs [N]`."""
    for i in range(len(counts)):
        once, twice, wilds = hand_of_counts(counts[i])
        melds[i] = melds_distance(once, twice, wilds, run_13_1)
        pairs[i] = pairs_distance(once, twice, wilds)


@kernel
def finishing_of_batch(counts: Any, run_13_1: bool, melds: Any, pairs: Any) -> None:
    """Mark in `melds [N, 53]` and `pairs [N, 53]` with 1 the kinds with which hands of 15 tiles can finish."""
    for i in range(len(counts)):
        once, twice, wilds = hand_of_counts(counts[i])
        counts_of_set(finishing_melds(once, twice, wilds, run_13_1), melds[i])
        counts_of_set(finishing_pairs(once, twice, wilds), pairs[i])


@kernel
def analyse_batch(counts: Any, run_13_1: bool, distances: Any, keep: Any, useful: Any, useful_after: Any) -> None:
    """Write what `analyse` says of hands of 14 or 15 tiles.

    The arrays are `distances [N]`, `keep` and `useful [N, 53]`, and `useful_after [N, 53, 53]` by the kind thrown and
    the kind that comes after that.
    """
    after = np.zeros(53, dtype=np.uint64)
    for i in range(len(counts)):
        once, twice, wilds = hand_of_counts(counts[i])
        distance, kept, helpful = analyse(once, twice, wilds, run_13_1, after)
        distances[i] = distance
        counts_of_set(kept, keep[i])
        counts_of_set(helpful, useful[i])
        for kind in range(53):
            if as_int(kept) >> as_int(BIT_OF_KIND[kind]) & 1:
                counts_of_set(after[kind], useful_after[i, kind])
            else:
                useful_after[i, kind] = 0
