"""What people mind at the table, in a real browser, with motion, on a desk and on phones."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from okey_agents.table.web.table_server import Limits, TableServer
from tests.okey_agents.table.serving import same_seeds, serving
from tests.okey_agents.table.visiting import DESK, FINISHED, PHONE, SIZES, SMALL_PHONE, Visitor, dealt, server_of

pytestmark = pytest.mark.heavy

sizes = pytest.mark.parametrize("size", SIZES, ids=lambda size: str(size["width"]))


@contextlib.contextmanager
def at_a_table(
    browser: Browser, size: Any = DESK, tables: TableServer | None = None, **seats: str
) -> Iterator[Visitor]:
    """A visitor who sits at a table, with the tiles `FINISHED`; the page reports no fault."""
    with serving(tables or server_of(make_match=dealt(FINISHED))) as url:
        visitor = Visitor(browser, url, size, has_touch=size is not DESK)
        visitor.set_up(**seats)
        yield visitor
        assert visitor.faults == []
        visitor.context.close()


def at_rest(page: Page) -> None:
    """Until no tile of the rack moves any more."""
    page.wait_for_function("() => document.querySelector('.rack').getAnimations({ subtree: true }).length === 0")


def watch_tiles(page: Page) -> None:
    """Have the page note each tile that comes to the rack and is not opaque and in its place at once."""
    page.evaluate(
        """() => {
             window.faint = [];
             new MutationObserver((changes) => {
               for (const { addedNodes } of changes) for (const tile of addedNodes) {
                 if (!tile.matches?.('.tile')) continue;
                 const { opacity, transform } = getComputedStyle(tile);
                 const moves = tile.getAnimations().some((a) => a.effect.getKeyframes().some((k) => 'opacity' in k));
                 if (opacity !== '1' || moves) faint.push([opacity, transform]);
               }
             }).observe(document.querySelector('.rack'), { childList: true, subtree: true });
           }"""
    )


@sizes
def test_a_tile_that_is_moved_sorted_or_drawn_is_there_at_once(browser: Browser, size: Any) -> None:
    with at_a_table(browser, size) as visitor:
        page = visitor.page
        visitor.wait_for_move()
        at_rest(page)
        watch_tiles(page)
        visitor.drag(visitor.place(visitor.tiles.index("R1")), visitor.place(14))
        expect(visitor.place(14)).to_have_attribute("data-look", re.compile("R1/"))
        page.click(".act.groups")
        expect(visitor.place(14)).not_to_have_attribute("data-look", re.compile("R1/"))
        visitor.drag(visitor.place(visitor.tiles.index("K2")), visitor.throws)
        expect(page.locator(".act.draw")).to_be_enabled()
        visitor.drag(visitor.stock, visitor.free_place())
        expect(page.locator(".act.throw")).to_be_visible()
        assert sum(map(bool, visitor.tiles)) == 15
        assert page.evaluate("faint") == []


@sizes
def test_back_leaves_the_seat_and_forward_takes_it_again(browser: Browser, size: Any) -> None:
    tables = server_of(make_match=dealt(FINISHED))
    with at_a_table(browser, size, tables) as visitor:
        page = visitor.page
        [session] = tables.sessions.values()
        visitor.wait_for_move()
        for come_back in (page.go_forward, page.locator(".kept-table button:first-child").click):
            page.go_back()
            expect(page.locator(".setup")).to_be_visible()
            expect(page.locator(".table")).to_have_count(0)
            come_back()
            expect(page.locator(".rack .tile")).not_to_have_count(0)
            expect(page.locator(".plate.bottom")).to_contain_text("Ayşe")
        page.go_back()
        expect(page.locator(".setup")).to_be_visible()
        page.evaluate("history.forward()")  # back and forth before any answer has come
        page.evaluate("history.back()")
        page.evaluate("history.forward()")
        expect(page.locator(".rack .tile")).not_to_have_count(0)
        page.click("header button[aria-label=Leave]")
        expect(page.locator(".kept-table")).to_contain_text("Round 1 · 20 points")
        expect(page.locator(".kept-table small")).to_contain_text(re.compile(r"\d{4}"))
    assert not session.table.occupied


def test_who_leaves_by_back_does_not_hold_the_others_up(browser: Browser) -> None:
    tables = TableServer(
        limits=Limits(messages_per_second=1e6), new_seed=same_seeds(), worlds=0
    )  # twenty seconds' grace
    with serving(tables) as url:
        host = Visitor(browser, url)
        host.set_up(seat_1="person")
        friend = Visitor(browser, url, PHONE, has_touch=True)
        friend.page.goto(host.page.locator(".link-field").input_value())
        friend.page.fill("#name", "Can")
        friend.page.click("button[type=submit]")
        expect(host.page.locator(".plate.right")).to_contain_text("Can")
        friend.page.wait_for_selector(".table")
        friend.page.go_back()
        expect(host.page.locator(".plate.right")).to_contain_text("away, a bot plays")
        friend.page.go_forward()
        expect(host.page.locator(".plate.right")).not_to_contain_text("away")
        friend.page.goto(
            "about:blank"
        )  # a connection that breaks: for twenty seconds no bot plays, and none is said to
        expect(host.page.locator(".plate.right")).to_contain_text("not connected")
        expect(host.page.locator(".plate.right")).not_to_contain_text("a bot plays")
        host.context.close()
        friend.context.close()


def test_a_clock_is_shown_to_everybody(browser: Browser) -> None:
    """What it does to idle people is the table's: `test_clock.py`."""
    with serving(server_of(make_match=dealt(FINISHED))) as url:
        host = Visitor(browser, url)
        page = host.page
        page.select_option("#clock", "60")
        host.set_up(seat_1="person")
        friend = Visitor(browser, page.locator(".link-field").input_value(), PHONE, has_touch=True)
        friend.page.fill("#name", "Can")
        friend.page.click("button[type=submit]")
        for seen in (page, friend.page):
            expect(seen.locator(".clock")).to_be_visible()
            expect(seen.locator(".clock")).to_have_text(re.compile(r"\d s|\d:\d\d"))
        host.context.close()
        friend.context.close()


