"""Clues: what the open tiles tell about one face, as a weighted sum.

Four places matter for a face: itself, the faces one and two away in runs, and its number in the other colours. For
each of eight open or hidden sets of tiles, a table has a weight for each of the four, and a last row for the rest. The
tables are regressions on rounds of `efficient` against itself; `scripts/tune.py clues` makes them anew.
"""

import math

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel
from okey_env.engine.hand import popcount
from okey_env.engine.hand.bits import WORD, both_ends, fold

from .position import Position

Table = npt.NDArray[np.float64]

NUM_SETS = 8
NUM_PLACES = 4

# rows: thrown by the right, opposite, left neighbour; taken by them; refused by the right; unseen. Columns: the face
# itself, one away, two away, the same number. Last row: a constant, throws / 20, a 1 or 13, a 2 or 12.
COMING = np.array(
    [
        [-0.45, +0.43, +0.21, +0.32],
        [-0.03, +0.10, +0.07, +0.07],
        [+0.49, -0.24, -0.11, -0.21],
        [+0.31, -0.21, -0.05, -0.14],
        [+0.46, -0.44, -0.12, -0.34],
        [+0.63, -0.60, -0.21, -0.32],
        [-0.28, +0.15, +0.05, +0.13],
        [+0.12, -0.17, +0.00, -0.13],
        [+3.05, -0.49, +0.15, +0.12],
    ]
)
"""How many tiles come for each unseen one, in units of a tile drawn at random: by drawing and by the left's throws."""
_COMING_MEAN = 1.92
NEEDED = np.array(
    [
        [-3.46, -0.05, -0.12, +0.06],
        [+0.30, -0.10, -0.06, -0.10],
        [+0.14, -0.06, -0.09, -0.09],
        [-1.69, +0.94, +0.39, +0.40],
        [-0.39, +0.10, +0.05, +0.10],
        [-0.32, +0.08, -0.05, +0.08],
        [-1.66, +0.00, +0.03, -0.03],
        [-0.19, +0.18, +0.00, +0.10],
        [-1.50, -0.55, -0.21, -0.17],
    ]
)
"""The log odds that a thrown tile brings the right-hand neighbour nearer to melds."""
NEEDED_MEAN = 0.25
"""The chance for an average tile that one would throw."""


@kernel
def fill_clues(position: Position, bit: int, clues: Table) -> None:
    """Fill `(9, 4)` with what the tables weigh, for the face of a bit."""
    tile = both_ends(1 << bit) if position.run_13_1 else 1 << bit
    places = (
        1 << bit,
        fold((tile << 4 | tile >> 4) & WORD),
        fold((tile << 8 | tile >> 8) & WORD),
        15 << (bit & ~3) & ~(1 << bit),
    )
    sets = (
        position.thrown_right,
        position.thrown_opposite,
        position.thrown_left,
        position.taken_right,
        position.taken_opposite,
        position.taken_left,
        position.refused,
        position.unseen,
    )
    for row in range(NUM_SETS):
        for column in range(NUM_PLACES):
            clues[row, column] = popcount(sets[row] & places[column])
    for column in range(NUM_PLACES):
        clues[NUM_SETS - 1, column] += popcount(position.unseen_twice & places[column])
    number = bit >> 2
    clues[NUM_SETS, 0] = 1.0
    clues[NUM_SETS, 1] = position.throws / 20.0
    clues[NUM_SETS, 2] = 1.0 if number in (0, 12) else 0.0
    clues[NUM_SETS, 3] = 1.0 if number in (1, 11) else 0.0


@kernel
def weigh(position: Position, bit: int, table: Table) -> float:
    """The sum of the clues of a face with the weights of a table."""
    clues = np.empty((NUM_SETS + 1, NUM_PLACES), np.float64)
    fill_clues(position, bit, clues)
    total = 0.0
    for row in range(NUM_SETS + 1):
        for column in range(NUM_PLACES):
            total += clues[row, column] * table[row, column]
    return total


@kernel
def coming(position: Position, bit: int) -> float:
    """How likely each unseen copy of a face is to come to the mover, 1 for a tile like any other; at least 0.2."""
    return max(0.2, weigh(position, bit, COMING) / _COMING_MEAN)


@kernel
def needed(position: Position, bit: int) -> float:
    """The chance that the right-hand neighbour comes nearer to melds by a tile."""
    return 1.0 / (1.0 + math.exp(-weigh(position, bit, NEEDED)))
