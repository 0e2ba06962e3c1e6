"""Serves the table until it is interrupted."""

import asyncio
import contextlib
import socket
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path

import uvicorn

from okey_agents.table.web.house import House
from okey_agents.table.web.server import make_app
from okey_env.bots import BotSpec, make_bot

_FRAME = 64 * 1024
"""Bytes of a message at which a connection is closed; the house's own limit answers long before."""


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

    Raises:
        OSError: the address cannot be had.
        ValueError: a bot cannot be loaded, or the file of tables is none.
    """
    for spec in bots.values():
        make_bot(spec)  # a folder that holds no bot is named now, not in the middle of a game
    with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
        port = listener.getsockname()[1]
        house = House(data, bots, processes=True)
        shown = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{port}/"
        print(f"The table is at {address} (Ctrl-C ends it; tables are kept in {data})", flush=True)
        app = make_app(house, {*names, host})
        config = uvicorn.Config(
            app,
            ws="websockets-sansio",
            ws_max_size=_FRAME,
            ws_per_message_deflate=False,
            log_level="warning",
            lifespan="on",
        )
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_serve(uvicorn.Server(config), listener, address if browser else None))


async def _serve(server: uvicorn.Server, listener: socket.socket, address: str | None) -> None:
    task = asyncio.create_task(server.serve([listener]))
    while not (server.started or task.done()):
        await asyncio.sleep(0.01)
    if address is not None and server.started:
        await asyncio.to_thread(webbrowser.open, address)
    await task
