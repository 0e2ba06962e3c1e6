"""`cover`: as many tiles in complete melds as possible, as the open programs for Okey play; a yardstick from outside.

It decides in this order:

1. It shows the indicator's twin as soon as it may, and finishes as soon as it can, for the most points.
2. With 14 tiles it takes the tile on offer if more tiles are then in complete melds (or in pairs), and draws if not.
3. With 15 tiles it throws the tile that leaves most tiles in complete melds. Between such throws three things decide:
   how many more tiles the next draw is expected to bring into melds, the chance that this draw finishes, and how near
   the thrown tile is to what the right-hand neighbour has taken.

Two tiles of a meld count for nothing until the third is there. That is the difference to `greedy` and `efficient`.
"""

import numpy as np
import numpy.typing as npt

from okey_agents.bots.compiled import CompiledBot
from okey_agents.thinking.neighbours import near_tiles, numbers_in, same_number
from okey_agents.thinking.position import Position, own_hand, position_of
from okey_agents.thinking.rating import Ratings, best_of, rate_finishes, unseen_of
from okey_env.actions import DRAW, NUM_ACTIONS, SHOW, TAKE, THROW
from okey_env.engine._jit import kernel
from okey_env.engine.hand import (
    KIND_OF_BIT,
    WILD_BIT,
    Hand,
    finishing_melds,
    finishing_pairs,
    lowest_bit,
    popcount,
    with_tile,
    without_tile,
)
from okey_env.engine.hand.analysis import beside
from okey_env.engine.hand.bits import FACES, TWO, WORD, ZERO, as_int, fold, with_top
from okey_env.engine.hand.parts import EXTRA, HELD, NUM_PATTERNS, bits_of_pattern, patterns_held, tiles_of_part
from okey_env.engine.hand.search import without
from okey_env.engine.state import PHASE_DRAW
from okey_env.tiles import WILD

FINISHING = 10.0
"""The rating of the chance to finish with the next draw, in tiles of cover."""
PAIRS_FROM = 5
"""Seven pairs are considered from this number of pairs on, wild tiles included."""
DANGER = 0.2
"""The cost of each face near the thrown tile that the right-hand neighbour has taken, in tiles of cover."""
BEST_COVER = 100.0
"""The rating of a tile that is in a meld now; all that the next draw may bring is less."""
SHOWN = 10_000.0
"""The rating of showing the indicator's twin."""
MAX_MELDS = 5
"""Complete melds in 14 tiles, and one part more that wild tiles complete."""

WILDS_TO_COMPLETE = 3 + EXTRA - HELD[:NUM_PATTERNS]
"""By pattern of a part: the wild tiles that make it a complete meld."""
COMPLETED = np.array([sum(1 << p for p in range(NUM_PATTERNS) if WILDS_TO_COMPLETE[p] <= wilds) for wilds in range(3)])
"""By the wild tiles that are left: the mask of the patterns that they can complete."""


