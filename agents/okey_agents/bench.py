"""Measures the speed of everything for `okey bench`: one table, and the same as one line of JSON.

Rates are per second of CPU time of this process and per second of wall time, with one thread unless a case says
otherwise. Each case is run once to load its kernels and then timed in parts, of which the best counts: on a machine
that does other work too, the best part is the one that was disturbed least.
"""

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.table import Table

from okey_agents.bots.greedy import GreedyBot
from okey_agents.console import PlainConsole
from okey_agents.evaluate.arena import evaluate
from okey_agents.provenance import provenance
from okey_env import hands
from okey_env.actions import DRAW, FINISH, NUM_ACTIONS, TAKE, THROW
from okey_env.engine._jit import kernel
from okey_env.engine.batch import apply_at, deal_all, observe_at
from okey_env.engine.deal import deal
from okey_env.engine.hand import KIND_OF_BIT, cover, finishing_melds, finishing_pairs, lowest_bit, popcount
from okey_env.engine.hand.bits import as_int
from okey_env.engine.observe import look
from okey_env.engine.random import below, derive_seed
from okey_env.engine.state import NO_SEAT, NOT_ENDED, OBSERVATION, PHASE_DRAW, PHASE_THROW, new_games
from okey_env.engine.turn import apply
from okey_env.files import write_whole
from okey_env.rules import Rules
from okey_env.single import OkeyEnv
from okey_env.tiles import NUM_KINDS, WILD
from okey_env.vector import OkeyVectorEnv, SelfPlay

_BATCHES = (1, 64, 256, 1024)
_PARTS = 8
_NUM_HANDS = 2_000
_COLD_START = """
import okey_env
env = okey_env.env()
env.reset(seed=1)
for agent in env.agent_iter():
    observation, _, terminated, truncated, _ = env.last()
    env.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
try:  # Linux counts what a process had before it became this one into ru_maxrss, but not into VmHWM
    status = open("/proc/self/status").read().split()
    print(int(status[status.index("VmHWM:") + 1]) / 1024)
except OSError:
    print(float("nan"))
"""


@dataclasses.dataclass(frozen=True)
class Row:
    """One measurement."""

    case: str
    unit: str
    """What is counted; or `s` for a time and `MB` for a size, measured once."""
    cpu: float
    """Units per second of CPU time; for `s` the CPU seconds, for `MB` the megabytes."""
    wall: float
    """Units per second of wall time; for `s` the seconds, for `MB` the megabytes."""


def run(json_file: Path | None = None, seconds: float = 1.0) -> None:
    """Run all cases, and print the table and the line.

    Args:
        json_file: a file to which the line is written as well; None: none.
        seconds: how long each case is timed at least.
    """
    console = PlainConsole()
    notes: list[str] = []
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    rows = []
    with console.status("") as status:
        for row in _cases(seconds, notes):
            rows.append(row)
            status.update(row.case)
    grid = Table("case", "unit", "a CPU second", "a second")
    for row in rows:
        form = ".2f" if row.unit == "s" else ",.0f"
        grid.add_row(row.case, row.unit, f"{row.cpu:{form}}", f"{row.wall:{form}}")
    console.print(grid)
    for note in notes:
        console.print(note)
    made = {"load": load, **provenance()}
    line = json.dumps({"rows": [dataclasses.asdict(row) for row in rows], "notes": notes, "made": made})
    print(line)
    if json_file is not None:
        write_whole(json_file, line + "\n")


def _cases(seconds: float, notes: list[str]) -> Iterator[Row]:
    yield from _engine(seconds)
    yield _copy_of_an_observation(seconds)
    yield from _self_play(seconds)
    yield from _environments(seconds, notes)
    yield from _learning_seat(seconds)
    yield from _hands(seconds)
    yield from _public_hands(seconds)
    yield _arena(seconds)
    yield from _cold_starts()


