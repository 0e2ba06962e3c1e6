"""What the open tiles tell about the hidden ones: four chances for each face, by a small network.

What has been thrown, taken, left lying or is still unseen around a face says who needs it and where its copies are.
`tile_odds` weighs that in two sums, which is quick, and what the rules go by; the network here knows nearly twice as
much beyond what the progress of the round says (training_configs/README.md), and is for those who look more closely.

It looks at each face in the same way: at the face itself, those one and two away in runs, and its number in the other
colours, in two layers. So it is the same under all 48 symmetries of the tiles. It reads a `Position`, which is what the
mover sees, and learned from rounds in which everything was known: `scripts/train_hidden_tiles.py`.

The weights are a constant of the kernels, as the tables of `tile_odds` are.

Letters: `K` outputs, `C` channels, `S` sets of kinds, `W` weights.
"""

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.neighbours import NUM_RELATIONS, related_faces
from okey_agents.thinking.position import Position
from okey_agents.thinking.vectors import size_of
from okey_env.engine._jit import kernel
from okey_env.engine.hand import lowest_bit, popcount
from okey_env.engine.hand.bits import FACES

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

NEEDED = 0
"""The right-hand neighbour's rack comes nearer to melds by the face."""
FINISHES = 1
"""It is one tile from melds, and the face is such a tile."""
COMES = 2
"""The left neighbour throws the face before the mover's next turn."""
IN_STOCK = 3
"""An unseen copy lies in the stock, and not in a rack."""
NUM_CHANCES = 4

NUM_FACES = 52
NUM_SETS = 17
NUM_SCALARS = 6
CHANNELS = 24
_FIRST = NUM_SETS * NUM_RELATIONS
_SECOND = CHANNELS * NUM_RELATIONS
SHAPES: dict[str, tuple[int, ...]] = {
    "first": (_FIRST + NUM_SCALARS, CHANNELS),
    "bias_1": (CHANNELS,),
    "second": (_SECOND + NUM_SCALARS, CHANNELS),
    "bias_2": (CHANNELS,),
    "out": (CHANNELS, NUM_CHANCES),
    "bias_3": (NUM_CHANCES,),
}
"""The parts of the vector of weights, in order, inputs first. A layer's inputs are its planes at the four places of
`tile_odds.places_of`, all planes at one place before the next, then the scalars."""
NUM_WEIGHTS = size_of(SHAPES)
_BIAS_1 = (_FIRST + NUM_SCALARS) * CHANNELS
_SECOND_AT = _BIAS_1 + CHANNELS
_BIAS_2 = _SECOND_AT + (_SECOND + NUM_SCALARS) * CHANNELS
_OUT = _BIAS_2 + CHANNELS
_BIAS_3 = _OUT + CHANNELS * NUM_CHANCES

ONES = 0xF
"""The faces of number 1, which stand at the end of runs; the reflection of numbers leaves them where they are."""
SECONDS = 0xF << 48 | 0xF0
"""Those of 2 and 13, which the reflection takes into each other."""


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
    """Fill `(S,)` sets of kinds and the scalars: what the network sees."""
    sets[0] = position.unseen
    sets[1] = position.unseen_twice
    sets[2] = position.thrown_right
    sets[3] = position.thrown_opposite
    sets[4] = position.thrown_left
    sets[5] = position.taken_right
    sets[6] = position.taken_opposite
    sets[7] = position.taken_left
    sets[8] = position.refused
    sets[9] = position.top_right
    sets[10] = position.top_opposite
    sets[11] = position.top_left
    sets[12] = position.known_right
    sets[13] = position.known_opposite
    sets[14] = position.known_left
    sets[15] = ONES
    sets[16] = SECONDS
    scalars[0] = np.float32(position.throws) / np.float32(20) - np.float32(1)
    scalars[1] = np.float32(position.stock_left) / np.float32(24) - np.float32(1)
    scalars[2] = np.float32(popcount(position.taken_right)) / np.float32(3)
    scalars[3] = np.float32(popcount(position.taken_opposite)) / np.float32(3)
    scalars[4] = np.float32(popcount(position.taken_left)) / np.float32(3)
    scalars[5] = position.rules.false_joker_as_okey


@kernel
def predict(position: Position, faces: int, weights: Floats, chances: Floats) -> None:
    """Fill the rows of some faces of `(52, K)` chances, by bit; the others stay as they are.

    Args:
        position: what the mover sees.
        faces: of which faces, as a word.
        weights: `(W,)`; `WEIGHTS` but in training.
        chances: to fill.
    """
    sets = np.empty(NUM_SETS, np.int64)
    scalars = np.empty(NUM_SCALARS, np.float32)
    fill_inputs(position, sets, scalars)
    first = np.empty((NUM_FACES, CHANNELS), np.float32)
    _run_first(sets, scalars, position.run_13_1, weights, first)
    base = np.empty(CHANNELS, np.float32)
    _run_scalars(scalars, weights, _SECOND_AT + _SECOND * CHANNELS, _BIAS_2, base)
    around = np.empty(CHANNELS, np.float32)
    second = np.empty(CHANNELS, np.float32)
    left = faces & FACES
    while left:
        bit = lowest_bit(left)
        left &= left - 1
        second[:] = base
        places = related_faces(bit, position.run_13_1)
        for place in range(NUM_RELATIONS):
            around[:] = np.float32(0)
            others = places[place]
            while others:
                other = lowest_bit(others)
                others &= others - 1
                for k in range(CHANNELS):
                    around[k] += first[other, k]
            _add_layer(around, weights, _SECOND_AT + place * CHANNELS * CHANNELS, second)
        for output in range(NUM_CHANCES):
            total = weights[_BIAS_3 + output]
            for k in range(CHANNELS):
                total += max(second[k], np.float32(0)) * weights[_OUT + k * NUM_CHANCES + output]
            chances[bit, output] = np.float32(1.0 / (1.0 + math.exp(-float(total))))


@kernel
def _run_first(sets: Ints, scalars: Floats, run_13_1: bool, weights: Floats, first: Floats) -> None:
    """Fill `(52, C)`, the first layer for every face."""
    base = np.empty(CHANNELS, np.float32)
    _run_scalars(scalars, weights, _FIRST * CHANNELS, _BIAS_1, base)
    for bit in range(NUM_FACES):
        row = first[bit]
        row[:] = base
        places = related_faces(bit, run_13_1)
        for place in range(NUM_RELATIONS):
            kinds = places[place]
            at = place * NUM_SETS * CHANNELS
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
