"""Determinization: deal the hidden tiles again, so that the game agrees with one seat's OBSERVATION (a *world*).

A world is made from the OBSERVATION alone. The *hidden order* lists all hidden tiles: first the tiles that nobody has
seen in the racks of the right-hand neighbour, of the seat opposite and of the left-hand neighbour; then the covered
tiles of the four heaps, if the rules show only the tops; then the stock; then the tiles that a short stock leaves aside
(`okey_env.engine.starts`). Every hidden order of the unseen tiles has the same probability. Throws, takes and finishes
that a player passed up make no rack impossible, because they are free choices. Three facts do restrict the hidden
order:

* A tile that was taken and not thrown since, and a shown twin, is in the rack where it was seen (R7.3).
* If the stock is empty and the round goes on (R5.4), the seat to move can finish with the tile on offer.
* A twin that was shown and then thrown, and that `top_only` covers, lies where throws and takes can have brought it.

An OBSERVATION does not hold the order of events. So a world has an empty log, the drawn part of its stock holds no
tiles, and the order within a heap is random except for its top. If `top_only` hides which turns were takes, every
choice of turns that agrees with the tops has the same probability.

The kernels do not check their arguments. `okey_env.resample` is the public, checked form.
"""

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel
from okey_env.engine.deal import shuffle
from okey_env.engine.hand import Hand, with_tile
from okey_env.engine.random import advance, below, derive_seed
from okey_env.engine.state import NO_SEAT, NO_TILE, NOT_ENDED, PHASE_THROW
from okey_env.engine.turn import add_tile, can_be_finished, find_finishes
from okey_env.tiles import NUM_KINDS, NUM_SEATS, NUM_STOCK, NUM_TILES, RACK_SIZE

NUM_STRETCHES = 3 + NUM_SEATS
"""Stretches of the hidden order without the stock: three racks, then four heaps."""
MOST_TRIES = 100_000_000
"""The most deals that are tried if a rack must be able to finish (R5.4)."""

_NONE = np.uint64(0)
_FIRST_HEAP = 3  # the stretch of the observer's own heap


@kernel
def resample(seen: np.record, draw_queues: int, seed: np.uint64, game: np.record) -> bool:
    """Fill a GAME with a random world: each that agrees with the OBSERVATION has the same probability.

    Args:
        seen: what one seat knows of a round that goes on.
        draw_queues: 1: each seat draws from its own part of the stock; else 0. Players see no difference.
        seed: determines the world.
        game: filled; every byte is overwritten.

    Returns:
        Whether a world was found. It can fail only under R5.4, after `MOST_TRIES`; then the game is not usable.
    """
    tiles = np.empty(NUM_TILES, np.uint8)
    sizes = np.empty(NUM_STRETCHES, np.int64)
    if not hide(seen, seed, tiles, sizes):
        return False
    lay_out(seen, draw_queues, tiles, sizes, seed, game)
    return True


@kernel
def resample_all(
    records: npt.NDArray[np.record], i: int, draw_queues: int, seed: np.uint64, games: npt.NDArray[np.record]
) -> bool:
    """Fill `(N,)` games with worlds of record i; returns whether all were found.

    World w has the seed derived from (seed, w); the other arguments are those of `resample`.
    """
    for world in range(len(games)):
        if not resample(records[i], draw_queues, derive_seed(seed, np.uint64(world)), games[world]):
            return False
    return True


# --- the hidden order -----------------------------------------------------------------------------------


