"""The parts of melds: which patterns exist, and where a hand holds them.

A *part* is two to five tiles of one meld. It is named by its pattern and a bit: for a run, the pattern says which of
the numbers from the bit's face on are held (`101` = the face and the one two higher); for a group, which colours.
The smallest meld has three tiles. The number of tiles beyond three that the smallest meld of a part has is its `EXTRA`:
`1001` lies in a run of four, so its `EXTRA` is 1.

Every pattern begins and ends with a held tile. So a part of a hand never reaches beyond the numbers that exist,
whatever the rest of its meld is.
"""

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel
from okey_env.engine.hand.bits import WORD, next_colour, opposite_colour

Array = npt.NDArray[np.int64]

# The searches try the patterns in this order: those with more held tiles first, then those with the smaller meld.
_RUNS = {
    0: "11111",
    1: "1111",
    3: "11011",
    4: "10111",
    5: "11101",
    6: "111",
    8: "1011",
    9: "1101",
    10: "10011",
    11: "10101",
    12: "11001",
    13: "11",
    14: "101",
    17: "1001",
    18: "10001",
}
_GROUPS = {2: "1111", 7: "111", 15: "11", 16: "101"}  # R4.2: from the bit's colour on, cyclic
NUM_PATTERNS = len(_RUNS) + len(_GROUPS)


def _arrays_by_pattern() -> tuple[Array, Array, Array, Array]:
    held = np.ones(NUM_PATTERNS + 1, dtype=np.int64)  # the last entry: a tile by itself
    extra = np.zeros(NUM_PATTERNS, dtype=np.int64)
    tiles = np.zeros((NUM_PATTERNS, 4), dtype=np.int64)
    holes = np.zeros((NUM_PATTERNS, 4), dtype=np.int64)
    for pattern, text in _RUNS.items():
        held[pattern] = text.count("1")
        extra[pattern] = max(0, len(text) - 3)
        for colour in range(4):
            for step, mark in enumerate(text):
                (tiles if mark == "1" else holes)[pattern, colour] |= 1 << 4 * step + colour
    for pattern, text in _GROUPS.items():
        held[pattern] = text.count("1")
        extra[pattern] = max(0, text.count("1") - 3)
        for colour in range(4):
            for step, mark in enumerate(text):
                if mark == "1":
                    tiles[pattern, colour] |= 1 << (colour + step) % 4
            holes[pattern, colour] = 15 ^ tiles[pattern, colour]
    return held, extra, tiles, holes


HELD, EXTRA, TILES, HOLES = _arrays_by_pattern()
"""Arrays by pattern. `HELD`: tiles held; one more entry, 1, stands for a single tile. `EXTRA`: tiles of its smallest
meld beyond three. `TILES` and `HOLES`, by pattern and by colour of the bit, are words for position 0: the tiles
held, and the missing tiles between them (of a group: the other colours)."""

FITTING = np.array([sum(1 << pattern for pattern in range(NUM_PATTERNS) if EXTRA[pattern] <= e) for e in range(3)])
"""`[3]`: the mask of the patterns that fit if 0, 1 or 2 extra tiles may be used."""
RUNS = sum(1 << pattern for pattern in _RUNS)
GROUPS = sum(1 << pattern for pattern in _GROUPS)
PAIRS = sum(1 << pattern for pattern in range(NUM_PATTERNS) if HELD[pattern] == 2)
"""The masks of the patterns of runs, of groups, and of two tiles."""
STEPS = np.zeros(NUM_PATTERNS, dtype=np.int64)
"""By pattern of a run: the shifts of the word to each tile after the first, as four numbers of five bits each."""
for _pattern, _text in _RUNS.items():
    _shifts = [4 * _step for _step, _mark in enumerate(_text) if _mark == "1"][1:]
    STEPS[_pattern] = sum(_shift << 5 * _index for _index, _shift in enumerate(_shifts))

_MARKS = (1 << 56, 1 << 57, 1 << 58)
MARKS = sum(_MARKS)
"""The bits above all tiles that stand for what the part `OUTSIDE` lacks with 0, 1 and 2 tiles more than necessary."""

_BASE = 4  # the position for which MISSING is written, so that it can reach down from there


