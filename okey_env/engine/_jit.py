"""The one way in which this project compiles a function: the decorator `kernel`.

A kernel is an ordinary Python function on numbers, arrays and game records, compiled by numba on its
first call and kept on disk for the next process. Two things are done here that plain
`numba.njit(cache=True)` does not do:

* numba's file cache looks only at the source file of the function itself, so an edit in a module that it
  *calls* would go unnoticed. The cache folder is therefore named by a hash of every source of the package.
* The first compilation takes seconds, so one line on stderr says what the process is doing.

With `NUMBA_DISABLE_JIT=1` every kernel stays the plain Python function it was written as: that is how
coverage is measured and how a debugger steps through the rules.
"""

import functools
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
from numba.core import config, event

Function = TypeVar("Function", bound=Callable[..., Any])

JIT_IS_OFF = bool(config.DISABLE_JIT)
_FORGET_AFTER_DAYS = 14


@overload
def kernel(function: Function) -> Function: ...
@overload
def kernel(*, parallel: bool = ...) -> Callable[[Function], Function]: ...


def kernel(function: Any = None, *, parallel: bool = False) -> Any:
    """Compile a function with numba, cached on disk until any source of its package changes.

    Args:
        function: the function, when the decorator is used bare.
        parallel: allow `numba.prange`; for the loops over games in `okey_env.engine.parallel` and of the encoders.
    """
    if function is None:
        return functools.partial(kernel, parallel=parallel)
    if JIT_IS_OFF:
        return function
    before = config.CACHE_DIR
    folder = _cache_folder(function.__module__.partition(".")[0])
    config.CACHE_DIR = str(folder)
    try:  # numba settles the folder when the decorator runs, so the setting of other packages is left alone
        options: dict[str, Any] = {
            "cache": folder is not None,
            "nogil": True,
            "no_cfunc_wrapper": True,  # nobody calls kernels from C, and it saves a seventh of the compiling
            "parallel": parallel,
            "error_model": "numpy",
        }
        return numba.njit(function, **options)
    finally:
        config.CACHE_DIR = before


@functools.cache
def _cache_folder(package: str) -> Path | None:
    """The folder for compiled kernels of one top-level package, made if it is not there; None: nowhere to write."""
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    kernels = Path(base) / "okey-env"
    folder = kernels / f"{package}-{_hash_of_sources(package)}"
    try:
        if not folder.exists():
            _forget_old(kernels)
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    except OSError:  # compile anew in each process rather than fail
        return None
    return folder


@functools.cache
def _hash_of_sources(package: str) -> str:
    """A hash of all Python sources of `package` (and of ours, on which its kernels stand)."""
    digest = hashlib.blake2b(digest_size=8)
    digest.update(f"{numba.__version__} {sys.version_info[:2]}".encode())
    ours = __name__.partition(".")[0]
    if package != ours:
        digest.update(_hash_of_sources(ours).encode())
    module = sys.modules[package]
    for root in sorted(module.__path__):
        for path in sorted(Path(root).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _forget_old(kernels: Path) -> None:
    """Remove the kernels of sources that have not been used for two weeks."""
    if not kernels.is_dir():
        return
    for folder in kernels.iterdir():
        if time.time() - folder.stat().st_mtime > _FORGET_AFTER_DAYS * 86400:
            shutil.rmtree(folder, ignore_errors=True)


class _SayOnce(event.Listener):
    """Tells the person waiting, once a process, that kernels of ours are being compiled."""

    said = False

    def on_start(self, event: event.Event) -> None:
        module = str(event.data["dispatcher"].py_func.__module__)
        if not self.said and module.partition(".")[0] in ("okey_env", "agents"):
            self.said = True
            print("okey-env: compiling kernels (once; kept on disk for next time) …", file=sys.stderr, flush=True)

    def on_end(self, event: event.Event) -> None:
        """Nothing to say: the work that was asked for follows."""


event.register("numba:compile", _SayOnce())
