"""The rating that `efficient` and `expert` share: what every legal action is worth, as a weighted sum.

Ratings are in *score units*: one unseen useful tile is 1. A rung is a row of weights, and a weight of 0 switches a
thought off. A throw is worth

* `step` for every tile that the hand is away from melds after it, taken off: the exact distance comes first;
* 1 for every unseen tile that then shortens the distance: `analyse` tells them for all good throws in one pass;
* or, if that is more, what the same hand is worth as seven pairs.

An offered tile is worth the best throw after it was taken; a draw is worth the hand as it is, and `wait` for the
unknown tile. A finish is worth more than all that, by its points, and waiting for a dearer one is weighed against it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.position import Position, own_hand, seed_of_position
from okey_agents.thinking.rule_weights import RuleWeights
from okey_agents.thinking.tile_odds import NEEDED_MEAN, coming_rate, needed_chance
from okey_env.actions import DRAW, FINISH, NUM_ACTIONS, SHOW, TAKE, THROW
from okey_env.engine._jit import kernel
from okey_env.engine.hand import (
    KIND_OF_BIT,
    WILD_BIT,
    Hand,
    analyse,
    distance_and_useful,
    finishing_pairs,
    kind_set,
    lowest_bit,
    pairs_distance,
    popcount,
    with_tile,
    without_tile,
)
from okey_env.engine.hand.after_draw import prepare_after_draw, throws_after_draw
from okey_env.engine.hand.bits import FACES, as_int, both_ends, with_top
from okey_env.engine.random import advance, below
from okey_env.engine.scoring import best_finish_points, finish_points
from okey_env.engine.state import PHASE_DRAW
from okey_env.tiles import NUM_KINDS, NUM_SEATS, RACK_SIZE, WILD

SHOWN = 1000.0
"""The rating of showing the indicator's twin: points for nothing."""
FINISHED = 200.0
"""The rating of a finish, before its points."""
POINT = 20.0
"""A point of the finish."""
LOST_WILD = 80.0
"""What throwing a wild tile costs beyond the distance."""
REACH = 8.0
"""Two draws ahead are looked at only for throws that are no further below the best."""
WILD_COMES = 0.5
"""How likely an unseen wild tile is to come, beside another tile: from the stock it is, but nobody throws it."""

Ratings = npt.NDArray[np.float32]
Sets = npt.NDArray[np.uint64]
Worths = npt.NDArray[np.float64]
"""By bit, what the unseen tiles of a kind are worth; below 0 where that is not worked out yet."""


# --- the two forms ------------------------------------------------------------------------------------------------


@kernel
def choose_in_position(position: Position, weights: RuleWeights, seed: np.uint64) -> int:
    """The action with the best rating."""
    ratings = np.empty(NUM_ACTIONS, np.float32)
    rate_position(position, weights, ratings)
    return best_of(ratings, position, seed)


@kernel
def best_of(ratings: Ratings, position: Position, seed: np.uint64) -> int:
    """The action with the highest rating; which of several, chance decides."""
    best, equals = 0, 0
    for action in range(NUM_ACTIONS):
        if ratings[action] > ratings[best]:
            best, equals = action, 0
        if ratings[action] == ratings[best]:
            equals += 1
    if equals > 1:
        left = below(advance(seed_of_position(position, seed)), equals)  # so many of the equals come before it
        highest = ratings[best]
        while left > 0:
            best += 1
            if ratings[best] == highest:
                left -= 1
    return best


@kernel
def rate_position(position: Position, weights: RuleWeights, ratings: Ratings) -> None:
    """Fill `(109,)` float32 with the rating of each legal action, -inf for the others."""
    ratings[:] = -np.inf
    if position.phase == PHASE_DRAW:
        rate_draw_and_take(position, weights, ratings)
    else:
        after = np.empty(NUM_KINDS, np.uint64)
        worths = np.full(NUM_KINDS, -1.0)
        distance, keep, _ = rate_throws(position, own_hand(position), weights, after, worths, ratings)
        if distance > 0 and weights.ahead[min(distance, 4) - 1] != 0.0:
            rate_after_draw(position, distance, keep, weights, after, ratings)
    if position.can_show:
        ratings[SHOW] = SHOWN


# --- 14 tiles: draw or take ---------------------------------------------------------------------------------------


