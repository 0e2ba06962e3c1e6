"""All tables of one server: setting up, coming and going, asking bots for their moves, keeping tables on disk.

Everything runs on one event loop, which must not block: bots and the coach run in processes of their own, and a thread
writes to the disk.
"""

import asyncio
import copy
import dataclasses
import gc
import json
import logging
import secrets
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from okey_agents.coach.advice import WORLDS
from okey_agents.table.web.hint import hint_for
from okey_agents.table.web.refusal import Refused
from okey_agents.table.web.settings import PACES, PERSON, Settings, player_name, strongest
from okey_agents.table.web.store import Store
from okey_agents.table.web.table import MakeMatch, NewSeed, Table
from okey_agents.table.web.views import result, view
from okey_agents.table.web.worker import Worker, move_of
from okey_env.bots import BotSpec, bot_names
from okey_env.match import Match
from okey_env.observation import Observation
from okey_env.record import Record

_log = logging.getLogger(__name__)

_KEEP_EVERY = 0.5
"""Seconds between writes to disk."""
_FORGET_AFTER = 30 * 24 * 3600
"""Seconds without a change after which a kept table is not restored."""
_STALE_AFTER = 3600
"""Seconds without a change after which a table with nobody at it may be dropped for a new one."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """How much one server accepts."""

    tables: int = 200
    connections: int = 400
    message_size: int = 4096
    """Characters of one message."""
    messages_per_second: float = 20.0
    """For one connection, on average; `burst` of them may come at once."""
    burst: int = 60
    tables_per_connection: int = 20
    grace: float = 20.0
    """Seconds after which a bot plays for a person whose connection has closed."""
    bot_seconds: float = 10.0
    """Seconds that a bot has for a move; a slower move is replaced."""


class Listener(Protocol):
    """A connection, as the table server sees it."""

    seat: int | None

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue a message; returns at once."""


class Session:
    """A table, its connections, and the task that plays its bots."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.listeners: set[Listener] = set()
        self.runner: asyncio.Task[None] | None = None
        """Plays the bots' moves while a bot is to move."""
        self.bot_seeds: dict[tuple[int, str], int] = {}
        """By seat and name of the bot."""
        self.recorded: tuple[int, int] | None = None
        """What the record on disk holds: the seed of the match and how many of its rounds."""

    def broadcast(self) -> None:
        """Send everybody the table as they may see it."""
        views: dict[int | None, dict[str, Any]] = {}
        for listener in self.listeners:
            if listener.seat not in views:
                views[listener.seat] = view(self.table, listener.seat)
            listener.send(views[listener.seat])


