"""A budget: when it ends, when it measures, and that measuring is free."""

import sys
import types
from typing import Any

import pytest

from okey_agents.training.budget import Budget


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_it_ends_when_the_decisions_are_used_up() -> None:
    budget = Budget(decisions=100)
    assert budget.decisions == 100
    assert [budget.goes_on(done, lambda: "random") for done in (0, 50, 99, 100, 150)] == [True] * 3 + [False] * 2
    assert budget.share == 1.0
    assert budget.decisions_spent == 150
    assert budget.curve == []


def test_it_ends_when_the_cpu_seconds_are_used_up() -> None:
    clock = Clock()
    budget = Budget(cpu_seconds=10, clock=clock)
    assert budget.goes_on(0, lambda: "random")
    clock.now += 9.9
    assert budget.goes_on(10**9, lambda: "random")
    assert budget.share == pytest.approx(0.99)
    clock.now += 0.1
    assert not budget.goes_on(10**9, lambda: "random")


def test_the_share_is_that_of_the_nearer_limit() -> None:
    clock = Clock()
    budget = Budget(decisions=100, cpu_seconds=10, clock=clock)
    budget.goes_on(20, lambda: "random")
    clock.now += 1
    assert budget.share == pytest.approx(0.2)
    clock.now += 4
    assert budget.share == pytest.approx(0.5)
    clock.now += 400
    assert budget.share == 1.0


def test_the_process_time_counts_and_sleep_does_not() -> None:
    import time

    budget = Budget(cpu_seconds=0.05)
    time.sleep(0.06)
    assert budget.goes_on(0, lambda: "random")
    while budget.cpu < 0.05:
        sum(range(1_000))
    assert not budget.goes_on(0, lambda: "random")


def test_points_are_measured_at_shares_that_grow_by_a_factor() -> None:
    budget = Budget(decisions=6_400, measurer=lambda bot: f"measured {bot}", points=3)
    done = 0
    while budget.goes_on(done, lambda now=done: f"after {now}"):  # type: ignore[misc]
        done += 10
    assert [point.decisions for point in budget.curve] == [100, 400, 1_600]  # 1/64, 1/16, 1/4
    assert [point.result for point in budget.curve] == [f"measured after {done}" for done in (100, 400, 1_600)]


def test_one_point_is_measured_where_several_were_due() -> None:
    budget = Budget(decisions=6_400, measurer=lambda bot: bot, points=3)
    assert budget.goes_on(3_000, lambda: "random")
    assert budget.goes_on(6_000, lambda: "greedy")
    assert [(point.decisions, point.result) for point in budget.curve] == [(3_000, "random")]


def test_measuring_is_not_spent() -> None:
    clock = Clock()

    def measurer(bot: Any) -> Any:
        clock.now += 1_000
        return bot

    def make_bot() -> str:
        clock.now += 500
        return "random"

    budget = Budget(cpu_seconds=64, measurer=measurer, points=2, clock=clock)
    for _ in range(63):
        clock.now += 1
        assert budget.goes_on(0, make_bot)
    assert budget.cpu == pytest.approx(63)
    assert [point.cpu for point in budget.curve] == pytest.approx([1, 8])


def test_the_bot_is_not_asked_for_without_a_measurer() -> None:
    def fails() -> str:
        raise AssertionError

    budget = Budget(decisions=10, points=5)
    assert all(budget.goes_on(done, fails) for done in range(10))


def test_torch_has_one_thread_also_if_it_is_imported_later(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = Budget(decisions=10)
    threads: list[int] = []
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(set_num_threads=threads.append))
    budget.goes_on(0, lambda: "random")
    assert threads == [1]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "decisions=None and cpu_seconds=None: expected a limit"),
        ({"decisions": 0}, "decisions=0 is out of range: expected 1 or more"),
        ({"cpu_seconds": 0.0}, "cpu_seconds=0.0 is out of range: expected more than 0"),
        ({"decisions": 1, "points": -1}, "points=-1 is out of range: expected 0"),
    ],
)
def test_wrong_limits(limits: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Budget(**limits)


def test_decisions_do_not_fall() -> None:
    budget = Budget(decisions=10)
    budget.goes_on(5, lambda: "random")
    with pytest.raises(ValueError, match="decisions=4 is out of range: expected 5 or more"):
        budget.goes_on(4, lambda: "random")
