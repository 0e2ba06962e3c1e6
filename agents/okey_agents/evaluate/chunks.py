"""Plays chunks: deals that are the same for everybody, with some bots in a lineup.

A *lineup* names four bots, the first and then those to its right. Each deal is played four times, with the first of the
lineup in each seat: the same racks, the same starter, and **a draw queue for each seat**, so that a throw that is taken
does not change what others draw later. A bot whose moves equal those of its opponents then scores exactly 0.

The rounds of a chunk are played side by side. A chunk is 100 deals, and its result is a function of the setup and the
chunk alone, so the numbers are the same for any number of processes and interruptions.
"""

import dataclasses
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.evaluate.guard.alarms import alarms
from okey_agents.evaluate.guard.bot_host import MOVE_LIMIT, WARM_UP, BotHost, BotLog, KnownFailures
from okey_agents.evaluate.report import names_apart
from okey_env.bots import Bot, BotSpec, make_bot
from okey_env.checks import positive_number, seed_number
from okey_env.engine.batch import apply_at, deal_all, observe_at
from okey_env.engine.state import ENDED_BY_FINISH, NO_SEAT, NOT_ENDED, OBSERVATION, new_games
from okey_env.record import Record
from okey_env.round import Round, derive_seed
from okey_env.rules import Rules
from okey_env.tiles import NUM_SEATS

CHUNK = 100
"""Deals that are played side by side."""

_WARM_UP_MOVES = 8
_BOT_STREAM = 2**64 - 1  # the index under the seed from which the bots' seeds derive; deals count up from 0

OUTCOME = np.dtype(
    [
        ("points", np.int16, (NUM_SEATS,)),  # by index in the lineup, won less lost
        ("winner", np.int8),  # index in the lineup, -1 if nobody finished
        ("finish", np.int8),  # index into FINISHES, -1 if nobody finished
        ("ending", np.uint8),  # ENDED_*
        ("throws", np.uint8),
    ]
)
"""How one round ended."""

Lineup = tuple[int, int, int, int]
"""Four bots by their index in the setup: the first, then those to its right."""


class Chunk(NamedTuple):
    """The deals from `first` up to `stop`, to be played by one lineup."""

    lineup: Lineup
    first: int
    stop: int


class ChunkResult(NamedTuple):
    """How the rounds of a chunk ended, and how the bots behaved."""

    outcomes: npt.NDArray[np.void]
    """`(deals, seatings)` of OUTCOME."""
    logs: list[BotLog]
    """One for each bot of the setup."""


def chunks_of(lineup: Lineup, deals: int) -> list[Chunk]:
    """The first so many deals, cut into chunks."""
    return [Chunk(lineup, first, min(first + CHUNK, deals)) for first in range(0, deals, CHUNK)]


