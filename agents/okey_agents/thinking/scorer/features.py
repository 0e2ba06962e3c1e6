"""What the candidate scorer sees of each candidate: what the move leads to, by the solver and by the odds.

A *candidate* is a legal action that the rule (`expert`) rates within `margin` of its best. Moves outside the margin
cost a step of distance or many useful tiles; the network learns nothing about them, and they are never played. So most
decisions have few candidates. A third of them have only one, which needs no network.

The features know colours and numbers only by their neighbours. So they are the same under all 48 symmetries of the
tiles, and no training sample needs to be turned.

Letters: `C` candidates, `F` features of a candidate, `T` entries of the context, `A` = 109 actions.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.hidden_tiles import COMES, FINISHES, IN_STOCK, NEEDED, NUM_CHANCES, predict
from okey_agents.thinking.hidden_tiles import WEIGHTS as HIDDEN_TILES
from okey_agents.thinking.neighbours import (
    ITSELF,
    NUM_RELATIONS,
    ONE_AWAY,
    SAME_NUMBER,
    TWO_AWAY,
    numbers_in,
    one_up,
    related_faces,
)
from okey_agents.thinking.position import Position, own_hand
from okey_agents.thinking.scorer.context import MAX_CANDIDATES, NUM_DISTANCES, Rack, fill_context
from okey_env.actions import DRAW, FINISH, NUM_ACTIONS, SHOW, TAKE, THROW
from okey_env.encoders.encoder import Piece, size_of, starts_of
from okey_env.engine._jit import kernel
from okey_env.engine.hand import (
    BIT_OF_KIND,
    KIND_OF_BIT,
    Hand,
    analyse,
    kind_set,
    lowest_bit,
    pairs_distance,
    popcount,
    with_tile,
    without_tile,
)
from okey_env.engine.hand.bits import FACES, as_int
from okey_env.engine.hand.draws import TileSet, count_after_draw, tiles_of
from okey_env.engine.scoring import best_finish_points, counts_as_okey
from okey_env.engine.state import PHASE_THROW
from okey_env.tiles import NUM_FACES, NUM_KINDS, WILD

Floats = npt.NDArray[np.float32]

FEATURES_VERSION = 4
"""Changes whenever a feature changes its index or its meaning."""

CANDIDATE = (
    Piece("draw", 1, "1 if the move draws"),
    Piece("take", 1, "1 if it takes the tile on offer"),
    Piece("throw", 1, "1 if it throws"),
    Piece("finish", 1, "1 if it finishes"),
    Piece("show", 1, "1 if it shows the indicator's twin"),
    Piece("distance", NUM_DISTANCES, "1 for the distance after the move to a finish by melds: 0 … 4, 5 or more"),
    Piece("useful", NUM_DISTANCES, "unseen tiles that help after the move / 16, at its distance; 0 at the others"),
    Piece("last_tile", 1, "at distance 1: 4 times the share of hidden tiles that help"),
    Piece("useful_kinds", 1, "kinds that help after the move / 12"),
    Piece("pairs", 3, "1 for the distance after the move to seven pairs: 1, 2, 3"),
    Piece("pairs_distance", 1, "that distance / 7, at most 1"),
    Piece("finish_points", 1, "points that the finish pays / 8"),
    Piece("finish_okey", 1, "1 if the finish counts as one on the okey"),
    Piece("tile_wild", 1, "1 if the tile thrown or taken is wild"),
    Piece("tile_held", 1, "1 if the rack holds another copy of the tile"),
    Piece("tile_unseen", 1, "unseen copies of the tile / 2"),
    Piece("unseen_one_away", 1, "unseen tiles one number from the tile / 4"),
    Piece("unseen_two_away", 1, "unseen tiles two numbers from the tile / 4"),
    Piece("unseen_same_number", 1, "unseen tiles of its number in the other colours / 6"),
    Piece("held_one_away", 1, "faces in the rack one number from the tile / 2"),
    Piece("held_two_away", 1, "faces in the rack two numbers from the tile / 2"),
    Piece("held_same_number", 1, "faces in the rack of its number in the other colours / 3"),
    Piece("number_1", 1, "1 if the tile is a 1, which the reflection of numbers leaves where it is"),
    Piece("number_2_or_13", 1, "1 if the tile is a 2 or a 13, which the reflection takes into each other"),
    Piece(
        "taken_right",
        NUM_RELATIONS,
        "kinds that the right-hand neighbour has taken: 1 for the tile itself; one number from it / 2; "
        "two numbers from it / 2; of its number / 3",
    ),
    Piece("thrown_right", NUM_RELATIONS, "the same of the kinds that the right-hand neighbour has thrown"),
    Piece("refused", NUM_RELATIONS, "the same of the mover's throws that the right-hand neighbour left lying"),
    Piece("thrown_others", 1, "1 if the seat opposite or the left neighbour has thrown the tile"),
    Piece("rating", 1, "the rule's rating less its best, / 12"),
    Piece("best_rated", 1, "1 for the rule's own choice"),
    Piece("near_best", 1, "1 if the rating is less than half a unit below the best"),
    Piece("useful_thrown_left", 1, "kinds that help and that the left neighbour has thrown / 4"),
    Piece("useful_twice", 1, "kinds that help and of which both copies are unseen / 8"),
    Piece("useful_thrown", 1, "kinds that help and that any other seat has thrown / 6"),
    Piece("held_in_row", 1, "faces after the move with the face one number below held too / 8"),
    Piece("held_same", 1, "faces after the move beyond one of each number / 8"),
    Piece("held_two_apart", 1, "faces after the move with the face two numbers below held too / 8"),
    Piece("wilds", 2, "1 for the wild tiles after the move: one, two"),
    Piece("next_useful", 3, "useful tiles after the next useful tile / 16, at distance 2, 3, 4 or more"),
    Piece(
        "opened_up",
        2,
        "useful tiles that a hidden tile adds without lowering the distance, on average / 2, at distance 1, 2",
    ),
    Piece("spare_joker", 2, "useful tiles / 16 of the rack without its false joker: at distance 1, at more"),
    Piece("joker_kept", 1, "1 if a false joker stays, where a finish on one counts as on the okey"),
    Piece("needed", 1, "twice the chance that the right-hand neighbour needs the tile thrown"),
    Piece("finishes", 1, "8 times the chance that it finishes with the tile"),
    Piece("stock_useful", 1, "useful tiles expected in the stock / 8"),
    Piece("draw_useful", 1, "4 times their share of the stock"),
    Piece("left_throws_useful", 1, "twice the chances, added up, that the left neighbour throws a useful face next"),
)
"""The layout of a candidate's features, in order."""

