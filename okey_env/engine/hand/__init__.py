"""The exact solver of a hand: how far from a finish it is, what finishes it, which tiles help, how it lies best.

A hand is two words and a number, `once, twice, wilds` (see `bits`); sets of kinds are words in the same order.
Kernels only: nothing here checks its arguments. `okey_env.hands` is the public, checked form.
"""

from okey_env.engine.hand.bits import (
    BIT_OF_KIND,
    KIND_OF_BIT,
    WILD_BIT,
    counts_of_set,
    hand_of_counts,
    lowest_bit,
    popcount,
)
from okey_env.engine.hand.finish import (
    cover,
    cover_at_least,
    finishing_melds,
    finishing_pairs,
    is_finished_melds,
    is_finished_pairs,
    melds_distance,
    pairs_distance,
)

__all__ = [
    "BIT_OF_KIND",
    "KIND_OF_BIT",
    "WILD_BIT",
    "counts_of_set",
    "cover",
    "cover_at_least",
    "finishing_melds",
    "finishing_pairs",
    "hand_of_counts",
    "is_finished_melds",
    "is_finished_pairs",
    "lowest_bit",
    "melds_distance",
    "pairs_distance",
    "popcount",
]
