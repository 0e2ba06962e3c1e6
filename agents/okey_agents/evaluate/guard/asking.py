"""Asking bots for their moves, whatever they do: a bot may raise, reply illegally, stall, or end its process.

Its move is then replaced by a legal one and counted under its name, and the round goes on. Time limits work twice:

* An alarm breaks into a bot that hangs in Python: a loop, a sleep, a wait for somebody.
* Native code is deaf to alarms. So each question is first written down in a *watch*, memory that the parent process can
  read (`workers`). It kills a worker that is overdue and has the chunk played again with a note of this question's
  *fate*; the same happens where a bot takes the process down with it.

After a batch that fails the bot is asked one game at a time for the rest of the chunk, which it answers with the same
moves, so only a move that fails alone counts. After `GIVEN_UP` stalls in one chunk it is not asked again in it.
"""

import contextlib
import dataclasses
import signal
import threading
import time
from collections.abc import Iterator, Mapping, MutableSequence, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from okey_env.actions import DRAW, NUM_ACTIONS, THROW
from okey_env.bots import Bot, choose_for, choose_one
from okey_env.engine.batch import legal_at, mask_in

GIVEN_UP = 3
"""Stalls of one bot in one chunk, after which it is not asked again in that chunk."""
MOVE_LIMIT = 10.0
"""Seconds a move, unless the caller says otherwise."""

Fate: TypeAlias = Literal["stalled", "died"]
Fates: TypeAlias = Mapping[tuple[int, int], Fate]
"""What is known of a chunk from an earlier try: by number of the question and place in its batch, `BATCH` for all."""
BATCH = -1

DEADLINE, NUMBER, PLACE, PLAYER = range(4)
"""Places of a watch; the deadline is 0 while no bot is asked."""
WATCH_SIZE = 4
WARMING_UP = -1
"""In place of a question's number: a move that counts for nothing."""

_SLOWER = 3  # times its slowest pace so far: from there a batch is overdue
# Move limits that a bot has for a move that counts for nothing. Kernels may be compiled then: those of a learned scorer
# take a minute of CPU time, and took more than 200 s by the clock where five processes shared two cores.
_FIRST_MOVE = 60
_NO_REPLY = np.iinfo(np.int64).min  # in place of an action


@dataclasses.dataclass
class Log:
    """How one bot behaved."""

    moves: int = 0
    seconds: float = 0.0
    illegal: int = 0
    errors: int = 0
    stalled: int = 0
    unasked: int = 0
    first_error: str = ""

    def did_not_reply(self, why: str) -> None:
        """Count a move that ran out of time or took the process with it."""
        self.stalled += 1
        self.first_error = self.first_error or why

    @property
    def failed(self) -> bool:
        """Whether anything went wrong with it."""
        return self.illegal + self.errors + self.stalled > 0

    @property
    def given_up(self) -> bool:
        """Whether it has stalled so often that it is not asked any more."""
        return self.stalled >= GIVEN_UP


