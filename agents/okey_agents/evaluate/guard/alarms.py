"""Signals: interrupt a bot's Python code when its time is up, and tell Ctrl-C from a KeyboardInterrupt of the bot."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


class MoveTimeout(BaseException):
    """Raised inside a bot whose time is up. A `BaseException`, so that a bot's `except Exception` cannot swallow it."""


@contextlib.contextmanager
def alarms() -> Iterator[None]:
    """Let `set_alarm` work inside this context.

    Without effect outside the main thread and on systems that have no alarm signal: a bot that hangs there is not
    interrupted.
    """
    if not _alarms_work():
        yield
        return
    before = signal.signal(signal.SIGALRM, _raise_timeout)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)


def set_alarm(seconds: float) -> None:
    """Raise `MoveTimeout` in the main thread after so many seconds; 0 cancels the alarm."""
    if _alarms_work() and signal.getsignal(signal.SIGALRM) is _raise_timeout:
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _raise_timeout(number: int, frame: Any) -> None:
    raise MoveTimeout


def _alarms_work() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


class Interrupts:
    """Whether the user has pressed Ctrl-C since this context began.

    A bot may raise KeyboardInterrupt itself, which is a failure of the bot like any other. Signals arrive in the main
    thread only; in another thread, and where the program has its own handler that is not Python's, none are seen here.
    """

    def __init__(self) -> None:
        self.pressed = False

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch inside this context."""
        main = threading.current_thread() is threading.main_thread()
        if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, number: int, frame: Any) -> None:
        self.pressed = True
        raise KeyboardInterrupt
