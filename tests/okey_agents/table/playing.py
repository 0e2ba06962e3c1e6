"""A table's server without a network, and a player who talks to it; for tests."""

import contextlib
import itertools
import json
import time
from collections.abc import Iterator
from typing import Any

from starlette.testclient import TestClient, WebSocketTestSession

from okey_agents.table.web.app import make_app
from okey_agents.table.web.changes import changed
from okey_agents.table.web.table_server import Limits, TableServer

ORIGIN = {"origin": "http://testserver"}
AT_ONCE = Limits(grace=0.0, messages_per_second=1e6, burst=10**6, tolerance=10**6)
"""Limits under which nobody waits."""


class Player:
    """One connection to the server, seen from the browser's side."""

    def __init__(self, session: WebSocketTestSession) -> None:
        self.session = session
        self.heard: list[str] = []
        """Every message as it came over the wire."""
        self.view: dict[str, Any] = {}
        self.token = ""

    def send(self, kind: str, **message: Any) -> None:
        self.session.send_text(json.dumps({"type": kind, **message}))

    def hear(self) -> dict[str, Any]:
        self.heard.append(self.session.receive_text())
        message: dict[str, Any] = json.loads(self.heard[-1])
        if message["type"] == "view":
            self.view = message
        elif message["type"] == "change":
            assert message["version"] == self.view["version"] + 1
            self.view = message = changed(self.view, message)
        elif message["type"] == "seated":
            self.token = message["token"]
        return message

    def wait_for(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The next message of a type, and with these fields."""
        for _ in range(2000):
            message = self.hear()
            if message["type"] == kind and all(message.get(key) == value for key, value in fields.items()):
                return message
        raise AssertionError(f"no {kind} with {fields}")

    def refused(self, kind: str, **message: Any) -> dict[str, Any]:
        """What the server answers to a message that it refuses."""
        self.send(kind, **message)
        return self.wait_for("error")

    def create(self, seats: list[str] | None = None, name: str = "Ayşe", **settings: Any) -> dict[str, Any]:
        seats = seats or ["person", "greedy", "greedy", "greedy"]
        self.send("create", name=name, settings={"pace": "instant", "seats": seats, **settings})
        return self.wait_for("view")

    def act(self, action: str, place: int | None = None, at: int | None = None) -> None:
        self.send("act", action=action, at=self.view["moves"] if at is None else at, place=place)

    @property
    def round(self) -> dict[str, Any]:
        view: dict[str, Any] = self.view["round"]
        return view

    @property
    def my_turn(self) -> bool:
        return bool(self.view["stage"] == "play" and self.round["turn"] == self.view["you"])

    def until_my_turn(self) -> None:
        """Hear the server out until it is this player's turn, or the round is over."""
        while not (self.my_turn or self.view["stage"] in ("round_over", "match_over")):
            self.hear()

    def play_round(self) -> None:
        """Play on, throwing the last tile of the rack, until the round is over."""
        while True:
            self.until_my_turn()
            if self.view["stage"] != "play":
                return
            tiles = [tile for tile in self.round["rack"] if tile]
            self.act("draw" if self.round["phase"] == "draw" else f"throw {tiles[-1]}")
            self.wait_for("view")


class LocalServer:
    """A server in this process, and its tables."""

    def __init__(self, tables: TableServer) -> None:
        self.tables = tables
        self.client = TestClient(make_app(tables, {"testserver"}))

    @contextlib.contextmanager
    def player(self, headers: dict[str, str] | None = None) -> Iterator[Player]:
        with self.client.websocket_connect("/socket", headers=headers or ORIGIN) as session:
            player = Player(session)
            assert player.hear()["type"] == "welcome"
            while not self.tables.ready.is_set():
                time.sleep(0.01)
            yield player


@contextlib.contextmanager
def local_server(**options: Any) -> Iterator[LocalServer]:
    """A server that is up; its deals are the same in every run."""
    seeds = itertools.count(7_000_000_000_000_001).__next__
    server = LocalServer(TableServer(**{"limits": AT_ONCE, "worlds": 0, "new_seed": seeds, **options}))
    with server.client:
        yield server
