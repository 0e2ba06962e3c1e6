"""The one way in which this project compiles a function: the decorator `kernel`.

A kernel is an ordinary Python function on numbers, arrays and game records, compiled by numba on its
first call and kept on disk for the next process. Two things are done here that plain
`numba.njit(cache=True)` does not do:

* numba's file cache looks only at the source file of the function itself, so an edit in a module that it
  *calls* would go unnoticed. The cache folder is therefore named by a hash of the module's source and of all
  modules of the project that it imports, directly or not, each with the `.npz` of its name, whose arrays are
  constants. After an edit, only the kernels that depend on the edited module are compiled again.
* The first compilation takes seconds, so one line on stderr says what the process is doing.

With `NUMBA_DISABLE_JIT=1` every kernel stays a plain Python function. Coverage is measured in this mode, and a debugger
can step through the rules.
"""

import contextlib
import functools
import hashlib
import importlib.util
import inspect
import os
import pickle
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, overload

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, config, event, sigutils
from numba.core.caching import IndexDataCacheFile
from numba.core.ccallback import CFunc
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])

JIT_IS_OFF = bool(config.DISABLE_JIT)
prange: Any = range if JIT_IS_OFF else numba.prange
"""The `range` whose loop `kernel(parallel=True)` divides among threads."""
_FORGET_AFTER_DAYS = 14
_OURS = ("okey_env", "okey_agents")
"""The packages that are installed together; a bot of another package may call kernels of either."""
_IMPORT = re.compile(r"^(?:from|import)[ \t]+(\.*)([\w.]*)(?:[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*))?", re.MULTILINE)


@overload
def kernel(function: Function) -> Function: ...
@overload
def kernel(*, parallel: bool = ..., borrows: bool = ...) -> Callable[[Function], Function]: ...


def kernel(function: Any = None, *, parallel: bool = False, borrows: bool = False) -> Any:
    """Compile a function with numba, cached on disk until any source of its package changes.

    Args:
        function: the function, if the decorator is used without arguments.
        parallel: allow `numba.prange`; for the loops over games in `okey_env.engine.parallel` and in the encoders.
        borrows: the function makes no arrays; it only uses the arrays that it gets, and parts of them. Then numba does
            not count references to arrays. Counting takes atomic operations for each row of a batch: a seventh of the
            time of `look`.
    """
    if function is None:
        return functools.partial(kernel, parallel=parallel, borrows=borrows)
    if JIT_IS_OFF:
        return function
    with _cached_in(function.__module__) as folder:
        options: dict[str, Any] = {
            "cache": folder is not None,
            "nogil": True,
            "no_cfunc_wrapper": True,  # nobody calls kernels from C; saves a seventh of the compile time
            "parallel": parallel,
            "error_model": "numpy",
            "_nrt": not borrows,
        }
        compiled = numba.njit(function, **options)
        if folder is not None:
            _seal(compiled._cache)
        return compiled


_one_at_a_time = threading.RLock()
_first_process = 0


class on_threads:  # noqa: N801 - used like a function in `with`; a generator would cost 2 microseconds more a step
    """A context in which parallel kernels called by this thread use `number` threads.

    One thread of Python at a time is inside: numba's layer `workqueue` ends the process when two are.

    Raises:
        RuntimeError: on entry, if the process was forked from one that had been inside: its threads are gone, and
            OpenMP would end the process.
    """

    __slots__ = ("_before", "_number")

    def __init__(self, number: int) -> None:
        self._number = number

    def __enter__(self) -> None:
        global _first_process
        _one_at_a_time.acquire()
        if _first_process != os.getpid():
            if _first_process:
                _one_at_a_time.release()
                raise RuntimeError(
                    f"num_threads={self._number} in a process that was forked from one whose games had used threads: "
                    "start processes by 'spawn' or 'forkserver', or use num_threads=1 in one of the two"
                )
            _first_process = os.getpid()
        self._before: int = numba.get_num_threads()
        if self._before != self._number:
            numba.set_num_threads(self._number)

    def __exit__(self, *error: object) -> None:
        if self._before != self._number:
            numba.set_num_threads(self._before)
        _one_at_a_time.release()


