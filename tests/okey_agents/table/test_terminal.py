"""The table in a terminal, played by prepared lines."""

import pytest

from okey_agents.table import terminal
from okey_agents.table.terminal import play
from okey_agents.table.web.table import Table
from okey_env.bots import Bot
from okey_env.rules import Rules


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that the player types; after the last one the input ends."""
    lines: list[str] = []

    def read(prompt: str) -> str:
        if not lines:
            raise EOFError
        return lines.pop(0)

    monkeypatch.setattr("builtins.input", read)
    return lines


def test_commands_and_refusals(typed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    typed += ["help", "throw R99", "draw", "sort", "sort groups", "move 0 29", "hint", "score", "rules", "quit"]
    assert play(Rules(), ("greedy", "greedy", "greedy"), seed=3) == 0
    said = capsys.readouterr().out
    assert "draw from the stock" in said
    assert "'r99' is not a tile" in said
    assert "15 tiles and must throw or finish" in said
    assert "sort needs one of runs, groups, pairs" in said
    assert "from a finish" in said
    assert "R4.1" in said
    assert typed == []


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> list[Table]:
    """The tables that `play` makes; whoever is asked there draws, or throws the last tile of the rack.

    The player quits after two matches.
    """
    tables: list[Table] = []
    seeds: set[int] = set()

    class Watched(terminal._Terminal):
        def __init__(self, table: Table, bots: list[Bot]) -> None:
            super().__init__(table, bots)
            tables.append(table)
            seeds.clear()

    def read(prompt: str) -> str:
        table = tables[-1]
        seeds.add(table.seed)
        if table.round_ended:
            return "q" if table.match.over and len(seeds) == 2 else ""
        if table.match.round.phase == "draw":
            return "draw"
        return f"throw {[tile for tile in table.seats[0].rack.places if tile][-1]}"

    monkeypatch.setattr(terminal, "_Terminal", Watched)
    monkeypatch.setattr("builtins.input", read)
    return tables


def test_two_whole_matches_follow_from_one_seed(tables: list[Table], capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for _ in range(2):
        assert play(Rules(start_points=5), ("greedy", "greedy", "greedy"), seed=1) == 0
        said.append(capsys.readouterr().out)
    assert all(table.match.over for table in tables)
    assert said[0].count("the match is over") == 2
    assert "won the round" in said[0]
    assert said[0] == said[1]


def test_no_such_bot() -> None:
    with pytest.raises(ValueError, match="there is no bot 'nobody'"):
        play(Rules(), ("greedy", "nobody", "greedy"), seed=1)
