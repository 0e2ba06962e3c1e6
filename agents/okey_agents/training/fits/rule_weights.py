"""What a move is worth, found by trying it: samples to which `scripts/studies/rule_weights.py` fits the rules.

In rounds of a rule against itself, decisions are picked at random. Every candidate is played **in the true hidden
state**, with the same coming tiles for all, and the rule plays the round to its end. The true state is a fair sample of
what the mover cannot see. So a regression of the points on the features in which the candidates differ tells what these
features are worth to the rule. Kernels only; they fill arrays of the caller.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.neighbours import near_tiles, same_number
from okey_agents.thinking.position import Position, own_hand, position_in
from okey_agents.thinking.rating import choose_in_position, rate_position, unseen_of
from okey_agents.thinking.rule_weights import RuleWeights
from okey_agents.thinking.tile_odds import coming_rate, fill_set_counts, needed_chance
from okey_agents.training.chance import happens
from okey_env.actions import DRAW, FINISH, NUM_ACTIONS, TAKE, THROW
from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal_round
from okey_env.engine.hand import (
    KIND_OF_BIT,
    WILD_BIT,
    analyse,
    kind_set,
    lowest_bit,
    popcount,
    with_tile,
    without_tile,
)
from okey_env.engine.hand.bits import FACES, as_int
from okey_env.engine.random import advance
from okey_env.engine.state import NOT_ENDED, PHASE_DRAW
from okey_env.engine.turn import apply, hand_of
from okey_env.tiles import NUM_KINDS, NUM_SEATS, NUM_STOCK, WILD

THROW_FEATURES = ("useful tiles", "coming", "one away", "two away", "same number", "needed", "twin", "spare joker")
MARGIN = 8.0
"""Rating units: throws rated further below the best are not tried."""
MAX_TRIED = 6
"""Throws of a decision that are tried at most."""
_STEPS: Any = np.int64(1000)
"""How finely the probability is told apart with which decisions are picked."""

Games = npt.NDArray[np.record]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class ThrowSamples(NamedTuple):
    """Throws that were tried."""

    decisions: Ints
    """`(N,)` the number of the throw's decision."""
    distances: Ints
    """`(N,)` of the hand."""
    features: Floats
    """`(N, 8)` the THROW_FEATURES."""
    points: Floats
    """`(N,)` of the mover at the end of the round."""


class TakeSamples(NamedTuple):
    """Offered tiles that were taken in one copy of the game, and left in another."""

    distances: Ints
    """`(N,)` of the 14 tiles."""
    nearer: Ints
    """`(N,)` 1 where the offered tile shortens the distance."""
    gains: Floats
    """`(N,)` unseen useful tiles after taking and the best throw, less those of waiting."""
    points: Floats
    """`(N,)` points of taking less those of drawing."""


class ClueSamples(NamedTuple):
    """Clues, and what became of the tiles."""

    thrown: Floats
    """`(N, 9, 4)` clues of good throws."""
    helped: Floats
    """`(N,)` 1 where the tile would shorten the distance of the right-hand neighbour."""
    unseen: Floats
    """`(M, 9, 4)` clues of faces of which a copy is unseen."""
    came: Floats
    """`(M,)` tiles of that face to come by the next draw and by the left neighbour's next throw, for each unseen copy,
    in units of a tile drawn at random."""
    copies: Floats
    """`(M,)` unseen copies."""


@kernel
def points_after(games: Games, action: int, rule: RuleWeights, seed: np.uint64) -> int:
    """The mover's points at the end if it does this in game 0 and the rule plays on; game 1 is played in."""
    seat = as_int(games[0].turn)
    games[1] = games[0]
    game = games[1]
    apply(game, action)
    while game.ending == NOT_ENDED:
        apply(game, choose_in_position(position_in(game), rule, seed))
    return as_int(game.won[seat]) - as_int(game.lost[seat])


