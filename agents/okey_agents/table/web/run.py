"""Serves the page until the process is interrupted."""

import asyncio
import contextlib
import socket
import webbrowser
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import uvicorn

from okey_agents.table.web.addresses import page_at, print_qr, reachable
from okey_agents.table.web.app import make_app
from okey_agents.table.web.door import Listener, fitted, protocols
from okey_agents.table.web.table_server import Limits, TableServer
from okey_env.bots import BotSpec, make_bot

_FRAME = 64 * 1024
"""Bytes of a message at which a connection is closed. The limit of `TableServer` refuses shorter messages first."""
_LAST_SECONDS = 5
"""Seconds that pages have to close their connections when the server ends."""
_BACKLOG = 128
"""Connections that wait to be accepted."""


class CannotListenError(Exception):
    """The address is in use, or does not exist here."""


def serve(
    host: str,
    port: int,
    data: Path | None,
    bots: Mapping[str, BotSpec],
    names: Sequence[str] = (),
    *,
    browser: bool = True,
) -> None:
    """Serve the page at an address until the process is interrupted.

    Args:
        host: the address to listen on.
        port: 0: any free one.
        data: folder for kept tables and records; None: nothing is kept.
        bots: further bots by name, beside the installed ones.
        names: as `hosts` of `make_app`.
        browser: whether to open the page.

    Raises:
        CannotListenError: the address is in use or does not exist here.
        ValueError: a bot cannot be loaded, the file of tables is not one, or another server uses the folder.
        OSError: the folder cannot be written.
    """
    for spec in bots.values():
        make_bot(spec)  # so that a folder without a bot is reported now, and not in the middle of a game
    with listening(host, port) as listener:
        port = listener.getsockname()[1]
        tables = TableServer(data, bots, fitted(Limits()), processes=True)
        tables.addresses = reachable(host, port)
        address = page_at({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port)
        print(f"The table is at {address} (Ctrl-C ends it; tables are kept in {data})", flush=True)
        if tables.addresses:
            print("Others reach it at", *tables.addresses, flush=True)
            print_qr(tables.addresses[0])
        server = uvicorn.Server(configuration(tables, {*names, host}))
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_serve(server, listener, address if browser else None))


def listening(host: str, port: int) -> Listener:
    """A socket that listens at an address.

    Raises:
        CannotListenError: the address is in use or does not exist here; the sentence names it.
    """
    try:
        if not host:
            raise ValueError("expected an address, or a name of this machine")
        if not 0 <= port <= 65_535:
            raise ValueError("expected a port from 0 to 65535")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return Listener(fileno=socket.create_server((host, port), family=family, backlog=_BACKLOG).detach())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CannotListenError(f"cannot listen on host {host!r}, port {port}: {reason}") from None


def configuration(tables: TableServer, names: Collection[str] = ()) -> uvicorn.Config:
    """How uvicorn serves the tables; `names` as `hosts` of `make_app`."""
    http, websocket = protocols(tables.limits)
    return uvicorn.Config(
        make_app(tables, names),
        http=http,
        ws=websocket,
        ws_max_size=_FRAME,
        ws_per_message_deflate=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_LAST_SECONDS,
        log_level="error",
        lifespan="on",
    )


async def _serve(server: uvicorn.Server, listener: Listener, address: str | None) -> None:
    task = asyncio.create_task(server.serve([listener]))
    while not (server.started or task.done()):
        await asyncio.sleep(0.01)
    if address is not None and server.started:
        await asyncio.to_thread(webbrowser.open, address)
    await task