def _new_lock() -> None:
    global _one_at_a_time
    _one_at_a_time = threading.RLock()  # another thread may have held the old one when this process was forked


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


@contextlib.contextmanager
def _cached_in(module: str) -> Iterator[Path | None]:
    """A context in which numba keeps decorated functions in the cache folder of a module.

    It gives the folder, or None if no folder can be written. numba reads its setting when the decorator runs, so the
    setting is restored afterwards and other packages are not affected.
    """
    before = config.CACHE_DIR
    folder = _cache_folder(module)
    config.CACHE_DIR = str(folder)
    try:
        yield folder
    finally:
        config.CACHE_DIR = before


def linked(result: str, *arguments: str | np.dtype[Any], borrows: bool = True) -> Callable[[Function], Function]:
    """Compile a function once, for all kernels that call it. Only kernels can call it.

    numba puts a copy of every function that a kernel calls into that kernel and optimises the whole again. For the few
    large, widely used functions this would dominate compile time, so they are compiled once, when their module is
    imported, and the kernels refer to them by name. They are never inlined. In its module, a function must come after
    the functions that it calls.

    Args:
        result: the type of the result in numba's notation.
        arguments: the types of the arguments in numba's notation, or the dtype of a record.
        borrows: as in `kernel`.
    """
    expected = _type_of(result)(*map(_type_of, arguments))

    def link(function: Function) -> Function:
        if JIT_IS_OFF:
            return function
        name = f"{function.__module__}.{function.__qualname__}"
        with _cached_in(function.__module__) as folder:
            options: dict[str, Any] = {"error_model": "numpy", "_nrt": not borrows}
            compiled = CFunc(function, sigutils.normalize_signature(expected), locals={}, options=options)
            if folder is not None:
                compiled.enable_caching()
                _seal(compiled._cache)
            compiled.compile()
        llvm.add_symbol(name, compiled.address)

        def call(typing_context: Any, *arguments: Any) -> Any:
            def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
                out, *into = (context.get_value_type(part) for part in (expected.return_type, *expected.args))
                callee = cgutils.get_or_insert_function(builder.module, ir.FunctionType(out, into), name)
                return builder.call(callee, values)

            return expected, generate

        parameters = inspect.signature(function).parameters.values()
        context = inspect.Parameter("typing_context", inspect.Parameter.POSITIONAL_ONLY)
        call.__signature__ = inspect.Signature([context, *parameters])
        name_in_kernels: Any = intrinsic(call)
        return name_in_kernels

    return link


def _type_of(part: str | np.dtype[Any]) -> Any:
    """The numba type for a type in numba's notation or for the dtype of a record."""
    return sigutils.normalize_signature(f"{part}()")[1] if isinstance(part, str) else numba.from_dtype(part)


class _SealedFiles(IndexDataCacheFile):
    """The files of a function's cache, which may be cut, overwritten or unreadable: such a function is compiled anew.

    numba ends with whatever `pickle` raises, or runs what it has read. Compiled code is therefore kept with a digest.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep compiled code, if there is room."""
        with contextlib.suppress(OSError):
            super().save(key, data)

    def _load_index(self) -> dict[Any, str]:
        try:
            found: dict[Any, str] = super()._load_index()
        except Exception:
            _remove(Path(self._index_path))
            return {}
        return found

    def _save_data(self, name: str, data: Any) -> None:
        raw = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(_seal_of(raw) + raw)

    def _load_data(self, name: str) -> Any:
        path = Path(self._data_path(name))
        if path.is_dir():
            _remove(path)
        sealed = path.read_bytes()
        seal, raw = sealed[:_SEAL_SIZE], sealed[_SEAL_SIZE:]
        if seal != _seal_of(raw):
            _remove(path)
            raise OSError(f"{path} is damaged")  # numba compiles anew
        return pickle.loads(raw)


