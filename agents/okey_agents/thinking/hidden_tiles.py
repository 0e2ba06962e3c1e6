"""What the open tiles tell about the hidden ones: four chances for each face, by a small network.

What has been thrown, taken, left lying or is still unseen around a face says who needs it and where its copies are.
`tile_odds` weighs the same in two sums. The sums are quick, and the rules use them. The network tells nearly twice as
much beyond what the progress of the round says (docs/experiments/networks.md); the candidate scorer uses it.

The network looks at each face in the same way, in two layers: at the faces in each relation of `neighbours`. So it is
the same under all 48 symmetries of the tiles. It reads a `Position`, which is what the mover sees. It learned from
rounds in which everything was known: `scripts/train_hidden_tiles.py`.

The weights are a constant of the kernels, as the tables of `tile_odds` are.

Letters: `K` chances, `C` channels, `S` sets of kinds, `W` weights.
"""

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.neighbours import NUM_RELATIONS, related_faces
from okey_agents.thinking.position import Position
from okey_agents.thinking.vectors import count_weights, part_starts
from okey_env.encoders.encoder import Piece, size_of, starts_of
from okey_env.engine._jit import kernel
from okey_env.engine.hand import lowest_bit, popcount
from okey_env.engine.hand.bits import FACES
from okey_env.tiles import NUM_FACES

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

CHANCES = (
    Piece("needed", 1, "the face brings the rack of the right-hand neighbour nearer to melds"),
    Piece("finishes", 1, "the right-hand neighbour is one tile from melds, and the face is such a tile"),
    Piece("comes", 1, "the left neighbour throws the face before the mover's next turn"),
    Piece("in_stock", 1, "an unseen copy of the face lies in the stock, and not in a rack"),
)
"""The outputs for each face: four chances."""
SETS = (
    Piece("unseen", 1, "one copy at least may be hidden, in a rack or in the stock"),
    Piece("unseen_twice", 1, "both copies may be hidden"),
    Piece("thrown_right", 1, "thrown by the right-hand neighbour, whoever took it since"),
    Piece("thrown_opposite", 1, "the same of the seat opposite"),
    Piece("thrown_left", 1, "the same of the left neighbour"),
    Piece("taken_right", 1, "taken by the right-hand neighbour"),
    Piece("taken_opposite", 1, "the same of the seat opposite"),
    Piece("taken_left", 1, "the same of the left neighbour"),
    Piece("refused", 1, "thrown by the mover and left lying by the right-hand neighbour"),
    Piece("top_right", 1, "the last tile on the heap of the right-hand neighbour"),
    Piece("top_opposite", 1, "the same of the seat opposite"),
    Piece("top_left", 1, "the same of the left neighbour"),
    Piece("known_right", 1, "known to lie in the rack of the right-hand neighbour"),
    Piece("known_opposite", 1, "the same of the seat opposite"),
    Piece("known_left", 1, "the same of the left neighbour"),
    Piece("ones", 1, "number 1, which stands at the ends of runs"),
    Piece("next_to_ones", 1, "numbers 2 and 13"),
)
"""The inputs by face: sets of kinds."""
SCALARS = (
    Piece("throws", 1, "throws so far / 20, less 1"),
    Piece("stock", 1, "tiles in the stock / 24, less 1"),
    Piece("takes_right", 1, "kinds taken by the right-hand neighbour / 3"),
    Piece("takes_opposite", 1, "the same of the seat opposite"),
    Piece("takes_left", 1, "the same of the left neighbour"),
    Piece("false_joker_as_okey", 1, "1 if a finish on a false joker counts as one on the okey (R6.3)"),
)
"""The inputs that all faces share."""

