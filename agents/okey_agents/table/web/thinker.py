"""Thinking beside the event loop: bots and the coach, each in a process of its own.

A process, because compiling and loading kernels holds the interpreter for seconds, and because one that hangs can be
ended. It reads questions from its standard input and writes answers to its standard output, both pickled, and ends
when the server does. Tests think in threads, which start at once.
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

Thought = TypeVar("Thought")

_SIZE = struct.Struct("<Q")
_COMMAND = "import sys; sys.path[:] = {path!r}; from okey_agents.table.web.thinker import answer; answer()"


class Thinker:
    """Does one thing after the other, elsewhere.

    Args:
        process: in a process of its own, or else in a thread.
    """

    def __init__(self, *, process: bool) -> None:
        self._threads = None if process else ThreadPoolExecutor(2, "okey-thinker")
        self._child: asyncio.subprocess.Process | None = None
        self._free = asyncio.Lock()

    async def think(self, function: Callable[..., Thought], *arguments: Any, limit: float | None = None) -> Thought:
        """What the function gives for the arguments.

        Args:
            function: a function of a module, so that another process finds it.
            arguments: what it is given.
            limit: seconds after which it is ended, not counting those that it had to wait for its turn.

        Raises:
            TimeoutError: it took longer.
            RuntimeError: the process has died over it.
            Exception: whatever the function itself raises.
        """
        if self._threads is not None:
            future = asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)
            return await asyncio.wait_for(future, limit)
        async with self._free:
            try:
                raised, value = await asyncio.wait_for(self._ask((function, arguments)), limit)
            except (EOFError, ConnectionError):
                self._kill()
                raise RuntimeError(f"the process that was to do {function.__name__} has died over it") from None
            except BaseException:  # it took too long, or nobody waits for the answer any more
                self._kill()
                raise
        if raised:
            raise value
        answer: Thought = value
        return answer

    async def _ask(self, question: tuple[Callable[..., Any], tuple[Any, ...]]) -> tuple[bool, Any]:
        if self._child is None:
            pipe = asyncio.subprocess.PIPE
            command = _COMMAND.format(path=sys.path)
            self._child = await asyncio.create_subprocess_exec(sys.executable, "-c", command, stdin=pipe, stdout=pipe)
        there, back = self._child.stdin, self._child.stdout
        assert there is not None
        assert back is not None
        data = pickle.dumps(question)
        there.write(_SIZE.pack(len(data)) + data)
        await there.drain()
        (size,) = _SIZE.unpack(await back.readexactly(_SIZE.size))
        answer: tuple[bool, Any] = pickle.loads(await back.readexactly(size))
        return answer

    def _kill(self) -> None:
        child, self._child = self._child, None
        if child is not None and child.returncode is None:
            child.kill()

    async def close(self) -> None:
        """End it, whatever it is doing."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
        child = self._child
        self._kill()
        if child is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(child.wait(), 2)


def answer() -> None:
    """The other process: answer questions until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server is interrupted, and ends this one
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a bot prints is no answer
    while len(header := questions.read(_SIZE.size)) == _SIZE.size:
        data = questions.read(*_SIZE.unpack(header))
        try:
            function, arguments = pickle.loads(data)
            reply = pickle.dumps((False, function(*arguments)))
        except Exception as error:
            reply = _as_raised(error)
        answers.write(_SIZE.pack(len(reply)) + reply)
        answers.flush()


def _as_raised(error: Exception) -> bytes:
    try:
        reply = pickle.dumps((True, error))
        pickle.loads(reply)
    except Exception:  # some exceptions do not survive the way
        reply = pickle.dumps((True, RuntimeError(repr(error))))
    return reply


def move_of(spec: BotSpec, seed: int, observation: Observation) -> int:
    """The move of a bot with a seed; it is a function of the two, so one bot plays at all tables."""
    bot = _bot(spec, threading.get_ident())
    bot.reset(seed)
    return int(bot.act(observation))


_bot: Callable[[Any, int], Bot] = functools.lru_cache(maxsize=100)(lambda spec, _: make_bot(spec))
"""The bot of a name or folder, for each thread its own."""
