"""What guards the server below HTTP: how many connections there are, and how long one may say nothing.

`guests` limits the WebSockets of the page. A connection that has not sent a request yet is known only here.
"""

import asyncio
import contextlib
import dataclasses
import errno
import os
import socket
import time
from collections import Counter
from typing import Any

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from okey_agents.table.web.guests import address_of
from okey_agents.table.web.table_server import Limits

_KEPT_FILES = 100
"""Open files that connections leave for everything else."""
_UNREAD = 256 * 1024
"""Bytes that may wait for a client that does not read."""


class Listener(socket.socket):
    """A listening socket that stays quiet when the process has no files left: who comes then is closed at once.

    Without it, asyncio tries the same again a thousand times, and logs a traceback each time.
    """

    _reserve: int | None = None

    def accept(self) -> tuple[socket.socket, Any]:
        """As `socket.accept`; a connection for which there is no file is closed.

        Raises:
            BlockingIOError: nobody waits any more.
        """
        self._keep_reserve()
        try:
            return super().accept()
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                raise
        self._turn_away()
        raise BlockingIOError

    def _keep_reserve(self) -> None:
        """Hold a file open, which can be given up for a connection."""
        if self._reserve is None:
            with contextlib.suppress(OSError):
                self._reserve = os.open(os.devnull, os.O_RDONLY)

    def _turn_away(self) -> None:
        time.sleep(0.01)  # there may be thousands, and no file becomes free by trying
        if self._reserve is None:
            return
        os.close(self._reserve)
        self._reserve = None
        with contextlib.suppress(OSError):
            super().accept()[0].close()
        self._keep_reserve()

    def close(self) -> None:
        """Close the socket and the file in reserve."""
        if self._reserve is not None:
            os.close(self._reserve)
            self._reserve = None
        super().close()


class Door:
    """The connections of one server, whatever they are used for.

    Args:
        limits: how many there may be, in all and for an address.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._open: dict[asyncio.Transport, str] = {}
        """By connection: the address."""
        self._count: Counter[str] = Counter()
        self._silent: dict[asyncio.Transport, str] = {}
        """Those that have sent no request yet, or that the server has closed, the oldest first."""

    def come(self, transport: asyncio.Transport) -> None:
        """Count a connection. If there are too many, a silent one makes room, or this one is closed."""
        peer = transport.get_extra_info("peername")
        address = address_of(str(peer[0])) if peer else ""
        if self._count[address] >= self.limits.sockets_per_address:
            self._make_room([other for other, its in self._silent.items() if its == address][:1] or [transport])
        elif len(self._open) >= self.limits.sockets:
            self._make_room(list(self._silent)[:1] or [transport])
        self._open[transport] = self._silent[transport] = address
        self._count[address] += 1

    def _make_room(self, transports: list[asyncio.Transport]) -> None:
        for transport in transports:
            transport.abort()
            self.go(transport)

    def speak(self, transport: asyncio.Transport) -> None:
        """Take note that a connection has sent a request."""
        self._silent.pop(transport, None)

    def end(self, transport: asyncio.Transport) -> None:
        """Take note that the server has closed a connection, and only waits for the other side to do the same."""
        if transport in self._open:
            self._silent[transport] = self._open[transport]

    def go(self, transport: asyncio.Transport) -> None:
        """Forget a connection that has ended."""
        self._silent.pop(transport, None)
        address = self._open.pop(transport, None)
        if address is not None:
            self._count[address] -= 1
            if not self._count[address]:
                del self._count[address]


def protocols(limits: Limits) -> tuple[type[asyncio.Protocol], type[asyncio.Protocol]]:
    """The protocols of HTTP and of WebSockets for uvicorn, with one `Door` for both."""
    door = Door(limits)

    class Http(H11Protocol):
        """Closes a connection on which no request comes."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
            super().connection_made(transport)
            door.come(transport)
            self._answered: Any = None
            self._timer = self.loop.call_later(limits.first_message, self._look)

        def _look(self) -> None:
            if self.transport.is_closing() or self.transport.get_protocol() is not self:
                return  # it has become a WebSocket
            cycle: Any = self.cycle  # None until a request has come
            if cycle is self._answered and (cycle is None or cycle.response_complete):
                self.transport.abort()
            self._answered = cycle
            self._timer = self.loop.call_later(limits.first_message, self._look)

        def handle_events(self) -> None:
            super().handle_events()
            if self.cycle is not None:
                door.speak(self.transport)

        def connection_lost(self, exc: Exception | None) -> None:
            self._timer.cancel()
            door.go(self.transport)
            super().connection_lost(exc)

    class WebSocket(WebSocketsSansIOProtocol):
        """Passes text that is no UTF-8 on as bytes, which the table refuses in words; closes who does not read."""

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            self.close_timeout = 2.0
            door.speak(self.transport)

        def send_receive_event_to_app(self) -> None:
            if self.curr_msg_data_type == "text":
                try:
                    b"".join(self.frames).decode()
                except UnicodeDecodeError:
                    self.curr_msg_data_type = "bytes"
            super().send_receive_event_to_app()

        async def send(self, message: ASGISendEvent) -> None:
            await super().send(message)
            if self.close_sent:
                door.end(self.transport)

        def handle_ping(self) -> None:
            super().handle_ping()
            if self.transport.get_write_buffer_size() > _UNREAD:
                self.transport.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            door.go(self.transport)
            super().connection_lost(exc)

    return Http, WebSocket


def fitted(limits: Limits, files: int | None = None) -> Limits:
    """The limits on connections as far as a process may have files open; `files`: None: as many as this one may."""
    room = max((_open_files() if files is None else files) - _KEPT_FILES, 12)
    if room >= limits.sockets:
        return limits
    names = ("sockets", "sockets_per_address", "connections", "connections_per_address")
    shares = {name: getattr(limits, name) * room // limits.sockets for name in names}
    return dataclasses.replace(limits, **shares)


def _open_files() -> int:
    """How many files this process may have open."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return 10**6
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 10**6 if soft == resource.RLIM_INFINITY else soft
