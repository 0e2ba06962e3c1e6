"""Asks bots for their moves and survives what they do: raise, reply illegally, stall, fork, or end the process.

A move that fails is replaced by a legal one and counted in the bot's `BotLog`, and the round goes on. Time limits are
enforced in two ways:

* An alarm interrupts Python code that hangs: a loop, a sleep, a blocking call (`alarms`).
* Native code ignores alarms. Before each question the host therefore writes the question and its deadline into
  `pending`, an array that the parent process can read. The parent (`workers`) kills a process that is overdue and has
  the chunk played again; `known_failures` then names the question, and the host leaves it out. The parent does the same
  when a bot ends the process.

When a batch fails, the bot is asked one game at a time for the rest of the chunk. It gives the same moves then, so only
a move that fails alone counts. After `MAX_STALLS` stalls in one chunk the bot is not asked again in that chunk.
"""

import contextlib
import dataclasses
import time
from collections.abc import Iterator, Mapping, MutableSequence, Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from okey_agents.evaluate.guard.alarms import Interrupts, MoveTimeout, set_alarm
from okey_agents.evaluate.guard.process_guard import ProcessGuard
from okey_agents.evaluate.guard.words import error_text, illegal_text
from okey_env.actions import DRAW, NUM_ACTIONS, THROW
from okey_env.bots import Bot, choose_for, choose_one
from okey_env.engine.batch import legal_at, mask_in

MAX_STALLS = 3
"""Stalls of one bot in one chunk, after which it is not asked again in that chunk."""
MOVE_LIMIT = 10.0
"""Seconds that a bot has for a move, unless the caller says otherwise."""

Failure: TypeAlias = Literal["stalled", "died"]
"""What a bot did to its process: it did not reply in time, or it ended the process."""
KnownFailures: TypeAlias = Mapping[tuple[int, int], Failure]
"""Failures of earlier tries of a chunk, by number of the question and index in its batch (`BATCH`: the whole batch)."""
BATCH = -1

DEADLINE, QUESTION, INDEX, BOT = range(4)
"""What each element of `pending` holds. The deadline is 0 while no bot is asked."""
PENDING_SIZE = 4
WARM_UP = -1
"""The number of every question during the warm-up, whose moves do not count."""

_BATCH_SLACK = 3  # a batch is overdue when a move takes this many times as long as in the bot's slowest batch so far
# Move limits for a move of the warm-up, which may compile kernels. Those of a learned scorer take a minute of CPU time;
# with five processes on two cores they took more than 200 s by the clock.
_WARM_UP_LIMITS = 60
_NO_REPLY = np.iinfo(np.int64).min  # in place of an action


@dataclasses.dataclass
class BotLog:
    """How one bot behaved in one chunk. State files hold the fields under these names."""

    moves: int = 0
    seconds: float = 0.0
    illegal: int = 0
    errors: int = 0
    stalled: int = 0
    unasked: int = 0
    first_error: str = ""

    def count_stall(self, why: str) -> None:
        """Count a move that ran out of time or ended the process."""
        self.stalled += 1
        self.first_error = self.first_error or why

    @property
    def failed(self) -> bool:
        """Whether any of its moves failed."""
        return self.illegal + self.errors + self.stalled > 0

    @property
    def given_up(self) -> bool:
        """Whether it has stalled so often that it is not asked any more."""
        return self.stalled >= MAX_STALLS


