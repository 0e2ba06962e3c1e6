"""A bot may do what it likes: an evaluation goes on, says what happened, and gives the same numbers in any process."""

import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okey_agents.bots.greedy import GreedyBot
from okey_agents.cli import main
from okey_agents.errors import BotFailureError, BotWarning
from okey_agents.evaluate.arena import evaluate
from okey_agents.evaluate.guard import process_guard
from okey_agents.evaluate.ladder import play_ladder
from okey_agents.evaluate.report import names_apart
from okey_env import Observation
from tests.places import ROOT


class Sometimes:
    """Plays its first legal action, and does something else once eight tiles are thrown."""

    name = "sometimes"

    def act(self, observation: Observation) -> Any:
        return self.misbehave() if observation.throws == 8 else observation.legal_actions[0]

    def misbehave(self) -> Any:
        raise NotImplementedError


class Exits(Sometimes):
    def misbehave(self) -> Any:
        sys.exit("enough")


class Interrupts(Sometimes):
    def misbehave(self) -> Any:
        raise KeyboardInterrupt


class OwnKind(Sometimes):
    def misbehave(self) -> Any:
        class Odd(BaseException):
            pass

        raise Odd("very")


class NoText(Sometimes):
    def misbehave(self) -> Any:
        class MuteError(Exception):
            def __str__(self) -> str:
                raise ValueError("no words")

        raise MuteError


class Forks(Sometimes):
    """Its copy must not go on with the evaluation."""

    def misbehave(self) -> Any:
        os.fork()
        return 2  # both reply, and nothing else is wrong but that it is not legal


class ForksAndWaits(Sometimes):
    def misbehave(self) -> Any:
        child = os.fork()
        if child:
            os.waitpid(child, 0)
        return 2


class HasAHelper(Sometimes):
    """A copy that works for the bot and ends by itself, as in a pool of processes, is no failure."""

    def act(self, observation: Observation) -> Any:
        if observation.throws == 8 and not (child := os.fork()):
            os._exit(0)
        elif observation.throws == 8:
            os.waitpid(child, 0)
        return observation.legal_actions[0]


class EndsAll(Sometimes):
    def misbehave(self) -> Any:
        os._exit(0)


class AsksTheLibrary(Sometimes):
    def misbehave(self) -> Any:
        return json.loads("{")


class Answers(Sometimes):
    def misbehave(self) -> Any:
        return True


class NoNumber(Sometimes):
    def misbehave(self) -> Any:
        return "draw"


class Fraction(Sometimes):
    def misbehave(self) -> Any:
        return 2.0


class Nothing(Sometimes):
    def misbehave(self) -> Any:
        return None


class Huge(Sometimes):
    def misbehave(self) -> Any:
        return 2**63


class Array(Sometimes):
    def misbehave(self) -> Any:
        return np.array([1, 2])


class WrongTile(Sometimes):
    def misbehave(self) -> Any:
        return 56


@pytest.fixture
def the_handler_of_python() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("the_handler_of_python")
@pytest.mark.parametrize(
    ("bot", "words"),
    [
        (Exits, "SystemExit: enough, which would have ended the process (.*test_failing_bots.py, line "),
        (Interrupts, "KeyboardInterrupt (.*line "),
        (OwnKind, "Odd: very ("),
        (NoText, "MuteError: (no text: its __str__ raises ValueError)"),
        (Forks, "ForkError: the bot forked, and its copy came back with a reply of its own; the copy was ended"),
        (ForksAndWaits, "ForkError: the bot forked"),
        (EndsAll, "ProcessEndError: os._exit(0), which would have ended the process (.*test_failing_bots.py, line "),
        (AsksTheLibrary, "JSONDecodeError: .*test_failing_bots.py, line "),
        (NoNumber, "TypeError: reply 'draw': expected an action, a whole number from 0 to 108"),
        (Answers, "TypeError: reply True: expected an action"),
        (Fraction, "TypeError: reply 2.0: expected"),
        (Nothing, "TypeError: reply None: expected"),
        (Huge, "illegal reply: a number of more than 12 digits, expected an action from 0 to 108"),
        (Array, "TypeError: reply array([1, 2]): expected"),
        (WrongTile, "illegal reply 56 in the phase of drawing: seat "),
    ],
)
@pytest.mark.filterwarnings("ignore:This process.*fork:DeprecationWarning")
def test_a_bot_that_misbehaves_is_named_and_replaced(bot: Any, words: str) -> None:
    with pytest.warns(BotWarning) as told:
        report = evaluate(bot, "random", deals=3, workers=1)
    failed = report.challenger
    assert 0 < failed.errors + failed.illegal < failed.moves
    parts = words.split(".*")
    assert failed.first_error.startswith(parts[0])
    assert all(part in failed.first_error for part in parts)
    assert failed.first_error in str(told[0].message)
    assert (report.opponents[0].errors, report.opponents[0].illegal) == (0, 0)


