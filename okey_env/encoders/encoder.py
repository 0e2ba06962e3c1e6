"""What an encoder is: a fixed array made of named pieces, filled from an OBSERVATION record.

An encoder has a name and a version. An exported bot names both, and it is refused if they are unknown. The
version changes whenever a number in the array changes its index or its meaning, never for speed.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from okey_env.checks import MAX_WORKERS, shown, whole_number
from okey_env.observation import Observation
from okey_env.tiles import NUM_KINDS


@dataclasses.dataclass(frozen=True)
class Piece:
    """A part of the array with one meaning."""

    name: str
    size: int
    """The number of entries."""
    meaning: str
    """What the entries mean, with the range of the values."""


def size_of(pieces: Iterable[Piece]) -> int:
    """The number of entries of all pieces together.

    >>> size_of([Piece("rack", 53, "copies"), Piece("phase", 2, "1 for: drawing, throwing")])
    55
    """
    return sum(piece.size for piece in pieces)


def starts_of(pieces: Iterable[Piece]) -> dict[str, int]:
    """The index of the first entry of each piece, by name.

    >>> starts_of([Piece("rack", 53, "copies"), Piece("phase", 2, "1 for: drawing, throwing")])
    {'rack': 0, 'phase': 53}
    """
    starts, start = {}, 0
    for piece in pieces:
        starts[piece.name] = start
        start += piece.size
    return starts


def table_of(pieces: Iterable[Piece]) -> str:
    """A layout as a Markdown table.

    >>> print(table_of([Piece("rack", 53, "copies"), Piece("stock", 1, "tiles left / 48")]))
    | entries | piece | meaning |
    |---|---|---|
    | 0 … 52 | `rack` | copies |
    | 53 | `stock` | tiles left / 48 |
    """
    lines, start = ["| entries | piece | meaning |", "|---|---|---|"], 0
    for piece in pieces:
        entries = f"{start} … {start + piece.size - 1}" if piece.size > 1 else str(start)
        lines.append(f"| {entries} | `{piece.name}` | {piece.meaning} |")
        start += piece.size
    return "\n".join(lines)


@dataclasses.dataclass(frozen=True)
class Encoder:
    """An encoder of observations.

    >>> from okey_env.encoders import as_encoder
    >>> flat = as_encoder("flat")
    >>> flat.shape == (flat.size,), flat.pieces[0].name
    (True, 'rack')
    """

    name: str
    version: int
    pieces: tuple[Piece, ...]
    """The pieces of the array, in order."""
    fill: Callable[[np.record, npt.NDArray[np.float32]], None]
    """Fills `(size,)` float32 from one OBSERVATION record; a kernel, or plain Python for a slow encoder."""
    fill_many: Callable[[npt.NDArray[np.record], npt.NDArray[np.float32], int], None] | None = None
    """Fills `(N, size)` from `(N,)` records on a number of threads; None: `fill` is called for each record."""
    high: float = 1.0
    """No value is above this, and none below -`high`."""
    num_planes: int = 0
    """The first so many pieces are planes: one entry for each of the 53 kinds."""

    @functools.cached_property
    def size(self) -> int:
        """The number of entries of the array."""
        return size_of(self.pieces)

    @property
    def shape(self) -> tuple[int]:
        """The shape of the array."""
        return (self.size,)

    def encode(self, observation: Observation) -> npt.NDArray[np.float32]:
        """The array of one observation: `(size,)` float32.

        Raises:
            ValueError: `observation` is something else.
        """
        if not isinstance(observation, Observation):
            raise ValueError(f"observation={shown(observation)}: expected an okey_env.Observation")
        out = np.zeros((1, self.size), np.float32)
        self.fill_batch(observation.records, out)
        array: npt.NDArray[np.float32] = out[0]
        return array

    def fill_batch(self, records: npt.NDArray[np.record], out: npt.NDArray[np.float32], num_threads: int = 1) -> None:
        """Fill `(N, size)` float32 from `(N,)` OBSERVATION records.

        Raises:
            ValueError: `out` has another shape, so that a kernel would write beside it.
        """
        if out.shape != (len(records), self.size):
            raise ValueError(f"out has the shape {out.shape}: expected {(len(records), self.size)}")
        if num_threads != 1:
            num_threads = whole_number("num_threads", num_threads, 1, MAX_WORKERS)
        if self.fill_many is not None:
            self.fill_many(records, out, num_threads)
            return
        for i in range(len(records)):
            self.fill(records[i], out[i])

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the encoders of this package by their name, without their compiled kernels."""
        from okey_env.encoders import ENCODERS, as_encoder

        if ENCODERS.get(self.name) is self:
            return as_encoder, (self.name, self.version)
        return Encoder, tuple(getattr(self, field.name) for field in dataclasses.fields(self))

    def __deepcopy__(self, memo: object) -> "Encoder":
        """The encoder itself, since an encoder never changes."""
        return self

    def slices(self) -> Iterator[tuple[Piece, slice]]:
        """Each piece with its slice of the array."""
        starts = starts_of(self.pieces)
        for piece in self.pieces:
            yield piece, slice(starts[piece.name], starts[piece.name] + piece.size)

    def split(self, array: npt.NDArray[np.float32]) -> dict[str, npt.NDArray[np.float32]]:
        """The pieces of an array `(…, size)` by name, as views along its last axis.

        Raises:
            ValueError: the array has another size.
        """
        self._check(array)
        return {piece.name: array[..., entries] for piece, entries in self.slices()}

    def as_planes(self, array: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """The planes of `(…, size)` arrays by kind, `(…, 53, num_planes)`, and what follows them; views.

        >>> from okey_env.encoders import as_encoder
        >>> tiles = as_encoder("tiles_raw")
        >>> planes, facts = tiles.as_planes(np.zeros((8, tiles.size), np.float32))
        >>> planes.shape, facts.shape
        ((8, 53, 18), (8, 41))
        """
        self._check(array)
        end = self.num_planes * NUM_KINDS
        planes = array[..., :end].reshape(*array.shape[:-1], self.num_planes, NUM_KINDS)
        return np.swapaxes(planes, -1, -2), array[..., end:]

    def _check(self, array: npt.NDArray[np.float32]) -> None:
        if np.ndim(array) == 0 or array.shape[-1] != self.size:
            raise ValueError(f"the array has the shape {np.shape(array)}: expected (…, {self.size}) for {self.name!r}")

    def table(self) -> str:
        """The layout as a Markdown table."""
        return table_of(self.pieces)
