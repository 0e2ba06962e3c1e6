"""Runs the chunks of an evaluation or a ladder: in this process or in several, leaving out those already on disk."""

import time
from collections.abc import Generator, Iterator, Sequence
from typing import Any, Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from okey_agents.bots.compiled import CompiledBot
from okey_agents.console import PlainConsole
from okey_agents.errors import BotFailureError
from okey_agents.evaluate.chunks import Chunk, ChunkPlayer, ChunkResult, Setup
from okey_agents.evaluate.guard.processes import is_importable
from okey_agents.evaluate.guard.workers import num_cores, packed, play_in_order
from okey_agents.evaluate.identity import identity_of
from okey_agents.evaluate.state_file import StateFile
from okey_agents.provenance import commit, versions
from okey_env.checks import MAX_WORKERS, whole_number


class Elsewhere(Protocol):
    """Other machines."""

    @property
    def workers(self) -> int:
        """How many play at once."""

    def play(self, setup: Setup, chunks: Sequence[Chunk]) -> Generator[ChunkResult]:
        """The results of chunks, in their order."""


_WORTH_PROCESSES = 10.0  # seconds of work below which starting processes does not pay


class ChunkRunner:
    """Runs chunks and gives their results in order.

    Args:
        player: plays the chunks in this process.
        chunks: in the order in which their results are wanted.
        workers: processes, 1: this one. None: this process for compiled bots while that is quicker, and for bots that
            cannot be sent; otherwise as many processes as there are cores and chunks.
        elsewhere: plays the chunks instead of processes of this machine.

    Raises:
        ValueError: `workers` is below 1, or there are to be several and the bots cannot be sent to another process.
    """

    def __init__(
        self,
        player: ChunkPlayer,
        chunks: Sequence[Chunk],
        workers: int | None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        if workers is not None:
            workers = whole_number("workers", workers, 1, MAX_WORKERS, ", or None")
        self._player = player
        self._chunks = chunks
        self._wanted = workers
        self._elsewhere = elsewhere
        self.workers = 1
        """How many processes play."""
        if workers is not None and workers > 1 and len(chunks) > 1:
            packed(player.setup, workers)  # raises before anything is played if the bots cannot be sent

    def results(self, state_file: StateFile | None = None) -> Generator[ChunkResult]:
        """The result of each chunk, in order.

        Args:
            state_file: holds some results already, and is given the others; None: nothing is kept.

        Raises:
            BotFailureError: a bot failed at every one of its moves in a chunk.
        """
        stored = {chunk: state_file.get(chunk) if state_file is not None else None for chunk in self._chunks}
        fresh = self._fresh([chunk for chunk in self._chunks if stored[chunk] is None])
        try:
            for chunk in self._chunks:
                result = stored[chunk]
                if result is None:
                    result = next(fresh)
                    _check_bots(self._player, result)
                    if state_file is not None:
                        state_file.add(chunk, result)
                yield result
        finally:
            fresh.close()

    def _fresh(self, chunks: Sequence[Chunk]) -> Generator[ChunkResult]:
        """The results of chunks that are not on disk."""
        if not chunks:
            return
        if self._elsewhere is not None:
            self.workers = self._elsewhere.workers
            yield from self._elsewhere.play(self._player.setup, chunks)
            return
        apart = self._wanted != 1
        if self._wanted is None and all(isinstance(bot, CompiledBot) for bot in self._player.bots):
            began = time.perf_counter()
            yield from self._here(chunks[:1])
            chunks = chunks[1:]
            apart = (time.perf_counter() - began) * len(chunks) > _WORTH_PROCESSES
        if self._wanted is None:  # a lambda may count or collect something here, so it moves only if it is asked to
            apart = apart and len(chunks) > 1 and is_importable(self._player.setup)
        if apart:
            self.workers = min(self._wanted or num_cores(), len(chunks))
            yield from play_in_order(self._player.setup, chunks, self.workers)
        else:
            yield from self._here(chunks)

    def _here(self, chunks: Sequence[Chunk]) -> Iterator[ChunkResult]:
        """Play chunks in this process."""
        self._player.warm_up()
        yield from map(self._player.play, chunks)


def progress_bar(shown: bool) -> Progress:
    """A progress bar on stderr; without effect unless `shown`."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=PlainConsole(stderr=True), transient=True, disable=not shown)


def _check_bots(player: ChunkPlayer, result: ChunkResult) -> None:
    """Raise BotFailureError if a bot failed at every move: only moves that stand in for its own would be measured."""
    for name, log in zip(player.names, result.logs, strict=True):
        if log.moves and log.illegal + log.errors + log.stalled + log.unasked >= log.moves:
            raise BotFailureError(f"{name} failed at every one of its {log.moves:,} moves: {log.first_error}")


def header_of(setup: Setup) -> dict[str, Any]:
    """The header of a state file: everything that the results of a setup depend on, as plain data.

    Raises:
        ValueError: a bot cannot be told from others that are made in the same way.
    """
    return {
        "bots": [identity_of(spec) for spec in setup.specs],
        "rules": setup.rules.name,
        "seed": setup.seed,
        "move limit": setup.move_limit,
        "program": {"commit": commit(), "okey-env": versions()["okey-env"]},
    }
