"""What a position is worth to each seat, by a small network that sees all four racks.

The network is *privileged* (an asymmetric critic): it reads hidden tiles, so no player may use it on the true position.
It rates the end of a rollout in a sampled world, it labels moves tried in the true position during training, and it is
the critic of a policy that itself sees only an observation. It knows the racks and which tiles are left in the stock,
not their order.

Its outputs are the zero-sum points still to come, from now to the end of the round: an ordinary win is +6 to the winner
and -2 to each other seat. What has been paid already (`won - lost`, a shown twin) is not in them.

The weights are one float32 vector, so that a kernel takes them as one argument. `value.npz` has one vector for each
preset; `scripts/train_value.py` makes it.

Letters: `D` inputs of the network, `W` weights.
"""

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.neighbours import numbers_in, one_down, one_up
from okey_agents.thinking.position import set_of_counts, twice_of_counts
from okey_env.encoders.encoder import Piece, size_of, starts_of
from okey_env.engine._jit import kernel
from okey_env.engine.hand import (
    KIND_OF_BIT,
    analyse,
    distance_and_useful,
    kind_set,
    lowest_bit,
    pairs_distance,
    popcount,
    without_tile,
)
from okey_env.engine.hand.bits import FACES, as_int
from okey_env.engine.hand.draws import TileSet, count_after_draw
from okey_env.engine.state import NO_SEAT, NO_TILE, PHASE_THROW
from okey_env.engine.turn import hand_of
from okey_env.rules import Rules, as_rules
from okey_env.tiles import NUM_KINDS, NUM_SEATS

Floats = npt.NDArray[np.float32]

NUM_DISTANCES = 6
"""Distances told apart: 0 to 4, and 5 for 5 or more."""

SEAT = (
    Piece("distance", NUM_DISTANCES, "1 for the rack's distance to a finish by melds: 0 … 4, 5 or more"),
    Piece("useful", NUM_DISTANCES, "tiles in the stock that help / 12, at its distance; 0 at the others"),
    Piece("useful_share", 3, "the part of the stock that helps, at distance 1, 2, 3"),
    Piece("useful_offered", 3, "tiles that help in the rack of the left neighbour / 3, at distance 1, 2, 3"),
    Piece("wilds", 2, "1 for the wild tiles in the rack: one, two"),
    Piece("pairs", 4, "1 for the rack's distance to seven pairs: 0 … 3; none if it is more"),
    Piece("shows", 1, "1 if the seat may yet show the indicator's twin and holds it"),
    Piece("held_in_row", 1, "faces in the rack with the face one number below in it too / 8"),
    Piece("held_two_apart", 1, "faces in the rack with the face two numbers below in it too / 8"),
    Piece("held_same", 1, "faces in the rack beyond one of each number / 8"),
    Piece("held_twice", 1, "faces of which both copies are in the rack / 4"),
    Piece("useful_kinds", 1, "kinds that help / 12"),
    Piece("held_alone", 1, "faces in the rack without a neighbour in runs in it / 8"),
)
"""The part of each seat, which comes once for each; with 15 tiles, what helps is meant after the best throw."""
ROUND = (
    Piece("throwing", 1, "1 if the mover is to throw or to finish"),
    Piece("stock", 1, "tiles left in the stock / 48"),
    Piece("stock_end", 1, "4 / (3 + tiles left in the stock, 1 at least)"),
    Piece("last_chance", 1, "1 if the tile on offer may only be taken to finish"),
    Piece("throws", 1, "throws so far / 48"),
    Piece("offer_helps", 1, "1 if the tile on offer lowers the mover's distance"),
    Piece("offer_helps_at_1", 1, "1 if so, at distance 1"),
    Piece("offer_helps_at_2", 1, "1 if so, at distance 2"),
    Piece("next_useful", 3, "the mover's useful tiles after its next useful tile / 8, at distance 2, 3, 4 or more"),
    Piece(
        "opened_up",
        2,
        "twice the useful tiles that a draw adds without lowering its distance, on average, at distance 1, 2",
    ),
)
"""The part of the round and of the seat to move."""
SPARE_JOKER = (
    Piece("lacks", 4, "1 for the distance of the rack without the false joker: 0, 1, 2, 3 or more"),
    Piece("useful_share", 2, "twice the part of the stock that helps then, at distance 1; 4 times at distance 2"),
)
"""The part of each seat's false joker to finish on, where that is dear (R6.3); all 0 elsewhere."""
PARTS = (
    Piece("seats", NUM_SEATS * size_of(SEAT), "`SEAT`, once for each seat from the one to move"),
    Piece("round", size_of(ROUND), "`ROUND`"),
    Piece("spare_jokers", NUM_SEATS * size_of(SPARE_JOKER), "`SPARE_JOKER`, once for each seat from the one to move"),
)
"""All inputs, in order."""

