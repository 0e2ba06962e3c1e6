"""The table's server over its wire: playing, leaving and coming back, and everything that it must refuse."""

import json
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.websockets import WebSocketDisconnect

from okey_agents.table.web import table_server
from okey_agents.table.web.app import STATIC, same_origin
from okey_agents.table.web.changes import changed
from okey_agents.table.web.settings import Settings, rules_form
from okey_agents.table.web.table import Table
from okey_agents.table.web.table_server import Limits, TableServer
from okey_env import Deal, Observation
from okey_env.bots import make_bot
from okey_env.match import Match
from okey_env.record import Record
from okey_env.rules import PRESETS, SWITCHES, Rules
from tests.okey_agents.table.playing import ORIGIN, Player, local_server

FINISHED = "R1 R2 R3 R4 B5 B6 B7 K9 Y9 R9 Y11 Y12 Y13 * K2"  # with Y5 for the okey


def with_deal(*racks: str | None, **options: Any) -> Any:
    """How matches are made whose first round begins from these racks."""
    deal = Deal(indicator="Y4", racks=[*racks, *[None] * (4 - len(racks))])
    return lambda rules, seed: Match(rules, seed, deal, **options)


# --- playing -------------------------------------------------------------------------------------------------


def test_the_page_is_told_every_switch_of_the_rules() -> None:
    """The form of house rules follows the table of switches, so a new switch is there by itself."""
    form = rules_form()
    assert [switch["name"] for switch in form["switches"]] == [switch.name for switch in SWITCHES]
    for preset in PRESETS:
        assert set(form["presets"][preset]) == {switch.name for switch in SWITCHES}
        chosen = Settings.read({"preset": preset, "switches": form["presets"][preset]}, ["greedy"])
        assert chosen.rules == PRESETS[preset]


def test_a_round_against_bots_and_the_next_one() -> None:
    with local_server() as server, server.player() as player:
        view = player.create()
        assert (view["you"], view["stage"], len(view["round"]["events"])) == (0, "play", 0)
        player.play_round()
        assert player.view["result"]["ending"] in ("finish", "void")
        assert player.view["stage"] == "round_over"
        player.send("ready")
        player.wait_for("view", stage="play")
        assert player.view["match"]["round"] == 2


def test_a_match_to_its_end_and_its_record(tmp_path: Path) -> None:
    with (
        local_server(make_match=lambda rules, seed: Match(rules, seed, points=(1, 2, 2, 2))) as server,
        server.player() as player,
    ):
        player.create()
        for _ in range(30):
            player.play_round()
            if player.view["match"]["over"]:
                break
            assert player.refused("record")["code"] == "no_record"  # its seed deals the rounds to come
            player.send("ready")
            player.wait_for("view", stage="play")
        assert player.view["stage"] == "match_over"
        player.send("record")
        path = tmp_path / "match.jsonl"
        path.write_text(player.wait_for("record")["text"], encoding="utf-8")
        record = Record.read(path)
        record.verify()
        assert record.complete
        assert record.players[0] == "Ayşe"
        player.send("ready")  # a new match
        player.wait_for("view", stage="play")
        assert player.view["match"] == {"round": 1, "over": False, "winners": [], "history": []}


def test_a_finish_lays_all_racks_open() -> None:
    with local_server(make_match=with_deal(FINISHED)) as server, server.player() as player:
        player.create()
        player.act("finish K2", player.round["rack"].index("K2"))
        view = player.wait_for("view", stage="round_over")
        result = view["result"]
        assert (result["winner"], result["finish"], result["lost"]) == (0, "K2", [0, 2, 2, 2])
        assert sum(map(len, result["racks"][0]["melds"])) == 14
        for rack in result["racks"][1:]:
            assert sum(map(len, [*rack["melds"], *rack["parts"], rack["left"]])) == 14
        player.send("replay", round=1)
        story = player.wait_for("replay")
        assert [len(rack) for rack in story["racks"]] == [15, 14, 14, 14]
        assert story["events"] == [[0, "finish", "K2"]]


def test_pairs_are_laid_as_pairs() -> None:
    pairs = "R1 R1 B2 B2 K3 K3 Y7 Y7 R9 R9 B11 B11 * K13 K5"
    with local_server(make_match=with_deal(pairs)) as server, server.player() as player:
        player.create()
        player.act("finish K5")
        result = player.wait_for("view", stage="round_over")["result"]
        assert result["by_pairs"]
        assert result["racks"][0]["melds"][-1] == ["K13", "*"]
        assert [len(pair) for pair in result["racks"][0]["melds"]] == [2] * 7


