"""Keeps the process whole while bots are asked in it: a bot may call `os._exit`, fork, close streams or change folders.

An exception of the bot is dealt with elsewhere (`bot_host`). What is here raises nothing by itself in the bot: the
process would end, or go on twice, or elsewhere.
"""

import contextlib
import mmap
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

_really_exit = os._exit
_COPY_RETURNS_WITHIN = 1.0  # seconds that are waited after a fork; a copy that works on, as in a pool, is no failure
_PID_SIZE = 8

_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_parent=_count_fork)


class ProcessEndError(BaseException):
    """Raised inside a bot that calls `os._exit`. A `BaseException`, as `SystemExit` is."""


class ForkError(RuntimeError):
    """A bot forked, and its copy came back with a reply: it would have gone on with the evaluation."""


class ProcessGuard:
    """Watches over this process. Only the thread in which a bot is asked is watched."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._asking: int | None = None  # the thread in which a bot is asked now
        self._forks = 0
        self._copy = mmap.mmap(-1, _PID_SIZE)  # shared with copies of this process: the number of one that came back
        self._streams = (sys.stdout, sys.stderr)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Inside, `os._exit` of a bot is an exception; afterwards the folder is the one of before."""
        before, folder = os._exit, None
        with contextlib.suppress(OSError):
            folder = Path.cwd()
        self._streams = (sys.stdout, sys.stderr)
        os._exit = self._exit
        try:
            yield
        finally:
            os._exit = before
            if folder is not None:
                with contextlib.suppress(OSError):
                    os.chdir(folder)

    def begin(self) -> None:
        """A bot is asked from now on."""
        self._asking, self._forks = threading.get_ident(), _forks

    def end(self) -> None:
        """The bot has replied or raised. In a copy of the process this does not return."""
        if os.getpid() != self._process:
            self._copy[:] = os.getpid().to_bytes(_PID_SIZE, "little")
            _really_exit(1)
        self._asking = None
        if sys.stdout is not self._streams[0] or sys.stderr is not self._streams[1]:
            sys.stdout, sys.stderr = self._streams
        if getattr(sys.stdout, "closed", False) or getattr(sys.stderr, "closed", False):
            sys.stdout, sys.stderr = self._streams = (_open(sys.stdout, 1), _open(sys.stderr, 2))

    def check_forks(self) -> None:
        """Raise ForkError if the bot forked since `begin` and its copy came back."""
        if _forks == self._forks:
            return
        until = time.monotonic() + _COPY_RETURNS_WITHIN
        while not any(self._copy[:]) and time.monotonic() < until:
            time.sleep(0.002)
        copy = int.from_bytes(self._copy[:], "little")
        self._copy[:] = bytes(_PID_SIZE)
        if copy:
            with contextlib.suppress(OSError):  # the bot may have waited for it
                os.waitpid(copy, 0)
            raise ForkError("the bot forked, and its copy came back with a reply of its own; the copy was ended")

    def _exit(self, status: int) -> NoReturn:
        """What `os._exit` does meanwhile: an exception for a bot, and for everybody else what it always does."""
        if os.getpid() == self._process and threading.get_ident() == self._asking:
            raise ProcessEndError(f"os._exit({status})")
        _really_exit(status)


def _open(stream: Any, number: int) -> Any:
    """The stream, or another one on the same file if a bot has closed it."""
    if not getattr(stream, "closed", False):
        return stream
    try:
        return open(number, "w", encoding=stream.encoding, errors=stream.errors, closefd=False)
    except (OSError, AttributeError):  # the file is closed as well, or the stream was none of Python's
        return Path(os.devnull).open("w", encoding="utf-8")
