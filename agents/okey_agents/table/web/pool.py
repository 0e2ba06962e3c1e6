"""A few processes that make the moves of bots, or hints, for all tables.

A call names what it needs, such as a bot. A process is prepared for that once, which loads and compiles it; preparing
never counts as thinking. Calls are served in the order in which they came, and a table waits for one move at a time, so
no table gets ahead of another. One process is kept for what is known to be quick: a bot that thinks for seconds, or
that compiles, occupies the others.
"""

import asyncio
import time
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar

from okey_agents.table.web.worker import Ended, Worker

Result = TypeVar("Result")

_QUICK = 0.1
"""Seconds: a call that takes longer is slow, and the next one with the same key is expected to be."""
PREPARE_SECONDS = 600.0
"""Seconds that preparing may take. Compiling everything takes a minute, and ten times as long on a busy machine."""


class Needs(NamedTuple):
    """What a process must be prepared for before a call."""

    key: Hashable
    prepare: Callable[..., object]
    """A function at the top level of a module."""
    arguments: tuple[Any, ...]


class _Call:
    """A call that waits for a worker or has one."""

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.worker: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self.slow = False
        self.preparing = False


class Pool:
    """Workers that are started as they are needed.

    Args:
        size: the most workers.
        kept: how many of them slow calls leave free.
        process: as for `Worker`.
    """

    def __init__(self, size: int, kept: int = 0, *, process: bool) -> None:
        self._size = size
        self._slow_size = size - kept
        self._process = process
        self._busy: dict[Worker, _Call] = {}
        self._idle: list[Worker] = []
        self._waiting: list[_Call] = []
        self._quick: set[Hashable] = set()
        """The keys whose last call was quick."""

    def prepared(self, key: Hashable) -> bool:
        """Whether a process is prepared for this."""
        return any(key in worker.ready for worker in (*self._idle, *self._busy))

    async def call(
        self,
        needs: Needs,
        function: Callable[..., Result],
        *arguments: Any,
        limit: float | None = None,
        on_prepare: Callable[[], object] = lambda: None,
    ) -> Result:
        """Call a function in a process that is prepared for it; as `Worker.call`.

        Args:
            needs: what the process must be prepared for.
            function: a function at the top level of a module.
            arguments: what it is called with.
            limit: seconds that the call itself may take. Waiting and preparing do not count.
            on_prepare: called before a process is prepared for this call.

        Raises:
            TimeoutError, RuntimeError: the call took too long, or its process ended; only this call is lost.
            Exception: whatever the function itself raises.
        """
        call = _Call(needs.key)
        self._waiting.append(call)
        self._assign()
        try:
            worker = await call.worker
        except asyncio.CancelledError:
            self._give_up(call)
            raise
        try:
            if needs.key not in worker.ready:
                call.preparing = True
                on_prepare()
                await self._prepare(worker, needs)
                call.preparing = False
            started = time.monotonic()
            timer = asyncio.get_running_loop().call_later(_QUICK, self._is_slow, call)
            try:
                result = await worker.call(function, *arguments, limit=limit)
            finally:
                timer.cancel()
            if time.monotonic() - started < _QUICK:
                self._quick.add(needs.key)
            return result
        finally:
            self._release(worker)

    def _is_slow(self, call: _Call) -> None:
        """Take note that a call has been running for a while: calls that wait for its worker look for another."""
        call.slow = True
        self._quick.discard(call.key)
        self._assign()

    async def _prepare(self, worker: Worker, needs: Needs) -> None:
        try:
            await worker.call(needs.prepare, *needs.arguments, limit=PREPARE_SECONDS)
        except TimeoutError:
            raise TimeoutError(f"it was not ready after {PREPARE_SECONDS:g} seconds") from None
        except Ended:
            raise
        except Exception:
            pass  # a bot that fails here fails again at its move, where that is told
        worker.ready.add(needs.key)

    def _assign(self) -> None:
        """Give workers to the calls that wait, the first ones first."""
        for call in list(self._waiting):
            worker = self._worker_for(call.key) if not call.worker.cancelled() else None
            if worker is not None:
                self._waiting.remove(call)
                self._busy[worker] = call
                call.slow = not (call.key in worker.ready and call.key in self._quick)
                call.worker.set_result(worker)

    def _worker_for(self, key: Hashable) -> Worker | None:
        """An idle worker for a call, or None if it has to wait."""
        ready = next((worker for worker in self._idle if key in worker.ready), None)
        occupied = sum(call.slow for call in self._busy.values())
        if (ready is None or key not in self._quick) and occupied >= self._slow_size:
            return None
        if ready is None and any(self._soon(worker, key) for worker in self._busy):
            return None
        new = ready is None and all(worker.ready for worker in self._idle)
        if new and len(self._idle) + len(self._busy) < self._size:
            self._idle.append(Worker(process=self._process))
        worker = ready or min(self._idle, key=lambda worker: len(worker.ready), default=None)
        if worker is not None:
            self._idle.remove(worker)
        return worker

    def _soon(self, worker: Worker, key: Hashable) -> bool:
        """Whether a busy worker will soon be free and prepared for a key."""
        call = self._busy[worker]
        return (call.preparing and call.key == key) or (key in worker.ready and not call.slow)

    def _release(self, worker: Worker) -> None:
        del self._busy[worker]
        self._idle.append(worker)
        self._assign()

    def _give_up(self, call: _Call) -> None:
        if call in self._waiting:
            self._waiting.remove(call)
        elif call.worker.done() and not call.worker.cancelled():
            self._release(call.worker.result())

    async def close(self) -> None:
        """End all workers, whatever they are doing."""
        self._slow_size = 0
        self._size = 0
        for worker in (*self._idle, *self._busy):
            await worker.close()
