"""Text of any origin, on any terminal."""

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.table import Table

from okey_agents import cli
from okey_agents.bots.greedy import GreedyBot
from okey_agents.console import PlainConsole, one_line, printable
from okey_env.record import Record
from okey_env.round import Round
from tests.places import ROOT

NASTY = "[/nope] [red]x[/red] :smile: \x1b[2J\u202e\ud800 é"


class Nasty(GreedyBot):
    """A bot with a name that a terminal would obey."""

    name = NASTY


def run_in(encoding: str, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a command prints to a stream of an encoding."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    cli.main(arguments)
    stream.flush()
    written = stream.buffer
    assert isinstance(written, io.BytesIO)
    return written.getvalue().decode(encoding)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp1254", "utf-8"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("bots",),
        ("rules", "klasik"),
        ("tasks",),
        ("evaluate", "greedy", "random", "--deals", "2", "--workers", "1"),
        ("ladder", "greedy", "random", "--deals", "2", "--workers", "1"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_commands_print_in_every_encoding(
    encoding: str, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = run_in(encoding, *arguments, monkeypatch=monkeypatch)
    assert len(printed) > 40
    if encoding == "ascii" and arguments[0] == "evaluate":
        assert "+-" in printed  # for ±


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
@pytest.mark.parametrize("verb", ["evaluate", "ladder"])
def test_the_name_of_a_bot_is_not_obeyed(verb: str, encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GreedyBot, "name", NASTY)
    monkeypatch.setenv("COLUMNS", "200")
    printed = run_in(encoding, verb, "greedy", "random", "--deals", "2", "--workers", "1", monkeypatch=monkeypatch)
    assert "[/nope] [red]x[/red] :smile: \\x1b[2J\\u202e\\ud800" in printed
    assert "\x1b[2J" not in printed


def test_a_table_shows_brackets_as_they_are() -> None:
    console = PlainConsole(file=io.StringIO(), width=80)
    table = Table("[bold]name", title="[/x]")
    table.add_row(NASTY)
    console.print(table)
    console.print(NASTY)
    file: Any = console.file
    shown = file.getvalue()
    assert "[bold]name" in shown
    assert "[/x]" in shown
    assert shown.count("[/nope] [red]x[/red] :smile: \\x1b[2J\\u202e\\ud800 é") == 2


def test_printable() -> None:
    assert printable("a\r\x07b\u2066\tc\n") == "a\\r\\x07b\\u2066\tc\n"
    assert one_line("two\nlines\x00") == "two lines\\x00"
    assert printable("ığüşöç 日本 🀄 ±") == "ığüşöç 日本 🀄 ±"


def test_the_message_of_a_fault_is_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["evaluate", "\x1b[2J[/nope]", "random"])
    said = capsys.readouterr().err
    assert "[/nope]" in said
    assert "\x1b" not in said


def as_a_process(command: str, tmp_path: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(ROOT), str(ROOT / "agents")))
    environment = {**os.environ, "PYTHONPATH": path, **settings}
    okey = f"\"{sys.executable}\" -W error -c 'from okey_agents.cli import main; main()'"
    return subprocess.run(
        ["bash", "-c", command.replace("okey", okey)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.heavy
@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize(
    "command", ["okey bots | true", "okey rules | head -1", "okey tasks >&-", "okey nonsense 2>&-"]
)
def test_a_closed_pipe_is_no_traceback(command: str, tmp_path: Path) -> None:
    ran = as_a_process(command, tmp_path, PYTHONIOENCODING="ascii", COLUMNS="20", TERM="dumb", NO_COLOR="1")
    assert "Traceback" not in ran.stderr
    assert "Exception ignored" not in ran.stderr
    assert ran.stderr == ""


@pytest.mark.parametrize("verb", ["replay", "review"])
def test_the_players_of_a_record_are_not_obeyed(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    round = Round("gamelake", seed=3)
    while not round.over:
        round.apply(round.legal_actions()[-1])
    record = Record.of(round, ["[/nope] [red]x[/red] :smile:", "b", "c", "d"])
    record.write(tmp_path / "round.jsonl")
    options = ["--worlds", "2", "--most", "1"] if verb == "review" else []
    printed = run_in("utf-8", verb, str(tmp_path / "round.jsonl"), *options, monkeypatch=monkeypatch)
    assert "[/nope] [red]x[/red] :smile:" in printed
