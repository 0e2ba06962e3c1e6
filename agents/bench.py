"""`okey bench`: how fast everything is, as one table and one line of JSON.

Rates are per second of CPU time of this process, one thread, which repeats well on a machine that does other work
too; wall time stands beside them. Each case is run once to load its kernels, then timed.
"""

import dataclasses
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

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
from okey_env.rules import Rules
from okey_env.tiles import WILD

from .evaluate.arena import evaluate
from .greedy_bot import GreedyBot
from .provenance import provenance

_BATCHES = (1, 64, 1024)
_NUM_HANDS = 2_000
_COLD_START = """
import okey_env
env = okey_env.env()
env.reset(seed=1)
observation, *_ = env.last()
env.step(int(observation["action_mask"].argmax()))
"""


@dataclasses.dataclass(frozen=True)
class Row:
    """One measurement."""

    case: str
    unit: str
    """What is counted; `s` is a time that was taken once."""
    cpu: float
    """Units per second of CPU time, or the CPU seconds."""
    wall: float
    """Units per second of wall time, or the seconds."""


def run(json_file: Path | None = None, seconds: float = 1.0) -> None:
    """Run all cases, print the table and the line.

    Args:
        json_file: where the line is written as well.
        seconds: how long each case is timed, at least.
    """
    console = Console()
    notes: list[str] = []
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    rows = []
    with console.status("") as status:
        for row in _cases(seconds, notes):
            rows.append(row)
            status.update(row.case)
    table = Table("case", "unit", "a CPU second", "a second")
    for row in rows:
        form = ".2f" if row.unit == "s" else ",.0f"
        table.add_row(row.case, row.unit, f"{row.cpu:{form}}", f"{row.wall:{form}}")
    console.print(table)
    for note in notes:
        console.print(note)
    made = {"load": load, **provenance()}
    line = json.dumps({"rows": [dataclasses.asdict(row) for row in rows], "notes": notes, "made": made})
    print(line)
    if json_file is not None:
        json_file.write_text(line + "\n", encoding="utf-8")


def _cases(seconds: float, notes: list[str]) -> Iterator[Row]:
    yield from _engine(seconds)
    yield from _environments(seconds, notes)
    yield from _hands(seconds)
    yield _arena(seconds)
    yield _cold_start()


def _rate(case: str, unit: str, work: Callable[[], int], seconds: float) -> Row:
    """Do `work`, which says how many units it did, until the time is up."""
    work()
    count, wall, cpu = 0, time.perf_counter(), time.process_time()
    while count == 0 or time.perf_counter() - wall < seconds:
        count += work()
    return Row(case, unit, count / (time.process_time() - cpu), count / (time.perf_counter() - wall))


# --- the round kernel ----------------------------------------------------------------------------------------------


def _engine(seconds: float) -> Iterator[Row]:
    for size in _BATCHES:
        for looking in (False, True):
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
                looking: bool = looking,
            ) -> int:
                _play_at_random(games, records, masks, steps, looking)
                return steps * len(games)

            what = "with observation and mask" if looking else "without observation"
            yield _rate(f"round kernel, {size} games, {what}", "decisions", work, seconds)


@kernel
def _play_at_random(
    games: npt.NDArray[np.record],
    records: npt.NDArray[np.record],
    masks: npt.NDArray[np.int8],
    steps: int,
    looking: bool,
) -> None:
    """Random legal play, a new round after each that ends; a round is finished by whoever can."""
    for step in range(steps):
        for i in range(len(games)):
            game = games[i]
            if game.ending != NOT_ENDED:
                game.round_number += np.uint64(1)
                deal(game, NO_SEAT)
            if looking:
                look(game, game.turn, records[i], masks[i])
            apply(game, _random_action(game, derive_seed(np.uint64(step), np.uint64(i))))


@kernel
def _random_action(game: np.record, state: np.uint64) -> int:
    """A legal action read from a random word; a wild tile is never thrown."""
    if game.phase == PHASE_DRAW:
        return TAKE if game.stock_left == 0 or below(state, 2) == 0 else DRAW
    finishes = as_int(game.finish_melds | game.finish_pairs)
    if finishes != 0:
        return FINISH + int(KIND_OF_BIT[lowest_bit(finishes)])
    held = as_int(game.once[game.turn])
    for _ in range(below(state, popcount(held))):
        held &= held - 1
    return THROW + int(KIND_OF_BIT[lowest_bit(held)])


# --- environments --------------------------------------------------------------------------------------------------


def _environments(seconds: float, notes: list[str]) -> Iterator[Row]:
    """The AEC environment, and beside it PettingZoo's smallest game, whose whole cost is the interface."""
    from okey_env import aec

    yield _rate("AEC raw_env()", "decisions", _AecPlay(aec.raw_env()), seconds)
    yield _rate("AEC env(), standard wrappers", "decisions", _AecPlay(aec.env()), seconds)
    try:
        from pettingzoo.classic import tictactoe_v3
    except ImportError as error:
        notes.append(f"PettingZoo's tictactoe_v3 is left out: {error}")
        return
    tictactoe: Any = tictactoe_v3
    yield _rate("PettingZoo tictactoe_v3 raw_env()", "decisions", _AecPlay(tictactoe.raw_env()), seconds)
    yield _rate("PettingZoo tictactoe_v3 env()", "decisions", _AecPlay(tictactoe.env()), seconds)


class _AecPlay:
    """Random masked play of one episode after another."""

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
    """What starters see: 15 tiles just dealt."""
    games = new_games(Rules(indicator_points=0), _NUM_HANDS)
    deal_all(games, np.arange(_NUM_HANDS).astype(np.uint64))
    records: npt.NDArray[Any] = np.zeros(_NUM_HANDS, OBSERVATION)
    observe_at(games, np.arange(_NUM_HANDS), records)
    return records


def _hands_of_play() -> npt.NDArray[np.record]:
    """What greedy bots see when they have 15 tiles, each time in the middle of a round."""
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


def _arena(seconds: float) -> Row:
    def work() -> int:
        return evaluate(GreedyBot, GreedyBot, deals=100, workers=1).rounds

    return _rate("arena, greedy against greedy", "rounds", work, seconds)


# --- starting up ---------------------------------------------------------------------------------------------------


def _cold_start() -> Row:
    """A new process: import, make an environment, do one action; kernels come from the disk."""
    start = [sys.executable, "-c", _COLD_START]
    subprocess.run(start, check=True, capture_output=True)
    wall, before = time.perf_counter(), os.times()
    subprocess.run(start, check=True, capture_output=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Row("cold start to the first action, kernels on disk", "s", cpu, time.perf_counter() - wall)
