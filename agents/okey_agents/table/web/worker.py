"""Runs functions outside the event loop: the moves of bots and the hints of the coach.

A `Worker` makes one call at a time; `pool` has several workers. It has a process of its own, because compiling and
loading kernels holds the interpreter for seconds, and because a process that hangs can be ended. The process reads
calls from its standard input and writes results to its standard output, both pickled, and ends when the server does.
Tests use a thread, which starts at once.
"""

import asyncio
import contextlib
import functools
import math
import os
import pickle
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from okey_env.bots import Bot, BotSpec, make_bot
from okey_env.observation import Observation
from okey_env.round import Round

Result = TypeVar("Result")

_PRACTICE = 0.3
"""Seconds that a bot practises in each of two rounds after its first move there."""
_SIZE = struct.Struct("<Q")
_COMMAND = "import sys; sys.path[:] = {path!r}; from okey_agents.table.web.worker import answer_calls; answer_calls()"


class Ended(RuntimeError):  # noqa: N818 - it says what has happened to the process
    """The process ended during a call."""


class Worker:
    """Calls functions elsewhere, one after the other: the caller waits for one result before the next call.

    Args:
        process: whether it has a process of its own; otherwise it uses a thread of this one.
    """

    def __init__(self, *, process: bool) -> None:
        self.ready: set[Hashable] = set()
        """What the process is prepared for, as the owner says; empty again when the process has ended."""
        self._process = process
        self._thread: ThreadPoolExecutor | None = None
        self._child: asyncio.subprocess.Process | None = None

    async def call(self, function: Callable[..., Result], *arguments: Any, limit: float | None = None) -> Result:
        """Call a function and return its result.

        Args:
            function: a function at the top level of a module, so that another process finds it.
            arguments: what it is called with.
            limit: seconds after which the call is ended, and its process with it; None: no limit.

        Raises:
            TimeoutError: the call took longer.
            Ended: the process ended during the call.
            Exception: whatever the function itself raises.
        """
        try:
            raised, value = await asyncio.wait_for(self._send((function, arguments)), limit)
        except (EOFError, ConnectionError):
            self._kill()
            raise Ended(f"the process that called {function.__name__} has ended") from None
        except BaseException:  # the call took too long, or nobody waits for the result any more
            self._kill()
            raise
        if raised:
            raise value
        result: Result = value
        return result

    async def _send(self, call: tuple[Callable[..., Any], tuple[Any, ...]]) -> tuple[bool, Any]:
        """Send a call to the process; returns whether it raised, and what it raised or returned."""
        if not self._process:
            self._thread = self._thread or ThreadPoolExecutor(1, "okey-worker")
            return await asyncio.get_running_loop().run_in_executor(self._thread, _outcome, *call)
        if self._child is not None and self._child.returncode is not None:  # somebody ended it between two calls
            self._kill()
        if self._child is None:
            pipe = asyncio.subprocess.PIPE
            command = _COMMAND.format(path=sys.path)
            self._child = await asyncio.create_subprocess_exec(sys.executable, "-c", command, stdin=pipe, stdout=pipe)
        calls, results = self._child.stdin, self._child.stdout
        assert calls is not None
        assert results is not None
        data = pickle.dumps(call)
        calls.write(_SIZE.pack(len(data)) + data)
        await calls.drain()
        (size,) = _SIZE.unpack(await results.readexactly(_SIZE.size))
        result: tuple[bool, Any] = pickle.loads(await results.readexactly(size))
        return result

    def _kill(self) -> None:
        self.ready.clear()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.shutdown(wait=False, cancel_futures=True)
        child, self._child = self._child, None
        if child is not None and child.returncode is None:
            child.kill()

    async def close(self) -> None:
        """End the process or the thread, whatever it is doing."""
        child = self._child
        self._kill()
        if child is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(child.wait(), 2)


def answer_calls() -> None:
    """Run in the other process: answer calls until the server closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles an interrupt, and ends this process
    calls, results = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a bot prints goes to stderr, because stdout carries the results
    while len(header := calls.read(_SIZE.size)) == _SIZE.size:
        data = calls.read(*_SIZE.unpack(header))
        try:
            reply = pickle.dumps(_outcome(*pickle.loads(data)))
            pickle.loads(reply)
        except Exception as error:  # some exceptions and results cannot be pickled
            reply = pickle.dumps((True, RuntimeError(said_of(error))))
        results.write(_SIZE.pack(len(reply)) + reply)
        results.flush()


def _outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    """Call a function; whether it raised, and what it raised or returned. `exit()` in a bot is raised as an error."""
    try:
        return False, function(*arguments)
    except Exception as error:
        return True, error
    except BaseException as error:
        return True, RuntimeError(f"it ended with {said_of(error)}")


def said_of(error: BaseException) -> str:
    """An error as text, also if the error's own text raises."""
    try:
        return repr(error)
    except Exception:
        return type(error).__name__


def move_of(spec: BotSpec, seed: int, observation: Observation) -> int:
    """The move of a bot with a seed. It is a function of the two and the observation, so all tables share one bot."""
    bot = _bot(spec, threading.get_ident())
    bot.reset(seed)
    return int(bot.act(observation))


def prepare(spec: BotSpec) -> None:
    """Load a bot and have it play by itself, which compiles what it needs for its moves."""
    bot = _bot(spec, threading.get_ident())
    bot.reset(1)
    for seed in (1, 2):
        round, begun = Round(seed=seed), math.inf
        while not round.over and time.monotonic() - begun < _PRACTICE:
            action = bot.act(round.observe(round.turn))
            begun = min(begun, time.monotonic())  # the first move compiles
            round.apply(action)


_bot: Callable[[Any, int], Bot] = functools.lru_cache(maxsize=100)(lambda spec, _: make_bot(spec))
"""The bot of a name or folder; each thread has its own."""
