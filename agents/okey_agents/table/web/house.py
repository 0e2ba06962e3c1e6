"""All tables under one roof: setting up, coming and going, asking bots for their moves, keeping tables on disk.

It runs on one event loop, which is never held up: bots and the coach think in processes of their own, and the disk is
written from a thread.
"""

import asyncio
import copy
import dataclasses
import gc
import json
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from okey_agents.coach.advice import WORLDS
from okey_agents.table.web.hint import hint_for
from okey_agents.table.web.refusal import Refused
from okey_agents.table.web.settings import PACES, PERSON, Settings, player_name
from okey_agents.table.web.store import Store
from okey_agents.table.web.table import MakeMatch, Table
from okey_agents.table.web.thinker import Thinker, move_of
from okey_agents.table.web.views import result, view
from okey_env.bots import BotSpec, bot_names
from okey_env.match import Match
from okey_env.observation import Observation
from okey_env.record import Record

_log = logging.getLogger(__name__)

_BY_PREFERENCE = ("expert", "efficient", "greedy")
"""Who gives hints and stands in for a person who is away: the first of these that is installed."""
_KEEP_EVERY = 0.5
"""Seconds between writes to disk."""
_FORGET_AFTER = 30 * 24 * 3600
_STALE_AFTER = 3600
"""Seconds after which a table with nobody at it may make room for a new one."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """How much one server takes on."""

    tables: int = 200
    connections: int = 400
    message_size: int = 4096
    """Characters of one message."""
    messages_per_second: float = 20.0
    """For one connection, over time; `burst` of them may come at once."""
    burst: int = 60
    tables_per_connection: int = 20
    grace: float = 20.0
    """Seconds after which a bot plays for a person whose connection has closed."""
    bot_seconds: float = 10.0
    """Seconds for one move of a bot; one that takes longer is replaced."""


class Listener(Protocol):
    """A connection, as the house sees it."""

    seat: int | None

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message, without waiting."""


class Room:
    """A table with those who are connected to it."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.listeners: set[Listener] = set()
        self.runner: asyncio.Task[None] | None = None
        """What plays the bots' moves while there are any."""
        self.bot_seeds: dict[tuple[int, str], int] = {}
        self.recorded: tuple[int, int] | None = None
        """The match, by its seed, and its rounds that the record on disk holds."""

    def broadcast(self) -> None:
        """Tell everybody what they may know now."""
        views: dict[int | None, dict[str, Any]] = {}
        for listener in self.listeners:
            if listener.seat not in views:
                views[listener.seat] = view(self.table, listener.seat)
            listener.send(views[listener.seat])


