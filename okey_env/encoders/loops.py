"""The loops of a compiled encoder over many records, made here for every encoder.

numba does not keep a kernel on disk that takes a function. So each encoder needs its own loops that call its `fill` by
name. They are compiled from the text below as if it were in the module of the encoder, so that they are kept on disk
with it.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel, on_threads, prange

Fill = Callable[[np.record, npt.NDArray[np.float32]], None]
FillMany = Callable[[npt.NDArray[np.record], npt.NDArray[np.float32], int], None]

_LOOPS = """
@kernel(borrows=borrows)
def {name}_range(records, out, start, stop):
    for i in range(start, stop):
        fill(records[i], out[i])


@kernel(parallel=True)
def {name}_parallel(records, out, parts):
    size = len(records)
    for part in prange(parts):
        {name}_range(records, out, part * size // parts, (part + 1) * size // parts)
"""


def fill_many_of(fill: Fill, *, borrows: bool = False) -> FillMany:
    """The function that fills `(N, E)` float32 from `(N,)` OBSERVATION records on a number of threads.

    Args:
        fill: the kernel that fills `(E,)` from one record, defined at the top of a module.
        borrows: whether `fill` makes no arrays, see `okey_env.engine._jit.kernel`.
    """
    module = sys.modules[fill.__module__]
    name = fill.__name__
    scope: dict[str, Any] = {
        "__name__": module.__name__,
        "fill": fill,
        "borrows": borrows,
        "kernel": kernel,
        "prange": prange,
    }
    exec(compile(_LOOPS.format(name=name), str(module.__file__), "exec"), scope)
    fill_range, fill_parallel = scope[f"{name}_range"], scope[f"{name}_parallel"]

    def fill_many(records: npt.NDArray[np.record], out: npt.NDArray[np.float32], num_threads: int) -> None:
        if num_threads == 1:
            fill_range(records, out, 0, len(records))
        else:
            with on_threads(num_threads):
                fill_parallel(records, out, num_threads)

    return fill_many