@dataclasses.dataclass(frozen=True)
class Setup:
    """All that the result of a chunk depends on, beside the chunk.

    Raises:
        ValueError: the seed or the move limit is out of its range.
    """

    specs: tuple[BotSpec, ...]
    """What the bots are made of."""
    rules: Rules
    seed: int
    """Settles deals and bots."""
    move_limit: float = MOVE_LIMIT
    """Seconds that a bot has for a move."""
    queues: bool = True
    """Whether each seat draws from its own quarter of the stock."""
    every_seat: bool = True
    """Whether each deal is played with the first of the lineup in every seat; otherwise in one, in turn."""
    records: Path | None = None
    """A folder to which the record of each round is written; None: no records."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", seed_number(self.seed))
        positive_number("move_limit", self.move_limit, " of seconds")


class ChunkPlayer:
    """Plays the chunks of a setup. Each process makes its own.

    Raises:
        ValueError, TypeError: a bot cannot be made; see `okey_env.bots.make_bot`.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.bots: list[Bot] = [make_bot(spec) for spec in setup.specs]
        self.names = names_apart([bot.name for bot in self.bots])
        """The bots' names; the second of one name has (2) after it."""
        self.host = BotHost(self.bots, setup.move_limit)

    def warm_up(self, skip: Collection[int] = ()) -> None:
        """Have each bot make some moves that do not count, so that kernels are loaded before any clock runs.

        Args:
            skip: indices of bots that are left out.
        """
        with alarms(), self.host.interrupts.watching(), self.host.process.watching():
            for bot in range(len(self.bots)):
                games, only = self._deal([0]), np.zeros(1, np.int64)
                records: npt.NDArray[Any] = np.zeros(1, OBSERVATION)
                for _ in range(_WARM_UP_MOVES if bot not in skip else 0):
                    self.host.begin(question=WARM_UP)
                    self.host.reset(0, [bot])
                    observe_at(games, only, records)
                    apply_at(games, only, self.host.ask(bot, games, only, records))
                    if games["ending"][0] != NOT_ENDED or self.host.logs[bot].failed:
                        break

    def play(self, chunk: Chunk, known_failures: KnownFailures | None = None) -> ChunkResult:
        """Play a chunk.

        Args:
            chunk: what is played.
            known_failures: questions that failed in earlier tries of this chunk, which are left out.
        """
        with alarms(), self.host.interrupts.watching(), self.host.process.watching():
            return self._play(chunk, known_failures)

    def _play(self, chunk: Chunk, known_failures: KnownFailures | None) -> ChunkResult:
        setup = self.setup
        deals = np.arange(chunk.first, chunk.stop)
        firsts = np.tile(np.arange(NUM_SEATS), len(deals)) if setup.every_seat else deals % NUM_SEATS
        seatings = NUM_SEATS if setup.every_seat else 1
        self.host.begin(known_failures)
        # one seed for all bots, so that equal ones play equally in every seat
        bot_seed = derive_seed(derive_seed(setup.seed, _BOT_STREAM), chunk.first // CHUNK)
        self.host.reset(bot_seed, sorted(set(chunk.lineup)))
        games = self._deal([derive_seed(setup.seed, int(deal)) for deal in np.repeat(deals, seatings)])
        lineup = np.array(chunk.lineup)
        records: npt.NDArray[Any] = np.zeros(len(games), OBSERVATION)
        while (going := np.flatnonzero(games["ending"] == NOT_ENDED)).size:
            movers = lineup[(games["turn"][going] - firsts[going]) % NUM_SEATS]
            for bot in np.unique(movers):
                indices = going[movers == bot]
                seen = records[: indices.size]
                observe_at(games, indices, seen)
                apply_at(games, indices, self.host.ask(int(bot), games, indices, seen))
        if setup.records is not None:
            self._write_records(setup.records, games, np.repeat(deals, seatings), firsts, chunk.lineup)
        return ChunkResult(_outcomes(games, firsts).reshape(len(deals), seatings), self.host.logs)

    def _write_records(
        self,
        folder: Path,
        games: npt.NDArray[np.record],
        deals: npt.NDArray[np.int64],
        firsts: npt.NDArray[np.int64],
        lineup: Lineup,
    ) -> None:
        """Write a file for each round, named by its deal and by the seat of the first of the lineup."""
        round = Round(self.setup.rules, seed=0, draw_queues=self.setup.queues)
        for game, deal, first in zip(games, deals, firsts, strict=True):
            round.games[0] = game
            players = [self.names[lineup[(seat - first) % NUM_SEATS]] for seat in range(NUM_SEATS)]
            Record.of(round, players).write(folder / f"deal-{deal:06d}-seat-{first}.jsonl")

    def _deal(self, seeds: Sequence[int]) -> npt.NDArray[np.record]:
        games = new_games(self.setup.rules, len(seeds), draw_queues=self.setup.queues)
        deal_all(games, np.array(seeds, np.uint64))
        return games


def _outcomes(games: npt.NDArray[np.record], firsts: npt.NDArray[np.int64]) -> npt.NDArray[np.void]:
    """The outcomes of finished games.

    Args:
        games: `(N,)` of GAME.
        firsts: `(N,)` the seat of the first of the lineup in each.

    Returns:
        `(N,)` of OUTCOME.
    """
    outcomes = np.zeros(len(games), OUTCOME)
    seats = (firsts[:, None] + np.arange(NUM_SEATS)) % NUM_SEATS
    finished = games["ending"] == ENDED_BY_FINISH
    balance = games["won"].astype(np.int16) - games["lost"].astype(np.int16)
    # everybody loses the same in a void round (R5.5), which is no difference between bots
    balance += np.where(finished, 0, games["rules"]["void_points"]).astype(np.int16)[:, None]
    outcomes["points"] = np.take_along_axis(balance, seats, axis=1)
    outcomes["winner"] = np.where(games["winner"] == NO_SEAT, -1, (games["winner"] - firsts) % NUM_SEATS)
    kinds = (2 * games["by_pairs"] + games["by_okey"]).astype(np.int8)
    outcomes["finish"] = np.where(finished, kinds, np.int8(-1))
    outcomes["ending"] = games["ending"]
    outcomes["throws"] = games["throws"]
    return outcomes
