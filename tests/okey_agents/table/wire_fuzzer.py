"""Talks to the tables as players and strangers would, well and badly, and checks what must hold after each message.

- No traceback and no warning is logged, no message is unheard, and nobody is told of a mistake of the server.
- What a browser has been told, view by view and change by change, is what its seat may see now.
- That, and the sentence of a refusal, stays the same when the tiles that the seat cannot see are dealt again.
- A message that is refused changes nothing.
- Tables and connections stay within the limits; the record of a match is given out after its end only.

A block is one server with some tables, and follows from its number apart from the time that bots take.
"""

import asyncio
import collections
import copy
import itertools
import json
import logging
import random
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.websockets import WebSocket

from okey_agents.table.web import views
from okey_agents.table.web.changes import changed
from okey_agents.table.web.connection import Connection
from okey_agents.table.web.refusal import Refused
from okey_agents.table.web.table import Table
from okey_agents.table.web.table_server import Limits, Session, TableServer
from okey_env import actions, make_bot, worlds
from okey_env.rules import PRESETS
from tests.lockstep import random_rules

LIMITS = Limits(
    tables=8, connections=30, grace=0.0, messages_per_second=1e6, burst=10**6, back_off=0.02, most_back_off=0.05
)
TOLD = frozenset(
    {"welcome", "seated", "view", "change", "error", "left", "hint", "replay", "record", "wait", "games", "invitation"}
)
_HOME, _AWAY = "192.0.2.1", "198.51.100.7"
_TURNS = 40
"""Turns of the event loop after a message: more than the server takes to answer what needs no bot."""
_TRAIL = 25
_GREEDY = make_bot("greedy", 1)
_ME = ("m" * 32, "n" * 32, "short", None)
"""Secrets of browsers, right and wrong."""


class FaultError(AssertionError):
    """Something that must not happen."""


class Browser:
    """One connection, below HTTP, and what it knows."""

    def __init__(
        self, server: TableServer, host: str, tell: Callable[[str], None], told: collections.Counter[str]
    ) -> None:
        self.host, self._tell, self.told = host, tell, told
        self.inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.inbox.put_nowait({"type": "websocket.connect"})
        self.open, self.greeted = True, False
        self.view: dict[str, Any] | None = None
        self.token: str | None = None
        self.errors: list[dict[str, Any]] = []
        scope = {"type": "websocket", "path": "/socket", "headers": [], "client": (host, 1), "subprotocols": []}
        self.connection = Connection(server, WebSocket(scope, self.inbox.get, self._hear))
        self.task = asyncio.create_task(self.connection.serve())

    def say(self, text: str | bytes) -> None:
        kind = "text" if isinstance(text, str) else "bytes"
        self.inbox.put_nowait({"type": "websocket.receive", kind: text})

    def close(self) -> None:
        self.inbox.put_nowait({"type": "websocket.disconnect", "code": 1001})

    @property
    def settled(self) -> bool:
        """Whether nothing is on its way."""
        return self.inbox.empty() and self.connection._outbox.empty()

    @property
    def session(self) -> Session | None:
        return self.connection._session

    async def _hear(self, message: Any) -> None:
        if message["type"] == "websocket.close":
            self.open = False
        elif message["type"] == "websocket.send":
            try:
                told = json.loads(message["text"])
                self.told[told.get("code", "error") if told["type"] == "error" else told["type"]] += 1
                self._read(told)
            except Exception as error:
                self._tell(f"a browser could not read {message['text'][:200]}: {error!r}")

    def _read(self, message: dict[str, Any]) -> None:
        kind = message["type"]
        if kind not in TOLD:
            raise FaultError(f"nobody knows the message {kind}")
        if kind == "view":
            self.view = message
        elif kind == "change":
            if self.view is None or message["version"] != self.view["version"] + 1:
                raise FaultError("a change is missing")
            self.view = changed(self.view, message)
        elif kind == "seated":
            self.token = message["token"]
        elif kind == "left":
            self.view = None
        elif kind == "record":
            seed = json.loads(message["text"].splitlines()[0])["seed"]
            for session in self.connection._server.sessions.values():
                if str(session.table.seed) == str(seed) and not session.table.match.over:
                    raise FaultError("the record of a match that goes on")
        elif kind == "replay":
            for session in self.connection._server.sessions.values():
                table = session.table
                if table.stage == "play" and views.replay_of(table.match.round)["racks"] == message["racks"]:
                    raise FaultError("the replay of a round that goes on")
        elif kind == "error":
            self.errors.append(message)
            text = message.get("text")
            if not re.fullmatch("[a-z_]+", str(message.get("code"))) or message["code"] == "internal":
                raise FaultError("a mistake of the server")
            if not isinstance(text, str) or not 5 < len(text) < 500 or "\n" in text or "Traceback" in text:
                raise FaultError("a refusal that is no sentence")


