"""One browser's WebSocket: reads messages, checks them, carries them out, and sends what the player may know.

A message is JSON with a `type`. A message that is malformed, too long, too frequent, out of turn or illegal changes
nothing and is answered with an `error`, which has a code and a sentence. docs/table.md lists all messages.
"""

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Coroutine, Mapping
from typing import Any, TypeGuard

from starlette.websockets import WebSocket, WebSocketDisconnect

from okey_agents.table.web.addresses import qr_svg
from okey_agents.table.web.games import person_of
from okey_agents.table.web.guests import address_of
from okey_agents.table.web.message import read_message, short
from okey_agents.table.web.rack import PLACES
from okey_agents.table.web.refusal import Refused
from okey_agents.table.web.settings import rules_form
from okey_agents.table.web.table_server import Session, TableServer
from okey_agents.table.web.views import replay_of, rounds_over

_log = logging.getLogger(__name__)

_QUEUE = 200
"""Messages that wait for a slow reader before its connection is closed."""
_TOO_BIG = 1009
"""The code with which a connection is closed whose message is larger than a frame may be."""
_LAST_WORDS = 0.5
"""Seconds in which the last message is sent to a connection that is closed."""
_MOST_LINK = 300
"""Characters of an invitation that is shown as a QR code."""
_MISTAKE = "the server has made a mistake; nothing has changed"


class _Budget:
    """So many at once, and so many a second on average."""

    def __init__(self, most: float, per_second: float) -> None:
        self._most, self._per_second = most, per_second
        self._left, self._counted_at = most, time.monotonic()

    def take(self, cost: float = 1.0) -> bool:
        """Take some, and say whether there was as much."""
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._counted_at) * self._per_second)
        self._counted_at = now
        if self._left < cost:
            return False
        self._left -= cost
        return True


class _Flood(Exception):  # noqa: N818 - it ends a connection
    """Raised when a connection sends so much that it is closed."""


