"""Runs the chunks of an evaluation or a ladder: in this process or in several, leaving out those already on disk."""

import hashlib
import pickle
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from okey_agents.bots.compiled import CompiledBot
from okey_agents.evaluate.chunks import Chunk, ChunkPlayer, ChunkResult, Setup
from okey_agents.evaluate.guard.workers import num_cores, packed, play_in_order
from okey_agents.evaluate.state_file import StateFile
from okey_agents.provenance import commit, versions
from okey_env.bots import BotSpec, files_of

_WORTH_PROCESSES = 10.0  # seconds of work below which starting processes does not pay


class ChunkRunner:
    """Runs chunks and gives their results in order.

    Args:
        player: plays the chunks in this process.
        chunks: in the order in which their results are wanted.
        workers: processes, 1: this one. None: this process for compiled bots while that is quicker, and for bots that
            cannot be sent; otherwise as many processes as there are cores and chunks.

    Raises:
        ValueError: `workers` is below 1, or there are to be several and the bots cannot be sent to another process.
    """

    def __init__(self, player: ChunkPlayer, chunks: Sequence[Chunk], workers: int | None) -> None:
        if workers is not None and workers < 1:
            raise ValueError(f"workers={workers} is out of range: expected 1 or more")
        self._player = player
        self._chunks = chunks
        self._wanted = workers
        self.workers = 1
        """How many processes play."""
        if workers is not None and workers > 1 and len(chunks) > 1:
            packed(player.setup, workers)  # raises before anything is played if the bots cannot be sent

    def results(self, state_file: StateFile | None = None) -> Generator[ChunkResult]:
        """The result of each chunk, in order.

        Args:
            state_file: holds some results already, and is given the others; None: nothing is kept.
        """
        stored = {chunk: state_file.get(chunk) if state_file is not None else None for chunk in self._chunks}
        fresh = self._fresh([chunk for chunk in self._chunks if stored[chunk] is None])
        try:
            for chunk in self._chunks:
                result = stored[chunk]
                if result is None:
                    result = next(fresh)
                    if state_file is not None:
                        state_file.add(chunk, result)
                yield result
        finally:
            fresh.close()

    def _fresh(self, chunks: Sequence[Chunk]) -> Generator[ChunkResult]:
        """The results of chunks that are not on disk."""
        if not chunks:
            return
        apart = self._wanted != 1
        if self._wanted is None and all(isinstance(bot, CompiledBot) for bot in self._player.bots):
            began = time.perf_counter()
            yield from self._here(chunks[:1])
            chunks = chunks[1:]
            apart = (time.perf_counter() - began) * len(chunks) > _WORTH_PROCESSES
        if apart and self._wanted is None:
            apart = _can_be_sent(self._player.setup)
        if apart:
            self.workers = min(self._wanted or num_cores(), len(chunks))
            yield from play_in_order(self._player.setup, chunks, self.workers)
        else:
            yield from self._here(chunks)

    def _here(self, chunks: Sequence[Chunk]) -> Iterator[ChunkResult]:
        """Play chunks in this process."""
        self._player.warm_up()
        yield from map(self._player.play, chunks)


def _can_be_sent(setup: Setup) -> bool:
    try:
        pickle.loads(packed(setup, 1))
    except Exception:
        return False
    return True


def progress_bar(shown: bool) -> Progress:
    """A progress bar on stderr; without effect unless `shown`."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True, disable=not shown)


def header_of(setup: Setup) -> dict[str, Any]:
    """The header of a state file: everything that the results of a setup depend on, as plain data.

    Raises:
        ValueError: a bot is given as an object, so the file could not say which bot it was.
    """
    return {
        "bots": [_identity(spec) for spec in setup.specs],
        "rules": setup.rules.name,
        "seed": setup.seed,
        "move limit": setup.move_limit,
        "program": {"commit": commit(), "okey-env": versions()["okey-env"]},
    }


def _identity(spec: BotSpec) -> str:
    """What tells a bot from others: its name with a digest of its files, if it has any, or a class's full name."""
    if isinstance(spec, str | Path):
        folder, files = Path(spec), files_of(spec)
        if not files:
            return str(spec)
        digest = hashlib.sha256()
        for file in files:
            part = file.relative_to(folder).as_posix() if folder.is_dir() else file.name
            digest.update(f"{part} {file.stat().st_size}\n".encode() + file.read_bytes())
        return f"{folder.name if folder.is_dir() else spec} {digest.hexdigest()[:16]}"
    name = getattr(spec, "__qualname__", None)
    if name is None:
        raise ValueError(f"a state file needs bots that can be named, by name, folder or class: got {spec!r}")
    return f"{getattr(spec, '__module__', None)}.{name}"