_AT = starts_of(CANDIDATE)
NUM_FEATURES = size_of(CANDIDATE)
_IS_DRAW, _IS_TAKE, _IS_THROW, _IS_FINISH = _AT["draw"], _AT["take"], _AT["throw"], _AT["finish"]
_IS_SHOW, _DISTANCE, _USEFUL, _LAST_TILE = _AT["show"], _AT["distance"], _AT["useful"], _AT["last_tile"]
_USEFUL_KINDS, _PAIRS, _PAIRS_DISTANCE = _AT["useful_kinds"], _AT["pairs"], _AT["pairs_distance"]
_FINISH_POINTS, _FINISH_OKEY, _TILE_WILD = _AT["finish_points"], _AT["finish_okey"], _AT["tile_wild"]
_TILE_HELD, _TILE_UNSEEN, _UNSEEN_ONE_AWAY = _AT["tile_held"], _AT["tile_unseen"], _AT["unseen_one_away"]
_UNSEEN_TWO_AWAY, _UNSEEN_SAME_NUMBER = _AT["unseen_two_away"], _AT["unseen_same_number"]
_HELD_ONE_AWAY, _HELD_TWO_AWAY = _AT["held_one_away"], _AT["held_two_away"]
_HELD_SAME_NUMBER, _NUMBER_1, _NUMBER_2_OR_13 = _AT["held_same_number"], _AT["number_1"], _AT["number_2_or_13"]
_TAKEN_RIGHT, _THROWN_RIGHT, _REFUSED = _AT["taken_right"], _AT["thrown_right"], _AT["refused"]
_THROWN_OTHERS, _RATING, _BEST_RATED = _AT["thrown_others"], _AT["rating"], _AT["best_rated"]
_NEAR_BEST, _USEFUL_THROWN_LEFT, _USEFUL_TWICE = _AT["near_best"], _AT["useful_thrown_left"], _AT["useful_twice"]
_USEFUL_THROWN, _HELD_IN_ROW, _HELD_SAME = _AT["useful_thrown"], _AT["held_in_row"], _AT["held_same"]
_HELD_TWO_APART, _WILDS, _NEXT_USEFUL = _AT["held_two_apart"], _AT["wilds"], _AT["next_useful"]
_OPENED_UP, _SPARE_JOKER, _JOKER_KEPT = _AT["opened_up"], _AT["spare_joker"], _AT["joker_kept"]
_NEEDED, _FINISHES, _STOCK_USEFUL = _AT["needed"], _AT["finishes"], _AT["stock_useful"]
_DRAW_USEFUL, _LEFT_THROWS_USEFUL = _AT["draw_useful"], _AT["left_throws_useful"]

