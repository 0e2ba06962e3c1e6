"""What the candidate scorer sees: numbers of the table, and numbers of each candidate's own consequences.

A *candidate* is a legal action that the rule (`expert`) rates within `margin` of its best. Outside the margin lie
moves that cost a step of distance or many useful tiles; nothing is learned about them, and they are never played.
So most decisions have few candidates, and a third has only one, which needs no network.

Nothing here knows a colour or a number but by its neighbours, so the features are the same under all 48 symmetries
of the tiles, and no training sample needs to be turned.

Letters: `C` candidates, `F` features of a candidate, `T` features of the table, `A` = 109 actions.
"""

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.draws import count_after_draw
from okey_agents.thinking.hidden_tiles import COMES, FINISHES, IN_STOCK, NEEDED, NUM_CHANCES, predict
from okey_agents.thinking.hidden_tiles import WEIGHTS as HIDDEN_TILES
from okey_agents.thinking.position import Position
from okey_env.actions import DRAW, FINISH, NUM_ACTIONS, SHOW, TAKE, THROW
from okey_env.engine._jit import kernel
from okey_env.engine.hand import (
    BIT_OF_KIND,
    KIND_OF_BIT,
    WILD_BIT,
    analyse,
    kind_set,
    lowest_bit,
    pairs_distance,
    popcount,
)
from okey_env.engine.hand.bits import FACES, as_int
from okey_env.engine.scoring import best_finish_points, counts_as_okey
from okey_env.engine.state import NO_TILE, PHASE_THROW
from okey_env.tiles import NUM_FACES, NUM_KINDS, WILD

Floats = npt.NDArray[np.float32]

FEATURES_VERSION = 4
"""Changes whenever a feature changes its place or its meaning."""
MAX_CANDIDATES = 6
"""More are cut off, those rated lowest first."""
NUM_DISTANCES = 6
"""Distances told apart: 0 to 4, and 5 for 5 or more."""
NUM_FEATURES = 73
NUM_TABLE = 34

_NONE = np.uint64(0)


def _near(steps: int) -> npt.NDArray[np.int64]:
    """By bit: the faces so many numbers away in the same colour; a 1 follows a 13, nothing follows that 1 (R4.1)."""
    table = np.zeros(NUM_KINDS, np.int64)
    for bit in range(52):
        number, colour = bit // 4 + 1, bit % 4
        for other in range(1, 14):
            places = [other, 14] if other == 1 else [other]
            own = [number, 14] if number == 1 else [number]
            if any(abs(one - two) == steps for one in own for two in places):
                table[bit] |= 1 << 4 * (other - 1) + colour
    return table


NEAR_1 = _near(1)
NEAR_2 = _near(2)
SAME_NUMBER = np.array([(15 << (bit & ~3)) & ~(1 << bit) if bit < 52 else 0 for bit in range(NUM_KINDS)], np.int64)
"""By bit: the faces of the same number in the other colours."""


@kernel
def tiles_of(kinds: int, once: int, twice: int) -> int:
    """How many tiles of a set of kinds there are in two words."""
    return popcount(kinds & once) + popcount(kinds & twice)


@kernel
def shift_up(word: int) -> int:
    """The faces one number above those of `word`; after 13 comes 1."""
    return (word << 4 | word >> 48) & FACES


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
        place = count
        while place > 0 and ratings[actions[place - 1]] < rating:
            actions[place] = actions[place - 1]
            place -= 1
        actions[place] = action
        count += 1
    return count