@sizes
def test_friends_get_a_link_that_works_from_elsewhere(browser: Browser, size: Any) -> None:
    tables = server_of()
    tables.addresses = ["http://192.0.2.7:8765/", "http://198.51.100.7:8765/"]
    with at_a_table(browser, size, tables, seat_1="person", seat_2="person") as visitor:
        page = visitor.page
        fields = page.locator(".link-field")
        expect(fields).to_have_count(2)
        assert fields.first.input_value().startswith("http://192.0.2.7:8765/#i=")
        expect(page.locator(".qr svg")).to_be_visible()
        # The browser refuses the clipboard here, as it does under plain http: nothing is copied, and nothing says so.
        page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        page.locator(".copy button").first.click()
        expect(page.locator(".copy button").first).to_have_text("Selected: copy it")
        assert page.evaluate("getSelection().toString()") == fields.first.input_value()
        page.reload()
        if browser.browser_type.name == "chromium":  # Playwright cannot allow the clipboard elsewhere
            visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
            page.locator(".copy button").first.click()
            expect(page.locator(".copy button").first).to_have_text("Copied.")
            assert page.evaluate("navigator.clipboard.readText()") == fields.first.input_value()
        page.click("button:has-text('Begin')")
        page.click("header button[aria-label='Invite a friend']")  # the link is to be had after the start as well
        expect(page.locator("dialog[open] .link-field")).to_have_count(2)
        page.keyboard.press("Escape")
        expect(page.locator("dialog[open]")).to_have_count(0)
        expect(page.locator(".plate.right b")).to_have_text("Kerem")  # a bot on a free chair, and no "free chair"


def test_a_link_opened_twice_is_the_same_person_and_nameless_people_are_numbered(browser: Browser) -> None:
    tables = server_of()
    with serving(tables) as url:
        host = Visitor(browser, url)
        host.set_up(name="", seat_1="person", seat_2="person")
        link = host.page.locator(".link-field").input_value()
        friend = Visitor(browser, link)
        friend.page.click("button[type=submit]")
        expect(friend.page.locator(".guests li").nth(1)).to_contain_text("You")
        expect(host.page.locator(".guests li").nth(1)).to_contain_text("Player 2")
        expect(friend.page.locator(".guests li").first).to_contain_text("Player 1")
        again = friend.context.new_page()
        again.goto(link)
        expect(again.locator(".guests li.taken")).to_have_count(3)  # with a bot
        [session] = tables.sessions.values()
        assert [bool(seat.token) for seat in session.table.seats] == [True, True, False, False]
        # The first page waits and says so; asked to, it plays again, and then the second one waits.
        expect(friend.page.locator("dialog[open]")).to_contain_text("another window")
        friend.page.click("dialog[open] button:has-text('Play here')")
        expect(friend.page.locator(".guests li.taken")).to_have_count(3)  # with a bot
        expect(again.locator("dialog[open]")).to_contain_text("another window")
        expect(friend.page.locator("dialog[open]")).to_have_count(0)
        host.context.close()
        friend.context.close()