@kernel
def rate_draw_and_take(position: Position, weights: RuleWeights, ratings: Ratings) -> None:
    """The ratings of DRAW and TAKE; where there is no choice, 0."""
    if not (position.can_draw and position.can_take):
        ratings[DRAW if position.can_draw else TAKE] = 0.0
        return
    hand = own_hand(position)
    bit = kind_set(position.offer)
    after = np.empty(NUM_KINDS, np.uint64)
    worths = np.full(NUM_KINDS, -1.0)
    found = np.empty(1, np.uint64)
    throws = np.full(NUM_ACTIONS, -np.inf, np.float32)
    distance, keep, worth = rate_throws(position, with_tile(hand, position.offer), weights, after, worths, throws)
    ratings[TAKE] = worth
    distance_taken = distance
    if distance > 0 and position.offer != WILD and keep & as_int(bit) != 0:
        useful = as_int(after[position.offer])  # to throw the offered tile again leaves the hand as it is
    else:
        distance, useful_word = distance_and_useful(hand.once, hand.twice, hand.wilds, position.run_13_1, found)
        worths[:] = -1.0
        useful = as_int(useful_word)
    if distance == 0:
        points = points_of_draw(position, dear_tiles(position, hand, after))
        ratings[DRAW] = FINISHED + POINT * points
        return
    worth = worth_of(position, useful, distance, weights, worths) - weights.step * distance
    worth = max(worth, worth_as_pairs(position, hand, distance, weights))
    waits = weights.wait_useful if distance_taken < distance else weights.wait
    ratings[DRAW] = worth + waits[min(distance, 4) - 1]


# --- 15 tiles: throw or finish ------------------------------------------------------------------------------------


@kernel
def rate_throws(
    position: Position, hand: Hand, weights: RuleWeights, after: Sets, worths: Worths, ratings: Ratings
) -> tuple[int, int, float]:
    """The ratings of throws and finishes of 15 tiles, which need not be those that the mover has.

    Args:
        position: what the mover sees.
        hand: the 15 tiles.
        weights: what the rung cares for.
        after: `(53,)`, filled as by `analyse`.
        worths: `(53,)`, what is known of the tiles so far.
        ratings: `(109,)`, filled for the throws and finishes of this hand.

    Returns:
        The distance of the hand to melds; the kinds whose throw keeps it, as a word; and what the hand is worth: the
        best finish, or what is left of it after the best throw, whatever else counts at that throw.
    """
    distance, keep_word, _ = analyse(hand.once, hand.twice, hand.wilds, position.run_13_1, after)
    keep = as_int(keep_word)
    by_pairs = as_int(finishing_pairs(hand.once, hand.twice, hand.wilds))
    if distance == 0 or by_pairs != 0:
        rate_finishes(position, keep if distance == 0 else 0, by_pairs, ratings)
    if distance == 0:
        most = rate_waiting(position, hand, keep, weights, ratings)
        worth = most
    else:
        throws = GoodThrows(hand=hand, distance=distance, keep=keep, after=after)
        most, worth = rate_good_throws(position, throws, weights, worths, ratings)
    others = as_int(hand.once) & FACES & ~keep
    while others:
        ratings[THROW + as_int(KIND_OF_BIT[lowest_bit(others)])] = most - weights.step
        others &= others - 1
    if hand.wilds > 0:
        ratings[THROW + WILD] = most - weights.step - LOST_WILD
    if distance > 0:
        worth = max(worth, rate_throws_for_pairs(position, hand, distance, weights, ratings))
    if distance == 0 or by_pairs != 0:
        worth = float(ratings.max())
    return distance, keep, worth


class GoodThrows(NamedTuple):
    """The throws of 15 tiles that keep the distance."""

    hand: Hand
    """The 15 tiles."""
    distance: int
    """Of the hand to melds, above 0."""
    keep: int
    """The kinds whose throw keeps it, as a word."""
    after: Sets
    """`(53,)` by kind thrown: the kinds that then shorten the distance."""


@kernel
def rate_good_throws(
    position: Position, throws: GoodThrows, weights: RuleWeights, worths: Worths, ratings: Ratings
) -> tuple[float, float]:
    """Rate the throws that keep the distance; returns the highest rating, and what is left after that throw."""
    hand, distance, keep, after = throws
    extra = weights.throws[min(distance, 4) - 1]
    most, worth_then = -np.inf, -np.inf
    tiles = keep
    while tiles:
        bit = lowest_bit(tiles)
        tiles &= tiles - 1
        kind = as_int(KIND_OF_BIT[bit])
        worth = worth_of(position, as_int(after[kind]), distance, weights, worths) - weights.step * distance
        rating = worth
        rating -= extra.one_away * near_tiles(hand.once, bit, 1, position.run_13_1)
        rating -= extra.two_away * near_tiles(hand.once, bit, 2, position.run_13_1)
        rating -= extra.same_number * popcount(as_int(hand.once) & same_number(bit))
        rating -= extra.twin * (as_int(hand.twice) >> bit & 1)
        if extra.needed != 0.0:
            rating -= extra.needed * (needed_chance(position, bit) - NEEDED_MEAN)
        ratings[THROW + kind] = rating
        if rating > most:
            most, worth_then = rating, worth
    weight = weights.spare_joker[min(distance, 4) - 1]
    if position.rules.false_joker_as_okey != 0 and weight != 0.0:
        most = max(most, reward_spare_joker(position, throws, weights, worths, ratings))
    return most, worth_then


