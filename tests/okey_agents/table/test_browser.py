"""The page in a real browser, Debian's headless Chromium: played by dragging, by buttons and by keyboard."""

import itertools
import random
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from okey_agents.cli import main
from okey_agents.table.web.changes import changes
from okey_agents.table.web.settings import Settings
from okey_agents.table.web.table import Table
from okey_agents.table.web.views import view
from okey_env import Observation
from okey_env.bots import make_bot
from okey_env.match import Match
from okey_env.record import Record
from tests.okey_agents.table.serving import serving
from tests.okey_agents.table.visiting import DESK, FINISHED, PHONE, SMALL_PHONE, Visitor, dealt, server_of

pytestmark = pytest.mark.heavy


def test_a_whole_round_by_dragging(browser: Browser, tmp_path: Path) -> None:
    """With a hint at each move, a refused one, and a reload in the middle."""
    tables = server_of(tmp_path)
    with serving(tables) as url:
        visitor = Visitor(browser, url)
        visitor.set_up()
        page = visitor.page
        turns = 0
        while visitor.wait_for_move():
            turns += 1
            if page.locator(".act.draw").is_visible():
                if turns == 2:  # the rack holds fourteen tiles: nothing can be thrown yet
                    before = visitor.tiles
                    visitor.drag(visitor.place(0), visitor.throws)
                    expect(page.locator("#toasts")).to_contain_text("Draw or take a tile first")
                    assert visitor.tiles == before
                taking = visitor.advice() == "take"
                source = page.locator(".heap.bottom-left") if taking else visitor.stock
                target = visitor.free_place()
                visitor.drag(source, target)
                page.wait_for_selector(".act.throw:visible, dialog.end[open]")
                assert sum(map(bool, visitor.tiles)) == 15
            what = visitor.advice()
            if what == "show":
                page.click(".act.show")
                page.wait_for_selector(".act.show", state="hidden")
                what = visitor.advice()
            order = visitor.tiles
            thrown = visitor.advised()
            number = int(thrown.get_attribute("data-place") or -1)
            visitor.drag(thrown, visitor.stock if what == "finish" else visitor.throws)
            page.wait_for_selector(f".place[data-place='{number}'][data-look='']")
            assert visitor.tiles == [tile if place != number else "" for place, tile in enumerate(order)]
            if turns == 2:
                visitor.wait_for_move()
                before = visitor.tiles
                visitor.drag(visitor.place(before.index("") - 1), visitor.place(29))  # an order of one's own
                mine = visitor.tiles
                assert mine != before
                page.reload()
                page.wait_for_selector(".table .place .tile")
                assert visitor.tiles == mine
            assert turns < 40
        assert visitor.faults == []
        expect(page.locator("dialog.end")).to_be_visible()
        assert page.locator(".end-rack").count() == 4
        assert page.locator(".end-rack .figure").count() >= 56
        page.click("dialog.end button:has-text('Replay')")
        page.locator(".replay input[type=range]").press("End")
        expect(page.locator(".caption")).to_contain_text(re.compile(r"(\d+)/\1 "))
        page.locator(".replay input[type=range]").press("Home")
        expect(page.locator(".caption")).to_contain_text("dealt")
        visitor.context.close()
    [path] = (tmp_path / "records").iterdir()
    assert list(Record.read(path).replay())[-1][1].round.over  # played again by the rules, line by line


def test_a_finish_by_dropping_a_tile_on_the_stock(browser: Browser) -> None:
    with serving(server_of(make_match=dealt(FINISHED))) as url:
        visitor = Visitor(browser, url)
        visitor.set_up()
        page = visitor.page
        visitor.wait_for_move()
        visitor.drag(visitor.place(visitor.tiles.index("R1")), visitor.stock)
        expect(page.locator("#toasts")).to_contain_text("Not finished")
        assert "R1" in visitor.tiles
        visitor.drag(visitor.place(visitor.tiles.index("K2")), visitor.stock)
        expect(page.locator("#end-title")).to_have_text("You won the round!")
        assert page.locator(".end-rack.winner .meld .figure").count() == 14
        assert visitor.faults == []
        visitor.context.close()


def test_melds_as_they_lie(browser: Browser) -> None:
    """With the rack check `as_laid` the first fault is pointed out; sorting by groups and dragging mends it."""
    with serving(server_of(make_match=dealt(FINISHED))) as url:
        visitor = Visitor(browser, url)
        page = visitor.page
        page.check("label.check:has-text('gaps') input")
        visitor.set_up()
        visitor.wait_for_move()
        visitor.place(visitor.tiles.index("K2")).click()
        page.click(".act.finish")
        expect(page.locator("#toasts")).to_contain_text("Leave a gap")
        assert page.locator(".place.fault").count() > 3
        page.keyboard.press("1")
        for tile, left_neighbour in (("Y9", "R9"), ("K9", "Y9")):
            visitor.drag(
                visitor.place(visitor.tiles.index(tile)), visitor.place(visitor.tiles.index(left_neighbour) + 1)
            )
        assert visitor.tiles.index("K9") == visitor.tiles.index("Y9") + 1
        visitor.drag(visitor.place(visitor.tiles.index("*")), visitor.place(visitor.tiles.index("Y13") - 3))
        visitor.context.close()


