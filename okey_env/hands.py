"""Analysis of a rack: distance from a finish (shanten), finishing tiles, useful tiles, a best arrangement.

Racks are *counts*: uint8 by kind, `(53,)`, or a batch `(N, 53)`; kinds are played values (`okey_env.tiles`, R1.6).
Every function takes one rack or a batch, and gives one result per rack. A rack has 14 tiles, or 15 if its player is to
throw; each function says which it takes. `run_13_1` is the switch of R4.1: whether a 1 may follow a 13.

The *distance* is the number of tiles that must be exchanged until 14 of the rack's tiles are a winning rack; 0 means
that they are already. The distance is exact. It does not depend on which tiles are gone: a tile whose two copies have
been thrown still counts as one that may come.

All results follow from one number: the most natural tiles of the rack that can belong to one winning rack. The solver
in `okey_env.engine.hand` finds it in less than a microsecond, and a call from Python takes several. So use batches.

>>> rack = parse("R1 R2 R3 R4  B5 B6 B7  K9 Y9 R9  Y1 Y2 Y3  *  K12", okey="Y5")
>>> melds_distance(rack), pairs_distance(rack)
(0, 6)
>>> [tiles.kind_text(kind, "Y5") for kind in np.flatnonzero(finishing_kinds(rack))]
['K12']
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from okey_env import tiles
from okey_env.checks import choice, index_of, list_of, shown, whole_number, yes_or_no
from okey_env.engine import hand

Counts = npt.NDArray[np.uint8]
Distances = npt.NDArray[np.int8]
Kinds = npt.NDArray[np.bool_]


def parse(text: str, okey: str | int) -> Counts:
    """The counts of a rack written in text notation (`F` = a false joker, `*` or the okey's own face = a wild tile).

    >>> rack = parse("R12 R13 R1 * F", okey="Y5")
    >>> rack[52], rack[tiles.parse_face("Y5")], rack.sum()
    (np.uint8(1), np.uint8(1), np.uint64(5))
    """
    return tiles.parse_rack(text, okey)


def melds_distance(counts: Counts, *, run_13_1: bool = True) -> int | Distances:
    """How many tiles of a rack of 14 or 15 must be exchanged until 14 of them are all melds (R4.1, R4.2).

    Returns:
        A number, or `(N,)` int8 for a batch.

    >>> rack = parse("R12 R13 R1  B5 B6 B7  K9 Y9 R9  Y1 Y2 Y3 Y4  K12", okey="R7")
    >>> melds_distance(rack), melds_distance(rack, run_13_1=False)
    (1, 2)
    """
    return _one_or_many(counts, _melds_distances(_checked(counts, (14, 15)), run_13_1))


def pairs_distance(counts: Counts) -> int | Distances:
    """How many tiles of a rack of 14 or 15 must be exchanged until 14 of them are seven pairs (R4.4).

    Returns:
        A number, or `(N,)` int8 for a batch.

    >>> pairs_distance(parse("R1 R1 R2 R2 R3 R3 B7 B7 B9 B9 * * K4 Y8", okey="Y5"))
    0
    """
    batch = _checked(counts, (14, 15))
    distances = np.empty(len(batch), dtype=np.int8)
    hand.pairs_of_batch(batch, distances)
    return _one_or_many(counts, distances)


def finishing_kinds(counts: Counts, by: Literal["any", "melds", "pairs"] = "any", *, run_13_1: bool = True) -> Kinds:
    """The kinds with which a rack of 15 tiles can finish: laid on the stock, they leave a winning rack (R5.1).

    Args:
        counts: racks of 15 tiles.
        by: the winning racks that count: all melds, seven pairs, or any.
        run_13_1: whether a 1 may follow a 13.

    Returns:
        `(53,)` or `(N, 53)` bool; all False if the rack cannot finish.

    >>> rack = parse("R1 R2 R3 R4  B5 B6 B7  K9 Y9 R9  Y1 Y2 Y3  K12 K13", okey="Y5")
    >>> finishing_kinds(rack).any()
    np.False_
    """
    batch = _checked(counts, sizes=(15,))
    melds = np.empty(batch.shape, dtype=np.uint8)
    pairs = np.empty(batch.shape, dtype=np.uint8)
    choice("by", by, ("any", "melds", "pairs"))
    hand.finishing_of_batch(batch, yes_or_no("run_13_1", run_13_1), melds, pairs)
    marks = {"any": melds | pairs, "melds": melds, "pairs": pairs}[by].astype(np.bool_)
    return marks if counts.ndim == 2 else marks[0]


def throw_distances(counts: Counts, *, run_13_1: bool = True) -> Distances:
    """The melds distance of a rack of 15 tiles after each throw.

    Returns:
        `(53,)` or `(N, 53)` int8 by the kind thrown; -1 for a kind that the rack does not hold.

    >>> rack = parse("R1 R2 R3  B5 B6 B7  K9 Y9 R9  Y1 Y2 Y3 Y4  *  B10", okey="Y5")
    >>> after = throw_distances(rack)
    >>> after[tiles.parse_face("B10")], after[tiles.parse_face("R1")], after[52], after[tiles.parse_face("R4")]
    (np.int8(0), np.int8(1), np.int8(1), np.int8(-1))
    """
    return analyse(counts, run_13_1=run_13_1, sizes=(15,)).throw_distances


def useful_kinds(counts: Counts, *, run_13_1: bool = True, indicator: str | int | None = None) -> Kinds:
    """The kinds that shorten the melds distance of a rack of 14 tiles when the rack gets one.

    If the distance is above 0, the wild kind is useful unless the rack holds both wild tiles. A kind whose copies are
    all in the rack is never useful: there is no third tile of a face, of the false jokers or of the wild kind, and no
    second tile of the indicator's face, since the other one is the indicator (R1.3).

    Args:
        counts: racks of 14 tiles.
        run_13_1: whether a 1 may follow a 13.
        indicator: the indicator's face; None: it is not known, and every face has two copies.

    Returns:
        `(53,)` or `(N, 53)` bool.

    >>> rack = parse("R1 R2 R3  B5 B6 B7  K9 Y9 R9 B9  Y1 Y2 Y3  K12", okey="Y5")
    >>> " ".join(tiles.kind_text(kind, "Y5") for kind in np.flatnonzero(useful_kinds(rack)))
    'R4 B4 B8 Y4 *'
    """
    batch = _checked(counts, sizes=(14,))
    marks = np.empty(batch.shape, dtype=np.uint8)
    hand.useful_of_batch(batch, yes_or_no("run_13_1", run_13_1), marks)
    useful = marks.view(np.bool_)
    if (twin := _twin(indicator)) is not None:
        useful[batch[:, twin] > 0, twin] = False
    return useful if counts.ndim == 2 else useful[0]


@dataclass(frozen=True)
class Analysis:
    """The distances of a rack, or of N racks, and the effect of every throw and draw; kinds are on the last axis.

    Attributes:
        distance: tiles to exchange until 14 of them are all melds: a number, or `(N,)` int8.
        pairs_distance: the same for seven pairs.
        throw_distances: `(53,)` or `(N, 53)` int8: the melds distance after a throw of that kind, -1 if it is not held.
        keeps: `(53,)` or `(N, 53)` bool: the kinds whose throw keeps the distance.
        useful: `(53,)` or `(N, 53)` bool: the kinds that shorten the distance when the rack gets one.
        useful_after: `(53, 53)` or `(N, 53, 53)` bool: `useful_after[t, f]` says whether f is useful after the throw
            of t. It is all False for a kind t that is not in `keeps`. Multiply it by the counts of unseen tiles to get
            the number of tiles that help.
    """

    distance: int | Distances
    pairs_distance: int | Distances
    throw_distances: Distances
    keeps: Kinds
    useful: Kinds
    useful_after: Kinds


def analyse(
    counts: Counts,
    *,
    run_13_1: bool = True,
    sizes: tuple[int, ...] = (14, 15),
    indicator: str | int | None = None,
) -> Analysis:
    """The `Analysis` of a rack of 14 or 15 tiles, in one pass.

    Args:
        counts: the racks.
        run_13_1: whether a 1 may follow a 13.
        sizes: the numbers of tiles that a rack may have.
        indicator: the indicator's face, of which a rack that holds one can get no other; None: it is not known.

    >>> rack = parse("R1 R2 R3  B5 B6 B7  K9 Y9 R9 B9  Y1 Y2  K4 Y12 Y13", okey="Y7")
    >>> found = analyse(rack)
    >>> found.distance, tiles.rack_text(found.keeps, "Y7")
    (1, 'K4 Y2')
    """
    if not list_of(sizes) or not all(index_of(size) in (14, 15) for size in sizes):
        raise ValueError(f"sizes={shown(sizes)}: expected (14,), (15,) or (14, 15)")
    batch = _checked(counts, sizes)
    run_13_1 = yes_or_no("run_13_1", run_13_1)
    n = len(batch)
    distances, pairs_distances = np.empty(n, dtype=np.int8), np.empty(n, dtype=np.int8)
    throws = np.empty((n, 53), dtype=np.int8)
    keep, useful = np.empty((n, 53), dtype=np.uint8), np.empty((n, 53), dtype=np.uint8)
    useful_after = np.zeros((n, 53, 53), dtype=np.uint8)
    hand.analyse_batch(batch, run_13_1, distances, pairs_distances, throws, keep, useful, useful_after)
    if (twin := _twin(indicator)) is not None:  # after its own throw too, as with any face of which all are gone
        holds = batch[:, twin] > 0
        useful[holds, twin] = 0
        useful_after[holds, :, twin] = 0
    one = slice(None) if counts.ndim == 2 else 0
    return Analysis(
        distance=_one_or_many(counts, distances),
        pairs_distance=_one_or_many(counts, pairs_distances),
        throw_distances=throws[one],
        keeps=keep.view(np.bool_)[one],
        useful=useful.view(np.bool_)[one],
        useful_after=useful_after.view(np.bool_)[one],
    )


@dataclass(frozen=True)
class Meld:
    """A meld on the rack, or a part of one.

    Attributes:
        faces: the faces in order, as kinds; for a wild tile, the face that it stands for.
        wild: for each of them, whether the tile is wild.
    """

    faces: tuple[int, ...]
    wild: tuple[bool, ...]

    @property
    def kinds(self) -> tuple[int, ...]:
        """The kinds of the tiles; a wild tile has the wild kind."""
        return tuple(tiles.WILD if wild else face for face, wild in zip(self.faces, self.wild, strict=True))

    def __str__(self) -> str:
        """The tiles as text, a wild tile with the face that it stands for: `R12 *=R13 R1`."""
        marks = ("*=" if wild else "" for wild in self.wild)
        return " ".join(mark + tiles.face_text(face) for mark, face in zip(marks, self.faces, strict=True))


@dataclass(frozen=True)
class Arrangement:
    """A best arrangement of a rack.

    Attributes:
        melds: complete melds, wild tiles included (R4).
        parts: two or more tiles each, which need one or two more tiles to be a meld.
        left_over: `(53,)` uint8, the counts of all other tiles.
    """

    melds: tuple[Meld, ...]
    parts: tuple[Meld, ...]
    left_over: Counts


def arrange(counts: Counts, *, run_13_1: bool = True) -> Arrangement | list[Arrangement]:
    """A best arrangement of a rack of 14 or 15 tiles: one that needs as many exchanges as the melds distance.

    In a finished rack all tiles are in melds, except the finishing tile of 15.

    Returns:
        An arrangement, or a list of N for a batch.

    >>> found = arrange(parse("R12 * R1  B5 B6 B7  K9 Y9 R9  Y1 Y2 Y3 Y4  F", okey="Y5"))
    >>> for meld in found.melds:
    ...     print(meld)
    Y1 Y2 Y3 Y4 Y5
    B5 B6 B7
    R9 K9 Y9
    R12 *=R13 R1
    """
    batch = _checked(counts, (14, 15))
    run_13_1 = yes_or_no("run_13_1", run_13_1)
    found = [_arrange(rack, run_13_1) for rack in batch]
    return found if counts.ndim == 2 else found[0]


def _arrange(rack: Counts, run_13_1: bool) -> Arrangement:
    words = np.zeros((4, 2), dtype=np.uint64)
    num_melds, num_parts = hand.arrange(*hand.hand_of_counts(rack), run_13_1, words)
    rows = [_meld(int(natural), int(stands)) for natural, stands in words[: num_melds + num_parts]]
    left_over = rack.copy()
    for row in rows:
        for kind in row.kinds:
            left_over[kind] -= 1
    return Arrangement(tuple(rows[:num_melds]), tuple(rows[num_melds:]), left_over)


def _meld(natural: int, stands: int) -> Meld:
    """The tiles of two words in which bit `4 * position + colour` is set, position 13 for a 1 after a 13."""
    bits = [bit for bit in range(56) if (natural | stands) >> bit & 1]
    return Meld(
        faces=tuple(bit % 4 * 13 + bit // 4 % 13 for bit in bits),
        wild=tuple(bool(stands >> bit & 1) for bit in bits),
    )


def _twin(indicator: str | int | None) -> int | None:
    """The kind of the indicator's other copy."""
    if isinstance(indicator, str):
        return tiles.parse_face(indicator)
    return None if indicator is None else whole_number("indicator", indicator, 0, tiles.NUM_FACES - 1)


def _melds_distances(batch: Counts, run_13_1: bool) -> Distances:
    distances = np.empty(len(batch), dtype=np.int8)
    hand.melds_of_batch(batch, yes_or_no("run_13_1", run_13_1), distances)
    return distances


def _one_or_many(counts: Counts, values: Distances) -> int | Distances:
    return values if counts.ndim == 2 else int(values[0])


def _checked(counts: Any, sizes: tuple[int, ...]) -> Counts:
    """The racks as a batch `(N, 53)`.

    Raises:
        ValueError: `counts` is not an array of racks of these sizes; the message says what is wrong and where.
    """
    if not isinstance(counts, np.ndarray) or counts.ndim not in (1, 2) or counts.shape[-1] != 53:
        what = f"an array {counts.shape}" if isinstance(counts, np.ndarray) else f"a {type(counts).__name__}"
        raise ValueError(f"counts are {what}: expected an array (53,) or (N, 53)")
    if counts.dtype.kind not in "iu":
        raise ValueError(f"counts have dtype {counts.dtype}: expected uint8 (whole numbers by kind)")
    batch = counts[None] if counts.ndim == 1 else counts
    if batch.dtype != np.uint8:
        _refuse_counts(batch, np.argwhere((batch < 0) | (batch > 2)), counts.ndim == 2)
    batch = np.ascontiguousarray(batch, dtype=np.uint8)
    rack = hand.first_wrong(batch, sizes[0], sizes[-1])
    if rack >= 0:
        _refuse_counts(batch, np.argwhere(batch > 2), counts.ndim == 2)
        where = f"rack {rack} has" if counts.ndim == 2 else "the rack has"
        expected = " or ".join(str(size) for size in sizes)
        raise ValueError(f"{where} {batch[rack].sum()} tiles: expected {expected}")
    return batch


def _refuse_counts(batch: Counts, wrong: npt.NDArray[np.intp], many: bool) -> None:
    """Raise a ValueError for the first pair (rack, kind) in `wrong`, whose count is not 0, 1 or 2; if there is one."""
    for rack, kind in wrong[:1]:
        name = "wild tile" if kind == tiles.WILD else tiles.face_text(int(kind))
        where = f"rack {rack}: " if many else ""
        raise ValueError(f"{where}kind {kind} ({name}) has a count of {batch[rack, kind]}: expected 0, 1 or 2")