_1_FOLLOWS_13: Any = np.bool_(True)
"""The features relate faces as if a 1 may always follow a 13; numba compiles a kernel anew for a plain `True`."""


@kernel
def pick_candidates(ratings: Floats, margin: np.float32, actions: npt.NDArray[np.int64]) -> int:
    """Fill `(C,)` with the actions rated within `margin` of the best, best first; returns how many.

    Args:
        ratings: `(A,)`, -inf for what is not legal.
        margin: rating units.
        actions: to fill; of equal ratings the lower action comes first.
    """
    best = ratings[0]
    for action in range(1, NUM_ACTIONS):
        best = max(best, ratings[action])
    count = 0
    for action in range(NUM_ACTIONS):
        rating = ratings[action]
        if rating < best - margin:
            continue
        if count == MAX_CANDIDATES:
            if rating <= ratings[actions[count - 1]]:
                continue
            count -= 1
        rank = count
        while rank > 0 and ratings[actions[rank - 1]] < rating:
            actions[rank] = actions[rank - 1]
            rank -= 1
        actions[rank] = action
        count += 1
    return count


@kernel
def unseen_tiles(position: Position) -> TileSet:
    """The tiles that the mover has not seen."""
    return TileSet(int(position.unseen), int(position.unseen_twice))


@kernel
def fill_features(
    position: Position,
    ratings: Floats,
    actions: npt.NDArray[np.int64],
    count: int,
    after: npt.NDArray[np.uint64],
    context: Floats,
    features: Floats,
) -> None:
    """Fill the features of a decision.

    Args:
        position: what the mover sees.
        ratings: `(A,)` of the rule.
        actions: `(C,)` candidates, the best rated first.
        count: how many of them.
        after: `(53,)`, overwritten.
        context: `(T,)` to fill, as `CONTEXT` has them.
        features: `(C, F)` to fill, as `CANDIDATE` has them.
    """
    helps = np.zeros(MAX_CANDIDATES, np.int64)  # what is useful after each candidate
    hand = own_hand(position)
    unseen = unseen_tiles(position)
    distance, keep, useful = analyse(hand.once, hand.twice, hand.wilds, position.run_13_1, after)
    hidden = popcount(unseen.once) + popcount(unseen.twice)
    rack = Rack(distance, as_int(keep), as_int(useful), hidden)
    throwing = position.phase == PHASE_THROW
    most = 0 if throwing else tiles_of(rack.useful, unseen)
    joker = as_int(kind_set(position.okey)) if position.rules.false_joker_as_okey else 0
    without_joker = np.zeros(NUM_KINDS, np.uint64)
    if throwing and distance > 0 and rack.keep & joker:  # a false joker can be kept to finish on, which is dear
        rest = without_tile(hand, position.okey)
        analyse(rest.once, rest.twice, rest.wilds, position.run_13_1, without_joker)
    for index in range(count):
        action = actions[index]
        row = features[index]
        row[:] = np.float32(0)
        row[_RATING] = (ratings[action] - ratings[actions[0]]) / np.float32(12)
        row[_BEST_RATED] = index == 0
        row[_NEAR_BEST] = np.float32(1) if ratings[action] > ratings[actions[0]] - np.float32(0.5) else np.float32(0)
        if action == DRAW:
            row[_IS_DRAW] = 1
            helps[index] = rack.useful
            _fill_hand(position, hand, distance, rack.useful, hidden, row)
        elif action == TAKE:
            row[_IS_TAKE] = 1
            helps[index] = _fill_take(position, hand, hidden, row)
        elif action == SHOW:
            row[_IS_SHOW] = 1
        elif action < FINISH:
            row[_IS_THROW] = 1
            kind = action - THROW
            rest = without_tile(hand, kind)
            kept = (rack.keep >> as_int(BIT_OF_KIND[kind])) & 1
            left = distance if kept else distance + 1
            helps[index] = as_int(after[kind])
            most = max(most, tiles_of(helps[index], unseen))
            _fill_hand(position, rest, left, helps[index], hidden, row)
            _fill_tile(position, kind, as_int(rest.once), row)
            if distance > 0:
                spare = tiles_of(as_int(without_joker[kind]), unseen)
                row[_SPARE_JOKER if distance == 1 else _SPARE_JOKER + 1] = np.float32(spare) / np.float32(16)
            row[_JOKER_KEPT] = (as_int(rest.once) & joker) != 0
        else:
            row[_IS_FINISH] = 1
            kind = action - FINISH
            points = best_finish_points(position, kind, position.finish_melds, position.finish_pairs)
            row[_FINISH_POINTS] = np.float32(points) / np.float32(8)
            row[_FINISH_OKEY] = counts_as_okey(position, kind)
    _fill_predicted(position, actions, count, helps, features)
    fill_context(position, rack, most, count, context)


