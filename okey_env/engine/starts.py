"""Starts: racks near a finish, or a short stock, made from a round that has just been dealt (for curricula).

A *table of starts* is `(K, 2)` float64. Each row is a start: column CHANCE is the probability of this row and of all
rows before it (1 in the last row), column START is the start's number. The row of a round depends on nothing but the
seed and the number of the round, so the batch size, the threads and the order of the games do not matter.

| number | start |
|---|---|
| DEAL | the round as it was dealt |
| 1 to 4 | every rack has exactly this melds distance; the starter's 15 tiles after their best throw |
| SHORT + n | the stock holds n draws for each seat, 4 n tiles; the other tiles lie aside, and nobody sees them |
"""

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel, linked
from okey_env.engine.deal import shuffle
from okey_env.engine.hand import Hand, melds_distance, with_tile, without_tile
from okey_env.engine.hand.bits import as_int
from okey_env.engine.random import advance, below, derive_seed
from okey_env.engine.state import GAME
from okey_env.engine.turn import add_tile, find_finishes, hand_of, remove_tile
from okey_env.tiles import NUM_KINDS, NUM_NUMBERS, NUM_SEATS, NUM_STOCK, RACK_SIZE

DEAL = 0
MOST_DISTANCE = 4
SHORT = 16
MOST_DRAWS = NUM_STOCK // NUM_SEATS
CHANCE, START = 0, 1
ORDINARY = np.array([[1.0, DEAL]])
"""The table of starts with the ordinary deal only."""
MOST_EXCHANGES = 20_000
"""The most exchanges that are tried for one rack; hundreds suffice."""

# Streams of random numbers beside the deal, which has the seed and the round number to itself
STREAM_OF_STARTS = np.uint64(1)
STREAM_OF_EXCHANGES = np.uint64(2)
STREAM_OF_OPPONENTS = np.uint64(3)

_FIXED_STREAM = np.uint64(1)
_U11 = np.uint64(11)
_UNIT = 2.0**-53


@kernel
def stream_of(game: np.record, stream: np.uint64) -> np.uint64:
    """The first state of a stream of random numbers that depends on the seed and the number of the round only."""
    return derive_seed(derive_seed(game.seed, game.round_number), stream)


@kernel
def drawn_row(game: np.record, stream: np.uint64, table: npt.NDArray[np.float64]) -> int:
    """The row that a round draws from a table whose column CHANCE has the probabilities, added up."""
    number = np.float64(stream_of(game, stream) >> _U11) * _UNIT  # 0 or more, below 1
    row = 0
    while number >= table[row, CHANCE]:
        row += 1
    return row


# --- racks at a distance --------------------------------------------------------------------------------


@kernel
def distance_of(game: np.record, seat: int) -> int:
    """The melds distance of a seat's rack of 14 or 15 tiles."""
    return _distance(hand_of(game, seat), game.rules.run_13_1 != 0)


@kernel
def _distance(hand: Hand, run_13_1: bool) -> int:
    return melds_distance(hand.once, hand.twice, as_int(hand.wilds), run_13_1)


@kernel
def _bring_rack_to(game: np.record, seat: int, wanted: int, most: int, state: np.uint64) -> np.uint64:
    """Exchange tiles of one rack until it has the wanted distance, or `most` times; returns the next state."""
    run_13_1 = game.rules.run_13_1 != 0
    size = RACK_SIZE + (seat == game.starter)
    distance = distance_of(game, seat)
    for _ in range(most):
        if distance == wanted:
            break
        state = advance(state)
        kind = _tile_of(game, seat, below(state, size))
        state = advance(state)
        place = below(state, NUM_STOCK)
        comes = as_int(game.stock[place])
        if comes == kind:
            continue
        after = _distance(with_tile(without_tile(hand_of(game, seat), kind), comes), run_13_1)
        if abs(after - wanted) <= abs(distance - wanted):
            _exchange(game, seat, kind, place)
            distance = after
    return state


@kernel
def _tile_of(game: np.record, seat: int, number: int) -> int:
    """The kind of tile `number` of a rack, counted in the order of the kinds."""
    kind = 0
    left = number - as_int(game.rack[seat, 0])
    while left >= 0:
        kind += 1
        left -= as_int(game.rack[seat, kind])
    return kind


@kernel
def _exchange(game: np.record, seat: int, kind: int, place: int) -> None:
    """Exchange a tile of a rack with the tile at a place of the stock."""
    comes = as_int(game.stock[place])
    game.stock[place] = kind
    remove_tile(game, seat, kind)
    add_tile(game, seat, comes)