def test_the_replay_ends_where_the_round_did() -> None:
    with local_server() as server, server.player() as player:
        player.create()
        player.play_round()
        player.send("replay", round=1)
        story = player.wait_for("replay")
    racks = [list(rack) for rack in story["racks"]]
    for seat, event, tile in story["events"]:
        if event in ("draw", "take"):
            racks[seat].append(tile)
        elif event in ("throw", "finish"):
            racks[seat].remove(tile)
    for seat, laid in enumerate(story["result"]["racks"]):
        tiles = [tile for part in [*laid["melds"], *laid["parts"], laid["left"]] for tile in part]
        assert sorted(tiles) == sorted(racks[seat])


def test_drawn_tiles_go_where_the_player_wants_them() -> None:
    deal = Deal(starter=1)
    with local_server(make_match=lambda rules, seed: Match(rules, 5, deal)) as server, server.player() as player:
        player.create(seats=["person", "random", "random", "random"])
        player.until_my_turn()
        before = player.round["rack"]
        free = before.index(None)
        player.act("draw", free)
        player.wait_for("view")
        after = player.round["rack"]
        assert after[free] is not None
        assert after[:free] + after[free + 1 :] == before[:free] + before[free + 1 :]


def test_the_order_of_a_rack_is_the_players_own() -> None:
    with local_server() as server, server.player() as player:
        player.create()
        order = list(reversed(player.round["rack"]))
        player.send("arrange", places=order, down=[])
        player.until_my_turn()
        player.act("draw" if player.round["phase"] == "draw" else f"throw {next(filter(None, order))}")
        player.wait_for("view")
        moved = [place for place in range(30) if player.round["rack"][place] != order[place]]
        assert len(moved) == 1


def test_a_hint_says_what_and_why() -> None:
    rack = "R1 R2 R3 R4 B4 B5 B6 K7 K8 K9 Y10 Y11 Y12 Y13 *"
    with local_server(make_match=with_deal(rack)) as server, server.player() as player:
        player.create()
        player.send("hint")
        hint = player.wait_for("hint")
        assert (hint["action"], hint["tile"]) == ("finish *", "*")
        assert hint["reasons"] == [{"code": "finish", "points": 4}]
        player.act("throw R1")
        player.wait_for("view", moves=1)
        player.until_my_turn()
        player.send("hint")
        assert {reason["code"] for reason in player.wait_for("hint")["reasons"]} & {"melds", "complete", "can_finish"}


def test_every_reason_of_the_coach_has_a_sentence_in_every_language() -> None:
    from okey_agents.coach.advice import _SENTENCES

    for path in (STATIC / "text").iterdir():
        reasons = re.search(r"reasons: \{(.*?)\n  \},", path.read_text(encoding="utf-8"), re.DOTALL)
        assert reasons is not None
        told = set(re.findall(r"^    (\w+):", reasons[1], re.MULTILINE))
        assert told == set(_SENTENCES) - {"behind"}  # which is said of other moves than the first


def one_round_matches(rules: Rules, seed: int) -> Match:
    """A match that its first round decides, if it is finished: everybody has one point."""
    return Match(rules, seed, Deal(indicator="Y4", racks=(FINISHED, None, None, None)), (1, 1, 1, 1))


def test_the_matches_of_a_table_follow_from_its_seed() -> None:
    def seeds(first: int, **options: Any) -> list[int]:
        table = Table(Settings(seats=("person", "greedy", "greedy", "greedy")), first, one_round_matches, **options)
        table.take_seat("Ayşe")
        seen = []
        for _ in range(3):
            seen.append(table.seed)
            table.act(0, "finish K2", table.moves, None)
            kept = json.loads(json.dumps(table.to_json()))
            table = Table(table.settings, kept["seed"], one_round_matches, **options)
            table.restore(kept)  # as if the server had ended in between
            table.ready(0)
        return seen

    assert seeds(5) == seeds(5)
    assert len({*seeds(5), *seeds(6)}) == 6
    assert seeds(5, new_seed=iter((7, 8, 9)).__next__) == [5, 7, 8]


def test_the_seeds_of_later_matches_come_from_where_the_first_did() -> None:
    """A record tells the seed of its match, so the next one must not follow from it alone."""
    options: Any = {"make_match": one_round_matches, "new_seed": iter((11, 12, 13)).__next__}
    with local_server(**options) as server, server.player() as player:
        table = server.tables.sessions[player.create()["table"]].table
        for seed in (11, 12, 13):
            assert table.seed == seed
            player.act("finish K2", at=0)
            player.wait_for("view", stage="match_over")
            if seed < 13:
                player.send("ready")
                player.wait_for("view", stage="play")