_SEAT, _ROUND, _SPARE, _PARTS = starts_of(SEAT), starts_of(ROUND), starts_of(SPARE_JOKER), starts_of(PARTS)
NUM_VALUE_INPUTS = size_of(PARTS)
_SEATS_AT, _ROUND_AT, SPARE_JOKERS_AT = _PARTS["seats"], _PARTS["round"], _PARTS["spare_jokers"]
_SEAT_SIZE, _ROUND_SIZE, _SPARE_SIZE = size_of(SEAT), size_of(ROUND), size_of(SPARE_JOKER)
_DISTANCE, _USEFUL, _USEFUL_SHARE = _SEAT["distance"], _SEAT["useful"], _SEAT["useful_share"]
_USEFUL_OFFERED, _WILDS, _PAIRS, _SHOWS = _SEAT["useful_offered"], _SEAT["wilds"], _SEAT["pairs"], _SEAT["shows"]
_HELD_IN_ROW, _HELD_TWO_APART, _HELD_SAME = _SEAT["held_in_row"], _SEAT["held_two_apart"], _SEAT["held_same"]
_HELD_TWICE, _USEFUL_KINDS, _HELD_ALONE = _SEAT["held_twice"], _SEAT["useful_kinds"], _SEAT["held_alone"]
_THROWING, _STOCK, _STOCK_END, _THROWS = _ROUND["throwing"], _ROUND["stock"], _ROUND["stock_end"], _ROUND["throws"]
_LAST_CHANCE, _OFFER_HELPS = _ROUND["last_chance"], _ROUND["offer_helps"]
_OFFER_HELPS_AT_1, _OFFER_HELPS_AT_2 = _ROUND["offer_helps_at_1"], _ROUND["offer_helps_at_2"]
_NEXT_USEFUL, _OPENED_UP = _ROUND["next_useful"], _ROUND["opened_up"]
_LACKS, _SPARE_USEFUL = _SPARE["lacks"], _SPARE["useful_share"]

HIDDEN = 128
"""Width of both hidden layers."""
NUM_VALUE_WEIGHTS = (NUM_VALUE_INPUTS + 1) * HIDDEN + (HIDDEN + 1) * HIDDEN + (HIDDEN + 1) * NUM_SEATS

STOCK_SIZE = 56
"""Kinds, and three bytes that are always 0, so that the counts are whole words."""

