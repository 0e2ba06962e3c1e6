"""A hostile client: floods, silence, and messages that are no messages. The table goes on, and the log stays short."""

import base64
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any, ClassVar
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from okey_agents.table.web.app import make_app
from okey_agents.table.web.door import fitted
from okey_agents.table.web.guests import Guests, address_of
from okey_agents.table.web.refusal import Refused
from okey_agents.table.web.table_server import Limits, TableServer
from tests.okey_agents.table.playing import ORIGIN, Player, local_server
from tests.okey_agents.table.serving import serving


class Wire:
    """A client below all libraries, which can also send what they would not."""

    opened: ClassVar[list[socket.socket]] = []

    def __init__(self, url: str) -> None:
        self.host = urlsplit(url).netloc
        host, port = self.host.split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=20)
        self.opened.append(self.socket)
        self._data = b""

    def greet(self) -> str:
        """Ask for a WebSocket; returns the status line."""
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /socket HTTP/1.1\r\nHost: {self.host}\r\nOrigin: http://{self.host}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        while b"\r\n\r\n" not in self._data:
            self._more()
        head, _, self._data = self._data.partition(b"\r\n\r\n")
        return head.split(b"\r\n")[0].decode()

    def send(self, data: bytes, opcode: int = 1) -> None:
        """Send a frame."""
        length = len(data)
        head = bytes([0x80 | opcode])
        if length < 126:
            head += bytes([0x80 | length])
        elif length < 65536:
            head += bytes([0x80 | 126]) + length.to_bytes(2, "big")
        else:
            head += bytes([0x80 | 127]) + length.to_bytes(8, "big")
        self.socket.sendall(head + b"\0\0\0\0" + data)  # masked with zeros

    def say(self, kind: str, **message: Any) -> None:
        """Send a message."""
        self.send(json.dumps({"type": kind, **message}).encode())

    def hear(self) -> tuple[int, bytes]:
        """The opcode and the data of the next frame."""
        while True:
            if len(self._data) >= 2:
                start, length = 2, self._data[1]
                if length == 126:
                    start, length = 4, int.from_bytes(self._data[2:4], "big")
                if len(self._data) >= start + length:
                    frame = self._data[0] & 15, self._data[start : start + length]
                    self._data = self._data[start + length :]
                    if frame[0] != 9:
                        return frame
                    self.send(frame[1], 10)  # a ping is answered by a pong
                    continue
            self._more()

    def wait_for(self, kind: str) -> dict[str, Any]:
        """The next message of a type."""
        while True:
            opcode, data = self.hear()
            if opcode == 8:
                raise EOFError(f"closed with {int.from_bytes(data[:2], 'big')}")
            message: dict[str, Any] = json.loads(data) if opcode == 1 else {"type": ""}
            if message["type"] == kind:
                return message

    def _more(self) -> None:
        data = self.socket.recv(65536)
        if not data:
            raise EOFError("the server has closed the connection")
        self._data += data

    def is_closed(self) -> bool:
        """Wait until the server closes the connection."""
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                self.hear()
        return True


@contextlib.contextmanager
def served(**limits: Any) -> Iterator[tuple[TableServer, str]]:
    tables = TableServer(limits=Limits(**limits), worlds=0)
    with serving(tables) as url:
        while not tables.ready.is_set():
            time.sleep(0.01)
        yield tables, url
        while Wire.opened:
            Wire.opened.pop().close()


def plays(url: str) -> None:
    """Somebody connects, sets up a table and makes a move."""
    wire = Wire(url)
    assert wire.greet() == "HTTP/1.1 101 Switching Protocols"
    wire.say("create", name="Ayşe", settings={"seats": ["person", "greedy", "greedy", "greedy"]})
    view = wire.wait_for("view")
    assert view["stage"] == "play"
    if view["round"]["turn"] == 0:
        wire.say("act", action=f"throw {view['round']['rack'][0]}", at=0)
        assert wire.wait_for("change")["set"]["moves"] == 1


def test_connections_that_say_nothing_shut_nobody_out(caplog: pytest.LogCaptureFixture) -> None:
    with served(sockets=40, sockets_per_address=30, connections=15, connections_per_address=10) as (tables, url):
        silent = [Wire(url) for _ in range(60)]
        plays(url)
        waiting = []
        for _ in range(40):
            wire = Wire(url)
            assert wire.greet().endswith("101 Switching Protocols")
            waiting.append(wire)
        plays(url)
        assert len(tables.guests) <= 10
        assert sum(wire.is_closed() for wire in silent[:30]) == 30
    assert caplog.records == []


