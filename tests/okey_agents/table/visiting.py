"""A person with a browser of their own at a table, for tests that need a page: Debian's headless Chromium."""

import shutil
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from okey_agents.table.web.table_server import Limits, TableServer
from okey_env import Deal
from okey_env.match import Match
from tests.okey_agents.table.serving import same_seeds

expect.set_options(timeout=30_000)  # on a busy machine five seconds are not enough
CHROMIUM = shutil.which("chromium")
FINISHED = "R1 R2 R3 R4 B5 B6 B7 K9 Y9 R9 Y11 Y12 Y13 * K2"
SMALL_PHONE: Any = {"width": 360, "height": 640}
PHONE: Any = {"width": 390, "height": 844}
DESK: Any = {"width": 1440, "height": 900}
SIZES = [DESK, PHONE, SMALL_PHONE]


class Visitor:
    """Somebody with a browser of their own."""

    def __init__(self, browser: Browser, url: str, size: Any = DESK, **options: Any) -> None:
        self.context: BrowserContext = browser.new_context(viewport=size, **options)
        self.context.set_default_timeout(30_000)
        self.page: Page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda line: self.faults.append(line.text) if line.type == "error" else None)
        self.page.goto(url)

    def set_up(self, name: str = "Ayşe", **seats: str) -> None:
        page = self.page
        page.fill("#name", name)
        page.evaluate("document.querySelector('#pace').append(new Option('instant', 'instant'))")
        page.select_option("#pace", "instant")
        for seat in ("1", "2", "3"):
            page.select_option(f"#seat-{seat}", seats.get(f"seat_{seat}", "greedy"))
        page.click("button[type=submit]")
        page.wait_for_selector(".table, .lobby")

    def drag(self, what: Locator, to: Locator) -> None:
        a, b = self._still(what), self._still(to)
        mouse = self.page.mouse
        mouse.move(a["x"] + a["width"] / 2, a["y"] + a["height"] / 2)
        mouse.down()
        mouse.move(b["x"] + b["width"] / 2, b["y"] + b["height"] / 2, steps=4)
        mouse.up()

    def _still(self, what: Locator) -> Any:
        """Where something is, once it does not move any more."""
        box = what.bounding_box()
        while True:
            self.page.wait_for_timeout(40)
            before, box = box, what.bounding_box()
            if box is not None and box == before:
                return box

    @property
    def tiles(self) -> list[str]:
        """What each place of the rack holds."""
        looks = self.page.locator(".place").evaluate_all("cells => cells.map(cell => cell.dataset.look ?? '')")
        return [look.split("/")[0] for look in looks]

    def place(self, number: int) -> Locator:
        return self.page.locator(".place").nth(number)

    def free_place(self) -> Locator:
        return self.place(self.tiles.index(""))

    @property
    def stock(self) -> Locator:
        return self.page.locator(".stock")

    @property
    def throws(self) -> Locator:
        return self.page.locator(".heap.bottom-right")

    def wait_for_move(self) -> bool:
        """Until it is this player's move; False if the round has ended."""
        self.page.wait_for_selector(".deck.mine, dialog.end[open]")
        return self.page.locator("dialog.end[open]").count() == 0

    def advice(self) -> str:
        """What the coach says, as the kind of move."""
        self.page.keyboard.press("h")
        # The first advice on a machine waits for the coach's kernels, which take a minute to compile beside other work.
        self.page.wait_for_selector(".bubble:not([hidden]):not(:has-text('thinking'))", timeout=300_000)
        text = self.page.locator(".bubble").inner_text()
        return text.split()[0].rstrip(".:").lower()

    def advised(self) -> Locator:
        return self.page.locator(".place.advised").first


def server_of(data: Path | None = None, **options: Any) -> TableServer:
    limits = Limits(grace=0.2, messages_per_second=1e6, burst=10**6)
    return TableServer(data, limits=limits, new_seed=same_seeds(), worlds=0, **options)


def dealt(*racks: str | None, **options: Any) -> Any:
    deal = Deal(indicator="Y4", racks=[*racks, *[None] * (4 - len(racks))])
    return lambda rules, seed: Match(rules, seed, deal, **options)