def test_a_bot_has_one_seed_for_all_its_moves() -> None:
    seeds = iter(range(100))
    with local_server(new_seed=seeds.__next__) as server, server.player() as player:
        player.create()
        player.play_round()
        assert {seat for seat, *_ in player.round["events"]} == {0, 1, 2, 3}
    assert next(seeds) == 4  # the table and its three bots have had theirs


# --- what is refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rack", "action", "place", "code"),
    [
        (FINISHED, "draw", None, "must_throw"),
        (FINISHED, "take", None, "must_throw"),
        (FINISHED, "show", None, "cannot_show"),
        (FINISHED, "throw R13", None, "not_held"),
        (FINISHED, "finish R1", None, "not_finished"),
        (FINISHED, "throw R1", 29, "stale"),  # it does not stand there
        (FINISHED, "fly away", None, "malformed"),
        (FINISHED, "throw R99", None, "malformed"),
        (FINISHED, "throw R1", 30, "malformed"),
        (FINISHED, "throw R1", True, "malformed"),
        (FINISHED, ["throw"], None, "malformed"),
    ],
)
def test_an_illegal_move_is_refused_and_changes_nothing(rack: str, action: Any, place: Any, code: str) -> None:
    with local_server(make_match=with_deal(rack)) as server, server.player() as player:
        before = player.create()
        error = player.refused("act", action=action, at=0, place=place)
        assert error["code"] == code
        assert len(error["text"]) > 10
        table = next(iter(server.tables.sessions.values())).table
        assert table.moves == 0
        player.send("arrange", places=before["round"]["rack"], down=[])  # its answer would be an error
        player.act("throw K2")
        assert player.wait_for("view", moves=1)["round"]["events"] == [[0, "throw", "K2"]]


def test_out_of_turn_and_out_of_date() -> None:
    with local_server(make_match=with_deal(None, FINISHED)) as server, server.player() as player:
        player.create(seats=["person", "person", "greedy", "greedy"])
        with server.player() as friend:
            friend.send("join", invite=player.view["invite"], name="Can")
            friend.wait_for("view", stage="play")
            error = player.refused("act", action="throw R1", at=0)
            assert (error["code"], error["turn"]) == ("not_your_turn", 1)
            assert friend.refused("act", action="throw K2", at=5)["code"] == "stale"
            friend.act("throw K2")
            assert friend.wait_for("view", moves=1)["round"]["turn"] == 2
            assert friend.refused("act", action="throw R1", at=0)["code"] in ("not_your_turn", "stale")


def test_an_okey_that_lies_face_down_is_not_thrown() -> None:
    with local_server(make_match=with_deal(FINISHED)) as server, server.player() as player:
        player.create()
        rack = player.round["rack"]
        place = rack.index("*")
        player.send("arrange", places=rack, down=[place])
        assert player.refused("act", action="throw *", at=0, place=place)["code"] == "face_down"
        assert player.refused("act", action="finish *", at=0)["code"] == "face_down"
        player.send("arrange", places=rack, down=[])
        player.act("throw *", place)
        assert player.wait_for("view", moves=1)["round"]["events"] == [[0, "throw", "*"]]