@kernel
def rate_after_draw(
    position: Position, distance: int, keep: int, weights: RuleWeights, after: Sets, ratings: Ratings
) -> None:
    """Change the ratings of the best throws by what the hand would be after the next useful tile.

    Only differences between them count, so that the others stay comparable.
    """
    most = ratings.max()
    seconds = np.zeros(NUM_KINDS, np.float64)
    then = np.empty(NUM_KINDS, np.uint64)
    close, total = 0, 0.0
    tiles = keep
    while tiles:
        bit = lowest_bit(tiles)
        tiles &= tiles - 1
        if ratings[THROW + as_int(KIND_OF_BIT[bit])] >= most - REACH:
            close |= 1 << bit
    number = popcount(close)
    if number < 2:
        return
    tiles = close
    while tiles:
        bit = lowest_bit(tiles)
        tiles &= tiles - 1
        kind = as_int(KIND_OF_BIT[bit])
        left = without_tile(own_hand(position), kind)
        seconds[bit] = mean_useful_after_draw(position, left, distance, as_int(after[kind]), then)
        total += seconds[bit]
    tiles = close
    while tiles:
        bit = lowest_bit(tiles)
        tiles &= tiles - 1
        ratings[THROW + as_int(KIND_OF_BIT[bit])] += weights.ahead[min(distance, 4) - 1] * (
            seconds[bit] - total / number
        )


@kernel
def mean_useful_after_draw(position: Position, hand: Hand, distance: int, useful: int, after: Sets) -> float:
    """The unseen useful tiles after the next useful tile has come and the best tile was thrown: the mean.

    Args:
        position: what the mover sees.
        hand: 14 tiles.
        distance: of the hand, above 1.
        useful: the kinds that shorten it.
        after: `(53,)` to work in.
    """
    drawing = prepare_after_draw(
        hand.once, hand.twice, RACK_SIZE - hand.wilds - distance, useful & FACES, position.run_13_1
    )
    total, weight = 0, 0
    kinds = useful & FACES & position.unseen
    while kinds:
        bit = lowest_bit(kinds)
        kinds &= kinds - 1
        tiles = throws_after_draw(drawing, bit, after)
        most = 0
        while tiles:
            most = max(most, unseen_of(position, as_int(after[KIND_OF_BIT[lowest_bit(tiles)]]) | 1 << WILD_BIT))
            tiles &= tiles - 1
        copies = 1 + (position.unseen_twice >> bit & 1)
        total += copies * most
        weight += copies
    return total / max(weight, 1)


@kernel
def reward_spare_joker(
    position: Position, throws: GoodThrows, weights: RuleWeights, worths: Worths, ratings: Ratings
) -> float:
    """Add to the ratings of good throws what they leave for a finish on a false joker; returns the highest rating."""
    hand, distance, keep, _ = throws
    joker = kind_set(position.okey)
    weight = weights.spare_joker[min(distance, 4) - 1]
    if keep & as_int(joker) == 0:
        return -np.inf
    without = np.empty(NUM_KINDS, np.uint64)
    left = without_tile(hand, position.okey)
    _, keep_word, _ = analyse(left.once, left.twice, left.wilds, position.run_13_1, without)
    most = -np.inf
    tiles = keep & as_int(keep_word)
    while tiles:
        kind = as_int(KIND_OF_BIT[lowest_bit(tiles)])
        tiles &= tiles - 1
        ratings[THROW + kind] += weight * worth_of(position, as_int(without[kind]), distance, weights, worths)
        most = max(most, ratings[THROW + kind])
    return most


@kernel
def rate_throws_for_pairs(
    position: Position, hand: Hand, distance: int, weights: RuleWeights, ratings: Ratings
) -> float:
    """Raise the ratings of throws after which the hand is worth more as seven pairs; returns the highest such worth."""
    most = -np.inf
    if pairs_distance(hand.once, hand.twice, hand.wilds) > distance:
        return most
    tiles = as_int(hand.once) & FACES
    while tiles:
        kind = as_int(KIND_OF_BIT[lowest_bit(tiles)])
        tiles &= tiles - 1
        worth = worth_as_pairs(position, without_tile(hand, kind), distance, weights)
        ratings[THROW + kind] = max(ratings[THROW + kind], np.float32(worth))
        most = max(most, worth)
    return most


# --- finishes -----------------------------------------------------------------------------------------------------


