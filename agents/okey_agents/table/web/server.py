"""The table's server: the page as files, and one WebSocket for everything else.

A message is JSON with a `type`. What is malformed, too long, too often, out of turn or illegal is answered with an
`error` that has a code and a sentence, and changes nothing. docs/table.md lists all messages.
"""

import asyncio
import contextlib
import ipaddress
import json
import logging
import time
from collections.abc import AsyncIterator, Collection, Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from starlette.applications import Starlette
from starlette.routing import Mount, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from okey_agents.table.web.house import House, Room
from okey_agents.table.web.rack import PLACES
from okey_agents.table.web.refusal import Refused
from okey_agents.table.web.views import rounds_over, story, view

_log = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "static"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "testserver"})
_QUEUE = 200
"""Messages that wait for a slow reader before its connection is closed."""
_HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
    ),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-cache"),
]


def make_app(house: House, hosts: Collection[str] = ()) -> Starlette:
    """The server as an application.

    Args:
        house: its tables.
        hosts: names, beside loopback's and plain addresses, under which browsers may call it. A page of another
            origin may not, whatever name it has made point here.
    """
    allowed = _LOOPBACK | set(hosts)

    async def socket(websocket: WebSocket) -> None:
        await _Connection(house, websocket).serve(allowed)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await house.open()
        yield
        await house.close()

    routes = [WebSocketRoute("/socket", socket), Mount("/", _WithHeaders(StaticFiles(directory=STATIC, html=True)))]
    app = Starlette(routes=routes, lifespan=lifespan)
    app.state.connections = 0
    return app


