"""Worlds (determinizations): hidden tiles dealt again, with racks that are as near to a finish as real racks are.

After an even deal (`okey_env.engine.resample`) racks are like those at the start of a round, but real players have
drawn and thrown since. So each hidden rack of an evenly dealt world is advanced on its own by a rule. It draws one of
the hidden tiles of the stock, and throws a tile that leaves its distance as it is. Among these tiles the rule prefers
the throw that leaves most unseen useful tiles, as the rated bots do, and it uses what the seat has been seen to do. A
tile that the seat threw or left lying was of little use to it, so tiles near such a tile are thrown first, and a rack
that such a tile would help is avoided. A draw that would finish is left out, since its owner would have finished.

A world agrees exactly with what was seen. How often a rack draws, and the weights below, were fitted to games of
`efficient` with `scripts/studies/worlds_calibration.py`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.neighbours import surroundings
from okey_agents.thinking.position import set_of_counts, twice_of_counts
from okey_env.engine._jit import kernel
from okey_env.engine.hand import KIND_OF_BIT, Hand, analyse, kind_set, lowest_bit, popcount, with_tile, without_tile
from okey_env.engine.hand.bits import FACES, as_int
from okey_env.engine.random import advance, below, derive_seed
from okey_env.engine.resample import NUM_STRETCHES, hidden_rack, hide, lay_out, throws_of
from okey_env.engine.state import PHASE_THROW
from okey_env.tiles import NUM_KINDS, NUM_SEATS, NUM_TILES

DRAWS = 1.4
"""Draws of a hidden rack for each throw of its seat …"""
DRAWS_LATER = 0.09
"""… and for the square of the number of its throws."""
NEAR_THROWN = 4.0
"""The rating of a throw for each tile near it that its seat has thrown, in useful tiles."""
NEAR_REFUSED = 1.0
"""The same for each tile near it that its seat has left lying."""
HELPED = 5.0
"""The cost of a throw for each thrown or refused tile that would help the rack after it."""

_THOUSAND = 1000

Tiles = npt.NDArray[np.uint8]
Sets = npt.NDArray[np.uint64]


class HiddenTiles(NamedTuple):
    """The hidden tiles of an OBSERVATION in a hidden order (`okey_env.engine.resample`), for racks to draw from."""

    tiles: Tiles
    """`(106,)` the kinds: those of each hidden rack, then those covered in heaps, then the stock."""
    stock: int
    """The index at which the stock begins."""
    unseen: int
    """The kinds of which a tile is neither open nor known to be in a rack, as a word."""
    unseen_twice: int
    """The kinds of which this is true of both tiles."""
    after: Sets
    """`(53,)`, overwritten by `analyse`."""


class SeatHistory(NamedTuple):
    """What everybody has seen of one seat; sets of kinds are words."""

    known: int
    """The kinds that are known to be in its rack."""
    known_twice: int
    """The kinds of which both tiles are."""
    thrown: int
    """The kinds that it has thrown."""
    refused: int
    """The kinds that it has left lying."""
    throws: int
    """How often it has thrown."""
    run_13_1: bool
    """Whether a 1 may follow a 13 (R4.1)."""


@kernel
def sample_world(seen: np.record, draw_queues: int, seed: np.uint64, game: np.record) -> bool:
    """Sample a world for an observation in which the opponents' racks have developed as far as real ones.

    Args:
        seen: the OBSERVATION of one seat, of a round that goes on.
        draw_queues: 1 if each seat draws from its own part of the stock; to the players it is the same game.
        seed: settles the world.
        game: a GAME to fill, every byte of it.

    Returns:
        Whether a world was found. It is not found only if a rack that must finish was not met in very many deals
        (R5.4); then `game` is of no use.
    """
    tiles = np.empty(NUM_TILES, np.uint8)
    sizes = np.empty(NUM_STRETCHES, np.int64)
    after = np.empty(NUM_KINDS, np.uint64)
    if not hide(seen, seed, tiles, sizes):
        return False
    if seen.stock_left > 0:
        unseen, unseen_twice = unseen_by_all(seen)
        hidden = HiddenTiles(tiles=tiles, stock=int(sizes.sum()), unseen=unseen, unseen_twice=unseen_twice, after=after)
        advance_racks(seen, hidden, sizes, derive_seed(seed, np.uint64(2)))
    lay_out(seen, draw_queues, tiles, sizes, seed, game)
    return True


@kernel
def sample_worlds(
    records: npt.NDArray[np.record], i: int, draw_queues: int, seed: np.uint64, games: npt.NDArray[np.record]
) -> bool:
    """Fill `(N,)` GAMEs with worlds of an observation; world w has the seed derived from (seed, w).

    Args:
        records: OBSERVATIONs.
        i: which of them.
        draw_queues: 1 if each seat draws from its own part of the stock.
        seed: settles the worlds.
        games: to fill.

    Returns:
        Whether all worlds were found, as `sample_world` says of one.
    """
    for world in range(len(games)):
        if not sample_world(records[i], draw_queues, derive_seed(seed, np.uint64(world)), games[world]):
            return False
    return True


@kernel
def unseen_by_all(seen: np.record) -> tuple[int, int]:
    """The kinds of which one tile, and of which both, are unseen by somebody who has no rack, as words."""
    once, twice = 0, 0
    for kind in range(NUM_KINDS):
        unseen = 1 if kind == seen.indicator else 2
        for seat in range(NUM_SEATS):
            unseen -= int(seen.heap[seat, kind]) + int(seen.known[seat, kind])
        bit = as_int(kind_set(kind))
        if unseen >= 1:
            once |= bit
        if unseen >= 2:
            twice |= bit
    return once, twice


@kernel
def advance_racks(seen: np.record, hidden: HiddenTiles, sizes: npt.NDArray[np.int64], state: np.uint64) -> None:
    """Let each hidden rack draw and throw, the seats in a random order.

    Args:
        seen: the OBSERVATION.
        hidden: its hidden tiles; those of the racks and of the stock change places.
        sizes: `(7,)` as `resample.hide` fills them.
        state: of a random stream.
    """
    state = advance(state)
    begin = below(state, NUM_SEATS - 1)
    for turn in range(NUM_SEATS - 1):
        step = 1 + (begin + turn) % (NUM_SEATS - 1)
        first = 0
        for before in range(step - 1):
            first += sizes[before]
        state = advance_rack(seen, step, hidden, first, sizes[step - 1], state)


@kernel
def advance_rack(seen: np.record, step: int, hidden: HiddenTiles, first: int, size: int, state: np.uint64) -> np.uint64:
    """Let one rack of a hidden order draw from the stock and throw back to it.

    Args:
        seen: the OBSERVATION.
        step: the seat, counted from the observer.
        hidden: the hidden tiles; those of the rack and of the stock change places.
        first: the index at which the rack's hidden tiles begin.
        size: how many they are.
        state: of a random stream.

    Returns:
        The state of the stream afterwards.
    """
    if seen.turn == step and seen.phase == PHASE_THROW:
        size -= 1  # the seat has just drawn, so its last tile is any tile
    tiles = hidden.tiles
    hand = hidden_rack(seen, step, tiles[first : first + size])
    history = history_of(seen, step)
    throws = history.throws
    state = advance(state)
    draws = int(throws * (DRAWS + DRAWS_LATER * throws) + below(state, _THOUSAND) / _THOUSAND)
    for _ in range(draws):
        state = advance(state)
        drawn_at = hidden.stock + below(state, int(seen.stock_left))
        drawn = int(tiles[drawn_at])
        more = with_tile(hand, drawn)
        thrown, state = choose_throw(more, drawn, history, hidden, state)
        if thrown == drawn:
            continue
        thrown_at = first
        while tiles[thrown_at] != thrown:
            thrown_at += 1
        tiles[thrown_at], tiles[drawn_at] = drawn, thrown
        hand = without_tile(more, thrown)
    return state


@kernel
def history_of(seen: np.record, step: int) -> SeatHistory:
    """What the observer of an OBSERVATION has seen of another seat, which is counted from the observer."""
    return SeatHistory(
        known=set_of_counts(seen.known[step]),
        known_twice=twice_of_counts(seen.known[step]),
        thrown=set_of_counts(seen.heap[step]) | as_int(seen.taken[(step + 1) % NUM_SEATS]),
        refused=set_of_counts(seen.heap[step - 1]),
        throws=throws_of(seen, step),
        run_13_1=seen.rules.run_13_1 != 0,
    )


@kernel
def choose_throw(
    hand: Hand, drawn: int, history: SeatHistory, hidden: HiddenTiles, state: np.uint64
) -> tuple[int, np.uint64]:
    """The kind that a hidden rack throws after a draw.

    Args:
        hand: its tiles with the one drawn.
        drawn: the kind drawn, which is thrown if the hand could finish or no other throw keeps its distance.
        history: what was seen of the seat.
        hidden: the hidden tiles.
        state: of a random stream, which decides between equals.

    Returns:
        The kind, and the state of the stream afterwards.
    """
    distance, keep, _ = analyse(hand.once, hand.twice, hand.wilds, history.run_13_1, hidden.after)
    thrown, best, equals = drawn, -np.inf, 0
    if distance == 0:
        return thrown, state
    held = as_int(hand.once) & ~(history.known & ~as_int(hand.twice))
    choices = as_int(keep) & FACES & held & ~history.known_twice
    while choices:
        bit = lowest_bit(choices)
        choices &= choices - 1
        kind = as_int(KIND_OF_BIT[bit])
        useful = as_int(hidden.after[kind])
        near = surroundings(bit, history.run_13_1)
        rating = 0.0 + popcount(useful & hidden.unseen) + popcount(useful & hidden.unseen_twice)
        rating -= popcount(useful & held)
        rating += NEAR_THROWN * popcount(near & history.thrown) + NEAR_REFUSED * popcount(near & history.refused)
        rating -= HELPED * (popcount(useful & history.thrown) + popcount(useful & history.refused))
        if rating > best:
            thrown, best, equals = kind, rating, 1
        elif rating == best:  # the n-th of equals replaces those before it with a probability of 1 in n
            equals += 1
            state = advance(state)
            if below(state, equals) == 0:
                thrown = kind
    return thrown, state
