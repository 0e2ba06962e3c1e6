"""Settings for all tests: property tests that are the same on every run, quiet threads, a word on skipped tests."""

import os
import random
import secrets
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

# Before torch is imported anywhere: its idle threads would otherwise spin beside the tests.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # windows that nobody sees

# The first example compiles kernels, so time says nothing. `--hypothesis-profile explore` looks for new cases.
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, max_examples=2_000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")


@pytest.fixture(autouse=True)
def _same_seeds_in_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test does not seed is dealt from the same seeds each time, so that no rare deal fails it now and then."""
    monkeypatch.setattr(secrets, "randbits", random.Random(1).getrandbits)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with heavy tests come first, so that two processes which share out the files end at about the same time."""
    heavy = Counter(item.path for item in items if item.get_closest_marker("heavy"))
    items.sort(key=lambda item: -heavy[item.path])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end how many tests were skipped for want of what, and how to get it."""
    reports = terminalreporter.getreports("skipped")
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in reports)
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(
            f"{count} {'test was' if count == 1 else 'tests were'} skipped: {reason}", yellow=True
        )