def test_a_name_that_is_not_allowed_is_told_on_the_page(browser: Browser) -> None:
    with serving(server_of()) as url:
        visitor = Visitor(browser, "about:blank")
        visitor.page.goto(url.replace("127.0.0.1", "table.localhost"))
        expect(visitor.page.locator("main")).to_contain_text("okey play --allow-host table.localhost")
        visitor.context.close()


@pytest.mark.parametrize(("size", "least"), [(PHONE, 38), (SMALL_PHONE, 35), ({"width": 320, "height": 568}, 30)])
def test_tiles_on_a_phone_are_as_wide_as_a_finger(browser: Browser, size: Any, least: int) -> None:
    with at_a_table(browser, size) as visitor:
        page = visitor.page
        for sort in (None, "runs", "groups", "pairs"):
            if sort:
                page.click(f".act.{sort}")
            widths = page.evaluate("[...document.querySelectorAll('.place:has(.tile)')].map((e) => e.offsetWidth)")
            assert (sort, len(widths), min(widths) >= least) == (sort, 15, True)
        for _ in range(6):  # tiles that are thrown from one row, and drawn: the rows stay even
            visitor.wait_for_move()
            if page.locator(".act.draw").is_visible():
                page.click(".act.draw")
                page.wait_for_selector(".act.throw:visible")
            widths = page.evaluate("[...document.querySelectorAll('.place:has(.tile)')].map((e) => e.offsetWidth)")
            assert min(widths) >= least
            page.locator(".place:has(.tile)").first.click()
            page.click(".act.throw")
            page.wait_for_selector(".act.throw", state="hidden")


@sizes
def test_the_hint_and_the_panel_close(browser: Browser, size: Any) -> None:
    with at_a_table(browser, size) as visitor:
        page = visitor.page
        bubble = page.locator(".bubble")
        for close in ("Escape", "beside", "itself"):
            visitor.wait_for_move()
            visitor.advice()
            advised = visitor.advised().or_(page.locator(".advised")).first
            box, it = bubble.bounding_box(), advised.bounding_box()
            assert box is not None
            assert it is not None
            beside = box["x"] + box["width"] <= it["x"] or it["x"] + it["width"] <= box["x"]
            assert beside or box["y"] + box["height"] <= it["y"] or it["y"] + it["height"] <= box["y"]
            if close == "Escape":
                page.keyboard.press("Escape")
            elif close == "beside":
                page.locator(".felt").dispatch_event("pointerdown")
            else:
                bubble.click()
            expect(bubble).to_be_hidden()
            expect(advised).to_be_visible()  # what it speaks of stays marked
        if size is DESK:
            return
        panel, button = page.locator(".panel"), page.locator(".panel-button")
        width = size["width"]
        for close in ("Escape", "beside", "swipe"):
            button.click()
            expect(panel).to_be_in_viewport(ratio=0.9)
            if close == "Escape":
                page.keyboard.press("Escape")
            elif close == "beside":
                page.mouse.click(5, 300)
            else:
                page.mouse.move(width - 200, 300)
                page.mouse.down()
                page.mouse.move(width - 60, 310, steps=4)
                page.mouse.up()
            expect(panel).to_be_hidden()


@sizes
def test_earlier_throws_can_be_opened(browser: Browser, size: Any) -> None:
    with at_a_table(browser, size) as visitor:
        page = visitor.page
        visitor.wait_for_move()
        visitor.place(visitor.tiles.index("K2")).click()
        page.click(".act.throw")
        expect(page.locator(".act.draw")).to_be_enabled()
        page.locator(".heap.top-right").click()
        expect(page.locator("dialog[open] .thrown .figure")).to_have_count(4)
        page.mouse.click(3, 3)  # beside
        expect(page.locator("dialog[open]")).to_have_count(0)
        page.locator(".heap.top-left").focus()
        page.keyboard.press("Enter")
        expect(page.locator("dialog[open] [aria-label='black 2']")).to_be_visible()


