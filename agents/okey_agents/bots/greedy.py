"""`greedy`: the smallest exact distance (shanten) to a finish after every move, and nothing else.

It decides in this order:

1. It shows the indicator's twin as soon as it may (R7), which brings points and costs nothing.
2. With 15 tiles it finishes if it can, with the tile that brings the most points.
3. Otherwise it throws a tile that leaves the smallest distance; chance decides between such tiles.
4. With 14 tiles it takes the tile on offer if that makes the distance smaller, and draws if not.

The distance is the distance to melds, or to seven pairs while they are strictly nearer; this is its *line*.
"""

import numpy as np
import numpy.typing as npt

from okey_agents.bots.base import move_seed
from okey_agents.bots.compiled import CompiledBot
from okey_env.actions import DRAW, FINISH, SHOW, TAKE, THROW
from okey_env.engine._jit import kernel
from okey_env.engine.hand import (
    KIND_OF_BIT,
    Hand,
    analyse,
    lowest_bit,
    melds_distance,
    pairs_distance,
    popcount,
    with_tile,
)
from okey_env.engine.hand.bits import as_int
from okey_env.engine.random import advance, below
from okey_env.engine.scoring import best_finish_points
from okey_env.engine.state import PHASE_DRAW
from okey_env.tiles import NUM_KINDS, WILD

_NONE = np.uint64(0)


@kernel
def choose(seen: np.record, seed: np.uint64) -> int:
    """The action for an OBSERVATION with the observer to move."""
    if seen.can_show != 0:
        return SHOW
    if seen.phase == PHASE_DRAW:
        if seen.can_draw == 0:
            return TAKE
        return TAKE if seen.can_take != 0 and offer_helps(seen) else DRAW
    if (seen.finish_melds | seen.finish_pairs) != _NONE:
        return FINISH + best_finish(seen)
    kinds = throws_that_keep(seen)
    return THROW + nth_kind(kinds, int(below(advance(move_seed(seen, seed)), popcount(kinds))))


@kernel
def choose_batch(records: npt.NDArray[np.record], seed: np.uint64, actions: npt.NDArray[np.int64]) -> None:
    """The actions for `(N,)` records."""
    for i in range(len(records)):
        actions[i] = choose(records[i], seed)


@kernel
def hand_in(seen: np.record) -> Hand:
    """The observer's rack in an OBSERVATION, as the solver reads it."""
    return Hand(seen.once, seen.twice, as_int(seen.rack[WILD]))


@kernel
def offer_helps(seen: np.record) -> bool:
    """Whether the tile on offer makes the distance of the line smaller; the observer holds 14 tiles."""
    hand, run_13_1 = hand_in(seen), seen.rules.run_13_1 != 0
    melds = melds_distance(hand.once, hand.twice, hand.wilds, run_13_1)
    pairs = pairs_distance(hand.once, hand.twice, hand.wilds)
    more = with_tile(hand, as_int(seen.offer))
    if pairs < melds:
        return bool(pairs_distance(more.once, more.twice, more.wilds) < pairs)
    return bool(melds_distance(more.once, more.twice, more.wilds, run_13_1) < melds)


@kernel
def best_finish(seen: np.record) -> int:
    """The kind that finishes for the most points, the first of equals; at least one finishes."""
    best, most = -1, 0
    for kind in range(NUM_KINDS):
        points = best_finish_points(seen, kind, seen.finish_melds, seen.finish_pairs)
        if points > most:
            best, most = kind, points
    return best


@kernel
def throws_that_keep(seen: np.record) -> int:
    """The kinds whose throw leaves the distance of the line as it is, as a word; the observer cannot finish.

    The set is not empty: 15 tiles that do not finish hold a natural tile that the line does not use. The wild kind is
    not in it, because the line uses every wild tile.
    """
    hand = hand_in(seen)
    after = np.empty(NUM_KINDS, np.uint64)
    melds, keep, _ = analyse(hand.once, hand.twice, hand.wilds, seen.rules.run_13_1 != 0, after)
    if pairs_distance(hand.once, hand.twice, hand.wilds) < melds:
        return as_int(hand.once & ~hand.twice)  # there are more singles than pairs still to be made
    return as_int(keep)


@kernel
def nth_kind(kinds: int, n: int) -> int:
    """The kind of the n-th bit of a set, counted from 0 at the lowest."""
    for _ in range(n):
        kinds &= kinds - 1
    return int(KIND_OF_BIT[lowest_bit(kinds)])


class GreedyBot(CompiledBot):
    """A rule: the smallest exact distance to a finish (shanten), ties at random; far above `random`; any rules."""

    name = "greedy"
    choose_batch = staticmethod(choose_batch)
