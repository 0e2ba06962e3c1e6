"""A network's weights as one vector, which a kernel takes as one argument, and its parts by name."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Shapes = Mapping[str, tuple[int, ...]]
"""The parts of a vector, in order, each with its shape, inputs first."""


def size_of(shapes: Shapes) -> int:
    """How many weights there are.

    >>> size_of({"out": (3, 2), "bias": (2,)})
    8
    """
    return sum(int(np.prod(shape)) for shape in shapes.values())


def split_parts(weights: Floats, shapes: Shapes) -> dict[str, Floats]:
    """The parts of a vector of weights by name; views.

    >>> split_parts(np.arange(8, dtype=np.float32), {"out": (3, 2), "bias": (2,)})["bias"].tolist()
    [6.0, 7.0]
    """
    parts, start = {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape))
        parts[name] = weights[start : start + size].reshape(shape)
        start += size
    return parts