class _WithHeaders:
    """The files, with headers that keep the page to itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        await self._app(scope, receive, send_with_headers)


def same_origin(headers: Mapping[str, str], allowed: Collection[str]) -> bool:
    """Whether a browser's handshake comes from our own page, under a name that is ours.

    >>> same_origin({"origin": "http://127.0.0.1:8000", "host": "127.0.0.1:8000"}, {"127.0.0.1"})
    True
    >>> same_origin({"origin": "http://evil.example", "host": "127.0.0.1:8000"}, {"127.0.0.1"})
    False
    """
    host = headers.get("host", "")
    if headers.get("origin") not in (f"http://{host}", f"https://{host}"):
        return False
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    name = name.strip("[]").lower()
    if name in allowed:
        return True
    try:  # no other site can have a plain address for its name
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class _Connection:
    """One browser."""

    def __init__(self, house: House, websocket: WebSocket) -> None:
        self.seat: int | None = None
        self._house = house
        self._websocket = websocket
        self._room: Room | None = None
        self._outbox: asyncio.Queue[str] = asyncio.Queue(_QUEUE)
        self._too_slow = asyncio.Event()
        self._budget = float(house.limits.burst)
        self._counted_at = time.monotonic()
        self._created = 0
        self._making: asyncio.Task[None] | None = None

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message, without waiting."""
        try:
            self._outbox.put_nowait(json.dumps(message, separators=(",", ":"), ensure_ascii=False))
        except asyncio.QueueFull:
            self._too_slow.set()

    async def serve(self, allowed: Collection[str]) -> None:
        """The connection from its handshake to its end."""
        state = self._websocket.app.state
        if not same_origin(self._websocket.headers, allowed):
            await self._websocket.close(1008)  # before the handshake: the browser gets a 403
            return
        await self._websocket.accept()
        if state.connections >= self._house.limits.connections:
            refusal = Refused("too_many_connections", "this server has as many connections as it takes")
            await self._websocket.send_text(json.dumps(refusal.message()))
            await self._websocket.close(1013)
            return
        state.connections += 1
        self.send({"type": "welcome", "bots": list(self._house.bots), "stand_in": self._house.stand_in})
        tasks = [asyncio.create_task(step) for step in (self._write(), self._read(), self._too_slow.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            state.connections -= 1
            for task in tasks:
                task.cancel()
            self._leave()
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):
                await self._websocket.close(1001)

    async def _write(self) -> None:
        while True:
            text = await self._outbox.get()
            try:
                await self._websocket.send_text(text)
            except (RuntimeError, WebSocketDisconnect):
                return

    async def _read(self) -> None:
        while True:
            received = await self._websocket.receive()
            if received["type"] == "websocket.disconnect":
                return
            try:
                self._check_rate()
                message = self._parse(received.get("text"))
                if message["type"] in _BEFORE_A_TABLE and not self._house.ready.is_set():
                    self.send({"type": "wait"})  # a first start compiles for a minute
                    await self._house.ready.wait()
                self._handle(message)
            except Refused as refusal:
                self.send(refusal.message())
            except Exception:
                _log.exception("a message could not be handled")
                self.send(Refused("internal", "the server has made a mistake; nothing has changed").message())

    def _check_rate(self) -> None:
        now = time.monotonic()
        limits = self._house.limits
        self._budget = min(limits.burst, self._budget + (now - self._counted_at) * limits.messages_per_second)
        self._counted_at = now
        if self._budget < 1:
            raise Refused("too_fast", f"more than {limits.messages_per_second:g} messages a second")
        self._budget -= 1

    def _parse(self, text: str | None) -> dict[str, Any]:
        if text is None:
            raise Refused("malformed", "the message is binary: expected JSON as text")
        if len(text) > self._house.limits.message_size:
            raise Refused(
                "too_long",
                f"the message has {len(text)} characters: expected at most {self._house.limits.message_size}",
            )
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            raise Refused("malformed", "the message is not JSON") from None
        if not isinstance(message, dict) or not isinstance(message.get("type"), str):
            raise Refused("malformed", "the message has no type: expected an object with a type")
        return message

    def _handle(self, message: dict[str, Any]) -> None:
        kind = message.pop("type")
        if kind in _BEFORE_A_TABLE:
            getattr(self, f"_{kind}")(message)
            return
        if kind not in _AT_A_TABLE:
            raise Refused("malformed", f"there is no message of type {kind!r}")
        if self._room is None:
            raise Refused("not_seated", "no seat is taken yet: expected create, join or sit first")
        getattr(self, f"_{kind}")(self._room, message)

    # --- before a seat is taken --------------------------------------------------------------------------

    def _create(self, message: dict[str, Any]) -> None:
        if self._created >= self._house.limits.tables_per_connection:
            raise Refused("too_many_tables", "this connection has set up as many tables as it may")
        settings = message.get("settings", {})
        if not isinstance(settings, dict):
            raise Refused("malformed", f"settings={settings!r}: expected an object")
        room, seat, token = self._house.create(settings, message.get("name", ""))
        self._created += 1
        self._sit_down(room, seat, token)

    def _join(self, message: dict[str, Any]) -> None:
        room, seat, token = self._house.join(message.get("invite"), message.get("name", ""))
        self._sit_down(room, seat, token)

    def _sit(self, message: dict[str, Any]) -> None:
        token = message.get("token")
        room, seat = self._house.sit(token)
        self._sit_down(room, seat, str(token))

    def _sit_down(self, room: Room, seat: int | None, token: str) -> None:
        self._leave()
        self.seat, self._room = seat, room
        self.send({"type": "seated", "table": room.table.id, "seat": seat, "token": token})
        self._house.enter(room, self)

    def _leave(self, *, for_good: bool = False) -> None:
        if self._room is not None:
            room, self._room = self._room, None
            self._house.leave(room, self, for_good=for_good)

    # --- at a table --------------------------------------------------------------------------------------

    def _leave_table(self, room: Room, _: dict[str, Any]) -> None:
        self._leave(for_good=True)
        self.send({"type": "left", "table": room.table.id})

    def _start(self, room: Room, _: dict[str, Any]) -> None:
        self._my_seat()
        room.table.start()
        self._house.changed(room)

    def _act(self, room: Room, message: dict[str, Any]) -> None:
        action, at, place = message.get("action"), message.get("at"), message.get("place")
        if not isinstance(action, str) or len(action) > 20:
            raise Refused("malformed", f"action={action!r}: expected a text like 'throw R5'")
        if not _is_whole(at):
            raise Refused("malformed", f"at={at!r}: expected the number of the move")
        if place is not None and not (_is_whole(place) and 0 <= place < PLACES):
            raise Refused("malformed", f"place={place!r}: expected a place 0 to {PLACES - 1}")
        try:
            room.table.act(self._my_seat(), action, at, place)
        except Refused:
            self.send(view(room.table, self.seat))  # what the page has done ahead of the answer is put right
            raise
        self._house.changed(room)

    def _arrange(self, room: Room, message: dict[str, Any]) -> None:
        places, down = message.get("places"), message.get("down", [])
        if not isinstance(places, list) or not all(tile is None or isinstance(tile, str) for tile in places):
            raise Refused("malformed", "places: expected a list of tiles and nulls")
        if not isinstance(down, list) or not all(_is_whole(place) and 0 <= place < len(places) for place in down):
            raise Refused("malformed", "down: expected a list of places")
        room.table.arrange(self._my_seat(), places, down)
        self._house.keep(room)

    def _ready(self, room: Room, _: dict[str, Any]) -> None:
        room.table.ready(self.seat)
        self._house.changed(room)

    def _hint(self, room: Room, _: dict[str, Any]) -> None:
        self._send_later(self._house.hint(room, self._my_seat()))

    def _send_later(self, message: Coroutine[Any, Any, dict[str, Any]]) -> None:
        """Send what takes a while to make; one thing at a time, what is asked for meanwhile is let go."""
        if self._making is None or self._making.done():
            self._making = asyncio.create_task(self._send_made(message))
        else:
            message.close()

    async def _send_made(self, message: Coroutine[Any, Any, dict[str, Any]]) -> None:
        try:
            self.send(await message)
        except Refused as refusal:
            self.send(refusal.message())
        except Exception:
            _log.exception("nothing came of it")
            self.send(Refused("internal", "the server has made a mistake; nothing has changed").message())

    def _replay(self, room: Room, message: dict[str, Any]) -> None:
        over, number = rounds_over(room.table), message.get("round")
        if not _is_whole(number) or not 1 <= number <= len(over):
            raise Refused("no_replay", f"round={number!r}: expected a round that is over, 1 to {len(over)}")
        self.send({"type": "replay", "round": number, "rounds": len(over), **story(over[number - 1])})

    def _record(self, room: Room, _: dict[str, Any]) -> None:
        if not room.table.match.over:  # it holds the seed, from which the rounds to come are dealt
            raise Refused("no_record", "the record is to be had when the match is over")
        self._send_later(self._make_record(room))

    async def _make_record(self, room: Room) -> dict[str, Any]:
        return {"type": "record", "text": await self._house.record(room.table)}

    def _my_seat(self) -> int:
        if self.seat is None:
            raise Refused("only_watching", "who watches has no seat")
        return self.seat


def _is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


_BEFORE_A_TABLE = frozenset({"create", "join", "sit"})
_AT_A_TABLE = frozenset({"leave_table", "start", "act", "arrange", "ready", "hint", "replay", "record"})