@sizes
def test_a_double_click_draws_once_and_throws_a_tile(browser: Browser, size: Any) -> None:
    with at_a_table(browser, size) as visitor:
        page = visitor.page
        visitor.wait_for_move()
        visitor.place(visitor.tiles.index("K2")).dblclick()
        expect(page.locator(".act.draw")).to_be_enabled()
        assert "K2" not in visitor.tiles
        visitor.stock.dblclick()
        expect(page.locator(".act.throw")).to_be_visible()
        assert sum(map(bool, visitor.tiles)) == 15
        expect(page.locator("#toasts p")).to_have_count(0)
        visitor.place(visitor.tiles.index("R1")).dblclick()
        expect(page.locator(".act.draw")).to_be_enabled()
        page.locator(".act.draw").dblclick(force=True)
        expect(page.locator(".act.throw")).to_be_visible()
        expect(page.locator("#toasts p")).to_have_count(0)


def test_a_lost_connection_is_told_until_it_is_back_and_swallows_no_move(browser: Browser) -> None:
    tables = server_of(make_match=dealt(FINISHED))
    with at_a_table(browser, DESK, tables) as visitor:
        page = visitor.page
        visitor.wait_for_move()
        # From here on, what the page sends is lost, and a new connection has to wait.
        page.evaluate(
            """() => {
                 window.Real = WebSocket;
                 window.WebSocket = class { static OPEN = 1; constructor() { setTimeout(() => this.onclose(), 50); } };
                 Real.prototype.realSend = Real.prototype.send;
                 Real.prototype.send = function () { window.last = this; };
               }"""
        )
        visitor.place(visitor.tiles.index("K2")).click()
        page.click(".act.throw")
        page.evaluate("last.close()")
        expect(page.locator(".lost")).to_have_text("The connection is lost. Trying again …")
        expect(page.locator(".act.throw")).to_be_disabled()
        visitor.drag(visitor.place(visitor.tiles.index("K2")), visitor.throws)
        expect(page.locator("#toasts")).to_contain_text("connection is lost")
        visitor.drag(visitor.place(visitor.tiles.index("R1")), visitor.place(29))  # an order made meanwhile stays
        page.evaluate("() => { Real.prototype.send = Real.prototype.realSend; window.WebSocket = Real; }")
        expect(page.locator(".lost")).to_have_count(0, timeout=20_000)
        expect(page.locator("#toasts")).to_contain_text("did not reach the table")
        expect(page.locator(".act.throw")).to_be_enabled()
        visitor.place(29).dblclick()
        expect(page.locator(".act.draw")).to_be_enabled()
        assert "K2" in visitor.tiles
        assert "R1" not in visitor.tiles


def test_the_form_keeps_what_was_chosen_and_makes_one_table(browser: Browser) -> None:
    tables = server_of()
    with serving(tables) as url:
        visitor = Visitor(browser, url)
        page = visitor.page
        page.fill("#name", "Ayşe 👩‍🚀")
        page.select_option("#seat-2", "hard")
        page.select_option("#clock", "30")
        page.click("summary")
        page.select_option(".switches [name=rotation]", "winner")
        page.select_option(".language", "tr")
        expect(page.locator("legend").first).to_have_text("Oyuncular")
        for _ in range(2):
            assert page.input_value("#name") == "Ayşe 👩‍🚀"
            assert page.input_value("#seat-2") == "hard"
            assert page.input_value("#clock") == "30"
            assert page.input_value(".switches [name=rotation]") == "winner"
            page.reload()
            page.wait_for_selector(".setup")
        page.evaluate("for (let i = 0; i < 3; i++) document.querySelector('button[type=submit]').click()")
        expect(page.locator(".plate.bottom")).to_contain_text("Ayşe 👩‍🚀")
        [session] = tables.sessions.values()
        assert session.table.settings.clock == 30
        assert session.table.settings.rules.rotation == "winner"
        visitor.context.close()