_CHANCE, _SET, _SCALAR = starts_of(CHANCES), starts_of(SETS), starts_of(SCALARS)
NUM_CHANCES, NUM_SETS, NUM_SCALARS = size_of(CHANCES), size_of(SETS), size_of(SCALARS)
NEEDED, FINISHES, COMES, IN_STOCK = _CHANCE["needed"], _CHANCE["finishes"], _CHANCE["comes"], _CHANCE["in_stock"]
UNSEEN, UNSEEN_TWICE = _SET["unseen"], _SET["unseen_twice"]
THROWN_RIGHT, THROWN_OPPOSITE = _SET["thrown_right"], _SET["thrown_opposite"]
THROWN_LEFT = _SET["thrown_left"]
TAKEN_RIGHT, TAKEN_OPPOSITE, TAKEN_LEFT = _SET["taken_right"], _SET["taken_opposite"], _SET["taken_left"]
REFUSED = _SET["refused"]
TOP_RIGHT, TOP_OPPOSITE, TOP_LEFT = _SET["top_right"], _SET["top_opposite"], _SET["top_left"]
KNOWN_RIGHT, KNOWN_OPPOSITE, KNOWN_LEFT = _SET["known_right"], _SET["known_opposite"], _SET["known_left"]
ONES, NEXT_TO_ONES = _SET["ones"], _SET["next_to_ones"]
_THROWS, _STOCK, _FALSE_JOKER = _SCALAR["throws"], _SCALAR["stock"], _SCALAR["false_joker_as_okey"]
_TAKES_RIGHT, _TAKES_OPPOSITE, _TAKES_LEFT = _SCALAR["takes_right"], _SCALAR["takes_opposite"], _SCALAR["takes_left"]

CHANNELS = 24
_BY_FACE_1 = NUM_SETS * NUM_RELATIONS
_BY_FACE_2 = CHANNELS * NUM_RELATIONS
SHAPES: dict[str, tuple[int, ...]] = {
    "first": (_BY_FACE_1 + NUM_SCALARS, CHANNELS),
    "bias_1": (CHANNELS,),
    "second": (_BY_FACE_2 + NUM_SCALARS, CHANNELS),
    "bias_2": (CHANNELS,),
    "out": (CHANNELS, NUM_CHANCES),
    "bias_3": (NUM_CHANCES,),
}
"""The parts of the vector of weights, in order, inputs first. The inputs of a layer are its planes of faces in the
first relation of `neighbours`, in the second, and so on; then the scalars."""
NUM_WEIGHTS = count_weights(SHAPES)
_PART = part_starts(SHAPES)
_FIRST, _BIAS_1, _SECOND = _PART["first"], _PART["bias_1"], _PART["second"]
_BIAS_2, _OUT, _BIAS_3 = _PART["bias_2"], _PART["out"], _PART["bias_3"]

_FACES_OF_1 = 0xF  # the reflection of numbers leaves them where they are
_FACES_OF_2_AND_13 = 0xF << 48 | 0xF0  # the reflection takes one into the other


def _load() -> Floats:
    """The weights that ship; the file is part of this module's source for the cache of kernels."""
    with np.load(Path(__file__).with_suffix(".npz"), allow_pickle=False) as file:
        weights: Floats = np.ascontiguousarray(file["weights"], np.float32)
    if weights.shape != (NUM_WEIGHTS,):
        raise ValueError(f"hidden_tiles.npz has {weights.shape} weights: expected ({NUM_WEIGHTS},)")
    return weights


WEIGHTS = _load()


@kernel
def fill_inputs(position: Position, sets: Ints, scalars: Floats) -> None:
    """Fill what the network sees: `(S,)` sets of kinds as `SETS` has them, and the scalars as `SCALARS` has them."""
    sets[UNSEEN] = position.unseen
    sets[UNSEEN_TWICE] = position.unseen_twice
    sets[THROWN_RIGHT] = position.thrown_right
    sets[THROWN_OPPOSITE] = position.thrown_opposite
    sets[THROWN_LEFT] = position.thrown_left
    sets[TAKEN_RIGHT] = position.taken_right
    sets[TAKEN_OPPOSITE] = position.taken_opposite
    sets[TAKEN_LEFT] = position.taken_left
    sets[REFUSED] = position.refused
    sets[TOP_RIGHT] = position.top_right
    sets[TOP_OPPOSITE] = position.top_opposite
    sets[TOP_LEFT] = position.top_left
    sets[KNOWN_RIGHT] = position.known_right
    sets[KNOWN_OPPOSITE] = position.known_opposite
    sets[KNOWN_LEFT] = position.known_left
    sets[ONES] = _FACES_OF_1
    sets[NEXT_TO_ONES] = _FACES_OF_2_AND_13
    scalars[_THROWS] = np.float32(position.throws) / np.float32(20) - np.float32(1)
    scalars[_STOCK] = np.float32(position.stock_left) / np.float32(24) - np.float32(1)
    scalars[_TAKES_RIGHT] = np.float32(popcount(position.taken_right)) / np.float32(3)
    scalars[_TAKES_OPPOSITE] = np.float32(popcount(position.taken_opposite)) / np.float32(3)
    scalars[_TAKES_LEFT] = np.float32(popcount(position.taken_left)) / np.float32(3)
    scalars[_FALSE_JOKER] = position.rules.false_joker_as_okey


