"""A state file belongs to bots that do the same, not to bots that are called the same."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okey_agents.bots.greedy import GreedyBot
from okey_agents.evaluate.arena import evaluate
from okey_agents.evaluate.identity import identity_of
from okey_env import Observation, make_bot

greedy = make_bot("greedy")
first = 0


def functions() -> list[Any]:
    """Bots of one name, of which no two do the same."""
    weights, others = np.zeros(3), np.ones(3)

    def counted(number: int) -> Any:
        return lambda observation: observation.legal_actions[number]

    return [
        lambda observation: observation.legal_actions[0],
        lambda observation: observation.legal_actions[-1],
        lambda observation: observation.legal_actions[first],
        lambda observation: greedy.act(observation),
        lambda observation: int(weights[0]),
        lambda observation: int(others[0]),
        lambda observation, number=0: observation.legal_actions[number],
        lambda observation, number=1: observation.legal_actions[number],
        counted(0),
        counted(1),
        lambda observation: max(range(3), key=lambda number: number + 1),
        lambda observation: max(range(3), key=lambda number: number + 2),
    ]


def made_of(moves: str, **fields: Any) -> Any:
    kind: Any = type("Mine", (), {"act": eval(moves), **fields})
    return kind()


def test_functions_of_one_name_that_do_different_things_differ() -> None:
    found = [identity_of(function) for function in functions()]
    assert len(set(found)) == len(found)
    assert found == [identity_of(function) for function in functions()]


def test_objects_differ_by_their_methods_and_by_what_they_hold() -> None:
    objects: list[Callable[[], Any]] = [
        lambda: made_of("lambda self, o: 0"),
        lambda: made_of("lambda self, o: 1"),
        lambda: made_of("lambda self, o: 0", level=1),
        lambda: made_of("lambda self, o: 0", level=2),
        lambda: made_of("lambda self, o: 0", level={"a": [1, (2.5, None)], "b": {3, 4}}),
    ]
    found = [identity_of(make()) for make in objects]
    assert len(set(found)) == len(found)
    assert found == [identity_of(make()) for make in objects]


def test_what_holds_itself_comes_to_an_end() -> None:
    circle: list[Any] = []
    circle.append(circle)
    assert identity_of(made_of("lambda self, o: 0", inside=circle))


def test_our_own_bots_are_their_names(tmp_path: Path) -> None:
    assert identity_of("greedy") == "greedy"
    assert identity_of(GreedyBot) == "okey_agents.bots.greedy.GreedyBot"
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "weights").write_bytes(b"1")
    one = identity_of(folder)
    (folder / "weights").write_bytes(b"2")
    assert one.startswith("mine ")
    assert identity_of(folder) != one


def test_what_cannot_be_read_is_refused() -> None:
    lock = threading.Lock()

    def waiting(observation: Observation) -> int:
        with lock:
            return observation.legal_actions[0]

    with pytest.raises(
        ValueError, match=r"^the bot '.*waiting' holds a lock, whose content cannot be read: give a name"
    ):
        identity_of(waiting)


def test_a_state_file_refuses_another_function_of_the_same_name(tmp_path: Path) -> None:
    state = tmp_path / "state.jsonl"
    lowest, copying = functions()[0], functions()[3]
    points = evaluate(lowest, "greedy", deals=2, workers=1, state=state).points
    assert evaluate(lowest, "greedy", deals=2, workers=1, state=state).points == points
    with pytest.raises(ValueError, match="belongs to another evaluation: its bots is"):
        evaluate(copying, "greedy", deals=2, workers=1, state=state)


def test_a_function_knows_the_modules_that_it_plays_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    file = tmp_path / "moves_of_mine.py"
    file.write_text("def choose(observation): return observation.legal_actions[0]\n", encoding="utf-8")
    names: dict[str, Any] = {}
    exec("import moves_of_mine\ndef mine(observation): return moves_of_mine.choose(observation)", names)
    first_one = identity_of(names["mine"])
    assert identity_of(names["mine"]) == first_one
    file.write_text("def choose(observation): return observation.legal_actions[-1]\n", encoding="utf-8")
    assert identity_of(names["mine"]) != first_one
