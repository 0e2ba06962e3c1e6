"""The agents that ship: found by name, small, with a card that says what `bot.json` says."""

import hashlib
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest

import okey_agents.bots.shipped
from okey_env import Match, make_bot
from okey_env.bots import BatchBot
from okey_env.vector import SelfPlay

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


MOVES = {
    "flat-gamelake": "682391b930188698",
    "flat-klasik": "6dc61b4f7b7b5d14",
    "learned-gamelake": "7e042f60a78f61e5",
    "learned-klasik": "788fb64dbc3ee8ef",
    "zero-gamelake": "8c3a4bfe7eb6c068",
    "zero-klasik": "c14c6d40e476689c",
}
"""The checksum of 128 moves of each bot against itself in 32 rounds."""


@pytest.mark.heavy
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_it_plays_the_moves_that_it_always_played(folder: Path) -> None:
    bot = make_bot(folder.name)
    assert isinstance(bot, BatchBot)
    games = SelfPlay(32, str(bot.manifest["rules"]), seed=5)  # type: ignore[attr-defined]
    games.reset()
    moves = []
    for _ in range(128):
        moves.append(bot.act_batch(games.records))
        games.step(moves[-1])
    data = np.concatenate(moves).astype(np.uint8).tobytes()
    assert hashlib.blake2b(data, digest_size=8).hexdigest() == MOVES[folder.name]
