"""Starts processes that do not run the user's main module again, and packs what they are given.

`multiprocessing` has a new process run the main module first, so that its objects can be found there. A script without
`if __name__ == "__main__":` would then begin its work once more in every process. Here functions and classes of the
main module, lambdas and closures are sent by what they are (cloudpickle), so no process needs a main module. Code may
be saved to a file, given to `python -c` or typed into a notebook alike.
"""

import contextlib
import io
import multiprocessing
import pickle
import sys
import types
from collections import ChainMap
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, ClassVar

import cloudpickle

SPAWN = multiprocessing.get_context("spawn")
"""The context in which processes start."""


@contextlib.contextmanager
def without_main() -> Iterator[None]:
    """Let processes that start inside this context have an empty main module."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _reduce_code(code: types.CodeType) -> tuple[Any, ...]:
    make, arguments, *_ = cloudpickle.Pickler.dispatch_table[types.CodeType](code)
    return _named_code, (make, arguments, code.co_filename)


def _named_code(make: Callable[..., types.CodeType], arguments: tuple[Any, ...], file: str) -> types.CodeType:
    return make(*arguments).replace(co_filename=file)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc] # it comes without types
    """cloudpickle's, which forgets the files of functions: an exception has to say where it came from."""

    dispatch_table: ClassVar[Any] = ChainMap({types.CodeType: _reduce_code}, cloudpickle.Pickler.dispatch_table)


def pack(thing: Any) -> bytes:
    """A thing as bytes for another process, where `pickle.loads` makes it again.

    Raises:
        ValueError: it cannot be sent.
    """
    try:
        file = io.BytesIO()
        _Pickler(file).dump(thing)
        packed = file.getvalue()
        pickle.loads(packed)  # what cannot be made here can be made nowhere
    except Exception as error:
        raise ValueError(f"it cannot be sent to another process: {error}") from error
    return packed


def is_importable(thing: Any) -> bool:
    """Whether another process makes the same thing by its name alone, or by its values: not a lambda or a closure."""
    try:
        pickle.dumps(thing)
    except Exception:
        return False
    return True


@contextlib.contextmanager
def process_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes without a main module. What is submitted must be picklable; use `pack` for the rest."""
    with without_main(), ProcessPoolExecutor(workers, SPAWN) as pool:
        yield pool
