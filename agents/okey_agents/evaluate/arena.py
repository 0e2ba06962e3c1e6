"""The arena: one challenger against three opponents on deals that are the same for everybody.

`evaluate` plays each deal with the challenger in every seat (`tables`), asks bots in a way that survives them
(`asking`, `workers`), keeps its state in a file if it is given one (`saved`), stops early if a sequential test says so
(`sprt`), and reports means with intervals clustered by deal (`stats`, `report`). What comes of a chunk of deals is a
function of the bots, the rules, the seed and its number alone, and chunks count in their order: the numbers are the
same for any number of processes and interruptions.
"""

import contextlib
import hashlib
import pickle
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from okey_agents.bots.compiled import CompiledBot
from okey_agents.evaluate.guard.asking import MOVE_LIMIT, Log
from okey_agents.evaluate.guard.workers import num_cores, packed, play_in_order
from okey_agents.evaluate.report import FINISHES, Player, Report, Verdict
from okey_agents.evaluate.saved import Saved
from okey_agents.evaluate.sprt import Sprt
from okey_agents.evaluate.statistics import clustered_interval
from okey_agents.evaluate.tables import Chunk, Lineup, Played, Tables, chunks_of
from okey_agents.provenance import commit, provenance, versions
from okey_env.bots import BotSpec, bot_names
from okey_env.engine.state import ENDED_BY_FINISH, ENDED_TRUNCATED, ENDED_VOID
from okey_env.rules import Rules, as_rules
from okey_env.tiles import NUM_SEATS

_WORTH_PROCESSES = 10.0  # seconds of work below which starting processes does not pay


def evaluate(
    challenger: BotSpec,
    opponents: BotSpec | Sequence[BotSpec],
    deals: int = 1_000,
    rules: str | Rules | Mapping[str, Any] = "gamelake",
    seed: int = 0,
    workers: int | None = None,
    *,
    sprt: Sprt | None = None,
    state: Path | None = None,
    move_limit: float = MOVE_LIMIT,
    records: Path | None = None,
    progress: bool = False,
) -> Report:
    """Play the challenger in every seat of each deal against three opponents.

    Args:
        challenger: any bot that `okey_env.bots.make_bot` knows.
        opponents: one, for all three other seats, or three, from the challenger's right-hand neighbour on.
        deals: how many, each is four rounds; with `sprt` the most.
        rules: what is played.
        seed: settles deals and bots.
        workers: processes; with 1 all is played in this one. None: as many as there are cores and chunks, but compiled
            bots play here while that is quicker, and so do bots that cannot be sent. Whoever hangs in native code
            can be stopped in another process only.
        sprt: a sequential test after each chunk of deals, which may stop early.
        state: a file in which the evaluation is kept, and from which it goes on.
        move_limit: seconds a move; a bot that takes longer has its move replaced.
        records: a folder in which each round that is played is written as a record.
        progress: show a progress bar on stderr.

    Raises:
        ValueError: a number is out of its range, a bot cannot be found or sent to another process, or the state file
            is of another evaluation.
    """
    if deals < 2:
        raise ValueError(f"deals={deals} is out of range: an interval needs at least 2")
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed={seed} is out of range: expected 0 to 2**64 - 1")
    if workers is not None and workers < 1:
        raise ValueError(f"workers={workers} is out of range: expected 1 or more")
    if not move_limit > 0:
        raise ValueError(f"move_limit={move_limit:g} is out of range: expected seconds, more than 0")
    specs = (challenger, *opponents_of(opponents))
    if records is not None:
        records.mkdir(parents=True, exist_ok=True)
    tables = Tables(specs, as_rules(rules), seed, move_limit, records=records)
    lineup: Lineup = (0, 1, 1, 1) if len(specs) == 2 else (0, 1, 2, 3)
    chunks = chunks_of(lineup, deals)
    played: list[Played] = []
    test = None
    began = time.perf_counter()
    with contextlib.ExitStack() as stack:
        saved = stack.enter_context(Saved(state, header_of(tables, specs))) if state is not None else None
        playing = Playing(tables, chunks, workers, saved)
        results = stack.enter_context(contextlib.closing(playing.results()))
        bar = stack.enter_context(progress_bar(progress))
        task = bar.add_task("deals", total=deals)
        for chunk, result in zip(chunks, results, strict=True):
            played.append(result)
            if sprt is not None:
                ratio = sprt.log_ratio(_means(played))
                test = Verdict(sprt, ratio, sprt.decide(ratio))
                low, high = sprt.bounds
                bar.update(task, description=f"deals, ratio {ratio:+.2f} of {low:.2f} … {high:+.2f}")
            bar.advance(task, chunk.stop - chunk.first)
            if test is not None and test.decision is not None:
                break
    return _report(tables, played, test, playing.workers, time.perf_counter() - began)


def opponents_of(opponents: BotSpec | Sequence[BotSpec]) -> Sequence[BotSpec]:
    """One bot or three, as a sequence.

    Raises:
        ValueError: it is another number.
    """
    if isinstance(opponents, str) or not isinstance(opponents, Sequence):
        return [opponents]
    if len(opponents) not in (1, NUM_SEATS - 1):
        raise ValueError(f"opponents={opponents!r}: expected one bot, or three: right, opposite, left")
    return opponents


