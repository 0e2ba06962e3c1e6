"""The arena: one challenger against three opponents on deals that are the same for everybody.

Each deal is played four times, with the challenger in each seat: the same racks, the same starter, and **a draw queue
for each seat**, so that a throw that is taken does not change what others draw later. A bot that plays like its
opponents then scores exactly 0, whatever the deals.

Rounds are played side by side. Deals come in chunks of fixed size, each a function of (bots, rules, seed, number of
the chunk) alone, so that the numbers are the same for any number of processes. A bot that raises or answers
illegally is counted by name, its move replaced by a legal one.
"""

import concurrent.futures
import contextlib
import dataclasses
import functools
import multiprocessing
import os
import pickle
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from okey_env.actions import DRAW, NUM_ACTIONS, THROW
from okey_env.bots import Bot, BotSpec, choose_for, choose_one, make_bot
from okey_env.engine.batch import apply_at, deal_all, legal_at, mask_in, observe_at
from okey_env.engine.state import ENDED_BY_FINISH, ENDED_TRUNCATED, ENDED_VOID, NOT_ENDED, OBSERVATION, new_games
from okey_env.round import derive_seed
from okey_env.rules import Rules, as_rules
from okey_env.seating import make_opponents
from okey_env.tiles import NUM_SEATS

from ..provenance import provenance
from .report import FINISHES, Player, Report
from .stats import clustered_interval

CHUNK = 100
"""Deals that are played side by side."""

_BOT_STREAM = 2**64 - 1  # the index under the seed from which the bots' seeds derive; deals count up from 0
_RAISED = np.iinfo(np.int64).min  # in place of an action: the bot raised an exception
_WORTH_PROCESSES = 10.0  # seconds of work below which starting processes does not pay
_ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

_OUTCOME = np.dtype(
    [
        ("points", np.int16),  # of the challenger, won less lost
        ("won", np.bool_),  # the challenger finished
        ("finish", np.int8),  # index into FINISHES, -1 if nobody finished
        ("ending", np.uint8),  # ENDED_*
        ("throws", np.uint8),
    ]
)


def evaluate(
    challenger: BotSpec,
    opponents: BotSpec | Sequence[BotSpec],
    deals: int = 1_000,
    rules: str | Rules | Mapping[str, Any] = "gamelake",
    seed: int = 0,
    workers: int | None = None,
    *,
    progress: bool = False,
) -> Report:
    """Play the challenger in every seat of each deal against three opponents.

    Args:
        challenger: any bot that `okey_env.bots.make_bot` knows.
        opponents: one, for all three other seats, or three, from the challenger's right-hand neighbour on.
        deals: how many; each is four rounds.
        rules: what is played.
        seed: settles deals and bots.
        workers: processes; None: one for each core if the first deals show that it pays.
        progress: show a progress bar on stderr.

    Raises:
        ValueError: a number is out of its range, or a bot cannot be found or sent to another process.
    """
    if deals < 2:
        raise ValueError(f"deals={deals} is out of range: an interval needs at least 2")
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed={seed} is out of range: expected 0 to 2**64 - 1")
    if workers is not None and workers < 1:
        raise ValueError(f"workers={workers} is out of range: expected 1 or more")
    field = _Field(challenger, opponents, as_rules(rules), seed)
    chunks = [range(first, min(first + CHUNK, deals)) for first in range(0, deals, CHUNK)]
    played: list[_Played] = []
    began = time.perf_counter()
    with _progress_bar(progress) as bar:
        task = bar.add_task("deals", total=deals)
        if workers is None:
            played.append(field.play(chunks[0]))
            bar.advance(task, len(chunks[0]))
            pays = (time.perf_counter() - began) * (len(chunks) - 1) > _WORTH_PROCESSES
            workers = min(_num_cores(), len(chunks) - 1) if pays else 1
        left = chunks[len(played) :]
        for chunk, result in zip(left, _play_chunks(field, left, workers), strict=True):
            played.append(result)
            bar.advance(task, len(chunk))
    return _report(field, played, workers, time.perf_counter() - began)


@dataclasses.dataclass
class _Log:
    """How one bot behaved."""

    moves: int = 0
    seconds: float = 0.0
    illegal: int = 0
    errors: int = 0
    first_error: str = ""