@sizes
def test_the_end_explains_every_number(browser: Browser, size: Any) -> None:
    """Ayşe holds the indicator's twin and shows it, then finishes."""
    rack = FINISHED.replace("K2", "Y4")
    tables = server_of(make_match=dealt(rack))
    with at_a_table(browser, size, tables) as visitor:
        page = visitor.page
        visitor.wait_for_move()
        page.click(".act.show")
        expect(page.locator(".act.show")).to_be_hidden()
        visitor.place(visitor.tiles.index("Y4")).click()
        page.click(".act.finish")
        expect(page.locator("#end-title")).to_have_text("You won the round!")
        expect(page.locator(".last-tile")).to_contain_text("finished with melds · last tile yellow 4")
        expect(page.locator(".end-rack.winner .why")).to_have_text("finished with melds · showed the indicator's twin")
        for other in range(1, 4):
            expect(page.locator(".end-rack .why").nth(other)).to_have_text(
                "−2: Ayşe finished · −1: Ayşe showed the indicator's twin"
            )
        expect(page.locator(".end .sheet tbody tr").nth(1)).to_contain_text("Melds")
        expect(page.locator(".end .sheet tbody tr").nth(1)).to_contain_text("−3")
        page.keyboard.press("Enter")  # the next round: the focus lay on its button, and goes on to the rack
        expect(page.locator("dialog[open]")).to_have_count(0)
        expect(page.locator(".place:focus")).to_have_count(1)


def test_the_keyboard_reaches_everything(browser: Browser) -> None:
    with at_a_table(browser) as visitor:
        page = visitor.page
        visitor.wait_for_move()
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # the first stop leads to the rack
        expect(page.locator(".place:focus")).to_have_count(1)
        page.locator("#tab-score").focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#tab-log")).to_be_focused()
        expect(page.locator(".log")).to_be_visible()
        page.keyboard.press("End")
        expect(page.locator("#tab-keys")).to_be_focused()
        page.keyboard.press("Home")
        visitor.place(0).focus()
        page.keyboard.press("?")
        expect(page.locator("#tab-keys")).to_be_focused()
        expect(page.locator(".keys")).to_contain_text("this list")
        page.set_viewport_size(PHONE)
        page.keyboard.press("Escape")
        expect(page.locator(".panel-button")).to_be_focused()


def test_numbers_on_tiles_have_contrast(browser: Browser) -> None:
    with at_a_table(browser) as visitor:
        least = visitor.page.evaluate(
            """() => {
                 const light = (colour) => {
                   const [r, g, b] = colour.match(/[\\d.]+/g).map((v) => v / 255)
                     .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
                   return 0.2126 * r + 0.7152 * g + 0.0722 * b;
                 };
                 const grounds = [...document.querySelectorAll('#ivory stop, #gilded stop')]
                   .map((e) => light(getComputedStyle(e).stopColor));
                 const inks = [...'RBKY'].map((c) => {
                   const mark = document.querySelector('.rack svg path').cloneNode();
                   mark.setAttribute('class', `c-${c}`);
                   document.querySelector('.rack svg').append(mark);
                   return light(getComputedStyle(mark).fill);
                 });
                 return Math.min(...grounds.flatMap((ground) => inks.map((ink) => (ground + 0.05) / (ink + 0.05))));
               }"""
        )
        assert least >= 4.5


@sizes
def test_my_games_are_found_again(browser: Browser, size: Any, tmp_path: Path) -> None:
    """A match of one round, its line in "My games", its replay, its review, and its end."""
    tables = server_of(tmp_path, make_match=dealt(FINISHED, points=(2, 2, 2, 2)))
    with at_a_table(browser, size, tables) as visitor:
        page = visitor.page
        visitor.wait_for_move()
        visitor.place(visitor.tiles.index("K2")).click()
        page.click(".act.finish")
        expect(page.locator("#end-title")).to_have_text("You won the match!")
        page.go_back()
        page.click("a:has-text('My games')")
        game = page.locator(".games .story")
        while not game.count():  # the server writes twice a second
            page.reload()
            page.wait_for_selector(".games .buttons")
            game.or_(page.get_by_text("stand here")).first.wait_for()
        expect(game).to_contain_text("You 2 · Kerem 0 · Zeynep 0 · Emre 0")
        expect(game).to_contain_text("1 round, 1 won")
        expect(page.locator(".games .sheet tbody tr")).to_contain_text("greedy1 of 1·")
        game.get_by_role("button", name="Review by the coach").click()
        expect(game).to_contain_text("as the coach", timeout=60_000)
        game.get_by_role("button", name="Replay").click()
        expect(page.locator("dialog.replay")).to_be_visible()
        page.locator(".replay input[type=range]").press("End")
        expect(page.locator(".caption")).to_contain_text("You finished with black 2")
        page.keyboard.press("Escape")
        with page.expect_download() as saved:
            game.get_by_role("button", name="Save the record").click()
        assert saved.value.suggested_filename == "okey-match.jsonl"
        game.get_by_role("button", name="Delete").click()
        expect(game).to_have_count(0)
        page.click("button:has-text('Back to the tables')")
        expect(page.locator("form.setup")).to_be_visible()