@kernel
def tiles_in_melds(hand: Hand, run_13_1: bool, least: int) -> int:
    """The most natural tiles of a hand that can be in complete melds, which wild tiles may fill.

    The search chooses up to five parts, those with most tiles first, on a stack with one level for each part.

    Args:
        hand: the hand.
        run_13_1: whether a 1 may follow a 13 (R4.1).
        least: smaller results are not looked for.

    Returns:
        The number of tiles, or `least` if that is more.
    """
    best = least
    onces = np.empty(MAX_MELDS + 1, np.int64)
    twices = np.empty(MAX_MELDS + 1, np.int64)
    masks = np.empty(MAX_MELDS + 1, np.int64)
    chosen = np.empty(MAX_MELDS + 1, np.int64)
    bits = np.empty(MAX_MELDS + 1, np.int64)
    patterns = np.empty(MAX_MELDS + 1, np.int64)
    values = np.empty(MAX_MELDS + 1, np.int64)
    lefts = np.empty(MAX_MELDS + 1, np.int64)
    onces[0], twices[0] = with_top(hand.once, run_13_1), with_top(hand.twice, run_13_1)
    values[0], lefts[0], bits[0] = 0, min(hand.wilds, 2), 0
    masks[0] = patterns_held(onces[0]) & COMPLETED[lefts[0]]
    if lefts[0] == 2:
        best = max(best, 1)  # two wild tiles make a meld with any tile
    level = 0
    while level >= 0:
        if bits[level] == 0:  # the next pattern
            mask = masks[level]
            if mask == 0 or level == MAX_MELDS:
                level -= 1
                continue
            pattern = lowest_bit(mask)
            if values[level] + (MAX_MELDS - level) * HELD[pattern] <= best:
                level -= 1
                continue
            masks[level] = mask & (mask - 1)
            found = bits_of_pattern(onces[level], pattern)
            if level > 0 and pattern == patterns[level - 1]:
                found &= -1 << chosen[level - 1]  # so that each set of parts is met in one order only
            bits[level] = found
            patterns[level] = pattern
            continue
        pattern = patterns[level]
        bit = lowest_bit(bits[level])
        bits[level] &= bits[level] - 1
        chosen[level] = bit
        level += 1
        onces[level], twices[level] = without(onces[level - 1], twices[level - 1], tiles_of_part(pattern, bit))
        values[level] = values[level - 1] + HELD[pattern]
        lefts[level] = lefts[level - 1] - WILDS_TO_COMPLETE[pattern]
        masks[level] = patterns_held(onces[level]) & COMPLETED[lefts[level]] & -1 << pattern
        bits[level] = 0
        best = max(best, values[level] + (1 if lefts[level] == 2 and onces[level] & FACES else 0))
    return best


@kernel
def tiles_in_pairs(hand: Hand) -> int:
    """The natural tiles that are in pairs, wild tiles pairing singles; 0 with fewer than `PAIRS_FROM` pairs."""
    pairs = popcount(as_int(hand.twice) & FACES)
    singles = min(hand.wilds, popcount(as_int(hand.once) & FACES) - pairs)
    return 2 * pairs + singles if pairs + singles >= PAIRS_FROM else 0


@kernel
def rate_throw(position: Position, hand: Hand, in_melds: int, bringing: int) -> float:
    """The rating of a throw, without its danger.

    Args:
        position: what the mover sees.
        hand: the 14 tiles that the throw leaves.
        in_melds: how many of them are in complete melds.
        bringing: the kinds that may bring more tiles into melds, as a word.
    """
    in_pairs = tiles_in_pairs(hand)
    unseen = max(1, unseen_of(position, FACES | 1 << WILD_BIT))
    gained, finishing = 0.0, 0.0
    if in_pairs > in_melds:
        singles = as_int(hand.once) & FACES & ~as_int(hand.twice)
        gained = unseen_of(position, singles) * 2.0
        if in_pairs + hand.wilds >= 13:
            finishing = float(unseen_of(position, singles | 1 << WILD_BIT))
        return BEST_COVER * in_pairs + (gained + FINISHING * finishing) / unseen
    kinds = bringing & position.unseen
    while kinds:
        bit = lowest_bit(kinds)
        kinds &= kinds - 1
        copies = 1 + (position.unseen_twice >> bit & 1)
        more = with_tile(hand, as_int(KIND_OF_BIT[bit]))
        covered = tiles_in_melds(more, position.run_13_1, in_melds)
        gained += copies * (covered - in_melds)
        if covered + more.wilds >= 14:
            finishing += copies
    return BEST_COVER * in_melds + (gained + FINISHING * finishing) / unseen


