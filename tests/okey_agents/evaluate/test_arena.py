"""The arena: fair, the same numbers on any number of processes, and unmoved by bots that fail."""

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from okey_agents.bots.greedy import GreedyBot
from okey_agents.bots.random import RandomBot
from okey_agents.errors import BotWarning
from okey_agents.evaluate.arena import evaluate
from okey_agents.evaluate.statistics import Interval, clustered_interval, t_quantile
from okey_env.actions import NUM_ACTIONS
from okey_env.engine.batch import observed_mask_in
from okey_env.observation import Observation
from okey_env.record import Record


@pytest.mark.heavy
def test_the_numbers_are_the_same_for_any_number_of_processes() -> None:
    one = evaluate(GreedyBot, RandomBot, deals=250, seed=4, workers=1)
    two = evaluate(GreedyBot, RandomBot, deals=250, seed=4, workers=2)
    assert one.outcome() == two.outcome()
    assert one.outcome() != evaluate(GreedyBot, RandomBot, deals=250, seed=5, workers=1).outcome()


@pytest.mark.parametrize("bot", [GreedyBot, RandomBot])
def test_a_bot_against_itself_has_exactly_nothing(bot: Any) -> None:
    report = evaluate(bot, bot, deals=40, workers=1)
    assert report.points == Interval(0, 0, 0)
    finished = 1 - report.void_rate - report.truncated_rate
    assert report.win_share.mean == pytest.approx(finished / 4)


def test_greedy_beats_random() -> None:
    """Four standard errors clear of what 20,000 rounds gave: a change of play fails, luck once in 16,000 changes."""
    report = evaluate(GreedyBot, RandomBot, deals=150, seed=1, workers=1)
    error = report.points.margin / t_quantile(report.deals - 1)
    assert report.points.mean - 4 * error > 0
    assert abs(report.points.mean - 4.94) < 4 * error
    assert report.win_share.low > 0.25


def test_three_opponents_sit_to_the_right_in_order() -> None:
    report = evaluate(RandomBot, [GreedyBot, RandomBot, GreedyBot], deals=10, workers=1)
    assert [player.name for player in report.opponents] == ["greedy", "random (2)", "greedy (2)"]
    assert report.points.mean < 0
    assert report.rounds == 40


def first_legal(observation: Observation) -> int:
    """A bot with nothing but a function."""
    return observation.legal_actions[0]


LOCK = threading.Lock()


def waiting(observation: Observation) -> int:
    """A bot that no other process can have."""
    with LOCK:
        return observation.legal_actions[0]


waiting.__module__ = "__main__"  # so that it is sent by what it is


def test_a_function_is_a_challenger() -> None:
    report = evaluate(first_legal, RandomBot, deals=3, workers=1)
    assert report.challenger.name == "first_legal"
    assert (report.challenger.illegal, report.challenger.errors) == (0, 0)


class Failing(GreedyBot):
    """Raises at most throws, alone or in a batch, and has its own ideas about drawing."""

    name = "failing"

    def act(self, observation: Observation) -> int:
        if observation.phase == "throw" and observation.throws > 3:
            raise RuntimeError("no idea")
        return 10**30 if observation.phase == "draw" else observation.legal_actions[0]

    def act_batch(self, records: npt.NDArray[np.record]) -> npt.NDArray[np.int64]:
        raise RuntimeError("no idea")


def test_a_bot_that_fails_is_counted_and_replaced() -> None:
    with pytest.warns(BotWarning, match="^failing failed, and legal actions stand in for its moves: "):
        report = evaluate(Failing, RandomBot, deals=5, workers=1)
    failed = report.challenger
    assert failed.errors > 0
    assert failed.illegal > 0
    assert 0 < failed.moves - failed.errors - failed.illegal < failed.moves / 4
    assert "10**" not in failed.first_error
    assert "illegal reply: a number of more than 12 digits, expected an action from 0 to 108" in failed.first_error
    assert str(report).startswith(f"failing failed: {failed.failures[:40]}")  # the report leads with it
    assert (report.opponents[0].errors, report.opponents[0].illegal) == (0, 0)


class Stalling:
    """Does not come back once twelve tiles are thrown."""

    name = "stalling"

    def reset(self, seed: int) -> None:
        pass

    def act(self, observation: Observation) -> int:
        if observation.throws >= 12:
            self.hang()
        return observation.legal_actions[0]

    def hang(self) -> None:
        while True:
            time.sleep(0.01)


class StallingInBatches(Stalling):
    """The same, and a batch stalls with its first game that does."""

    def act_batch(self, records: npt.NDArray[np.record]) -> npt.NDArray[np.int64]:
        if (records["throws"] >= 12).any():
            self.hang()
        masks = np.zeros((len(records), NUM_ACTIONS), np.int8)
        for i in range(len(records)):
            observed_mask_in(records, i, masks[i])
        actions: npt.NDArray[np.int64] = masks.argmax(axis=1)
        return actions