def test_a_short_match_by_buttons_and_keys(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = server_of(make_match=lambda rules, seed: Match(rules, seed, points=(3, 3, 3, 3)))
    with serving(tables) as url:
        visitor = Visitor(browser, url, SMALL_PHONE, has_touch=True)
        visitor.set_up()
        page = visitor.page
        page.click(".panel-button")
        page.click("#tab-rules")
        page.click(".fair summary")
        shown = page.locator(".fair code").inner_text()  # the hash of the secret, before the match
        page.keyboard.press("Escape")
        for _ in range(12):
            while visitor.wait_for_move():
                if page.locator(".act.draw").is_visible():
                    page.click(".act.take" if visitor.advice() == "take" else ".act.draw")
                    page.wait_for_selector(".act.throw:visible")
                what = visitor.advice()
                if what == "show":
                    page.keyboard.press("s")
                    page.wait_for_selector(".act.show", state="hidden")
                    what = visitor.advice()
                visitor.advised().focus()
                page.keyboard.press("f" if what == "finish" else "x")
                page.wait_for_selector(".act.draw:visible, dialog.end[open]")
            if page.locator("dialog.end.match").count():
                break
            page.click("dialog.end .primary")
            page.wait_for_selector("dialog.end", state="detached")
        expect(page.locator("#end-title")).to_contain_text("won the match")
        with page.expect_download() as saved:
            page.click("dialog.end button:has-text('Save the record')")
        path = tmp_path / "match.jsonl"
        saved.value.save_as(path)
        Record.read(path).verify()
        command = page.locator("dialog.end .fair code").inner_text().split()
        assert command[-1] == shown
        main([*command[1:2], str(path), *command[3:]])
        assert "all deals follow from the secret" in capsys.readouterr().out
        with pytest.raises(SystemExit):
            main(["verify", str(path), "--secret", command[4].replace("-", "1-"), "--hash", shown])
        assert "the hash of the secret is" in capsys.readouterr().err
        page.click("dialog.end .primary")
        page.wait_for_selector("dialog.end", state="detached")
        expect(page.locator(".bar .title")).to_have_text("Round 1")
        assert visitor.faults == []
        visitor.context.close()


def test_a_friend_joins_by_the_link_leaves_and_comes_back(browser: Browser) -> None:
    with serving(server_of(make_match=dealt(None, FINISHED))) as url:
        host = Visitor(browser, url)
        host.set_up(seat_1="person")
        link = host.page.locator(".link-field").input_value()
        friend = Visitor(browser, link, SMALL_PHONE, has_touch=True)
        friend.page.fill("#name", "Can")
        friend.page.click("button[type=submit]")
        host.page.wait_for_selector(".table")
        expect(host.page.locator(".plate.right")).to_contain_text("Can")
        expect(host.page.locator(".status")).to_have_text("Can is playing")
        friend.wait_for_move()
        friend.place(friend.tiles.index("K2")).tap()
        friend.throws.tap()
        host.wait_for_move()
        friend.page.close()  # without a word: after a while a bot plays on for them
        expect(host.page.locator(".plate.right")).to_contain_text("a bot plays")
        host.page.keyboard.press("d")
        host.page.wait_for_selector(".act.throw:visible")
        host.place(0).click()
        host.page.keyboard.press("x")
        assert host.wait_for_move() in (True, False)
        assert host.page.locator(".log").count() == 0
        host.page.click("#tab-log")
        expect(host.page.locator(".log")).to_contain_text(re.compile(r"Can (drew|took)"))
        again = friend.context.new_page()
        again.goto(url)
        again.click(".kept-table button:first-child")
        again.wait_for_selector(".table .place .tile, dialog.end")
        expect(host.page.locator(".plate.right")).not_to_contain_text("a bot plays")
        assert host.faults == []
        host.context.close()
        friend.context.close()


def test_by_keyboard_alone_and_with_names_for_everything(browser: Browser) -> None:
    with serving(server_of(make_match=dealt(FINISHED))) as url:
        visitor = Visitor(browser, url)
        visitor.set_up()
        page = visitor.page
        visitor.wait_for_move()
        nameless = page.evaluate(
            """() => [...document.querySelectorAll('button, [role=img], input, select')]
                 .filter((e) => !(e.hidden || e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length))
                 .map((e) => e.outerHTML)"""
        )
        assert nameless == []
        visitor.place(0).focus()
        page.keyboard.press("Enter")  # lift the first tile, carry it to the end of the row, put it down
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        assert visitor.tiles[14] == "R1"
        assert visitor.tiles[0] == ""
        page.keyboard.press("3")
        assert sorted(filter(None, visitor.tiles)) == sorted(FINISHED.split())
        place = visitor.tiles.index("*")
        visitor.place(place).focus()
        page.keyboard.press("Enter")
        page.keyboard.press("v")
        assert visitor.tiles[place] == "*-"
        visitor.place(place).focus()
        page.keyboard.press("x")
        expect(page.locator("#toasts")).to_contain_text("face down")
        visitor.place(visitor.tiles.index("K2")).focus()
        page.keyboard.press("f")
        expect(page.locator("#live")).to_contain_text("You finished with black 2")
        visitor.context.close()


@pytest.mark.parametrize("language", ["en", "tr", "fr"])
def test_nothing_overflows(browser: Browser, language: str) -> None:
    with serving(server_of(make_match=dealt(FINISHED))) as url:
        visitor = Visitor(browser, url, locale=language, reduced_motion="reduce")
        visitor.set_up()
        page = visitor.page
        page.wait_for_selector(".deck.mine")
        assert page.evaluate("document.documentElement.lang") == language
        sizes: list[Any] = [
            {"width": 320, "height": 568},
            SMALL_PHONE,
            PHONE,
            {"width": 720, "height": 450},
            {"width": 740, "height": 360},
            {"width": 820, "height": 1180},
            DESK,
        ]
        for size in [*sizes, {"width": 1920, "height": 1080}]:
            page.set_viewport_size(size)
            outside = page.evaluate(
                """() => [...document.querySelectorAll('html, .table button, .plate, .heap, .rack')].filter((e) => {
                     const r = e.getBoundingClientRect();
                     return e.scrollWidth > innerWidth || (r.width && getComputedStyle(e).visibility === 'visible'
                       && (r.left < -1 || r.top < -1 || r.right > innerWidth + 1 || r.bottom > innerHeight + 1));
                   }).map((e) => e.className)"""
            )
            assert (size, outside) == (size, [])
        assert visitor.faults == []
        visitor.context.close()


def test_the_page_applies_changes_as_the_server_means_them(browser: Browser) -> None:
    """`changes.js` makes the whole view of a seat at every step of a match, and leaves the view before it as it was."""
    table = Table(Settings(seats=("person", "greedy", "greedy", "greedy")), 3)
    table.take_seat("Ayşe")
    bot, rng = make_bot("greedy", 5), random.Random(5)
    views = [{**view(table, 0), "version": 0}]
    while len(views) < 250:
        if table.round_ended:
            table.ready(0)
        else:
            table.play(bot.act(table.match.round.observe(table.match.round.turn)))
        if rng.random() < 0.2:
            table.arrange(0, rng.sample(table.seats[0].rack.places, 30), [])
        views.append({**view(table, 0), "version": len(views)})
    steps = [
        {"change": {"version": new["version"], **changes(old, new)}, "before": old, "after": new}
        for old, new in itertools.pairwise(views)
    ]
    with serving(server_of()) as url:
        visitor = Visitor(browser, url)
        wrong = visitor.page.evaluate(
            """async (steps) => {
                 const { changed } = await import('/changes.js');
                 const text = (value) => JSON.stringify(value, (_, v) => v && typeof v === 'object' && !Array.isArray(v)
                   ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v);
                 let mine = steps[0].before;
                 for (const [i, { change, before, after }] of steps.entries()) {
                   const kept = text(mine);
                   const next = changed(mine, change);
                   if (kept !== text(mine) || kept !== text(before) || text(next) !== text(after)) return i;
                   mine = next;
                 }
                 return null;
               }""",
            steps,
        )
        assert wrong is None
        visitor.context.close()


def test_a_page_that_has_missed_a_change_asks_for_the_whole_view(browser: Browser) -> None:
    tables = server_of(make_match=dealt(FINISHED))
    with serving(tables) as url:
        visitor = Visitor(browser, url)
        visitor.set_up()
        visitor.wait_for_move()
        [session] = tables.sessions.values()
        session._sent[0]["version"] += 5  # as if five changes had been lost on the way
        visitor.place(visitor.tiles.index("K2")).click()
        visitor.page.click(".act.throw")
        expect(visitor.page.locator(".place[data-look^='K2']")).to_have_count(0)
        visitor.wait_for_move()
        assert len(visitor.tiles) == 30
        assert visitor.faults == []
        visitor.context.close()


def test_the_page_says_which_bot_gets_ready_and_which_was_replaced(browser: Browser) -> None:
    gate = threading.Event()

    class Slow:
        """Compiles for as long as the test wants, and then does not know what to play."""

        def __init__(self) -> None:
            gate.wait(60)

        def act(self, observation: Observation) -> int:
            raise RuntimeError("out of ideas")

    with serving(server_of(bots={"slow": Slow}, make_match=dealt(FINISHED))) as url:
        visitor = Visitor(browser, url)
        visitor.set_up(seat_1="slow")
        page = visitor.page
        expect(page.locator(".plate.right")).to_contain_text("getting ready")
        visitor.place(visitor.tiles.index("K2")).click()
        page.click(".act.throw")
        expect(page.locator(".status")).to_contain_text("Getting ready: slow (1 of 2 bots are ready)")
        gate.set()
        expect(page.locator("#toasts")).to_contain_text("slow has failed; expert has moved in its place")
        assert visitor.faults == []
        visitor.context.close()