@kernel
def fill_throw_features(position: Position, bit: int, useful: int, spare: int, features: Floats) -> None:
    """Fill the THROW_FEATURES of a good throw.

    Args:
        position: before the throw.
        bit: of the kind thrown.
        useful: the set of kinds useful after the throw.
        spare: the set of kinds useful if a false joker is put aside as well; 0 where that does not pay.
        features: `(8,)` to fill.
    """
    run_13_1 = position.run_13_1
    extra = 0.0
    kinds = useful & FACES & position.unseen
    while kinds:
        other = lowest_bit(kinds)
        kinds &= kinds - 1
        extra += (coming_rate(position, other) - 1.0) * (1 + (position.unseen_twice >> other & 1))
    features[0] = unseen_of(position, useful)
    features[1] = extra
    features[2] = near_tiles(position.once, bit, 1, run_13_1)
    features[3] = near_tiles(position.once, bit, 2, run_13_1)
    features[4] = popcount(as_int(position.once) & same_number(bit))
    features[5] = needed_chance(position, bit)
    features[6] = as_int(position.twice) >> bit & 1
    features[7] = unseen_of(position, spare)


@kernel
def try_throws(games: Games, rule: RuleWeights, seed: np.uint64, probability: float, samples: ThrowSamples) -> int:
    """Try the good throws of decisions picked at random, until the arrays are full.

    Args:
        games: `(2,)`, with their rules and draw queues; played in.
        rule: its weights.
        seed: settles deals, ties and which decisions are picked.
        probability: of a decision to be picked.
        samples: to fill.

    Returns:
        The rows filled.
    """
    decisions, distances, features, points = samples
    game = games[0]
    after = np.empty(NUM_KINDS, np.uint64)
    spare = np.empty(NUM_KINDS, np.uint64)
    ratings = np.empty(NUM_ACTIONS, np.float32)
    state, row, number, round_number = seed, 0, 0, 0
    while True:
        deal_round(game, seed, round_number)
        round_number += 1
        while game.ending == NOT_ENDED:
            if row + MAX_TRIED > len(points):
                return row
            position = position_in(game)
            action = choose_in_position(position, rule, seed)
            state = advance(state)
            if THROW <= action < FINISH and happens(state, probability, _STEPS):
                distance, keep_word, _ = analyse(
                    position.once, position.twice, position.wilds, position.run_13_1, after
                )
                rate_position(position, rule, ratings)
                keep = as_int(keep_word) & FACES if distance > 0 else 0
                spare[:] = 0
                joker = kind_set(position.okey)
                if position.rules.false_joker_as_okey != 0 and keep & as_int(joker) != 0:
                    fewer = without_tile(own_hand(position), position.okey)
                    analyse(fewer.once, fewer.twice, fewer.wilds, position.run_13_1, spare)
                for _ in range(MAX_TRIED):
                    best = best_throw(keep, ratings)
                    if best < 0 or ratings[THROW + as_int(KIND_OF_BIT[best])] < ratings[action] - MARGIN:
                        break
                    keep &= ~(1 << best)
                    kind = as_int(KIND_OF_BIT[best])
                    fill_throw_features(position, best, as_int(after[kind]), as_int(spare[kind]), features[row])
                    points[row] = points_after(games, THROW + kind, rule, seed)
                    decisions[row], distances[row] = number, distance
                    row += 1
                number += 1
            apply(game, action)


@kernel
def best_throw(kinds: int, ratings: npt.NDArray[np.float32]) -> int:
    """The bit of the kind of a set whose throw is rated highest, the lowest of several; -1 for the empty set."""
    best = -1
    while kinds:
        bit = lowest_bit(kinds)
        kinds &= kinds - 1
        if best < 0 or ratings[THROW + as_int(KIND_OF_BIT[bit])] > ratings[THROW + as_int(KIND_OF_BIT[best])]:
            best = bit
    return best


