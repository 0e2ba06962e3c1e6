"""The parts of melds that a hand can hold: which there are, and where a hand holds them.

A *part* is two to five tiles of one meld. It is named by its pattern and a bit: for a run, the pattern says which of
the numbers from the bit's face on are held (`101` = the face and the one two higher); for a group, which colours.
A meld of three tiles is the smallest; what a part needs beyond three is its `EXTRA`: `1001` lies in a run of four.

All patterns have their ends held, so a part that is held fits on the table whatever the rest of its meld is.
"""

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel
from okey_env.engine.hand.bits import WORD, next_colour, opposite_colour

Table = npt.NDArray[np.int64]

# Held tiles, most first, and within that the smaller meld first: the order in which the searches try them.
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
_GROUPS = {2: "1111", 7: "111", 15: "11", 16: "101"}  # from the bit's colour on, the first following the last
NUM_PATTERNS = len(_RUNS) + len(_GROUPS)


def _tables() -> tuple[Table, Table, Table, Table]:
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


HELD, EXTRA, TILES, HOLES = _tables()
"""By pattern: tiles held (and 1 after the last, for a tile by itself); tiles of its smallest meld beyond three. By
pattern and colour of the bit, as words for position 0: the tiles held, and the missing ones between them (of a group:
the other colours)."""

FITTING = np.array([sum(1 << pattern for pattern in range(NUM_PATTERNS) if EXTRA[pattern] <= e) for e in range(3)])
"""By the extra tiles that may be used: the mask of the patterns that fit."""
RUNS = sum(1 << pattern for pattern in _RUNS)
GROUPS = sum(1 << pattern for pattern in _GROUPS)
PAIRS = sum(1 << pattern for pattern in range(NUM_PATTERNS) if HELD[pattern] == 2)
"""The masks of the patterns of runs, of groups, and of two tiles."""
STEPS = np.zeros(NUM_PATTERNS, dtype=np.int64)
"""By pattern of a run: how far the word is shifted to each tile beyond the first, four numbers of five bits."""
for _pattern, _text in _RUNS.items():
    _shifts = [4 * _step for _step, _mark in enumerate(_text) if _mark == "1"][1:]
    STEPS[_pattern] = sum(_shift << 5 * _place for _place, _shift in enumerate(_shifts))

_MARKS = (1 << 56, 1 << 57, 1 << 58)
MARKS = sum(_MARKS)
"""Above all tiles: what the part `OUTSIDE` lacks with 0, 1 and 2 tiles more than the smallest meld."""

_BASE = 4  # the position at which MISSING is noted, so that it can reach down from there


def _missing() -> Table:
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
"""By pattern, colour and 0 to 2: the tiles that the hand lacks for melds with so many tiles more than the smallest."""
OUTSIDE = NUM_PATTERNS << 6 | 4 * 3
"""A part in the place of one that is not of the hand; what it lacks are `MARKS`, as many as its meld may grow by."""


@kernel
def missing_of_part(pattern: int, bit: int, more: int) -> int:
    """The tiles that the hand lacks for any meld around the part that is up to `more` tiles larger than need be.

    What would lie beyond the ends of the line is to be masked by the caller.
    """
    missing = int(MISSING[pattern, bit & 3, more])
    shift = (bit & ~3) - 4 * _BASE
    return (missing << shift) & WORD if shift >= 0 else missing >> -shift


@kernel
def unused_of_marks(missing: int) -> int:
    """By how many tiles the meld of the part `OUTSIDE` may grow at most; -1 if nothing was found."""
    if missing & MARKS == 0:
        return -1
    return 2 if missing >> 58 & 1 else missing >> 57 & 1


@kernel
def tiles_of_part(pattern: int, bit: int) -> int:
    """The tiles that the part holds."""
    return int(TILES[pattern, bit & 3]) << (bit & ~3)


@kernel
def patterns_held(held: int) -> int:
    """Which patterns `held` (with its top) holds somewhere, as a mask.

    It comes without a branch, so that the searches jump only to patterns that are there.
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
