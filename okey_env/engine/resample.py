"""Hidden tiles dealt again: games that agree with all that one seat knows, made from its OBSERVATION and nothing else.

Such a game is a *world*. What the observer cannot see is, in this order (*hidden order*): the tiles in the racks of its
right-hand neighbour, of the seat opposite and of its left-hand neighbour that nobody has seen come there, the tiles
beneath the tops of the heaps where the rules show only those, and the stock. The unseen tiles lie in these places, and
every way in which they may lie there is as likely as any other: no throw, no take and no finish that was passed up
makes a rack impossible, since all of them are free choices. Three things do, and are kept to:

* What was taken and not thrown since, and a shown twin, is in the rack where it was seen (R7.3).
* If the stock is empty and the round goes on (R5.4), the seat to move can finish with the tile on offer.
* A twin that was shown and then thrown, and that `top_only` covers, is where throws and takes may have brought it.

A record does not say in which order things came to pass. So a world has an empty log, the places of the stock that are
drawn hold no tile, and the order within a heap is dealt as well, but for its top. Where `top_only` hides which turns
were takes, every choice of turns that agrees with the tops is as likely.

Nothing here checks its arguments. `okey_env.resample` is the public, checked form.
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

NUM_PLACES = 3 + NUM_SEATS
"""Stretches of the hidden order but for the stock: three racks, then four heaps."""
MOST_TRIES = 100_000_000
"""So many deals are tried where a rack must finish (R5.4)."""

_NONE = np.uint64(0)
_FIRST_HEAP = 3  # the stretch of the observer's own heap


@kernel
def resample(seen: np.record, draw_queues: int, seed: np.uint64, game: np.record) -> bool:
    """Fill a GAME with a world, each that agrees with an OBSERVATION as likely.

    Args:
        seen: what one seat knows of a round that goes on.
        draw_queues: 1: each seat draws from its own part of the stock. To the players it is the same game.
        seed: settles the world.
        game: filled, every byte of it.

    Returns:
        Whether a world was found; if not (R5.4 only, after `MOST_TRIES`), the game is of no use.
    """
    tiles = np.empty(NUM_TILES, np.uint8)
    sizes = np.empty(NUM_PLACES, np.int64)
    if not hide(seen, seed, tiles, sizes):
        return False
    lay_out(seen, draw_queues, tiles, sizes, seed, game)
    return True


@kernel
def resample_all(
    records: npt.NDArray[np.record], i: int, draw_queues: int, seed: np.uint64, games: npt.NDArray[np.record]
) -> bool:
    """Fill `(N,)` games with worlds of record i; world w has the seed derived from (seed, w). Returns as `resample`."""
    for world in range(len(games)):
        if not resample(records[i], draw_queues, derive_seed(seed, np.uint64(world)), games[world]):
            return False
    return True


# --- the hidden order -----------------------------------------------------------------------------------


@kernel
def hide(seen: np.record, seed: np.uint64, tiles: npt.NDArray[np.uint8], sizes: npt.NDArray[np.int64]) -> bool:
    """Put the unseen tiles into a hidden order, each that agrees with the observation as likely.

    Args:
        seen: the OBSERVATION.
        seed: settles the order.
        tiles: `(106,)` filled from the front with kinds; what is behind the hidden places is left as it was.
        sizes: `(7,)` filled with the number of places in each stretch: racks of the seats 1 to 3 (counted from the
            observer), then what is covered in the heaps of the seats 0 to 3. The stock follows, `stock_left` tiles.

    Returns:
        As `resample`.
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
    """Write all unseen tiles one after another, by kind; returns how many there are."""
    count = 0
    for kind in range(NUM_KINDS):
        for _ in range(int(seen.unseen[kind])):
            tiles[count] = kind
            count += 1
    return count


@kernel
def hidden_in_rack(seen: np.record, step: int) -> int:
    """How many tiles of another seat's rack the observer does not know."""
    size = RACK_SIZE
    if seen.turn == step and seen.phase == PHASE_THROW:
        size += 1
    for kind in range(NUM_KINDS):
        size -= int(seen.known[step, kind])
    return size