def test_as_laid_inspects_the_rack_and_points_out_the_first_fault() -> None:
    rows = [
        ["R1", "R2", "R3", "R4", ".", "B5", "B6", "B7", ".", "Y11", "Y12", "Y13", ".", ".", "."],
        ["K9", "Y9", "*", "R9", "K2", ".", ".", ".", ".", ".", ".", ".", ".", ".", "."],
    ]
    places = [None if tile == "." else tile for row in rows for tile in row]
    with local_server(make_match=with_deal(FINISHED)) as server, server.player() as player:
        player.create(rack_check="as_laid")
        error = player.refused("act", action="finish K2", at=0)
        assert (error["code"], error["reason"]) == ("laid_wrong", "mixed")
        player.send("arrange", places=places, down=[])
        error = player.refused("act", action="finish R1", at=0)  # R2 R3 R4 stay a run, and K2 is too many
        assert (error["code"], error["places"]) == ("laid_wrong", [15, 16, 17, 18, 19])
        player.act("finish K2", places.index("K2"))
        assert player.wait_for("view", stage="round_over")["result"]["winner"] == 0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "malformed"),
        ("{", "malformed"),
        ("[]", "malformed"),
        ("null", "malformed"),
        ('"act"', "malformed"),
        ("{}", "malformed"),
        ('{"type": 7}', "malformed"),
        ('{"type": "__init__"}', "malformed"),
        ('{"type": "send"}', "malformed"),
        ("[" * 3000, "malformed"),
        ('{"type": "act", "action": "' + "x" * 5000 + '"}', "too_long"),
        ('{"type": "act"}', "not_seated"),
        ('{"type": "sit"}', "bad_token"),
        ('{"type": "sit", "token": ["a"]}', "bad_token"),
        ('{"type": "sit", "token": ""}', "bad_token"),
        ('{"type": "join", "invite": "nobody", "name": "x"}', "bad_invite"),
        ('{"type": "join", "invite": null}', "bad_invite"),
        ('{"type": "create", "settings": 5}', "malformed"),
        ('{"type": "create", "name": 5}', "bad_settings"),
        ('{"type": "create", "settings": {"seats": ["person"]}}', "bad_settings"),
        ('{"type": "create", "settings": {"seats": ["person", "nobody", "greedy", "greedy"]}}', "bad_settings"),
        ('{"type": "create", "settings": {"seats": ["person", ["greedy"], "greedy", "greedy"]}}', "bad_settings"),
        ('{"type": "create", "settings": {"seats": ["person", "/etc", "greedy", "greedy"]}}', "bad_settings"),
        ('{"type": "create", "settings": {"preset": "poker"}}', "bad_settings"),
        ('{"type": "create", "settings": {"preset": {}}}', "bad_settings"),
        ('{"type": "create", "settings": {"switches": {"start_points": 500}}}', "bad_settings"),
        ('{"type": "create", "settings": {"switches": {"start_points": "20"}}}', "bad_settings"),
        ('{"type": "create", "settings": {"switches": {"self": 1}}}', "bad_settings"),
        ('{"type": "create", "settings": {"switches": [1]}}', "bad_settings"),
        ('{"type": "create", "settings": {"pace": "mad"}}', "bad_settings"),
        ('{"type": "create", "settings": {"colour": "blue"}}', "bad_settings"),
    ],
)
def test_a_message_that_makes_no_sense_gets_an_answer(text: str, code: str) -> None:
    with local_server() as server, server.player() as player:
        player.session.send_text(text)
        error = player.hear()
        assert (error["type"], error["code"]) == ("error", code)
        assert not server.tables.sessions
        player.create()  # and the connection goes on
        assert player.view["stage"] == "play"


def test_what_makes_no_sense_at_a_table() -> None:
    with local_server(make_match=with_deal(FINISHED)) as server, server.player() as player:
        rack = player.create()["round"]["rack"]
        player.session.send_bytes(b"\x00")
        assert player.wait_for("error")["code"] == "malformed"
        for message, code in [
            ({"type": "arrange"}, "malformed"),
            ({"type": "arrange", "places": rack[:-1]}, "bad_arrangement"),
            ({"type": "arrange", "places": ["R1"] * 30}, "bad_arrangement"),
            ({"type": "arrange", "places": rack, "down": [99]}, "malformed"),
            ({"type": "arrange", "places": rack, "down": [0]}, "bad_arrangement"),
            ({"type": "arrange", "places": rack, "down": "0"}, "malformed"),
            ({"type": "act", "action": "throw R1"}, "malformed"),
            ({"type": "act", "action": "throw R1", "at": 0.0}, "malformed"),
            ({"type": "ready"}, "round_running"),
            ({"type": "start"}, "round_running"),
            ({"type": "replay", "round": 1}, "no_replay"),
            ({"type": "replay", "round": "1"}, "no_replay"),
            ({"type": "record"}, "no_record"),
        ]:
            player.session.send_text(json.dumps(message))
            assert player.wait_for("error")["code"] == code, message
            assert len(player.heard[-1]) < 400, message
        player.send("whole")
        assert player.wait_for("view")["round"]["rack"] == rack


def test_too_many_messages_tables_and_connections() -> None:
    limits = Limits(tables=2, connections=2, burst=5, messages_per_second=0.001, tables_per_connection=9)
    with local_server(limits=limits) as server, server.player() as player:
        player.create()
        player.create(["person", "person", "greedy", "greedy"])
        assert player.refused("create")["code"] == "too_many_tables"
        player.send("nothing")
        player.send("nothing")
        assert player.wait_for("error")["code"] == "malformed"
        assert player.refused("nothing")["code"] in ("malformed", "too_fast")
        assert player.refused("nothing")["code"] == "too_fast"
        with server.player() as second:
            second.send("join", invite=player.view["invite"], name="Can")
            second.wait_for("view")
            with server.client.websocket_connect("/socket", headers=ORIGIN) as third:
                assert json.loads(third.receive_text())["code"] == "too_many_connections"
                with pytest.raises(WebSocketDisconnect):
                    third.receive_text()
        with server.player() as other:
            assert other.view == {}


def test_stale_tables_are_dropped_for_new_ones() -> None:
    with local_server(limits=Limits(tables=1, grace=0.0)) as server:
        with server.player() as player:
            first = player.create()["table"]
        with server.player() as player:
            assert player.refused("create")["code"] == "too_many_tables"
            while server.tables.sessions[first].table.occupied:
                time.sleep(0.01)
            server.tables.sessions[first].table.touched -= 7200
            assert player.create()["table"] != first