class Playing:
    """Chunks played here or by processes, those that are on disk already left out.

    Args:
        tables: what plays them.
        chunks: in the order in which they count.
        workers: processes; None: as many as pay.
        saved: where they are kept.
    """

    def __init__(
        self, tables: Tables, chunks: Sequence[Chunk], workers: int | None, saved: Saved | None = None
    ) -> None:
        self._tables = tables
        self._chunks = chunks
        self._workers = workers
        self._saved = saved
        self.workers = 1
        """Processes that play."""
        if workers is not None and workers > 1 and len(chunks) > 1:
            packed(tables, workers)  # which says so if they cannot be sent

    def results(self) -> Generator[Played]:
        """What came of each chunk, in order."""
        left = [chunk for chunk in self._chunks if self._stored(chunk) is None]
        fresh = self._fresh(left)
        try:
            for chunk in self._chunks:
                played = self._stored(chunk)
                if played is None:
                    played = next(fresh)
                    if self._saved is not None:
                        self._saved.add(chunk, played)
                yield played
        finally:
            fresh.close()

    def _stored(self, chunk: Chunk) -> Played | None:
        return self._saved.get(chunk) if self._saved is not None else None

    def _fresh(self, chunks: Sequence[Chunk]) -> Generator[Played]:
        if not chunks:
            return
        apart = self._workers != 1
        if self._workers is None and all(isinstance(bot, CompiledBot) for bot in self._tables.bots):
            began = time.perf_counter()
            yield from self._here(chunks[:1])
            chunks = chunks[1:]
            apart = (time.perf_counter() - began) * len(chunks) > _WORTH_PROCESSES
        if apart and self._workers is None:
            apart = _can_be_sent(self._tables)
        if apart:
            workers = min(self._workers or num_cores(), len(chunks))
            self.workers = workers
            yield from play_in_order(self._tables, chunks, workers)
        else:
            yield from self._here(chunks)

    def _here(self, chunks: Sequence[Chunk]) -> Iterator[Played]:
        """Played in this process."""
        self._tables.warm_up()
        yield from map(self._tables.play, chunks)


def _can_be_sent(tables: Tables) -> bool:
    try:
        pickle.loads(packed(tables, 1))
    except Exception:
        return False
    return True


def progress_bar(shown: bool) -> Progress:
    """A bar on stderr, or nothing."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True, disable=not shown)


# --- what a state file belongs to -----------------------------------------------------------------------------------


def header_of(tables: Tables, specs: Sequence[BotSpec]) -> dict[str, Any]:
    """All that settles what comes of a chunk, as plain data.

    Raises:
        ValueError: a bot is given as an object, of which nobody knows later what it was.
    """
    return {
        "bots": [_identity(spec) for spec in specs],
        "rules": tables.rules.name,
        "seed": tables.seed,
        "move limit": tables.panel.move_limit,
        "program": {"commit": commit(), "okey-env": versions()["okey-env"]},
    }


def _identity(spec: BotSpec) -> str:
    """A bot's name; a folder with what is in it; the place of a class or a function."""
    if isinstance(spec, str | Path):
        folder = Path(spec)
        if spec in bot_names() or not folder.is_dir():
            return str(spec)
        digest = hashlib.sha256()
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            digest.update(f"{file.relative_to(folder).as_posix()} {file.stat().st_size}\n".encode() + file.read_bytes())
        return f"{folder.name} {digest.hexdigest()[:16]}"
    name = getattr(spec, "__qualname__", None)
    if name is None:
        raise ValueError(f"a state file needs bots that can be named, by name, folder or class: got {spec!r}")
    return f"{getattr(spec, '__module__', None)}.{name}"


# --- the report ----------------------------------------------------------------------------------------------------


def _means(played: Sequence[Played]) -> npt.NDArray[np.float64]:
    """The challenger's mean points a round of each deal."""
    means: npt.NDArray[np.float64] = np.concatenate([one.outcomes["points"][..., 0].mean(axis=1) for one in played])
    return means


def _report(tables: Tables, played: Sequence[Played], test: Verdict | None, workers: int, seconds: float) -> Report:
    outcomes = np.concatenate([one.outcomes for one in played])
    players = [player_of(bot.name, [one.logs[number] for one in played]) for number, bot in enumerate(tables.bots)]
    won = outcomes["winner"] == 0
    finished = outcomes["ending"] == ENDED_BY_FINISH
    return Report(
        challenger=players[0],
        opponents=tuple(players[1:]),
        rules=tables.rules.name,
        deals=len(outcomes),
        rounds=outcomes.size,
        seed=tables.seed,
        points=clustered_interval(outcomes["points"][..., 0]),
        win_share=clustered_interval(won),
        test=test,
        finishes={
            "challenger": _finish_shares(outcomes["finish"], won),
            "opponents": _finish_shares(outcomes["finish"], finished & ~won),
        },
        void_rate=float(np.mean(outcomes["ending"] == ENDED_VOID)),
        truncated_rate=float(np.mean(outcomes["ending"] == ENDED_TRUNCATED)),
        throws=float(np.mean(outcomes["throws"])),
        turns=float(np.mean(outcomes["throws"] + finished) / NUM_SEATS),
        workers=workers,
        seconds=seconds,
        made=provenance(),
    )


def player_of(name: str, logs: Sequence[Log]) -> Player:
    """How one bot behaved in all chunks."""
    moves = sum(log.moves for log in logs)
    return Player(
        name=name,
        moves=moves,
        ms_a_move=1_000 * sum(log.seconds for log in logs) / max(moves, 1),
        illegal=sum(log.illegal for log in logs),
        errors=sum(log.errors for log in logs),
        stalled=sum(log.stalled for log in logs),
        unasked=sum(log.unasked for log in logs),
        first_error=next((log.first_error for log in logs if log.first_error), ""),
    )


def _finish_shares(kinds: npt.NDArray[np.int8], which: npt.NDArray[np.bool_]) -> dict[str, float]:
    """Share of all rounds by kind of finish, of those rounds that are meant."""
    return {name: float(np.mean(which & (kinds == number))) for number, name in enumerate(FINISHES)}
