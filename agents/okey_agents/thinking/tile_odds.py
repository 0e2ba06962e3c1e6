"""Tile odds: what the open tiles tell about one face, as a weighted sum.

The faces in four relations to a face matter: itself, the faces one and two away in runs, and its number in the other
colours. A table of weights has a row for each of eight open or hidden sets of tiles, with a weight for each relation,
and a last row for what is no set. The tables are regressions on rounds of `efficient` against itself;
`scripts/studies/rule_weights.py odds` makes them anew.
"""

import math

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.neighbours import (
    ITSELF,
    NUM_RELATIONS,
    ONE_AWAY,
    SAME_NUMBER,
    TWO_AWAY,
    related_faces,
)
from okey_agents.thinking.position import Position
from okey_env.engine._jit import kernel
from okey_env.engine.hand import popcount

Table = npt.NDArray[np.float64]
Hundredths = npt.NDArray[np.int64]

(
    THROWN_RIGHT,
    THROWN_OPPOSITE,
    THROWN_LEFT,
    TAKEN_RIGHT,
    TAKEN_OPPOSITE,
    TAKEN_LEFT,
    REFUSED,
    UNSEEN,
    NUM_SETS,
) = range(9)
"""Rows of a table: sets of tiles, as `Position` names them; their columns are the relations of `neighbours`."""
REST = NUM_SETS
"""The last row; its columns follow."""
CONSTANT, THROWS, AT_END, NEXT_TO_END = range(NUM_RELATIONS)
"""1; throws / 20; whether the number is 1 or 13; whether it is 2 or 12."""
_THROWS_UNIT = 20
"""The throws that count for 1."""

# in hundredths
COMING_RATES: Hundredths = np.array(
    [
        [-45, +43, +21, +32],
        [-3, +10, +7, +7],
        [+49, -24, -11, -21],
        [+31, -21, -5, -14],
        [+46, -44, -12, -34],
        [+63, -60, -21, -32],
        [-28, +15, +5, +13],
        [+12, -17, +0, -13],
        [+305, -49, +15, +12],
    ],
    np.int64,
)
"""How many tiles come for each unseen one, in units of a tile drawn at random: by drawing and by the left's throws."""
_COMING_MEAN = 1.92
NEEDED_ODDS: Hundredths = np.array(
    [
        [-346, -5, -12, +6],
        [+30, -10, -6, -10],
        [+14, -6, -9, -9],
        [-169, +94, +39, +40],
        [-39, +10, +5, +10],
        [-32, +8, -5, +8],
        [-166, +0, +3, -3],
        [-19, +18, +0, +10],
        [-150, -55, -21, -17],
    ],
    np.int64,
)
"""The log odds that a thrown tile brings the right-hand neighbour nearer to melds."""
NEEDED_MEAN = 0.25
"""The chance for an average tile that one would throw."""


@kernel
def fill_set_counts(position: Position, bit: int, counts: Table) -> None:
    """Fill `(9, 4)` with what the tables weigh, for the face of a bit."""
    related = related_faces(bit, position.run_13_1)
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
        for column in range(NUM_RELATIONS):
            counts[row, column] = popcount(sets[row] & related[column])
    for column in range(NUM_RELATIONS):
        counts[UNSEEN, column] += popcount(position.unseen_twice & related[column])
    number = bit >> 2
    counts[REST, CONSTANT] = 1.0
    counts[REST, THROWS] = position.throws / _THROWS_UNIT
    counts[REST, AT_END] = 1.0 if number in (0, 12) else 0.0
    counts[REST, NEXT_TO_END] = 1.0 if number in (1, 11) else 0.0


@kernel
def weigh_set(kinds: int, related: tuple[int, int, int, int], row: Hundredths) -> int:
    """The tiles of a set in each relation, each with the weight that a row has for it."""
    total = popcount(kinds & related[ITSELF]) * row[ITSELF]
    total += popcount(kinds & related[ONE_AWAY]) * row[ONE_AWAY]
    total += popcount(kinds & related[TWO_AWAY]) * row[TWO_AWAY]
    total += popcount(kinds & related[SAME_NUMBER]) * row[SAME_NUMBER]
    return int(total)


@kernel
def weigh(position: Position, bit: int, table: Hundredths) -> float:
    """The sum of the counts of a face (`fill_set_counts`), each with its weight.

    The kernel adds whole numbers, because floats have to be added one after the other, and `expert` asks this for
    every tile that it looks at.
    """
    related = related_faces(bit, position.run_13_1)
    total = weigh_set(position.thrown_right, related, table[THROWN_RIGHT])
    total += weigh_set(position.thrown_opposite, related, table[THROWN_OPPOSITE])
    total += weigh_set(position.thrown_left, related, table[THROWN_LEFT])
    total += weigh_set(position.taken_right, related, table[TAKEN_RIGHT])
    total += weigh_set(position.taken_opposite, related, table[TAKEN_OPPOSITE])
    total += weigh_set(position.taken_left, related, table[TAKEN_LEFT])
    total += weigh_set(position.refused, related, table[REFUSED])
    total += weigh_set(position.unseen, related, table[UNSEEN])
    total += weigh_set(position.unseen_twice, related, table[UNSEEN])
    number = bit >> 2
    rest = table[REST]
    total += rest[CONSTANT]
    if number == 0 or number == 12:
        total += rest[AT_END]
    elif number == 1 or number == 11:
        total += rest[NEXT_TO_END]
    return float(_THROWS_UNIT * total + position.throws * rest[THROWS]) / (100.0 * _THROWS_UNIT)


@kernel
def coming_rate(position: Position, bit: int) -> float:
    """How likely each unseen copy of a face is to come to the mover, 1 for a tile like any other; at least 0.2."""
    return max(0.2, weigh(position, bit, COMING_RATES) / _COMING_MEAN)


@kernel
def needed_chance(position: Position, bit: int) -> float:
    """The chance that the right-hand neighbour comes nearer to melds by a tile."""
    return 1.0 / (1.0 + math.exp(-weigh(position, bit, NEEDED_ODDS)))
