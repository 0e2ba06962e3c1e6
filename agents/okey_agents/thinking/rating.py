"""How `efficient` and `expert` rate every legal action: a weighted sum of what the action leads to.

Ratings are in *score units*: one unseen useful tile is worth 1. A rule is a row of weights (`rule_weights`); a weight
of 0 switches a term off. The rating of a throw is the worth of the hand that it leaves:

* minus `step` for every tile that this hand is away from a finish by melds, so that the exact distance comes first;
* plus 1 for every unseen tile that shortens that distance, which `analyse` finds for all good throws in one pass;
* or the worth of the same hand as seven pairs, if that is more.

An offered tile is rated by the best throw after it was taken. A draw is rated by the hand as it is, plus `wait` for the
unknown tile. A finish is rated above all of these, by its points, and compared with waiting for a dearer finish.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.neighbours import near_tiles, same_number
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
from okey_env.engine.hand.bits import FACES, as_int
from okey_env.engine.random import advance, below
from okey_env.engine.scoring import best_finish_points, finish_points
from okey_env.engine.state import PHASE_DRAW
from okey_env.tiles import NUM_KINDS, NUM_SEATS, WILD

SHOWN = 1000.0
"""The rating of showing the indicator's twin, which brings points and costs nothing."""
FINISHED = 200.0
"""The rating of a finish, before its points."""
POINT = 20.0
"""The rating of a point of the finish."""
LOST_WILD = 80.0
"""The cost of throwing a wild tile, beyond the distance that it adds."""
REACH = 8.0
"""Only throws whose rating is at most this far below the best are rated by one more draw."""
WILD_COMES = 0.5
"""The rate at which an unseen wild tile comes, beside 1 for an average tile: the stock may hold it, but no player
throws it."""

Ratings = npt.NDArray[np.float32]
Sets = npt.NDArray[np.uint64]
Worths = npt.NDArray[np.float64]
"""By bit, the worth of the unseen tiles of a kind; below 0 where it is not computed yet."""


class HandRating(NamedTuple):
    """15 tiles whose throws and finishes are rated, and the arrays that this fills."""

    position: Position
    """What the mover sees."""
    hand: Hand
    """The 15 tiles; the mover need not hold them yet."""
    weights: RuleWeights
    """Of the rule."""
    after: Sets
    """`(53,)` by kind: the kinds that are useful after its throw, as `analyse` fills them."""
    worths: Worths
    """`(53,)` the worth of unseen tiles, as far as it is computed."""
    ratings: Ratings
    """`(109,)` by action: the throws and finishes of the hand are filled, the others stay as they are."""


# --- choosing an action -------------------------------------------------------------------------------------------


@kernel
def choose_in_position(position: Position, weights: RuleWeights, seed: np.uint64) -> int:
    """The action with the highest rating; chance decides between equals."""
    ratings = np.empty(NUM_ACTIONS, np.float32)
    rate_position(position, weights, ratings)
    return best_of(ratings, position, seed)


@kernel
def best_of(ratings: Ratings, position: Position, seed: np.uint64) -> int:
    """The action with the highest of `(109,)` ratings; chance, settled by seed and position, decides between equals."""
    best, equals = 0, 0
    for action in range(NUM_ACTIONS):
        if ratings[action] > ratings[best]:
            best, equals = action, 0
        if ratings[action] == ratings[best]:
            equals += 1
    if equals > 1:
        skipped = below(advance(seed_of_position(position, seed)), equals)
        highest = ratings[best]
        while skipped > 0:
            best += 1
            if ratings[best] == highest:
                skipped -= 1
    return best


@kernel
def rate_position(position: Position, weights: RuleWeights, ratings: Ratings) -> None:
    """Fill `(109,)` float32 with the rating of each legal action, -inf for the others."""
    ratings[:] = -np.inf
    if position.phase == PHASE_DRAW:
        rate_draw_and_take(position, weights, ratings)
    else:
        rating = new_rating(position, own_hand(position), weights, ratings)
        distance, keep, _ = rate_throws(rating)
        if distance > 0 and weights.ahead[min(distance, 4) - 1] != 0.0:
            rate_after_draw(rating, distance, keep)
    if position.can_show:
        ratings[SHOW] = SHOWN


@kernel
def new_rating(position: Position, hand: Hand, weights: RuleWeights, ratings: Ratings) -> HandRating:
    """The record to rate 15 tiles with, before anything of it is filled."""
    return HandRating(
        position=position,
        hand=hand,
        weights=weights,
        after=np.empty(NUM_KINDS, np.uint64),
        worths=np.full(NUM_KINDS, -1.0),
        ratings=ratings,
    )


# --- 14 tiles: draw or take ---------------------------------------------------------------------------------------


