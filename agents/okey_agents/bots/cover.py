"""`cover`: the most tiles in complete melds, as the open programs for Okey play it today; a yardstick from outside.

In the order in which it looks:

1. The indicator's twin is shown as soon as it may be; a hand that can finish is finished at once, for most points.
2. With 14 tiles it takes the throw on offer if more tiles then lie in complete melds (or in pairs), and draws if not.
3. With 15 tiles it throws the tile after which most lie in complete melds; among those, what counts is how many more
   the next draw is expected to bring there, the chance that it finishes, and how near the tile is to what the
   right-hand neighbour has taken.

Two tiles of a meld count nothing until the third is there: that is what sets it apart from `greedy` and `efficient`.
"""

import numpy as np
import numpy.typing as npt

from okey_agents.bots.compiled import CompiledBot
from okey_agents.thinking.position import Position, position_of
from okey_agents.thinking.rating import Ratings, best_of, near_tiles, rate_finishes, same_number, unseen_of
from okey_env.actions import DRAW, NUM_ACTIONS, SHOW, TAKE, THROW
from okey_env.engine._jit import kernel
from okey_env.engine.hand import KIND_OF_BIT, WILD_BIT, finishing_melds, finishing_pairs, kind_set, lowest_bit, popcount
from okey_env.engine.hand.bits import FACES, WORD, as_int, fold, with_top
from okey_env.engine.hand.parts import EXTRA, HELD, NUM_PATTERNS, bits_of_pattern, patterns_held, tiles_of_part
from okey_env.engine.hand.search import without
from okey_env.engine.state import PHASE_DRAW
from okey_env.tiles import WILD

FINISHING = 10.0
"""The chance to finish with the next draw, in tiles of cover."""
PAIRS_FROM = 5
"""So many pairs, wild tiles included, before seven pairs are thought of."""
DANGER = 0.2
"""A face near the thrown tile that the right-hand neighbour has taken, in tiles of cover."""
BEST_COVER = 100.0
"""A tile of cover now, beside everything that may come."""
SHOWN, MOST_MELDS = 10_000.0, 5

WILDS_TO_COMPLETE = 3 + EXTRA - HELD[:NUM_PATTERNS]
"""By pattern of a part: the wild tiles that make it a complete meld."""
COMPLETED = np.array([sum(1 << p for p in range(NUM_PATTERNS) if WILDS_TO_COMPLETE[p] <= wilds) for wilds in range(3)])
"""By the wild tiles that are left: the mask of the patterns that they can complete."""


@kernel
def tiles_in_melds(once: np.uint64, twice: np.uint64, wilds: int, run_13_1: bool, best: int) -> int:
    """The most natural tiles that lie in complete melds, wild tiles filling in; `best` if it is not more than that.

    Parts are chosen those with most tiles first, at most five of them, on a stack of one level for each.
    """
    onces = np.empty(MOST_MELDS + 1, np.int64)
    twices = np.empty(MOST_MELDS + 1, np.int64)
    masks = np.empty(MOST_MELDS + 1, np.int64)
    chosen = np.empty(MOST_MELDS + 1, np.int64)
    bits = np.empty(MOST_MELDS + 1, np.int64)
    patterns = np.empty(MOST_MELDS + 1, np.int64)
    values = np.empty(MOST_MELDS + 1, np.int64)
    lefts = np.empty(MOST_MELDS + 1, np.int64)
    onces[0], twices[0] = with_top(once, run_13_1), with_top(twice, run_13_1)
    values[0], lefts[0], bits[0] = 0, min(wilds, 2), 0
    masks[0] = patterns_held(onces[0]) & COMPLETED[lefts[0]]
    if lefts[0] == 2:
        best = max(best, 1)  # any tile and two wild ones
    level = 0
    while level >= 0:
        if bits[level] == 0:  # the next pattern
            mask = masks[level]
            if mask == 0 or level == MOST_MELDS:
                level -= 1
                continue
            pattern = lowest_bit(mask)
            if values[level] + (MOST_MELDS - level) * HELD[pattern] <= best:
                level -= 1
                continue
            masks[level] = mask & (mask - 1)
            found = bits_of_pattern(onces[level], pattern)
            if level > 0 and pattern == patterns[level - 1]:
                found &= -1 << chosen[level - 1]  # each set of parts in one order
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
def tiles_in_pairs(once: np.uint64, twice: np.uint64, wilds: int) -> int:
    """The natural tiles that lie in pairs, wild tiles pairing singles; 0 while there are few."""
    pairs = popcount(as_int(twice) & FACES)
    singles = min(wilds, popcount(as_int(once) & FACES) - pairs)
    return 2 * pairs + singles if pairs + singles >= PAIRS_FROM else 0


