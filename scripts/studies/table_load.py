"""Measure the latency of the table's server under load: tables of bots, idle connections, and one person who plays.

    .venv/bin/python scripts/studies/table_load.py --bot expert

The script starts a server of its own. It prints how late the moves of the bots are, beyond the pace of their table, and
how long the person waits for the answer to a move. It exits with status 1 if one move took longer than 250 ms.

Result: docs/experiments/speed.md, "The table's server under load".
"""

import argparse
import asyncio
import contextlib
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import websockets

from okey_agents.table.web.changes import changed

LIMIT = 0.25
"""Seconds that a move may take."""
CLOCK = 15
"""Seconds of a turn at tables with a clock; the bank of each round comes on top."""
PACES = {"normal": 0.7, "fast": 0.25}


class Connection:
    """One connection to the server."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.view: dict[str, Any] = {}

    async def open(self) -> "Connection":
        """Connect, and receive the welcome."""
        origin: Any = f"http://{self.address}"
        self.socket = await websockets.connect(f"ws://{self.address}/socket", origin=origin)
        await self.socket.recv()
        await self.send("hello")
        return self

    async def send(self, kind: str, **message: Any) -> None:
        """Send a message of this type."""
        await self.socket.send(json.dumps({"type": kind, **message}))

    async def next_view(self) -> dict[str, Any]:
        """The next view of the table."""
        while True:
            message = json.loads(await self.socket.recv())
            if message["type"] == "error":
                raise RuntimeError(message["text"])
            if message["type"] in ("view", "change"):
                self.view = message if message["type"] == "view" else changed(self.view, message)
                return self.view


async def watch(address: str, bot: str, pace: str, wait: float, until: float, late: list[float]) -> None:
    """Set up a table of four bots after `wait` seconds; append to `late` by how many seconds each move is late."""
    await asyncio.sleep(wait)
    connection = await Connection(address).open()
    await connection.send("create", name="watcher", settings={"seats": [bot] * 4, "pace": pace})
    before, moved = await connection.next_view(), time.monotonic()
    while time.monotonic() < until:
        if before["stage"] == "round_over" or before["stage"] == "match_over":
            await connection.send("ready")
        view, now = await connection.next_view(), time.monotonic()
        if view["moves"] == before["moves"] + 1:
            late.append(now - moved - PACES[pace])
        before, moved = view, now


async def play(address: str, bot: str, until: float, waits: list[float]) -> None:
    """Play as a person against three fast bots; append to `waits` the seconds until each own move is answered."""
    rng = random.Random(1)
    connection = await Connection(address).open()
    await connection.send("create", name="person", settings={"seats": ["person", bot, bot, bot], "pace": "fast"})
    view = await connection.next_view()
    while time.monotonic() < until:
        if view["stage"] != "play":
            await connection.send("ready")
        elif view["round"]["turn"] == view["you"]:
            tiles = [tile for tile in view["round"]["rack"] if tile]
            action = "draw" if view["round"]["phase"] == "draw" else f"throw {rng.choice(tiles)}"
            started, moves = time.monotonic(), view["moves"]
            await connection.send("act", action=action, at=moves)
            while view["moves"] == moves:
                view = await connection.next_view()
            waits.append(time.monotonic() - started)
            await asyncio.sleep(0.2)
            continue
        view = await connection.next_view()


async def dawdle(address: str, bot: str, wait: float, until: float, late: list[float]) -> None:
    """Sit at a table with a clock and do nothing; append to `late` how long after the time a bot has moved."""
    await asyncio.sleep(wait)
    connection = await Connection(address).open()
    settings = {"seats": ["person", bot, bot, bot], "pace": "fast", "clock": CLOCK}
    await connection.send("create", name="idle", settings=settings)
    view, counted = await connection.next_view(), 0.0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(until - time.monotonic()):
            while True:
                before, view = view, await connection.next_view()
                due = (before["clock"]["at"] + before["clock"]["for"]) / 1000 if before["clock"] else counted
                if before["stage"] == "play" and view["moves"] == before["moves"] + 1 and due != counted:
                    late.append(time.time() - due - PACES["fast"])
                    counted = due
                if view["stage"] == "match_over":
                    await connection.send("ready")
                elif view["stage"] == "play" and view["seats"][0]["bot_plays"] and not before["seats"][0]["bot_plays"]:
                    await connection.send("hello")  # so that the next clock runs out as well


async def warm_up(address: str, bot: str) -> None:
    """Let bots and coach load their kernels, which are compiled at the first start: that time is not measured."""
    connection = await Connection(address).open()
    await connection.send("create", name="first", settings={"seats": [bot] * 4, "pace": "instant"})
    while (await connection.next_view())["moves"] < 20:
        pass
    await connection.send("create", name="first", settings={"seats": ["person", bot, bot, bot], "pace": "instant"})
    view = await connection.next_view()
    while view["round"]["turn"] != view["you"]:
        view = await connection.next_view()
    await connection.send("hint")
    while json.loads(await connection.socket.recv())["type"] != "hint":
        pass
    await connection.socket.close()


async def load(address: str, arguments: argparse.Namespace) -> list[list[float]]:
    """Run all tables and people; returns the seconds by which bots were late, people waited, and clocks were late."""
    await warm_up(address, arguments.bot)
    idle = [await Connection(address).open() for _ in range(arguments.idle)]
    until = time.monotonic() + arguments.seconds
    late: list[float] = []
    waits: list[float] = []
    clocks: list[float] = []
    tables = [  # begin one after another, as people do
        watch(address, arguments.bot, arguments.pace, PACES[arguments.pace] * i / arguments.tables, until, late)
        for i in range(arguments.tables)
    ]
    idlers = [
        dawdle(address, arguments.bot, CLOCK * i / arguments.clocks, until, clocks) for i in range(arguments.clocks)
    ]
    await asyncio.gather(*tables, *idlers, play(address, arguments.bot, until, waits))
    for connection in idle:
        await connection.socket.close()
    return [late, waits, clocks]


def main() -> int:
    """Start a server, load it, and print the latencies; 1 if a move took longer than `LIMIT`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=50, help="tables of four bots (%(default)s)")
    parser.add_argument("--idle", type=int, default=200, help="connections that do nothing (%(default)s)")
    parser.add_argument("--clocks", type=int, default=0, help="tables where a person's clock runs out (%(default)s)")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--bot", default="greedy")
    parser.add_argument("--pace", choices=PACES, default="normal")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as data:
        command = ["play", "--no-browser", "--port", "0", "--data", data]
        server = subprocess.Popen(
            [sys.executable, "-c", "from okey_agents.cli import main; main()", *command],
            cwd=Path(__file__).resolve().parents[2],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stdout is not None
            found = re.search(r"http://([^/]+)/", server.stdout.readline())
            if found is None:
                raise RuntimeError("the server has not printed its address")
            found_times = asyncio.run(load(found[1], arguments))
        finally:
            server.terminate()
            server.wait()
    print(f"{arguments.tables} tables of {arguments.bot}, {arguments.idle} idle connections, {arguments.seconds:g} s")
    names = ("bots' moves late by", "a person's moves answered in", "moves after the end of a clock late by")
    for name, times in zip(names, found_times, strict=True):
        times.sort()
        if not times:
            continue
        middle, high = times[len(times) // 2], times[int(len(times) * 0.99)]
        shown = [f"{1e3 * seconds:.1f} ms" for seconds in (middle, high, times[-1])]
        print(f"{name}: median {shown[0]}, p99 {shown[1]}, at most {shown[2]} ({len(times)} moves)")
    return int(max(times[-1] for times in found_times if times) > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