@kernel
def rate_draw_and_take(position: Position, weights: RuleWeights, ratings: Ratings) -> None:
    """Fill the ratings of DRAW and TAKE; if only one of them is legal, its rating is 0."""
    if not (position.can_draw and position.can_take):
        ratings[DRAW if position.can_draw else TAKE] = 0.0
        return
    hand = own_hand(position)
    throws = np.full(NUM_ACTIONS, -np.inf, np.float32)
    taking = new_rating(position, with_tile(hand, position.offer), weights, throws)
    distance, keep, worth = rate_throws(taking)
    ratings[TAKE] = worth
    distance_taken = distance
    if distance > 0 and position.offer != WILD and keep & as_int(kind_set(position.offer)) != 0:
        useful = as_int(taking.after[position.offer])  # throwing the offered tile again leaves the hand as it is
    else:
        found = np.empty(1, np.uint64)
        distance, useful_word = distance_and_useful(hand.once, hand.twice, hand.wilds, position.run_13_1, found)
        taking.worths[:] = -1.0
        useful = as_int(useful_word)
    if distance == 0:
        ratings[DRAW] = FINISHED + POINT * points_of_draw(position, dear_kinds(hand, position.run_13_1, taking.after))
        return
    worth = worth_of(position, useful, distance, weights, taking.worths) - weights.step * distance
    worth = max(worth, worth_as_pairs(position, hand, distance, weights))
    waits = weights.wait_useful if distance_taken < distance else weights.wait
    ratings[DRAW] = worth + waits[min(distance, 4) - 1]


# --- 15 tiles: throw or finish ------------------------------------------------------------------------------------


@kernel
def rate_throws(rating: HandRating) -> tuple[int, int, float]:
    """Fill the ratings of all throws and finishes of 15 tiles.

    Returns:
        The distance of the hand to melds; the kinds whose throw keeps it, as a word; and the worth of the hand: the
        rating of its best finish, or the worth of what the best throw leaves, without the other terms of that throw.
    """
    position, hand, weights, ratings = rating.position, rating.hand, rating.weights, rating.ratings
    distance, keep_word, _ = analyse(hand.once, hand.twice, hand.wilds, position.run_13_1, rating.after)
    keep = as_int(keep_word)
    by_pairs = as_int(finishing_pairs(hand.once, hand.twice, hand.wilds))
    if distance == 0 or by_pairs != 0:
        rate_finishes(position, keep if distance == 0 else 0, by_pairs, ratings)
    if distance == 0:
        rate_waiting(rating, keep)
        most = 0.0  # below all ratings of a complete hand
        worth = most
    else:
        most, worth = rate_good_throws(rating, distance, keep)
    bad_throws = as_int(hand.once) & FACES & ~keep
    while bad_throws:
        ratings[THROW + as_int(KIND_OF_BIT[lowest_bit(bad_throws)])] = most - weights.step
        bad_throws &= bad_throws - 1
    if hand.wilds > 0:
        ratings[THROW + WILD] = most - weights.step - LOST_WILD
    if distance > 0:
        worth = max(worth, rate_throws_for_pairs(rating, distance))
    if distance == 0 or by_pairs != 0:
        worth = float(ratings.max())
    return distance, keep, worth


@kernel
def rate_good_throws(rating: HandRating, distance: int, keep: int) -> tuple[float, float]:
    """Fill the ratings of the throws that keep the distance.

    Args:
        rating: the hand; `after` is filled.
        distance: of the hand to melds, above 0.
        keep: the kinds whose throw keeps it, as a word.

    Returns:
        The highest rating, and the worth of what that throw leaves.
    """
    position, hand, weights, ratings = rating.position, rating.hand, rating.weights, rating.ratings
    extra = weights.throws[min(distance, 4) - 1]
    most, worth_left = -np.inf, -np.inf
    tiles = keep
    while tiles:
        bit = lowest_bit(tiles)
        tiles &= tiles - 1
        kind = as_int(KIND_OF_BIT[bit])
        useful = as_int(rating.after[kind])
        worth = worth_of(position, useful, distance, weights, rating.worths) - weights.step * distance
        rated = worth
        rated -= extra.one_away * near_tiles(hand.once, bit, 1, position.run_13_1)
        rated -= extra.two_away * near_tiles(hand.once, bit, 2, position.run_13_1)
        rated -= extra.same_number * popcount(as_int(hand.once) & same_number(bit))
        rated -= extra.twin * (as_int(hand.twice) >> bit & 1)
        if extra.needed != 0.0:
            rated -= extra.needed * (needed_chance(position, bit) - NEEDED_MEAN)
        ratings[THROW + kind] = rated
        if rated > most:
            most, worth_left = rated, worth
    if position.rules.false_joker_as_okey != 0 and weights.spare_joker[min(distance, 4) - 1] != 0.0:
        most = max(most, reward_spare_joker(rating, distance, keep))
    return most, worth_left