@kernel
def throws_of(seen: np.record, step: int) -> int:
    """How often a seat has thrown; seats throw in turn, from the starter on."""
    before = (step - int(seen.starter)) & 3  # seats that throw before this one in each round of the table
    return (int(seen.throws) + 3 - before) >> 2


@kernel
def _cover(seen: np.record, sizes: npt.NDArray[np.int64], state: np.uint64) -> np.uint64:
    """Settle how many tiles lie beneath each top; none where all throws are shown. Returns the state of the stream."""
    for step in range(NUM_SEATS):
        sizes[_FIRST_HEAP + step] = 0
    if seen.rules.top_only == 0:
        return state
    # Everybody has had a tile before each throw but the starter's first, and so has who is to throw now.
    had = int(seen.throws) - 1
    if seen.phase == PHASE_THROW:
        had += 1
    takes = had - (NUM_STOCK - int(seen.stock_left))
    # Any turn may have been a take, but for the one to come. A heap without a top has lost all its tiles to takes.
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
        # choose `takes` of the free turns: each in order with the share that is still to be chosen
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
    """Whether a hidden order keeps to what the observation says beyond the places of known tiles."""
    twin_is_covered = seen.rules.top_only != 0 and seen.shown_by != NO_SEAT and seen.unseen[seen.indicator] != 0
    if twin_is_covered and not _twin_came_there(seen, tiles, sizes):
        return False
    if seen.last_chance == 0 or seen.turn == 0:
        return True
    return _finishes(seen, tiles, sizes)


@kernel
def _twin_came_there(seen: np.record, tiles: npt.NDArray[np.uint8], sizes: npt.NDArray[np.int64]) -> bool:
    """Whether the twin, shown and thrown since, lies where throws and takes may have brought it: from seat to seat."""
    end = 0
    for stretch in range(NUM_PLACES):
        place = end
        end += sizes[stretch]
        while place < end and tiles[place] != seen.indicator:
            place += 1
        if place == end:
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
    """Whether the seat to move can finish, with the tile on offer if it has not taken it yet (R5.4)."""
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
    """Another seat's rack: the tiles that everyone knows to be there, and its stretch of a hidden order.

    Args:
        seen: the OBSERVATION.
        step: the seat, counted from the observer.
        tiles: `(n,)` kinds, its stretch or a part of it.
    """
    hand = Hand(_NONE, _NONE, 0)
    for kind in range(NUM_KINDS):
        for _ in range(int(seen.known[step, kind])):
            hand = with_tile(hand, kind)
    for place in range(len(tiles)):
        hand = with_tile(hand, int(tiles[place]))
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
    """Fill a GAME with the world of a hidden order, as `hide` gives it; `seed` becomes that of the game."""
    game.rules = seen.rules
    _copy_open(seen, game)
    game.seed = seed
    game.round_number = np.uint64(0)
    seat = int(seen.seat)
    game.rack[:] = 0
    game.rack[seat] = seen.rack
    game.once[seat] = seen.once
    game.twice[seat] = seen.twice
    place = 0
    for step in range(1, NUM_SEATS):
        other = (seat + step) & 3
        game.once[other] = _NONE
        game.twice[other] = _NONE
        for kind in range(NUM_KINDS):
            for _ in range(int(seen.known[step, kind])):
                add_tile(game, other, kind)
        for _ in range(sizes[step - 1]):
            add_tile(game, other, tiles[place])
            place += 1
    state = derive_seed(seed, np.uint64(1))
    for step in range(NUM_SEATS):
        other = (seat + step) & 3
        covered = sizes[_FIRST_HEAP + step]
        state = _pile_up(seen, step, tiles[place : place + covered], state, game)
        place += covered
    _lay_stock(seen, draw_queues, tiles[place : place + int(seen.stock_left)], game)
    game.finish_melds = seen.finish_melds
    game.finish_pairs = seen.finish_pairs
    if seen.phase == PHASE_THROW and seen.turn != 0:
        find_finishes(game)


@kernel
def _copy_open(seen: np.record, game: np.record) -> None:
    """All that lies open, with seats as they sit at the table."""
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
    game.spare[:] = 0
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
    """Stack the heap of a seat: what is seen of it and its covered tiles in any order, its top last."""
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
    """Lay the stock; with queues each seat has a quarter of what is left, those who draw next the odd tiles."""
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
