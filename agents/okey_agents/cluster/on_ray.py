"""Workers on a Ray cluster. Only this module imports Ray, when it is asked to.

Each worker is an actor with a core of its own, which plays in a guarded process beside it, as on one machine: a bot
that hangs or ends its process costs its move, not the worker.
"""

import contextlib
import socket
import tempfile
from collections.abc import Generator, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

from okey_agents.cluster.crew import LostWorkerError, play_by_crew
from okey_agents.cluster.luggage import packed_for_away, unpacked
from okey_agents.evaluate.chunks import Chunk, ChunkResult, Setup
from okey_agents.evaluate.guard.workers import ChunkProcess, num_cores
from okey_agents.provenance import commit, versions

_STORE = 100_000_000
"""Bytes of Ray's store of objects on this machine: a result has a few thousand."""


class RayCluster:
    """Plays chunks on Ray: `with RayCluster() as cluster: evaluate(…, elsewhere=cluster)`.

    A program that has called `ray.init` itself keeps its cluster.

    Args:
        address: of a cluster that is already there, as `ray.init` takes it (`auto`, `ray://host:10001`); None: one is
            started on this machine, and stopped at the end.
        workers: the most workers; None: as many as the cluster has cores.

    Raises:
        ValueError: Ray is not installed, or nothing answers at the address.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self._address, self._workers = address, workers
        self._ray: Any = None
        self._began = False

    def __enter__(self) -> "RayCluster":
        try:
            import ray
        except ImportError:
            raise ValueError("Ray is not installed: pip install 'okey-env[ray]'") from None
        self._ray, self._began = ray, not ray.is_initialized()
        if self._began:
            where: dict[str, Any] = {"address": self._address}
            if self._address is None:
                where = {"num_cpus": self._workers or num_cores()} | _LOCAL
            try:
                _knock(self._address or "")
                ray.init(log_to_driver=False, logging_level="error", **where)
            except Exception as error:
                why = (str(error) or type(error).__name__).splitlines()[0]
                raise ValueError(f"no Ray cluster at {self._address or 'this machine'}: {why}") from error
        return self

    def __exit__(self, *_: object) -> None:
        if self._began:
            self._ray.shutdown()

    @property
    def workers(self) -> int:
        """How many play at once, if there are as many chunks."""
        return self._workers or max(int(self._ray.cluster_resources().get("CPU", 1)), 1)

    def play(self, setup: Setup, chunks: Sequence[Chunk]) -> Generator[ChunkResult]:
        """The result of each chunk, in their order.

        Raises:
            ValueError: the bots cannot be sent, or a machine has another version of this package.
            RuntimeError: workers are lost one after the other.
        """
        crew = _RayCrew(self._ray, packed_for_away(setup))
        with contextlib.closing(crew):
            yield from play_by_crew(crew, chunks, self.workers)


_LOCAL: dict[str, Any] = {"include_dashboard": False, "object_store_memory": _STORE}


class _RayCrew:
    """Actors, and the calls that they have not answered yet."""

    def __init__(self, ray: Any, setup: bytes) -> None:
        self._ray = ray
        self._setup, self._program = ray.put(setup), _program()
        self._actor = ray.remote(num_cpus=1, max_restarts=0)(_Worker)
        self._actors: dict[Hashable, Any] = {}
        self._calls: dict[Any, Hashable] = {}

    def hire(self) -> Hashable:
        """Start an actor."""
        worker = len(self._actors)
        actor = self._actors[worker] = self._actor.remote(self._setup, self._program)
        self._calls[actor.begin.remote()] = worker
        return worker

    def give(self, worker: Hashable, chunk: Chunk) -> None:
        """Call an actor."""
        self._calls[self._actors[worker].play.remote(chunk)] = worker

    def wait(self, seconds: float) -> Sequence[tuple[Hashable, ChunkResult | Exception | None]]:
        """The answers that have come."""
        done, _ = self._ray.wait(list(self._calls), num_returns=1, timeout=seconds)
        return [(self._calls.pop(call), self._answer(call)) for call in done]

    def _answer(self, call: Any) -> ChunkResult | Exception | None:
        errors = self._ray.exceptions
        try:
            answer: ChunkResult | None = self._ray.get(call)
        except errors.RayTaskError as error:
            cause = error.cause
            return cause if isinstance(cause, Exception) else RuntimeError(str(error))
        except errors.RayError as error:  # the actor, its machine, or what it held
            return LostWorkerError(str(error).splitlines()[0])
        return answer

    def close(self) -> None:
        """End all actors."""
        for actor in self._actors.values():
            self._ray.kill(actor)


class _Worker:
    """The actor: a guarded process with the bots."""

    def __init__(self, setup: bytes, program: dict[str, Any]) -> None:
        self._setup, self._program = setup, program
        self._processes = self._open()

    def begin(self) -> None:
        """Make the bots ready; what is wrong with them is raised here."""
        own = _program()
        for name, version in self._program.items():
            if None not in (version, own[name]) and version != own[name]:
                raise ValueError(f"a machine of the cluster has {name} {own[name]}: expected {version}, as here")
        self._process = next(self._processes)

    def play(self, chunk: Chunk) -> ChunkResult:
        """Play a chunk."""
        return self._process.play(chunk)

    def _open(self) -> Iterator[ChunkProcess]:
        with (
            tempfile.TemporaryDirectory(prefix="okey-bots-") as folder,
            ChunkProcess(unpacked(self._setup, Path(folder))) as process,
        ):
            yield process


def _knock(address: str) -> None:
    """Raise OSError if nothing listens at `host:port`, for which Ray itself waits ten minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host, int(port)), timeout=10).close()


def _program() -> dict[str, Any]:
    """What has to be the same everywhere for the numbers to be the same."""
    found = versions()
    return {"commit": commit(), **{name: found[name] for name in ("okey-env", "numpy", "numba")}}
