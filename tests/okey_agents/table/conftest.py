"""The browsers of all tests that open the page."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from tests.okey_agents.table.visiting import CHROMIUM


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def browser(request: pytest.FixtureRequest, playwright: Playwright) -> Iterator[Browser]:
    """Debian's Chromium, and the Firefox of Playwright where it is installed."""
    if request.param == "chromium":
        if CHROMIUM is None:
            pytest.skip("there is no chromium: apt-get install chromium")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    else:
        if not Path(playwright.firefox.executable_path).exists():
            pytest.skip("Playwright has no Firefox here: playwright install firefox")
        browser = playwright.firefox.launch()
    yield browser
    browser.close()