class Deaf(Stalling):
    """The same, and no alarm wakes it: as code is that does not come back to Python."""

    def hang(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        super().hang()


class Dying(Stalling):
    """Takes its process down."""

    def hang(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("bot", "workers", "why"),
    [
        (Stalling, 1, "no reply within 0.2 s"),
        (StallingInBatches, 1, "no reply within 0.2 s"),
        (Deaf, 2, "no reply within 0.2 s"),
        (Dying, 2, "it ended the process"),
    ],
)
def test_a_bot_that_stalls_is_stopped_counted_and_replaced(bot: Any, workers: int, why: str) -> None:
    with pytest.warns(BotWarning, match=why):
        report = evaluate(bot, RandomBot, deals=2, workers=workers, move_limit=0.2)
    failed = report.challenger
    assert failed.stalled == 3
    assert failed.unasked > 0
    assert failed.first_error == why
    assert (
        failed.failures
        == f"3 stalls, {failed.unasked:,} moves not asked for after stalls in {failed.moves:,} moves: {why}"
    )
    assert (failed.errors, failed.illegal) == (0, 0)
    assert report.opponents[0].failures == ""
    assert report.rounds == 8


class DyingInBatches(GreedyBot):
    """Takes its process down when it is asked about more than one game."""

    def act_batch(self, records: npt.NDArray[np.record]) -> npt.NDArray[np.int64]:
        if len(records) > 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act_batch(records)


@pytest.mark.heavy
def test_only_a_move_that_fails_alone_counts() -> None:
    report = evaluate(DyingInBatches, RandomBot, deals=2, seed=4, workers=2)
    assert report.challenger.failures == ""
    assert report.outcome() == evaluate(GreedyBot, RandomBot, deals=2, seed=4, workers=1).outcome()


class NotResetting(GreedyBot):
    """Cannot be reset, and plays all the same."""

    def __init__(self) -> None:
        super().reset(0)

    def reset(self, seed: int) -> None:
        raise RuntimeError("no idea")


def test_a_failing_reset_is_counted() -> None:
    with pytest.warns(BotWarning, match="RuntimeError: no idea"):
        report = evaluate(NotResetting, RandomBot, deals=150, workers=1)
    assert report.challenger.errors == 2  # chunks
    assert report.challenger.first_error.startswith("RuntimeError: no idea (")
    assert "test_arena.py, line " in report.challenger.first_error
    assert report.points.low > 0


def test_a_void_round_is_no_difference_between_bots() -> None:
    """R5.5: what everybody loses in a void round is nobody's gain; R7.2: what was shown stands."""
    rules = {"max_throws": 1, "void_points": 5, "indicator_points": 0}
    report = evaluate(GreedyBot, RandomBot, deals=20, rules=rules, workers=1)
    assert report.truncated_rate == 1
    assert report.points == Interval(0, 0, 0)
    shown = evaluate(GreedyBot, RandomBot, deals=100, rules=rules | {"indicator_points": 1}, workers=1)
    assert shown.points.mean > 0


def test_the_report_as_json(tmp_path: Path) -> None:
    report = evaluate(GreedyBot, RandomBot, deals=4, rules="klasik", workers=1)
    report.write_json(tmp_path / "report.json")
    data = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    for key in ("points", "win_share"):
        assert set(data[key]) == {"mean", "low", "high"}
        assert data[key]["low"] <= data[key]["mean"] <= data[key]["high"]
    assert (data["rules"], data["deals"], data["rounds"]) == ("klasik", 4, 16)
    assert data["challenger"]["name"] == "greedy"
    assert [player["name"] for player in data["opponents"]] == ["random"]
    assert {"date", "commit", "versions", "command"} <= set(data["made"])
    shares = [share for shares in data["finishes"].values() for share in shares.values()]
    assert sum(shares) + data["void_rate"] + data["truncated_rate"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"deals": 1}, "deals=1 is out of range: expected 2 to 100000000, since an interval needs 2"),
        ({"seed": -1}, "seed=-1 is out of range"),
        ({"workers": 0}, "workers=0 is out of range"),
        ({"move_limit": 0}, "move_limit=0 is out of range"),
        ({"rules": "poker"}, "'poker' is not a preset"),
        ({"opponents": [RandomBot, RandomBot]}, "expected one bot, or three: right, opposite, left"),
        ({"opponents": "nobody"}, "no bot 'nobody'"),
        ({"challenger": waiting, "deals": 300, "workers": 2}, "workers=2 needs bots that another process can make: "),
    ],
)
def test_what_cannot_be_evaluated_is_said(arguments: dict[str, Any], message: str) -> None:
    usual: dict[str, Any] = {"challenger": GreedyBot, "opponents": RandomBot, "workers": 1}
    with pytest.raises(ValueError, match=message):
        evaluate(**(usual | arguments))


def test_intervals_are_clustered_by_deal() -> None:
    alike = clustered_interval([[1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]])
    apart = clustered_interval([[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
    assert alike.mean == apart.mean == 0.5
    assert alike.margin == pytest.approx(t_quantile(3) * np.sqrt(1 / 3) / 2)
    assert apart.margin == 0
    with pytest.raises(ValueError, match="at least 2 deals, got 1"):
        clustered_interval([[1, 0, 0, 0]])


@pytest.mark.parametrize(
    ("freedom", "tabled"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (10, 2.228), (30, 2.042), (100, 1.984)],
)
def test_t_quantiles_are_those_of_the_tables(freedom: int, tabled: float) -> None:
    assert t_quantile(freedom) == pytest.approx(tabled, rel=0.01 if freedom < 10 else 0.0003)


def test_every_round_can_be_kept_as_a_record(tmp_path: Path) -> None:
    report = evaluate(GreedyBot, RandomBot, deals=2, seed=3, workers=1, records=tmp_path / "rounds")
    files = sorted((tmp_path / "rounds").iterdir())
    assert [file.name for file in files[:4]] == [f"deal-000000-seat-{seat}.jsonl" for seat in range(4)]
    won = []
    for number, file in enumerate(files):
        record = Record.read(file)
        record.verify()
        assert list(record.players).index("greedy") == number % 4
        won.append(record.at(-1).round.winner == number % 4)
    assert np.mean(won) == report.win_share.mean
