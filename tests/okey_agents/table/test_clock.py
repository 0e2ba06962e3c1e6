"""The clock of a table: who may take how long, when a bot plays a turn, and who comes back."""

import pytest

import okey_agents.table.web.table as table_module
from okey_agents.table.web.settings import Settings
from okey_agents.table.web.table import BANK, NEXT_ROUND, PATIENCE, Table
from okey_agents.table.web.views import view
from okey_env.bots import make_bot

CLOCK = 15


class Time:
    """Stands for the module `time`: it goes on only when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    time = monotonic

    def strftime(self, _: str) -> str:
        return "2026-12-01"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(table_module, "time", time)
    return time


def table_of(clock: int = CLOCK) -> Table:
    """Four people sit and have begun."""
    table = Table(Settings(clock=clock, seats=("person",) * 4), 3)
    for name in "ABCD":
        seat, _ = table.take_seat(name)
        table.connect(seat)
    return table


def left_of(table: Table) -> float | None:
    return table.seconds_left


def play_turn(table: Table) -> int:
    """Play the turn as a bot does; returns the seat."""
    bot, seat = make_bot("greedy", 1), table.match.round.turn
    while table.stage == "play" and table.match.round.turn == seat:
        table.play(bot.act(table.match.round.observe(seat)))
    return seat


def play_round(table: Table) -> None:
    while table.stage == "play":
        play_turn(table)


def test_a_bot_plays_a_turn_when_the_time_of_the_turn_and_the_bank_are_used_up(clock: Time) -> None:
    table = table_of()
    mover = table.match.round.turn
    assert view(table, 0)["clock"] == {"at": 1_000_000, "for": 1000 * (CLOCK + BANK), "turn": 1000 * CLOCK}
    clock.now += CLOCK + BANK - 1
    assert table.bot_to_move() is None
    assert left_of(table) == 1
    clock.now += 1
    assert table.bot_to_move() == mover
    assert left_of(table) is None
    play_turn(table)
    assert table.seats[mover].bank == 0
    assert table.bot_to_move() is None  # the next person has their own time
    assert table.seconds_left == CLOCK + BANK


def test_only_what_a_turn_takes_beyond_its_time_comes_from_the_bank(clock: Time) -> None:
    table = table_of()
    clock.now += CLOCK + 7
    first = play_turn(table)
    clock.now += CLOCK - 1
    second = play_turn(table)
    assert [table.seats[seat].bank for seat in (first, second)] == [BANK - 7, BANK]


def test_who_misses_two_turns_is_played_at_once_until_they_come_back(clock: Time) -> None:
    table = table_of()
    idle = table.match.round.turn
    for _ in range(2):
        clock.now += CLOCK + BANK
        assert table.bot_to_move() == idle
        assert not view(table, idle)["seats"][idle]["bot_plays"]
        play_turn(table)
        while table.match.round.turn != idle:
            play_turn(table)
    assert table.bot_to_move() == idle
    assert view(table, idle)["seats"][idle]["bot_plays"]
    assert view(table, idle)["clock"] is None
    table.wake(idle)
    assert table.bot_to_move() is None
    assert table.seconds_left == CLOCK  # no bank is left in this round
    assert not view(table, idle)["seats"][idle]["bot_plays"]


def test_the_next_round_begins_by_itself_and_banks_are_full_again(clock: Time) -> None:
    table = table_of()
    clock.now += CLOCK + 9
    play_round(table)
    assert table.stage == "round_over"
    assert table.seconds_left == NEXT_ROUND
    table.time_up()
    assert table.stage == "round_over"
    clock.now += NEXT_ROUND
    table.time_up()
    assert table.stage == "play"
    assert [seat.bank for seat in table.seats] == [BANK] * 4


def test_without_a_clock_nobody_is_hurried(clock: Time) -> None:
    table = table_of(clock=0)
    clock.now += 1e6
    assert table.bot_to_move() is None
    assert table.seconds_left is None
    play_round(table)
    clock.now += 1e6
    table.time_up()
    assert table.stage == "round_over"
    table.ready(2)  # but who is idle when the others want to go on does not stop them for ever
    clock.now += PATIENCE - 1
    table.ready(3)
    assert left_of(table) == 1
    clock.now += 1
    table.time_up()
    assert table.stage == "play"


def test_while_nobody_is_there_no_clock_runs(clock: Time) -> None:
    table = table_of()
    for seat in range(4):
        table.disconnect(seat)
    clock.now += 1e6
    assert table.bot_to_move() is None
    table.connect(table.match.round.turn)
    assert table.bot_to_move() is None
    assert table.seconds_left == CLOCK + BANK
