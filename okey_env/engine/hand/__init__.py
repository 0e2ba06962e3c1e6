"""The exact solver of a hand: its distance from a finish, the finishing tiles, the useful tiles, the best arrangement.

A hand is two words and a number, `once, twice, wilds` (see `bits`); sets of kinds are words in the same order.
Kernels only: nothing here checks its arguments. `okey_env.hands` is the public, checked form.

From Python, pass words as `np.uint64`: numba returns words as plain integers, and would compile every kernel a second
time for plain integers. Between kernels, pass variables and no literals (`True`, `0`) for the same reason: numba
compiles a kernel again for each literal.
"""

from okey_env.engine.hand.analysis import analyse, distance_and_useful, useful_of_cover
from okey_env.engine.hand.arrange import arrange
from okey_env.engine.hand.batch import (
    analyse_batch,
    finishing_of_batch,
    first_wrong,
    melds_of_batch,
    pairs_of_batch,
    useful_of_batch,
)
from okey_env.engine.hand.bits import (
    BIT_OF_KIND,
    KIND_OF_BIT,
    WILD_BIT,
    Hand,
    counts_of_set,
    hand_of_counts,
    kind_set,
    lowest_bit,
    popcount,
    with_tile,
    without_tile,
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
    "Hand",
    "analyse",
    "analyse_batch",
    "arrange",
    "counts_of_set",
    "cover",
    "cover_at_least",
    "distance_and_useful",
    "finishing_melds",
    "finishing_of_batch",
    "finishing_pairs",
    "first_wrong",
    "hand_of_counts",
    "is_finished_melds",
    "is_finished_pairs",
    "kind_set",
    "lowest_bit",
    "melds_distance",
    "melds_of_batch",
    "pairs_distance",
    "pairs_of_batch",
    "popcount",
    "useful_of_batch",
    "useful_of_cover",
    "with_tile",
    "without_tile",
]
