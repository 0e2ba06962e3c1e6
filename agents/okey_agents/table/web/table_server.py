"""All tables of one server: setting up, coming and going, asking bots for their moves, keeping tables on disk.

Everything runs on one event loop, which must not block: bots and the coach run in processes of their own, and a thread
writes to the disk.
"""

import asyncio
import collections
import copy
import dataclasses
import gc
import json
import logging
import secrets
import time
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from okey_agents.coach.advice import WORLDS
from okey_agents.table.web.changes import changes
from okey_agents.table.web.games import lines_of, replay_in, review_in
from okey_agents.table.web.guests import Guests
from okey_agents.table.web.hint import hint_for
from okey_agents.table.web.keeper import Keeper, text_of
from okey_agents.table.web.pool import Needs, Pool
from okey_agents.table.web.refusal import Refused
from okey_agents.table.web.settings import PACES, PERSON, RULE_BOTS, Settings, player_name, strongest
from okey_agents.table.web.table import MakeMatch, NewSeed, Table
from okey_agents.table.web.views import result, view
from okey_agents.table.web.worker import Ended, move_of, prepare, said_of
from okey_env.bots import Bot, BotSpec, bot_names, make_bot
from okey_env.match import Match
from okey_env.observation import Observation
from okey_env.round import Round

_log = logging.getLogger(__name__)

_KEEP_EVERY = 0.5
"""Seconds between writes to disk."""
_FORGET_AFTER = 30 * 24 * 3600
"""Seconds without a change after which a kept table is not restored."""
_STALE_AFTER = 3600
"""Seconds without a change after which a table with nobody at it may be dropped for a new one."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """How much one server accepts. docs/table.md says why the limits for an address are as large as they are."""

    tables: int = 200
    tables_per_address: int = 120
    """Tables with somebody at them, or changed in the last hour, that one address has set up."""
    tables_per_connection: int = 20
    connections: int = 400
    """WebSockets; when there are as many, the one that has been silent longest and sits nowhere makes room."""
    connections_per_address: int = 300
    sockets: int = 600
    """Connections of any kind; fewer if the system allows fewer open files."""
    sockets_per_address: int = 450
    first_message: float = 20.0
    """Seconds that a connection has to say something."""
    message_size: int = 4096
    """Characters of one message."""
    messages_per_second: float = 20.0
    """For one connection, on average; `burst` of them may come at once."""
    burst: int = 60
    tolerance: int = 60
    """Messages above that rate, or that make no sense, after which a connection is closed."""
    back_off: float = 1.0
    """Seconds for which an address is refused after that; twice as long each time, up to `most_back_off`."""
    most_back_off: float = 10.0
    grace: float = 20.0
    """Seconds after which a bot plays for a person whose connection has closed."""
    bot_seconds: float = 10.0
    """Seconds that a bot has for a move; a slower move is replaced."""
    hint_seconds: float = 30.0
    review_seconds: float = 600.0
    bot_failures: int = 3
    """Moves of a bot that failed in one match after which it is not asked any more."""
    bot_processes: int = 3
    """Processes for bots, of which slow bots leave one free; they are started as they are needed."""
    hint_processes: int = 2
    records: int = 2000
    """Files of records; the oldest matches that are over make room."""
    record_bytes: int = 500_000_000


class Listener(Protocol):
    """A connection, as the table server sees it."""

    seat: int | None

    def close(self, code: str, text: str) -> None:
        """Say why, and close the connection; returns at once."""

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue a message; returns at once."""


