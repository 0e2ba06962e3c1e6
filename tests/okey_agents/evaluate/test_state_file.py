"""The state file: an evaluation stopped anywhere continues to the same numbers, and refuses files of others."""

from pathlib import Path
from typing import Any

import pytest

from okey_agents.bots.greedy import GreedyBot
from okey_agents.bots.random import RandomBot
from okey_agents.cli import main
from okey_agents.evaluate import chunks
from okey_agents.evaluate.arena import evaluate


class Stop(Exception):  # noqa: N818  # it stands for a kill, which is no error
    pass


def stop_after(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Have the arena stop in the chunk after so many."""
    played = iter(range(number))
    play = chunks.ChunkPlayer.play

    def play_or_stop(self: chunks.ChunkPlayer, *arguments: Any) -> chunks.ChunkResult:
        if next(played, None) is None:
            raise Stop
        return play(self, *arguments)

    monkeypatch.setattr(chunks.ChunkPlayer, "play", play_or_stop)


def test_it_goes_on_where_it_was_stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usual: dict[str, Any] = {"deals": 350, "seed": 3, "workers": 1}
    whole = evaluate(GreedyBot, RandomBot, **usual).outcome()
    state = tmp_path / "state.jsonl"
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        with pytest.raises(Stop):
            evaluate(GreedyBot, RandomBot, state=state, **usual)
    with state.open("ab") as file:  # killed in the middle of a line
        file.write(b'{"chunk":{"lineup":[0,1,')
    with monkeypatch.context() as patch:
        stop_after(patch, 2)  # of four chunks two are left
        assert evaluate(GreedyBot, RandomBot, state=state, **usual).outcome() == whole
    with monkeypatch.context() as patch:
        stop_after(patch, 0)  # and now none
        assert evaluate(GreedyBot, RandomBot, state=state, **usual).outcome() == whole
    longer = evaluate(GreedyBot, RandomBot, state=state, **usual | {"deals": 500}).outcome()
    assert longer == evaluate(GreedyBot, RandomBot, **usual | {"deals": 500}).outcome()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 4}, "belongs to another evaluation: its seed is 3, expected 4"),
        ({"rules": "klasik"}, "its rules is 'gamelake', expected 'klasik'"),
        ({"opponents": GreedyBot}, "belongs to another evaluation: its bots is"),
        ({"challenger": GreedyBot()}, "belongs to another evaluation: its bots is"),
    ],
)
def test_a_file_of_another_evaluation_is_refused(changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    state = tmp_path / "state.jsonl"
    usual: dict[str, Any] = {"challenger": GreedyBot, "opponents": RandomBot, "deals": 2, "seed": 3, "workers": 1}
    evaluate(**usual, state=state)
    before = state.read_bytes()
    with pytest.raises(ValueError, match=message):
        evaluate(**usual | changed, state=state)
    assert state.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("notes of mine", "not the state of an evaluation"),
        ("notes of mine\n", "line 1: damaged, or not the state of an evaluation"),
        ("[1, 2]\n", "line 1: not the state of an evaluation"),
    ],
)
def test_other_files_are_left_alone(content: str, message: str, tmp_path: Path) -> None:
    state = tmp_path / "notes.txt"
    state.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        evaluate(GreedyBot, RandomBot, deals=2, workers=1, state=state)
    assert state.read_text(encoding="utf-8") == content


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    state = tmp_path / "state.jsonl"
    evaluate(GreedyBot, RandomBot, deals=2, workers=1, state=state)
    lines = state.read_bytes().splitlines(keepends=True)
    state.write_bytes(lines[0] + lines[1].replace(b"winner", b"loser"))
    with pytest.raises(ValueError, match="line 2: damaged"):
        evaluate(GreedyBot, RandomBot, deals=2, workers=1, state=state)


def test_the_command_line_keeps_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = str(tmp_path / "state.jsonl")
    main(["evaluate", "greedy", "random", "--deals", "4", "--state", state, "--sprt", "0", "1"])
    first = capsys.readouterr().out
    assert "sequential test" in first
    main(["evaluate", "greedy", "random", "--deals", "4", "--state", state, "--sprt", "0", "1"])
    assert capsys.readouterr().out.splitlines()[:8] == first.splitlines()[:8]
