"""Rollouts: a round is played on from a game, and valued as each of the next turns of one seat begins.

Every move is chosen from what the mover may see; the value network sees all racks.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.position import position_in
from okey_agents.thinking.scorer.choose import Policy, choose_by
from okey_agents.thinking.value import (
    NUM_VALUE_INPUTS,
    STOCK_SIZE,
    count_stock,
    fill_analysed,
    run_value,
)
from okey_env.engine._jit import kernel
from okey_env.engine.deal import shuffle
from okey_env.engine.hand import distance_and_useful
from okey_env.engine.state import ENDED_TRUNCATED, ENDED_VOID, NOT_ENDED, PHASE_DRAW
from okey_env.engine.turn import apply, hand_of
from okey_env.tiles import NUM_SEATS, NUM_STOCK

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Sets = npt.NDArray[np.uint64]


class RolloutSettings(NamedTuple):
    """How a round is played on and valued."""

    policy: Policy
    """Plays the seat whose points are wanted."""
    opponent: Policy
    """Plays the other seats."""
    own_turns: int
    """The number of its next turns at which the round is valued."""
    value_weights: Floats
    """`(W,)` of the network of `thinking.value`."""
    zero_sum: bool = True
    """Whether the points leave out `void_points`, which every seat loses in a void or truncated round."""


def for_rollouts(policy: Policy) -> Policy:
    """The policy with a rule that does not look two draws ahead, since that takes more than half of a throw's time."""
    return policy._replace(rule=policy.rule._replace(ahead=(0.0, 0.0, 0.0, 0.0)))


@kernel
def roll_out(
    game: np.record, seat: int, settings: RolloutSettings, seed: np.uint64, points: npt.NDArray[np.float64]
) -> None:
    """Play a round on, and estimate the points of a seat as each of its next turns begins.

    Between the move and an early value lies less luck; a late value shows more of what the move leads to.

    Args:
        game: the round, played in.
        seat: whose points.
        settings: who plays, the number of turns, and the value network.
        seed: settles ties.
        points: `(own_turns,)` to fill with points of the whole round, exact once the round is over.
    """
    for turn in range(settings.own_turns):
        play_to_next_turn(game, seat, settings.policy, settings.opponent, seed)
        points[turn] = worth_of_turn(game, seat, settings)


@kernel
def play_to_next_turn(game: np.record, seat: int, policy: Policy, opponent: Policy, seed: np.uint64) -> None:
    """Play until a seat begins its next turn, or the round ends.

    Args:
        game: the round, played in.
        seat: its next turn ends it, also if it is at the beginning of a turn now.
        policy: plays that seat.
        opponent: plays the others.
        seed: settles ties.
    """
    while game.ending == NOT_ENDED:
        position = position_in(game)
        if game.turn == seat:
            apply(game, choose_by(position, policy, seed))
        else:
            apply(game, choose_by(position, opponent, seed))
        if game.phase == PHASE_DRAW and game.turn == seat:
            return


@kernel
def worth_of_turn(game: np.record, seat: int, settings: RolloutSettings) -> float:
    """The points that a seat may expect of the whole round.

    Args:
        game: the round; every seat holds 14 tiles, or the round is over.
        seat: whose points.
        settings: the value network, which estimates a round that goes on, and how a void round counts.
    """
    points = float(zero_sum(game, seat)) if settings.zero_sum else float(game.won[seat]) - float(game.lost[seat])
    if game.ending == NOT_ENDED:
        distances, useful = np.empty(NUM_SEATS, np.int64), np.empty(NUM_SEATS, np.uint64)
        found = np.empty(1, np.uint64)
        for other in range(NUM_SEATS):
            look_at_rack(game, other, distances, useful, found)
        stock = np.zeros(STOCK_SIZE, np.uint8)
        count_stock(game, stock)
        inputs, values = np.empty(NUM_VALUE_INPUTS, np.float32), np.empty(NUM_SEATS, np.float32)
        fill_analysed(game, stock, distances, useful, inputs)
        run_value(inputs, int(game.turn), settings.value_weights, values)
        points += float(values[seat])
    return points


@kernel
def zero_sum(game: np.record, seat: int) -> np.float32:
    """The zero-sum points of a seat so far."""
    points = np.float32(game.won[seat]) - np.float32(game.lost[seat])
    if game.ending == ENDED_VOID or game.ending == ENDED_TRUNCATED:
        points += np.float32(game.rules.void_points)
    return points


@kernel
def look_at_rack(game: np.record, seat: int, distances: Ints, useful: Sets, found: Sets) -> None:
    """Fill the distance and the useful kinds of a rack of 14 tiles at its seat; `found` `(1,)` is overwritten."""
    hand, run_13_1 = hand_of(game, seat), game.rules.run_13_1 != 0
    distances[seat], useful[seat] = distance_and_useful(hand.once, hand.twice, hand.wilds, run_13_1, found)


@kernel
def deal_stock_again(game: np.record, seed: np.uint64) -> None:
    """Shuffle the tiles that are still to be drawn, of all seats together.

    Args:
        game: a GAME with draw queues, changed in place.
        seed: settles the order.
    """
    tiles = np.empty(NUM_STOCK, np.uint8)
    count = 0
    for seat in range(NUM_SEATS):
        for index in range(game.queue_next[seat], game.queue_end[seat]):
            tiles[count] = game.stock[index]
            count += 1
    shuffle(tiles[:count], seed)
    count = 0
    for seat in range(NUM_SEATS):
        for index in range(game.queue_next[seat], game.queue_end[seat]):
            game.stock[index] = tiles[count]
            count += 1