@pytest.mark.heavy
@pytest.mark.parametrize("bot", [Exits, Interrupts, Forks, EndsAll])
def test_it_is_the_same_in_another_process(bot: Any) -> None:
    with pytest.warns(BotWarning):
        here, there = (evaluate(bot, "random", deals=101, workers=workers).outcome() for workers in (1, 2))
    assert here == there  # the file and the line of the first error, too


@pytest.mark.usefixtures("the_handler_of_python")
def test_ctrl_c_of_the_user_stops_the_evaluation() -> None:
    def presses(observation: Observation) -> int:
        signal.raise_signal(signal.SIGINT)
        return observation.legal_actions[0]

    with pytest.raises(KeyboardInterrupt):
        evaluate(presses, "random", deals=3, workers=1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("measured", ["challenger", "opponent", "ladder"])
def test_a_bot_that_fails_at_every_move_is_an_error(measured: str) -> None:
    def hopeless(observation: Observation) -> int:
        raise ValueError("[/nope]")

    runs: dict[str, Callable[[], object]] = {
        "challenger": lambda: evaluate(hopeless, "random", deals=3, workers=1),
        "opponent": lambda: evaluate("random", hopeless, deals=3, workers=1),
        "ladder": lambda: play_ladder(["random", hopeless], deals=3, workers=1),
    }
    words = r"^hopeless failed at every one of its [\d,]+ moves: ValueError: \[/nope\] \(.*line \d+\)$"
    with pytest.raises(BotFailureError, match=words):
        runs[measured]()


def test_the_command_says_it_in_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def hopeless(self: Any, records: Any) -> Any:
        raise ValueError("[/nope]")

    monkeypatch.setattr(GreedyBot, "act_batch", hopeless)
    monkeypatch.setattr(GreedyBot, "act", hopeless)
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", "greedy", "random", "--deals", "2", "--workers", "1"])
    assert ended.value.code == 1
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("okey: greedy failed at every one of its ")
    assert "ValueError: [/nope] (" in said


def test_bots_of_one_name_are_told_apart() -> None:
    assert names_apart(["a", "b", "a", "a"]) == ["a", "b", "a (2)", "a (3)"]
    assert names_apart(["a", "a", "a (2)"]) == ["a", "a (3)", "a (2)"]
    report = evaluate("greedy", "greedy", deals=2, workers=1)
    assert [report.challenger.name, report.opponents[0].name] == ["greedy", "greedy (2)"]
    assert "greedy against greedy (2)" in str(report)


def test_a_bot_that_behaves_gives_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate("greedy", "random", deals=2, workers=1)


@pytest.mark.filterwarnings("ignore:This process.*fork:DeprecationWarning")
def test_a_copy_that_works_for_the_bot_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_guard, "_COPY_RETURNS_WITHIN", 0.0)
    ended = os._exit
    assert evaluate(HasAHelper(), "random", deals=2, workers=1).challenger.failures == ""
    assert os._exit is ended


SCRIPT = """
import os, sys
from pathlib import Path
from okey_agents.evaluate.arena import evaluate

def restless(observation):
    os.chdir("/")
    if observation.throws == 8:
        sys.stdout.close()
    return observation.legal_actions[0]

def fails(observation):
    if observation.throws == 8:
        raise ValueError
    return observation.legal_actions[0]

evaluate(restless, "random", deals=2, workers=1, records=Path("records"))
print(os.getcwd(), len(list(Path("records").iterdir())))
print(evaluate(fails, "random", deals=101, workers=2).challenger.first_error)
"""


@pytest.mark.heavy
def test_a_script_keeps_its_folder_its_output_and_the_place_of_an_error(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text(SCRIPT, encoding="utf-8")
    path = os.pathsep.join((str(ROOT), str(ROOT / "agents")))
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", file.name],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    folder, error = ran.stdout.splitlines()
    assert folder == f"{tmp_path} 8"
    assert error == f"ValueError ({file}, line 14)"