@kernel
def fill_features(
    position: Position,
    ratings: Floats,
    actions: npt.NDArray[np.int64],
    count: int,
    after: npt.NDArray[np.uint64],
    table: Floats,
    features: Floats,
) -> None:
    """Fill the features of a decision.

    Args:
        position: what the mover sees.
        ratings: `(A,)` of the rule.
        actions: `(C,)` candidates, the best rated first.
        count: how many of them.
        after: `(53,)` to work in.
        table: `(T,)` to fill.
        features: `(C, F)` to fill.
    """
    helps = np.zeros(MAX_CANDIDATES, np.int64)  # what is useful after each candidate
    once, twice, wilds = as_int(position.once), as_int(position.twice), int(position.wilds)
    unseen, unseen_twice = int(position.unseen), int(position.unseen_twice)
    distance, keep, useful = analyse(position.once, position.twice, wilds, position.run_13_1, after)
    hidden = popcount(unseen) + popcount(unseen_twice)
    throwing = position.phase == PHASE_THROW
    most = 0 if throwing else tiles_of(as_int(useful), unseen, unseen_twice)
    joker = as_int(kind_set(position.okey)) if position.rules.false_joker_as_okey else 0
    aside = np.zeros(NUM_KINDS, np.uint64)
    if throwing and distance > 0 and as_int(keep) & joker:  # a false joker can be kept to finish on, which is dear
        tile = np.uint64(joker)
        analyse(position.once & ~(tile & ~position.twice), position.twice & ~tile, wilds, position.run_13_1, aside)
    for place in range(count):
        action = actions[place]
        row = features[place]
        row[:] = np.float32(0)
        row[49] = (ratings[action] - ratings[actions[0]]) / np.float32(12)
        row[50] = place == 0
        row[51] = np.float32(1) if ratings[action] > ratings[actions[0]] - np.float32(0.5) else np.float32(0)
        if action == DRAW:
            row[0] = 1
            helps[place] = as_int(useful)
            _fill_hand(once, twice, wilds, distance, helps[place], unseen, unseen_twice, hidden, position, row)
        elif action == TAKE:
            row[1] = 1
            helps[place] = _fill_take(position, hidden, row)
        elif action == SHOW:
            row[4] = 1
        elif action < FINISH:
            row[2] = 1
            kind = action - THROW
            rest_once, rest_twice, rest_wilds = once, twice, wilds
            if kind == WILD:
                rest_wilds -= 1
            else:
                bit = as_int(kind_set(kind))
                if twice & bit:
                    rest_twice ^= bit
                else:
                    rest_once ^= bit
            kept = (as_int(keep) >> as_int(BIT_OF_KIND[kind])) & 1
            left = distance if kept else distance + 1
            helps[place] = as_int(after[kind])
            most = max(most, tiles_of(helps[place], unseen, unseen_twice))
            _fill_hand(
                rest_once, rest_twice, rest_wilds, left, helps[place], unseen, unseen_twice, hidden, position, row
            )
            _fill_tile(position, kind, rest_once, rest_twice, row)
            if distance > 0:
                spare = tiles_of(as_int(aside[kind]), unseen, unseen_twice)
                row[65 if distance == 1 else 66] = np.float32(spare) / np.float32(16)
            row[67] = (rest_once & joker) != 0
        else:
            row[3] = 1
            kind = action - FINISH
            row[23] = np.float32(
                best_finish_points(position, kind, position.finish_melds, position.finish_pairs)
            ) / np.float32(8)
            row[24] = counts_as_okey(position, kind)
    _fill_predicted(position, actions, count, helps, features)
    _fill_table(position, distance, popcount(as_int(keep)), as_int(useful), most, hidden, count, table)


@kernel
def _fill_predicted(
    position: Position, actions: npt.NDArray[np.int64], count: int, helps: npt.NDArray[np.int64], features: Floats
) -> None:
    """What the hidden tiles are likely to be: who needs the tile thrown, and where the useful ones are."""
    chances = np.empty((NUM_FACES, NUM_CHANCES), np.float32)
    unseen, unseen_twice = int(position.unseen), int(position.unseen_twice)
    faces = 0
    for place in range(count):
        faces |= helps[place] & unseen
        action = actions[place]
        if action >= THROW and action < THROW + WILD:
            faces |= 1 << as_int(BIT_OF_KIND[action - THROW])
    if faces & FACES == 0:
        return
    predict(position, faces, HIDDEN_TILES, chances)
    for place in range(count):
        action, row = actions[place], features[place]
        if action >= THROW and action < THROW + WILD:
            bit = as_int(BIT_OF_KIND[action - THROW])
            row[68] = np.float32(2) * chances[bit, NEEDED]
            row[69] = np.float32(8) * chances[bit, FINISHES]
        drawn, thrown = np.float32(0), np.float32(0)
        left = helps[place] & unseen & FACES
        while left:
            bit = lowest_bit(left)
            left &= left - 1
            drawn += chances[bit, IN_STOCK] * np.float32(1 + (unseen_twice >> bit & 1))
            thrown += chances[bit, COMES]
        row[70] = drawn / np.float32(8)
        row[71] = np.float32(4) * drawn / np.float32(max(1, int(position.stock_left)))
        row[72] = np.float32(2) * thrown