_SEAL_SIZE = 16


def _seal_of(raw: bytes) -> bytes:
    return hashlib.blake2b(raw, digest_size=_SEAL_SIZE).digest()


def _seal(cache: Any) -> None:
    """Let the cache of a function use sealed files."""
    files = cache._cache_file
    name = files._index_name.removesuffix(".nbi")
    cache._cache_file = _SealedFiles(cache.cache_path, name, files._source_stamp)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
    shutil.rmtree(path, ignore_errors=True)


@functools.cache
def _cache_folder(module: str) -> Path | None:
    """The folder for the compiled kernels of a module, created if it is missing; None if no folder can be written."""
    try:
        base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        kernels = Path(base) / "okey-env"
        folder = kernels / f"{module}-{_hash_of_sources(module)}"
        if not folder.exists():
            _forget_old(kernels)
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        if not os.access(folder, os.W_OK):
            return None
    except (OSError, RuntimeError):  # RuntimeError: there is no home; each process compiles again, better than to fail
        return None
    return folder


def _hash_of_sources(module: str) -> str:
    """A hash of the sources of a module and of all modules that it imports, of its own package and of ours."""
    digest = hashlib.blake2b(digest_size=8)
    digest.update(f"sealed {numba.__version__} {sys.version_info[:2]}".encode())
    seen = {module}
    ahead = [module]
    while ahead:
        ahead = sorted({name for above in ahead for name in _imports_of(above)} - seen)
        seen.update(ahead)
    for name in sorted(seen):
        digest.update(name.encode() + _source_of(name) + _arrays_of(name))
    return digest.hexdigest()


@functools.cache
def _source_of(module: str) -> bytes:
    """The source of a module that is imported already; empty for code typed into an interactive session."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file).read_bytes() if file else b""


@functools.cache
def _arrays_of(module: str) -> bytes:
    """The bytes of the `.npz` beside a module that has its name: its arrays are constants in the module's kernels."""
    file = getattr(sys.modules.get(module), "__file__", None)
    arrays = Path(file).with_suffix(".npz") if file else None
    return arrays.read_bytes() if arrays and arrays.is_file() else b""


@functools.cache
def _imports_of(module: str) -> tuple[str, ...]:
    """The loaded modules that a module imports at its top level, of its own package or of ours."""
    packages = (module.partition(".")[0], *_OURS)
    here = sys.modules[module]
    found = []
    for dots, source, names in _IMPORT.findall(_source_of(module).decode()):
        above = importlib.util.resolve_name(dots + source, here.__package__) if dots else source
        candidates = [above, *(f"{above}.{name.split()[0]}" for name in names.strip("()").split(",") if name.strip())]
        found += [name for name in candidates if name in sys.modules and name.partition(".")[0] in packages]
    return tuple(found)


def _forget_old(kernels: Path) -> None:
    """Remove the kernels of sources that have not been used for two weeks."""
    with contextlib.suppress(OSError):  # the folder does not exist yet
        for folder in list(kernels.iterdir()):
            with contextlib.suppress(OSError):  # another process removes old kernels at the same time
                if time.time() - folder.stat().st_mtime > _FORGET_AFTER_DAYS * 86400:
                    shutil.rmtree(folder, ignore_errors=True)


class _SayOnce(event.Listener):
    """Says on stderr, once a process, that kernels of ours are being compiled."""

    said = False

    def on_start(self, event: event.Event) -> None:
        module = str(event.data["dispatcher"].py_func.__module__)
        if not self.said and module.partition(".")[0] in _OURS:
            self.said = True
            kept = (
                "once; kept on disk for next time" if _cache_folder(module) else "kept nowhere: no cache can be written"
            )
            print(f"okey-env: compiling kernels ({kept}) ...", file=sys.stderr, flush=True)

    def on_end(self, event: event.Event) -> None:
        """Do nothing."""


event.register("numba:compile", _SayOnce())