class Panel:
    """The bots of an evaluation, and all that is asked of them in one process.

    Args:
        bots: the bots; questions name them by index.
        move_limit: seconds a move.
    """

    def __init__(self, bots: Sequence[Bot], move_limit: float = MOVE_LIMIT) -> None:
        self.bots = bots
        self.move_limit = move_limit
        self.watch: MutableSequence[float] = [0.0] * WATCH_SIZE
        self._paces = [0.0] * len(bots)  # seconds a move, of the slowest batch so far
        self.begin()

    def begin(self, fates: Fates | None = None, number: int = 0) -> None:
        """Start a chunk: no question asked yet, nothing noted."""
        self.logs = [Log() for _ in self.bots]
        self._one_by_one = [False] * len(self.bots)
        self._fates: Fates = fates or {}
        self._number = number

    def reset(self, seed: int, players: Sequence[int]) -> None:
        """Reset bots: a question too, whose place is the bot's index. One that fails is counted, and plays on."""
        for player in players:
            if not self._noted_before(player, player):
                with self._noting(player), self._limited(self._limit(), player, player):
                    self.bots[player].reset(seed)
        self._number += self._number != WARMING_UP

    def ask(
        self,
        player: int,
        games: npt.NDArray[np.record],
        indices: npt.NDArray[np.int64],
        records: npt.NDArray[np.record],
    ) -> npt.NDArray[np.int64]:
        """The legal actions of one bot in the games at `(M,)` indices, where it is to move and sees `records`."""
        log = self.logs[player]
        began = time.perf_counter()
        actions = self._batch(player, games, indices, records)
        if actions is None:
            actions = np.array([self._alone(player, games, int(i), place) for place, i in enumerate(indices)], np.int64)
        log.seconds += time.perf_counter() - began
        log.moves += len(indices)
        self._number += self._number != WARMING_UP
        return self._replaced(log, games, indices, actions)

    def _batch(
        self,
        player: int,
        games: npt.NDArray[np.record],
        indices: npt.NDArray[np.int64],
        records: npt.NDArray[np.record],
    ) -> npt.NDArray[np.int64] | None:
        """The replies to all questions at once; None: the bot has to be asked one by one."""
        bot = self.bots[player]
        if getattr(bot, "act_batch", None) is None or self._one_by_one[player] or self.logs[player].given_up:
            return None
        if (self._number, BATCH) not in self._fates:
            limit = self._limit() + _SLOWER * self._paces[player] * len(indices)
            began = time.perf_counter()
            try:
                with self._limited(limit, player, BATCH):
                    return choose_for(bot, games, indices, records)
            except (Stalled, Exception):
                pass  # if many moves only take long, it has more time for the batches of the next chunk
            finally:
                if self._number != WARMING_UP:
                    self._paces[player] = max(self._paces[player], (time.perf_counter() - began) / len(indices))
        self._one_by_one[player] = True
        return None

    def _alone(self, player: int, games: npt.NDArray[np.record], i: int, place: int) -> int:
        """The reply in one game."""
        log = self.logs[player]
        if log.given_up:
            log.unasked += 1
            return _NO_REPLY
        action = _NO_REPLY
        if not self._noted_before(player, place):
            with self._noting(player), self._limited(self._limit(), player, place):
                action = choose_one(self.bots[player], games, i)
                action = action if 0 <= action < NUM_ACTIONS else -1  # a number of any size
        return action

    def _noted_before(self, player: int, place: int) -> bool:
        """Whether this question met its fate in an earlier try; it is counted then."""
        fate = self._fates.get((self._number, place))
        if fate is not None:
            self.logs[player].did_not_reply(self._late if fate == "stalled" else "it ended the process")
        return fate is not None

    @property
    def _late(self) -> str:
        return f"no reply within {self.move_limit:g} s"

    def _limit(self) -> float:
        return self.move_limit * (_FIRST_MOVE if self._number == WARMING_UP else 1)

    @contextlib.contextmanager
    def _noting(self, player: int) -> Iterator[None]:
        """Whatever a bot raises is written down."""
        log = self.logs[player]
        try:
            yield
        except Stalled:
            log.did_not_reply(self._late)
        except Exception as error:
            log.errors += 1
            log.first_error = log.first_error or f"{type(error).__name__}: {error}"[:200]

    @contextlib.contextmanager
    def _limited(self, seconds: float, player: int, place: int) -> Iterator[None]:
        """Raise `Stalled` in a bot after so many seconds, where an alarm can reach it."""
        self.watch[NUMBER], self.watch[PLACE], self.watch[PLAYER] = self._number, place, player
        self.watch[DEADLINE] = time.monotonic() + seconds
        _set_alarm(seconds)
        try:
            yield
        finally:
            self.watch[DEADLINE] = 0.0
            _set_alarm(0.0)

    def _replaced(
        self,
        log: Log,
        games: npt.NDArray[np.record],
        indices: npt.NDArray[np.int64],
        actions: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int64]:
        """The actions, with a legal one in place of each that is not."""
        legal = np.empty(len(indices), np.bool_)
        legal_at(games, indices, actions, legal)
        if legal.all():
            return actions
        log.illegal += int((~legal & (actions != _NO_REPLY)).sum())
        replaced = actions.copy()  # the bot may keep what it gave
        for place in np.flatnonzero(~legal):
            replaced[place] = _any_legal(games, int(indices[place]))
        return replaced


class Stalled(BaseException):
    """Raised in a bot whose time is up; no `Exception`, so that a bot does not catch it by the way."""


@contextlib.contextmanager
def alarms() -> Iterator[None]:
    """Let time limits break into bots meanwhile; nothing happens off the main thread or where there are no alarms."""
    if not _alarms_work():
        yield
        return
    before = signal.signal(signal.SIGALRM, _raise_stalled)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)


def _raise_stalled(number: int, frame: Any) -> None:
    raise Stalled


def _set_alarm(seconds: float) -> None:
    """Have `Stalled` raised in so many seconds; 0: never."""
    if _alarms_work() and signal.getsignal(signal.SIGALRM) is _raise_stalled:
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _alarms_work() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def _any_legal(games: npt.NDArray[np.record], i: int) -> int:
    """The action in place of one that is not legal: to draw, else the first legal throw, else to take."""
    mask = np.zeros(NUM_ACTIONS, np.int8)
    mask_in(games, i, mask)
    legal = np.flatnonzero(mask)
    throws = legal[legal >= THROW]
    return DRAW if mask[DRAW] else int(throws[0] if throws.size else legal[-1])
