"""The ladder: known strengths come back from simulated rounds, and the page holds what was measured."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okey_agents.bots.greedy import GreedyBot
from okey_agents.bots.random import RandomBot
from okey_agents.cli import main
from okey_agents.evaluate.ladder import play_ladder
from okey_agents.evaluate.ladder_page import write_page
from okey_agents.evaluate.ratings import ELO, LineupWins, fit, rate
from okey_env.bots import make_bot
from okey_env.observation import Observation


def first_legal(observation: Observation) -> int:
    return observation.legal_actions[0]


def last_legal(observation: Observation) -> int:
    return observation.legal_actions[-1]


def test_ratings_come_back_from_rounds_that_follow_the_model() -> None:
    """Intervals hold the truth: of 95 % ones at most 8 of 60 miss, which luck exceeds once in 600 changes."""
    truth = np.array([0.0, 0.3, 0.5, -0.4])
    random = np.random.default_rng(1)
    lineups = [(0, 1, 1, 1), (2, 0, 0, 0), (3, 2, 2, 2), (0, 1, 2, 3), (0, 3, 1, 2)]
    misses = 0
    for _ in range(20):
        played = []
        for lineup in lineups:
            odds = np.exp(truth[list(lineup)])
            wins = random.multinomial(4, odds / odds.sum(), size=150).astype(np.float64)
            played.append(LineupWins(lineup, np.arange(150), wins))
        found = rate(played, 4, reference=0)
        assert found[0].margin == 0
        misses += sum(not rating.low <= ELO * true <= rating.high for rating, true in zip(found, truth, strict=True))
    assert misses <= 8


def test_a_bot_that_never_wins_has_a_rating_all_the_same() -> None:
    ratings = fit(np.array([[1.0, 3.0]]), np.array([[0.0, 500.0]]))
    assert np.isfinite(ratings).all()
    assert ratings[0] < ratings[1] - 5


@pytest.fixture(scope="module")
def ladder() -> Any:
    return play_ladder(
        [first_legal, RandomBot, GreedyBot, last_legal], deals=4, seed=1, workers=1, fewer={"first_legal": 2}
    )


def test_the_ladder_is_in_order(ladder: Any) -> None:
    assert ladder.rungs[0].bot.name == "greedy"
    assert ladder.reference == "greedy"
    assert ladder.points["greedy", "random"].mean > 0 > ladder.points["random", "greedy"].mean
    assert len(ladder.points) == 12
    few, all_deals = 7, 6  # lineups of two or four bots with first_legal, and without
    assert ladder.rounds == 4 * (2 * few + 4 * all_deals)
    mixed = [rung.mixed_points.mean for rung in ladder.rungs]
    assert sum(mixed) == pytest.approx(0, abs=1e-9)


@pytest.mark.heavy
def test_the_same_on_two_processes_and_from_a_file(tmp_path: Path) -> None:
    usual: dict[str, Any] = {"deals": 120, "seed": 2}
    one = play_ladder([GreedyBot, RandomBot], **usual, workers=1, state=tmp_path / "new" / "state")
    for other in (
        play_ladder([GreedyBot, RandomBot], **usual, workers=2),
        play_ladder([GreedyBot, RandomBot], **usual, workers=1, state=tmp_path / "new" / "state"),
    ):
        assert other.points == one.points
        assert [rung.rating for rung in other.rungs] == [rung.rating for rung in one.rungs]


def test_the_page_and_the_picture(ladder: Any, tmp_path: Path) -> None:
    write_page(ladder, tmp_path)
    page = (tmp_path / "ladder.md").read_text(encoding="utf-8")
    points = ladder.points["greedy", "random"]
    assert f"{points.mean:+.3f} ± {points.margin:.3f}" in page
    assert "4 deals for each lineup, 2 with first_legal" in page
    picture = ElementTree.fromstring((tmp_path / "ladder.svg").read_text(encoding="utf-8"))
    words = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"greedy", "random", "first_legal", "last_legal"} <= set(words)
    numbers = json.loads((tmp_path / "ladder.json").read_text(encoding="utf-8"))
    assert [rung["name"] for rung in numbers["rungs"]] == [rung.bot.name for rung in ladder.rungs]


def test_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    main(["ladder", "greedy", "random", "--deals", "4", "--into", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "32 rounds, rules gamelake" in printed
    assert (tmp_path / "ladder.svg").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("greedy",), "bots=greedy: expected two or more, each once"),
        (("greedy", "greedy"), "expected two or more, each once"),
        (
            ("greedy", "random", "--fewer", "search=5"),
            "fewer deals for 'search': expected one of the bots greedy, random",
        ),
        (("greedy", "random", "--fewer", "random=many"), "--fewer random=many: expected a bot and a whole number"),
        (("greedy", "random", "--deals", "1"), "--deals: 1 is out of range: expected 2 to 100000000"),
        (("greedy", "random", "--deals", "2", "--seed", "-1"), "--seed: -1 is out of range: expected 0 to 2**64 - 1"),
        (("greedy", "random", "--deals", "2", "--workers", "0"), "--workers: 0 is out of range: expected 1 to 1024"),
        (("greedy", "random", "--into", "no/folder"), "--into: there is no folder 'no/folder'"),
    ],
)
def test_mistakes_are_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(SystemExit):
        main(["ladder", *arguments])
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_without_names_every_installed_bot_plays_and_none_twice(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(bots: list[str], *_: Any, **__: Any) -> None:
        raise ValueError(f"asked for {' '.join(bots)}")

    monkeypatch.setattr("okey_agents.evaluate.ladder.play_ladder", refuse)
    with pytest.raises(SystemExit):
        main(["ladder"])
    names = capsys.readouterr().err.split("asked for ")[1].split()
    assert {"random", "greedy", "efficient", "expert", "learned-klasik"} <= set(names)
    own = [make_bot(name).name for name in names]
    assert len(set(own)) == len(own) >= 10
    assert not {"easy", "medium", "hard"} & set(names)
