"""Takes the pictures of the table for docs/: `scripts/screenshots.py [FOLDER]`, with Debian's Chromium."""

import shutil
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from okey_agents.table.web.table_server import TableServer
from okey_env import Deal
from okey_env.match import Match
from tests.okey_agents.table.serving import same_seeds, serving

ROOT = Path(__file__).resolve().parent.parent
SIZES = {"1440": {"width": 1440, "height": 900}, "360": {"width": 360, "height": 640}}
RACK = "R1 R2 R3 R4 B5 B6 B7 K9 Y9 R9 Y11 Y12 Y13 * K2"
NEARLY = "R2 R3 R4 B6 B7 B8 K9 Y9 R9 Y11 Y12 K5 F * K2"


def server(rack: str) -> TableServer:
    """Tables whose first round begins from one rack, the same in every run."""
    deal = Deal(indicator="Y4", racks=(rack, None, None, None))
    points = (9, 7, 2, 11)
    return TableServer(make_match=lambda rules, seed: Match(rules, 7, deal, points), new_seed=same_seeds())


def sit_down(page: Page, url: str) -> None:
    """Set a table up and begin."""
    page.goto(url)
    page.fill("#name", "Ayşe")
    page.select_option("#pace", "fast")
    page.click("button[type=submit]")
    page.wait_for_selector(".deck.mine")
    page.wait_for_timeout(1000)


def shoot(page: Page, folder: Path, name: str) -> None:
    """One picture, when everything has come to rest."""
    page.wait_for_timeout(700)
    page.screenshot(path=folder / f"{name}.png")


def play_a_while(page: Page, turns: int) -> None:
    """Draw, and throw the last tile of the rack, until there have been so many turns or the round is over."""
    for _ in range(turns):
        page.wait_for_selector(".deck.mine, dialog.end[open]")
        if page.locator("dialog.end[open]").count():
            return
        if page.locator(".act.draw").is_visible():
            page.click(".act.draw")
            page.wait_for_selector(".act.throw:visible")
        page.locator(".place:has(.tile)").last.click()
        page.click(".act.throw")
        page.wait_for_selector(".act.draw:visible, dialog.end[open]")
    page.wait_for_selector(".deck.mine")


def pictures(browser: Browser, folder: Path, size: str) -> None:
    """All pictures of one size."""
    options: Any = {
        "viewport": SIZES[size],
        "has_touch": size == "360",
        "device_scale_factor": 2 if size == "360" else 1,
    }
    with serving(server(NEARLY)) as url:
        page = browser.new_context(**options).new_page()
        page.set_default_timeout(60_000)
        page.goto(url)
        page.wait_for_selector(".setup")
        shoot(page, folder, f"home-{size}")
        sit_down(page, url)
        page.click(".act.runs")
        play_a_while(page, 3)
        page.click(".act.draw")
        page.wait_for_selector(".act.throw:visible")
        shoot(page, folder, f"play-{size}")
        page.click(".act.hint")
        page.wait_for_selector(".bubble b")
        shoot(page, folder, f"hint-{size}")
        page.context.close()
    with serving(server(RACK)) as url:
        page = browser.new_context(**options, locale="tr").new_page()
        page.set_default_timeout(60_000)
        sit_down(page, url)
        page.locator(".place:has(.wild)").click()
        page.click(".act.flip")
        page.locator(".place .tile").first.click()
        page.click(".act.finish")
        shoot(page, folder, f"refused-{size}")
        page.locator(".place[data-look^='K2']").click()
        page.click(".act.finish")
        page.wait_for_selector("dialog.end[open]")
        page.evaluate("document.querySelector('#toasts').replaceChildren()")
        shoot(page, folder, f"end-{size}")
        page.context.close()
    with serving(server(NEARLY)) as url:
        page = browser.new_context(**options, locale="fr", reduced_motion="reduce").new_page()
        page.set_default_timeout(60_000)
        sit_down(page, url)
        play_a_while(page, 30)
        page.click("dialog.end .buttons button:nth-child(2)")
        page.locator(".replay input[type=range]").press("End")
        for _ in range(4):
            page.locator(".replay input[type=range]").press("ArrowLeft")
        shoot(page, folder, f"replay-{size}")
        page.context.close()


def main() -> None:
    """Take them all."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for size in SIZES:
            pictures(browser, folder, size)
        browser.close()
    try:  # fewer colours make them small
        from PIL import Image
    except ModuleNotFoundError:
        return
    for path in folder.glob("*.png"):
        Image.open(path).convert("RGB").quantize(256, kmeans=3, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