@pytest.mark.parametrize(
    ("headers", "is_ours"),
    [
        ({"origin": "http://127.0.0.1:8765", "host": "127.0.0.1:8765"}, True),
        ({"origin": "http://localhost:8765", "host": "localhost:8765"}, True),
        ({"origin": "http://[::1]:8765", "host": "[::1]:8765"}, True),
        ({"origin": "http://192.168.1.4:8765", "host": "192.168.1.4:8765"}, True),
        ({"origin": "https://okey.example", "host": "okey.example"}, True),  # told so by --allow-host
        ({"origin": "http://evil.example", "host": "127.0.0.1:8765"}, False),
        ({"origin": "http://127.0.0.1:9999", "host": "127.0.0.1:8765"}, False),
        ({"origin": "http://evil.example:8765", "host": "evil.example:8765"}, False),  # a name made to point here
        ({"origin": "null", "host": "127.0.0.1:8765"}, False),
        ({"host": "127.0.0.1:8765"}, False),
        ({"origin": "http://", "host": ""}, False),
    ],
)
def test_only_our_own_page_may_call(headers: dict[str, str], is_ours: bool) -> None:
    assert same_origin(headers, {"127.0.0.1", "localhost", "::1", "okey.example"}) is is_ours


def test_a_foreign_page_does_not_get_a_connection() -> None:
    with local_server() as server:
        for headers in (
            {"origin": "http://evil.example"},
            {"host": "evil.example", "origin": "http://evil.example"},
            {},
        ):
            with pytest.raises(WebSocketDisconnect), server.client.websocket_connect("/socket", headers=headers):
                pass


# --- who may know what ---------------------------------------------------------------------------------------


def tiles_in(message: Any) -> set[str]:
    """All tiles named anywhere in a message."""
    return set(re.findall(r'"([RBKY]\d{1,2}|F|\*)"', json.dumps(message)))


def test_the_wire_names_no_tile_that_the_seat_may_not_know() -> None:
    """Every message of a running round, word by word: only tiles of the own rack and those that lay open."""
    with local_server() as server, server.player() as player:
        player.create()
        table = server.tables.sessions[player.view["table"]].table
        open_to_me: set[str] = set()
        checked = 0
        while player.view["stage"] == "play":
            player.until_my_turn()
            if player.view["stage"] != "play":
                break
            tiles = [tile for tile in player.round["rack"] if tile]
            player.act("draw" if player.round["phase"] == "draw" else f"throw {tiles[-1]}")
            player.wait_for("view")
        assert table.match.round.over
        shown: dict[str, Any] = {}
        for text in player.heard:
            message = json.loads(text)
            earlier, shown = shown, message if message["type"] == "view" else shown
            if message["type"] == "change":
                shown = changed(earlier, message)
            if message["type"] in ("view", "change") and shown["stage"] == "play":
                round = shown["round"]
                assert shown["result"] is None
                public = {tile for _, event, tile in round["events"] if event != "draw" and tile}
                drawn = [tile for seat, event, tile in round["events"] if event == "draw" and seat != 0]
                assert drawn == [None] * len(drawn)
                open_to_me = {round["indicator"], round["okey"], *public, *filter(None, round["rack"])}
                own = {tile for seat, event, tile in round["events"] if seat == 0 and tile}
                assert tiles_in(message) <= open_to_me | own
                checked += 1
            assert "seed" not in text
            assert not any(seat.token and seat.token in text for seat in table.seats if message["type"] != "seated")
        assert checked > 20


def test_hidden_tiles_dealt_again_do_not_change_a_byte_of_the_view() -> None:
    from okey_agents.table.web.views import view
    from okey_env.resample import worlds

    changed = 0
    for seed in range(12):
        table = Table(Settings(seats=("person", "greedy", "person", "greedy")), seed)
        table.take_seat("a")
        table.take_seat("b")
        bot = make_bot("greedy", seed)
        for _ in range(5 * seed + 3):
            if not table.match.round.over:
                table.play(bot.act(table.match.round.observe(table.match.round.turn)))
        if table.match.round.over:
            continue
        mine = {seat: json.dumps(view(table, seat)) for seat in (0, 2)}
        kept = table.match.round.games.copy()
        for seat in (0, 2):
            for world in worlds(table.match.round.observe(seat), 3, seed=seed):
                table.match.round.games[0] = world
                table.match.round.games["seed"] = kept["seed"]
                changed += bool((table.match.round.games["stock"] != kept["stock"]).any())
                assert json.dumps(view(table, seat)) == mine[seat]
            table.match.round.games[:] = kept
    assert changed > 20  # they were dealt again