def _rate(case: str, unit: str, work: Callable[[], int], seconds: float) -> Row:
    """Time a case.

    Args:
        case: its name.
        unit: what `work` counts.
        work: does some work and returns how many units that was.
        seconds: how long to time it; the best of `_PARTS` parts of this time counts.
    """
    work()
    best = Row(case, unit, 0.0, 0.0)
    for _ in range(_PARTS):
        count, wall, cpu = 0, time.perf_counter(), time.process_time()
        while count == 0 or time.perf_counter() - wall < seconds / _PARTS:
            count += work()
        part = Row(case, unit, count / (time.process_time() - cpu), count / (time.perf_counter() - wall))
        best = max(best, part, key=lambda row: row.cpu)
    return best


# --- the round kernel ----------------------------------------------------------------------------------------------


def _engine(seconds: float) -> Iterator[Row]:
    for size in _BATCHES:
        for observing in (False, True):
            games = new_games(Rules(), size)
            deal_all(games, np.arange(size).astype(np.uint64))
            masks = np.zeros((size, NUM_ACTIONS), np.int8)
            records: npt.NDArray[Any] = np.zeros(size, OBSERVATION)
            steps = max(1, 20_000 // size)

            def work(
                games: npt.NDArray[np.record] = games,
                records: npt.NDArray[np.record] = records,
                masks: npt.NDArray[np.int8] = masks,
                steps: int = steps,
                observing: bool = observing,
            ) -> int:
                _play_at_random(games, records, masks, steps, observing)
                return steps * len(games)

            what = "with observation and mask" if observing else "without observation"
            yield _rate(f"round kernel, {size} games, {what}", "decisions", work, seconds)


@kernel(borrows=True)
def _play_at_random(
    games: npt.NDArray[np.record],
    records: npt.NDArray[np.record],
    masks: npt.NDArray[np.int8],
    steps: int,
    observing: bool,
) -> None:
    """Play at random, dealing a new round after each that ends; whoever can finish does.

    Args:
        games: `(N,)` of GAME.
        records: `(N,)` of OBSERVATION, filled before each decision if `observing`.
        masks: `(N, NUM_ACTIONS)` legal actions, filled likewise.
        steps: decisions in each game.
        observing: whether to write what the seat to move sees.
    """
    for step in range(steps):
        for i in range(len(games)):
            game = games[i]
            if game.ending != NOT_ENDED:
                game.round_number += np.uint64(1)
                deal(game, NO_SEAT)
            if observing:
                look(game, game.turn, records[i], masks[i])
            apply(game, _random_action(game, derive_seed(np.uint64(step), np.uint64(i))))


@kernel
def _random_action(game: np.record, state: np.uint64) -> int:
    """A legal action, chosen by a random 64-bit word; a wild tile is never thrown."""
    if game.phase == PHASE_DRAW:
        return TAKE if game.stock_left == 0 or below(state, 2) == 0 else DRAW
    finishes = as_int(game.finish_melds | game.finish_pairs)
    if finishes != 0:
        return FINISH + int(KIND_OF_BIT[lowest_bit(finishes)])
    held = as_int(game.once[game.turn])
    for _ in range(below(state, popcount(held))):
        held &= held - 1
    return THROW + int(KIND_OF_BIT[lowest_bit(held)])


def _copy_of_an_observation(seconds: float) -> Row:
    """An upper bound: numpy copying as many bytes as an observation and its mask have from one array to another."""
    size = 256
    source: npt.NDArray[Any] = np.zeros((size, OBSERVATION.itemsize + NUM_ACTIONS), np.uint8)
    target = np.empty_like(source)

    def work() -> int:
        for _ in range(100):
            np.copyto(target, source)
        return 100 * size

    return _rate("numpy copy of observations and masks, 256 games", "decisions", work, seconds)


def _self_play(seconds: float) -> Iterator[Row]:
    """`SelfPlay` from Python. The rates include choosing an action, which costs the same in every row."""
    for encoder in (None, "flat"):
        for num_threads in (1, 2):
            if num_threads > (os.cpu_count() or 1):
                continue
            games = SelfPlay(1024, encoder=encoder, seed=1, num_threads=num_threads)
            games.reset()
            actions = np.zeros(1024, np.int64)

            def work(games: SelfPlay = games, actions: npt.NDArray[np.int64] = actions) -> int:
                for step in range(10):
                    _choose_all(games.games, actions, np.uint64(step))
                    games.step(actions)
                return 10 * games.num_games

            what = f"encoder {encoder}" if encoder else "no encoder"
            threads = "1 thread" if num_threads == 1 else f"{num_threads} threads"
            yield _rate(f"SelfPlay, 1024 games, {what}, {threads}", "decisions", work, seconds)


@kernel
def _choose_all(games: npt.NDArray[np.record], actions: npt.NDArray[np.int64], seed: np.uint64) -> None:
    for i in range(len(games)):
        actions[i] = _random_action(games[i], derive_seed(seed, np.uint64(i)))


# --- environments --------------------------------------------------------------------------------------------------


def _environments(seconds: float, notes: list[str]) -> Iterator[Row]:
    """The AEC environment, and for comparison PettingZoo's smallest game, which costs little but the interface."""
    from okey_env import aec

    yield _rate("AEC raw_env()", "decisions", _AecPlay(aec.raw_env()), seconds)
    yield _rate("AEC env(), standard wrappers", "decisions", _AecPlay(aec.env()), seconds)
    try:
        from pettingzoo.classic import tictactoe_v3
    except ImportError as error:
        notes.append(f"PettingZoo's tictactoe_v3 could not be imported and is not measured: {error}")
        return
    tictactoe: Any = tictactoe_v3
    yield _rate("PettingZoo tictactoe_v3 raw_env()", "decisions", _AecPlay(tictactoe.raw_env()), seconds)
    yield _rate("PettingZoo tictactoe_v3 env()", "decisions", _AecPlay(tictactoe.env()), seconds)


class _AecPlay:
    """Plays one episode at random in each call; returns the number of decisions."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.random = np.random.default_rng(0)
        self.episodes = 0

    def __call__(self) -> int:
        env = self.env
        env.reset(seed=self.episodes)
        self.episodes += 1
        decisions = 0
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = observation["action_mask"].nonzero()[0]
            env.step(int(legal[int(self.random.random() * len(legal))]))
            decisions += 1
        return decisions


def _learning_seat(seconds: float) -> Iterator[Row]:
    """One learning seat against three greedy bots; only the decisions of the learning seat are counted."""
    single = OkeyEnv(opponents="greedy")
    random = np.random.default_rng(0)

    def play_round() -> int:
        single.reset(seed=int(random.integers(2**31)))
        decisions, over = 0, False
        while not over:
            legal = np.flatnonzero(single.action_masks())
            _, _, terminated, truncated, _ = single.step(int(legal[int(random.random() * len(legal))]))
            decisions, over = decisions + 1, terminated or truncated
        return decisions

    yield _rate("Gymnasium OkeyEnv against greedy", "decisions", play_round, seconds)
    many = OkeyVectorEnv(256, opponents="greedy", seed=1, copy=False)
    many.reset()

    def step_all() -> int:
        for _ in range(10):
            many.step(many.masks.argmax(axis=1))
        return 10 * many.num_envs

    yield _rate("Gymnasium OkeyVectorEnv, 256 games, against greedy", "decisions", step_all, seconds)


# --- the hand solver and greedy ------------------------------------------------------------------------------------


def _hands(seconds: float) -> Iterator[Row]:
    bot = GreedyBot()
    for name, records in (("random hands", _random_hands()), ("hands of play", _hands_of_play())):

        def covers(records: npt.NDArray[np.record] = records) -> int:
            _cover_all(records)
            return len(records)

        def finishes(records: npt.NDArray[np.record] = records) -> int:
            _find_finishes_of_all(records)
            return len(records)

        def moves(records: npt.NDArray[np.record] = records) -> int:
            bot.act_batch(records)
            return len(records)

        yield _rate(f"cover, 15 tiles, {name}", "hands", covers, seconds)
        yield _rate(f"finishing tiles, 15 tiles, {name}", "hands", finishes, seconds)
        yield _rate(f"greedy throws, 15 tiles, {name}", "moves", moves, seconds)


def _random_hands() -> npt.NDArray[np.record]:
    """Observations of starters, who have 15 tiles just dealt."""
    games = new_games(Rules(indicator_points=0), _NUM_HANDS)
    deal_all(games, np.arange(_NUM_HANDS).astype(np.uint64))
    records: npt.NDArray[Any] = np.zeros(_NUM_HANDS, OBSERVATION)
    observe_at(games, np.arange(_NUM_HANDS), records)
    return records


def _hands_of_play() -> npt.NDArray[np.record]:
    """Observations of greedy bots that have 15 tiles, in the middle of a round."""
    bot = GreedyBot()
    games = new_games(Rules(indicator_points=0), _NUM_HANDS)
    deal_all(games, np.arange(_NUM_HANDS).astype(np.uint64))
    found = []
    records: npt.NDArray[Any] = np.zeros(_NUM_HANDS, OBSERVATION)
    while (going := np.flatnonzero(games["ending"] == NOT_ENDED)).size:
        seen = records[: going.size]
        observe_at(games, going, seen)
        found.append(seen[(seen["phase"] == PHASE_THROW) & (seen["throws"] % 16 == 8)])
        apply_at(games, going, bot.act_batch(seen))
    return np.concatenate(found)[:_NUM_HANDS]


@kernel
def _cover_all(records: npt.NDArray[np.record]) -> int:
    total = 0
    for i in range(len(records)):
        total += cover(records[i].once, records[i].twice, True)
    return total


@kernel
def _find_finishes_of_all(records: npt.NDArray[np.record]) -> int:
    total = 0
    for i in range(len(records)):
        once, twice, wilds = records[i].once, records[i].twice, as_int(records[i].rack[WILD])
        total += popcount(as_int(finishing_melds(once, twice, wilds, True) | finishing_pairs(once, twice, wilds)))
    return total


def _public_hands(seconds: float) -> Iterator[Row]:
    """`okey_env.hands` on batches, including the checks of its arguments."""
    fifteen = np.ascontiguousarray(_hands_of_play()["rack"][:, :NUM_KINDS])
    fourteen = fifteen.copy()
    for rack in fourteen:
        rack[np.flatnonzero(rack)[0]] -= 1
    cases: tuple[tuple[str, Callable[[npt.NDArray[np.uint8]], object], npt.NDArray[np.uint8]], ...] = (
        ("melds_distance", hands.melds_distance, fourteen),
        ("pairs_distance", hands.pairs_distance, fourteen),
        ("finishing_kinds", hands.finishing_kinds, fifteen),
        ("throw_distances", hands.throw_distances, fifteen),
        ("useful_kinds", hands.useful_kinds, fourteen),
        ("analyse", hands.analyse, fifteen),
        ("arrange", hands.arrange, fifteen[:100]),
    )
    for name, function, racks in cases:

        def work(
            function: Callable[[npt.NDArray[np.uint8]], object] = function, racks: npt.NDArray[np.uint8] = racks
        ) -> int:
            function(racks)
            return len(racks)

        yield _rate(f"hands.{name}, batch, hands of play", "hands", work, seconds)


def _arena(seconds: float) -> Row:
    def work() -> int:
        return evaluate(GreedyBot, GreedyBot, deals=100, workers=1).rounds

    return _rate("arena, greedy against greedy", "rounds", work, seconds)


# --- starting up ---------------------------------------------------------------------------------------------------


def _cold_starts() -> Iterator[Row]:
    """A new process that imports, makes an environment and plays one round: with kernels on disk, and without."""
    _start({})
    yield from _started("kernels on disk", {})
    with tempfile.TemporaryDirectory() as folder:
        yield from _started("no kernels yet", {"NUMBA_CACHE_DIR": folder})


def _started(what: str, environment: dict[str, str]) -> Iterator[Row]:
    wall, before = time.perf_counter(), os.times()
    megabytes = _start(environment)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    yield Row(f"first round of a new process, {what}", "s", cpu, time.perf_counter() - wall)
    yield Row(f"peak memory of that process, {what}", "MB", megabytes, megabytes)


def _start(environment: dict[str, str]) -> float:
    """Run the process once; returns its peak memory in MB."""
    done = subprocess.run(
        [sys.executable, "-c", _COLD_START],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    return float(done.stdout.split()[-1])