def _missing() -> Array:
    missing = np.zeros((NUM_PATTERNS + 1, 4, 3), dtype=np.int64)
    missing[NUM_PATTERNS] = [mark << 4 * (_BASE - 3) for mark in _MARKS]
    for pattern, text in _RUNS.items():
        for colour in range(4):
            for more in range(3):
                reach = max(3, len(text)) + more - len(text)
                line = sum(1 << 4 * (_BASE + step) + colour for step in range(-reach, len(text) + reach))
                missing[pattern, colour, more] = line & ~(TILES[pattern, colour] << 4 * _BASE)
    for pattern in _GROUPS:
        for colour in range(4):
            for more in range(3):
                if more or HELD[pattern] < 3:
                    missing[pattern, colour, more] = HOLES[pattern, colour] << 4 * _BASE
    return missing


MISSING = _missing()
"""By pattern, colour and n = 0 to 2: the tiles that a hand lacks for melds up to n tiles larger than the smallest."""
OUTSIDE = NUM_PATTERNS << 6 | 4 * 3
"""A part that stands for one that is not in the hand. Its missing tiles are `MARKS`: which one says how far its meld
may grow."""


@kernel
def missing_of_part(pattern: int, bit: int, more: int) -> int:
    """The tiles that the hand lacks for the melds around a part, as a word.

    The melds are up to `more` tiles larger than the smallest one. The caller must mask the bits beyond the last number.
    """
    missing = int(MISSING[pattern, bit & 3, more])
    shift = (bit & ~3) - 4 * _BASE
    return (missing << shift) & WORD if shift >= 0 else missing >> -shift


@kernel
def unused_of_marks(missing: int) -> int:
    """The most tiles by which the meld of the part `OUTSIDE` can grow, 0 to 2; -1 if nothing was found."""
    if missing & MARKS == 0:
        return -1
    return 2 if missing >> 58 & 1 else missing >> 57 & 1


@kernel
def tiles_of_part(pattern: int, bit: int) -> int:
    """The tiles that a part holds, as a word."""
    return int(TILES[pattern, bit & 3]) << (bit & ~3)


@kernel
def patterns_held(held: int) -> int:
    """The patterns that `held` (with its top) holds somewhere, as a mask.

    It is computed without branches; the searches then look only at patterns that occur.
    """
    one = held >> 4
    two = held >> 8
    three = held >> 12
    four = held >> 16
    first_second = held & one
    first_third = held & two
    first_fourth = held & three
    first_fifth = held & four
    run_3 = first_second & two
    run_4 = run_3 & three
    neighbours = held & next_colour(held)
    opposites = held & opposite_colour(held)
    group_3 = neighbours & opposites
    return (
        int(run_4 & four != 0)
        | int(run_4 != 0) << 1
        | int(group_3 & next_colour(group_3) != 0) << 2
        | int(first_second & first_fourth & four != 0) << 3
        | int(first_third & first_fourth & four != 0) << 4
        | int(run_3 & four != 0) << 5
        | int(run_3 != 0) << 6
        | int(group_3 != 0) << 7
        | int(first_third & three != 0) << 8
        | int(first_second & three != 0) << 9
        | int(first_fourth & four != 0) << 10
        | int(first_third & four != 0) << 11
        | int(first_second & four != 0) << 12
        | int(first_second != 0) << 13
        | int(first_third != 0) << 14
        | int(neighbours != 0) << 15
        | int(opposites != 0) << 16
        | int(first_fourth != 0) << 17
        | int(first_fifth != 0) << 18
    )


@kernel
def bits_of_pattern(held: int, pattern: int) -> int:
    """The word of the bits at which `held` (with its top) holds the pattern."""
    if GROUPS >> pattern & 1:
        neighbours = held & next_colour(held)
        if pattern == 15:
            return neighbours
        opposites = held & opposite_colour(held)
        if pattern == 16:
            return opposites & 0x3333333333333
        group_3 = neighbours & opposites
        return group_3 if pattern == 7 else group_3 & next_colour(group_3) & 0x1111111111111
    steps = int(STEPS[pattern])
    return held & held >> (steps & 31) & held >> (steps >> 5 & 31) & held >> (steps >> 10 & 31) & held >> (steps >> 15)
