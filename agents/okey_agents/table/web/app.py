"""The web server of the tables: the page as files, and one WebSocket for everything else (`connection`)."""

import contextlib
import ipaddress
from collections.abc import AsyncIterator, Collection, Mapping
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from okey_agents.table.web.connection import Connection
from okey_agents.table.web.table_server import TableServer

STATIC = Path(__file__).parent / "static"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
    ),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-cache"),
]


def make_app(server: TableServer, hosts: Collection[str] = ()) -> Starlette:
    """The web server as an application.

    Args:
        server: the tables.
        hosts: names under which browsers may connect, in addition to loopback's names and plain addresses. A page of
            another origin may not connect, whatever name it has made point here.
    """
    allowed = _LOOPBACK | {name.lower() for name in hosts}

    async def socket(websocket: WebSocket) -> None:
        if same_origin(websocket.headers, allowed):
            await Connection(server, websocket).serve()
        else:
            await websocket.close(1008)  # before the handshake: the browser gets a 403

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await server.open()
        yield
        await server.close()

    async def host(request: Request) -> Response:
        """Whether the page may connect under its name: the answer to a handshake cannot say so to the page."""
        return Response(status_code=204 if is_allowed(request.headers.get("host", ""), allowed) else 403)

    routes = [
        WebSocketRoute("/socket", socket),
        Route("/host", host),
        Mount("/", _WithHeaders(StaticFiles(directory=STATIC, html=True))),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


class _WithHeaders:
    """The files, with headers that forbid other pages to embed or extend them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        await self._app(scope, receive, send_with_headers)


def same_origin(headers: Mapping[str, str], allowed: Collection[str]) -> bool:
    """Whether a handshake comes from the server's own page, under a name that is allowed or a plain address.

    >>> same_origin({"origin": "http://127.0.0.1:8000", "host": "127.0.0.1:8000"}, {"127.0.0.1"})
    True
    >>> same_origin({"origin": "http://evil.example", "host": "127.0.0.1:8000"}, {"127.0.0.1"})
    False
    """
    host = headers.get("host", "")
    return headers.get("origin") in (f"http://{host}", f"https://{host}") and is_allowed(host, allowed)


def is_allowed(host: str, allowed: Collection[str]) -> bool:
    """Whether browsers may connect under the name in a header `Host`: one that is allowed, or a plain address."""
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    name = name.strip("[]").lower()
    if name in allowed:
        return True
    try:  # no other site can have a plain address as its name
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
