"""A network's weights as one vector, which a kernel takes as one argument, and its parts by name."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Shapes = Mapping[str, tuple[int, ...]]
"""The parts of a vector by name, in order, each with its shape, inputs first."""


def count_weights(shapes: Shapes) -> int:
    """How many weights there are.

    >>> count_weights({"out": (3, 2), "bias": (2,)})
    8
    """
    return sum(int(np.prod(shape)) for shape in shapes.values())


def part_starts(shapes: Shapes) -> dict[str, int]:
    """The first weight of each part, by its name.

    >>> part_starts({"out": (3, 2), "bias": (2,)})
    {'out': 0, 'bias': 6}
    """
    starts, start = {}, 0
    for name, shape in shapes.items():
        starts[name] = start
        start += int(np.prod(shape))
    return starts


def split_parts(weights: Floats, shapes: Shapes) -> dict[str, Floats]:
    """The parts of a vector of weights by name; views.

    >>> split_parts(np.arange(8, dtype=np.float32), {"out": (3, 2), "bias": (2,)})["bias"].tolist()
    [6.0, 7.0]
    """
    starts = part_starts(shapes)
    return {
        name: weights[starts[name] : starts[name] + int(np.prod(shape))].reshape(shape)
        for name, shape in shapes.items()
    }
