"""A second opinion on hands: slow, plain, and sharing no code or idea of search with `okey_env.engine.hand`.

Hands are `counts [53]` by kind (`colour * 13 + number - 1`, 52 = wild). Two oracles of the same number, the most
natural tiles of a hand that can belong to one winning rack made of melds:

* `most_covered` goes through whole melds of three to five tiles, three or four of them that make 14 tiles together,
  in order of how much of the hand each covers by itself, and counts what they cover together.
* `most_covered_by_program` asks an integer program, in which a run may have any length (R4.3).
"""

from functools import cache
from typing import Any

import numpy as np
from numba import njit

Array = np.ndarray[Any, Any]


@cache
def all_melds(run_13_1: bool, longest: int = 5) -> list[tuple[int, ...]]:
    """Every meld of three tiles to `longest` (R4.1, R4.2), as its kinds."""
    melds = []
    for colour in range(4):
        line = [colour * 13 + number for number in range(13)]
        if run_13_1:
            line.append(colour * 13)
        for length in range(3, longest + 1):
            melds += [tuple(line[start : start + length]) for start in range(len(line) - length + 1)]
    for number in range(13):
        faces = [colour * 13 + number for colour in range(4)]
        melds.append(tuple(faces))
        melds += [tuple(face for face in faces if face != left_out) for left_out in faces]
    return melds


@cache
def _meld_table(run_13_1: bool) -> tuple[Array, Array]:
    melds = all_melds(run_13_1)
    table = np.full((len(melds), 5), -1, dtype=np.int64)
    for row, meld in zip(table, melds, strict=True):
        row[: len(meld)] = meld
    return table, np.array([len(meld) for meld in melds])


def most_covered(counts: Array, run_13_1: bool = True) -> int:
    """The most natural tiles that can belong to one winning rack made of melds."""
    table, sizes = _meld_table(run_13_1)
    return int(_most_covered(np.asarray(counts, dtype=np.int64), table, sizes))


@njit(cache=False)  # type: ignore[untyped-decorator]
def _most_covered(counts: Array, table: Array, sizes: Array) -> int:
    alone = np.zeros(len(table), dtype=np.int64)
    for meld in range(len(table)):
        for place in range(sizes[meld]):
            alone[meld] += counts[table[meld, place]] > 0
    order = np.argsort(-alone)
    return _add_melds(counts.copy(), table[order], sizes[order], alone[order], 0, 14, 0, 0)


@njit(cache=False)  # type: ignore[untyped-decorator]
def _add_melds(
    left: Array, table: Array, sizes: Array, alone: Array, first: int, room: int, covered: int, best: int
) -> int:
    """Add melds from `first` on until `room` tiles are filled exactly."""
    if room == 0:
        return max(best, covered)
    if room < 3:
        return best
    for meld in range(first, len(table)):
        if covered + (room // 3) * alone[meld] <= best:  # no later meld covers more
            break
        if sizes[meld] > room:
            continue
        gain = 0
        taken = np.zeros(5, dtype=np.bool_)
        for place in range(sizes[meld]):
            if left[table[meld, place]] > 0:
                taken[place] = True
                left[table[meld, place]] -= 1
                gain += 1
        best = _add_melds(left, table, sizes, alone, meld, room - sizes[meld], covered + gain, best)
        for place in range(sizes[meld]):
            if taken[place]:
                left[table[meld, place]] += 1
    return best