class Block(logging.Handler):
    """Some tables, and those who talk to them."""

    def __init__(self, number: int) -> None:
        super().__init__(logging.WARNING)
        self.rng = random.Random(number)
        self.faults: list[str] = []
        self.trail: collections.deque[str] = collections.deque(maxlen=_TRAIL)
        self.counts: collections.Counter[str] = collections.Counter()
        """What was sent and looked at."""
        self.told: collections.Counter[str] = collections.Counter()
        """What came back: messages by type, refusals by code."""
        seeds = itertools.count(number << 20)
        self._folder = tempfile.TemporaryDirectory(prefix="okey-fuzz-")
        self.server = TableServer(Path(self._folder.name), limits=LIMITS, new_seed=seeds.__next__, worlds=0)
        self.browsers: list[Browser] = []
        self.tokens: list[str] = []
        self._kinds: list[Callable[[Browser], None]] = [
            getattr(self, f"_{name}") for name, times in _KINDS.items() for _ in range(times)
        ]

    def emit(self, record: logging.LogRecord) -> None:
        """A warning or an error in a log is a fault."""
        self.faults.append(f"logged: {record.getMessage()} {record.exc_info}")

    def tell(self, fault: str) -> None:
        self.faults.append(fault)

    async def run(self, messages: int) -> None:
        """Send so many messages; `counts` and `told` say what happened.

        Raises:
            FaultError: something that must not happen, with the last messages.
        """
        asyncio.get_running_loop().set_exception_handler(lambda _, context: self.tell(f"unheard: {context}"))
        logging.getLogger().addHandler(self)
        try:
            await self.server.open()
            await self.server.ready.wait()
            await self._begin()
            while self.counts["messages"] < messages:
                await self._step()
            await self._settle(0.02)
            self._look(everyone=True)
            self._check()
        finally:
            for browser in self.browsers:
                browser.close()
            await asyncio.gather(*(browser.task for browser in self.browsers), return_exceptions=True)
            await self.server.close()
            self._folder.cleanup()
            logging.getLogger().removeHandler(self)
        self.counts["tables"] += len(self.server.sessions)
        for browser in self.browsers:
            if not browser.task.cancelled() and browser.task.exception() is not None:
                self.tell(f"a connection ended by {browser.task.exception()!r}")
        self._check()

    def _check(self) -> None:
        if self.faults:
            raise FaultError("\n".join([self.faults[0], "after:", *self.trail]))

    # --- those who talk ------------------------------------------------------------------------------------

    async def _begin(self) -> None:
        for _ in range(5):
            self._come(_HOME)
        self._come(_AWAY)
        self._say(self.browsers[0], "create", name="A", settings=self._settings(people=4))
        await self._settle()

    def _come(self, host: str) -> Browser:
        browser = Browser(self.server, host, self.tell, self.told)
        self.browsers.append(browser)
        return browser

    async def _step(self) -> None:
        here = [browser for browser in self.browsers if browser.open]
        if len(here) < 7 or self.rng.random() < 0.01:
            here.append(self._come(self.rng.choice([_HOME, _HOME, _HOME, _AWAY])))
        browser = self.rng.choice([*here, *(other for other in here if self._to_move(other))])
        told, sent, before = len(browser.errors), self.counts["messages"], self._kept(browser)
        quiet, session = self._quiet(browser), browser.session
        self.rng.choice(self._kinds)(browser)
        await self._settle()
        alone = quiet and self._quiet(browser) and self.counts["messages"] == sent + 1 and browser.session is session
        if alone and len(browser.errors) > told and before != self._kept(browser):
            self.tell(f"a message was refused and has changed the table: {browser.errors[-1]}")
        self._look()
        self._check()
        self.browsers = [other for other in self.browsers if other.open or not other.task.done()]

    async def _settle(self, seconds: float = 0.0) -> None:
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        if seconds or self.rng.random() < 0.02:  # let bots move
            await asyncio.sleep(seconds or 0.002)
        self.tokens = [*self.tokens, *(b.token for b in self.browsers if b.token and b.token not in self.tokens)][-60:]

    @staticmethod
    def _to_move(browser: Browser) -> bool:
        session = browser.session
        return (
            session is not None
            and session.table.stage == "play"
            and session.table.match.round.turn == browser.connection.seat
        )

    @staticmethod
    def _quiet(browser: Browser) -> bool:
        """Whether no bot plays at its table now."""
        return browser.session is None or browser.session.runner is None

    @staticmethod
    def _kept(browser: Browser) -> Any:
        """All of a table but the time and who is there."""
        if browser.session is None:
            return None
        return {key: value for key, value in browser.session.table.to_json().items() if key != "touched"}

    # --- messages ------------------------------------------------------------------------------------------

    def _say(self, browser: Browser, kind: str, **message: Any) -> None:
        self._send(browser, json.dumps({"type": kind, **message}))

    def _send(self, browser: Browser, text: str | bytes) -> None:
        self.counts["messages"] += 1
        self.trail.append(f"  {self.browsers.index(browser)} {browser.connection.seat}: {text[:300]!r}")
        browser.say(text)

    def _settings(self, people: int) -> dict[str, Any]:
        rng = self.rng
        preset = rng.choice(list(PRESETS))
        switches = random_rules(rng) if rng.random() < 0.5 else {}
        switches |= {"start_points": rng.choice([5, 6, 8])}
        others = ["person"] * (people - 1) + [rng.choice(["greedy", "random"]) for _ in range(4 - people)]
        return {
            "preset": preset,
            "switches": switches,
            "rack_check": rng.choice(["free", "free", "as_laid"]),
            "pace": "instant",
            "clock": rng.choice([0, 15, 60]),
            "seats": [*(["person"] if people else []), *others][:4],
        }

    def _message(self, browser: Browser) -> dict[str, Any]:
        """A message that could be right for somebody, now or at another time."""
        rng, session = self.rng, browser.session
        table = session.table if session else None
        text = actions.to_text(rng.randrange(actions.NUM_ACTIONS), rng.choice(["R5", "Y13"]))
        places = (
            list(table.seats[browser.connection.seat].rack.places)
            if table and browser.connection.seat is not None
            else [None] * 30
        )
        rng.shuffle(places)
        return rng.choice(
            [
                {"type": "act", "action": text, "at": table.moves if table else 0, "place": rng.choice([None, 3, 29])},
                {"type": "arrange", "places": places, "down": []},
                {"type": "create", "name": "B", "settings": self._settings(rng.randrange(5)), "me": rng.choice(_ME)},
                {"type": "join", "invite": table.invite if table else "x", "name": "C", "me": rng.choice(_ME)},
                self._about_games(),
                {
                    "type": "invitation",
                    "link": f"http://127.0.0.1/#i={table.invite if table else 'x'}",
                },
                {"type": "sit", "token": rng.choice([*self.tokens, "x"])},
                {"type": "replay", "round": rng.randrange(-1, 4)},
                *({"type": kind} for kind in ("start", "ready", "hint", "whole", "record", "hello", "leave_table")),
            ]
        )

    def _about_games(self) -> dict[str, Any]:
        rng = self.rng
        names = [session.table.record_name for session in self.server.sessions.values()]
        ask = rng.choice(["list", "list", "replay", "export", "forget", "review", "own"])
        message = {"type": "games", "me": rng.choice(_ME), "ask": ask}
        return message | (
            {"record": rng.choice([*names, "../x"]), "round": rng.choice([1, 2, 99])} if ask != "list" else {}
        )

    def _good_move(self, browser: Browser) -> None:
        session = browser.session
        if session is None:
            self._valid(browser)
            return
        table = session.table
        if not self._to_move(browser):
            self._say(browser, "ready" if table.round_ended else "start" if table.stage == "lobby" else "whole")
            return
        seen = table.match.round.observe(table.match.round.turn)
        action = _GREEDY.act(seen) if self.rng.random() < 0.8 else self.rng.choice(seen.legal_actions)
        if actions.is_finish(action) and table.settings.rack_check == "as_laid" and self.rng.random() < 0.5:
            action = self.rng.choice(seen.legal_actions)
        self._say(browser, "act", action=actions.to_text(action, seen.okey), at=table.moves)

    def _bad_move(self, browser: Browser) -> None:
        session = browser.session
        if session is None or browser.connection.seat is None or session.table.stage != "play":
            self._valid(browser)
            return
        table, rng = session.table, self.rng
        okey = table.match.round.okey
        text = rng.choice(
            [
                actions.to_text(rng.randrange(actions.NUM_ACTIONS), okey),
                rng.choice(["", "throw", "finish Q1", "throw r5 ", "draw draw", "throw *\0", "ＤＲＡＷ"]),
            ]
        )
        at, place = table.moves + rng.choice([0, 0, 0, 1, -1, 2**53]), rng.choice([None, None, 0, 7, 29, 30, -1])
        self._same_in_other_worlds(table, browser.connection.seat, text, at, place)
        self._say(browser, "act", action=text, at=at, place=place)

    def _valid(self, browser: Browser) -> None:
        self._send(browser, json.dumps(self._message(browser)))

    def _invite(self, browser: Browser) -> None:
        tables = [session.table for session in self.server.sessions.values()]
        if tables:
            self._say(
                browser, "join", invite=self.rng.choice(tables).invite, name=self.rng.choice(["D", "", "é\u202e"])
            )

    def _damaged(self, browser: Browser) -> None:
        self._send(browser, damaged(json.dumps(self._message(browser)), self.rng))

    def _stranger_floods(self, browser: Browser) -> None:
        if browser.host == _AWAY:
            self._send(browser, "x" * 300_000)

    def _drops(self, browser: Browser) -> None:
        self.counts["messages"] += 1
        browser.close()

    def _burst(self, browser: Browser) -> None:
        for _ in range(20):
            self._valid(browser)

    # --- what must hold ------------------------------------------------------------------------------------

    def _look(self, *, everyone: bool = False) -> None:
        server = self.server
        if len(server.sessions) > LIMITS.tables or len(server.guests) > LIMITS.connections:
            self.tell(f"{len(server.sessions)} tables and {len(server.guests)} connections")
        for browser in self.browsers if everyone else self.rng.sample(self.browsers, 1):
            session = browser.session
            if session is None or browser.view is None or not browser.open or not browser.settled:
                continue
            now = views.view(session.table, browser.connection.seat)
            if session.runner is None and _comparable(browser.view) != _comparable(now):
                self.tell(f"seat {browser.connection.seat} has been told {browser.view}\nbut sees {now}")
            self.counts[f"views, {session.table.stage}"] += 1
            if session.table.stage == "play":
                self._no_leak(session.table, browser.connection.seat)

    def _no_leak(self, table: Table, number: int | None) -> None:
        """The view of a seat, or of a watcher, in a world that its knowledge allows."""
        before = views.view(table, number)
        for seat in range(4) if number is None else (number,):
            held = self._dealt_again(table, seat)
            try:
                if views.view(table, number) != before:
                    self.tell(f"seat {number} sees hidden tiles")
            finally:
                table.match.round.games[:] = held
            self.counts["worlds"] += 1

    def _dealt_again(self, table: Table, seat: int) -> Any:
        """Deal what a seat cannot see again, and return what was."""
        games = table.match.round.games
        held = games.copy()
        games[:] = worlds(table.match.round.observe(seat), 1, seed=self.rng.getrandbits(60))
        return held

    def _same_in_other_worlds(self, table: Table, seat: int, text: str, at: int, place: Any) -> None:
        """A refusal tells nothing that the seat does not know."""
        if place is not None and not 0 <= place < 30:
            return  # refused before the table sees it
        found = []
        for again in (False, True):
            twin = copy.deepcopy(table)
            if again:
                self._dealt_again(twin, seat)
            try:
                twin.act(seat, text, at, place)
                found.append("done")
            except Refused as refusal:
                found.append(str(refusal.message()))
        if found[0] != found[1]:
            self.tell(f"a refusal tells of hidden tiles: {found}")
        self.counts["refusals"] += 1


