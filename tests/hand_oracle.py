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

from okey_env.engine._jit import kernel

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
    left = np.asarray(counts, dtype=np.int64).copy()
    alone = ((left > 0)[table] & (table >= 0)).sum(axis=1)  # of each meld, how many of its tiles the hand has
    order = np.argsort(-alone)
    return int(_add_melds(left, table[order], sizes[order], alone[order]))


@kernel
def _add_melds(left: Array, table: Array, sizes: Array, alone: Array) -> int:
    """Fill 14 places with melds in every way, each meld from the one before it on; the most that they cover together.

    A kernel that is kept on disk must not call itself, so what each depth of the search knows lies in arrays.
    """
    chosen, taken = np.zeros(5, dtype=np.int64), np.zeros(5, dtype=np.int64)  # a meld, and which of its tiles are held
    room, covered = np.zeros(5, dtype=np.int64), np.zeros(5, dtype=np.int64)
    room[0] = 14
    depth, best = 0, 0
    while depth >= 0:
        meld = chosen[depth]
        if room[depth] == 0:
            best = max(best, covered[depth])
        # the last condition: no later meld covers more
        if room[depth] < 3 or meld == len(table) or covered[depth] + (room[depth] // 3) * alone[meld] <= best:
            depth -= 1
            if depth >= 0:
                meld = chosen[depth]
                for place in range(sizes[meld]):
                    if taken[depth] >> place & 1:
                        left[table[meld, place]] += 1
                chosen[depth] += 1
        elif sizes[meld] > room[depth]:
            chosen[depth] += 1
        else:
            taken[depth] = 0
            gain = 0
            for place in range(sizes[meld]):
                if left[table[meld, place]] > 0:
                    taken[depth] |= 1 << place
                    left[table[meld, place]] -= 1
                    gain += 1
            chosen[depth + 1] = meld
            room[depth + 1] = room[depth] - sizes[meld]
            covered[depth + 1] = covered[depth] + gain
            depth += 1
    return int(best)


@cache
def _program(run_13_1: bool) -> Any:
    """The integer program without its hand: how many of each meld, and how many tiles of each face they cover."""
    import highspy

    melds = all_melds(run_13_1, longest=14)
    program: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    program.setOptionValue("output_flag", False)
    program.setOptionValue("threads", 1)
    for _ in melds:
        program.addVar(0, 4)
    for _ in range(52):
        program.addVar(0, 2)
    for column in range(len(melds) + 52):
        program.changeColIntegrality(column, highspy.HighsVarType.kInteger)
    for face in range(52):
        program.changeColCost(len(melds) + face, -1.0)
        using = [(column, float(meld.count(face))) for column, meld in enumerate(melds) if face in meld]
        columns = np.array([len(melds) + face] + [column for column, _ in using], dtype=np.int32)
        values = np.array([1.0] + [-number for _, number in using])
        program.addRow(-highspy.kHighsInf, 0.0, len(columns), columns, values)
    sizes = np.array([float(len(meld)) for meld in melds])
    program.addRow(14.0, 14.0, len(melds), np.arange(len(melds), dtype=np.int32), sizes)
    return program, len(melds)


def most_covered_by_program(counts: Array, run_13_1: bool = True) -> int:
    """The same by an integer program: cover what the hand has, with whole melds of 14 tiles together."""
    program, num_melds = _program(run_13_1)
    for face in range(52):
        program.changeColBounds(num_melds + face, 0.0, float(counts[face]))
    program.run()
    return round(-float(program.getInfo().objective_function_value))


def after_throw(counts: Array, kind: int) -> Array:
    """The hand without one tile of that kind."""
    left = counts.copy()
    left[kind] -= 1
    return left


def melds_distance(counts: Array, run_13_1: bool = True) -> int:
    """Tiles to exchange before 14 are all melds, by its definition through `most_covered`."""
    return max(0, 14 - int(counts[52]) - most_covered(counts, run_13_1))


def is_seven_pairs(counts: Array) -> bool:
    """Whether 14 tiles are seven pairs: wild tiles pair with singles first, and with each other (R4.4)."""
    singles = sum(1 for count in counts[:52] if count % 2)
    wilds = int(counts[52])
    return singles <= wilds and (wilds - singles) % 2 == 0


def pairs_distance(counts: Array) -> int:
    """Tiles to exchange before 14 are seven pairs: the best choice of seven faces, wild tiles for what they lack."""
    held = sum(sorted((int(count) for count in counts[:52]), reverse=True)[:7])
    return max(0, 14 - held - int(counts[52]))


# Hands to try, by family.


def random_hand(generator: np.random.Generator, size: int, run_13_1: bool) -> Array:
    """Dealt from all 106 tiles."""
    return _counts(generator.permutation(np.repeat(np.arange(53), 2))[:size])


def near_hand(generator: np.random.Generator, size: int, run_13_1: bool) -> Array:
    """A winning rack, up to two of its tiles wild, up to two exchanged."""
    melds = all_melds(run_13_1)
    while True:
        counts = np.zeros(53, dtype=np.uint8)
        room = 14
        while room >= 3:
            meld = melds[generator.integers(len(melds))]
            if len(meld) <= room:
                for face in meld:
                    counts[face] += 1
                room -= len(meld)
        if room:
            continue
        for _ in range(generator.integers(3)):
            faces = np.flatnonzero(counts[:52] == counts[:52].max())  # a third copy first
            counts[generator.choice(faces)] -= 1
            counts[52] += 1
        for _ in range(generator.integers(3)):
            counts[generator.choice(np.flatnonzero(counts[:52]))] -= 1
        if counts.max() <= 2:
            return _filled(generator, counts, size)


def wrap_hand(generator: np.random.Generator, size: int, run_13_1: bool) -> Array:
    """Tiles around the end of the line: 10 to 13 and 1 to 4, in few colours."""
    colours = generator.permutation(4)[: generator.integers(2, 5)]
    numbers = [9, 10, 11, 12, 0, 1, 2, 3]
    return _narrow(generator, size, [int(colour) * 13 + number for colour in colours for number in numbers])


def copies_hand(generator: np.random.Generator, size: int, run_13_1: bool) -> Array:
    """Few faces, most of them held twice: melds that want a third copy of a face."""
    start = int(generator.integers(13))
    numbers = [(start + step) % 13 for step in range(generator.integers(3, 6))]
    return _narrow(generator, size, [colour * 13 + number for colour in range(4) for number in numbers], wilds=True)


def two_wilds_hand(generator: np.random.Generator, size: int, run_13_1: bool) -> Array:
    """Any hand with both wild tiles."""
    counts = _counts(generator.permutation(np.repeat(np.arange(52), 2))[: size - 2])
    counts[52] = 2
    return counts


def pairs_hand(generator: np.random.Generator, size: int, run_13_1: bool) -> Array:
    """Four to seven pairs, and more."""
    counts = np.zeros(53, dtype=np.uint8)
    counts[generator.permutation(52)[: generator.integers(4, 8)]] = 2
    counts[52] = generator.integers(0, min(2, size - int(counts.sum())) + 1)
    return _filled(generator, counts, size)


def scattered_hand(generator: np.random.Generator, size: int, run_13_1: bool) -> Array:
    """Faces that hardly meet, held twice: single tiles in slots, gaps of three and four."""
    offsets = generator.permutation(13)[:4]
    faces = [colour * 13 + (int(offsets[colour]) + 4 * step) % 13 for colour in range(4) for step in range(4)]
    return _narrow(generator, size, faces, wilds=True)


FAMILIES = {
    "random": random_hand,
    "near": near_hand,
    "wrap": wrap_hand,
    "copies": copies_hand,
    "wilds": two_wilds_hand,
    "pairs": pairs_hand,
    "scattered": scattered_hand,
}


def _counts(kinds: Array) -> Array:
    return np.bincount(kinds, minlength=53).astype(np.uint8)


def _filled(generator: np.random.Generator, counts: Array, size: int) -> Array:
    """With tiles taken away or added until there are `size`."""
    while counts.sum() > size:
        counts[generator.choice(np.flatnonzero(counts[:52]))] -= 1
    while counts.sum() < size:
        counts[generator.choice(np.flatnonzero(counts[:52] < 2))] += 1
    return counts


def _narrow(generator: np.random.Generator, size: int, faces: list[int], wilds: bool = False) -> Array:
    """Dealt from both copies of `faces`; the rest, if they are too few, from all tiles."""
    counts = _counts(generator.permutation(np.repeat(sorted(set(faces)), 2))[: size - 2])
    if wilds:
        counts[52] = generator.integers(3)
    return _filled(generator, counts, size)
