"""The deal (RULES R1, R2): shuffle 106 tiles, hand out racks, turn up the indicator, lay the stock."""

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel, linked
from okey_env.engine.hand.bits import as_int
from okey_env.engine.random import advance, below, derive_seed
from okey_env.engine.state import GAME, NO_SEAT, NO_TILE, NOT_ENDED, PHASE_THROW
from okey_env.engine.turn import add_tile, find_finishes
from okey_env.tiles import NUM_FACES, NUM_NUMBERS, NUM_SEATS, NUM_STOCK, NUM_TILES, RACK_SIZE, WILD

_FALSE_JOKER = 2 * NUM_FACES  # physical tiles: 2 * face + copy, then the two false jokers


@kernel
def shuffle(tiles: npt.NDArray[np.uint8], state: np.uint64) -> np.uint64:
    """Shuffle `tiles` in place (Fisher and Yates), each order with the same probability; returns the next state."""
    for last in range(len(tiles) - 1, 0, -1):
        state = advance(state)
        other = below(state, last + 1)
        tiles[last], tiles[other] = tiles[other], tiles[last]
    return state


@kernel
def begin_round(
    game: np.record,
    indicator: int,
    okey: int,
    starter: int,
    rack_tiles: npt.NDArray[np.uint8],
    stock: npt.NDArray[np.uint8],
) -> None:
    """Fill a game with a dealt round.

    Args:
        game: the record to fill.
        indicator: the face turned up, 0 to 51.
        okey: the face whose copies are wild, 0 to 51.
        starter: the seat that begins, 0 to 3.
        rack_tiles: `(57,)` kinds, 15 for the starter, then 14 for each seat to its right in turn.
        stock: `(48,)` kinds in the order in which they are drawn.
    """
    game.phase = PHASE_THROW  # R3.1: the starter does not draw
    game.turn = starter
    game.starter = starter
    game.indicator = indicator
    game.okey = okey
    game.stock_left = NUM_STOCK
    game.set_aside = 0
    game.throws = 0
    game.offer = NO_TILE
    game.has_thrown = 0
    game.shown_by = NO_SEAT
    game.last_chance = 0
    game.ending = NOT_ENDED
    game.winner = NO_SEAT
    game.finish_kind = NO_TILE
    game.by_pairs = 0
    game.by_okey = 0
    game.num_events = 0
    for seat in range(NUM_SEATS):
        # with queues: seat s draws the tiles 12 s … 12 s + 11 of the stock
        game.queue_next[seat] = seat * (NUM_STOCK // NUM_SEATS) if game.draw_queues else 0
        game.queue_end[seat] = (seat + 1) * (NUM_STOCK // NUM_SEATS) if game.draw_queues else 0
        game.lost[seat] = 0
        game.won[seat] = 0
        game.pile_height[seat] = 0
        game.once[seat] = 0
        game.twice[seat] = 0
        game.taken[seat] = 0
    game.rack[:] = 0
    game.heap[:] = 0
    game.known[:] = 0
    next_tile = 0
    for step in range(NUM_SEATS):
        seat = (starter + step) % NUM_SEATS
        for _ in range(RACK_SIZE + (step == 0)):
            add_tile(game, seat, as_int(rack_tiles[next_tile]))
            next_tile += 1
    for i in range(NUM_STOCK):  # to assign a whole array, numba would compile error texts for seconds
        game.stock[i] = stock[i]
    find_finishes(game)


@linked("void", GAME, "int64", borrows=False)
def deal(game: np.record, starter: int) -> None:
    """Deal the round `game.round_number` of the seed `game.seed`.

    Args:
        game: the record; its rules, seed, round number, scores and draw queues stay, everything else is overwritten.
        starter: the seat with 15 tiles, or `NO_SEAT` for a random one (R2.2).
    """
    state = derive_seed(game.seed, game.round_number)
    tiles = np.empty(NUM_TILES, np.uint8)
    for i in range(NUM_TILES):
        tiles[i] = i
    state = shuffle(tiles, state)
    state = advance(state)
    if starter == NO_SEAT:
        starter = below(state, NUM_SEATS)

    # R1.2, R1.5: one of the 49 tiles outside the racks is turned up. A false joker goes back and another tile is
    # turned up. The last tile then takes the index of the indicator, so that the other tiles keep their order.
    first = NUM_TILES - NUM_STOCK - 1
    turned = NUM_TILES - 1
    while tiles[turned] >= _FALSE_JOKER:
        state = advance(state)
        turned = first + below(state, NUM_STOCK + 1)
    indicator = tiles[turned] >> 1
    tiles[turned] = tiles[NUM_TILES - 1]

    after_13 = indicator % NUM_NUMBERS == NUM_NUMBERS - 1
    okey = indicator + 1 - (NUM_NUMBERS if after_13 else 0)  # R1.3; after 13 comes 1
    for i in range(NUM_TILES):
        face = tiles[i] >> 1
        if tiles[i] >= _FALSE_JOKER:
            tiles[i] = okey  # R1.4
        elif face == okey:
            tiles[i] = WILD
        else:
            tiles[i] = face
    begin_round(game, indicator, okey, starter, tiles[:first], tiles[first : NUM_TILES - 1])


@kernel
def deal_round(game: np.record, seed: np.uint64, number: int) -> None:
    """Deal the first round of game `number` under a seed, with a random starter (R2.2)."""
    game.seed = derive_seed(seed, np.uint64(number))
    game.round_number = 0
    deal(game, NO_SEAT)
