"""Chunks played by several processes, in order, whatever the bots in them do.

Each process has a watch (`asking`) in shared memory. The parent kills a process that is overdue, starts another, and
has the chunk played again with a note of which question was the last one; a process that ends by itself while a bot is
asked is treated alike. Each try leaves out one question more, so this comes to an end.
"""

import contextlib
import dataclasses
import multiprocessing
import os
import pickle
import signal
import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping, MutableSequence, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from okey_agents.evaluate.guard.asking import DEADLINE, NUMBER, PLACE, PLAYER, WARMING_UP, WATCH_SIZE, Fate
from okey_agents.evaluate.tables import Chunk, Played, Tables

_GRACE = 1.0  # seconds after a deadline in which the alarm of the process itself may still break in
_LOOK = 0.2  # seconds between two looks at the watches
_ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_START = multiprocessing.get_context("spawn")


def play_in_order(tables: Tables, chunks: Sequence[Chunk], workers: int) -> Iterator[Played]:
    """What came of each chunk, in their order; closing the iterator ends the processes.

    Raises:
        ValueError: the bots cannot be sent to another process, or not be made there.
        RuntimeError: a process ended although no bot was asked.
    """
    with _Crew(packed(tables, workers), chunks, workers) as crew:
        yield from crew.played()


def packed(tables: Tables, workers: int) -> bytes:
    """The tables as another process can make them again.

    Raises:
        ValueError: they cannot be sent.
    """
    try:
        return pickle.dumps(tables)
    except Exception as error:
        raise ValueError(
            f"workers={workers} needs bots that another process can make, by name, folder or class: {error}"
        ) from error


@dataclasses.dataclass
class _Worker:
    process: SpawnProcess
    pipe: "Connection[Any, Any]"
    watch: MutableSequence[float]
    job: int | None = None


class _Crew:
    """The processes, and which chunk each of them plays."""

    def __init__(self, tables: bytes, chunks: Sequence[Chunk], workers: int) -> None:
        self._tables = tables
        self._chunks = chunks
        self._size = min(workers, len(chunks))
        self._left = deque(range(len(chunks)))
        self._fates: dict[int, dict[tuple[int, int], Fate]] = {}
        self._cold: set[int] = set()  # bots whose first move ended a process
        self._done: dict[int, Played] = {}
        self._workers: list[_Worker] = []

    def __enter__(self) -> "_Crew":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            _end(worker)

    def played(self) -> Iterator[Played]:
        """What came of each chunk, in order."""
        for _ in range(self._size):
            self._start()
        for number in range(len(self._chunks)):
            while number not in self._done:
                self._wait()
            yield self._done.pop(number)

    def _start(self) -> None:
        watch: MutableSequence[float] = _START.RawArray("d", WATCH_SIZE)
        ours, theirs = _START.Pipe()
        process = _START.Process(target=_work, args=(theirs, watch, self._tables, tuple(self._cold)))
        with _environment(_ONE_THREAD):
            process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        self._workers.append(_Worker(process, ours, watch))

    def _wait(self) -> None:
        """Until a process says something, ends or is overdue."""
        talking = wait([worker.pipe for worker in self._workers], timeout=_LOOK)
        for worker in list(self._workers):
            if worker.pipe in talking:
                try:
                    self._hear(worker, worker.pipe.recv())
                except (EOFError, ConnectionError):
                    self._lose(worker, "died")
            elif 0 < worker.watch[DEADLINE] < time.monotonic() - _GRACE:
                self._lose(worker, "stalled")

    def _hear(self, worker: _Worker, said: Played | Exception | None) -> None:
        """A result, an error, or that the process is ready; the next chunk goes to it."""
        if isinstance(said, Exception):
            raise said
        if said is not None and worker.job is not None:
            self._done[worker.job] = said
        worker.job = self._left.popleft() if self._left else None
        if worker.job is not None:
            worker.pipe.send((self._chunks[worker.job], self._fates.get(worker.job, {})))

    def _lose(self, worker: _Worker, fate: Fate) -> None:
        """A process is gone, or is no use any more: note at which question, and start another."""
        self._workers.remove(worker)
        _end(worker)
        number, place, player = (int(worker.watch[field]) for field in (NUMBER, PLACE, PLAYER))
        if worker.watch[DEADLINE] == 0:  # no bot is asked
            if fate == "died":
                raise RuntimeError(f"a process of the arena ended by itself with status {worker.process.exitcode}")
        elif number == WARMING_UP:
            self._cold.add(player)
        elif worker.job is not None:
            self._fates.setdefault(worker.job, {})[number, place] = fate
        if worker.job is not None:
            self._left.appendleft(worker.job)
        self._start()


def _end(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()


def _work(pipe: "Connection[Any, Any]", watch: MutableSequence[float], packed: bytes, cold: Collection[int]) -> None:
    """What a process does: make the tables, and play what it is given until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's business
    with contextlib.suppress(EOFError, ConnectionError):
        try:
            tables: Tables = pickle.loads(packed)
            tables.panel.watch = watch
            tables.warm_up(cold)
            pipe.send(None)
            while True:
                pipe.send(tables.play(*pipe.recv()))
        except (EOFError, ConnectionError):
            raise
        except Exception as error:
            pipe.send(_sendable(error))


def _sendable(error: Exception) -> Exception:
    """The error as the parent raises it: as it is if it can be sent, else in words."""
    if isinstance(error, AttributeError):  # by pickle: a class that only the parent's main module has
        return ValueError(f"another process cannot make the bots: {error}")
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


@contextlib.contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Environment variables set for the processes that start meanwhile."""
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
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
