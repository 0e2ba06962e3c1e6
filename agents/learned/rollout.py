"""Playing on quickly from a position: the rule's main thoughts, with what is known of each rack kept at hand.

A rollout needs a sound player, not the rule to the last tile: the exact distance, then the unseen tiles that help,
then the shape; a throw on offer is taken if it shortens the distance. Each seat's distance and useful kinds are
known from its last throw (`analyse` tells them for every throw), so a turn costs one analysis, and at the end the value
network finds all four racks analysed.

Every decision is made from what the mover may see.
"""

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel
from okey_env.engine.hand import KIND_OF_BIT, analyse, lowest_bit, popcount
from okey_env.engine.hand.bits import as_int
from okey_env.engine.random import advance, below
from okey_env.engine.scoring import finish_points
from okey_env.engine.state import ENDED_TRUNCATED, ENDED_VOID, NOT_ENDED, PHASE_DRAW
from okey_env.engine.turn import apply, can_show, draw, finish, kind_set, show, take, throw
from okey_env.tiles import WILD

from ..judge import Weights, choose_in_position
from ..position import position_in, unseen_of_history, unseen_of_tops
from ..scorer.features import NEAR_1, SAME_NUMBER
from ..value import STOCK_SIZE, count_stock, fill_analysed, run_value

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Sets = npt.NDArray[np.uint64]

_NEAR = 0.7
"""What a face held beside the thrown one costs, at distance 2 and more, in unseen useful tiles."""
_SAME_NUMBER = 0.9
"""What one of its number costs."""
_NONE = np.uint64(0)


def for_rollouts(rule: Weights) -> Weights:
    """The rule without its look two draws ahead, which is most of its time."""
    return rule._replace(ahead=(0.0, 0.0, 0.0, 0.0))


@kernel
def zero_sum(game: np.record, seat: int) -> np.float32:
    """The zero-sum points of a seat so far."""
    points = np.float32(game.won[seat]) - np.float32(game.lost[seat])
    if game.ending == ENDED_VOID or game.ending == ENDED_TRUNCATED:
        points += np.float32(game.void_points)
    return points


@kernel
def look_at_rack(game: np.record, seat: int, distances: Ints, useful: Sets, after: Sets) -> None:
    """Note the distance and the useful kinds of a rack of 14 tiles."""
    wilds = int(game.rack[seat, WILD])
    distances[seat], _, useful[seat] = analyse(game.once[seat], game.twice[seat], wilds, game.run_13_1 != 0, after)


@kernel
def throw_well(game: np.record, distances: Ints, useful: Sets, after: Sets, state: np.uint64) -> None:
    """Throw from 15 tiles that do not finish: distance, unseen useful tiles, shape; ties by `state`."""
    seat = int(game.turn)
    once, twice, wilds = game.once[seat], game.twice[seat], int(game.rack[seat, WILD])
    run_13_1 = game.run_13_1 != 0
    distance, keep, _ = analyse(once, twice, wilds, run_13_1, after)
    if game.top_only == 0:
        unseen, unseen_twice = unseen_of_history(game, seat)
    else:
        unseen, unseen_twice = unseen_of_tops(game, seat)
    best, most = 0, -1e9
    kinds = as_int(keep)
    while kinds:
        bit = lowest_bit(kinds)
        kinds &= kinds - 1
        kind = int(KIND_OF_BIT[bit])
        helps = as_int(after[kind])
        state = advance(state)
        rating = popcount(helps & unseen) + popcount(helps & unseen_twice) + below(state, 1024) / 8192.0
        if distance >= 2:
            rating -= _NEAR * popcount(as_int(once) & int(NEAR_1[bit]))
            rating -= _SAME_NUMBER * popcount(as_int(once) & int(SAME_NUMBER[bit]))
        if rating > most:
            best, most = kind, rating
    distances[seat] = distance
    useful[seat] = after[best]
    throw(game, best)


@kernel
def finish_well(game: np.record) -> None:
    """Finish with most points; one kind at least finishes."""
    best, most = 0, -1
    kinds = as_int(game.finish_melds | game.finish_pairs)
    while kinds:
        bit = np.uint64(1) << np.uint64(lowest_bit(kinds))
        kind = int(KIND_OF_BIT[lowest_bit(kinds)])
        kinds &= kinds - 1
        points = 0
        if (game.finish_melds & bit) != _NONE:
            points = finish_points(game, kind, False)
        if (game.finish_pairs & bit) != _NONE:
            points = max(points, finish_points(game, kind, True))
        if points > most:
            best, most = kind, points
    finish(game, best)


@kernel
def play_on(game: np.record, seat: int, distances: Ints, useful: Sets, after: Sets, state: np.uint64) -> None:
    """Play until `seat` begins its next turn, or the round ends.

    Args:
        game: the round, played in.
        seat: whose turn ends it; if it is at the beginning of one, the next.
        distances: `(4,)` of each rack as of its last throw; kept up to date. So is the next.
        useful: `(4,)` sets of kinds.
        after: `(53,)` to work in.
        state: random numbers for ties.
    """
    while game.ending == NOT_ENDED:
        if can_show(game):
            show(game)
        if game.phase == PHASE_DRAW:
            helps = (useful[int(game.turn)] & kind_set(game.offer)) != _NONE
            if game.stock_left == 0 or helps:
                take(game)
            else:
                draw(game)
        elif (game.finish_melds | game.finish_pairs) != _NONE:
            finish_well(game)
        else:
            state = advance(state)
            throw_well(game, distances, useful, after, state)
            if game.turn == seat:
                return


@kernel
def play_on_by_rule(game: np.record, seat: int, rule: Weights, seed: np.uint64) -> None:
    """`play_on` by the rule itself, to the last tile."""
    while game.ending == NOT_ENDED:
        apply(game, choose_in_position(position_in(game), rule, seed))
        if game.phase == PHASE_DRAW and game.turn == seat:
            return


@kernel
def worth_of_position(
    game: np.record, seat: int, distances: Ints, useful: Sets, value_weights: Floats, inputs: Floats, values: Floats
) -> np.float32:
    """The zero-sum points that a seat may expect of the whole round, by the value network if it goes on.

    Args:
        game: the round; every seat holds 14 tiles, or it is over.
        seat: whose points.
        distances: `(4,)`, as in `play_on`. So is the next.
        useful: `(4,)`.
        value_weights: of `agents.value`.
        inputs: `(D,)` to work in.
        values: `(4,)` to work in.
    """
    points = zero_sum(game, seat)
    if game.ending == NOT_ENDED:
        stock = np.zeros(STOCK_SIZE, np.uint8)
        count_stock(game, stock)
        fill_analysed(game, stock, distances, useful, inputs)
        run_value(inputs, int(game.turn), value_weights, values)
        points += values[seat]
    return points
