"""The encoder `flat`: one vector of all that the seat may see, and of the exact solver's results for its rack.

Counts are halved, so that all values lie between -1 and 1. Seats are counted from the observer. The solver's part
holds facts that a person sees quickly and a network learns slowly: the distances to a finish by melds and by pairs,
whether the tile on offer helps, and for every throw whether it keeps the distance and how many unseen tiles then help,
compared with the best throw.

Version history: 1, the first.
"""

import numpy as np
import numpy.typing as npt

from okey_env.encoders.encoder import Encoder, Piece, size_of, starts_of
from okey_env.encoders.facts import COUNTS, FACTS, fill_counts, fill_facts
from okey_env.encoders.loops import fill_many_of
from okey_env.engine._jit import kernel
from okey_env.engine.hand import (
    KIND_OF_BIT,
    WILD_BIT,
    Hand,
    analyse,
    distance_and_useful,
    hand_of_counts,
    kind_set,
    lowest_bit,
    pairs_distance,
    popcount,
    with_tile,
)
from okey_env.engine.hand.bits import as_int
from okey_env.engine.state import NO_TILE
from okey_env.engine.words import scratch
from okey_env.tiles import NUM_FACES, NUM_KINDS, RACK_SIZE, WILD

VERSION = 1
_DISTANCES = 8  # 0 … 6, and 7 for 7 or more
ALL_USEFUL = 40.0  # roughly the most unseen tiles that can help at once
_FEWER = 8.0  # a throw that leaves this many fewer tiles than the best one has the value 0: small differences matter

PIECES = (
    *COUNTS,
    Piece("offer", NUM_KINDS, "1 for the kind on offer to the seat to move"),
    Piece("indicator", NUM_FACES, "1 for the indicator's face"),
    *FACTS,
    Piece("melds_distance", _DISTANCES, "1 for the distance to a finish by melds: 0 … 6, 7 or more"),
    Piece("pairs_distance", _DISTANCES, "1 for the distance to seven pairs: 0 … 6, 7 or more"),
    Piece("offer_helps", 2, "1 if taking the offer lowers the distance: by melds, by pairs"),
    Piece("useful", NUM_KINDS, "1 for each kind that would lower the melds distance (14 tiles)"),
    Piece("keeps", NUM_KINDS, "1 for each kind held whose throw keeps the melds distance (15 tiles)"),
    Piece(
        "useful_after",
        NUM_KINDS,
        "for each of those: 1 if the most unseen tiles help after it, 1/8 less per tile fewer",
    ),
    Piece("most_useful", 1, "unseen tiles that help (with 15 tiles: after the best throw) / 40, at most 1"),
)

_AT = starts_of(PIECES)
SIZE = size_of(PIECES)
_OFFER, _INDICATOR, _FACTS = _AT["offer"], _AT["indicator"], _AT[FACTS[0].name]
_MELDS, _PAIRS, _OFFER_HELPS = _AT["melds_distance"], _AT["pairs_distance"], _AT["offer_helps"]
_USEFUL, _KEEPS, _AFTER, _MOST = _AT["useful"], _AT["keeps"], _AT["useful_after"], _AT["most_useful"]
_EXACT = _MELDS  # the solver's results begin here
_NONE = np.uint64(0)
_WILD_BIT = np.uint64(WILD_BIT)


@kernel(borrows=True)
def fill(seen: np.record, out: npt.NDArray[np.float32]) -> None:
    """Fill `(SIZE,)` float32 from one OBSERVATION."""
    fill_counts(seen, out)
    out[_OFFER:_EXACT] = 0
    if seen.offer != NO_TILE:
        out[_OFFER + int(seen.offer)] = 1
    out[_INDICATOR + int(seen.indicator)] = 1
    fill_facts(seen, out[_FACTS:_EXACT])
    _fill_exact(seen, out)


