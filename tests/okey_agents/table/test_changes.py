"""Changes of views: whoever applies them holds what the whole view says, at every step, for every seat."""

import json
import random
import re
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from okey_agents.table.web.changes import changed, changes
from okey_agents.table.web.settings import Settings
from okey_agents.table.web.table import Table
from okey_agents.table.web.table_server import Session
from okey_agents.table.web.views import view
from okey_env.bots import make_bot
from okey_env.match import Match
from tests.okey_agents.table.playing import local_server

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(2, 9), st.text("RB*", max_size=2))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.fixed_dictionaries({"turn": inner, "lost": inner}),
    max_leaves=12,
)
VIEWS = st.fixed_dictionaries({"round": VALUES, "seats": st.lists(VALUES, max_size=4), "version": st.just(0)})


class Page:
    """What one page knows: the first view, and what changes made of it."""

    def __init__(self, seat: int | None) -> None:
        self.seat = seat
        self.view: dict[str, Any] = {}
        self.texts: list[str] = []

    def send(self, message: Mapping[str, Any]) -> None:
        self.texts.append(json.dumps(message, separators=(",", ":")))
        received = json.loads(self.texts[-1])
        if received["type"] == "view":
            self.view = received
        else:
            assert received["version"] == self.view["version"] + 1
            self.view = changed(self.view, received)

    def close(self, code: str, text: str) -> None:
        raise AssertionError(code)


@given(VIEWS, VIEWS)
def test_a_change_makes_the_new_view_of_the_old_one(old: dict[str, Any], new: dict[str, Any]) -> None:
    before = json.dumps(old)
    change = json.loads(json.dumps(changes(old, new)))
    assert json.dumps(changed(old, {**change, "version": 0}), sort_keys=True) == json.dumps(new, sort_keys=True)
    assert json.dumps(old) == before
    assert changes(old, old) == {}


def may_know(shown: dict[str, Any]) -> set[str]:
    """The tiles that a seat may know while a round is played, from its whole view."""
    round = shown["round"]
    names = [round["indicator"], round["okey"], round["offer"], *(round["rack"] or [])]
    events = [tile for seat, event, tile in round["events"] if event != "draw" or seat == shown["you"]]
    return {tile for tile in (*names, *events, *(tile for heap in round["heaps"] for tile in heap)) if tile}


def test_every_page_is_in_step_through_two_matches_and_told_nothing_hidden() -> None:
    """Four people and somebody who watches; racks are sorted, people go and come back, rounds and a match end."""

    def match(rules: Any, seed: int) -> Match:
        return Match(rules, seed, points=(3, 3, 3, 3))

    table = Table(Settings(seats=("person",) * 4), 3, match)
    session = Session(table)
    pages = [Page(seat) for seat in (None, 0, 1, 2, 3)]
    for page in pages:
        if page.seat is not None:
            table.take_seat(f"person {page.seat}")
    for page in pages:
        table.connect(page.seat)
        session.enter(page)
    bot, rng = make_bot("greedy", 5), random.Random(5)
    matches: set[str] = set()
    steps = 0
    while len(matches) < 3:
        matches.add(table.record_name)
        told = [page.view for page in pages]
        if table.round_ended:
            table.ready(next((number for number, seat in enumerate(table.seats) if not seat.ready), None))
        else:
            table.play(bot.act(table.match.round.observe(table.match.round.turn)))
        seat = rng.randrange(4)
        if rng.random() < 0.2:
            places = rng.sample(table.seats[seat].rack.places, 30)
            table.arrange(seat, places, [places.index("*")] if "*" in places else [])
        if rng.random() < 0.1:
            gone = pages[1 + seat]
            session.leave(gone)
            table.disconnect(seat)
            session.broadcast()
            table.connect(seat)
            session.enter(gone)
        session.broadcast()
        for page, before in zip(pages, told, strict=True):
            whole = json.loads(json.dumps(view(table, page.seat)))
            assert {**page.view, "version": 0} == {**whole, "version": 0}
            if table.stage == "play" and before["stage"] == "play":
                named = set(re.findall(r'"([RBKY]\d{1,2}|F|\*)"', page.texts[-1]))
                assert named <= may_know(whole) | may_know(before)
        steps += 1
    assert steps > 150


def test_a_move_is_a_small_message_however_long_the_match_is() -> None:
    table = Table(Settings(seats=("person", "greedy", "greedy", "greedy")), 1)
    table.take_seat("Ayşe")
    session, page, bot = Session(table), Page(0), make_bot("greedy", 1)
    table.connect(0)
    session.enter(page)
    for _ in range(10):
        while not table.round_ended:
            table.play(bot.act(table.match.round.observe(table.match.round.turn)))
            session.broadcast()
            if not table.round_ended:
                assert len(page.texts[-1]) < 450, page.texts[-1]
        if table.match.over:
            break
        table.ready(0)
        session.broadcast()
    assert len(page.view["match"]["history"]) > 5
    assert len(json.dumps(page.view)) > 3000


def test_a_page_that_has_missed_something_asks_for_all() -> None:
    with local_server() as server, server.player() as player:
        player.create()
        player.until_my_turn()
        seen = player.view
        player.view = {}
        player.send("whole")
        assert player.wait_for("view") == seen