@kernel
def hide(seen: np.record, seed: np.uint64, tiles: npt.NDArray[np.uint8], sizes: npt.NDArray[np.int64]) -> bool:
    """Put the unseen tiles into a random hidden order: each possible one has the same probability.

    Args:
        seen: the OBSERVATION.
        seed: determines the order.
        tiles: `(106,)` filled from the front with the kinds of the hidden tiles; the entries after them do not change.
        sizes: `(7,)` filled with the number of tiles in each stretch: the racks of the seats 1 to 3 (counted from the
            observer), then the covered tiles in the heaps of the seats 0 to 3. The stock follows, `stock_left` tiles,
            then the tiles that lie aside.

    Returns:
        Whether an order was found, as in `resample`.
    """
    count = unseen_tiles(seen, tiles)
    state = derive_seed(seed, np.uint64(0))
    for step in range(1, NUM_SEATS):
        sizes[step - 1] = hidden_in_rack(seen, step)
    for _ in range(MOST_TRIES):
        state = _cover(seen, sizes, state)
        state = shuffle(tiles[:count], state)
        if _agrees(seen, tiles, sizes):
            return True
    return False


@kernel
def unseen_tiles(seen: np.record, tiles: npt.NDArray[np.uint8]) -> int:
    """Write the kinds of all unseen tiles into `tiles`, in order; returns the number of tiles."""
    count = 0
    for kind in range(NUM_KINDS):
        for _ in range(int(seen.unseen[kind])):
            tiles[count] = kind
            count += 1
    return count


@kernel
def hidden_in_rack(seen: np.record, step: int) -> int:
    """The number of tiles in the rack of seat `step` (1 to 3 from the observer) that the observer does not know."""
    size = RACK_SIZE
    if seen.turn == step and seen.phase == PHASE_THROW:
        size += 1
    for kind in range(NUM_KINDS):
        size -= int(seen.known[step, kind])
    return size


@kernel
def throws_of(seen: np.record, step: int) -> int:
    """The number of throws of seat `step` (counted from the observer); seats throw in turn, the starter first."""
    before = (step - int(seen.starter)) & 3  # seats that throw before this one in every four throws
    return (int(seen.throws) + 3 - before) >> 2


@kernel
def _cover(seen: np.record, sizes: npt.NDArray[np.int64], state: np.uint64) -> np.uint64:
    """Choose how many tiles lie beneath the top of each heap; 0 if all throws are shown. Returns the next state."""
    for step in range(NUM_SEATS):
        sizes[_FIRST_HEAP + step] = 0
    if seen.rules.top_only == 0:
        return state
    # A player gets a tile before each throw, except before the first one; the player who throws next has got one too.
    had = int(seen.throws) - 1
    if seen.phase == PHASE_THROW:
        had += 1
    takes = had - (NUM_STOCK - int(seen.set_aside) - int(seen.stock_left))
    # Any turn except the coming one may have been a take. A heap without a top has lost all its tiles to takes.
    uncovered = np.zeros(NUM_SEATS, np.int64)
    free = np.zeros(NUM_SEATS, np.int64)
    for step in range(NUM_SEATS):
        throws = throws_of(seen, step)
        if seen.last_throw[step] == NO_TILE:
            takes -= throws
            continue
        uncovered[step] = throws
        free[step] = throws
        if ((step + 1) & 3) == seen.turn:
            if seen.phase != PHASE_THROW:
                free[step] -= 1
            elif seen.last_chance != 0:  # the stock was empty: this was a take
                uncovered[step] -= 1
                free[step] -= 1
                takes -= 1
    while True:
        left = takes
        fits = True
        for step in range(NUM_SEATS):
            sizes[_FIRST_HEAP + step] = uncovered[step]
        # choose `takes` of the free turns: each in order, with probability (takes left) / (free turns left)
        ahead = int(free.sum())
        for step in range(NUM_SEATS):
            for _ in range(free[step]):
                state = advance(state)
                if below(state, ahead) < left:
                    left -= 1
                    sizes[_FIRST_HEAP + step] -= 1
                ahead -= 1
        for step in range(NUM_SEATS):
            if seen.last_throw[step] != NO_TILE:
                sizes[_FIRST_HEAP + step] -= 1  # the top is seen
                fits = fits and sizes[_FIRST_HEAP + step] >= 0
        if fits:
            return state