@kernel
def rate_finishes(position: Position, by_melds: int, by_pairs: int, ratings: Ratings) -> None:
    """Rate the finishes with the kinds of two sets by their points (R6)."""
    kinds = by_melds | by_pairs
    while kinds:
        bit = lowest_bit(kinds)
        kinds &= kinds - 1
        kind = as_int(KIND_OF_BIT[bit])
        points = best_finish_points(position, kind, by_melds, by_pairs)
        ratings[FINISH + kind] = FINISHED + POINT * points


@kernel
def rate_waiting(position: Position, hand: Hand, keep: int, weights: RuleWeights, ratings: Ratings) -> float:
    """Rate throws that leave 14 tiles complete: not to finish now, for a dearer finish next time.

    Returns:
        A rating below all of a complete hand.
    """
    after = np.empty(NUM_KINDS, np.uint64)
    if hand.wilds > 0:
        analyse(hand.once, hand.twice, hand.wilds - 1, position.run_13_1, after)
    risk = min(1.0, weights.risk * position.throws / 20.0)
    if position.stock_left < NUM_SEATS:
        risk = 1.0  # there is no next turn with a draw
    ordinary = finish_points(position, position.indicator, False)
    tiles = keep & FACES
    while tiles:
        kind = as_int(KIND_OF_BIT[lowest_bit(tiles)])
        tiles &= tiles - 1
        dear = as_int(after[kind]) if hand.wilds > 0 else 1 << WILD_BIT
        points = (1.0 - risk) * points_of_draw(position, dear) - risk * ordinary
        ratings[THROW + kind] = FINISHED + POINT * points
    return 0.0


@kernel
def dear_tiles(position: Position, hand: Hand, after: Sets) -> int:
    """The kinds with which 14 complete tiles finish on a wild tile."""
    if hand.wilds == 0:
        return 1 << WILD_BIT
    _, _, useful = analyse(hand.once, hand.twice, hand.wilds - 1, position.run_13_1, after)
    return as_int(useful) | 1 << WILD_BIT


@kernel
def points_of_draw(position: Position, dear: int) -> float:
    """The points to expect of a finish with the next tile, when any finishes and those of `dear` on a wild tile."""
    ordinary = finish_points(position, position.indicator, False)  # a face that is never the okey
    if position.rules.false_joker_as_okey != 0:
        dear |= as_int(kind_set(position.okey))
    unseen = unseen_of(position, FACES | 1 << WILD_BIT)
    return ordinary + (finish_points(position, WILD, False) - ordinary) * unseen_of(position, dear) / max(unseen, 1)


# --- seven pairs --------------------------------------------------------------------------------------------------


@kernel
def worth_as_pairs(position: Position, hand: Hand, distance: int, weights: RuleWeights) -> float:
    """What 14 tiles are worth as seven pairs; -inf if they are further from seven pairs than `distance`."""
    missing = pairs_distance(hand.once, hand.twice, hand.wilds)
    if missing > distance:
        return -np.inf
    once, twice = as_int(hand.once), as_int(hand.twice)
    pairs = popcount(twice & FACES)
    useful = once & ~twice & FACES | 1 << WILD_BIT
    if popcount(useful) - 1 < 7 - pairs:
        useful |= ~twice & FACES
    return weights.pairs_tile * unseen_of(position, useful) - weights.pairs_step * missing


# --- tiles --------------------------------------------------------------------------------------------------------


@kernel
def unseen_of(position: Position, kinds: int) -> int:
    """How many tiles of these kinds are not yet seen."""
    return popcount(kinds & position.unseen) + popcount(kinds & position.unseen_twice)


@kernel
def same_number(bit: int) -> int:
    """The faces of a tile's number in the other colours, as a word."""
    return 15 << (bit & ~3) & ~(1 << bit)


@kernel
def near_tiles(once: np.uint64, bit: int, away: int, run_13_1: bool) -> int:
    """How many faces of a hand lie exactly so far `away` from a tile in runs."""
    tile = both_ends(1 << bit) if run_13_1 else 1 << bit
    return popcount(with_top(once, run_13_1) & (tile << 4 * away | tile >> 4 * away))


@kernel
def worth_of(position: Position, kinds: int, distance: int, weights: RuleWeights, worths: Worths) -> float:
    """What the unseen tiles of these kinds are worth: how many they are, or how many of them may come."""
    share = weights.throws[min(distance, 4) - 1].coming if distance > 0 else 0.0
    if share == 0.0:
        return float(unseen_of(position, kinds))
    total = 0.0
    kinds &= position.unseen
    while kinds:
        bit = lowest_bit(kinds)
        kinds &= kinds - 1
        if worths[bit] < 0.0:
            chance = coming_rate(position, bit) if bit != WILD_BIT else WILD_COMES
            copies = 1 + (position.unseen_twice >> bit & 1)
            worths[bit] = copies * max(0.0, 1.0 + share * (chance - 1.0))
        total += worths[bit]
    return total
