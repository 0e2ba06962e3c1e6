"""Earlier matches: kept for those who have played them, with replay, review, export and delete."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from okey_agents.table.web.games import review_in
from okey_env.match import Match
from okey_env.record import Record
from tests.okey_agents.table.playing import Player, local_server

ME, OTHER = "a" * 32, "b" * 32


def short(rules: Any, seed: int) -> Match:
    return Match(rules, seed, points=(2, 2, 2, 2))


def play_match(player: Player) -> None:
    """A match of one round that counts, as short ones go on after void rounds."""
    player.send(
        "create", name="Ayşe", me=ME, settings={"pace": "instant", "seats": ["person", "greedy", "easy", "hard"]}
    )
    player.wait_for("view")
    while player.view["stage"] != "match_over":
        player.play_round()
        if player.view["stage"] == "round_over":
            player.send("ready")
            player.hear()


def asked(player: Player, ask: str, answer: str = "games", **more: Any) -> dict[str, Any]:
    player.send("games", me=more.pop("me", ME), ask=ask, **more)
    return player.wait_for(answer)


def kept(player: Player) -> list[dict[str, Any]]:
    """The matches that are kept, once the server has written the last one."""
    for _ in range(1500):
        time.sleep(0.02)
        if games := asked(player, "list")["games"]:
            found: list[dict[str, Any]] = games
            return found
    raise AssertionError("no match has been kept")


@pytest.mark.heavy
def test_a_match_is_found_again_replayed_exported_and_deleted(tmp_path: Path) -> None:
    with local_server(data=tmp_path, make_match=short) as server:
        with server.player() as player:
            play_match(player)
            winners, rounds = player.view["match"]["winners"], len(player.view["match"]["history"])
            [game] = kept(player)
            assert game["seat"] == 0
            assert game["players"][0] == "Ayşe"
            assert game["bots"] == [None, "greedy", "easy", "hard"]
            assert game["winners"] == winners
            assert len(game["rounds"]) == rounds
            assert asked(player, "list", me=OTHER)["games"] == []
            for ask in ("replay", "export", "forget", "review"):  # of somebody else's match nothing is told
                assert asked(player, ask, "error", me=OTHER, record=game["record"])["code"] == "no_game"
        with server.player() as player:  # later, from the first page
            replay = asked(player, "replay", "replay", record=game["record"], round=1)
            assert (replay["you"], replay["rounds"], replay["players"]) == (0, rounds, game["players"])
            assert asked(player, "replay", "error", record=game["record"], round=99)["code"] == "no_replay"
            text = asked(player, "export", "record", record=game["record"])["text"]
            Record(text.splitlines()).verify()
            reviewed = asked(player, "review", record=game["record"])["games"][0]["review"]
            assert reviewed["decisions"] > 0
            assert reviewed["agreed"] <= reviewed["decisions"]
            assert asked(player, "forget", record=game["record"])["games"] == []
            assert asked(player, "replay", "error", record=game["record"])["code"] == "no_game"


@pytest.mark.heavy
def test_the_coach_names_what_a_bad_player_gave_away(tmp_path: Path) -> None:
    with local_server(data=tmp_path, make_match=short) as server, server.player() as player:
        play_match(player)  # who throws the last tile of the rack, whatever it is
        [game] = kept(player)
        said = review_in(tmp_path / "records" / f"{game['record']}.jsonl", 0, 30)
        assert said["given"] > 0
        costs = [note["cost"] for note in said["notes"]]
        assert costs == sorted(costs, reverse=True)
        assert sum(costs) <= said["given"] + len(costs)
        json.dumps(said)


def test_what_is_asked_must_make_sense() -> None:
    with local_server() as server, server.player() as player:
        for wrong in (
            {"ask": "list"},
            {"ask": "all", "me": ME},
            {"ask": "list", "me": "short"},
            {"me": ME, "ask": ["list"]},
        ):
            assert player.refused("games", **wrong)["code"] == "malformed"
        assert asked(player, "list")["games"] == []  # nothing is kept without a folder