@kernel
def _fill_take(position: Position, hidden: int, row: Floats) -> int:
    """The features of taking the offer: the hand after the best throw that follows, and the tile taken.

    Returns:
        What is useful then.
    """
    once, twice, wilds = as_int(position.once), as_int(position.twice), int(position.wilds)
    unseen, unseen_twice = int(position.unseen), int(position.unseen_twice)
    kind = int(position.offer)
    _fill_tile(position, kind, once, twice, row)
    if kind == WILD:
        wilds += 1
    else:
        bit = as_int(kind_set(kind))
        twice |= once & bit
        once |= bit
    after = np.empty(NUM_KINDS, np.uint64)
    distance, keep, _ = analyse(np.uint64(once), np.uint64(twice), wilds, position.run_13_1, after)
    best, thrown, most = 0, 0, -1
    kinds = as_int(keep)
    while kinds:
        tile = kinds & -kinds
        kinds ^= tile
        helps = as_int(after[KIND_OF_BIT[lowest_bit(tile)]])
        total = tiles_of(helps, unseen, unseen_twice)
        if total > most:
            best, thrown, most = helps, tile, total
    if thrown == 1 << WILD_BIT:
        wilds -= 1
    else:
        once, twice = once & ~(thrown & ~twice), twice & ~thrown
    _fill_hand(once, twice, wilds, distance, best, unseen, unseen_twice, hidden, position, row)
    return int(best)


@kernel
def _fill_hand(
    once: int,
    twice: int,
    wilds: int,
    distance: int,
    useful: int,
    unseen: int,
    unseen_twice: int,
    hidden: int,
    position: Position,
    row: Floats,
) -> None:
    """What the hand after the move is worth: distance, useful tiles, pairs, shape."""
    place = min(distance, NUM_DISTANCES - 1)
    count = np.float32(tiles_of(useful, unseen, unseen_twice))
    row[5 + place] = 1
    row[11 + place] = count / np.float32(16)
    if distance == 1:
        row[17] = np.float32(4) * count / np.float32(max(hidden, 1))
    row[18] = np.float32(popcount(useful)) / np.float32(12)
    pairs = pairs_distance(np.uint64(once), np.uint64(twice), wilds)
    if pairs >= 1 and pairs <= 3:
        row[18 + pairs] = 1
    row[22] = np.float32(min(pairs, 7)) / np.float32(7)
    row[52] = np.float32(popcount(useful & int(position.thrown_left))) / np.float32(4)
    row[53] = np.float32(popcount(useful & unseen_twice)) / np.float32(8)
    thrown = int(position.thrown_right) | int(position.thrown_opposite) | int(position.thrown_left)
    row[54] = np.float32(popcount(useful & thrown)) / np.float32(6)
    one_up = shift_up(once)
    row[55] = np.float32(popcount(once & one_up)) / np.float32(8)
    numbers = (once | once >> 1 | once >> 2 | once >> 3) & 0x1111111111111
    row[56] = np.float32(popcount(once) - popcount(numbers)) / np.float32(8)
    row[57] = np.float32(popcount(once & shift_up(one_up))) / np.float32(8)
    if wilds > 0:
        row[57 + wilds] = 1
    if distance > 0:
        after_draw = count_after_draw(
            np.uint64(once), np.uint64(twice), wilds, position.run_13_1, distance, useful, unseen, unseen_twice
        )
        if distance > 1:
            row[58 + min(distance, 4)] = np.float32(after_draw.next_useful) / np.float32(16)
        if distance < 3:
            row[62 + distance] = np.float32(after_draw.opened_up) / np.float32(2 * max(hidden, 1))