@kernel
def predict(position: Position, faces: int, weights: Floats, chances: Floats) -> None:
    """Fill the rows of some faces of `(52, K)` chances, by bit; the others stay as they are.

    Args:
        position: what the mover sees.
        faces: of which faces, as a word.
        weights: `(W,)`; `WEIGHTS`, or in training others.
        chances: `(52, K)` to fill, as `CHANCES` has them.
    """
    sets = np.empty(NUM_SETS, np.int64)
    scalars = np.empty(NUM_SCALARS, np.float32)
    fill_inputs(position, sets, scalars)
    first = np.empty((NUM_FACES, CHANNELS), np.float32)
    _run_first(sets, scalars, position.run_13_1, weights, first)
    base = np.empty(CHANNELS, np.float32)
    _run_scalars(scalars, weights, _SECOND + _BY_FACE_2 * CHANNELS, _BIAS_2, base)
    around = np.empty(CHANNELS, np.float32)
    second = np.empty(CHANNELS, np.float32)
    left = faces & FACES
    while left:
        bit = lowest_bit(left)
        left &= left - 1
        second[:] = base
        related = related_faces(bit, position.run_13_1)
        for relation in range(NUM_RELATIONS):
            around[:] = np.float32(0)
            others = related[relation]
            while others:
                other = lowest_bit(others)
                others &= others - 1
                for k in range(CHANNELS):
                    around[k] += first[other, k]
            _add_layer(around, weights, _SECOND + relation * CHANNELS * CHANNELS, second)
        for output in range(NUM_CHANCES):
            total = weights[_BIAS_3 + output]
            for k in range(CHANNELS):
                total += max(second[k], np.float32(0)) * weights[_OUT + k * NUM_CHANCES + output]
            chances[bit, output] = np.float32(1.0 / (1.0 + math.exp(-float(total))))


@kernel
def _run_first(sets: Ints, scalars: Floats, run_13_1: bool, weights: Floats, first: Floats) -> None:
    """Fill `(52, C)`, the first layer for every face."""
    base = np.empty(CHANNELS, np.float32)
    _run_scalars(scalars, weights, _FIRST + _BY_FACE_1 * CHANNELS, _BIAS_1, base)
    for bit in range(NUM_FACES):
        row = first[bit]
        row[:] = base
        related = related_faces(bit, run_13_1)
        for relation in range(NUM_RELATIONS):
            kinds = related[relation]
            at = _FIRST + relation * NUM_SETS * CHANNELS
            for j in range(NUM_SETS):
                count = popcount(sets[j] & kinds)
                if count:
                    _add_row(np.float32(count), weights, at + j * CHANNELS, row)
        for k in range(CHANNELS):
            row[k] = max(row[k], np.float32(0))


@kernel
def _run_scalars(scalars: Floats, weights: Floats, start: int, bias: int, out: Floats) -> None:
    """Fill `(C,)` with the part of a layer that is the same for all faces."""
    for k in range(CHANNELS):
        out[k] = weights[bias + k]
    for j in range(NUM_SCALARS):
        _add_row(scalars[j], weights, start + j * CHANNELS, out)


@kernel
def _add_row(value: np.float32, weights: Floats, start: int, out: Floats) -> None:
    """Add a row of weights, times a number."""
    row = weights[start : start + CHANNELS]
    for k in range(CHANNELS):
        out[k] += value * row[k]


@kernel
def _add_layer(inputs: Floats, weights: Floats, start: int, out: Floats) -> None:
    """Add the product of `(C,)` inputs and a square of weights; eight sums at a time, which takes half the time."""
    for k in range(0, CHANNELS, 8):
        a, b, c, d = out[k], out[k + 1], out[k + 2], out[k + 3]
        e, f, g, h = out[k + 4], out[k + 5], out[k + 6], out[k + 7]
        for j in range(CHANNELS):
            value = inputs[j]
            row = weights[start + j * CHANNELS + k : start + j * CHANNELS + k + 8]
            a += value * row[0]
            b += value * row[1]
            c += value * row[2]
            d += value * row[3]
            e += value * row[4]
            f += value * row[5]
            g += value * row[6]
            h += value * row[7]
        out[k], out[k + 1], out[k + 2], out[k + 3] = a, b, c, d
        out[k + 4], out[k + 5], out[k + 6], out[k + 7] = e, f, g, h
