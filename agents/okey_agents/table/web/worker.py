"""Runs functions outside the event loop: the moves of bots and the hints of the coach.

A `Worker` has a process of its own, because compiling and loading kernels holds the interpreter for seconds, and
because a process that hangs can be ended. The process reads calls from its standard input and writes results to its
standard output, both pickled, and ends when the server does. Tests use threads, which start at once.
"""

import asyncio
import contextlib
import functools
import os
import pickle
import signal
import struct
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from okey_env.bots import Bot, BotSpec, make_bot
from okey_env.observation import Observation

Result = TypeVar("Result")

_SIZE = struct.Struct("<Q")
_COMMAND = "import sys; sys.path[:] = {path!r}; from okey_agents.table.web.worker import answer_calls; answer_calls()"


class Worker:
    """Calls functions elsewhere, one after the other.

    Args:
        process: whether it has a process of its own; otherwise it uses threads of this one.
    """

    def __init__(self, *, process: bool) -> None:
        self._threads = None if process else ThreadPoolExecutor(2, "okey-worker")
        self._child: asyncio.subprocess.Process | None = None
        self._free = asyncio.Lock()

    async def call(self, function: Callable[..., Result], *arguments: Any, limit: float | None = None) -> Result:
        """Call a function and return its result.

        Args:
            function: a function at the top level of a module, so that another process finds it.
            arguments: what it is called with.
            limit: seconds after which the call is ended; the time before its turn came does not count.

        Raises:
            TimeoutError: the call took longer.
            RuntimeError: the process ended during the call.
            Exception: whatever the function itself raises.
        """
        if self._threads is not None:
            future = asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)
            return await asyncio.wait_for(future, limit)
        async with self._free:
            try:
                raised, value = await asyncio.wait_for(self._send((function, arguments)), limit)
            except (EOFError, ConnectionError):
                self._kill()
                raise RuntimeError(f"the process that called {function.__name__} has ended") from None
            except BaseException:  # the call took too long, or nobody waits for the result any more
                self._kill()
                raise
        if raised:
            raise value
        result: Result = value
        return result

    async def _send(self, call: tuple[Callable[..., Any], tuple[Any, ...]]) -> tuple[bool, Any]:
        """Send a call to the process; returns whether it raised, and what it raised or returned."""
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
        child, self._child = self._child, None
        if child is not None and child.returncode is None:
            child.kill()

    async def close(self) -> None:
        """End the process or the threads, whatever they are doing."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
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
            function, arguments = pickle.loads(data)
            reply = pickle.dumps((False, function(*arguments)))
        except Exception as error:
            reply = _as_raised(error)
        results.write(_SIZE.pack(len(reply)) + reply)
        results.flush()


def _as_raised(error: Exception) -> bytes:
    try:
        reply = pickle.dumps((True, error))
        pickle.loads(reply)
    except Exception:  # some exceptions cannot be pickled
        reply = pickle.dumps((True, RuntimeError(repr(error))))
    return reply


def move_of(spec: BotSpec, seed: int, observation: Observation) -> int:
    """The move of a bot with a seed. It is a function of the two and the observation, so all tables share one bot."""
    bot = _bot(spec, threading.get_ident())
    bot.reset(seed)
    return int(bot.act(observation))


_bot: Callable[[Any, int], Bot] = functools.lru_cache(maxsize=100)(lambda spec, _: make_bot(spec))
"""The bot of a name or folder; each thread has its own."""
