"""What a position is worth to each seat, by a small network that sees all four racks.

It is *privileged*: no player may look at it, for it reads hidden tiles. It serves where the hidden tiles are settled
anyway: at the end of a rollout in a world of one's own making, as the judge of a move tried in the true position
during training, or as the critic of a policy that itself sees only an observation. It knows the racks and which
tiles are left in the stock, not their order.

Points are zero-sum points still to come, from now to the end of the round: an ordinary win is +6 to the winner and -2
to each other. What has been paid already (`won - lost`, a shown twin) is not in it.

A network is one float32 vector of weights, so that a kernel takes it as one argument; there is one by preset in
`value.npz`, made by `scripts/train_value.py`.

Letters: `D` inputs of the network, `W` weights.
"""

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.draws import TileSet, count_after_draw
from okey_agents.thinking.position import set_of_counts, twice_of_counts
from okey_env.engine._jit import kernel
from okey_env.engine.hand import (
    KIND_OF_BIT,
    Hand,
    analyse,
    distance_and_useful,
    kind_set,
    lowest_bit,
    pairs_distance,
    popcount,
)
from okey_env.engine.hand.bits import FACES, as_int
from okey_env.engine.state import NO_SEAT, NO_TILE, PHASE_THROW
from okey_env.rules import Rules, as_rules
from okey_env.tiles import NUM_KINDS, NUM_SEATS, WILD

Floats = npt.NDArray[np.float32]

NUM_DISTANCES = 6
"""Distances told apart: 0 to 4, and 5 for 5 or more."""
PER_SEAT = 31
NUM_TABLE = 8
NUM_AFTER_DRAW = 5
NUM_SPARE = 6
"""Numbers of a seat's false joker to finish on, where that is dear (R6.3); all 0 elsewhere."""
NUM_VALUE_INPUTS = NUM_SEATS * PER_SEAT + NUM_TABLE + NUM_AFTER_DRAW + NUM_SEATS * NUM_SPARE
FIRST_SPARE = NUM_TABLE + NUM_AFTER_DRAW
"""Where the false jokers begin among the inputs that no seat's part holds."""
HIDDEN = 128
"""Width of both hidden layers."""
NUM_VALUE_WEIGHTS = (NUM_VALUE_INPUTS + 1) * HIDDEN + (HIDDEN + 1) * HIDDEN + (HIDDEN + 1) * NUM_SEATS

STOCK_SIZE = 56
"""Kinds, and three bytes that are always 0, so that the counts are whole words."""

_FILE = Path(__file__).with_name("value.npz")
_NONE = np.uint64(0)
_FIRST_COLOUR = 0x1111111111111


# --- inputs ---------------------------------------------------------------------------------------------


@kernel
def count_stock(game: np.record, stock: npt.NDArray[np.uint8]) -> None:
    """Fill `(STOCK_SIZE,)` zeros with the copies of each kind that are left in the stock."""
    for kind in range(NUM_KINDS):
        count = 2
        for seat in range(NUM_SEATS):
            count -= int(game.rack[seat, kind]) + int(game.heap[seat, kind])
        stock[kind] = count
    stock[game.indicator] -= 1
    if game.finish_kind != NO_TILE:
        stock[game.finish_kind] -= 1


@kernel
def copies_in(kinds: np.uint64, counts: npt.NDArray[np.uint8]) -> int:
    """How many tiles of a set of kinds there are among `(53,)` counts."""
    total = 0
    while kinds != _NONE:
        total += int(counts[KIND_OF_BIT[lowest_bit(as_int(kinds))]])
        kinds &= kinds - np.uint64(1)
    return total


@kernel
def analyse_rack(
    game: np.record, seat: int, stock: npt.NDArray[np.uint8], after: npt.NDArray[np.uint64]
) -> tuple[int, np.uint64]:
    """Distance by melds, and the useful kinds, after the best throw if there are 15 tiles.

    Args:
        game: the round.
        seat: whose rack.
        stock: `(STOCK_SIZE,)` of `count_stock`; the best throw leaves most useful tiles in the stock.
        after: `(53,)` to work in.
    """
    once, twice, wilds = game.once[seat], game.twice[seat], int(game.rack[seat, WILD])
    distance, keep, useful = analyse(once, twice, wilds, game.rules.run_13_1 != 0, after)
    if popcount(once) + popcount(twice) + wilds > 14:
        most, best = -1, useful
        kinds = as_int(keep)
        while kinds:
            kind = KIND_OF_BIT[lowest_bit(kinds)]
            kinds &= kinds - 1
            count = copies_in(after[kind], stock)
            if count > most:
                most, best = count, after[kind]
        useful = best
    return distance, useful


