"""Tile odds: what the open tiles tell about one face, as a weighted sum.

Four places matter for a face: itself, the faces one and two away in runs, and its number in the other colours. For
each of eight open or hidden sets of tiles, a table has a weight for each of the four, and a last row for the rest. The
tables are regressions on rounds of `efficient` against itself; `scripts/studies/rule_weights.py odds` makes them anew.
"""

import math

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.position import Position
from okey_env.engine._jit import kernel
from okey_env.engine.hand import popcount
from okey_env.engine.hand.bits import WORD, both_ends, fold

Table = npt.NDArray[np.float64]
Hundredths = npt.NDArray[np.int64]

NUM_SETS = 8
NUM_PLACES = 4
_THROWS = 20
"""The throws that count for 1 in the last row."""

# rows: thrown by the right, opposite, left neighbour; taken by them; refused by the right; unseen. Columns: the face
# itself, one away, two away, the same number. Last row: a constant, throws / 20, a 1 or 13, a 2 or 12. In hundredths.
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
def places_of(bit: int, run_13_1: bool) -> tuple[int, int, int, int]:
    """The four places that matter for the face of a bit, as words."""
    tile = both_ends(1 << bit) if run_13_1 else 1 << bit
    one_away = fold((tile << 4 | tile >> 4) & WORD)
    two_away = fold((tile << 8 | tile >> 8) & WORD)
    return 1 << bit, one_away, two_away, 15 << (bit & ~3) & ~(1 << bit)


@kernel
def fill_set_counts(position: Position, bit: int, counts: Table) -> None:
    """Fill `(9, 4)` with what the tables weigh, for the face of a bit."""
    places = places_of(bit, position.run_13_1)
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
            counts[row, column] = popcount(sets[row] & places[column])
    for column in range(NUM_PLACES):
        counts[NUM_SETS - 1, column] += popcount(position.unseen_twice & places[column])
    number = bit >> 2
    counts[NUM_SETS, 0] = 1.0
    counts[NUM_SETS, 1] = position.throws / _THROWS
    counts[NUM_SETS, 2] = 1.0 if number in (0, 12) else 0.0
    counts[NUM_SETS, 3] = 1.0 if number in (1, 11) else 0.0


@kernel
def weigh_set(kinds: int, places: tuple[int, int, int, int], row: Hundredths) -> int:
    """The tiles of a set at the four places, each with its weight."""
    total = popcount(kinds & places[0]) * row[0]
    total += popcount(kinds & places[1]) * row[1]
    total += popcount(kinds & places[2]) * row[2]
    total += popcount(kinds & places[3]) * row[3]
    return int(total)


@kernel
def weigh(position: Position, bit: int, table: Hundredths) -> float:
    """The sum of the counts of a face (`fill_set_counts`), each with its weight.

    In whole numbers, since floats have to be added one after the other, for every tile that `expert` looks at.
    """
    places = places_of(bit, position.run_13_1)
    total = weigh_set(position.thrown_right, places, table[0])
    total += weigh_set(position.thrown_opposite, places, table[1])
    total += weigh_set(position.thrown_left, places, table[2])
    total += weigh_set(position.taken_right, places, table[3])
    total += weigh_set(position.taken_opposite, places, table[4])
    total += weigh_set(position.taken_left, places, table[5])
    total += weigh_set(position.refused, places, table[6])
    total += weigh_set(position.unseen, places, table[7]) + weigh_set(position.unseen_twice, places, table[7])
    number = bit >> 2
    rest = table[8]
    total += rest[0]
    if number == 0 or number == 12:
        total += rest[2]
    elif number == 1 or number == 11:
        total += rest[3]
    return float(_THROWS * total + position.throws * rest[1]) / (100.0 * _THROWS)


@kernel
def coming_rate(position: Position, bit: int) -> float:
    """How likely each unseen copy of a face is to come to the mover, 1 for a tile like any other; at least 0.2."""
    return max(0.2, weigh(position, bit, COMING_RATES) / _COMING_MEAN)


@kernel
def needed_chance(position: Position, bit: int) -> float:
    """The chance that the right-hand neighbour comes nearer to melds by a tile."""
    return 1.0 / (1.0 + math.exp(-weigh(position, bit, NEEDED_ODDS)))
