"""The fuzzer finds nothing in the engine, finds each fault that is put in, and goes on where it was stopped."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okey_env.engine.batch import deal_all
from okey_env.engine.state import OBSERVATION, new_games
from okey_env.rules import as_rules
from tests.places import load_script

fuzz = load_script("fuzz")


def test_nothing_is_found() -> None:
    counts: Counter[str] = Counter()
    for block in range(12):
        assert fuzz.fuzz_block(block, counts) == ""
    assert counts["steps"] > 20_000
    assert counts["rounds finished"] > 10
    assert counts["positions seen from outside"] > 10


def dealt(**rules: Any) -> Any:
    games = new_games(as_rules(rules), 1)
    deal_all(games, np.array([5], np.uint64))
    return games


def fault_in(games: Any, moves: int = 1) -> int:
    found: int = fuzz.play(games, np.zeros(1, OBSERVATION), np.uint64(1), moves, np.zeros(2, np.int64))
    return found


def test_a_tile_that_is_twice_or_nowhere_is_found() -> None:
    for copies in (0, 2):
        games = dealt()
        kind = int(np.flatnonzero(games["rack"][0, 0] == 1)[0])
        games["rack"][0, 0, kind] = copies
        assert fault_in(games) == fuzz.TILES
    games = dealt()
    other = np.flatnonzero(games["stock"][0] != games["stock"][0, 0])[0]
    games["stock"][0, 0] = games["stock"][0, other]
    assert fault_in(games) == fuzz.TILES


def test_a_wrong_finish_in_the_mask_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """`is_legal` and the mask read the same sets, so one of them is changed from outside."""
    games = dealt()
    round = fuzz.Round("gamelake", seed=0)
    round.games[0] = games[0]
    monkeypatch.setattr(fuzz.Round, "legal_actions", lambda self: [0, 1, 2])
    assert "and the mask says otherwise" in fuzz.look_from_outside(games, 0, 1)


def test_points_that_are_lost_to_nobody_are_found() -> None:
    games = dealt(max_throws=1)
    games["lost"][0, 2] += 1
    assert fault_in(games, moves=20) == fuzz.POINTS


def test_a_seat_that_sees_hidden_tiles_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    observe = fuzz.observe_at

    def leaking(games: Any, indices: Any, records: Any) -> None:
        observe(games, indices, records)
        records["spare"][:, 0] = games["stock"][indices, -1]

    games = dealt()
    assert fuzz.look_from_outside(games, 0, 1) == ""
    monkeypatch.setattr(fuzz, "observe_at", leaking)
    assert "sees hidden tiles" in fuzz.look_from_outside(games, 0, 1)


def test_it_goes_on_where_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "fuzz.json"
    found = []
    for steps in (1, 40_000):
        monkeypatch.setattr(sys, "argv", ["fuzz.py", "--steps", str(steps), "--state", str(state)])
        fuzz.main()
        found.append(json.loads(state.read_text(encoding="utf-8"))["counts"])
    assert found[1]["steps"] >= 40_000 > found[0]["steps"] >= 1
    whole: Counter[str] = Counter()
    for block in range(found[1]["blocks"]):
        fuzz.fuzz_block(block, whole)
    assert dict(whole) == found[1]
    assert "steps" in capsys.readouterr().out
    kept = json.loads(state.read_text(encoding="utf-8"))
    kept["made"]["commit"], kept["counts"]["steps"] = "another", 10**9
    state.write_text(json.dumps(kept), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["fuzz.py", "--steps", "1", "--state", str(state)])
    fuzz.main()
    assert "is of commit another: beginning anew" in capsys.readouterr().out
    assert json.loads(state.read_text(encoding="utf-8"))["counts"]["steps"] < 40_000


def test_matches_are_the_same_in_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: Counter[str] = Counter()
    for block in (19, 39):
        assert fuzz.fuzz_matches(block, counts) == ""
    assert counts["matches"] == 2
    assert counts["steps of matches"] > 200
    next_round = fuzz.Match.next_round

    def forgets_to_turn(self: Any) -> None:
        next_round(self)
        self.round.fields["starter"][0] ^= 1

    monkeypatch.setattr(fuzz.Match, "next_round", forgets_to_turn)
    assert "is not the match of its seed" in fuzz.fuzz_matches(19, counts)
