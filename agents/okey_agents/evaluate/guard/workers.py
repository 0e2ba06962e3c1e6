"""Plays chunks in several processes and returns the results in order, whatever the bots do.

Each process shares an array `pending` with the parent (see `bot_host`). The parent kills a process that is overdue,
starts another, and has the chunk played again without the question that was pending. A process that ends by itself
while a bot is asked is treated alike. Each try leaves out one more question, so the tries come to an end.
"""

import contextlib
import dataclasses
import os
import pickle
import signal
import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping, MutableSequence, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from okey_agents.evaluate.chunks import Chunk, ChunkPlayer, ChunkResult, Setup
from okey_agents.evaluate.guard.bot_host import BOT, DEADLINE, INDEX, PENDING_SIZE, QUESTION, WARM_UP, Failure
from okey_agents.evaluate.guard.processes import SPAWN, pack, without_main

_GRACE = 1.0  # seconds after a deadline in which the alarm of the process itself may still interrupt the bot
_POLL = 0.2  # seconds between two looks at the deadlines
_ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def play_in_order(setup: Setup, chunks: Sequence[Chunk], workers: int) -> Iterator[ChunkResult]:
    """The result of each chunk, in their order. Closing the iterator ends the processes.

    Raises:
        ValueError: the bots cannot be sent to another process, or not be made there.
        RuntimeError: a process ended although no bot was asked.
    """
    with _Pool(packed(setup, workers), chunks, workers) as pool:
        yield from pool.results()


def packed(setup: Setup, workers: int) -> bytes:
    """The setup as bytes, for another process.

    Raises:
        ValueError: a bot of the setup cannot be sent; the message names the number of workers.
    """
    try:
        return pack(setup)
    except ValueError as error:
        raise ValueError(f"workers={workers} needs bots that another process can make: {error}") from error


@dataclasses.dataclass
class _Worker:
    process: SpawnProcess
    pipe: "Connection[Any, Any]"
    pending: MutableSequence[float]
    job: int | None = None
    """The index of the chunk that it plays."""
    ready: bool = False
    """Whether it has made the bots."""


class _Pool:
    """The processes, and which chunk each of them plays."""

    def __init__(self, setup: bytes, chunks: Sequence[Chunk], workers: int) -> None:
        self._setup = setup
        self._chunks = list(chunks)
        self._size = min(workers, len(chunks))
        self._left = deque(range(len(chunks)))
        self._known_failures: dict[int, dict[tuple[int, int], Failure]] = {}  # by index of the chunk
        self._failed_warm_ups: set[int] = set()  # bots that failed during the warm-up
        self._results: dict[int, ChunkResult] = {}
        self._workers: list[_Worker] = []

    def __enter__(self) -> "_Pool":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            _end(worker)

    def results(self) -> Iterator[ChunkResult]:
        """The result of each chunk, in order."""
        for _ in range(self._size):
            self._start()
        for chunk in range(len(self._chunks)):
            yield self._result(chunk)

    def begin(self) -> None:
        """Start a process, and wait until it has made the bots."""
        self._start()
        while not self._workers[0].ready:
            self._wait()

    def play(self, chunk: Chunk) -> ChunkResult:
        """The result of one chunk more."""
        self._chunks.append(chunk)
        self._left.append(len(self._chunks) - 1)
        for worker in self._workers:
            if worker.ready and worker.job is None:
                self._give(worker)
        return self._result(len(self._chunks) - 1)

    def _result(self, chunk: int) -> ChunkResult:
        while chunk not in self._results:
            self._wait()
        return self._results.pop(chunk)

    def _start(self) -> None:
        pending: MutableSequence[float] = SPAWN.RawArray("d", PENDING_SIZE)
        ours, theirs = SPAWN.Pipe()
        process = SPAWN.Process(target=_work, args=(theirs, pending, self._setup, tuple(self._failed_warm_ups)))
        with _environment(_ONE_THREAD), without_main():
            process.start()
        theirs.close()  # so that the pipe ends when the process does
        self._workers.append(_Worker(process, ours, pending))

    def _wait(self) -> None:
        """Wait until a process sends something, ends or is overdue, and act on it."""
        ready = wait([worker.pipe for worker in self._workers], timeout=_POLL)
        for worker in list(self._workers):
            if worker.pipe in ready:
                try:
                    self._receive(worker, worker.pipe.recv())
                except (EOFError, ConnectionError):
                    self._replace(worker, "died")
            elif 0 < worker.pending[DEADLINE] < time.monotonic() - _GRACE:
                self._replace(worker, "stalled")

    def _receive(self, worker: _Worker, message: ChunkResult | Exception | None) -> None:
        """Take a result (None: the process is ready), and give the process the next chunk; raise what it sends."""
        if isinstance(message, Exception):
            raise message
        if message is not None and worker.job is not None:
            self._results[worker.job] = message
        worker.ready = True
        self._give(worker)

    def _give(self, worker: _Worker) -> None:
        worker.job = self._left.popleft() if self._left else None
        if worker.job is not None:
            worker.pipe.send((self._chunks[worker.job], self._known_failures.get(worker.job, {})))

    def _replace(self, worker: _Worker, failure: Failure) -> None:
        """End a process that has failed, write down its pending question, and start another."""
        self._workers.remove(worker)
        _end(worker)
        question, index, bot = (int(worker.pending[i]) for i in (QUESTION, INDEX, BOT))
        if worker.pending[DEADLINE] == 0:  # no bot is asked
            if failure == "died":
                raise RuntimeError(f"a process of the arena ended by itself with status {worker.process.exitcode}")
        elif question == WARM_UP:
            self._failed_warm_ups.add(bot)
        elif worker.job is not None:
            self._known_failures.setdefault(worker.job, {})[question, index] = failure
        if worker.job is not None:
            self._left.appendleft(worker.job)
        self._start()


class ChunkProcess:
    """One process that plays chunks as they come: `with ChunkProcess(setup) as process: process.play(chunk)`.

    Args:
        setup: what is played.

    Raises:
        ValueError: the bots cannot be sent to another process, or not be made there.
        RuntimeError: the process ended although no bot was asked.
    """

    def __init__(self, setup: Setup) -> None:
        self._pool = _Pool(packed(setup, 1), (), 1)

    def __enter__(self) -> "ChunkProcess":
        try:
            self._pool.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.__exit__()

    def play(self, chunk: Chunk) -> ChunkResult:
        """The result of a chunk."""
        return self._pool.play(chunk)


def _end(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()


def _work(pipe: "Connection[Any, Any]", pending: MutableSequence[float], setup: bytes, skip: Collection[int]) -> None:
    """Run in the other process: make the bots, and play the chunks that come until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles an interrupt, and ends this process
    with contextlib.suppress(EOFError, ConnectionError):
        try:
            player = ChunkPlayer(pickle.loads(setup))
            player.host.pending = pending
            player.warm_up(skip)
            pipe.send(None)
            while True:
                pipe.send(player.play(*pipe.recv()))
        except (EOFError, ConnectionError):
            raise
        except Exception as error:
            pipe.send(_sendable(error))


def _sendable(error: Exception) -> Exception:
    """The error as the parent raises it: itself if it can be sent, otherwise its text."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


@contextlib.contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for the processes that are started in this context."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def num_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