@kernel
def rate_after_draw(rating: HandRating, distance: int, keep: int) -> None:
    """Add to the ratings of the best throws what the hand is worth after the next useful tile.

    Only differences between these throws are added, so that their ratings stay comparable with all others.

    Args:
        rating: the hand; `after` and `ratings` are filled.
        distance: of the hand to melds, above 1.
        keep: the kinds whose throw keeps it, as a word.
    """
    hand, ratings = rating.hand, rating.ratings
    lowest = ratings.max() - REACH
    means = np.zeros(NUM_KINDS, np.float64)
    after = np.empty(NUM_KINDS, np.uint64)
    close, total = 0, 0.0
    tiles = keep
    while tiles:
        bit = lowest_bit(tiles)
        tiles &= tiles - 1
        if ratings[THROW + as_int(KIND_OF_BIT[bit])] >= lowest:
            close |= 1 << bit
    number = popcount(close)
    if number < 2:
        return
    tiles = close
    while tiles:
        bit = lowest_bit(tiles)
        tiles &= tiles - 1
        kind = as_int(KIND_OF_BIT[bit])
        useful = as_int(rating.after[kind])
        means[bit] = mean_useful_after_draw(rating.position, without_tile(hand, kind), distance, useful, after)
        total += means[bit]
    tiles = close
    while tiles:
        bit = lowest_bit(tiles)
        tiles &= tiles - 1
        ratings[THROW + as_int(KIND_OF_BIT[bit])] += rating.weights.ahead[min(distance, 4) - 1] * (
            means[bit] - total / number
        )


@kernel
def mean_useful_after_draw(position: Position, hand: Hand, distance: int, useful: int, after: Sets) -> float:
    """How many unseen tiles are useful after the next useful tile and the best throw: the mean over those tiles.

    Args:
        position: what the mover sees.
        hand: 14 tiles.
        distance: of the hand to melds, above 1.
        useful: the kinds that shorten it, as a word.
        after: `(53,)`, overwritten.
    """
    drawing = prepare_after_draw(hand.once, hand.twice, 14 - hand.wilds - distance, useful & FACES, position.run_13_1)
    total, copies = 0, 0
    kinds = useful & FACES & position.unseen
    while kinds:
        bit = lowest_bit(kinds)
        kinds &= kinds - 1
        tiles = throws_after_draw(drawing, bit, after)
        most = 0
        while tiles:
            most = max(most, unseen_of(position, as_int(after[KIND_OF_BIT[lowest_bit(tiles)]]) | 1 << WILD_BIT))
            tiles &= tiles - 1
        unseen = 1 + (position.unseen_twice >> bit & 1)
        total += unseen * most
        copies += unseen
    return total / max(copies, 1)


@kernel
def reward_spare_joker(rating: HandRating, distance: int, keep: int) -> float:
    """Add to the ratings of good throws the worth of a false joker that stays to finish on.

    Args:
        rating: the hand; `ratings` has its good throws.
        distance: of the hand to melds, above 0.
        keep: the kinds whose throw keeps it, as a word.

    Returns:
        The highest of the changed ratings; -inf if there is no false joker to spare.
    """
    position, hand, weights, ratings = rating.position, rating.hand, rating.weights, rating.ratings
    weight = weights.spare_joker[min(distance, 4) - 1]
    if keep & as_int(kind_set(position.okey)) == 0:
        return -np.inf
    after = np.empty(NUM_KINDS, np.uint64)
    rest = without_tile(hand, position.okey)
    _, keep_word, _ = analyse(rest.once, rest.twice, rest.wilds, position.run_13_1, after)
    most = -np.inf
    tiles = keep & as_int(keep_word)
    while tiles:
        kind = as_int(KIND_OF_BIT[lowest_bit(tiles)])
        tiles &= tiles - 1
        ratings[THROW + kind] += weight * worth_of(position, as_int(after[kind]), distance, weights, rating.worths)
        most = max(most, ratings[THROW + kind])
    return most


@kernel
def rate_throws_for_pairs(rating: HandRating, distance: int) -> float:
    """Raise the ratings of the throws that leave a hand which is worth more as seven pairs.

    Args:
        rating: the hand; `ratings` has its throws.
        distance: of the hand to melds, above 0.

    Returns:
        The highest worth as seven pairs; -inf if the hand is further from them than from melds.
    """
    hand, ratings = rating.hand, rating.ratings
    most = -np.inf
    if pairs_distance(hand.once, hand.twice, hand.wilds) > distance:
        return most
    tiles = as_int(hand.once) & FACES
    while tiles:
        kind = as_int(KIND_OF_BIT[lowest_bit(tiles)])
        tiles &= tiles - 1
        worth = worth_as_pairs(rating.position, without_tile(hand, kind), distance, rating.weights)
        ratings[THROW + kind] = max(ratings[THROW + kind], np.float32(worth))
        most = max(most, worth)
    return most