@kernel
def _fill_tile(position: Position, kind: int, once: int, twice: int, row: Floats) -> None:
    """The tile thrown or taken: what lies around it in the own hand, among the unseen, and with the neighbour."""
    if kind == WILD:
        row[25] = 1
        return
    place = as_int(BIT_OF_KIND[kind])
    bit = 1 << place
    near_1, near_2, same = int(NEAR_1[place]), int(NEAR_2[place]), int(SAME_NUMBER[place])
    unseen, unseen_twice = int(position.unseen), int(position.unseen_twice)
    row[26] = (once & bit) != 0
    row[27] = np.float32(tiles_of(bit, unseen, unseen_twice)) / np.float32(2)
    row[28] = np.float32(tiles_of(near_1, unseen, unseen_twice)) / np.float32(4)
    row[29] = np.float32(tiles_of(near_2, unseen, unseen_twice)) / np.float32(4)
    row[30] = np.float32(tiles_of(same, unseen, unseen_twice)) / np.float32(6)
    row[31] = np.float32(popcount(near_1 & once)) / np.float32(2)
    row[32] = np.float32(popcount(near_2 & once)) / np.float32(2)
    row[33] = np.float32(popcount(same & once)) / np.float32(3)
    number = place // 4
    row[34] = number == 0  # the 1 is the fixed point of the reflection of numbers, 2 and 13 are its neighbours
    row[35] = number == 1 or number == 12
    _fill_around(int(position.taken_right), bit, near_1, near_2, same, row[36:40])
    _fill_around(int(position.thrown_right), bit, near_1, near_2, same, row[40:44])
    _fill_around(int(position.refused), bit, near_1, near_2, same, row[44:48])
    row[48] = ((int(position.thrown_opposite) | int(position.thrown_left)) & bit) != 0


@kernel
def _fill_around(kinds: int, bit: int, near_1: int, near_2: int, same: int, out: Floats) -> None:
    """Fill `(4,)` with how much of a set is the tile, one or two numbers from it, or of its number."""
    out[0] = (kinds & bit) != 0
    out[1] = np.float32(popcount(kinds & near_1)) / np.float32(2)
    out[2] = np.float32(popcount(kinds & near_2)) / np.float32(2)
    out[3] = np.float32(popcount(kinds & same)) / np.float32(3)


@kernel
def _fill_table(
    position: Position, distance: int, spare: int, useful: int, most: int, hidden: int, count: int, table: Floats
) -> None:
    """The numbers that all candidates share."""
    table[:] = np.float32(0)
    left = np.float32(position.stock_left)
    table[0] = position.phase == PHASE_THROW
    table[1] = left / np.float32(48)
    table[2] = np.float32(4) / (np.float32(4) + left)
    table[3] = np.float32(position.throws) / np.float32(40)
    if position.wilds > 0:
        table[3 + int(position.wilds)] = 1
    table[6] = (int(position.unseen) >> WILD) & 1
    table[7] = (int(position.unseen_twice) >> WILD) & 1
    table[8 + min(distance, NUM_DISTANCES - 1)] = 1
    pairs = pairs_distance(position.once, position.twice, int(position.wilds))
    if pairs <= 3:
        table[13 + max(pairs, 1)] = 1
    table[17] = np.float32(most) / np.float32(16)
    table[18] = np.float32(spare) / np.float32(12)
    takes_right = popcount(int(position.taken_right))
    takes_opposite = popcount(int(position.taken_opposite))
    takes_left = popcount(int(position.taken_left))
    table[19] = np.float32(takes_right) / np.float32(4)
    table[20] = np.float32(takes_opposite) / np.float32(4)
    table[21] = np.float32(takes_left) / np.float32(4)
    table[22] = takes_right >= 2
    table[23] = takes_opposite >= 2
    table[24] = takes_left >= 2
    table[25] = position.can_take
    if position.can_take and position.offer != NO_TILE:
        table[26] = (useful & as_int(kind_set(position.offer))) != 0
        table[28] = position.offer == WILD
    table[27] = position.can_show
    table[29] = np.float32(count) / np.float32(MAX_CANDIDATES)
    table[30] = position.rules.false_joker_as_okey
    table[31] = position.rules.combine_product
    table[32] = np.float32(hidden) / np.float32(91)
    table[33] = position.throws < 4