class TableServer:
    """All tables of one server.

    Args:
        data: folder for kept tables and records; None: nothing is kept.
        bots: further bots by name, beside the installed ones.
        limits: how much the server accepts.
        make_match: makes a match of rules and a seed; tests give chosen positions.
        new_seed: gives the seeds of matches and bots; tests give the same seeds in each run.
        worlds: in how many worlds the coach tries moves for a hint; 0: in none.
        processes: whether bots and the coach run in processes of their own; otherwise in threads.
    """

    def __init__(
        self,
        data: Path | None = None,
        bots: Mapping[str, BotSpec] | None = None,
        limits: Limits | None = None,
        make_match: MakeMatch = Match,
        new_seed: NewSeed = lambda: secrets.randbits(63),
        worlds: int = WORLDS,
        processes: bool = False,
    ) -> None:
        self.limits = limits or Limits()
        self.bots: dict[str, BotSpec] = {name: name for name in bot_names()} | dict(bots or {})
        self.stand_in = strongest(self.bots)
        """The bot that plays for people who are away."""
        self.sessions: dict[str, Session] = {}
        self.connections = 0
        self._make_match = make_match
        self._new_seed = new_seed
        self._worlds = worlds
        self._processes = processes
        self._data = data
        self._store = Store(data / "tables.sqlite" if data else None)
        self.ready = asyncio.Event()
        """Set when kernels are compiled and kept tables restored; the first start of all compiles for a minute."""
        self._bots = Worker(process=processes)
        self._coach = Worker(process=processes)
        self._writer = ThreadPoolExecutor(1, "okey-disk")
        self._changed: set[str] = set()
        self._tasks: list[asyncio.Task[None]] = []

    # --- the server's life -------------------------------------------------------------------------------

    async def open(self) -> None:
        """Start getting ready and keeping tables; returns at once."""
        self._tasks = [asyncio.create_task(self._get_ready()), asyncio.create_task(self._keep())]

    async def close(self) -> None:
        """Stop all play and write what has changed to disk."""
        for task in (*self._tasks, *(session.runner for session in self.sessions.values())):
            if task is not None:
                task.cancel()
        await self._write()
        self._writer.shutdown()
        await self._bots.close()
        await self._coach.close()
        self._store.close()

    async def _get_ready(self) -> None:
        """Compile or load kernels: first those of the tables and the bots, and last the coach's."""
        observation = None
        try:
            tables, observation = await asyncio.to_thread(self._warm_up)
            self.sessions |= {table.id: Session(table) for table in tables}
            await self._bots.call(move_of, self.bots[self.stand_in], 1, observation)
        except Exception:
            _log.exception("getting ready has failed; kernels compile when they are needed, or kept tables are missing")
        finally:
            self.ready.set()
        try:
            await self._coach.call(hint_for, observation, 2)
        except Exception:
            _log.exception("the coach could not be made ready; the first hint takes longer")

    def _warm_up(self) -> tuple[list[Table], Observation]:
        """Play a round and show its result, which loads the kernels; restore the tables that were kept."""
        table = Table(Settings(seats=(self.stand_in,) * 4), 1)
        observation = table.match.round.observe(table.match.round.turn)
        while not table.match.round.over:
            view(table, 0)
            table.play(table.match.round.legal_actions()[0])
        result(table.match.round)
        tables = self._restore()
        if (
            self._processes
        ):  # collecting garbage among all that the compiler leaves in memory takes a quarter of a second
            gc.collect()
            gc.freeze()
        return tables, observation

    # --- setting up, coming, going -----------------------------------------------------------------------

    def create(self, given: Mapping[str, Any], name: Any) -> tuple[Session, int | None, str]:
        """Set up a table and sit down at it, or watch it if no seat is for a person: session, seat or None, token.

        Raises:
            Refused: the settings are not possible, or there are too many tables.
        """
        settings = Settings.read(given, self.bots)
        shown = player_name(name)
        if len(self.sessions) >= self.limits.tables:
            self._drop_stalest()
        table = Table(settings, self._new_seed(), self._make_match, self._new_seed)
        session = self.sessions[table.id] = Session(table)
        if PERSON in settings.seats:
            seat, token = table.take_seat(shown)
            return session, seat, token
        return session, None, table.start_watching()

    def join(self, invite: Any, name: Any) -> tuple[Session, int, str]:
        """Take a free seat by an invitation: session, seat, token.

        Raises:
            Refused: no table has this invitation, or every seat is taken.
        """
        for session in self.sessions.values():
            if isinstance(invite, str) and secrets.compare_digest(session.table.invite.encode(), invite.encode()):
                seat, token = session.table.take_seat(player_name(name))
                return session, seat, token
        raise Refused("bad_invite", "no table has given this invitation")

    def sit(self, token: Any) -> tuple[Session, int | None]:
        """Come back by a token: session, seat (None: watching).

        Raises:
            Refused: no seat has this token.
        """
        given = token.encode() if isinstance(token, str) else b""
        for session in self.sessions.values():
            table = session.table
            for seat, own in [*((i, seat.token) for i, seat in enumerate(table.seats)), (None, table.watch_token)]:
                if own is not None and secrets.compare_digest(own.encode(), given):
                    return session, seat
        raise Refused("bad_token", "no seat has this token")

    def enter(self, session: Session, listener: Listener) -> None:
        """Add a connection to a table."""
        session.listeners.add(listener)
        session.table.connect(listener.seat)
        self.changed(session)

    def leave(self, session: Session, listener: Listener, *, for_good: bool = False) -> None:
        """Remove a connection from a table; with `for_good` a bot plays for its person at once."""
        session.listeners.discard(listener)
        session.table.disconnect(listener.seat, for_good=for_good)
        self.changed(session)
        if not for_good:  # look again when the grace is over
            loop = asyncio.get_running_loop()
            loop.call_later(self.limits.grace + 0.01, self._start_bots, session)

    def _drop_stalest(self) -> None:
        empty = [session for session in self.sessions.values() if not session.table.occupied]
        stalest = min(empty, key=lambda session: session.table.touched, default=None)
        if stalest is None or time.time() - stalest.table.touched < _STALE_AFTER:
            raise Refused("too_many_tables", f"there are {len(self.sessions)} tables, and this server accepts no more")
        del self.sessions[stalest.table.id]
        self._changed.add(stalest.table.id)

    # --- play --------------------------------------------------------------------------------------------

    def changed(self, session: Session) -> None:
        """Call this after a change to a table: it tells everybody, keeps the table, and has a bot move if one is to."""
        session.broadcast()
        self.keep(session)
        self._start_bots(session)

    def keep(self, session: Session) -> None:
        """Have the next write to disk include this table."""
        self._changed.add(session.table.id)

    def _start_bots(self, session: Session) -> None:
        if session.runner is None and session.table.bot_to_move(self.limits.grace) is not None:
            session.runner = asyncio.create_task(self._play_bots(session))

    async def _play_bots(self, session: Session) -> None:
        table = session.table
        try:
            while (seat := table.bot_to_move(self.limits.grace)) is not None:
                moves = table.moves
                await asyncio.sleep(PACES[table.settings.pace])
                if table.moves != moves or table.bot_to_move(self.limits.grace) != seat:
                    continue
                action = await self._move_of_bot(session, seat, table.match.round.observe(seat))
                if table.moves != moves or table.bot_to_move(self.limits.grace) != seat:
                    continue  # the person came back while the bot chose its move
                table.play(action)
                session.broadcast()
                self.keep(session)
        except Exception:
            _log.exception("table %s has stopped", table.id)
        finally:
            session.runner = None

    async def _move_of_bot(self, session: Session, seat: int, observation: Observation) -> int:
        """The move of a bot; the first legal one if the bot raises, takes too long, or gives an illegal move."""
        name = session.table.seats[seat].bot or self.stand_in
        if (seat, name) not in session.bot_seeds:
            session.bot_seeds[seat, name] = self._new_seed()
        seed, limit = session.bot_seeds[seat, name], self.limits.bot_seconds
        try:
            action = await self._bots.call(move_of, self.bots[name], seed, observation, limit=limit)
            if action in observation.legal_actions:
                return action
            _log.error("bot %s gave the action %s, which is not legal; the first legal one is played", name, action)
        except Exception as error:
            _log.error("bot %s failed: %r; the first legal action is played", name, error)
        return observation.legal_actions[0]

    async def hint(self, session: Session, seat: int) -> dict[str, Any]:
        """The message with the coach's move for a seat, and its reasons.

        Raises:
            Refused: it is not that seat's turn.
        """
        table = session.table
        if table.stage != "play" or table.match.round.turn != seat:
            turn = table.match.round.turn
            raise Refused("not_your_turn", f"it is the turn of seat {turn}", turn=turn)
        moves, observation = table.moves, table.match.round.observe(seat)
        advice = await self._coach.call(hint_for, observation, self._worlds)
        return {"type": "hint", "moves": moves, **advice}

    # --- keeping -----------------------------------------------------------------------------------------

    async def record(self, table: Table) -> dict[str, Any]:
        """The message with the record of the match so far."""
        lines = (await asyncio.to_thread(Record.of, copy.deepcopy(table.match), _names(table))).lines
        return {"type": "record", "text": "".join(f"{line}\n" for line in lines)}

    def _restore(self) -> list[Table]:
        """The tables that were kept. Left out are those of long ago and those that cannot be restored."""
        tables = []
        for kept in self._store.load():
            try:
                given = dict(kept["settings"])
                given["seats"] = [who if who in (*self.bots, PERSON) else self.stand_in for who in given["seats"]]
                settings = Settings.read(given, self.bots)
                table = Table(settings, kept["seed"], self._make_match, self._new_seed)
                table.restore(kept)
            except (KeyError, ValueError, TypeError, Refused) as error:
                _log.warning("table %s is not restored: %s", kept.get("id"), error)
                continue
            if time.time() - table.touched < _FORGET_AFTER:
                tables.append(table)
            else:
                self._changed.add(table.id)
        return tables

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(_KEEP_EVERY)
            try:
                await self._write()
            except Exception:
                _log.exception("tables could not be kept")

    async def _write(self) -> None:
        changed, self._changed = self._changed, set()
        if not changed or self._data is None:
            return
        sessions = {key: self.sessions.get(key) for key in changed}
        rows = {key: json.dumps(session.table.to_json()) if session else None for key, session in sessions.items()}
        records: dict[Path, tuple[Match, tuple[str, ...]]] = {}
        for session in filter(None, sessions.values()):
            table = session.table
            ended = (table.seed, table.match.rounds_played)
            if ended[1] and session.recorded != ended:
                session.recorded = ended
                path = self._data / "records" / f"{table.id}-{table.seed:016x}.jsonl"
                records[path] = (copy.deepcopy(table.match), _names(table))
        await asyncio.get_running_loop().run_in_executor(self._writer, self._write_now, rows, records)

    def _write_now(self, rows: Mapping[str, str | None], records: Mapping[Path, tuple[Match, tuple[str, ...]]]) -> None:
        self._store.save(rows)
        for path, (match, names) in records.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            Record.of(match, names).write(path)


def _names(table: Table) -> tuple[str, ...]:
    return tuple(seat.name or "?" for seat in table.seats)