_Played = tuple[npt.NDArray[np.void], list[_Log]]
"""What came of some deals: `(D, 4)` outcomes by deal and seat of the challenger, and a log for each bot."""


class _Field:
    """The bots, and the table at which they meet; made once in each process."""

    def __init__(self, challenger: BotSpec, opponents: BotSpec | Sequence[BotSpec], rules: Rules, seed: int) -> None:
        self._made_of = (challenger, opponents, rules, seed)
        self.rules = rules
        self.seed = seed
        self.bots: list[Bot] = [make_bot(challenger), *make_opponents(opponents)]
        self._warm_up()

    def __reduce__(self) -> tuple[type["_Field"], tuple[Any, ...]]:
        return _Field, self._made_of

    def play(self, deals: range) -> _Played:
        """Play some deals in all four seatings."""
        bot_seed = derive_seed(derive_seed(self.seed, _BOT_STREAM), deals.start // CHUNK)
        for bot in self.bots:
            bot.reset(bot_seed)  # one seed for all, so that equal bots play equally in every seat
        games = self._deal([derive_seed(self.seed, deal) for deal in deals for _ in range(NUM_SEATS)])
        challengers = np.tile(np.arange(NUM_SEATS), len(deals))
        logs = [_Log() for _ in self.bots]
        records: npt.NDArray[Any] = np.zeros(len(games), OBSERVATION)
        while (going := np.flatnonzero(games["ending"] == NOT_ENDED)).size:
            steps = (games["turn"][going] - challengers[going]) % NUM_SEATS  # from the challenger to the mover
            movers = np.minimum(steps, len(self.bots) - 1)
            for number, bot in enumerate(self.bots):
                indices = going[movers == number]
                if indices.size:
                    seen = records[: indices.size]
                    observe_at(games, indices, seen)
                    apply_at(games, indices, _ask(bot, games, indices, seen, logs[number]))
        return _outcomes(games, challengers).reshape(len(deals), NUM_SEATS), logs

    def _deal(self, seeds: Sequence[int]) -> npt.NDArray[np.record]:
        games = new_games(self.rules, len(seeds), draw_queues=True)
        deal_all(games, np.array(seeds, np.uint64))
        return games

    def _warm_up(self) -> None:
        """One move of each bot that counts for nothing: kernels are loaded before any clock runs."""
        for bot in self.bots:
            games, first = self._deal([0]), np.zeros(1, np.int64)
            records: npt.NDArray[Any] = np.zeros(1, OBSERVATION)
            bot.reset(0)
            observe_at(games, first, records)
            apply_at(games, first, _ask(bot, games, first, records, _Log()))


def _ask(
    bot: Bot,
    games: npt.NDArray[np.record],
    indices: npt.NDArray[np.int64],
    records: npt.NDArray[np.record],
    log: _Log,
) -> npt.NDArray[np.int64]:
    """The moves of a bot in `(M,)` games, with a legal one where it fails to give any."""
    began = time.perf_counter()
    try:
        actions = choose_for(bot, games, indices, records)
    except Exception:  # whatever a bot raises, the others play on
        actions = np.array([_ask_alone(bot, games, int(i), log) for i in indices], np.int64)
    log.seconds += time.perf_counter() - began
    log.moves += len(indices)
    legal = np.empty(len(indices), np.bool_)
    legal_at(games, indices, actions, legal)
    if legal.all():
        return actions
    log.illegal += int((~legal & (actions != _RAISED)).sum())
    replaced = actions.copy()  # the bot may keep what it gave
    for place in np.flatnonzero(~legal):
        replaced[place] = _any_legal(games, int(indices[place]))
    return replaced


def _ask_alone(bot: Bot, games: npt.NDArray[np.record], i: int, log: _Log) -> int:
    """The move of a bot in one game; an exception is written down."""
    try:
        action = choose_one(bot, games, i)
    except Exception as error:
        log.errors += 1
        log.first_error = log.first_error or f"{type(error).__name__}: {error}"[:200]
        return _RAISED
    return action if 0 <= action < NUM_ACTIONS else -1  # a number of any size


def _any_legal(games: npt.NDArray[np.record], i: int) -> int:
    """The action in place of one that is not legal: to draw, else the first legal throw, else to take."""
    mask = np.zeros(NUM_ACTIONS, np.int8)
    mask_in(games, i, mask)
    legal = np.flatnonzero(mask)
    throws = legal[legal >= THROW]
    return DRAW if mask[DRAW] else int(throws[0] if throws.size else legal[-1])


def _outcomes(games: npt.NDArray[np.record], challengers: npt.NDArray[np.int64]) -> npt.NDArray[np.void]:
    """What each of `(N,)` finished games was for the seat of its challenger."""
    outcomes = np.zeros(len(games), _OUTCOME)
    every = np.arange(len(games))
    finished = games["ending"] == ENDED_BY_FINISH
    won = games["won"][every, challengers].astype(np.int16)
    lost = games["lost"][every, challengers].astype(np.int16)
    # what everybody loses in a void round (R6.9) goes to nobody: it is no difference between bots
    outcomes["points"] = won - lost + np.where(finished, 0, games["void_points"])
    outcomes["won"] = finished & (games["winner"] == challengers)
    outcomes["finish"] = np.where(finished, 2 * games["by_pairs"] + games["by_okey"], -1)
    outcomes["ending"] = games["ending"]
    outcomes["throws"] = games["throws"]
    return outcomes


# --- processes -----------------------------------------------------------------------------------------------------


def _play_chunks(field: _Field, chunks: Sequence[range], workers: int) -> Iterator[_Played]:
    """What came of each chunk, in order."""
    if workers == 1 or len(chunks) < 2:
        yield from map(field.play, chunks)
        return
    try:
        packed = pickle.dumps(field)
    except Exception as error:
        raise ValueError(
            f"workers={workers} needs bots that another process can make, by name, folder or class: {error}"
        ) from error
    context = multiprocessing.get_context("spawn")
    with (
        _environment(_ONE_THREAD),
        concurrent.futures.ProcessPoolExecutor(min(workers, len(chunks)), context) as executor,
    ):
        try:
            yield from executor.map(functools.partial(_play_packed, packed), chunks)
        finally:
            executor.shutdown(wait=False, cancel_futures=True)


def _play_packed(packed: bytes, deals: range) -> _Played:
    return _unpacked(packed).play(deals)


@functools.lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> _Field:
    """The field, made by the first chunk that a process plays."""
    field: _Field = pickle.loads(packed)
    return field


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


def _num_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _progress_bar(shown: bool) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True, disable=not shown)


