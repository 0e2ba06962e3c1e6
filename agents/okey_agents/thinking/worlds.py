"""Worlds to think in: hidden tiles dealt again so that the others' racks are as good as real ones are by then.

Dealt evenly (`okey_env.engine.resample`), racks are like those at the start of a round, but real players have drawn
and thrown since. So each hidden rack of an evenly dealt world is played on for a while, alone and by rule: it draws one
of the hidden tiles of the stock, and throws one that leaves its distance as it is. Which one, is settled by the most
useful tiles left unseen, as the rungs do it, and by what the seat has been seen to do. A tile that it threw or left
lying was of little use to it: what lies near such a tile goes first, and a rack that such a tile would help is a poor
guess. A draw that would finish is left out, since its owner would have finished.

Like every world, such a one agrees exactly with what was seen. How often a rack draws, and the weights, were fitted to
games of `efficient` with `scripts/studies/worlds_calibration.py`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.position import set_of_counts, twice_of_counts
from okey_env.engine._jit import kernel
from okey_env.engine.hand import KIND_OF_BIT, analyse, kind_set, lowest_bit, popcount, with_tile, without_tile
from okey_env.engine.hand.bits import FACES, as_int, both_ends
from okey_env.engine.random import advance, below, derive_seed
from okey_env.engine.resample import NUM_STRETCHES, hidden_rack, hide, lay_out, throws_of
from okey_env.engine.state import PHASE_THROW
from okey_env.tiles import NUM_KINDS, NUM_SEATS, NUM_TILES

STEPS = 1.4
"""Draws of a hidden rack for each throw of its seat …"""
STEPS_LATER = 0.09
"""… and for each square of that number."""
NEAR_THROWN = 4.0
"""What a tile is worth less for each tile near it that its seat has thrown, in useful tiles."""
NEAR_REFUSED = 1.0
"""The same for tiles that its seat has left lying."""
HELPED = 5.0
"""What a rack is worth less for each of these tiles that would help it."""

_NONE = np.uint64(0)
_THOUSAND = 1000

Tiles = npt.NDArray[np.uint8]
Sets = npt.NDArray[np.uint64]


@kernel
def sample_world(seen: np.record, draw_queues: int, seed: np.uint64, game: np.record) -> bool:
    """Fill a GAME with a world of an OBSERVATION, the others' racks as far on as real ones.

    Arguments and result as those of `okey_env.engine.resample.resample`.
    """
    tiles = np.empty(NUM_TILES, np.uint8)
    sizes = np.empty(NUM_STRETCHES, np.int64)
    after = np.empty(NUM_KINDS, np.uint64)
    if not hide(seen, seed, tiles, sizes):
        return False
    if seen.stock_left > 0:
        advance_racks(seen, tiles, sizes, derive_seed(seed, np.uint64(2)), after)
    lay_out(seen, draw_queues, tiles, sizes, seed, game)
    return True


@kernel
def sample_worlds(
    records: npt.NDArray[np.record], i: int, draw_queues: int, seed: np.uint64, games: npt.NDArray[np.record]
) -> bool:
    """Fill `(N,)` games with worlds of record i; world w has the seed derived from (seed, w).

    Returns:
        As `sample_world`: False if there is no world.
    """
    for world in range(len(games)):
        if not sample_world(records[i], draw_queues, derive_seed(seed, np.uint64(world)), games[world]):
            return False
    return True


@kernel
def advance_racks(seen: np.record, tiles: Tiles, sizes: npt.NDArray[np.int64], state: np.uint64, after: Sets) -> None:
    """Let the hidden racks of a hidden order draw and throw, in any order of the seats; `after` is to work in."""
    hidden = hidden_kinds(seen)
    stock = int(sizes.sum())
    state = advance(state)
    begin = below(state, NUM_SEATS - 1)
    for turn in range(NUM_SEATS - 1):
        step = 1 + (begin + turn) % (NUM_SEATS - 1)
        first = 0
        for before in range(step - 1):
            first += sizes[before]
        stretch = Stretch(step=step, first=first, size=sizes[step - 1], stock=stock)
        state = advance_rack(seen, stretch, tiles, hidden, state, after)


class Hidden(NamedTuple):
    """The tiles that are hidden from somebody who has no rack, as sets of kinds."""

    once: int
    """One copy at least."""
    twice: int
    """Both copies."""


class Stretch(NamedTuple):
    """Where the hidden tiles of one rack lie in a hidden order."""

    step: int
    """The seat, counted from the observer."""
    first: int
    """The index of its first tile."""
    size: int
    """The number of its tiles."""
    stock: int
    """The index at which the stock begins."""


@kernel
def hidden_kinds(seen: np.record) -> Hidden:
    """The tiles that are hidden from somebody who has no rack."""
    once, twice = 0, 0
    for kind in range(NUM_KINDS):
        hidden = 1 if kind == seen.indicator else 2
        for seat in range(NUM_SEATS):
            hidden -= int(seen.heap[seat, kind]) + int(seen.known[seat, kind])
        bit = as_int(kind_set(kind))
        if hidden >= 1:
            once |= bit
        if hidden >= 2:
            twice |= bit
    return Hidden(once=once, twice=twice)


@kernel
def advance_rack(
    seen: np.record, stretch: Stretch, tiles: Tiles, hidden: Hidden, state: np.uint64, after: Sets
) -> np.uint64:
    """Let one rack of a hidden order draw from the stock and throw back to it.

    Args:
        seen: the OBSERVATION.
        stretch: whose rack, and where its hidden tiles lie.
        tiles: the hidden order. Tiles of the rack and of the stock are exchanged in it.
        hidden: the tiles that are hidden from somebody who has no rack.
        state: the state of a random stream.
        after: `(53,)`, overwritten.

    Returns:
        The state of the stream after it.
    """
    step, first, size, stock = stretch
    if seen.turn == step and seen.phase == PHASE_THROW:
        size -= 1  # what it has just drawn is any tile
    hand = hidden_rack(seen, step, tiles[first : first + size])
    pinned, pinned_twice = set_of_counts(seen.known[step]), twice_of_counts(seen.known[step])
    thrown = set_of_counts(seen.heap[step]) | as_int(seen.taken[(step + 1) % NUM_SEATS])
    refused = set_of_counts(seen.heap[step - 1])
    throws = throws_of(seen, step)
    run_13_1 = seen.rules.run_13_1 != 0
    state = advance(state)
    steps = int(throws * (STEPS + STEPS_LATER * throws) + below(state, _THOUSAND) / _THOUSAND)
    for _ in range(steps):
        state = advance(state)
        place = stock + below(state, int(seen.stock_left))
        drawn = int(tiles[place])
        more = with_tile(hand, drawn)
        distance, keep, _ = analyse(more.once, more.twice, more.wilds, run_13_1, after)
        if distance == 0:
            continue
        hidden_once = as_int(more.once) & ~(pinned & ~as_int(more.twice))
        choices = as_int(keep) & FACES & hidden_once & ~pinned_twice
        thrown_kind, best, equals = drawn, -np.inf, 0
        while choices:
            bit = lowest_bit(choices)
            choices &= choices - 1
            kind = as_int(KIND_OF_BIT[bit])
            useful = as_int(after[kind])
            near = surroundings(bit, run_13_1)
            rating = (
                0.0 + popcount(useful & hidden.once) + popcount(useful & hidden.twice) - popcount(useful & hidden_once)
            )
            rating += NEAR_THROWN * popcount(near & thrown) + NEAR_REFUSED * popcount(near & refused)
            rating -= HELPED * (popcount(useful & thrown) + popcount(useful & refused))
            if rating > best:
                thrown_kind, best, equals = kind, rating, 1
            elif rating == best:  # the n-th of equals takes the place of those before it with a chance of 1 in n
                equals += 1
                state = advance(state)
                if below(state, equals) == 0:
                    thrown_kind = kind
        if thrown_kind == drawn:
            continue
        held = first
        while tiles[held] != thrown_kind:
            held += 1
        tiles[held], tiles[place] = drawn, thrown_kind
        hand = without_tile(more, thrown_kind)
    return state


@kernel
def surroundings(bit: int, run_13_1: bool) -> int:
    """The places in runs up to two away from a tile, and its number in the other colours, as a word with its top."""
    tile = both_ends(1 << bit) if run_13_1 else 1 << bit
    return tile << 4 | tile >> 4 | tile << 8 | tile >> 8 | (15 << (bit & ~3) & ~(1 << bit))