@kernel
def lay_by_colours(game: np.record, wanted: int, state: np.uint64) -> None:
    """Give every rack the wanted distance without chance: the way out if random exchanges do not suffice.

    Each seat gets the numbers 1 to 13 of one colour, and the 5 or the 10 a second time: melds 1-5, 5-9, 10-13 or 1-5,
    6-10, 10-13. The starter gets one more tile. Exchanges then lead away from a finish, which is easy. They use a
    fixed stream and a sorted stock, so the racks depend on nothing but the indicator, the starter, the wanted distance
    and the switch of R4.1, and a test looks at all of them. The stock is shuffled at the end.
    """
    left = np.full(NUM_KINDS, 2, np.int64)
    left[game.indicator] -= 1
    game.rack[:] = 0
    for seat in range(NUM_SEATS):
        game.once[seat] = 0
        game.twice[seat] = 0
        first = NUM_NUMBERS * seat
        twice = first + (4 if game.indicator == first + 9 else 9)
        for kind in range(first, first + NUM_NUMBERS):
            _lay(game, seat, kind, left)
        _lay(game, seat, twice, left)
        if seat == game.starter:
            _lay(game, seat, first + (1 if game.indicator == first else 0), left)
    place = 0
    for kind in range(NUM_KINDS):
        for _ in range(left[kind]):
            game.stock[place] = kind
            place += 1
    fixed = _FIXED_STREAM
    for seat in range(NUM_SEATS):
        fixed = _bring_rack_to(game, seat, wanted, MOST_EXCHANGES, fixed)
    shuffle(game.stock, state)


@kernel
def _lay(game: np.record, seat: int, kind: int, left: npt.NDArray[np.int64]) -> None:
    add_tile(game, seat, kind)
    left[kind] -= 1


@linked("void", GAME, "int64", "int64", borrows=False)
def bring_racks_to(game: np.record, wanted: int, most: int) -> None:
    """Give every rack of a round that has just been dealt exactly the melds distance `wanted`.

    Random tiles of a rack are exchanged with random tiles of the stock. An exchange is kept unless it leads away from
    the wanted distance. So all colours are treated alike, and all tiles within what a distance asks of them. The first
    rack is that of a random seat, since later racks find fewer useful tiles in the stock.

    Args:
        game: the round.
        wanted: 1 to 4.
        most: the most exchanges that are tried for a rack. If they do not suffice, all racks are laid by colours.
    """
    state = stream_of(game, STREAM_OF_EXCHANGES)
    first = below(state, NUM_SEATS)
    done = True
    for step in range(NUM_SEATS):
        seat = (first + step) % NUM_SEATS
        state = _bring_rack_to(game, seat, wanted, most, state)
        done = done and distance_of(game, seat) == wanted
    if not done:
        lay_by_colours(game, wanted, state)
    find_finishes(game)


# --- a start ------------------------------------------------------------------------------------------------


@kernel
def shorten_stock(game: np.record, draws: int) -> None:
    """Leave 4 `draws` tiles in the stock of a round that has just been dealt; the first tiles of it go aside."""
    game.set_aside = NUM_STOCK - NUM_SEATS * draws
    game.stock_left = NUM_SEATS * draws
    if game.draw_queues != 0:
        for seat in range(NUM_SEATS):
            game.queue_next[seat] += MOST_DRAWS - draws


@kernel
def start_round(game: np.record, starts: npt.NDArray[np.float64]) -> None:
    """Turn a round that has just been dealt into the start that it draws from a table of starts."""
    if len(starts) == 1 and starts[0, START] == DEAL:
        return
    start = int(starts[drawn_row(game, STREAM_OF_STARTS, starts), START])
    if start > SHORT:
        shorten_stock(game, start - SHORT)
    elif start != DEAL:
        bring_racks_to(game, start, MOST_EXCHANGES)


# --- many games -----------------------------------------------------------------------------------------


@kernel
def start_range(games: npt.NDArray[np.record], starts: npt.NDArray[np.float64], start: int, stop: int) -> None:
    """`start_round` in the games from `start` to `stop` - 1, which have just been dealt."""
    for i in range(start, stop):
        start_round(games[i], starts)


@kernel
def drawn_rows_at(
    games: npt.NDArray[np.record],
    indices: npt.NDArray[np.int64],
    stream: np.uint64,
    table: npt.NDArray[np.float64],
    rows: npt.NDArray[np.int64],
) -> None:
    """Fill `(M,)` rows with the row that each of the games at `(M,)` indices draws from a table."""
    for row in range(len(indices)):
        rows[row] = drawn_row(games[indices[row]], stream, table)
