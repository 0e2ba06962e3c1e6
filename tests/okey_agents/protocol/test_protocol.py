"""Programs as bots: what they are told, what they may do wrong, and the examples in three languages."""

import json
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okey_agents.cli import main
from okey_agents.errors import BotWarning
from okey_agents.evaluate.arena import evaluate
from okey_agents.protocol.check import check
from okey_agents.protocol.messages import observation_of, observation_text
from okey_agents.protocol.pipes import ProgramError
from okey_agents.protocol.program import MAX_FAILURES, Program
from okey_env import Observation, Round, make_bot
from okey_env.rules import as_rules
from tests.places import ROOT

EXAMPLES = ROOT / "examples" / "protocol"
FAULTY = f"{sys.executable} {Path(__file__).with_name('faulty.py')}"
SERVE = f"{sys.executable} -c 'from okey_agents.cli import main; main()' serve-bot"
RULES: list[Any] = ["gamelake", {"preset": "klasik", "stock_end": "next_may_take"}]
RULES += [{"preset": "gamelake", "throw_visibility": "top_only", "teams": True, "colour_double": True}]


def seen_in(rules: Any, rounds: int = 4, bot: str = "greedy") -> list[Observation]:
    """What the seats to move saw in some rounds."""
    found, player = [], make_bot(bot, seed=1)
    for seed in range(rounds):
        round = Round(rules, seed=seed)
        while not round.over:
            found.append(round.observe(round.turn))
            round.apply(player.act(found[-1]))
    return found


@pytest.mark.parametrize("bot", ["greedy", "random"])
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: as_rules(rules).name)
def test_a_message_says_the_observation_and_nothing_else(rules: Any, bot: str) -> None:
    for seen in seen_in(rules, bot=bot):
        data = json.loads(observation_text(seen))
        assert observation_of(data) == seen  # every byte, so nothing is missing; and nothing else can be in it
        assert data["legal_actions"] == seen.legal_actions
        assert dict(data["finish_points"]) == {
            int(kind): int(seen.finish_points[kind]) for kind in np.flatnonzero(seen.finish_points)
        }
        assert data["rules"]["name"] == as_rules(rules).name
        assert [tuple(event) for event in data["events"]] == [(e.seat, e.event, e.kind) for e in seen.events]


def test_a_damaged_observation_is_refused_in_words() -> None:
    data = json.loads(observation_text(seen_in("gamelake", 1)[5]))
    for key, value in [("rack", [99]), ("phase", "late"), ("offer", "B3"), ("unseen", [1]), ("rules", None)]:
        with pytest.raises(ValueError, match="the observation cannot be read"):
            observation_of({**data, key: value})


def test_a_served_bot_moves_as_it_does_here() -> None:
    """Alone and in batches, and when it is sent to another process."""
    served, expert = Program(f"{SERVE} efficient"), make_bot("efficient", seed=7)
    served.reset(7)
    seen = seen_in("klasik", 2)
    expected = [expert.act(one) for one in seen]
    assert (served.name, served.batch) == ("efficient", 256)
    assert [served.act(one) for one in seen] == expected
    assert served.act_batch(np.concatenate([one.records for one in seen])).tolist() == expected
    with pytest.raises(ProgramError, match="the observation cannot be read"):
        served._ask(['{"seat": 0}'])
    again = pickle.loads(pickle.dumps(served))
    again.reset(7)
    assert again.act(seen[0]) == expected[0]
    again.close()
    served.close()


def test_a_transcript_of_a_served_bot() -> None:
    seen = seen_in("gamelake", 1)[3]
    lines = [
        '{"type":"hello","protocol":"okey","version":1,"actions_version":1}',
        '{"type":"x_new"}',
        "no message",
        '{"type":"reset","seed":18446744073709551615}',
        f'{{"type":"act","id":5,"time_limit":10,"observations":[{observation_text(seen)}]}}',
        '{"type":"act","id":6,"observations":[]}',
        '{"type":"end"}',
        '{"type":"hello","protocol":"okey","version":1,"actions_version":1}',
    ]
    code = "from okey_agents.cli import main; main()"
    command = [sys.executable, "-c", code, "serve-bot", "greedy"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, timeout=120, check=True)
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert replies[0] == {"type": "ready", "version": 1, "name": "greedy", "batch": 256}
    assert "is not a message" in replies[1]["message"]
    move = make_bot("greedy", seed=2**64 - 1).act(seen)
    assert replies[2] == {"type": "actions", "id": 5, "actions": [move]}
    assert (replies[3]["type"], replies[3]["id"], len(replies)) == ("error", 6, 4)


# --- faults -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("dies", r"it ended with status 7; its last line on stderr: 'my last words'"),
        ("slow", r"no reply in time: it had 0\.5 s"),
        ("no-newline", r"no reply in time"),
        ("wrong-id", r"it replied to id 2: expected 1"),
        ("float", r"its actions are .*: expected a list of 1 whole numbers"),
        ("stdout", r"it floods its stdout"),
        ("bytes", r"is not a message: expected one JSON object a line"),
        ("wants", r"it replied with the type 'show_racks'"),
        ("says-error", r"it says: I have no idea"),
    ],
)
def test_what_a_program_does_wrong_is_said_and_it_starts_again(fault: str, reason: str) -> None:
    program = Program(f"{FAULTY} {fault}")
    seen = seen_in("gamelake", 1)
    if fault in ("slow", "no-newline"):
        program.move_limit = 0.5
    with pytest.raises(ProgramError, match=reason):
        play(program, seen)
    assert program._pipes is None
    with pytest.raises(ProgramError, match=reason.replace("2: expected 1", "3: expected 2")):  # another process
        play(program, seen)