@kernel
def rate_throw(position: Position, once: np.uint64, twice: np.uint64, wilds: int, in_melds: int, after: int) -> float:
    """What 14 tiles are worth that have `in_melds` tiles in melds, and that tiles of `after` may bring more."""
    in_pairs = tiles_in_pairs(once, twice, wilds)
    unseen = max(1, unseen_of(position, FACES | 1 << WILD_BIT))
    gained, finishing = 0.0, 0.0
    if in_pairs > in_melds:
        singles = as_int(once) & FACES & ~as_int(twice)
        gained = unseen_of(position, singles) * 2.0
        if in_pairs + wilds >= 13:
            finishing = float(unseen_of(position, singles | 1 << WILD_BIT))
        return BEST_COVER * in_pairs + (gained + FINISHING * finishing) / unseen
    kinds = after & position.unseen
    while kinds:
        bit = lowest_bit(kinds)
        kinds &= kinds - 1
        copies = 1 + (position.unseen_twice >> bit & 1)
        more_wilds, tile = wilds, np.uint64(0)
        if bit == WILD_BIT:
            more_wilds += 1
        else:
            tile = np.uint64(1 << bit)
        covered = tiles_in_melds(once | tile, twice | once & tile, more_wilds, position.run_13_1, in_melds)
        gained += copies * (covered - in_melds)
        if covered + more_wilds >= 14:
            finishing += copies
    return BEST_COVER * in_melds + (gained + FINISHING * finishing) / unseen


@kernel
def kinds_that_bring(position: Position, once: np.uint64, twice: np.uint64, wilds: int, in_melds: int) -> int:
    """The kinds with which more tiles of the hand lie in complete melds, as a word."""
    held = with_top(once, position.run_13_1)
    near = (held << 4 | held >> 4 | held << 8 | held >> 8) & WORD
    numbers = held | held >> 1
    numbers = (numbers | numbers >> 2) & 0x1111111111111
    candidates = (fold(near) | numbers * 15) & ~as_int(twice) & FACES if wilds < 2 else ~as_int(twice) & FACES
    candidates &= position.unseen
    found = 1 << WILD_BIT
    while candidates:
        tile = candidates & -candidates
        candidates ^= tile
        word = np.uint64(tile)
        if tiles_in_melds(once | word, twice | once & word, wilds, position.run_13_1, in_melds) > in_melds:
            found |= tile
    return found


@kernel
def rate_position(position: Position, ratings: Ratings) -> None:
    """Fill `(109,)` float32 with the rating of each legal action, -inf for the others."""
    ratings[:] = -np.inf
    if position.can_show:
        ratings[SHOW] = SHOWN
        return
    once, twice, wilds, run_13_1 = position.once, position.twice, position.wilds, position.run_13_1
    if position.phase == PHASE_DRAW:
        ratings[DRAW if position.can_draw else TAKE] = 0.0
        if position.can_draw and position.can_take and grows(position):
            ratings[TAKE] = 1.0
        return
    if position.finish_melds | position.finish_pairs:
        rate_finishes(position, position.finish_melds, position.finish_pairs, ratings)
        return
    in_melds = tiles_in_melds(once, twice, wilds, run_13_1, 0)
    in_pairs = tiles_in_pairs(once, twice, wilds)
    after = kinds_that_bring(position, once, twice, wilds, in_melds)
    tiles = as_int(once) & FACES
    while tiles:
        bit = lowest_bit(tiles)
        tiles &= tiles - 1
        tile = np.uint64(1 << bit)
        once_left, twice_left = once & ~(tile & ~twice), twice & ~tile
        left = tiles_in_melds(once_left, twice_left, wilds, run_13_1, 0)
        rating = BEST_COVER * max(left, tiles_in_pairs(once_left, twice_left, wilds))
        if left == in_melds or in_pairs > 0:
            rating = rate_throw(position, once_left, twice_left, wilds, left, after)
        taken = np.uint64(position.taken_right)
        near = near_tiles(taken, bit, 1, run_13_1) + near_tiles(taken, bit, 2, run_13_1)
        rating -= DANGER * (near + popcount(position.taken_right & same_number(bit)))
        ratings[THROW + as_int(KIND_OF_BIT[bit])] = rating
    if wilds > 0:
        ratings[THROW + WILD] = 0.0


@kernel
def grows(position: Position) -> bool:
    """Whether more tiles lie in melds or in pairs with the offered tile, or it finishes."""
    once, twice, wilds, run_13_1 = position.once, position.twice, position.wilds, position.run_13_1
    if position.offer == WILD:
        return True
    tile = kind_set(position.offer)
    more, more_twice = once | tile, twice | once & tile
    if finishing_melds(more, more_twice, wilds, run_13_1) | finishing_pairs(more, more_twice, wilds):
        return True
    in_melds, in_pairs = tiles_in_melds(once, twice, wilds, run_13_1, 0), tiles_in_pairs(once, twice, wilds)
    if in_pairs > in_melds:
        return bool(tiles_in_pairs(more, more_twice, wilds) > in_pairs)
    return bool(tiles_in_melds(more, more_twice, wilds, run_13_1, in_melds) > in_melds)


@kernel
def choose(seen: np.record, seed: np.uint64) -> int:
    """The action for an OBSERVATION with the observer to move."""
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
