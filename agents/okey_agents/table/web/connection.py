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

from okey_agents.table.web.rack import PLACES
from okey_agents.table.web.refusal import Refused
from okey_agents.table.web.settings import rules_form
from okey_agents.table.web.table_server import Session, TableServer
from okey_agents.table.web.views import replay_of, rounds_over, view

_log = logging.getLogger(__name__)

_QUEUE = 200
"""Messages that wait for a slow reader before its connection is closed."""
_MISTAKE = "the server has made a mistake; nothing has changed"


class Connection:
    """The connection of one browser."""

    def __init__(self, server: TableServer, websocket: WebSocket) -> None:
        self.seat: int | None = None
        self._server = server
        self._websocket = websocket
        self._session: Session | None = None
        self._outbox: asyncio.Queue[str] = asyncio.Queue(_QUEUE)
        self._too_slow = asyncio.Event()
        self._budget = float(server.limits.burst)
        self._counted_at = time.monotonic()
        self._created = 0
        self._making: asyncio.Task[None] | None = None

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue a message; returns at once. A connection whose queue is full is closed."""
        try:
            self._outbox.put_nowait(json.dumps(message, separators=(",", ":"), ensure_ascii=False))
        except asyncio.QueueFull:
            self._too_slow.set()

    async def serve(self) -> None:
        """Accept the connection and serve it until it ends."""
        await self._websocket.accept()
        if self._server.connections >= self._server.limits.connections:
            refusal = Refused("too_many_connections", "this server has as many connections as it accepts")
            await self._websocket.send_text(json.dumps(refusal.message()))
            await self._websocket.close(1013)
            return
        self._server.connections += 1
        bots, stand_in = list(self._server.bots), self._server.stand_in
        self.send({"type": "welcome", "bots": bots, "stand_in": stand_in, "rules": rules_form()})
        tasks = [asyncio.create_task(step) for step in (self._write(), self._read(), self._too_slow.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._server.connections -= 1
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
                if message["type"] in _BEFORE_A_TABLE and not self._server.ready.is_set():
                    self.send({"type": "wait"})  # the first start of all compiles for a minute
                    await self._server.ready.wait()
                self._handle(message)
            except Refused as refusal:
                self.send(refusal.message())
            except Exception:
                _log.exception("a message could not be handled")
                self.send(Refused("internal", _MISTAKE).message())

    def _check_rate(self) -> None:
        now = time.monotonic()
        limits = self._server.limits
        self._budget = min(limits.burst, self._budget + (now - self._counted_at) * limits.messages_per_second)
        self._counted_at = now
        if self._budget < 1:
            raise Refused("too_fast", f"more than {limits.messages_per_second:g} messages a second: wait a moment")
        self._budget -= 1

    def _parse(self, text: str | None) -> dict[str, Any]:
        if text is None:
            raise Refused("malformed", "the message is binary: expected JSON as text")
        most = self._server.limits.message_size
        if len(text) > most:
            raise Refused("too_long", f"the message has {len(text)} characters: expected at most {most}")
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
        if self._session is None:
            raise Refused("not_seated", "this connection has no table yet: expected create, join or sit first")
        getattr(self, f"_{kind}")(self._session, message)

    # --- before a seat is taken --------------------------------------------------------------------------

    def _create(self, message: dict[str, Any]) -> None:
        if self._created >= self._server.limits.tables_per_connection:
            raise Refused("too_many_tables", "this connection has set up as many tables as it may: play at one of them")
        settings = message.get("settings", {})
        if not isinstance(settings, dict):
            raise Refused("malformed", f"settings={settings!r}: expected an object")
        session, seat, token = self._server.create(settings, message.get("name", ""))
        self._created += 1
        self._sit_down(session, seat, token)

    def _join(self, message: dict[str, Any]) -> None:
        session, seat, token = self._server.join(message.get("invite"), message.get("name", ""))
        self._sit_down(session, seat, token)

    def _sit(self, message: dict[str, Any]) -> None:
        token = message.get("token")
        session, seat = self._server.sit(token)
        self._sit_down(session, seat, str(token))

    def _sit_down(self, session: Session, seat: int | None, token: str) -> None:
        self._leave()
        self.seat, self._session = seat, session
        self.send({"type": "seated", "table": session.table.id, "seat": seat, "token": token})
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
            raise Refused("malformed", f"action={action!r}: expected a text like 'throw R5'")
        if not _is_whole(at):
            raise Refused("malformed", f"at={at!r}: expected the number of the move")
        if place is not None and not (_is_whole(place) and 0 <= place < PLACES):
            raise Refused("malformed", f"place={place!r}: expected a place 0 to {PLACES - 1}")
        try:
            session.table.act(self._my_seat(), action, at, place)
        except Refused:
            self.send(view(session.table, self.seat))  # the page has shown the move already, and must take it back
            raise
        self._server.changed(session)

    def _arrange(self, session: Session, message: dict[str, Any]) -> None:
        places, down = message.get("places"), message.get("down", [])
        if not isinstance(places, list) or not all(tile is None or isinstance(tile, str) for tile in places):
            raise Refused("malformed", "places: expected a list of tiles and nulls")
        if not isinstance(down, list) or not all(_is_whole(place) and 0 <= place < len(places) for place in down):
            raise Refused("malformed", "down: expected a list of places")
        session.table.arrange(self._my_seat(), places, down)
        self._server.keep(session)

    def _ready(self, session: Session, _: dict[str, Any]) -> None:
        session.table.ready(self.seat)
        self._server.changed(session)

    def _hint(self, session: Session, _: dict[str, Any]) -> None:
        self._send_later(self._server.hint(session, self._my_seat()))

    def _send_later(self, message: Coroutine[Any, Any, dict[str, Any]]) -> None:
        """Make a message beside the loop and send it. While one is being made, further ones are dropped."""
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
            _log.exception("a message could not be made")
            self.send(Refused("internal", _MISTAKE).message())

    def _replay(self, session: Session, message: dict[str, Any]) -> None:
        over, number = rounds_over(session.table), message.get("round")
        if not _is_whole(number) or not 1 <= number <= len(over):
            raise Refused("no_replay", f"round={number!r}: expected a round that is over, 1 to {len(over)}")
        self.send({"type": "replay", "round": number, "rounds": len(over), **replay_of(over[number - 1])})

    def _record(self, session: Session, _: dict[str, Any]) -> None:
        if not session.table.match.over:  # it holds the seed, from which the rounds to come are dealt
            raise Refused("no_record", "the match is not over: expected a request for the record after its end")
        self._send_later(self._server.record(session.table))

    def _my_seat(self) -> int:
        if self.seat is None:
            raise Refused("only_watching", "this connection only watches: a seat is needed for that")
        return self.seat


def _is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


_BEFORE_A_TABLE = frozenset({"create", "join", "sit"})
_AT_A_TABLE = frozenset({"leave_table", "start", "act", "arrange", "ready", "hint", "replay", "record"})