_FILE = Path(__file__).with_name("value.npz")
_NONE = np.uint64(0)


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
        after: `(53,)`, overwritten.
    """
    hand = hand_of(game, seat)
    distance, keep, useful = analyse(hand.once, hand.twice, hand.wilds, game.rules.run_13_1 != 0, after)
    if popcount(as_int(hand.once)) + popcount(as_int(hand.twice)) + hand.wilds > 14:
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
    """Fill what the network sees of a round under way whose racks are analysed already.

    Args:
        game: the round.
        stock: `(STOCK_SIZE,)` of `count_stock`.
        distances: `(4,)` of `analyse_rack`, by seat.
        useful: `(4,)` of `analyse_rack`, by seat: sets of kinds.
        inputs: `(D,)` to fill, as `PARTS` has them.
    """
    inputs[:] = np.float32(0)
    left = np.float32(max(1, int(game.stock_left)))
    mover = int(game.turn)
    for step in range(NUM_SEATS):
        seat = (mover + step) % NUM_SEATS
        start = _SEATS_AT + step * _SEAT_SIZE
        fill_seat(game, seat, stock, int(distances[seat]), useful[seat], inputs[start : start + _SEAT_SIZE])
    fill_round(game, stock, int(distances[mover]), useful[mover], inputs[_ROUND_AT : _ROUND_AT + _ROUND_SIZE])
    if game.rules.false_joker_as_okey != 0:
        for step in range(NUM_SEATS):
            start = SPARE_JOKERS_AT + step * _SPARE_SIZE
            seat = (mover + step) % NUM_SEATS
            fill_spare_joker(game, seat, stock, left, inputs[start : start + _SPARE_SIZE])


@kernel
def fill_seat(
    game: np.record, seat: int, stock: npt.NDArray[np.uint8], distance: int, useful: np.uint64, row: Floats
) -> None:
    """Fill the part of a seat.

    Args:
        game: the round.
        seat: whose rack.
        stock: `(STOCK_SIZE,)` of `count_stock`.
        distance: of the rack, of `analyse_rack`.
        useful: the kinds that help it, of `analyse_rack`.
        row: zeros to fill, as `SEAT` has them.
    """
    left = np.float32(max(1, int(game.stock_left)))
    feeder = (seat + NUM_SEATS - 1) % NUM_SEATS
    rank = min(distance, NUM_DISTANCES - 1)
    drawable = np.float32(copies_in(useful, stock))
    offered = np.float32(copies_in(useful, game.rack[feeder]))
    row[_DISTANCE + rank] = 1
    row[_USEFUL + rank] = drawable / np.float32(12)
    if distance > 0 and distance < 4:
        row[_USEFUL_SHARE + distance - 1] = drawable / left
        row[_USEFUL_OFFERED + distance - 1] = offered / np.float32(3)
    hand = hand_of(game, seat)
    if hand.wilds > 0:
        row[_WILDS + hand.wilds - 1] = 1
    pairs = pairs_distance(hand.once, hand.twice, hand.wilds)
    if pairs < 4:
        row[_PAIRS + pairs] = 1
    shows = game.rules.indicator_points != 0 and game.shown_by == NO_SEAT and (game.has_thrown >> seat) & 1 == 0
    row[_SHOWS] = shows and game.rack[seat, game.indicator] != 0
    fill_shape(as_int(hand.once), as_int(hand.twice), as_int(useful), row)


@kernel
def fill_round(game: np.record, stock: npt.NDArray[np.uint8], distance: int, useful: np.uint64, row: Floats) -> None:
    """Fill the part of the round and of the seat to move.

    Args:
        game: the round.
        stock: `(STOCK_SIZE,)` of `count_stock`.
        distance: of the mover's rack, of `analyse_rack`.
        useful: the kinds that help it, of `analyse_rack`.
        row: zeros to fill, as `ROUND` has them.
    """
    left = np.float32(max(1, int(game.stock_left)))
    row[_THROWING] = game.phase == PHASE_THROW
    row[_STOCK] = np.float32(game.stock_left) / np.float32(48)
    row[_STOCK_END] = np.float32(4) / (np.float32(3) + left)
    row[_LAST_CHANCE] = game.last_chance
    row[_THROWS] = np.float32(game.throws) / np.float32(48)
    if game.offer != NO_TILE and (useful & kind_set(game.offer)) != _NONE:
        row[_OFFER_HELPS] = 1
        row[_OFFER_HELPS_AT_1] = distance == 1
        row[_OFFER_HELPS_AT_2] = distance == 2
    if distance > 0:
        fill_after_draw(game, stock, distance, useful, left, row)


@kernel
def fill_after_draw(
    game: np.record, stock: npt.NDArray[np.uint8], distance: int, useful: np.uint64, left: np.float32, row: Floats
) -> None:
    """Fill what the stock may yet make of the rack of the seat to move, which is not complete.

    Args:
        game: the round.
        stock: `(STOCK_SIZE,)` of `count_stock`.
        distance: of the rack, of `analyse_rack`.
        useful: the kinds that help it, of `analyse_rack`.
        left: tiles in the stock, at least 1.
        row: zeros to fill, as `ROUND` has them.
    """
    mover = int(game.turn)
    hand = hand_of(game, mover)
    if game.phase == PHASE_THROW:
        after = np.empty(NUM_KINDS, np.uint64)
        _, keep, _ = analyse(hand.once, hand.twice, hand.wilds, game.rules.run_13_1 != 0, after)
        throws = as_int(keep) & FACES
        while throws:  # to the tile that leaves what `analyse_rack` found
            kind = KIND_OF_BIT[lowest_bit(throws)]
            throws &= throws - 1
            if after[kind] == useful:
                hand = without_tile(hand, kind)
                break
    there, twice_there = set_of_counts(stock), twice_of_counts(stock)
    after_draw = count_after_draw(hand, game.rules.run_13_1 != 0, distance, as_int(useful), TileSet(there, twice_there))
    if distance > 1:
        row[_NEXT_USEFUL + min(distance, 4) - 2] = np.float32(after_draw.next_useful) / np.float32(8)
    if distance < 3:
        row[_OPENED_UP + distance - 1] = np.float32(2) * np.float32(after_draw.opened_up) / left


@kernel
def fill_spare_joker(game: np.record, seat: int, stock: npt.NDArray[np.uint8], left: np.float32, row: Floats) -> None:
    """Fill how near a seat that holds a false joker is to a finish on it.

    Args:
        game: the round.
        seat: whose rack.
        stock: `(STOCK_SIZE,)` of `count_stock`.
        left: tiles in the stock, at least 1.
        row: zeros to fill, as `SPARE_JOKER` has them; they stay if the seat holds no false joker.
    """
    if game.once[seat] & kind_set(game.okey) == _NONE:
        return
    rest = without_tile(hand_of(game, seat), game.okey)
    found = np.empty(1, np.uint64)
    distance, useful = distance_and_useful(rest.once, rest.twice, rest.wilds, game.rules.run_13_1 != 0, found)
    row[_LACKS + min(distance, 3)] = 1
    if distance == 1 or distance == 2:
        share = np.float32(2 * distance) * np.float32(copies_in(useful, stock)) / left
        row[_SPARE_USEFUL + distance - 1] = share


@kernel
def fill_shape(once: int, twice: int, useful: int, row: Floats) -> None:
    """Fill how the tiles of a rack lie to each other, of which the distance says nothing.

    Args:
        once: the faces in the rack, as a word.
        twice: the faces of which both copies are.
        useful: the kinds that help.
        row: zeros to fill, as `SEAT` has them.
    """
    raised = one_up(once)
    row[_HELD_IN_ROW] = np.float32(popcount(once & raised)) / np.float32(8)
    row[_HELD_TWO_APART] = np.float32(popcount(once & one_up(raised))) / np.float32(8)
    row[_HELD_SAME] = np.float32(popcount(once) - popcount(numbers_in(once))) / np.float32(8)
    row[_HELD_TWICE] = np.float32(popcount(twice)) / np.float32(4)
    row[_USEFUL_KINDS] = np.float32(popcount(useful)) / np.float32(12)
    row[_HELD_ALONE] = np.float32(popcount(once & ~(raised | one_down(once)))) / np.float32(8)


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
def values_at(games: npt.NDArray[np.record], indices: npt.NDArray[np.int64], weights: Floats, values: Floats) -> None:
    """Fill `(M, 4)` with `value_of` the games at `(M,)` indices."""
    for i in range(len(indices)):
        value_of(games[indices[i]], weights, values[i])


@kernel
def inputs_at(games: npt.NDArray[np.record], indices: npt.NDArray[np.int64], inputs: Floats) -> None:
    """Fill `(M, D)` with what the network sees of the games at `(M,)` indices."""
    for i in range(len(indices)):
        fill_value_inputs(games[indices[i]], inputs[i])


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
