"""Tables: some bots, deals that are the same for everybody, and what came of the rounds.

A *lineup* names the bots at a table from the first to its right. Each deal is played four times, with the first of the
lineup in each seat: the same racks, the same starter, and **a draw queue for each seat**, so that a throw that is taken
does not change what others draw later. A bot that plays like the others then has exactly 0, whatever the deals.

Rounds are played side by side. Deals come in chunks of fixed size, each a function of (bots, lineup, rules, seed,
number of the chunk) alone, so that the numbers are the same for any number of processes and interruptions.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.evaluate.guard.asking import MOVE_LIMIT, WARMING_UP, Fates, Log, Panel, alarms
from okey_env.bots import Bot, BotSpec, make_bot
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
        ("points", np.int16, (NUM_SEATS,)),  # by place in the lineup, won less lost
        ("winner", np.int8),  # place in the lineup, -1 if nobody finished
        ("finish", np.int8),  # index into FINISHES, -1 if nobody finished
        ("ending", np.uint8),  # ENDED_*
        ("throws", np.uint8),
    ]
)
"""What came of one round."""

Lineup = tuple[int, int, int, int]
"""The bots at a table as indices: the first, then to its right."""


class Chunk(NamedTuple):
    """Deals to play at one table."""

    lineup: Lineup
    first: int
    stop: int


class Played(NamedTuple):
    """What came of a chunk."""

    outcomes: npt.NDArray[np.void]
    """`(deals, seatings)` of OUTCOME."""
    logs: list[Log]
    """One for each bot."""


def chunks_of(lineup: Lineup, deals: int) -> list[Chunk]:
    """The chunks of the first so many deals."""
    return [Chunk(lineup, first, min(first + CHUNK, deals)) for first in range(0, deals, CHUNK)]


class Tables:
    """Bots, rules and a seed: all that settles what comes of a chunk. Made once in each process.

    Args:
        specs: what the bots are made of.
        rules: what is played.
        seed: settles deals and bots.
        move_limit: seconds a move.
        queues: each seat draws from its own quarter of the stock.
        every_seat: play each deal with the first of the lineup in every seat; otherwise in one, in turn.
        records: a folder for a record of each round.
    """

    def __init__(
        self,
        specs: Sequence[BotSpec],
        rules: Rules,
        seed: int,
        move_limit: float = MOVE_LIMIT,
        *,
        queues: bool = True,
        every_seat: bool = True,
        records: Path | None = None,
    ) -> None:
        self._made_of = (tuple(specs), rules, seed, move_limit, queues, every_seat, records)
        self.rules = rules
        self.seed = seed
        self.bots: list[Bot] = [make_bot(spec) for spec in specs]
        self.panel = Panel(self.bots, move_limit)
        self._queues = queues
        self._every_seat = every_seat
        self._records = records

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, self._made_of

    def warm_up(self, skip: Collection[int] = ()) -> None:
        """Some moves of each bot that count for nothing: kernels are loaded before any clock runs."""
        with alarms():
            for player in range(len(self.bots)):
                games, first = self._deal([0]), np.zeros(1, np.int64)
                records: npt.NDArray[Any] = np.zeros(1, OBSERVATION)
                for _ in range(_WARM_UP_MOVES if player not in skip else 0):
                    self.panel.begin(number=WARMING_UP)
                    self.panel.reset(0, [player])
                    observe_at(games, first, records)
                    apply_at(games, first, self.panel.ask(player, games, first, records))
                    if games["ending"][0] != NOT_ENDED or self.panel.logs[player].failed:
                        break

    def play(self, chunk: Chunk, fates: Fates | None = None) -> Played:
        """Play a chunk; `fates` says what is known from an earlier try to be left out."""
        with alarms():
            return self._play(chunk, fates)

    def _play(self, chunk: Chunk, fates: Fates | None) -> Played:
        deals = np.arange(chunk.first, chunk.stop)
        firsts = np.tile(np.arange(NUM_SEATS), len(deals)) if self._every_seat else deals % NUM_SEATS
        seatings = NUM_SEATS if self._every_seat else 1
        self.panel.begin(fates)
        # one seed for all bots, so that equal ones play equally in every seat
        bot_seed = derive_seed(derive_seed(self.seed, _BOT_STREAM), chunk.first // CHUNK)
        self.panel.reset(bot_seed, sorted(set(chunk.lineup)))
        games = self._deal([derive_seed(self.seed, int(deal)) for deal in np.repeat(deals, seatings)])
        lineup = np.array(chunk.lineup)
        records: npt.NDArray[Any] = np.zeros(len(games), OBSERVATION)
        while (going := np.flatnonzero(games["ending"] == NOT_ENDED)).size:
            movers = lineup[(games["turn"][going] - firsts[going]) % NUM_SEATS]
            for player in np.unique(movers):
                indices = going[movers == player]
                seen = records[: indices.size]
                observe_at(games, indices, seen)
                apply_at(games, indices, self.panel.ask(int(player), games, indices, seen))
        if self._records is not None:
            self._write_records(self._records, games, np.repeat(deals, seatings), firsts, chunk.lineup)
        return Played(_outcomes(games, firsts).reshape(len(deals), seatings), self.panel.logs)

    def _write_records(
        self,
        folder: Path,
        games: npt.NDArray[np.record],
        deals: npt.NDArray[np.int64],
        firsts: npt.NDArray[np.int64],
        lineup: Lineup,
    ) -> None:
        """A file for each round, named by its deal and by the seat of the first of the lineup."""
        round = Round(self.rules, seed=0, draw_queues=self._queues)
        for game, deal, first in zip(games, deals, firsts, strict=True):
            round.games[0] = game
            players = [self.bots[lineup[(seat - first) % NUM_SEATS]].name for seat in range(NUM_SEATS)]
            Record.of(round, players).write(folder / f"deal-{deal:06d}-seat-{first}.jsonl")

    def _deal(self, seeds: Sequence[int]) -> npt.NDArray[np.record]:
        games = new_games(self.rules, len(seeds), draw_queues=self._queues)
        deal_all(games, np.array(seeds, np.uint64))
        return games


def _again(
    specs: Sequence[BotSpec],
    rules: Rules,
    seed: int,
    move_limit: float,
    queues: bool,
    every_seat: bool,
    records: Path | None,
) -> Tables:
    return Tables(specs, rules, seed, move_limit, queues=queues, every_seat=every_seat, records=records)


def _outcomes(games: npt.NDArray[np.record], firsts: npt.NDArray[np.int64]) -> npt.NDArray[np.void]:
    """What came of each of `(N,)` finished games, by place in a lineup that begins at the seats `firsts`."""
    outcomes = np.zeros(len(games), OUTCOME)
    seats = (firsts[:, None] + np.arange(NUM_SEATS)) % NUM_SEATS
    finished = games["ending"] == ENDED_BY_FINISH
    balance = games["won"].astype(np.int16) - games["lost"].astype(np.int16)
    # what everybody loses in a void round (R6.9) goes to nobody: it is no difference between bots
    balance += np.where(finished, 0, games["rules"]["void_points"]).astype(np.int16)[:, None]
    outcomes["points"] = np.take_along_axis(balance, seats, axis=1)
    outcomes["winner"] = np.where(games["winner"] == NO_SEAT, -1, (games["winner"] - firsts) % NUM_SEATS)
    kinds = (2 * games["by_pairs"] + games["by_okey"]).astype(np.int8)
    outcomes["finish"] = np.where(finished, kinds, np.int8(-1))
    outcomes["ending"] = games["ending"]
    outcomes["throws"] = games["throws"]
    return outcomes
