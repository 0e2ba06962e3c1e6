"""The network `kinds` as plain arrays, and the kernels that run it.

`okey_agents.training.networks.kinds` is the same network in torch, and says what it computes. Its first layer runs on
the kernels here in both (`find_laid`, `look`). As in `bots.network`, a row gives the same bits alone and in a batch:
each row is computed by itself, each sum in a fixed order.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.bots.network import add_products, cut_below_zero, put_bias, run_layer
from okey_env.actions import FINISH, NUM_ACTIONS, THROW
from okey_env.encoders import Encoder
from okey_env.engine._jit import kernel
from okey_env.tiles import NUM_FACES, NUM_KINDS, NUM_NUMBERS, RACK_SIZE

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

MESSAGE = 8
"""The last hidden numbers of a kind, which its neighbours see."""
SOURCE_WIDTH = 32
"""Hidden numbers of the small network that scores drawing and taking."""

# Letters: N rows, W hidden numbers, M tiles that may be laid down, P planes, F facts.


class Places(NamedTuple):
    """Where the network finds things in the array of an encoder."""

    num_planes: int
    num_facts: int
    rack: int
    """The entry where the rack begins."""
    throwing: int
    """The entry that tells that the seat is to throw."""
    after: int
    """The entry where the piece `draw` begins, and after it `take`; both have the same layout."""
    after_size: int
    """The entries of each of the two; 0: the encoder has none."""


def places_of(encoder: Encoder) -> Places:
    """Where an encoder has what the network needs.

    Raises:
        ValueError: the encoder has no planes, or lacks the pieces `rack` and `phase`.
    """
    at = {piece.name: entries for piece, entries in encoder.slices()}
    if encoder.num_planes == 0 or "rack" not in at or "phase" not in at:
        raise ValueError(
            f"the encoder {encoder.name!r} has no planes by kind with a rack and a phase: "
            "expected one like 'tiles', or the network 'mlp'"
        )
    after, size = 0, 0
    if "draw" in at and "take" in at:
        after, size = at["draw"].start, at["take"].stop - at["take"].start
    num_facts = encoder.size - NUM_KINDS * encoder.num_planes
    return Places(encoder.num_planes, num_facts, at["rack"].start, at["phase"].start + 1, after, size)


def kinds_shapes(encoder: Encoder, width: int, pooled: int) -> dict[str, tuple[int, ...]]:
    """The shapes of the weights, by the names that torch gives them.

    Raises:
        ValueError: the encoder does not fit, or `width` is too small for the messages of neighbours.
    """
    places = places_of(encoder)
    if width < MESSAGE:
        raise ValueError(f"width={width} is too small: expected {MESSAGE} or more")
    shapes: dict[str, tuple[int, ...]] = {"kind.weight": (width, places.num_planes)}
    layers = {
        "facts": (width, places.num_facts),
        "pool": (pooled, width + places.num_facts),
        "second": (width, width + 3 * MESSAGE + pooled),
        "lay": (2, width),
        "value": (1, pooled),
    }
    if places.after_size:
        layers |= {"source.0": (SOURCE_WIDTH, 2 * places.after_size + pooled), "source.2": (2, SOURCE_WIDTH)}
    layers["rest"] = (1 if places.after_size else 3, pooled)
    for name, (outputs, inputs) in layers.items():
        shapes |= {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}
    return shapes


@kernel
def find_laid(seen: Floats, rack: int, throwing: int, places: Ints) -> int:
    """Fill the places `row * 53 + kind` of the kinds that a seat with 15 tiles holds; returns their number."""
    count = 0
    for row in range(len(seen)):
        if seen[row, throwing] > 0:
            for kind in range(NUM_KINDS):
                if seen[row, rack + kind] > 0 and count < len(places):
                    places[count] = row * NUM_KINDS + kind
                    count += 1
    return count


@kernel
def hide(seen: Floats, table: Floats, by_plane: Floats, hidden: Floats) -> None:
    """Fill `(53, W)` with the hidden numbers of one row before the ReLU."""
    planes, width = by_plane.shape
    for kind in range(NUM_KINDS):
        for unit in range(width):
            hidden[kind, unit] = table[unit]
    for plane in range(planes):
        for kind in range(NUM_KINDS):
            value = seen[plane * NUM_KINDS + kind]
            if value != 0:
                for unit in range(width):
                    hidden[kind, unit] += value * by_plane[plane, unit]


@kernel
def neighbours(kind: int, found: Ints) -> int:
    """Fill the kinds one step away (2), two steps away (2) and of the same number (3); returns 7, or 0 for a wild."""
    if kind >= NUM_FACES:
        return 0
    colour, number = kind // NUM_NUMBERS * NUM_NUMBERS, kind % NUM_NUMBERS
    found[0] = colour + (number + 1) % NUM_NUMBERS  # after 13 comes 1
    found[1] = colour + (number + NUM_NUMBERS - 1) % NUM_NUMBERS
    found[2] = colour + (number + 2) % NUM_NUMBERS
    found[3] = colour + (number + NUM_NUMBERS - 2) % NUM_NUMBERS
    for step in range(1, 4):
        found[3 + step] = (kind + step * NUM_NUMBERS) % NUM_FACES
    return 7


@kernel
def look(
    seen: Floats, table: Floats, by_plane: Floats, places: Ints, mean: Floats, own: Floats, beside: Floats
) -> None:
    """Fill the hidden numbers of all kinds in the forms that the network needs them.

    Args:
        seen: observations `(N, E)`.
        table: `(N, W)`, what the facts add to each kind.
        by_plane: `(P, W)` weights of the planes.
        places: `(M,)` from `find_laid`.
        mean: `(N, W)` to fill, the mean over the kinds.
        own: `(M, W)` to fill, the hidden numbers of each tile that may be laid down.
        beside: `(M, 3 * MESSAGE)` zeros to fill: the sums over its neighbours one step away, two steps away and in the
            group.
    """
    width = by_plane.shape[1]
    hidden = np.empty((NUM_KINDS, width), np.float32)
    near = np.empty(7, np.int64)
    share = np.float32(1 / NUM_KINDS)
    place = 0
    for row in range(len(seen)):
        hide(seen[row], table[row], by_plane, hidden)
        for unit in range(width):
            mean[row, unit] = 0
        for kind in range(NUM_KINDS):
            for unit in range(width):
                value = max(hidden[kind, unit], np.float32(0))
                hidden[kind, unit] = value
                mean[row, unit] += value
        for unit in range(width):
            mean[row, unit] *= share
        while place < len(places) and places[place] // NUM_KINDS == row:
            kind = places[place] % NUM_KINDS
            own[place] = hidden[kind]
            for i in range(neighbours(kind, near)):
                part = min(i // 2, 2) * MESSAGE
                for unit in range(MESSAGE):
                    beside[place, part + unit] += hidden[near[i], width - MESSAGE + unit]
            place += 1


class _Layers(NamedTuple):
    """The weights, `(I, O)`, one row for each input; layers with several inputs are cut by input."""

    by_plane: Floats
    facts: Floats
    facts_bias: Floats
    pool_mean: Floats
    pool_facts: Floats
    pool_bias: Floats
    second_own: Floats
    second_beside: Floats
    second_pooled: Floats
    second_bias: Floats
    lay: Floats
    lay_bias: Floats
    source_after: Floats
    source_pooled: Floats
    source_bias: Floats
    source_out: Floats
    source_out_bias: Floats
    rest: Floats
    rest_bias: Floats


@kernel
def _run_kinds(seen: Floats, at: Places, layers: _Layers, scores: Floats) -> None:
    """Fill the scores `(N, 109)` of observations `(N, E)`."""
    count, width = len(seen), layers.by_plane.shape[1]
    laid = np.empty(count * (RACK_SIZE + 1), np.int64)
    laid = laid[: find_laid(seen, at.rack, at.throwing, laid)]
    facts = seen[:, NUM_KINDS * at.num_planes :]
    table, mean = np.empty((count, width), np.float32), np.empty((count, width), np.float32)
    own = np.empty((len(laid), width), np.float32)
    beside = np.zeros((len(laid), 3 * MESSAGE), np.float32)
    run_layer(facts, layers.facts, layers.facts_bias, False, table)
    look(seen, table, layers.by_plane, laid, mean, own, beside)
    pooled = np.empty((count, len(layers.pool_bias)), np.float32)
    put_bias(layers.pool_bias, pooled)
    add_products(mean, layers.pool_mean, pooled)
    add_products(facts, layers.pool_facts, pooled)
    cut_below_zero(pooled)
    scores[:] = 0

    run_layer(pooled, layers.second_pooled, layers.second_bias, False, table)  # the same for all tiles of a row
    hidden = np.empty((len(laid), width), np.float32)
    for place in range(len(laid)):
        hidden[place] = table[laid[place] // NUM_KINDS]
    add_products(own, layers.second_own, hidden)
    add_products(beside, layers.second_beside, hidden)
    cut_below_zero(hidden)
    both = np.empty((len(laid), 2), np.float32)
    run_layer(hidden, layers.lay, layers.lay_bias, False, both)
    for place in range(len(laid)):
        row, kind = laid[place] // NUM_KINDS, laid[place] % NUM_KINDS
        scores[row, THROW + kind] = both[place, 0]
        scores[row, FINISH + kind] = both[place, 1]

    moves = 0
    if at.after_size > 0:
        moves = 2  # draw, take
        source = np.empty((count, len(layers.source_bias)), np.float32)
        run_layer(pooled, layers.source_pooled, layers.source_bias, False, source)
        add_products(seen[:, at.after : at.after + 2 * at.after_size], layers.source_after, source)
        cut_below_zero(source)
        run_layer(source, layers.source_out, layers.source_out_bias, False, scores[:, :moves])
    run_layer(pooled, layers.rest, layers.rest_bias, False, scores[:, moves:THROW])


class KindsNetwork:
    """The network `kinds`: from observations of an encoder to a score for each action.

    Args:
        encoder: makes the observations.
        arrays: weights with the names and shapes of `kinds_shapes`.
    """

    def __init__(self, encoder: Encoder, arrays: Mapping[str, Floats]) -> None:
        self._places = at = places_of(encoder)
        weights = {name: np.ascontiguousarray(np.asarray(array, np.float32).T) for name, array in arrays.items()}
        width = weights["kind.weight"].shape[1]
        pool, second = weights["pool.weight"], weights["second.weight"]
        if at.after_size:
            source, source_bias = weights["source.0.weight"], weights["source.0.bias"]
            source_out, source_out_bias = weights["source.2.weight"], weights["source.2.bias"]
        else:
            source, source_bias = np.zeros((0, 0), np.float32), np.zeros(0, np.float32)
            source_out, source_out_bias = source, source_bias
        self._layers = _Layers(
            by_plane=weights["kind.weight"],
            facts=weights["facts.weight"],
            facts_bias=weights["facts.bias"],
            pool_mean=pool[:width],
            pool_facts=pool[width:],
            pool_bias=weights["pool.bias"],
            second_own=second[:width],
            second_beside=second[width : width + 3 * MESSAGE],
            second_pooled=second[width + 3 * MESSAGE :],
            second_bias=weights["second.bias"],
            lay=weights["lay.weight"],
            lay_bias=weights["lay.bias"],
            source_after=source[: 2 * at.after_size],
            source_pooled=source[2 * at.after_size :],
            source_bias=source_bias,
            source_out=source_out,
            source_out_bias=source_out_bias,
            rest=weights["rest.weight"],
            rest_bias=weights["rest.bias"],
        )
        self._scores = np.empty((0, NUM_ACTIONS), np.float32)

    def __call__(self, inputs: Floats) -> Floats:
        """The scores `(N, 109)` for inputs `(N, E)`, as a view that the next call overwrites.

        Throws and finishes that are not possible have the score 0.
        """
        count = len(inputs)
        if len(self._scores) < count:
            self._scores = np.empty((count, NUM_ACTIONS), np.float32)
        _run_kinds(inputs, self._places, self._layers, self._scores[:count])
        return self._scores[:count]