def test_who_sits_is_not_closed_for_who_comes() -> None:
    limits = Limits(connections=3, connections_per_address=3)
    with local_server(limits=limits) as server, server.player() as first, server.player() as second:
        first.create()
        second.create()
        for _ in range(3):  # each takes the place of the one before
            with server.player():
                pass
        with server.player() as third:
            third.create()
            with server.client.websocket_connect("/socket", headers=ORIGIN) as fourth:
                assert json.loads(fourth.receive_text())["code"] == "too_many_connections"
            first.send("whole")
            assert first.wait_for("view")["you"] == 0


def test_who_says_nothing_is_closed_and_a_page_that_says_hello_is_not(caplog: pytest.LogCaptureFixture) -> None:
    with served(first_message=1.0) as (_, url):
        page = Wire(url)
        page.greet()
        page.say("hello")
        raw, half, silent = Wire(url), Wire(url), Wire(url)
        half.socket.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        silent.greet()
        assert silent.wait_for("error")["code"] == "silent"
        assert all(wire.is_closed() for wire in (raw, half, silent))
        page.say("create", name="Ayşe")
        assert page.wait_for("view")
        kept = Wire(url)
        kept.socket.sendall(b"GET /words.js HTTP/1.1\r\nHost: x\r\n\r\n")  # answered, and then nothing more comes
        assert kept.socket.recv(10) == b"HTTP/1.1 2"
    assert caplog.records == []


def test_a_flooder_is_closed_and_refused_for_a_while() -> None:
    with served(burst=10, tolerance=10, back_off=3.0, messages_per_second=0.001) as (_, url):
        player, flooder = Wire(url), Wire(url)
        player.greet()
        player.say("create", name="Ayşe")
        assert player.wait_for("view")
        flooder.greet()
        started = time.monotonic()
        for _ in range(200):
            with contextlib.suppress(OSError):
                flooder.say("nothing")
        heard = []
        with contextlib.suppress(EOFError, OSError):
            while True:
                heard.append(flooder.wait_for("error")["code"])
        assert heard[:11] == ["malformed"] * 10 + ["too_fast"]
        assert set(heard[10:-1]) == {"too_fast"}
        assert heard[-1] == "flood"
        assert len(heard) < 100
        again = Wire(url)
        assert again.greet() == "HTTP/1.1 403 Forbidden"
        player.say("whole")  # who sits plays on, also from that address
        assert player.wait_for("view")
        while Wire(url).greet() == "HTTP/1.1 403 Forbidden":
            assert time.monotonic() < started + 30
            time.sleep(0.1)
        assert time.monotonic() > started + 2