@kernel(borrows=True)
def _fill_exact(seen: np.record, out: npt.NDArray[np.float32]) -> None:
    """Fill the solver's results for the rack, the pieces from `melds_distance` to `most_useful`."""
    out[_EXACT:SIZE] = 0
    once, twice, wilds = seen.once, seen.twice, as_int(seen.rack[WILD])
    throws = popcount(once) + popcount(twice) + wilds > RACK_SIZE
    after = scratch(NUM_KINDS)
    if throws:
        distance, keeps, useful = analyse(once, twice, wilds, seen.rules.run_13_1 != 0, after)
        _fill_throws(seen, keeps, after, out)
    else:
        distance, useful = distance_and_useful(once, twice, wilds, seen.rules.run_13_1 != 0, after[:1])
        _fill_useful(seen, useful, out)
    pairs = pairs_distance(once, twice, wilds)
    out[_MELDS + min(distance, _DISTANCES - 1)] = 1
    out[_PAIRS + min(pairs, _DISTANCES - 1)] = 1
    if not throws and seen.can_take != 0:
        hand = with_tile(Hand(once, twice, wilds), as_int(seen.offer))
        out[_OFFER_HELPS] = (useful & kind_set(seen.offer)) != _NONE
        if seen.offer == WILD:
            out[_OFFER_HELPS + 1] = pairs > 0
        else:
            out[_OFFER_HELPS + 1] = pairs_distance(hand.once, hand.twice, hand.wilds) < pairs


@kernel(borrows=True)
def _fill_useful(seen: np.record, useful: np.uint64, out: npt.NDArray[np.float32]) -> None:
    """Fill `useful` and `most_useful` with 14 tiles: the kinds that help, and the number of unseen tiles of them."""
    kinds = as_int(useful)
    while kinds:
        out[_USEFUL + int(KIND_OF_BIT[lowest_bit(kinds)])] = 1
        kinds &= kinds - 1
    out[_MOST] = min(np.float32(1), np.float32(count_unseen(seen, useful)) / np.float32(ALL_USEFUL))


@kernel(borrows=True)
def _fill_throws(
    seen: np.record, keeps: np.uint64, after: npt.NDArray[np.uint64], out: npt.NDArray[np.float32]
) -> None:
    """Fill `keeps`, `useful_after` and `most_useful` with 15 tiles, from the set `keeps` of `analyse`.

    `after [53]` holds the words of the kinds that help after each of these throws; it is overwritten.
    """
    unseen, unseen_twice = _unseen_words(seen)
    most = 0
    kinds = as_int(keeps)
    while kinds:
        kind = int(KIND_OF_BIT[lowest_bit(kinds)])
        kinds &= kinds - 1
        helping = popcount(as_int(after[kind] & unseen)) + popcount(as_int(after[kind] & unseen_twice))
        most = max(most, helping)
        after[kind] = np.uint64(helping)
    kinds = as_int(keeps)
    while kinds:
        kind = int(KIND_OF_BIT[lowest_bit(kinds)])
        kinds &= kinds - 1
        out[_KEEPS + kind] = 1
        out[_AFTER + kind] = max(np.float32(0), 1 - np.float32(most - as_int(after[kind])) / np.float32(_FEWER))
    out[_MOST] = min(np.float32(1), np.float32(most) / np.float32(ALL_USEFUL))


@kernel(borrows=True)
def _unseen_words(seen: np.record) -> tuple[np.uint64, np.uint64]:
    """The set of kinds with at least one unseen tile, and the set of kinds with two."""
    once, twice, wilds = hand_of_counts(seen.unseen)
    return once | np.uint64(wilds > 0) << _WILD_BIT, twice | np.uint64(wilds > 1) << _WILD_BIT


@kernel(borrows=True)
def count_unseen(seen: np.record, kinds: np.uint64) -> int:
    """The number of unseen tiles of a set of kinds."""
    unseen, unseen_twice = _unseen_words(seen)
    return popcount(as_int(kinds & unseen)) + popcount(as_int(kinds & unseen_twice))


FLAT = Encoder("flat", VERSION, PIECES, fill, fill_many_of(fill, borrows=True))
