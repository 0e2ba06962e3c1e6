"""Playing on from a position to a seat's next turn, and what that position is worth to it.

Every move is chosen from what the mover may see; the value network sees all racks.
"""

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.position import position_in
from okey_agents.thinking.scorer.choose import Policy, choose_by
from okey_agents.thinking.value import STOCK_SIZE, count_stock, fill_analysed, run_value
from okey_env.engine._jit import kernel
from okey_env.engine.deal import shuffle
from okey_env.engine.hand import distance_and_useful
from okey_env.engine.state import ENDED_TRUNCATED, ENDED_VOID, NOT_ENDED, PHASE_DRAW
from okey_env.engine.turn import apply
from okey_env.tiles import NUM_SEATS, NUM_STOCK, WILD

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Sets = npt.NDArray[np.uint64]


def for_rollouts(policy: Policy) -> Policy:
    """The policy whose rule does not look two draws ahead, which is more than half of a throw's time."""
    return policy._replace(rule=policy.rule._replace(ahead=(0.0, 0.0, 0.0, 0.0)))


@kernel
def zero_sum(game: np.record, seat: int) -> np.float32:
    """The zero-sum points of a seat so far."""
    points = np.float32(game.won[seat]) - np.float32(game.lost[seat])
    if game.ending == ENDED_VOID or game.ending == ENDED_TRUNCATED:
        points += np.float32(game.rules.void_points)
    return points


@kernel
def look_at_rack(game: np.record, seat: int, distances: Ints, useful: Sets, found: Sets) -> None:
    """Note the distance and the useful kinds of a rack of 14 tiles; `found` `(1,)` is to work in."""
    wilds = int(game.rack[seat, WILD])
    once, twice = game.once[seat], game.twice[seat]
    distances[seat], useful[seat] = distance_and_useful(once, twice, wilds, game.rules.run_13_1 != 0, found)


@kernel
def play_on(game: np.record, seat: int, own: Policy, others: Policy, seed: np.uint64) -> None:
    """Play until a seat begins its next turn, or the round ends.

    Args:
        game: the round, played in.
        seat: whose turn ends it; if it is at the beginning of one, the next.
        own: plays that seat.
        others: plays the others.
        seed: settles ties.
    """
    while game.ending == NOT_ENDED:
        position = position_in(game)
        if game.turn == seat:
            apply(game, choose_by(position, own, seed))
        else:
            apply(game, choose_by(position, others, seed))
        if game.phase == PHASE_DRAW and game.turn == seat:
            return


@kernel
def deal_stock_again(game: np.record, seed: np.uint64) -> None:
    """Put the tiles that are still to be drawn into another order; the game has draw queues."""
    tiles = np.empty(NUM_STOCK, np.uint8)
    count = 0
    for seat in range(NUM_SEATS):
        for place in range(game.queue_next[seat], game.queue_end[seat]):
            tiles[count] = game.stock[place]
            count += 1
    shuffle(tiles[:count], seed)
    count = 0
    for seat in range(NUM_SEATS):
        for place in range(game.queue_next[seat], game.queue_end[seat]):
            game.stock[place] = tiles[count]
            count += 1


@kernel
def worth_of_position(
    game: np.record, seat: int, distances: Ints, useful: Sets, value_weights: Floats, inputs: Floats, values: Floats
) -> np.float32:
    """The zero-sum points that a seat may expect of the whole round, by the value network if it goes on.

    Args:
        game: the round; every seat holds 14 tiles, or it is over.
        seat: whose points.
        distances: `(4,)` of all racks, as is the next.
        useful: `(4,)` sets of kinds.
        value_weights: of `thinking.value`.
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