# --- finishes -----------------------------------------------------------------------------------------------------


@kernel
def rate_finishes(position: Position, by_melds: int, by_pairs: int, ratings: Ratings) -> None:
    """Fill the ratings of the finishes with the kinds of two sets, by their points (R6)."""
    kinds = by_melds | by_pairs
    while kinds:
        bit = lowest_bit(kinds)
        kinds &= kinds - 1
        kind = as_int(KIND_OF_BIT[bit])
        points = best_finish_points(position, kind, by_melds, by_pairs)
        ratings[FINISH + kind] = FINISHED + POINT * points


@kernel
def rate_waiting(rating: HandRating, keep: int) -> None:
    """Fill the ratings of the throws that leave 14 complete tiles: a dearer finish next turn instead of one now.

    Args:
        rating: the hand, which can finish.
        keep: the kinds whose throw leaves complete tiles, as a word.
    """
    position, hand = rating.position, rating.hand
    after = np.empty(NUM_KINDS, np.uint64)
    if hand.wilds > 0:
        rest = without_tile(hand, WILD)
        analyse(rest.once, rest.twice, rest.wilds, position.run_13_1, after)
    risk = min(1.0, rating.weights.risk * position.throws / 20.0)
    if position.stock_left < NUM_SEATS:
        risk = 1.0  # the stock ends before the mover draws again
    ordinary = finish_points(position, position.indicator, False)
    tiles = keep & FACES
    while tiles:
        kind = as_int(KIND_OF_BIT[lowest_bit(tiles)])
        tiles &= tiles - 1
        dear = as_int(after[kind]) if hand.wilds > 0 else 1 << WILD_BIT
        points = (1.0 - risk) * points_of_draw(position, dear) - risk * ordinary
        rating.ratings[THROW + kind] = FINISHED + POINT * points


@kernel
def dear_kinds(hand: Hand, run_13_1: bool, after: Sets) -> int:
    """The kinds that let 14 complete tiles finish on a wild tile when they are drawn, as a word.

    Args:
        hand: the 14 tiles.
        run_13_1: whether a 1 may follow a 13 (R4.1).
        after: `(53,)`, overwritten.
    """
    if hand.wilds == 0:
        return 1 << WILD_BIT
    rest = without_tile(hand, WILD)
    _, _, useful = analyse(rest.once, rest.twice, rest.wilds, run_13_1, after)
    return as_int(useful) | 1 << WILD_BIT


@kernel
def points_of_draw(position: Position, dear: int) -> float:
    """The expected points of a finish with the next tile, if any tile finishes and those of `dear` on a wild tile."""
    ordinary = finish_points(position, position.indicator, False)  # the indicator's face is never the okey
    if position.rules.false_joker_as_okey != 0:
        dear |= as_int(kind_set(position.okey))
    unseen = unseen_of(position, FACES | 1 << WILD_BIT)
    return ordinary + (finish_points(position, WILD, False) - ordinary) * unseen_of(position, dear) / max(unseen, 1)


# --- seven pairs --------------------------------------------------------------------------------------------------


@kernel
def worth_as_pairs(position: Position, hand: Hand, distance: int, weights: RuleWeights) -> float:
    """The worth of 14 tiles as seven pairs; -inf if they are further from pairs than `distance`."""
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
    """How many tiles of a set of kinds are unseen."""
    return popcount(kinds & position.unseen) + popcount(kinds & position.unseen_twice)


@kernel
def worth_of(position: Position, kinds: int, distance: int, weights: RuleWeights, worths: Worths) -> float:
    """The worth of the unseen tiles of a set of kinds for a hand at some distance.

    Every tile counts 1, or by how likely it is to come, as far as the weight `coming` for that distance says.

    Args:
        position: what the mover sees.
        kinds: the set, as a word.
        distance: of the hand to melds.
        weights: of the rule.
        worths: `(53,)`, filled for the kinds of the set.
    """
    share = weights.throws[min(distance, 4) - 1].coming if distance > 0 else 0.0
    if share == 0.0:
        return float(unseen_of(position, kinds))
    total = 0.0
    kinds &= position.unseen
    while kinds:
        bit = lowest_bit(kinds)
        kinds &= kinds - 1
        if worths[bit] < 0.0:
            rate = coming_rate(position, bit) if bit != WILD_BIT else WILD_COMES
            copies = 1 + (position.unseen_twice >> bit & 1)
            worths[bit] = copies * max(0.0, 1.0 + share * (rate - 1.0))
        total += worths[bit]
    return total