# --- the report ----------------------------------------------------------------------------------------------------


def _report(field: _Field, played: Sequence[_Played], workers: int, seconds: float) -> Report:
    outcomes = np.concatenate([outcomes for outcomes, _ in played])
    players = [_player(bot.name, [logs[number] for _, logs in played]) for number, bot in enumerate(field.bots)]
    finished = outcomes["ending"] == ENDED_BY_FINISH
    return Report(
        challenger=players[0],
        opponents=tuple(players[1:]),
        rules=field.rules.name,
        deals=len(outcomes),
        rounds=outcomes.size,
        seed=field.seed,
        points=clustered_interval(outcomes["points"]),
        win_share=clustered_interval(outcomes["won"]),
        finishes={
            "challenger": _finish_shares(outcomes["finish"], outcomes["won"]),
            "opponents": _finish_shares(outcomes["finish"], finished & ~outcomes["won"]),
        },
        void_rate=float(np.mean(outcomes["ending"] == ENDED_VOID)),
        truncated_rate=float(np.mean(outcomes["ending"] == ENDED_TRUNCATED)),
        throws=float(np.mean(outcomes["throws"])),
        turns=float(np.mean(outcomes["throws"] + finished) / NUM_SEATS),
        workers=workers,
        seconds=seconds,
        made=provenance(),
    )


def _player(name: str, logs: Sequence[_Log]) -> Player:
    moves = sum(log.moves for log in logs)
    return Player(
        name=name,
        moves=moves,
        ms_a_move=1_000 * sum(log.seconds for log in logs) / max(moves, 1),
        illegal=sum(log.illegal for log in logs),
        errors=sum(log.errors for log in logs),
        first_error=next((log.first_error for log in logs if log.first_error), ""),
    )


def _finish_shares(kinds: npt.NDArray[np.int8], which: npt.NDArray[np.bool_]) -> dict[str, float]:
    """Share of all rounds by kind of finish, of those rounds that are meant."""
    return {name: float(np.mean(which & (kinds == number))) for number, name in enumerate(FINISHES)}