@sizes
def test_a_block_of_tiles_moves_together(browser: Browser, size: Any) -> None:
    with at_a_table(browser, size) as visitor:
        page = visitor.page
        visitor.wait_for_move()
        page.click(".act.runs")
        expect(visitor.place(0)).to_have_attribute("data-look", re.compile("R1/"))
        start = visitor.tiles.index("B5")
        assert visitor.tiles[start : start + 3] == ["B5", "B6", "B7"]
        before = visitor.tiles
        page.keyboard.down("Shift")
        visitor.drag(visitor.place(start + 1), visitor.place(28))
        page.keyboard.up("Shift")
        assert visitor.tiles[27:30] == ["B5", "B6", "B7"]
        assert sorted(visitor.tiles) == sorted(before)
        visitor.place(27).focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Home")
        page.keyboard.press("Shift+Enter")
        assert visitor.tiles[15:18] == ["B5", "B6", "B7"]
        visitor.place(15).dblclick()  # the server has the same order
        expect(page.locator(".act.draw")).to_be_enabled()
        assert visitor.tiles[15:18] == ["", "B6", "B7"]


def test_your_turn_is_heard_and_stands_in_the_title(browser: Browser) -> None:
    with at_a_table(browser) as visitor:
        page = visitor.page
        visitor.wait_for_move()
        expect(page).to_have_title("● Your turn · Okey")
        page.evaluate(
            "() => { window.tones = 0; const { start } = OscillatorNode.prototype;"
            "OscillatorNode.prototype.start = function (...t) { tones++; start.apply(this, t); }; }"
        )
        visitor.place(0).dblclick()
        expect(page.locator(".act.draw")).to_be_enabled()
        expect(page).to_have_title("● Your turn · Okey")
        assert page.evaluate("tones") == 2
        page.click("button[aria-label=Sound]")
        page.click(".act.draw")
        expect(page.locator(".act.throw")).to_be_visible()
        visitor.place(1).dblclick()
        expect(page.locator(".act.draw")).to_be_enabled()
        assert page.evaluate("tones") == 2


def test_the_first_page_is_small(browser: Browser) -> None:
    """Below 150 kB without compression, with everything that it loads."""
    with serving(server_of()) as url:
        page = browser.new_page()
        sizes: list[int] = []
        page.on("response", lambda response: sizes.append(len(response.body())))
        page.goto(url)
        page.wait_for_selector(".setup")
        page.wait_for_load_state("networkidle")
        assert len(sizes) > 15
        assert sum(sizes) < 150_000
        page.close()


def test_the_three_languages_have_the_same_texts(browser: Browser) -> None:
    with serving(server_of()) as url:
        visitor = Visitor(browser, url)
        keys = visitor.page.evaluate(
            """async () => {
                 const keys = (texts, path) => Object.entries(texts).flatMap(([key, text]) =>
                   text && typeof text === 'object' && !Array.isArray(text) ? keys(text, `${path}${key}.`)
                     : [`${path}${key} ${Array.isArray(text) ? text.length : typeof text}`]);
                 const found = await Promise.all(['en', 'tr', 'fr'].map((code) => import(`/text/${code}.js`)));
                 return found.map((texts) => keys(texts.default, '').sort());
               }"""
        )
        assert len(keys[0]) > 200
        assert keys[1] == keys[0]
        assert keys[2] == keys[0]
        visitor.context.close()


def test_turkish_uses_the_players_words(browser: Browser) -> None:
    with serving(server_of(make_match=dealt(FINISHED))) as url:
        visitor = Visitor(browser, url, locale="tr")
        visitor.set_up()
        page = visitor.page
        visitor.wait_for_move()
        expect(page.locator(".act.groups")).to_have_text("Grup")
        expect(page.locator("#tab-score")).to_have_text("Puan")
        expect(page.locator("#tab-log")).to_have_text("Hamleler")
        page.click("#tab-rules")
        assert "sayıyla başlar" not in page.locator(".rules").inner_text()
        visitor.place(visitor.tiles.index("K2")).click()
        page.click(".act.finish")
        expect(page.locator(".last-tile")).to_contain_text("perle bitti · son taş siyah 2")
        visitor.context.close()
