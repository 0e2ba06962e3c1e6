"""The agents that ship: found by name, small, with a card that says what `bot.json` says."""

from importlib.metadata import entry_points
from pathlib import Path

import pytest

import okey_agents.bots.shipped
from okey_env import Match, make_bot

FOLDERS = sorted(
    path for path in Path(str(okey_agents.bots.shipped.__file__)).parent.iterdir() if (path / "bot.json").is_file()
)


def test_every_folder_has_a_name() -> None:
    named = {entry.name for entry in entry_points(group="okey_env.bots") if entry.module == "okey_agents.bots.shipped"}
    assert named == {folder.name for folder in FOLDERS} != set()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_it_plays_a_match_of_its_rules(folder: Path) -> None:
    bot = make_bot(folder.name, seed=1)
    assert bot.name == folder.name
    match = Match(str(bot.manifest["rules"]), seed=3, points=(2, 2, 2, 2))  # type: ignore[attr-defined]
    while not match.over:
        if match.round.over:
            match.next_round()
        match.apply(bot.act(match.round.observe(match.round.turn)))
    assert match.winners


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_it_is_small_and_its_card_names_its_origin(folder: Path) -> None:
    assert sum(path.stat().st_size for path in folder.iterdir()) < 2_000_000
    manifest = make_bot(folder.name).manifest  # type: ignore[attr-defined]
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert manifest["training"]["commit"][:8] in card
    assert f"{manifest['training']['decisions']:,}" in card