@kernel
def try_takes(games: Games, rule: RuleWeights, seed: np.uint64, probability: float, samples: TakeSamples) -> int:
    """Try to take and to draw in decisions picked at random, until the arrays are full.

    Args:
        games: `(2,)`, with their rules and draw queues; played in.
        rule: its weights.
        seed: settles deals, ties and which decisions are picked.
        probability: of a decision to be picked.
        samples: to fill.

    Returns:
        The rows filled, all of them.
    """
    distances, nearer, gains, points = samples
    game = games[0]
    after = np.empty(NUM_KINDS, np.uint64)
    state, row, round_number = seed, 0, 0
    while True:
        deal_round(game, seed, round_number)
        round_number += 1
        while game.ending == NOT_ENDED:
            if row == len(points):
                return row
            position = position_in(game)
            action = choose_in_position(position, rule, seed)
            state = advance(state)
            picked = position.phase == PHASE_DRAW and position.can_draw and position.can_take
            if picked and position.offer != WILD and happens(state, probability, _STEPS):
                hand = own_hand(position)
                distance, _, useful = analyse(hand.once, hand.twice, hand.wilds, position.run_13_1, after)
                now = unseen_of(position, as_int(useful))
                hand = with_tile(hand, position.offer)
                taken, keep_word, _ = analyse(hand.once, hand.twice, hand.wilds, position.run_13_1, after)
                then = -1
                keep = as_int(keep_word) & FACES & ~as_int(kind_set(position.offer))
                while keep:
                    then = max(then, unseen_of(position, as_int(after[KIND_OF_BIT[lowest_bit(keep)]])))
                    keep &= keep - 1
                if taken > 0 and (taken < distance or then > now):
                    taking = points_after(games, TAKE, rule, seed)
                    points[row] = taking - points_after(games, DRAW, rule, seed)
                    distances[row], nearer[row], gains[row] = distance, int(taken < distance), then - now
                    row += 1
            apply(game, action)


@kernel
def collect_clues(games: Games, rule: RuleWeights, seed: np.uint64, samples: ClueSamples) -> None:
    """Collect clues and what became of the tiles, until the arrays are full.

    Args:
        games: `(1,)`, with its rules; played in.
        rule: its weights.
        seed: settles deals and ties.
        samples: to fill.
    """
    thrown, helped, unseen, came, copies = samples
    game = games[0]
    after = np.empty(NUM_KINDS, np.uint64)
    kinds = np.empty(len(came), np.int64)
    shares = np.empty(len(came), np.float64)
    first, last = np.zeros(NUM_SEATS, np.int64), np.zeros(NUM_SEATS, np.int64)  # the rows that wait for each left throw
    row, face, round_number = 0, 0, 0
    while row < len(helped) or face < len(came):
        deal_round(game, seed, round_number)
        round_number += 1
        first[:] = 0
        last[:] = 0
        while game.ending == NOT_ENDED:
            position = position_in(game)
            action = choose_in_position(position, rule, seed)
            if THROW <= action < FINISH:
                right = (position.seat + 1) % NUM_SEATS
                for i in range(first[right], last[right]):
                    if kinds[i] == action - THROW:
                        came[i] += shares[i]
                _, keep_word, _ = analyse(position.once, position.twice, position.wilds, position.run_13_1, after)
                hand = hand_of(game, right)
                _, _, useful = analyse(hand.once, hand.twice, hand.wilds, position.run_13_1, after)
                keep = as_int(keep_word) & FACES
                while keep and row < len(helped):
                    bit = lowest_bit(keep)
                    keep &= keep - 1
                    fill_set_counts(position, bit, thrown[row])
                    helped[row] = as_int(useful) >> bit & 1
                    row += 1
                first[position.seat] = face
                all_unseen = unseen_of(position, FACES | 1 << WILD_BIT)
                hidden = position.unseen & FACES
                while hidden and face < len(came):
                    bit = lowest_bit(hidden)
                    hidden &= hidden - 1
                    fill_set_counts(position, bit, unseen[face])
                    copies[face] = 1 + (position.unseen_twice >> bit & 1)
                    kinds[face] = as_int(KIND_OF_BIT[bit])
                    shares[face] = all_unseen / copies[face]
                    in_stock = 0
                    for i in range(NUM_STOCK - position.stock_left, NUM_STOCK):
                        in_stock += game.stock[i] == kinds[face]
                    came[face] = shares[face] * in_stock / max(1, position.stock_left)
                    face += 1
                last[position.seat] = face
            apply(game, action)