@kernel
def _fill_predicted(
    position: Position, actions: npt.NDArray[np.int64], count: int, helps: npt.NDArray[np.int64], features: Floats
) -> None:
    """Fill what the network of hidden tiles tells: who needs the tile thrown, and where the useful tiles are.

    Args:
        position: what the mover sees.
        actions: `(C,)` candidates.
        count: how many of them.
        helps: `(C,)` the kinds that are useful after each, as words.
        features: `(C, F)` to fill.
    """
    chances = np.empty((NUM_FACES, NUM_CHANCES), np.float32)
    unseen = unseen_tiles(position)
    faces = 0
    for index in range(count):
        faces |= helps[index] & unseen.once
        action = actions[index]
        if action >= THROW and action < THROW + WILD:
            faces |= 1 << as_int(BIT_OF_KIND[action - THROW])
    if faces & FACES == 0:
        return
    predict(position, faces, HIDDEN_TILES, chances)
    for index in range(count):
        action, row = actions[index], features[index]
        if action >= THROW and action < THROW + WILD:
            bit = as_int(BIT_OF_KIND[action - THROW])
            row[_NEEDED] = np.float32(2) * chances[bit, NEEDED]
            row[_FINISHES] = np.float32(8) * chances[bit, FINISHES]
        drawn, thrown = np.float32(0), np.float32(0)
        left = helps[index] & unseen.once & FACES
        while left:
            bit = lowest_bit(left)
            left &= left - 1
            drawn += chances[bit, IN_STOCK] * np.float32(1 + (unseen.twice >> bit & 1))
            thrown += chances[bit, COMES]
        row[_STOCK_USEFUL] = drawn / np.float32(8)
        row[_DRAW_USEFUL] = np.float32(4) * drawn / np.float32(max(1, int(position.stock_left)))
        row[_LEFT_THROWS_USEFUL] = np.float32(2) * thrown


@kernel
def _fill_take(position: Position, hand: Hand, hidden: int, row: Floats) -> int:
    """The features of taking the offer: the hand after the best throw that follows, and the tile taken.

    Returns:
        What is useful then.
    """
    unseen = unseen_tiles(position)
    kind = int(position.offer)
    _fill_tile(position, kind, as_int(hand.once), row)
    taken = with_tile(hand, kind)
    after = np.empty(NUM_KINDS, np.uint64)
    distance, keep, _ = analyse(taken.once, taken.twice, taken.wilds, position.run_13_1, after)
    best, thrown, most = 0, 0, -1
    kinds = as_int(keep)
    while kinds:
        throw = as_int(KIND_OF_BIT[lowest_bit(kinds)])
        kinds &= kinds - 1
        helps = as_int(after[throw])
        total = tiles_of(helps, unseen)
        if total > most:
            best, thrown, most = helps, throw, total
    _fill_hand(position, without_tile(taken, thrown), distance, best, hidden, row)
    return int(best)