_KINDS = {
    "good_move": 60,
    "bad_move": 12,
    "valid": 14,
    "invite": 4,
    "damaged": 14,
    "drops": 2,
    "burst": 1,
    "stranger_floods": 1,
}
"""How often each kind of message is sent."""


def _comparable(view: dict[str, Any]) -> Any:
    """A view without its number, and without the order of the rack, which is its owner's alone."""
    plain = {key: value for key, value in view.items() if key != "version"}
    if plain.get("round"):
        rack = plain["round"]["rack"]
        plain["round"] = {**plain["round"], "rack": sorted(filter(None, rack or ())), "down": None}
    return json.loads(json.dumps(plain))


_VALUES: tuple[str, ...] = (
    "0",
    "-1",
    "1.5",
    "1e400",
    "NaN",
    "null",
    "true",
    '""',
    "[]",
    "{}",
    "9" * 400,
    '"\\ud800"',
    '"\\u0000"',
)
_VALUES += ("[[[[[[[[[[[]]]]]]]]]]]", '"' + "x" * 5_000 + '"', "[" * 3_000, '{"a":1,"a":2}', '"R5"', "9007199254740993")


def damaged(text: str, rng: random.Random) -> str | bytes:
    """A message of which something is wrong."""
    way = rng.randrange(7)
    if way == 0:
        return text[: rng.randrange(len(text))]
    if way == 1:  # another value in the place of one
        spans = [match.span(1) for match in re.finditer(r'": ("[^"]*"|[\w.-]+|\[[^\]]*\])', text)]
        start, stop = rng.choice(spans)
        return text[:start] + rng.choice(_VALUES) + text[stop:]
    if way == 2:  # a key less, or one twice
        message = json.loads(text)
        message.pop(rng.choice(list(message)))
        return json.dumps(message) if rng.random() < 0.5 else text[:-1] + ', "type": "ready"}'
    if way == 3:
        data = bytearray(text.encode())
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        return bytes(data) if rng.random() < 0.3 else data.decode("utf-8", "replace")
    if way == 4:
        return rng.choice(_VALUES)
    if way == 5:
        return json.dumps(
            {**json.loads(text), "type": rng.choice(["_leave", "serve", "send", "", "act ", "__class__"])}
        )
    return json.dumps({**json.loads(text), rng.choice(["seat", "extra", "type ", "you"]): rng.choice([0, None, "x"])})