class Session:
    """A table, its connections, and the task that plays its bots."""

    def __init__(self, table: Table, address: str = "") -> None:
        self.table = table
        self.address = address
        """From where it was set up; empty: before the server's start."""
        self.listeners: dict[Listener, None] = {}
        """In the order in which they came."""
        self.timer: asyncio.TimerHandle | None = None
        """Rings when the time of a turn is up."""
        self.runner: asyncio.Task[None] | None = None
        """Makes bots ready and plays their moves."""
        self.bot_seeds: dict[tuple[int, str], int] = {}
        """By seat and name of the bot."""
        self.failures: collections.Counter[tuple[str, str]] = collections.Counter()
        """By match and bot: moves that had to be replaced."""
        self.advice: tuple[tuple[str, int], asyncio.Future[dict[str, Any]]] | None = None
        """The coach's advice for a position: the match and its moves."""
        self.recorded: tuple[str, int] | None = None
        """The record that was last given to be written: its name and how many rounds it has."""
        self._sent: dict[int | None, dict[str, Any]] = {}
        """By seat (None: watching): the view as its listeners know it."""

    def broadcast(self) -> None:
        """Send everybody what has changed in the table as they may see it."""
        for seat in list(self._sent):
            old, new = self._sent[seat], view(self.table, seat)
            new["version"] = old["version"]
            if change := changes(old, new):
                new["version"] += 1
                self._sent[seat] = new
                message = {"type": "change", "version": new["version"], **change}
                for listener in self.listeners:
                    if listener.seat == seat:
                        listener.send(message)

    def enter(self, listener: Listener) -> None:
        """Add a connection and send it the whole view; the others are sent changes."""
        self.broadcast()
        self.listeners[listener] = None
        self.send_whole(listener)

    def send_whole(self, listener: Listener) -> None:
        """Send one connection the whole view, which it has not, or of which it has missed a change."""
        if listener.seat not in self._sent:
            self._sent[listener.seat] = {**view(self.table, listener.seat), "version": 0}
        listener.send(self._sent[listener.seat])

    def leave(self, listener: Listener) -> None:
        """Remove a connection."""
        self.listeners.pop(listener, None)
        if all(other.seat != listener.seat for other in self.listeners):
            self._sent.pop(listener.seat, None)


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
        self.addresses: list[str] = []
        """Under which other machines reach the page; empty: none does, or it is not known."""
        self.guests = Guests(self.limits)
        """Who is connected, and from where."""
        self._make_match = make_match
        self._new_seed = new_seed
        self._worlds = worlds
        self._processes = processes
        self._keeper = Keeper(data, self.limits.records, self.limits.record_bytes)
        self.ready = asyncio.Event()
        """Set when kernels are compiled and kept tables restored; the first start of all compiles for a minute."""
        self._bots = Pool(self.limits.bot_processes, 1, process=processes)
        self._coach = Pool(self.limits.hint_processes, process=processes)
        self._reviewing = asyncio.Lock()
        self._spare: Bot | None = None
        """Plays in this process where another bot has failed."""
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
        try:
            await self._write()
        except Exception:
            _log.exception("the last changes could not be kept")
        await self._bots.close()
        await self._coach.close()
        self._keeper.close()

    async def _get_ready(self) -> None:
        """Compile or load kernels: first those of the tables and the bots that play by rules, and last the coach's."""
        try:
            tables = await asyncio.to_thread(self._warm_up)
            self.sessions |= {table.id: Session(table) for table in tables}
            for name in (self.stand_in, *(name for name in RULE_BOTS if name in self.bots)):
                await self._bots.call(self._needs(name), abs, 0)
        except Exception:
            _log.exception("getting ready has failed; kernels compile when they are needed, or kept tables are missing")
        finally:
            self.ready.set()
        try:
            await self._coach.call(_COACH, abs, 0)
        except Exception:
            _log.exception("the coach could not be made ready; the first hint takes longer")

    def _warm_up(self) -> list[Table]:
        """Play a round and show its result, which loads the kernels; restore the tables that were kept."""
        table = Table(Settings(seats=(self.stand_in,) * 4), 1)
        spare = make_bot(self.bots[self.stand_in], 1)
        while not table.match.round.over:
            view(table, 0)
            table.play(spare.act(table.match.round.observe(table.match.round.turn)))
        result(table.match.round)
        self._spare = spare
        tables = self._restore()
        if self._processes:
            # Collecting garbage among all that the compiler leaves in memory takes a quarter of a second.
            gc.collect()
            gc.freeze()
        return tables

    def _needs(self, name: str) -> Needs:
        return Needs(name, prepare, (self.bots[name],))

    # --- setting up, coming, going -----------------------------------------------------------------------

    def create(self, given: Mapping[str, Any], name: Any, address: str = "") -> tuple[Session, int | None, str]:
        """Set up a table and sit down at it, or watch it if no seat is for a person: session, seat or None, token.

        Args:
            given: the settings, as `Settings.read` has them.
            name: the player's.
            address: from where the table is set up.

        Raises:
            Refused: the settings are not possible, or there are too many tables.
        """
        settings = Settings.read(given, self.bots)
        shown = player_name(name)
        if len(self.sessions) >= self.limits.tables:
            self._drop_stalest(list(self.sessions.values()))
        own = [session for session in self.sessions.values() if session.address == address]
        if address and len(own) >= self.limits.tables_per_address:
            self._drop_stalest(own)
        table = Table(settings, self._new_seed(), self._make_match, self._new_seed, self.limits.grace)
        session = self.sessions[table.id] = Session(table, address)
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
        """Add a connection to a table. Of several pages for one seat the newest plays, and the others are closed."""
        for other in list(session.listeners) if listener.seat is not None else []:
            if other.seat == listener.seat:
                other.close("elsewhere", "this seat has been opened in another page, which plays on")
        session.table.connect(listener.seat)
        session.enter(listener)
        self.changed(session)

    def leave(self, session: Session, listener: Listener, *, for_good: bool = False) -> None:
        """Remove a connection from a table; with `for_good` a bot plays for its person at once."""
        session.leave(listener)
        session.table.disconnect(listener.seat, for_good=for_good)
        self.changed(session)
        if not for_good:  # look again when the grace is over
            loop = asyncio.get_running_loop()
            loop.call_later(self.limits.grace + 0.01, self.changed, session)

    def _drop_stalest(self, sessions: Sequence[Session]) -> None:
        """Drop the table that has not changed for longest, and for an hour, and has nobody at it.

        Raises:
            Refused: there is none.
        """
        empty = [session for session in sessions if not session.table.occupied]
        stalest = min(empty, key=lambda session: session.table.touched, default=None)
        if stalest is None or time.time() - stalest.table.touched < _STALE_AFTER:
            raise Refused("too_many_tables", f"there are {len(sessions)} tables, and no more are accepted from here")
        del self.sessions[stalest.table.id]
        self._changed.add(stalest.table.id)

    # --- play --------------------------------------------------------------------------------------------

    def changed(self, session: Session) -> None:
        """Call this after a change to a table: it tells everybody, keeps the table, and has a bot move if one is to."""
        self._tell(session)
        self._start_bots(session)

    def _tell(self, session: Session) -> None:
        session.broadcast()
        self._set_timer(session)
        self.keep(session)
        table = session.table
        rounds = (table.record_name, table.match.rounds_played)
        if table.round_ended and session.recorded != rounds:
            session.recorded = rounds
            games = lines_of(table, _names(table)) if table.match.over else {}
            self._keeper.add_record(table.record_name, table.match, _names(table), games)

    def _set_timer(self, session: Session) -> None:
        if session.timer is not None:
            session.timer.cancel()
        left = session.table.seconds_left
        ring = None if left is None else asyncio.get_running_loop().call_later(left + 0.01, self._time_up, session)
        session.timer = ring

    def _time_up(self, session: Session) -> None:
        session.table.time_up()
        self.changed(session)

    def keep(self, session: Session) -> None:
        """Have the next write to disk include this table."""
        self._changed.add(session.table.id)

    def _start_bots(self, session: Session) -> None:
        to_move = session.table.bot_to_move() is not None
        if session.runner is None and (to_move or (session.table.occupied and self._unprepared(session))):
            session.runner = asyncio.create_task(self._run_bots(session))

    def _unprepared(self, session: Session) -> list[str]:
        """The bots of a table that are not ready to play."""
        names = dict.fromkeys(seat.bot or self.stand_in for seat in session.table.seats)
        return [name for name in names if not self._bots.prepared(name) and not self._given_up(session, name)]

    def _given_up(self, session: Session, name: str) -> bool:
        return session.failures[session.table.record_name, name] >= self.limits.bot_failures

    async def _run_bots(self, session: Session) -> None:
        try:
            await self._prepare_bots(session)
            await self._play_bots(session)
        except Exception:
            _log.exception("table %s has stopped", session.table.id)
        finally:
            session.runner = None

    async def _prepare_bots(self, session: Session) -> None:
        """Make the bots of a table ready before they sit down, and tell those who wait for them."""
        while names := self._unprepared(session):
            session.table.preparing = names
            session.broadcast()
            try:
                await self._bots.call(self._needs(names[0]), abs, 0)
            except Exception as error:
                _log.error("bot %s could not be made ready: %s", names[0], said_of(error))
                session.failures[session.table.record_name, names[0]] = self.limits.bot_failures
        if session.table.preparing:
            session.table.preparing = []
            session.broadcast()

    async def _play_bots(self, session: Session) -> None:
        table = session.table
        while (seat := table.bot_to_move()) is not None:
            moves = table.moves
            await asyncio.sleep(PACES[table.settings.pace])
            if table.moves != moves or table.bot_to_move() != seat:
                continue
            action, why = await self._move_of_bot(session, seat, table.match.round.observe(seat))
            if table.moves != moves or table.bot_to_move() != seat:
                continue  # the person came back while the bot chose its move
            by = {"moves": moves, "bot": self.stand_in, "why": why}
            table.seats[seat].replaced = by if why else None
            table.play(action)
            self._tell(session)

    async def _move_of_bot(self, session: Session, seat: int, observation: Observation) -> tuple[int, str | None]:
        """The move of a bot; if it fails, that of the next best bot, and why: `late`, `failed` or `given_up`."""
        table = session.table
        name = table.seats[seat].bot or self.stand_in
        if (seat, name) not in session.bot_seeds:
            session.bot_seeds[seat, name] = self._new_seed()
        seed = session.bot_seeds[seat, name]
        if self._given_up(session, name):
            return self._spare_move(seed, observation), "given_up"

        def tell() -> None:
            table.preparing = [name]
            session.broadcast()

        why = "failed"
        try:
            limit, needs = self.limits.bot_seconds, self._needs(name)
            arguments = (self.bots[name], seed, observation)
            action = await self._bots.call(needs, move_of, *arguments, limit=limit, on_prepare=tell)
            if action in observation.legal_actions:
                return action, None
            fault = f"gave the action {action}, which is not legal"
        except TimeoutError as error:
            why, fault = "late", f"was too slow: {said_of(error)}"
        except Exception as error:
            fault = f"failed: {said_of(error)}"
        finally:
            table.preparing = []
        session.failures[table.record_name, name] += 1
        _log.error("bot %s %s; %s plays in its place", name, fault, self.stand_in)
        return self._spare_move(seed, observation), why

    def _spare_move(self, seed: int, observation: Observation) -> int:
        """A move made in this process, which takes microseconds."""
        try:
            assert self._spare is not None
            self._spare.reset(seed)
            action = self._spare.act(observation)
            return action if action in observation.legal_actions else observation.legal_actions[0]
        except Exception as error:
            _log.error("bot %s failed: %s; the first legal action is played", self.stand_in, said_of(error))
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
        limit = self.limits.hint_seconds
        position = (table.record_name, moves)
        if session.advice is None or session.advice[0] != position:  # a position is thought about once
            call = self._coach.call(_COACH, hint_for, observation, self._worlds, limit=limit)
            session.advice = (position, asyncio.ensure_future(call))
        try:
            advice = await asyncio.shield(session.advice[1])
        except (TimeoutError, Ended):
            session.advice = None
            raise Refused("no_hint", f"the coach has found no advice in {limit:g} seconds") from None
        return {"type": "hint", "moves": moves, **advice}

    # --- earlier matches ---------------------------------------------------------------------------------

    async def games(self, person: str) -> dict[str, Any]:
        """The message with the matches that a person has played to their end."""
        return {"type": "games", "games": await self._keeper.games(person)}

    async def game(self, person: str, record: Any) -> dict[str, Any]:
        """What is kept of one of a person's matches.

        Raises:
            Refused: the person has played no match with such a record, or it is not kept any more.
        """
        games = await self._keeper.games(person)
        game = next((game for game in games if game["record"] == record), None)
        if game is None:
            raise Refused("no_game", "this match is not kept any more")
        return game

    async def replay_game(self, person: str, record: Any, number: int) -> dict[str, Any]:
        """The message with the replay of a round of a person's match; faults as `game`, or there is no such round."""
        game = await self.game(person, record)
        replay = await asyncio.to_thread(replay_in, self._keeper.path(game["record"]), number)
        return {"type": "replay", **replay, "record": record, "you": game["seat"], "players": game["players"]}

    async def export_game(self, person: str, record: Any) -> dict[str, Any]:
        """The message with the record of a person's match; faults as `game`."""
        path = self._keeper.path((await self.game(person, record))["record"])
        return {"type": "record", "text": await asyncio.to_thread(path.read_text, encoding="utf-8")}

    async def forget_game(self, person: str, record: Any) -> dict[str, Any]:
        """Forget a person's match, and return the message with those that stay; faults as `game`."""
        await self._keeper.keep_game(person, (await self.game(person, record))["record"], None)
        return await self.games(person)

    async def review_game(self, person: str, record: Any) -> dict[str, Any]:
        """Have the coach review a person's match, keep what it says, and return the message with all matches.

        Raises:
            Refused: as `game`; or the coach has not come to an end.
        """
        game = await self.game(person, record)
        arguments = (self._keeper.path(game["record"]), game["seat"], self._worlds)
        try:
            async with self._reviewing:  # the other process is left for hints
                said = await self._coach.call(_COACH, review_in, *arguments, limit=self.limits.review_seconds)
        except (TimeoutError, Ended):
            raise Refused("no_hint", "the coach has not come to the end of this match") from None
        await self._keeper.keep_game(person, game["record"], {**game, "review": said})
        return await self.games(person)

    # --- keeping -----------------------------------------------------------------------------------------

    def record(self, table: Table) -> Coroutine[Any, Any, dict[str, Any]]:
        """What makes the message with the record of the match as it is now; the next match may begin meanwhile."""
        match, names = copy.deepcopy(table.match), _names(table)

        async def message() -> dict[str, Any]:
            return {"type": "record", "text": await asyncio.to_thread(text_of, match, names)}

        return message()

    def _restore(self) -> list[Table]:
        """The tables that were kept. Those of long ago are removed; those that cannot be restored are set aside."""
        tables = []
        for key, kept in self._keeper.load():
            try:
                given = dict(kept["settings"])
                given["seats"] = [who if who in (*self.bots, PERSON) else self.stand_in for who in given["seats"]]
                settings = Settings.read(given, self.bots)
                if type(kept["seed"]) is not int:
                    raise ValueError(f"seed={kept['seed']!r}: expected a whole number")
                table = Table(settings, kept["seed"], self._make_match, self._new_seed, self.limits.grace)
                table.restore(kept)
                if table.id != key:
                    raise ValueError(f"it holds the table {table.id}")
                if table.round_ended and not self._keeper.has_record(table.record_name):
                    self._keeper.add_record(table.record_name, table.match, _names(table))
            except Exception as error:  # whatever is wrong with it, the other tables come back
                self._keeper.set_aside(key, said_of(error))
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
        while self._changed:
            key = self._changed.pop()
            session = self.sessions.get(key)
            self._keeper.add_row(key, json.dumps(session.table.to_json()) if session else None)
        tables = [session.table for session in self.sessions.values()]
        await self._keeper.write([table.record_name for table in tables if not table.match.over])


def _names(table: Table) -> tuple[str, ...]:
    return tuple(seat.name or "?" for seat in table.seats)


def _prepare_coach() -> None:
    round = Round(seed=1)
    for _ in range(2):  # a throw, and a draw
        hint_for(round.observe(round.turn), 2)
        round.apply(round.legal_actions()[0])


_COACH = Needs("coach", _prepare_coach, ())