def play(program: Program, seen: list[Observation]) -> None:
    for one in seen:
        program.act(one)


def test_a_program_that_always_fails_is_given_up() -> None:
    program = Program(f"{FAULTY} float")
    seen = seen_in("gamelake", 1)[0]
    for _ in range(MAX_FAILURES):
        with pytest.raises(ProgramError, match="whole numbers"):
            program.act(seen)
    with pytest.raises(ProgramError, match="it is not started again"):
        program.act(seen)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("", "there is no command"),
        ("'", "cannot be read: No closing quotation"),
        ("./no-such-program", "cannot be started: No such file"),
        (f"{FAULTY} noise", "'Hello, I am a bot' is not a message"),
        (f"{FAULTY} version", "it speaks version 2 of the protocol: expected 1"),
        ("true", "it ended with status 0"),
    ],
)
def test_what_is_no_bot_is_said_when_it_is_made(command: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as raised:
        make_bot(f"cmd:{command}")
    assert "\n" not in str(raised.value)


def test_a_flood_on_stderr_stops_nothing() -> None:
    program = Program(f"{FAULTY} stderr")
    for seen in seen_in("gamelake", 1)[:10]:
        assert program.act(seen) == seen.legal_actions[0]
    program.close()


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_a_program_ends_with_this_process(tmp_path: Path) -> None:
    """By `end`, and by the end of its stdin after a kill; what it leaves behind is killed with it."""
    code = (
        "import os, sys, time; from okey_agents.protocol.program import Program\n"
        "program = Program(sys.argv[1]); print(program._pipes._process.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, f"{FAULTY} none"], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert is_gone(pid)
    program = Program(f"{FAULTY} leaves-child")
    assert program._pipes is not None
    group = program._pipes._process.pid
    program.close()
    members = [stat for stat in Path("/proc").glob("[0-9]*/stat") if group_of(stat) == group]
    assert all(is_gone(int(stat.parent.name)) for stat in members)


def group_of(stat: Path) -> int:
    """The process group in a file of /proc."""
    try:
        return int(stat.read_text(encoding="utf-8").rpartition(")")[2].split()[2])
    except (OSError, IndexError):
        return -1


def is_gone(pid: int) -> bool:
    """Whether a process ends soon; one that only waits for its parent has ended."""
    for _ in range(200):
        try:
            if Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("illegal", "it gives the action 1000: expected one of legal_actions"),
        ("silent", "it does not reply within 0.5 s"),
        ("twice", "it replied to id 1: expected 2"),
        ("stderr", "it floods its stderr"),
        ("moody", "a move may depend on the seed and the observation only"),
        ("ignores-end", "it does not end within 2 s after end"),
        ("ignores-eof", "it does not end within 2 s after the end of its stdin"),
        ("leaves-child", "it leaves processes behind after end"),
        ("strict-types", "a message of a type that is not in the protocol: it ended with status 1"),
        ("strict-fields", "a field that is not in the protocol: it ended with status 1"),
        ("version", "at its start: it speaks version 2"),
    ],
)
def test_the_check_finds_the_fault(fault: str, sentence: str) -> None:
    found = check(f"{FAULTY} {fault}", as_rules("gamelake"), rounds=1, move_limit=0.5 if fault == "silent" else 30)
    assert any(sentence in said for said in found.faults), found.text()


def test_the_command_line_says_faults_and_status(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check-bot", f"cmd:{FAULTY} none", "--rounds", "1", "--move-limit", "30"])
    assert "faulty: no fault in" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stopped:
        main(["check-bot", f"cmd:{FAULTY} float", "--rounds", "1"])
    assert stopped.value.code == 1
    assert "1. a move under gamelake: its actions are" in capsys.readouterr().out


# --- examples ---------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["python", "c", "javascript"])
def example(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The command of an example."""
    if request.param == "python":
        return f"{sys.executable} -S {EXAMPLES / 'bot.py'}"  # without site-packages
    if request.param == "c":
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler is None:
            pytest.skip("there is no C compiler here, so the example in C is not tried")
        program = tmp_path / "bot"
        warnings = ["-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover"]
        subprocess.run([compiler, "-O2", *warnings, "-o", program, EXAMPLES / "bot.c"], check=True, timeout=120)
        return str(program)
    if shutil.which("node") is None:
        pytest.skip("there is no node here, so the example in JavaScript is not tried")
    return f"node {EXAMPLES / 'bot.js'}"


@pytest.mark.heavy
def test_examples_have_no_fault_and_beat_random(example: str) -> None:
    found = check(example, as_rules("gamelake"), rounds=1, move_limit=30)
    assert not found.faults, found.text()
    report = evaluate(f"cmd:{example}", "random", deals=20, seed=1, workers=1)
    assert report.points.low > 2


@pytest.mark.heavy
def test_programs_play_in_workers_and_what_they_do_is_counted() -> None:
    with pytest.warns(BotWarning, match="illegal replies"):
        faulty = evaluate(f"cmd:{FAULTY} illegal", "random", deals=2, seed=1, workers=1)
    assert faulty.challenger.illegal > 0
    python = f"cmd:{sys.executable} {EXAMPLES / 'bot.py'}"
    alone, apart = (evaluate(python, "random", deals=110, seed=1, workers=workers) for workers in (1, 2))
    assert alone.points == apart.points