def test_tokens_cannot_be_guessed() -> None:
    server = TableServer(limits=Limits(tables=300))
    tokens = {
        token
        for _ in range(100)
        for session, _, token in [server.create({}, "x")]
        for token in (token, session.table.invite)
    }
    assert len(tokens) == 200
    assert min(map(len, tokens)) >= 32


def test_who_watches_sees_no_rack() -> None:
    with local_server() as server, server.player() as player:
        player.create(seats=["greedy"] * 4)
        view = player.view if player.view["stage"] == "play" else player.wait_for("view", stage="play")
        assert view["you"] is None
        assert view["round"]["rack"] is None
        assert not any(view["round"]["may"].values())
        assert player.refused("act", action="draw", at=0)["code"] == "only_watching"
        player.wait_for("view", stage="round_over")
        assert all(event[2] is None for event in player.view["round"]["events"] if event[1] == "draw")
        player.send("ready")
        assert player.wait_for("view", stage="play")["match"]["round"] == 2


# --- leaving, coming back, the server's end ------------------------------------------------------------------


def test_a_reload_finds_seat_and_rack() -> None:
    with local_server(make_match=with_deal(FINISHED)) as server:
        with server.player() as player:
            rack = list(reversed(player.create()["round"]["rack"]))
            player.send("arrange", places=rack, down=[rack.index("*")])
            token = player.token
        with server.player() as player:
            player.send("sit", token=token)
            view = player.wait_for("view")
            assert (view["you"], view["moves"]) == (0, 0)  # nobody was there, so nothing was played
            assert view["round"]["rack"] == rack
            assert view["round"]["down"] == [rack.index("*")]


def test_a_bot_plays_for_who_has_left_until_they_are_back() -> None:
    """R8.5."""
    with local_server(make_match=with_deal(None, FINISHED)) as server, server.player() as host:
        host.create(seats=["person", "person", "greedy", "greedy"])
        assert host.view["stage"] == "lobby"
        with server.player() as friend:
            friend.send("join", invite=host.view["invite"], name="Can")
            friend.wait_for("view", stage="play")
            assert friend.view["you"] == 1
            friend.act("throw K2")
            friend.wait_for("view", moves=1)
            token = friend.token
            friend.send("leave_table")
            friend.wait_for("left")
            host.until_my_turn()
            while host.view["seats"][1]["here"]:  # it may be told after the moves of the others
                host.hear()
            assert host.view["seats"][1] == {**host.view["seats"][1], "name": "Can", "here": False, "bot": None}
            host.act("draw")
            host.wait_for("view")
            host.act(f"throw {next(filter(None, host.round['rack']))}")
            while sum(seat == 1 for seat, *_ in host.round["events"]) < 2 and host.view["stage"] == "play":
                host.hear()  # the stand-in has moved
        table = server.tables.sessions[host.view["table"]].table
        with server.player() as friend:
            friend.send("sit", token=token)
            view = friend.wait_for("view")
            assert view["you"] == 1
            held = sorted(filter(None, view["round"]["rack"]))
            assert held == sorted(filter(None, table.seats[1].rack.places))
            assert len(held) in (14, 15)


def test_invitations_fill_the_free_seats_and_no_more() -> None:
    with local_server() as server, server.player() as host:
        host.create(seats=["person", "person", "greedy", "person"])
        invite = host.view["invite"]
        with server.player() as first, server.player() as second, server.player() as third:
            first.send("join", invite=invite, name="  Can\n\x00Su " + "x" * 99)
            assert first.wait_for("view")["you"] == 1
            assert first.view["seats"][1]["name"] == "Can Su" + " " + "x" * 13
            assert first.view["stage"] == "lobby"
            second.send("join", invite=invite, name="")
            assert second.wait_for("view")["you"] == 3
            assert second.view["stage"] == "play"
            assert second.view["invite"] is None
            assert third.refused("join", invite=invite, name="x")["code"] == "table_full"


def test_the_next_round_waits_for_all_who_are_here() -> None:
    with local_server(make_match=with_deal(FINISHED)) as server, server.player() as host:
        host.create(seats=["person", "person", "greedy", "greedy"])
        with server.player() as friend:
            friend.send("join", invite=host.view["invite"], name="Can")
            friend.wait_for("view", stage="play")
            host.act("finish K2", at=0)
            host.wait_for("view", stage="round_over")
            host.send("ready")
            assert host.wait_for("view")["stage"] == "round_over"
            friend.wait_for("view", stage="round_over")
            friend.send("ready")
            assert friend.wait_for("view", stage="play")["match"]["round"] == 2