class BotHost:
    """Asks the bots of an evaluation, all within one process.

    Args:
        bots: the bots; questions name them by index.
        move_limit: seconds that a bot has for a move.
    """

    def __init__(self, bots: Sequence[Bot], move_limit: float = MOVE_LIMIT) -> None:
        self.bots = bots
        self.move_limit = move_limit
        self.pending: MutableSequence[float] = [0.0] * PENDING_SIZE
        """The question that a bot is working on; in a worker process, memory shared with the parent."""
        self.interrupts = Interrupts()
        """Watches for Ctrl-C while chunks are played."""
        self.process = ProcessGuard()
        """Keeps the process whole while chunks are played."""
        self._paces = [0.0] * len(bots)  # seconds a move, of the slowest batch so far
        self.begin()

    def begin(self, known_failures: KnownFailures | None = None, question: int = 0) -> None:
        """Start a chunk with empty logs.

        Args:
            known_failures: questions that failed in earlier tries of this chunk: each is counted and not asked again.
            question: the number of the first question; `WARM_UP` during the warm-up.
        """
        self.logs = [BotLog() for _ in self.bots]
        self._one_by_one = [False] * len(self.bots)
        self._known_failures: KnownFailures = known_failures or {}
        self._question = question

    def reset(self, seed: int, bots: Sequence[int]) -> None:
        """Reset bots, given by index. A reset that fails is counted, and the bot plays on.

        This is one question; the index of a bot is its index in the batch.
        """
        for bot in bots:
            if not self._failed_before(bot, bot):
                with self._counting_failures(bot), self._limited(self._limit(), bot, bot):
                    self.bots[bot].reset(seed)
        self._next_question()

    def ask(
        self,
        bot: int,
        games: npt.NDArray[np.record],
        indices: npt.NDArray[np.int64],
        records: npt.NDArray[np.record],
    ) -> npt.NDArray[np.int64]:
        """Ask one bot for its moves in some games of a batch, in each of which it is to move.

        Args:
            bot: the index of the bot.
            games: `(N,)` of GAME.
            indices: `(M,)` which of them.
            records: `(M,)` of OBSERVATION, what the seat to move sees in each.

        Returns:
            `(M,)` legal actions.
        """
        log = self.logs[bot]
        began = time.perf_counter()
        actions = self._ask_batch(bot, games, indices, records)
        if actions is None:
            actions = np.array([self._ask_one(bot, games, int(i), index) for index, i in enumerate(indices)], np.int64)
        log.seconds += time.perf_counter() - began
        log.moves += len(indices)
        self._next_question()
        return self._replace_illegal(log, games, indices, actions)

    def _ask_batch(
        self,
        bot: int,
        games: npt.NDArray[np.record],
        indices: npt.NDArray[np.int64],
        records: npt.NDArray[np.record],
    ) -> npt.NDArray[np.int64] | None:
        """The replies to all questions at once; None: the bot has to be asked one game at a time."""
        asked = self.bots[bot]
        if getattr(asked, "act_batch", None) is None or self._one_by_one[bot] or self.logs[bot].given_up:
            return None
        if (self._question, BATCH) not in self._known_failures:
            limit = self._limit() + _BATCH_SLACK * self._paces[bot] * len(indices)
            began = time.perf_counter()
            try:
                with self._limited(limit, bot, BATCH):
                    return choose_for(asked, games, indices, records)
            except (
                BaseException
            ):  # a batch that was only slow raises the pace, so the next chunk's batches get more time
                if self.interrupts.pressed:
                    raise
            finally:
                if self._question != WARM_UP:
                    self._paces[bot] = max(self._paces[bot], (time.perf_counter() - began) / len(indices))
        self._one_by_one[bot] = True
        return None

    def _ask_one(self, bot: int, games: npt.NDArray[np.record], i: int, index: int) -> int:
        """The reply in game i, which has this index in the batch."""
        log = self.logs[bot]
        if log.given_up:
            log.unasked += 1
            return _NO_REPLY
        action = _NO_REPLY
        if not self._failed_before(bot, index):
            with self._counting_failures(bot), self._limited(self._limit(), bot, index):
                reply = choose_one(self.bots[bot], games, i)
                action = reply if 0 <= reply < NUM_ACTIONS else -1  # a bot may reply with a number beyond int64
                if action < 0:
                    log.first_error = log.first_error or illegal_text(games, i, reply)
        return action

    def _failed_before(self, bot: int, index: int) -> bool:
        """Whether this question failed in an earlier try of the chunk; if so, the failure is counted now."""
        failure = self._known_failures.get((self._question, index))
        if failure is not None:
            self.logs[bot].count_stall(self._timeout_text if failure == "stalled" else "it ended the process")
        return failure is not None

    @property
    def _timeout_text(self) -> str:
        return f"no reply within {self.move_limit:g} s"

    def _limit(self) -> float:
        return self.move_limit * (_WARM_UP_LIMITS if self._question == WARM_UP else 1)

    def _next_question(self) -> None:
        if self._question != WARM_UP:
            self._question += 1

    @contextlib.contextmanager
    def _counting_failures(self, bot: int) -> Iterator[None]:
        """Count whatever a bot raises."""
        log = self.logs[bot]
        try:
            yield
        except MoveTimeout:
            log.count_stall(self._timeout_text)
        except BaseException as error:  # SystemExit, KeyboardInterrupt and the like too, if a bot raises them
            if self.interrupts.pressed:
                raise
            log.errors += 1
            log.first_error = log.first_error or error_text(error)

    @contextlib.contextmanager
    def _limited(self, seconds: float, bot: int, index: int) -> Iterator[None]:
        """Keep the question in `pending`, and raise `MoveTimeout` in the bot after so many seconds if alarms work."""
        self.pending[QUESTION], self.pending[INDEX], self.pending[BOT] = self._question, index, bot
        self.pending[DEADLINE] = time.monotonic() + seconds
        set_alarm(seconds)
        self.process.begin()
        try:
            yield
        finally:
            self.process.end()
            self.pending[DEADLINE] = 0.0
            set_alarm(0.0)
        self.process.check_forks()

    def _replace_illegal(
        self,
        log: BotLog,
        games: npt.NDArray[np.record],
        indices: npt.NDArray[np.int64],
        actions: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int64]:
        """The actions, with a legal one in place of each that is not legal."""
        legal = np.empty(len(indices), np.bool_)
        legal_at(games, indices, actions, legal)
        if legal.all():
            return actions
        illegal = np.flatnonzero(~legal & (actions != _NO_REPLY))
        log.illegal += illegal.size
        if illegal.size and not log.first_error:
            log.first_error = illegal_text(games, int(indices[illegal[0]]), int(actions[illegal[0]]))
        replaced = actions.copy()  # the bot may keep the array that it gave
        for index in np.flatnonzero(~legal):
            replaced[index] = _any_legal(games, int(indices[index]))
        return replaced


def _any_legal(games: npt.NDArray[np.record], i: int) -> int:
    """The action that replaces an illegal one in game i: draw, else the first legal throw, else take."""
    mask = np.zeros(NUM_ACTIONS, np.int8)
    mask_in(games, i, mask)
    legal = np.flatnonzero(mask)
    throws = legal[legal >= THROW]
    return DRAW if mask[DRAW] else int(throws[0] if throws.size else legal[-1])
