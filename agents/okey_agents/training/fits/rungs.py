"""What a move is worth, found by trying it: the material from which `scripts/tune.py` makes the weights of the rungs.

In rounds of a rung against itself, decisions are picked at random; every candidate is played **in the true hidden
state**, with the same coming tiles for all, and the round is played on by the rung to its end. The true state is a fair
sample of what the mover cannot see, so a regression of the points on what the candidates differ in tells what that
is worth to the rung. Kernels only; they fill arrays of the caller.
"""

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.position import Position, position_in
from okey_agents.thinking.rating import choose_in_position, near_tiles, rate_position, same_number, unseen_of
from okey_agents.thinking.rule_weights import RuleWeights
from okey_agents.thinking.tile_odds import coming_rate, fill_set_counts, needed_chance
from okey_env.actions import DRAW, FINISH, NUM_ACTIONS, TAKE, THROW
from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal_round
from okey_env.engine.hand import KIND_OF_BIT, WILD_BIT, analyse, kind_set, lowest_bit, popcount
from okey_env.engine.hand.bits import FACES, as_int
from okey_env.engine.random import advance, below
from okey_env.engine.state import NOT_ENDED, PHASE_DRAW
from okey_env.engine.turn import apply
from okey_env.tiles import NUM_KINDS, NUM_SEATS, NUM_STOCK, WILD

THROW_FEATURES = ("useful tiles", "coming", "one away", "two away", "same number", "needed", "twin", "spare joker")
MARGIN = 8.0
"""Throws whose rating is further below the best are not tried."""
MOST_TRIED = 6
_CHANCES = 1000

Games = npt.NDArray[np.record]
Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@kernel
def points_after(games: Games, action: int, weights: RuleWeights, seed: np.uint64) -> int:
    """The points of the mover of game 0 if it does this and the rung plays on; game 1 is played in."""
    seat = as_int(games[0].turn)
    games[1] = games[0]
    game = games[1]
    apply(game, action)
    while game.ending == NOT_ENDED:
        apply(game, choose_in_position(position_in(game), weights, seed))
    return as_int(game.won[seat]) - as_int(game.lost[seat])


