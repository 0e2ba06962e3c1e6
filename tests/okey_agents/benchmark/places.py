"""Suites for tests."""

import dataclasses
from pathlib import Path
from typing import Any

from okey_agents.benchmark.suite import Algorithm, Spending, Suite

HERE = Path(__file__).parent
TINY = Spending(decisions=100, deals=20, curve_points=2, curve_deals=2)


def algorithm(name: str, entry: str = "train", **options: Any) -> Algorithm:
    """One of `algorithms.py`."""
    return Algorithm(name, f"algorithms.py:{entry}", options, HERE)


def suite(*algorithms: Algorithm, seeds: int = 1, tasks: tuple[str, ...] = ("okey/Race-v0",), **budget: Any) -> Suite:
    """A suite with a tiny budget."""
    spending = dataclasses.replace(TINY, **budget)
    return Suite("tiny", "For tests.", tasks, algorithms, tuple(range(seeds)), dict.fromkeys(tasks, spending))