class Connection:
    """The connection of one browser."""

    def __init__(self, server: TableServer, websocket: WebSocket) -> None:
        self.seat: int | None = None
        self.address = address_of(websocket.client.host if websocket.client else "")
        """By which the limits for an address count."""
        self._server = server
        self._websocket = websocket
        self._session: Session | None = None
        self._outbox: asyncio.Queue[str | None] = asyncio.Queue(_QUEUE)
        self._too_slow = asyncio.Event()
        self._messages = _Budget(server.limits.burst, server.limits.messages_per_second)
        self._patience = _Budget(server.limits.tolerance, 1.0)
        self._created = 0
        self._making: dict[str, asyncio.Task[None]] = {}
        """By kind: the message that is being made."""

    @property
    def seated(self) -> bool:
        """Whether it sits at a table or watches one."""
        return self._session is not None

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue a message; returns at once. A connection whose queue is full is closed."""
        self._queue(json.dumps(message, separators=(",", ":"), ensure_ascii=False))

    def close(self, code: str, text: str) -> None:
        """Queue an error as the last message; returns at once."""
        self.send(Refused(code, text).message())
        self._queue(None)

    def _queue(self, text: str | None) -> None:
        try:
            self._outbox.put_nowait(text)
        except asyncio.QueueFull:
            self._too_slow.set()

    async def serve(self) -> None:
        """Accept the connection and serve it until it ends."""
        guests = self._server.guests
        if guests.refused(self.address):
            await self._websocket.close(1013)  # before the handshake: the browser gets a 403
            return
        await self._websocket.accept()
        try:
            guests.enter(self)
        except Refused as refusal:
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):
                await self._websocket.send_text(json.dumps(refusal.message()))
                await self._websocket.close(1013)
            return
        bots, stand_in = list(self._server.bots), self._server.stand_in
        places = self._server.addresses
        self.send({"type": "welcome", "bots": bots, "stand_in": stand_in, "rules": rules_form(), "addresses": places})
        tasks = [asyncio.create_task(step) for step in (self._write(), self._read(), self._too_slow.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            guests.leave(self)
            for task in tasks:
                task.cancel()
            self._leave()
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):
                await self._websocket.close(1001)

    async def _write(self) -> None:
        while (text := await self._outbox.get()) is not None:
            try:
                await self._websocket.send_text(text)
            except (RuntimeError, WebSocketDisconnect):
                return

    async def _read(self) -> None:
        limit: float | None = self._server.limits.first_message
        while True:
            try:
                received = await asyncio.wait_for(self._websocket.receive(), limit)
            except TimeoutError:
                self.close("silent", f"no message came in {limit:g} seconds")
                await asyncio.sleep(_LAST_WORDS)
                return
            limit = None
            if received["type"] == "websocket.disconnect":
                if received.get("code") == _TOO_BIG:
                    self._server.guests.offend(self.address)
                return
            self._server.guests.spoke(self)
            try:
                self._check_rate()
                await self._answer(received.get("text"))
            except Refused as refusal:
                self.send(refusal.message())
            except _Flood:
                self._server.guests.offend(self.address)
                self.close("flood", "too many messages, or too large ones: wait a moment before you connect again")
                await asyncio.sleep(_LAST_WORDS)
                return
            except Exception:
                _log.exception("a message could not be handled")
                self.send(Refused("internal", _MISTAKE).message())

    def _check_rate(self) -> None:
        if not self._messages.take():
            self._lose_patience()
            rate = self._server.limits.messages_per_second
            raise Refused("too_fast", f"more than {rate:g} messages a second: wait a moment")

    def _lose_patience(self, cost: float = 1.0) -> None:
        if not self._patience.take(cost):
            raise _Flood

    async def _answer(self, text: str | None) -> None:
        if text is None:
            raise Refused("malformed", "the message is not UTF-8 text: expected JSON as text")
        most = self._server.limits.message_size
        if len(text) > most:
            self._lose_patience(len(text) / most)
            raise Refused("too_long", f"the message has {len(text)} characters: expected at most {most}")
        message = read_message(text)
        if message["type"] in _BEFORE_A_TABLE and not self._server.ready.is_set():
            self.send({"type": "wait"})  # the first start of all compiles for a minute
            await self._server.ready.wait()
        self._handle(message)

    def _handle(self, message: dict[str, Any]) -> None:
        kind = message.pop("type")
        if kind == "hello":  # a page that waits at its first screen, or somebody who is there again
            if self._session is not None:
                self._session.table.wake(self.seat)
                self._server.changed(self._session)
            return
        if kind in _BEFORE_A_TABLE:
            getattr(self, f"_{kind}")(message)
            return
        if kind not in _AT_A_TABLE:
            raise Refused("malformed", f"there is no message of type {short(kind)}")
        if self._session is None:
            raise Refused("not_seated", "this connection has no table yet: expected create, join or sit first")
        getattr(self, f"_{kind}")(self._session, message)

    # --- before a seat is taken --------------------------------------------------------------------------

    def _create(self, message: dict[str, Any]) -> None:
        if self._created >= self._server.limits.tables_per_connection:
            raise Refused("too_many_tables", "this connection has set up as many tables as it may: play at one of them")
        settings = message.get("settings", {})
        if not isinstance(settings, dict):
            raise Refused("malformed", f"settings={short(settings)}: expected an object")
        person = person_of(message.get("me"))
        session, seat, token = self._server.create(settings, message.get("name", ""), self.address)
        self._created += 1
        self._sit_down(session, seat, token, person)

    def _join(self, message: dict[str, Any]) -> None:
        person = person_of(message.get("me"))
        session, seat, token = self._server.join(message.get("invite"), message.get("name", ""))
        self._sit_down(session, seat, token, person)

    def _sit(self, message: dict[str, Any]) -> None:
        token = message.get("token")
        session, seat = self._server.sit(token)
        self._sit_down(session, seat, str(token))

    def _games(self, message: dict[str, Any]) -> None:
        person = person_of(message.get("me"))
        ask, record, number = message.get("ask"), message.get("record"), message.get("round", 1)
        if person is None or not isinstance(ask, str) or ask not in _ASKS or not _is_whole(number):
            raise Refused("malformed", f"expected me, ask={' or '.join(map(repr, _ASKS))}, a record, and a round")
        given = {"list": (person,), "replay": (person, record, number)}.get(ask, (person, record))
        self._send_later(ask, getattr(self._server, _ASKS[ask])(*given))

    def _sit_down(self, session: Session, seat: int | None, token: str, person: str | None = None) -> None:
        if seat is not None and person is not None:
            session.table.seats[seat].person = person
        self._leave()
        self.seat, self._session = seat, session
        now = int(time.time() * 1000)  # the page's clock may differ
        self.send({"type": "seated", "table": session.table.id, "seat": seat, "token": token, "now": now})
        self._server.enter(session, self)

    def _leave(self, *, for_good: bool = False) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            self._server.leave(session, self, for_good=for_good)

    # --- at a table --------------------------------------------------------------------------------------

    def _leave_table(self, session: Session, _: dict[str, Any]) -> None:
        self._leave(for_good=True)
        self.send({"type": "left", "table": session.table.id})

    def _start(self, session: Session, _: dict[str, Any]) -> None:
        self._my_seat()
        session.table.start()
        self._server.changed(session)

    def _act(self, session: Session, message: dict[str, Any]) -> None:
        action, at, place = message.get("action"), message.get("at"), message.get("place")
        if not isinstance(action, str) or len(action) > 20:
            raise Refused("malformed", f"action={short(action)}: expected a text like 'throw R5'")
        if not _is_whole(at):
            raise Refused("malformed", f"at={short(at)}: expected the number of the move")
        if place is not None and not (_is_whole(place) and 0 <= place < PLACES):
            raise Refused("malformed", f"place={short(place)}: expected a place 0 to {PLACES - 1}")
        session.table.act(self._my_seat(), action, at, place)
        self._server.changed(session)

    def _arrange(self, session: Session, message: dict[str, Any]) -> None:
        places, down = message.get("places"), message.get("down", [])
        if not isinstance(places, list) or not all(tile is None or isinstance(tile, str) for tile in places):
            raise Refused("malformed", "places: expected a list of tiles and nulls")
        if not isinstance(down, list) or not all(_is_whole(place) and 0 <= place < len(places) for place in down):
            raise Refused("malformed", "down: expected a list of places")
        session.table.arrange(self._my_seat(), places, down)
        self._server.keep(session)

    def _whole(self, session: Session, _: dict[str, Any]) -> None:
        session.send_whole(self)

    def _invitation(self, session: Session, message: dict[str, Any]) -> None:
        link = message.get("link")
        if not isinstance(link, str) or len(link) > _MOST_LINK or not link.endswith(f"#i={session.table.invite}"):
            raise Refused("malformed", f"link={short(link)}: expected the invitation to this table")
        self.send({"type": "invitation", "link": link, "svg": qr_svg(link)})

    def _ready(self, session: Session, _: dict[str, Any]) -> None:
        session.table.ready(self.seat)
        self._server.changed(session)

    def _hint(self, session: Session, _: dict[str, Any]) -> None:
        self._send_later("hint", self._server.hint(session, self._my_seat()))

    def _send_later(self, kind: str, message: Coroutine[Any, Any, dict[str, Any]]) -> None:
        """Make a message beside the loop and send it. While one of its kind is being made, further ones are dropped."""
        if kind not in self._making or self._making[kind].done():
            self._making[kind] = asyncio.create_task(self._send_made(message))
        else:
            message.close()

    async def _send_made(self, message: Coroutine[Any, Any, dict[str, Any]]) -> None:
        try:
            self.send(await message)
        except Refused as refusal:
            self.send(refusal.message())
        except Exception:
            _log.exception("a message could not be made")
            self.send(Refused("internal", _MISTAKE).message())

    def _replay(self, session: Session, message: dict[str, Any]) -> None:
        over, number = rounds_over(session.table), message.get("round")
        if not _is_whole(number) or not 1 <= number <= len(over):
            raise Refused("no_replay", f"round={short(number)}: expected a round that is over, 1 to {len(over)}")
        self.send({"type": "replay", "round": number, "rounds": len(over), **replay_of(over[number - 1])})

    def _record(self, session: Session, _: dict[str, Any]) -> None:
        if not session.table.match.over:  # it holds the seed, from which the rounds to come are dealt
            raise Refused("no_record", "the match is not over: expected a request for the record after its end")
        self._send_later("record", self._server.record(session.table))

    def _my_seat(self) -> int:
        if self.seat is None:
            raise Refused("only_watching", "this connection only watches: a seat is needed for that")
        return self.seat


def _is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


_ASKS = {
    "list": "games",
    "replay": "replay_game",
    "export": "export_game",
    "forget": "forget_game",
    "review": "review_game",
}
"""What the page may ask of earlier matches, and the method of the server that answers."""
_BEFORE_A_TABLE = frozenset({"create", "join", "sit", "games"})
_AT_A_TABLE = frozenset(
    {"leave_table", "start", "act", "arrange", "whole", "ready", "hint", "replay", "record", "invitation"}
)