@kernel
def _agrees(seen: np.record, tiles: npt.NDArray[np.uint8], sizes: npt.NDArray[np.int64]) -> bool:
    """Whether a hidden order agrees with the facts of the observation that do not concern single tiles."""
    twin_is_covered = seen.rules.top_only != 0 and seen.shown_by != NO_SEAT and seen.unseen[seen.indicator] != 0
    if twin_is_covered and not _twin_came_there(seen, tiles, sizes):
        return False
    if seen.last_chance == 0 or seen.turn == 0:
        return True
    return _finishes(seen, tiles, sizes)


@kernel
def _twin_came_there(seen: np.record, tiles: npt.NDArray[np.uint8], sizes: npt.NDArray[np.int64]) -> bool:
    """Whether the twin, shown and thrown since, lies where throws and takes, from seat to seat, can have brought it."""
    end = 0
    for stretch in range(NUM_STRETCHES):
        index = end
        end += sizes[stretch]
        while index < end and tiles[index] != seen.indicator:
            index += 1
        if index == end:
            continue
        is_heap = stretch >= _FIRST_HEAP
        seat = stretch - _FIRST_HEAP if is_heap else stretch + 1
        hops = (seat - int(seen.shown_by)) & 3
        if hops == 0 and not is_heap:
            hops = NUM_SEATS
        for hop in range(hops):
            step = (int(seen.shown_by) + hop) & 3
            lying = sizes[_FIRST_HEAP + step] + (seen.last_throw[step] != NO_TILE)
            if lying == throws_of(seen, step):
                return False  # nothing was taken from this seat
        return True
    return False  # in the stock


@kernel
def _finishes(seen: np.record, tiles: npt.NDArray[np.uint8], sizes: npt.NDArray[np.int64]) -> bool:
    """Whether the seat to move can finish, with the tile on offer if that is not taken yet (R5.4)."""
    step = int(seen.turn)
    first = 0
    for before in range(step - 1):
        first += sizes[before]
    hand = hidden_rack(seen, step, tiles[first : first + sizes[step - 1]])
    if seen.phase != PHASE_THROW:
        hand = with_tile(hand, int(seen.offer))
    return can_be_finished(hand, seen.rules.run_13_1 != 0)


@kernel
def hidden_rack(seen: np.record, step: int, tiles: npt.NDArray[np.uint8]) -> Hand:
    """Another seat's rack: the tiles that everyone knows to be in it, and its stretch of a hidden order.

    Args:
        seen: the OBSERVATION.
        step: the seat, counted from the observer.
        tiles: `(n,)` kinds: the stretch of that rack, or a part of the stretch.
    """
    hand = Hand(_NONE, _NONE, 0)
    for kind in range(NUM_KINDS):
        for _ in range(int(seen.known[step, kind])):
            hand = with_tile(hand, kind)
    for i in range(len(tiles)):
        hand = with_tile(hand, int(tiles[i]))
    return hand


# --- from a hidden order to a game ----------------------------------------------------------------------


@kernel
def lay_out(
    seen: np.record,
    draw_queues: int,
    tiles: npt.NDArray[np.uint8],
    sizes: npt.NDArray[np.int64],
    seed: np.uint64,
    game: np.record,
) -> None:
    """Fill a GAME with the world of a hidden order.

    Args:
        seen: the OBSERVATION.
        draw_queues: as in `resample`.
        tiles, sizes: the hidden order, as `hide` fills it.
        seed: becomes the seed of the game; determines the order within the heaps.
        game: filled; every byte is overwritten.
    """
    game.rules = seen.rules
    _copy_open(seen, game)
    game.seed = seed
    game.round_number = np.uint64(0)
    seat = int(seen.seat)
    game.rack[:] = 0
    game.rack[seat] = seen.rack
    game.once[seat] = seen.once
    game.twice[seat] = seen.twice
    index = 0
    for step in range(1, NUM_SEATS):
        other = (seat + step) & 3
        game.once[other] = _NONE
        game.twice[other] = _NONE
        for kind in range(NUM_KINDS):
            for _ in range(int(seen.known[step, kind])):
                add_tile(game, other, kind)
        for _ in range(sizes[step - 1]):
            add_tile(game, other, tiles[index])
            index += 1
    state = derive_seed(seed, np.uint64(1))
    for step in range(NUM_SEATS):
        other = (seat + step) & 3
        covered = sizes[_FIRST_HEAP + step]
        state = _pile_up(seen, step, tiles[index : index + covered], state, game)
        index += covered
    _lay_stock(seen, draw_queues, tiles[index : index + int(seen.stock_left)], game)
    game.finish_melds = seen.finish_melds
    game.finish_pairs = seen.finish_pairs
    if seen.phase == PHASE_THROW and seen.turn != 0:
        find_finishes(game)