class House:
    """All tables of one server.

    Args:
        data: folder for kept tables and records; None: nothing is kept.
        bots: further bots by name, beside the installed ones.
        limits: how much to take on.
        make_match: how a match is made; tests give chosen positions.
        new_seed: where the seeds of matches and bots come from; tests give the same every time.
        worlds: in how many worlds the coach tries moves before it gives a hint.
        processes: bots and the coach think in processes of their own, not in threads.
    """

    def __init__(
        self,
        data: Path | None = None,
        bots: Mapping[str, BotSpec] | None = None,
        limits: Limits | None = None,
        make_match: MakeMatch = Match,
        new_seed: Callable[[], int] = lambda: secrets.randbits(63),
        worlds: int = WORLDS,
        processes: bool = False,
    ) -> None:
        self.limits = limits or Limits()
        self.bots: dict[str, BotSpec] = {name: name for name in bot_names()} | dict(bots or {})
        self.stand_in = next((name for name in _BY_PREFERENCE if name in self.bots), next(iter(self.bots)))
        self.rooms: dict[str, Room] = {}
        self._make_match = make_match
        self._new_seed = new_seed
        self._worlds = worlds
        self._alone = processes
        self._data = data
        self._store = Store(data / "tables.sqlite" if data else None)
        self.ready = asyncio.Event()
        """Set when kernels are compiled and kept tables are back; a first start takes its time over it."""
        self._bots = Thinker(process=processes)
        self._coach = Thinker(process=processes)
        self._writer = ThreadPoolExecutor(1, "okey-disk")
        self._changed: set[str] = set()
        self._tasks: list[asyncio.Task[None]] = []

    # --- the server's life -------------------------------------------------------------------------------

    async def open(self) -> None:
        """Begin to get ready and to keep tables; returns at once."""
        self._tasks = [asyncio.create_task(self._get_ready()), asyncio.create_task(self._keep())]

    async def close(self) -> None:
        """Stop all play and write down what has changed."""
        for task in (*self._tasks, *(room.runner for room in self.rooms.values())):
            if task is not None:
                task.cancel()
        await self._write()
        self._writer.shutdown()
        await self._bots.close()
        await self._coach.close()
        self._store.close()

    async def _get_ready(self) -> None:
        """Compile kernels, or load them: those of the table, of the bots, of the coach, who comes to it last."""
        observation = None
        try:
            tables, observation = await asyncio.to_thread(self._warm_up)
            self.rooms |= {table.id: Room(table) for table in tables}
            await self._bots.think(move_of, self.bots[self.stand_in], 1, observation)
        except Exception:
            _log.exception("the house is not quite ready")
        finally:
            self.ready.set()
        try:
            await self._coach.think(hint_for, observation, 2)
        except Exception:
            _log.exception("the coach is not ready")

    def _warm_up(self) -> tuple[list[Table], Observation]:
        """Play a round, lay its racks out, and take up the tables that were kept."""
        table = Table(Settings(seats=(self.stand_in,) * 4), 1)
        observation = table.match.round.observe(table.match.round.turn)
        while not table.match.round.over:
            view(table, 0)
            table.play(table.match.round.legal_actions()[0])
        result(table.match.round)
        tables = self._restore()
        if self._alone:  # looking through all that the compiler has left in memory takes a quarter of a second
            gc.collect()
            gc.freeze()
        return tables, observation

    # --- setting up, coming, going -----------------------------------------------------------------------

    def create(self, given: Mapping[str, Any], name: Any) -> tuple[Room, int | None, str]:
        """Set up a table and sit down at it, or watch it if no seat is for a person: room, seat, token.

        Raises:
            Refused: the settings are not to be had, or there are too many tables.
        """
        settings = Settings.read(given, self.bots)
        shown = player_name(name)
        if len(self.rooms) >= self.limits.tables:
            self._make_room()
        table = Table(settings, self._new_seed(), self._make_match)
        room = self.rooms[table.id] = Room(table)
        if PERSON in settings.seats:
            seat, token = table.take_seat(shown)
            return room, seat, token
        return room, None, table.take_watch()

    def join(self, invite: Any, name: Any) -> tuple[Room, int, str]:
        """Take a free seat by an invitation: room, seat, token.

        Raises:
            Refused: nobody has given that invitation, or every seat is taken.
        """
        for room in self.rooms.values():
            if isinstance(invite, str) and secrets.compare_digest(room.table.invite.encode(), invite.encode()):
                seat, token = room.table.take_seat(player_name(name))
                return room, seat, token
        raise Refused("bad_invite", "no table has given this invitation")

    def sit(self, token: Any) -> tuple[Room, int | None]:
        """Come back by the token of a seat: room and seat.

        Raises:
            Refused: no seat has that token.
        """
        given = token.encode() if isinstance(token, str) else b""
        for room in self.rooms.values():
            for seat, own in [*((i, seat.token) for i, seat in enumerate(room.table.seats)), (None, room.table.watch)]:
                if own is not None and secrets.compare_digest(own.encode(), given):
                    return room, seat
        raise Refused("bad_token", "no seat has this token")

    def enter(self, room: Room, listener: Listener) -> None:
        """A connection is at the table from now on."""
        room.listeners.add(listener)
        room.table.come(listener.seat)
        self.changed(room)

    def leave(self, room: Room, listener: Listener, *, for_good: bool = False) -> None:
        """A connection is at the table no more."""
        room.listeners.discard(listener)
        room.table.go(listener.seat, for_good=for_good)
        self.changed(room)
        if not for_good:  # look again when the grace is over
            loop = asyncio.get_running_loop()
            loop.call_later(self.limits.grace + 0.01, self._wake, room)

    def _make_room(self) -> None:
        rooms = [room for room in self.rooms.values() if not room.table.somebody_here]
        stalest = min(rooms, key=lambda room: room.table.touched, default=None)
        if stalest is None or time.time() - stalest.table.touched < _STALE_AFTER:
            raise Refused(
                "too_many_tables", f"there are {len(self.rooms)} tables already, as many as this server takes"
            )
        del self.rooms[stalest.table.id]
        self._changed.add(stalest.table.id)

    # --- play --------------------------------------------------------------------------------------------

    def changed(self, room: Room) -> None:
        """Something at the table has changed: tell everybody, keep it, and let a bot move if it is to."""
        room.broadcast()
        self.keep(room)
        self._wake(room)

    def keep(self, room: Room) -> None:
        """Write the table to disk with the next write."""
        self._changed.add(room.table.id)

    def _wake(self, room: Room) -> None:
        if room.runner is None and room.table.program_seat(self.limits.grace) is not None:
            room.runner = asyncio.create_task(self._play_bots(room))

    async def _play_bots(self, room: Room) -> None:
        table = room.table
        try:
            while (seat := table.program_seat(self.limits.grace)) is not None:
                moves = table.moves
                await asyncio.sleep(PACES[table.settings.pace])
                if table.moves != moves or table.program_seat(self.limits.grace) != seat:
                    continue
                action = await self._ask(room, seat, table.match.round.observe(seat))
                if table.moves != moves or table.program_seat(self.limits.grace) != seat:
                    continue  # the person came back while the bot was thinking
                table.play(action)
                room.broadcast()
                self.keep(room)
        except Exception:
            _log.exception("table %s has stopped", table.id)
        finally:
            room.runner = None

    async def _ask(self, room: Room, seat: int, observation: Observation) -> int:
        """The move of a bot; the first legal one if it raises, takes too long, or answers what is not legal."""
        name = room.table.seats[seat].bot or self.stand_in
        seed = room.bot_seeds.setdefault((seat, name), self._new_seed())
        try:
            action = await self._bots.think(move_of, self.bots[name], seed, observation, limit=self.limits.bot_seconds)
            if action in observation.legal_actions:
                return action
            _log.error("bot %s answered %s, which is not legal", name, action)
        except Exception as error:
            _log.error("bot %s failed: %r", name, error)
        return observation.legal_actions[0]

    async def hint(self, room: Room, seat: int) -> dict[str, Any]:
        """What the coach would do in this seat, with its reason.

        Raises:
            Refused: it is not that seat's turn.
        """
        table = room.table
        if table.stage != "play" or table.match.round.turn != seat:
            raise Refused(
                "not_your_turn", f"it is the turn of seat {table.match.round.turn}", turn=table.match.round.turn
            )
        moves, observation = table.moves, table.match.round.observe(seat)
        advice = await self._coach.think(hint_for, observation, self._worlds)
        return {"type": "hint", "moves": moves, **advice}

    # --- keeping -----------------------------------------------------------------------------------------

    async def record(self, table: Table) -> str:
        """The record of the match as far as it has been played, as text."""
        lines = (await asyncio.to_thread(_record_of, copy.deepcopy(table.match), _players(table))).lines
        return "".join(f"{line}\n" for line in lines)

    def _restore(self) -> list[Table]:
        """The tables that were kept, but for those of long ago; one that cannot be taken up is left out."""
        tables = []
        for kept in self._store.load():
            try:
                given = dict(kept["settings"])
                given["seats"] = [who if who in (*self.bots, PERSON) else self.stand_in for who in given["seats"]]
                table = Table.restore(kept, Settings.read(given, self.bots), self._make_match)
            except (KeyError, ValueError, TypeError, Refused) as error:
                _log.warning("table %s is not taken up again: %s", kept.get("id"), error)
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
        rooms = {key: self.rooms.get(key) for key in changed}
        rows = {key: json.dumps(room.table.to_json()) if room else None for key, room in rooms.items()}
        records: dict[Path, tuple[Match, tuple[str, ...]]] = {}
        for room in filter(None, rooms.values()):
            table = room.table
            ended = (table.seed, table.match.rounds_played)
            if ended[1] and room.recorded != ended:
                room.recorded = ended
                path = self._data / "records" / f"{table.id}-{table.seed:016x}.jsonl"
                records[path] = (copy.deepcopy(table.match), _players(table))
        await asyncio.get_running_loop().run_in_executor(self._writer, self._write_now, rows, records)

    def _write_now(self, rows: Mapping[str, str | None], records: Mapping[Path, tuple[Match, tuple[str, ...]]]) -> None:
        self._store.save(rows)
        for path, played in records.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            _record_of(*played).write(path)


def _players(table: Table) -> tuple[str, ...]:
    return tuple(seat.name or "?" for seat in table.seats)


def _record_of(match: Match, players: tuple[str, ...]) -> Record:
    """The record of a match; a long one takes a while, so it is made of a copy, beside the loop."""
    return Record.of(match, players)
