"""Hands chunks to workers on other machines, and gives the results in order, whichever workers die on the way.

A chunk whose worker is lost is played again by another, and a result depends on the setup and the chunk alone. So the
numbers are the same for any number of workers, and for any that die.
"""

import time
from collections import Counter, deque
from collections.abc import Generator, Hashable, Sequence
from typing import Protocol

from okey_agents.evaluate.chunks import Chunk, ChunkResult

MOST_TRIES = 5
"""Workers that may be lost with one chunk."""
MOST_BEGINNERS = 20
"""Workers that may be lost before they were ready, with nobody ready or done meanwhile."""
PATIENCE = 300.0
"""Seconds that nobody plays, after which it is given up: a machine may have to be started first."""
_LOOK_EVERY = 1.0


class LostWorkerError(RuntimeError):
    """A worker has died, or its machine is gone."""


class Crew(Protocol):
    """Workers somewhere, each of which plays one chunk at a time."""

    def hire(self) -> Hashable:
        """Start a worker; `wait` tells when it is ready. Returns what it is called."""

    def give(self, worker: Hashable, chunk: Chunk) -> None:
        """Have a worker that is ready play a chunk."""

    def wait(self, seconds: float) -> Sequence[tuple[Hashable, ChunkResult | Exception | None]]:
        """What has happened: a worker is ready (None), has a result, or was lost (`LostWorkerError`).

        Any other exception is what the setup raised there.
        """


def play_by_crew(crew: Crew, chunks: Sequence[Chunk], size: int, patience: float = PATIENCE) -> Generator[ChunkResult]:
    """The result of each chunk, in their order.

    Args:
        crew: the workers; nobody is hired yet.
        chunks: what is played.
        size: the most workers.
        patience: seconds that nobody plays, after which it is given up. A chunk may take as long as it takes.

    Raises:
        RuntimeError: workers are lost one after the other, or none becomes ready.
        Exception: what the setup raised at a worker, such as a bot that cannot be made there.
    """
    left = deque(range(len(chunks)))
    jobs: dict[Hashable, int | None] = {crew.hire(): None for _ in range(min(size, len(chunks)))}
    idle: list[Hashable] = []
    results: dict[int, ChunkResult] = {}
    tries: Counter[int | None] = Counter()
    heard = time.monotonic()
    for wanted in range(len(chunks)):
        while wanted not in results:
            for worker, event in crew.wait(_LOOK_EVERY):
                heard = time.monotonic()
                job, jobs[worker] = jobs[worker], None
                if isinstance(event, LostWorkerError):
                    del jobs[worker]
                    tries[job] += 1
                    if job is None and tries[job] >= MOST_BEGINNERS:
                        raise RuntimeError(
                            f"{MOST_BEGINNERS} workers were lost before they were ready; the last: {event}"
                        )
                    if job is not None and tries[job] >= MOST_TRIES:
                        deals = f"with the deals from {chunks[job].first} on"
                        raise RuntimeError(f"{MOST_TRIES} workers were lost {deals}; the last: {event}")
                    if job is not None:
                        left.appendleft(job)
                    jobs[crew.hire()] = None
                    continue
                if isinstance(event, Exception):
                    raise event
                if event is not None and job is not None:
                    results[job] = event
                tries[None] = 0
                idle.append(worker)
            while left and idle:
                worker, job = idle.pop(), left.popleft()
                jobs[worker] = job
                crew.give(worker, chunks[job])
            nobody_plays = wanted not in results and all(job is None for job in jobs.values())
            if nobody_plays and time.monotonic() - heard > patience:
                raise RuntimeError(
                    f"no worker was ready for {patience:g} seconds: are there machines with a free core?"
                )
        yield results.pop(wanted)