@kernel
def fill_throw_features(position: Position, bit: int, useful: int, spare: int, features: Numbers) -> None:
    """Fill `(8,)` with the THROW_FEATURES of a good throw: what it leaves useful, and with a false joker put aside."""
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
def try_throws(
    games: Games,
    weights: RuleWeights,
    seed: np.uint64,
    chance: int,
    decisions: Places,
    distances: Places,
    features: Numbers,
    points: Numbers,
) -> int:
    """Try the good throws of decisions picked with `chance` in a thousand, until the arrays are full.

    Args:
        games: `(2,)`, with their rules and draw queues; played in.
        weights: of the rung.
        seed: settles deals, ties and which decisions are picked.
        chance: in a thousand.
        decisions: `(N,)` filled with the number of the decision of each row.
        distances: `(N,)` filled with the distance of the hand.
        features: `(N, 8)` filled.
        points: `(N,)` filled with the mover's points.

    Returns:
        The rows filled.
    """
    game = games[0]
    after = np.empty(NUM_KINDS, np.uint64)
    spare = np.empty(NUM_KINDS, np.uint64)
    ratings = np.empty(NUM_ACTIONS, np.float32)
    state, row, number, round_number = seed, 0, 0, 0
    while True:
        deal_round(game, seed, round_number)
        round_number += 1
        while game.ending == NOT_ENDED:
            if row + MOST_TRIED > len(points):
                return row
            position = position_in(game)
            action = choose_in_position(position, weights, seed)
            state = advance(state)
            if THROW <= action < FINISH and below(state, _CHANCES) < chance:
                distance, keep_word, _ = analyse(
                    position.once, position.twice, position.wilds, position.run_13_1, after
                )
                rate_position(position, weights, ratings)
                keep = as_int(keep_word) & FACES if distance > 0 else 0
                spare[:] = 0
                joker = kind_set(position.okey)
                if position.rules.false_joker_as_okey != 0 and keep & as_int(joker) != 0:
                    fewer, fewer_twice = position.once & ~(joker & ~position.twice), position.twice & ~joker
                    analyse(fewer, fewer_twice, position.wilds, position.run_13_1, spare)
                for _ in range(MOST_TRIED):
                    best = best_throw(keep, ratings)
                    if best < 0 or ratings[THROW + as_int(KIND_OF_BIT[best])] < ratings[action] - MARGIN:
                        break
                    keep &= ~(1 << best)
                    kind = as_int(KIND_OF_BIT[best])
                    fill_throw_features(position, best, as_int(after[kind]), as_int(spare[kind]), features[row])
                    points[row] = points_after(games, THROW + kind, weights, seed)
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
def try_takes(
    games: Games,
    weights: RuleWeights,
    seed: np.uint64,
    chance: int,
    distances: Places,
    nearer: Places,
    gains: Numbers,
    points: Numbers,
) -> int:
    """Try to take and to draw in decisions picked with `chance` in a thousand, until the arrays are full.

    Args:
        games: `(2,)`, with their rules and draw queues; played in.
        weights: of the rung.
        seed: settles deals, ties and which decisions are picked.
        chance: in a thousand.
        distances: `(N,)` filled with the distance of the 14 tiles.
        nearer: `(N,)` filled with 1 where the offered tile shortens it.
        gains: `(N,)` filled with the unseen useful tiles after taking and the best throw, less those of waiting.
        points: `(N,)` filled with the points of taking less those of drawing.

    Returns:
        The rows filled, all of them.
    """
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
            action = choose_in_position(position, weights, seed)
            state = advance(state)
            picked = position.phase == PHASE_DRAW and position.can_draw and position.can_take
            if picked and position.offer != WILD and below(state, _CHANCES) < chance:
                once, twice, wilds = position.once, position.twice, position.wilds
                distance, _, useful = analyse(once, twice, wilds, position.run_13_1, after)
                now = unseen_of(position, as_int(useful))
                bit = kind_set(position.offer)
                twice |= once & bit
                once |= bit
                taken, keep_word, _ = analyse(once, twice, wilds, position.run_13_1, after)
                then = -1
                keep = as_int(keep_word) & FACES & ~as_int(bit)
                while keep:
                    then = max(then, unseen_of(position, as_int(after[KIND_OF_BIT[lowest_bit(keep)]])))
                    keep &= keep - 1
                if taken > 0 and (taken < distance or then > now):
                    taking = points_after(games, TAKE, weights, seed)
                    points[row] = taking - points_after(games, DRAW, weights, seed)
                    distances[row], nearer[row], gains[row] = distance, int(taken < distance), then - now
                    row += 1
            apply(game, action)


@kernel
def watch(
    games: Games,
    weights: RuleWeights,
    seed: np.uint64,
    thrown: Numbers,
    helped: Numbers,
    unseen: Numbers,
    came: Numbers,
    copies: Numbers,
) -> None:
    """Note clues and what became of the tiles, until the arrays are full.

    Args:
        games: `(1,)`, with its rules; played in.
        weights: of the rung.
        seed: settles deals and ties.
        thrown: `(N, 9, 4)` filled with the clues of good throws.
        helped: `(N,)` filled with 1 where the tile would shorten the distance of the right-hand neighbour.
        unseen: `(M, 9, 4)` filled with the clues of faces of which a copy is unseen.
        came: `(M,)` filled with the tiles of that face to come by the next draw and by the left neighbour's next
            throw, for each unseen copy, in units of a tile drawn at random.
        copies: `(M,)` filled with the unseen copies.
    """
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
            action = choose_in_position(position, weights, seed)
            if THROW <= action < FINISH:
                right = (position.seat + 1) % NUM_SEATS
                for place in range(first[right], last[right]):
                    if kinds[place] == action - THROW:
                        came[place] += shares[place]
                _, keep_word, _ = analyse(position.once, position.twice, position.wilds, position.run_13_1, after)
                wilds = as_int(game.rack[right, WILD])
                _, _, useful = analyse(game.once[right], game.twice[right], wilds, position.run_13_1, after)
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
                    for place in range(NUM_STOCK - position.stock_left, NUM_STOCK):
                        in_stock += game.stock[place] == kinds[face]
                    came[face] = shares[face] * in_stock / max(1, position.stock_left)
                    face += 1
                last[position.seat] = face
            apply(game, action)