def test_the_back_off_grows_up_to_a_bound_and_is_forgiven(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    guests = Guests(Limits(back_off=1.0, most_back_off=10.0))
    waits = []
    for _ in range(6):
        guests.offend("192.0.2.7")
        started = now[0]
        while guests.refused("192.0.2.7"):
            now[0] += 0.5
        waits.append(now[0] - started)
        assert not guests.refused("192.0.2.8")
    assert waits == [1, 2, 4, 8, 10, 10]
    now[0] += 100
    guests.offend("192.0.2.7")
    now[0] += 1
    assert not guests.refused("192.0.2.7")
    for i in range(5000):
        guests.offend(f"host {i}")
    assert len(guests._offences) == 1000


def test_addresses_are_counted_by_person() -> None:
    assert address_of("2001:db8:1:2::7") == address_of("2001:db8:1:2:aaaa::9") != address_of("2001:db8:1:3::7")
    assert address_of("::ffff:192.0.2.7") == "192.0.2.7"
    assert address_of("::1") == "::1"
    assert address_of("fe80::1%eth0") == address_of("fe80::2%eth0")


def test_an_address_takes_the_place_of_its_own_connections_first() -> None:
    class Somebody:
        def __init__(self, address: str, *, seated: bool = False) -> None:
            self.address, self.seated, self.heard = address, seated, ""

        def close(self, code: str, text: str) -> None:
            self.heard = code

    guests = Guests(Limits(connections=6, connections_per_address=4))
    people = [Somebody("here", seated=True), Somebody("there")]
    flood = [Somebody("flood") for _ in range(30)]
    for guest in (*people, *flood):
        guests.enter(guest)
    assert [guest.heard for guest in people] == ["", ""]
    assert [guest.heard for guest in flood] == ["too_many_connections"] * 26 + [""] * 4
    for guest in flood[-4:]:
        guest.seated = True
    with pytest.raises(Refused):
        guests.enter(Somebody("flood"))
    guests.enter(new := Somebody("new"))  # there is one idle connection
    assert people[1].heard == "too_many_connections"
    assert new.heard == ""


def test_tables_for_an_address_are_counted_for_it_alone() -> None:
    tables = TableServer(limits=Limits(tables_per_address=2, tables_per_connection=9), worlds=0)
    app = make_app(tables, {"testserver"})
    with TestClient(app, client=("192.0.2.7", 1)) as here:
        there = TestClient(app, client=("192.0.2.8", 1))
        with here.websocket_connect("/socket", headers=ORIGIN) as first:
            player = Player(first)
            player.create()
            player.create()
            assert player.refused("create")["code"] == "too_many_tables"
            there.portal = here.portal
            with there.websocket_connect("/socket", headers=ORIGIN) as second:
                assert Player(second).create()["stage"] == "play"


def test_a_process_that_may_open_few_files_has_smaller_limits_in_the_same_proportion() -> None:
    assert fitted(Limits(), 1024) == Limits()
    small = fitted(Limits(), 220)
    assert (small.sockets, small.sockets_per_address) == (120, 90)
    assert (small.connections, small.connections_per_address) == (80, 60)
    assert fitted(Limits(), 0).connections_per_address > 0


def test_of_several_pages_for_one_seat_the_newest_plays() -> None:
    with local_server() as server, server.player() as first:
        first.create()
        with server.player() as second:
            second.send("sit", token=first.token)
            second.wait_for("view")
            assert first.wait_for("error")["code"] == "elsewhere"
            with pytest.raises(WebSocketDisconnect):
                first.hear()
            second.until_my_turn()
            tile = next(filter(None, second.round["rack"]))
            second.act("draw" if second.round["phase"] == "draw" else f"throw {tile}")
            assert second.hear()["type"] == "view"
            [session] = server.tables.sessions.values()
            assert session.table.seats[0].here == 1


@pytest.mark.heavy
def test_a_server_without_files_turns_people_away_and_goes_on() -> None:
    """No traceback for a connection for which there is no file; and when files are free again, all is well."""
    script = """
import asyncio, resource
from okey_agents.table.web.run import listening
async def main():
    listener = listening("127.0.0.1", 0)
    async def hear(reader, writer):
        writer.write(await reader.readline())
        await writer.drain()
        await reader.read()
        writer.close()
    server = await asyncio.start_server(hear, sock=listener)
    resource.setrlimit(resource.RLIMIT_NOFILE, (30, 4096))
    print(listener.getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        port = int(child.stdout.readline())
        crowd = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(100)]
        assert sum(wire.recv(1) == b"" for wire in crowd[50:]) == 50  # turned away
        for wire in crowd:
            wire.close()
        answer = b""
        for _ in range(100):
            with socket.create_connection(("127.0.0.1", port), timeout=20) as wire, contextlib.suppress(OSError):
                wire.sendall(b"hello\n")
                answer = wire.recv(6)
            if answer:
                break
            time.sleep(0.1)
        child.kill()
        assert answer == b"hello\n"
        assert child.stderr.read() == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (r'{"type": "sit", "token": "\ud800"}', "surrogate"),
        (r'{"type": "join", "invite": "a\udfffb", "name": "x"}', "surrogate"),
        (r'{"type": "create", "name": "\ud83d"}', "surrogate"),
        (r'{"type": "create", "settings": {"\ud800": 1}}', "surrogate"),
        (r'{"type": "\ud800"}', "surrogate"),
        ('{"type": "act", "at": 1e400}', "number"),
        ('{"type": "act", "at": 1.0}', "number"),
        ('{"type": "act", "at": -0.0}', "number"),
        ('{"type": "act", "at": NaN}', "number"),
        ('{"type": "act", "at": -Infinity}', "number"),
        ('{"type": "act", "at": ' + "9" * 4000 + "}", "number"),
        ('{"type": "act", "at": 9007199254740993}', "number"),
        ('{"type": "sit", "type": "join"}', "twice"),
        ('{"type": "create", "settings": {"pace": "fast", "pace": "slow"}}', "twice"),
        ('{"type": "create", "settings": ' + "[" * 20 + "]" * 20 + "}", "nested"),
        ('{"type": "create", "x": ' + '{"a":' * 600 + "1" + "}" * 600 + "}", "nested"),
        ("[" * 4000, "JSON"),
        ('{"a":' * 800, "JSON"),
        ("\x00", "JSON"),
        ("[{}]", "type"),
        ('{"type": null}', "type"),
        ('{"type": "' + "x" * 4000 + '"}', "no message of type"),
        ('{"type": "create", "settings": {"preset": "' + "x" * 4000 + '"}}', "preset"),
        ('{"type": "create", "settings": {"switches": {"preset": "klasik"}}}', "preset"),
        ('{"type": "create", "settings": {"switches": {"name": "x"}}}', "name"),
        ('{"type": "create", "settings": {"switches": {"rules": 1}}}', "rules"),
        ('{"type": "create", "settings": {"switches": {"teams": 1}}}', "teams"),
        ('{"type": "create", "settings": {"switches": {"start_points": true}}}', "start_points"),
        ('{"type": "create", "settings": {"seats": "person"}}', "seats"),
    ],
)
def test_what_a_browser_would_not_write_is_refused_in_few_words(
    text: str, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    with local_server() as server, server.player() as player:
        player.session.send_text(text)
        error = player.hear()
        assert (error["type"], error["code"]) in [("error", "malformed"), ("error", "bad_settings")]
        assert says in error["text"]
        assert len(player.heard[-1]) < 500
        assert not server.tables.sessions
        assert player.create()
    assert caplog.records == []


WRONG: list[Any] = [
    None,
    True,
    -1,
    2**53,
    "",
    "x",
    "\u0000",
    [],
    [None],
    [[]],
    {},
    {"a": []},
    "R1",
    ["R1"] * 30,
    [0] * 30,
]


def test_every_field_of_every_message_with_every_wrong_type(caplog: pytest.LogCaptureFixture) -> None:
    """Each gets a small answer in words or does nothing, and the server never says that it made a mistake."""
    fields: dict[str, list[str]] = {
        "hello": ["x"],
        "act": ["action", "at", "place"],
        "arrange": ["places", "down"],
        "replay": ["round"],
        "sit": ["token"],
        "join": ["invite", "name"],
        "create": ["name", "settings"],
        "start": ["x"],
        "ready": ["x"],
        "record": ["x"],
        "invitation": ["link"],
        "games": ["me", "ask", "record", "round"],
    }
    settings = ["preset", "switches", "rack_check", "pace", "clock", "seats"]
    with local_server() as server, server.player() as player:
        rack = player.create()["round"]["rack"]
        moves = server.tables.sessions[player.view["table"]].table.moves
        good = {
            "action": "draw",
            "at": moves + 99,
            "places": rack,
            "down": [],
            "round": 1,
            "me": "x" * 20,
            "ask": "replay",
        }
        for kind, names in fields.items():
            for name in names:
                for wrong in WRONG:
                    if kind == "create" and name == "settings" and wrong == {}:
                        continue
                    given = {key: value for key, value in good.items() if key in names}
                    player.send(kind, **{**given, name: wrong})
        for name in settings:
            for wrong in WRONG:
                if name != "switches" or wrong != {}:
                    player.send("create", name="x", settings={name: wrong})
        before = len(player.heard)
        player.send("last")
        while "last" not in player.hear().get("text", ""):
            pass
        answers = [json.loads(text) for text in player.heard[before:]]
        assert {answer["code"] for answer in answers if answer["type"] == "error"} >= {"malformed", "bad_settings"}
        assert all(answer["code"] != "internal" for answer in answers if answer["type"] == "error")
        assert max(len(text) for text in player.heard[before:] if '"error"' in text[:20]) < 500
    assert caplog.records == []


def test_frames_that_are_no_text(caplog: pytest.LogCaptureFixture) -> None:
    with served(back_off=10.0) as (_, url):
        wire = Wire(url)
        wire.greet()
        for data, opcode in ((b'{"type": "sit", "token": "\xff\xfe"}', 1), (b"\xed\xa0\x80", 1), (b"{}", 2), (b"", 2)):
            wire.send(data, opcode)
            assert wire.wait_for("error")["code"] == "malformed"
        wire.say("create", name="Ayşe")
        assert wire.wait_for("view")
        big = Wire(url)
        big.greet()
        with contextlib.suppress(OSError):
            big.send(b"x" * 100_000)
        assert big.is_closed()
        assert Wire(url).greet() == "HTTP/1.1 403 Forbidden"  # for a moment
    assert caplog.records == []


def test_no_host_is_allowed_that_only_tests_have() -> None:
    with (
        TestClient(make_app(TableServer(worlds=0))) as client,
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect("/socket", headers=ORIGIN),
    ):
        pass