@kernel
def _copy_open(seen: np.record, game: np.record) -> None:
    """Copy all that is visible from an OBSERVATION into a GAME, with absolute seats."""
    seat = int(seen.seat)
    game.phase = seen.phase
    game.turn = (int(seen.turn) + seat) & 3
    game.starter = (int(seen.starter) + seat) & 3
    game.indicator = seen.indicator
    game.okey = seen.okey
    game.stock_left = seen.stock_left
    game.throws = seen.throws
    game.offer = seen.offer
    has_thrown = int(seen.has_thrown)
    game.has_thrown = ((has_thrown << seat) | (has_thrown >> (NUM_SEATS - seat))) & 15
    game.shown_by = (int(seen.shown_by) + seat) & 3 if seen.shown_by != NO_SEAT else NO_SEAT
    game.last_chance = seen.last_chance
    game.ending = NOT_ENDED
    game.winner = NO_SEAT
    game.finish_kind = NO_TILE
    game.by_pairs = 0
    game.by_okey = 0
    game.set_aside = seen.set_aside
    game.num_events = 0
    game.log[:] = 0
    for step in range(NUM_SEATS):
        other = (seat + step) & 3
        game.lost[other] = seen.lost[step]
        game.won[other] = seen.won[step]
        game.scores[other] = seen.scores[step]
        game.taken[other] = seen.taken[step]
        game.heap[other] = seen.heap[step]
        game.known[other] = seen.known[step]


@kernel
def _pile_up(
    seen: np.record, step: int, covered: npt.NDArray[np.uint8], state: np.uint64, game: np.record
) -> np.uint64:
    """Stack a heap: its seen and covered tiles in random order, the top last. Returns the next state."""
    other = (int(seen.seat) + step) & 3
    top = int(seen.last_throw[step])
    height = 0
    for kind in range(NUM_KINDS):
        for _ in range(int(seen.heap[step, kind]) - (kind == top)):
            game.pile[other, height] = kind
            height += 1
    for kind in covered:
        game.pile[other, height] = kind
        game.heap[other, kind] += 1
        height += 1
    state = shuffle(game.pile[other, :height], state)
    if top != NO_TILE:
        game.pile[other, height] = top
        height += 1
    game.pile[other, height:] = 0
    game.pile_height[other] = height
    return state


@kernel
def _lay_stock(seen: np.record, draw_queues: int, stock: npt.NDArray[np.uint8], game: np.record) -> None:
    """Lay the stock; with queues each seat has a quarter of what is left; odd tiles go to the seats that draw next."""
    size = len(stock)
    drawn = NUM_STOCK - size
    game.stock[:drawn] = NO_TILE
    game.stock[drawn:] = stock
    game.draw_queues = draw_queues
    game.queue_next[:] = 0
    game.queue_end[:] = 0
    if draw_queues == 0:
        return
    first = int(game.turn)
    if seen.phase == PHASE_THROW:
        first += 1  # the seat to move has its tile
    begin = drawn
    for step in range(NUM_SEATS):
        seat = (first + step) & 3
        game.queue_next[seat] = begin
        begin += (size + NUM_SEATS - 1 - step) // NUM_SEATS
        game.queue_end[seat] = begin