def test_the_next_round_does_not_wait_for_who_has_gone() -> None:
    with local_server(make_match=with_deal(FINISHED)) as server, server.player() as host:
        host.create(seats=["person", "person", "greedy", "greedy"])
        with server.player() as friend:
            friend.send("join", invite=host.view["invite"], name="Can")
            friend.wait_for("view", stage="play")
            host.act("finish K2", at=0)
            host.wait_for("view", stage="round_over")
            host.send("ready")
            host.wait_for("view")
        assert host.wait_for("view", stage="play")["match"]["round"] == 2


def test_tables_outlive_the_server(tmp_path: Path) -> None:
    seen: dict[str, Any] = {}
    with local_server(data=tmp_path) as server, server.player() as player:
        player.create()
        player.play_round()
        player.send("ready")
        player.wait_for("view", stage="play")
        player.until_my_turn()
        rack = list(reversed(player.round["rack"]))
        player.send("arrange", places=rack, down=[])
        assert player.refused("nothing")  # the arrangement has arrived
        seen = player.view
        token = player.token
    assert (tmp_path / "tables.sqlite").stat().st_mode & 0o077 == 0
    [path] = (tmp_path / "records").iterdir()
    assert len(list(Record.read(path).replay())) > 10  # raises where it disagrees with the rules
    with local_server(data=tmp_path) as server, server.player() as player:
        player.send("sit", token=token)
        view = player.wait_for("view")
        seen["round"]["rack"] = rack
        assert {**view, "version": 0} == {**seen, "version": 0}


def test_a_damaged_or_foreign_file_of_tables(tmp_path: Path) -> None:
    (tmp_path / "tables.sqlite").write_bytes(b"this is no database, but long enough to look like a file of one" * 20)
    with pytest.raises(ValueError, match="holds no tables"):
        TableServer(tmp_path)


def test_a_kept_table_that_cannot_be_played_again_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with local_server(data=tmp_path) as server, server.player() as player:
        table_id = player.create()["table"]
        table = server.tables.sessions[table_id].table
        kept = table.to_json()
        server.tables._keeper._store.save(
            {
                "older": json.dumps({**kept, "id": "older", "version": 0}),
                "bad": json.dumps({**kept, "id": "bad", "played": [[7, 7, 7]]}),
            }
        )
    with local_server(data=tmp_path) as server, server.player():
        assert set(server.tables.sessions) == {table_id}
    assert [record.getMessage().split()[1] for record in caplog.records] == ["older", "bad"]


def test_who_comes_before_the_server_is_ready_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    warm_up = TableServer._warm_up

    def slowly(tables: TableServer) -> Any:
        time.sleep(0.5)
        return warm_up(tables)

    monkeypatch.setattr(TableServer, "_warm_up", slowly)
    with local_server() as server, server.client.websocket_connect("/socket", headers=ORIGIN) as session:
        player = Player(session)
        assert player.hear()["type"] == "welcome"
        player.send("create", name="Ayşe")
        assert player.hear()["type"] == "wait"
        assert player.wait_for("view")["stage"] == "play"


# --- bots that fail ------------------------------------------------------------------------------------------


def failing(observation: Observation) -> int:
    raise RuntimeError("out of ideas")


def illegal(observation: Observation) -> int:
    return 108


def hanging(observation: Observation) -> int:
    time.sleep(0.3)
    return observation.legal_actions[0]


@pytest.mark.parametrize("bot", [failing, illegal, hanging])
def test_a_bot_that_fails_does_not_hold_up_the_table(bot: Any, caplog: pytest.LogCaptureFixture) -> None:
    limits = Limits(grace=0.0, bot_seconds=0.05)
    with (
        local_server(bots={"bad": bot}, limits=limits, make_match=with_deal(FINISHED)) as server,
        server.player() as player,
    ):
        player.create(seats=["person", "bad", "greedy", "greedy"])
        player.act("throw K2")
        player.wait_for("view", moves=1)
        player.until_my_turn()
        assert [event for event in player.round["events"] if event[0] == 1]
    assert "bad" in caplog.text


def test_a_failed_move_is_the_next_best_bots_and_the_view_says_so() -> None:
    """Not the first legal one; and a bot that fails again and again is not asked any more in that match."""
    asked = []

    def fails(observation: Observation) -> int:
        asked.append(observation)
        raise RuntimeError("out of ideas")

    with local_server(bots={"bad": fails}) as server, server.player() as player:
        player.create(seats=["bad"] * 4)
        whys: list[dict[str, Any]] = []
        while player.view["stage"] == "play" and len(whys) < 30:
            message = player.hear()
            seats = [seat["replaced"] for seat in message.get("seats", []) if seat["replaced"]]
            whys += [replaced for replaced in seats if replaced["moves"] == message["moves"] - 1]
        assert {replaced["bot"] for replaced in whys} == {"expert"}
        assert [replaced["why"] for replaced in whys[:4]] == ["failed"] * 3 + ["given_up"]
        session = server.tables.sessions[player.view["table"]]
        table = session.table
        again, expert = Match(table.settings.rules, table.seed), make_bot("expert")
        for done in table.played[0][:30]:
            expert.reset(session.bot_seeds[again.round.turn, "bad"])  # chance decides between equal moves
            assert done == expert.act(again.round.observe(again.round.turn))
            again.apply(done)
    by_practice = 2
    assert len(asked) <= 3 + by_practice