@kernel
def _fill_hand(position: Position, hand: Hand, distance: int, useful: int, hidden: int, row: Floats) -> None:
    """What the hand after the move is worth: distance, useful tiles, pairs, shape."""
    unseen = unseen_tiles(position)
    rank = min(distance, NUM_DISTANCES - 1)
    count = np.float32(tiles_of(useful, unseen))
    row[_DISTANCE + rank] = 1
    row[_USEFUL + rank] = count / np.float32(16)
    if distance == 1:
        row[_LAST_TILE] = np.float32(4) * count / np.float32(max(hidden, 1))
    row[_USEFUL_KINDS] = np.float32(popcount(useful)) / np.float32(12)
    pairs = pairs_distance(hand.once, hand.twice, hand.wilds)
    if pairs >= 1 and pairs <= 3:
        row[_PAIRS + pairs - 1] = 1
    row[_PAIRS_DISTANCE] = np.float32(min(pairs, 7)) / np.float32(7)
    row[_USEFUL_THROWN_LEFT] = np.float32(popcount(useful & int(position.thrown_left))) / np.float32(4)
    row[_USEFUL_TWICE] = np.float32(popcount(useful & unseen.twice)) / np.float32(8)
    thrown = int(position.thrown_right) | int(position.thrown_opposite) | int(position.thrown_left)
    row[_USEFUL_THROWN] = np.float32(popcount(useful & thrown)) / np.float32(6)
    held = as_int(hand.once)
    raised = one_up(held)
    row[_HELD_IN_ROW] = np.float32(popcount(held & raised)) / np.float32(8)
    row[_HELD_SAME] = np.float32(popcount(held) - popcount(numbers_in(held))) / np.float32(8)
    row[_HELD_TWO_APART] = np.float32(popcount(held & one_up(raised))) / np.float32(8)
    if hand.wilds > 0:
        row[_WILDS + hand.wilds - 1] = 1
    if distance > 0:
        after_draw = count_after_draw(hand, position.run_13_1, distance, useful, unseen)
        if distance > 1:
            row[_NEXT_USEFUL + min(distance, 4) - 2] = np.float32(after_draw.next_useful) / np.float32(16)
        if distance < 3:
            row[_OPENED_UP + distance - 1] = np.float32(after_draw.opened_up) / np.float32(2 * max(hidden, 1))


@kernel
def _fill_tile(position: Position, kind: int, held: int, row: Floats) -> None:
    """The tile thrown or taken: which related faces are held, unseen, and with the right-hand neighbour.

    Args:
        position: what the mover sees.
        kind: of the tile.
        held: the faces of the own hand without it.
        row: features of the candidate, to fill.
    """
    if kind == WILD:
        row[_TILE_WILD] = 1
        return
    bit = as_int(BIT_OF_KIND[kind])
    related = related_faces(bit, _1_FOLLOWS_13)
    unseen = unseen_tiles(position)
    row[_TILE_HELD] = (held & related[ITSELF]) != 0
    row[_TILE_UNSEEN] = np.float32(tiles_of(related[ITSELF], unseen)) / np.float32(2)
    row[_UNSEEN_ONE_AWAY] = np.float32(tiles_of(related[ONE_AWAY], unseen)) / np.float32(4)
    row[_UNSEEN_TWO_AWAY] = np.float32(tiles_of(related[TWO_AWAY], unseen)) / np.float32(4)
    row[_UNSEEN_SAME_NUMBER] = np.float32(tiles_of(related[SAME_NUMBER], unseen)) / np.float32(6)
    row[_HELD_ONE_AWAY] = np.float32(popcount(held & related[ONE_AWAY])) / np.float32(2)
    row[_HELD_TWO_AWAY] = np.float32(popcount(held & related[TWO_AWAY])) / np.float32(2)
    row[_HELD_SAME_NUMBER] = np.float32(popcount(held & related[SAME_NUMBER])) / np.float32(3)
    number = bit // 4
    row[_NUMBER_1] = number == 0
    row[_NUMBER_2_OR_13] = number == 1 or number == 12
    _fill_related(int(position.taken_right), related, row[_TAKEN_RIGHT : _TAKEN_RIGHT + NUM_RELATIONS])
    _fill_related(int(position.thrown_right), related, row[_THROWN_RIGHT : _THROWN_RIGHT + NUM_RELATIONS])
    _fill_related(int(position.refused), related, row[_REFUSED : _REFUSED + NUM_RELATIONS])
    thrown = int(position.thrown_opposite) | int(position.thrown_left)
    row[_THROWN_OTHERS] = (thrown & related[ITSELF]) != 0


@kernel
def _fill_related(kinds: int, related: tuple[int, int, int, int], out: Floats) -> None:
    """Fill `(4,)` with how many of a set of kinds are in each relation to the tile."""
    out[ITSELF] = (kinds & related[ITSELF]) != 0
    out[ONE_AWAY] = np.float32(popcount(kinds & related[ONE_AWAY])) / np.float32(2)
    out[TWO_AWAY] = np.float32(popcount(kinds & related[TWO_AWAY])) / np.float32(2)
    out[SAME_NUMBER] = np.float32(popcount(kinds & related[SAME_NUMBER])) / np.float32(3)
