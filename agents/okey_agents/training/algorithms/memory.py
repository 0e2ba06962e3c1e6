"""Decisions to learn from again: observations without their zeros, and a reservoir."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


class SparseRows:
    """Rows of which few entries are not 0, as places and float16 values: about 0.8 kB for `tiles` instead of 6 kB.

    Args:
        capacity: the number of rows.
        size: entries of a row.
    """

    def __init__(self, capacity: int, size: int) -> None:
        if size > 2**16:
            raise ValueError(f"size={size}: expected {2**16} or less")
        self._size = size
        self._places = np.zeros((capacity, 1), np.uint16)
        self._values = np.zeros((capacity, 1), np.float16)

    def put(self, rows: Ints, observations: Floats) -> None:
        """Keep `(N, size)` observations at the places `(N,)`."""
        row, column = observations.nonzero()
        counts = np.bincount(row, minlength=len(observations))
        width = max(int(counts.max(initial=1)), self._places.shape[1])
        wider = ((0, 0), (0, width - self._places.shape[1]))
        self._places, self._values = np.pad(self._places, wider), np.pad(self._values, wider)
        within = np.arange(len(row)) - (counts.cumsum() - counts)[row]
        places = np.zeros((len(observations), width), np.uint16)
        values = np.repeat(observations[:, :1].astype(np.float16), width, 1)  # places that are left over write entry 0
        places[row, within], values[row, within] = column, observations[row, column]
        self._places[rows], self._values[rows] = places, values

    def get(self, rows: Ints) -> Floats:
        """The observations at the places `(N,)`: `(N, size)`."""
        observations = np.zeros((len(rows), self._size), np.float32)
        np.put_along_axis(observations, self._places[rows].astype(np.int64), self._values[rows].astype(np.float32), 1)
        return observations

    @property
    def nbytes(self) -> int:
        """What the rows take in memory."""
        return self._places.nbytes + self._values.nbytes


class Reservoir:
    """Keeps at most `capacity` of all numbers offered to it; each of them is kept with the same probability.

    `places` says where the offered rows go, so that any arrays can be kept by it.

    Args:
        capacity: how many are kept.
        rng: draws.
    """

    def __init__(self, capacity: int, rng: np.random.Generator) -> None:
        self.capacity = capacity
        self._rng = rng
        self._offered = 0

    def __len__(self) -> int:
        return min(self._offered, self.capacity)

    def places(self, count: int) -> tuple[Ints, Ints]:
        """Which of `count` new rows to keep and where: indices `(N,)`, places `(N,)`, all different."""
        numbers = self._offered + np.arange(count)
        self._offered += count
        drawn = np.where(numbers < self.capacity, numbers, self._rng.integers(0, numbers + 1))
        kept = np.flatnonzero(drawn < self.capacity)
        _, last = np.unique(drawn[kept][::-1], return_index=True)  # of two at one place, the later one stays
        kept = kept[len(kept) - 1 - last]
        return kept, drawn[kept]