@kernel
def kinds_that_bring(position: Position, hand: Hand, in_melds: int) -> int:
    """The unseen kinds with which more than `in_melds` tiles of a hand are in complete melds, and the wild kind."""
    held = with_top(hand.once, position.run_13_1)
    candidates = ~as_int(hand.twice) & FACES & position.unseen
    if hand.wilds < 2:
        candidates &= fold(beside(held, TWO) & WORD) | numbers_in(held) * 15
    found = 1 << WILD_BIT
    while candidates:
        bit = lowest_bit(candidates)
        candidates &= candidates - 1
        if tiles_in_melds(with_tile(hand, as_int(KIND_OF_BIT[bit])), position.run_13_1, in_melds) > in_melds:
            found |= 1 << bit
    return found


@kernel
def rate_position(position: Position, ratings: Ratings) -> None:
    """Fill `(109,)` float32 with the rating of each legal action, -inf for the others."""
    ratings[:] = -np.inf
    if position.can_show:
        ratings[SHOW] = SHOWN
        return
    if position.phase == PHASE_DRAW:
        ratings[DRAW if position.can_draw else TAKE] = 0.0
        if position.can_draw and position.can_take and offer_helps(position):
            ratings[TAKE] = 1.0
        return
    if position.finish_melds | position.finish_pairs:
        rate_finishes(position, position.finish_melds, position.finish_pairs, ratings)
        return
    hand, run_13_1 = own_hand(position), position.run_13_1
    in_melds = tiles_in_melds(hand, run_13_1, ZERO)
    in_pairs = tiles_in_pairs(hand)
    bringing = kinds_that_bring(position, hand, in_melds)
    tiles = as_int(hand.once) & FACES
    while tiles:
        bit = lowest_bit(tiles)
        tiles &= tiles - 1
        kind = as_int(KIND_OF_BIT[bit])
        rest = without_tile(hand, kind)
        left = tiles_in_melds(rest, run_13_1, ZERO)
        rating = BEST_COVER * max(left, tiles_in_pairs(rest))
        if left == in_melds or in_pairs > 0:
            rating = rate_throw(position, rest, left, bringing)
        taken = np.uint64(position.taken_right)
        near = near_tiles(taken, bit, 1, run_13_1) + near_tiles(taken, bit, 2, run_13_1)
        rating -= DANGER * (near + popcount(position.taken_right & same_number(bit)))
        ratings[THROW + kind] = rating
    if hand.wilds > 0:
        ratings[THROW + WILD] = 0.0


@kernel
def offer_helps(position: Position) -> bool:
    """Whether the tile on offer finishes, or more tiles are in melds or in pairs with it."""
    if position.offer == WILD:
        return True
    hand, run_13_1 = own_hand(position), position.run_13_1
    more = with_tile(hand, position.offer)
    by_melds = finishing_melds(more.once, more.twice, more.wilds, run_13_1)
    if by_melds | finishing_pairs(more.once, more.twice, more.wilds):
        return True
    in_melds, in_pairs = tiles_in_melds(hand, run_13_1, ZERO), tiles_in_pairs(hand)
    if in_pairs > in_melds:
        return bool(tiles_in_pairs(more) > in_pairs)
    return bool(tiles_in_melds(more, run_13_1, in_melds) > in_melds)


@kernel
def choose(seen: np.record, seed: np.uint64) -> int:
    """The action with the highest rating for an OBSERVATION with the observer to move, one of equals at random."""
    position = position_of(seen)
    ratings = np.empty(NUM_ACTIONS, np.float32)
    rate_position(position, ratings)
    return best_of(ratings, position, seed)


@kernel
def choose_batch(records: npt.NDArray[np.record], seed: np.uint64, actions: npt.NDArray[np.int64]) -> None:
    """The actions for `(N,)` records."""
    for i in range(len(records)):
        actions[i] = choose(records[i], seed)


class CoverBot(CompiledBot):
    """A rule: the most tiles in complete melds, as open Okey programs play; close to `efficient`; any rules."""

    name = "cover"
    choose_batch = staticmethod(choose_batch)