def test_a_slow_bot_or_hint_holds_up_its_own_table_only() -> None:
    gate = threading.Event()

    def thinks(observation: Observation) -> int:
        gate.wait(30)
        return observation.legal_actions[0]

    with (
        local_server(bots={"slow": thinks}, make_match=with_deal(FINISHED)) as server,
        server.player() as slow,
        server.player() as slow_too,
        server.player() as quick,
    ):
        for player in (slow, slow_too):
            player.create(seats=["person", "slow", "greedy", "greedy"])
            player.act("throw K2")
        quick.create()
        quick.act("throw K2")
        quick.wait_for("view", moves=1)
        for _ in range(10):
            quick.until_my_turn()
            if quick.view["stage"] != "play":
                break
            tiles = [tile for tile in quick.round["rack"] if tile]
            quick.act("draw" if quick.round["phase"] == "draw" else f"throw {tiles[-1]}")
            quick.wait_for("view")
        tables = [server.tables.sessions[player.view["table"]].table for player in (slow, slow_too, quick)]
        assert [table.moves for table in tables[:2]] == [1, 1]
        assert tables[2].moves > 20
        gate.set()


def test_a_bot_sits_down_when_it_is_ready() -> None:
    gate = threading.Event()

    class Compiling:
        def __init__(self) -> None:
            gate.wait(30)

        def act(self, observation: Observation) -> int:
            return observation.legal_actions[0]

    limits = Limits(grace=0.0, bot_seconds=1.5)
    with local_server(bots={"compiling": Compiling}, limits=limits) as server, server.player() as player:
        player.create(seats=["compiling", "greedy", "greedy", "greedy"])
        while player.view["preparing"] != ["compiling"]:
            player.hear()
        time.sleep(1.7)  # longer than a bot may think
        assert server.tables.sessions[player.view["table"]].table.moves == 0
        gate.set()
        while player.view["moves"] < 8:
            player.hear()
            assert player.view["seats"][0]["replaced"] is None
        assert player.view["preparing"] == []


def test_hints_for_one_position_are_thought_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def advice(observation: Observation, worlds: int) -> dict[str, Any]:
        calls.append(worlds)
        return {"action": "throw K2", "tile": "K2", "reasons": []}

    monkeypatch.setattr(table_server, "hint_for", advice)
    with local_server(make_match=with_deal(FINISHED)) as server, server.player() as player:
        player.create()
        calls.clear()
        for _ in range(3):
            player.send("hint")
            assert player.wait_for("hint")["action"] == "throw K2"
        assert calls.count(0) == 1  # the others make the coach ready


# --- the page ------------------------------------------------------------------------------------------------


def test_the_page_is_small_and_keeps_to_itself() -> None:
    with local_server() as server:
        page = server.client.get("/")
        assert page.status_code == 200
        assert "default-src 'self'" in page.headers["content-security-policy"]
        assert server.client.get("/../server.py").status_code == 404
    assert sum(path.stat().st_size for path in STATIC.rglob("*") if path.is_file()) < 300_000
    for path in STATIC.rglob("*"):
        if path.is_file() and path.name != "star.svg" and path.name != "icon.svg":
            assert not re.search(r"https?://", path.read_text(encoding="utf-8")), path


def test_every_language_has_every_sentence() -> None:
    keys = {
        path.stem: re.findall(r"^ {2,4}(\w+):", path.read_text(encoding="utf-8"), re.MULTILINE)
        for path in (STATIC / "text").iterdir()
    }
    assert set(keys) == {"en", "tr", "fr"}
    assert keys["en"] == keys["tr"] == keys["fr"]


def test_rules_of_a_table_are_what_was_asked_for() -> None:
    with local_server() as server, server.player() as player:
        player.create(preset="klasik", switches={"start_points": 7, "teams": True})
        assert player.view["rules"] == {**player.view["rules"], "start_points": 7, "teams": True, "winners": 2}
        assert server.tables.sessions[player.view["table"]].table.match.rules == Rules.preset(
            "klasik", start_points=7, teams=True
        )