@kernel
def fill_value_inputs(game: np.record, inputs: Floats) -> None:
    """Fill `(D,)` with what the network sees of a round under way; seats are counted from the one to move."""
    stock = np.zeros(STOCK_SIZE, np.uint8)
    after = np.empty(NUM_KINDS, np.uint64)
    count_stock(game, stock)
    distances = np.empty(NUM_SEATS, np.int64)
    useful = np.empty(NUM_SEATS, np.uint64)
    for seat in range(NUM_SEATS):
        distances[seat], useful[seat] = analyse_rack(game, seat, stock, after)
    fill_analysed(game, stock, distances, useful, inputs)


@kernel
def fill_analysed(
    game: np.record,
    stock: npt.NDArray[np.uint8],
    distances: npt.NDArray[np.int64],
    useful: npt.NDArray[np.uint64],
    inputs: Floats,
) -> None:
    """`fill_value_inputs` where the racks are analysed already.

    Args:
        game: the round.
        stock: `(STOCK_SIZE,)` of `count_stock`.
        distances: `(4,)` by seat, as is the next, of `analyse_rack`.
        useful: `(4,)` sets of kinds.
        inputs: `(D,)` to fill.
    """
    inputs[:] = np.float32(0)
    left = np.float32(max(1, int(game.stock_left)))
    for step in range(NUM_SEATS):
        seat = (int(game.turn) + step) % NUM_SEATS
        feeder = (seat + NUM_SEATS - 1) % NUM_SEATS
        distance = min(int(distances[seat]), NUM_DISTANCES - 1)
        drawable = np.float32(copies_in(useful[seat], stock))
        offered = np.float32(copies_in(useful[seat], game.rack[feeder]))
        at = step * PER_SEAT
        inputs[at + distance] = 1
        inputs[at + NUM_DISTANCES + distance] = drawable / np.float32(12)
        if distance > 0 and distance < 4:
            inputs[at + 11 + distance] = drawable / left
            inputs[at + 14 + distance] = offered / np.float32(3)
        wilds = int(game.rack[seat, WILD])
        if wilds > 0:
            inputs[at + 17 + wilds] = 1
        pairs = pairs_distance(game.once[seat], game.twice[seat], wilds)
        if pairs < 4:
            inputs[at + 20 + pairs] = 1
        shows = game.rules.indicator_points != 0 and game.shown_by == NO_SEAT and (game.has_thrown >> seat) & 1 == 0
        inputs[at + 24] = shows and game.rack[seat, game.indicator] != 0
        fill_shape(as_int(game.once[seat]), as_int(game.twice[seat]), as_int(useful[seat]), inputs[at + 25 : at + 31])
    at = NUM_SEATS * PER_SEAT
    inputs[at] = game.phase == PHASE_THROW
    inputs[at + 1] = np.float32(game.stock_left) / np.float32(48)
    inputs[at + 2] = np.float32(4) / (np.float32(3) + left)
    inputs[at + 3] = game.last_chance
    inputs[at + 4] = np.float32(game.throws) / np.float32(48)
    mover = int(game.turn)
    if game.offer != NO_TILE and (useful[mover] & kind_set(game.offer)) != _NONE:
        inputs[at + 5] = 1
        inputs[at + 6] = distances[mover] == 1
        inputs[at + 7] = distances[mover] == 2
    if distances[mover] > 0:
        fill_after_draw(
            game, stock, int(distances[mover]), useful[mover], left, inputs[at + NUM_TABLE : at + FIRST_SPARE]
        )
    if game.rules.false_joker_as_okey != 0:
        for step in range(NUM_SEATS):
            start = at + FIRST_SPARE + step * NUM_SPARE
            seat = (mover + step) % NUM_SEATS
            fill_spare_joker(game, seat, stock, left, inputs[start : start + NUM_SPARE])


@kernel
def fill_after_draw(
    game: np.record, stock: npt.NDArray[np.uint8], distance: int, useful: np.uint64, left: np.float32, out: Floats
) -> None:
    """Fill `(5,)` with what the stock may yet make of the rack of the seat to move, which is not complete.

    Args:
        game: the round.
        stock: `(STOCK_SIZE,)` of `count_stock`.
        distance: of the rack, of `analyse_rack`, as is the next.
        useful: set of kinds.
        left: tiles in the stock, at least 1.
        out: to fill, by distance: the useful tiles after the next useful one at 2, 3, 4 and more, then what other
            tiles gain at 1 and 2.
    """
    mover = int(game.turn)
    once, twice, wilds = game.once[mover], game.twice[mover], int(game.rack[mover, WILD])
    if game.phase == PHASE_THROW:
        after = np.empty(NUM_KINDS, np.uint64)
        _, keep, _ = analyse(once, twice, wilds, game.rules.run_13_1 != 0, after)
        throws = as_int(keep) & FACES
        while throws:  # to the tile that leaves what `analyse_rack` found
            kind = KIND_OF_BIT[lowest_bit(throws)]
            throws &= throws - 1
            if after[kind] == useful:
                tile = kind_set(kind)
                once, twice = once & ~(tile & ~twice), twice & ~tile
                break
    there, twice_there = set_of_counts(stock), twice_of_counts(stock)
    hand = Hand(once, twice, wilds)
    after_draw = count_after_draw(hand, game.rules.run_13_1 != 0, distance, as_int(useful), TileSet(there, twice_there))
    if distance > 1:
        out[min(distance, 4) - 2] = np.float32(after_draw.next_useful) / np.float32(8)
    if distance < 3:
        out[2 + distance] = np.float32(2) * np.float32(after_draw.opened_up) / left


@kernel
def fill_spare_joker(game: np.record, seat: int, stock: npt.NDArray[np.uint8], left: np.float32, out: Floats) -> None:
    """Fill `(6,)` with how near a seat that holds a false joker is to a finish on it.

    Args:
        game: the round.
        seat: whose rack.
        stock: `(STOCK_SIZE,)` of `count_stock`.
        left: tiles in the stock, at least 1.
        out: to fill: whether the other tiles lack 0, 1, 2, 3 or more; and at 1 and 2, what part of the stock helps.
    """
    joker = kind_set(game.okey)
    once, twice, wilds = game.once[seat], game.twice[seat], int(game.rack[seat, WILD])
    if once & joker == _NONE:
        return
    found = np.empty(1, np.uint64)
    distance, useful = distance_and_useful(
        once & ~(joker & ~twice), twice & ~joker, wilds, game.rules.run_13_1 != 0, found
    )
    out[min(distance, 3)] = 1
    if distance == 1 or distance == 2:
        out[3 + distance] = np.float32(2 * distance) * np.float32(copies_in(useful, stock)) / left


@kernel
def fill_shape(once: int, twice: int, useful: int, out: Floats) -> None:
    """Fill `(6,)` with how the tiles of a rack lie to each other, of which the distance says nothing."""
    one_up = (once << 4 | once >> 48) & FACES  # after 13 comes 1
    two_up = (one_up << 4 | one_up >> 48) & FACES
    numbers = (once | once >> 1 | once >> 2 | once >> 3) & _FIRST_COLOUR
    one_down = (once >> 4 | once << 48) & FACES
    out[0] = np.float32(popcount(once & one_up)) / np.float32(8)
    out[1] = np.float32(popcount(once & two_up)) / np.float32(8)
    out[2] = np.float32(popcount(once) - popcount(numbers)) / np.float32(8)
    out[3] = np.float32(popcount(twice)) / np.float32(4)
    out[4] = np.float32(popcount(useful)) / np.float32(12)
    out[5] = np.float32(popcount(once & ~(one_up | one_down))) / np.float32(8)


# --- network --------------------------------------------------------------------------------------------


@kernel
def run_dense(inputs: Floats, weights: Floats, start: int, outputs: Floats, relu: bool) -> int:
    """One layer for one row: `(I,)` inputs to `(O,)` outputs; returns where the next layer's weights begin.

    The layer's weights lie at `start`, one row of `O` for each input, then the bias.
    """
    num_outputs = len(outputs)
    at = start + len(inputs) * num_outputs
    for k in range(num_outputs):
        outputs[k] = weights[at + k]
    for j in range(len(inputs)):
        value = inputs[j]
        if value != np.float32(0):
            row = weights[start + j * num_outputs : start + (j + 1) * num_outputs]
            for k in range(num_outputs):
                outputs[k] += value * row[k]
    if relu:
        for k in range(num_outputs):
            outputs[k] = max(outputs[k], np.float32(0))
    return at + num_outputs


@kernel
def run_value(inputs: Floats, turn: int, weights: Floats, values: Floats) -> None:
    """Fill `(4,)` points still to come by seat from `(D,)` inputs; they add up to 0."""
    one = np.empty(HIDDEN, np.float32)
    two = np.empty(HIDDEN, np.float32)
    out = np.empty(NUM_SEATS, np.float32)
    at = run_dense(inputs, weights, 0, one, True)
    at = run_dense(one, weights, at, two, True)
    run_dense(two, weights, at, out, False)
    mean = (out[0] + out[1] + out[2] + out[3]) / np.float32(4)
    for step in range(NUM_SEATS):
        values[(turn + step) % NUM_SEATS] = out[step] - mean


@kernel
def value_of(game: np.record, weights: Floats, values: Floats) -> None:
    """Fill `(4,)` with the zero-sum points that each seat may expect from now to the end of a round under way.

    Args:
        game: the round, not over; the kernel reads hidden tiles.
        weights: `(W,)` of `load_value`.
        values: `(4,)` float32 by seat (not counted from the mover).
    """
    inputs = np.empty(NUM_VALUE_INPUTS, np.float32)
    fill_value_inputs(game, inputs)
    run_value(inputs, int(game.turn), weights, values)


@kernel
def value_in(games: npt.NDArray[np.record], i: int, weights: Floats, values: Floats) -> None:
    """`value_of` game i of a batch."""
    value_of(games[i], weights, values)


@kernel
def values_at(games: npt.NDArray[np.record], indices: npt.NDArray[np.int64], weights: Floats, values: Floats) -> None:
    """Fill `(M, 4)` with `value_of` the games at `(M,)` indices."""
    for place in range(len(indices)):
        value_of(games[indices[place]], weights, values[place])


@kernel
def inputs_at(games: npt.NDArray[np.record], indices: npt.NDArray[np.int64], inputs: Floats) -> None:
    """Fill `(M, D)` with what the network sees of the games at `(M,)` indices."""
    for place in range(len(indices)):
        fill_value_inputs(games[indices[place]], inputs[place])


@cache
def load_value(preset: str) -> Floats:
    """The weights `(W,)` of the network of a preset: one array for all who ask, not to be written into.

    Raises:
        ValueError: there is none.

    >>> len(load_value("gamelake")) == NUM_VALUE_WEIGHTS
    True
    """
    with np.load(_FILE, allow_pickle=False) as file:
        if preset not in file.files:
            raise ValueError(f"there is no value network {preset!r}: expected one of {', '.join(sorted(file.files))}")
        weights = np.ascontiguousarray(file[preset], np.float32)
    if weights.shape != (NUM_VALUE_WEIGHTS,):
        raise ValueError(f"the value network {preset!r} has {weights.shape} weights: expected ({NUM_VALUE_WEIGHTS},)")
    return weights


def value_for(rules: Rules | str) -> Floats:
    """The weights for any rules: those of the preset that pays for the same finishes."""
    return load_value(_preset(as_rules(rules).combine == "product"))


def preset_of(record: npt.NDArray[np.void]) -> str:
    """The preset that pays for the same finishes as the rules of an OBSERVATION."""
    return _preset(bool(record["rules"]["combine_product"]))


def _preset(combine_product: bool) -> str:
    return "gamelake" if combine_product else "klasik"
