"""What the table keeps on disk: tried again until it is written, private, bounded, and read again row by row."""

import asyncio
import json
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from okey_agents.table.web.keeper import Keeper
from okey_agents.table.web.settings import Settings
from okey_agents.table.web.table import Table
from okey_agents.table.web.table_server import Limits, TableServer
from okey_env.bots import make_bot
from okey_env.match import Match
from okey_env.record import Record
from tests.okey_agents.table.playing import AT_ONCE, Player, local_server


def short_match(rules: Any, seed: int) -> Match:
    """A match that the first finished round decides."""
    return Match(rules, seed, points=(1, 1, 1, 1))


def play_match(player: Player) -> None:
    while not player.view["match"]["over"]:
        player.play_round()
        if not player.view["match"]["over"]:
            player.send("ready")
            player.wait_for("view", stage="play")


def wait_until(condition: Any) -> None:
    ended = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < ended
        time.sleep(0.02)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("records/*.jsonl"))


def test_a_record_that_could_not_be_written_is_written_later(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "records").write_text("in the way")
    with local_server(data=tmp_path, make_match=short_match) as server, server.player() as player:
        player.create()
        play_match(player)
        wait_until(lambda: caplog.records)
        player.send("ready")  # the next match has begun before the record of the last one could be written
        player.wait_for("view", stage="play")
        (tmp_path / "records").unlink()
        wait_until(lambda: files(tmp_path))
        [path] = files(tmp_path)
        record = Record.read(path)
        record.verify()
        assert record.complete
    assert len(caplog.records) == 2  # that it failed, and that it works again; not one for each try
    assert "records" in caplog.records[0].getMessage()


def test_a_table_that_could_not_be_written_is_written_later(tmp_path: Path) -> None:
    with local_server(data=tmp_path) as server:
        with server.player() as player:
            table_id = player.create()["table"]
            file = server.tables._keeper._store._file
            assert file is not None
            other = sqlite3.connect(tmp_path / "tables.sqlite")
            file.execute("PRAGMA busy_timeout = 1")
            other.execute("BEGIN EXCLUSIVE")  # as a backup does
            player.until_my_turn()
            wait_until(lambda: server.tables._keeper._fault)
            other.rollback()
            other.close()
        wait_until(lambda: not server.tables._keeper._fault)
    with local_server(data=tmp_path) as server, server.player():
        assert set(server.tables.sessions) == {table_id}


def test_a_match_is_recorded_though_the_next_one_begins_at_once(tmp_path: Path) -> None:
    with local_server(data=tmp_path, make_match=short_match) as server, server.player() as player:
        player.create()
        for _ in range(3):
            play_match(player)
            player.send("ready")
            player.wait_for("view", stage="play")
    paths = files(tmp_path)
    assert len(paths) == 3
    assert all(Record.read(path).complete for path in paths)


def test_records_are_private_and_their_names_tell_nothing(tmp_path: Path) -> None:
    old = tmp_path / "records" / "table-00000000deadbeef.jsonl"
    old.parent.mkdir(mode=0o755)
    old.write_text("from an earlier version")
    old.chmod(0o644)
    os.umask(0o022)
    with local_server(data=tmp_path) as server, server.player() as player:
        player.create()
        table = server.tables.sessions[player.view["table"]].table
        player.play_round()
        wait_until(lambda: len(files(tmp_path)) == 2)
        assert {path.stat().st_mode & 0o777 for path in files(tmp_path)} == {0o600}
        assert (tmp_path / "records").stat().st_mode & 0o777 == 0o700
        [path] = set(files(tmp_path)) - {old}
        assert f"{table.seed:x}" not in path.name
        assert str(table.seed) not in path.name
        assert len(path.stem) >= len("2026-12-01-") + 16
        assert not list(tmp_path.glob("records/*.part"))


def played_match(rounds: int) -> Match:
    match, bot = Match(seed=3, points=(21,) * 4), make_bot("greedy", 1)
    for number in range(rounds):
        if number:
            match.next_round()
        while not match.round.over:
            match.apply(bot.act(match.round.observe(match.round.turn)))
    return match


def test_the_oldest_records_of_matches_that_are_over_make_room(tmp_path: Path) -> None:
    async def write(keeper: Keeper, name: str, running: list[str]) -> None:
        keeper.add_record(name, played_match(1), ("a", "b", "c", "d"))
        await keeper.write(running)
        os.utime(tmp_path / "records" / f"{name}.jsonl", (1000 + int(name), 1000 + int(name)))

    keeper = Keeper(tmp_path, 4, 10**9)
    for i in range(10):
        asyncio.run(write(keeper, str(i), ["1"]))
    assert [path.stem for path in files(tmp_path)] == ["1", "7", "8", "9"]
    keeper.close()
    size = files(tmp_path)[0].stat().st_size
    keeper = Keeper(tmp_path, 100, int(2.5 * size))
    asyncio.run(write(keeper, "10", ["1"]))
    assert [path.stem for path in files(tmp_path)] == ["1", "10"]
    keeper.close()


def last_rounds(rules: Any, seed: int) -> Match:
    """A match of which 254 rounds have been played."""
    match = Match(rules, seed)
    match.round.deal(seed, number=254)
    return match


def test_a_match_that_never_ends_is_ended_and_its_record_with_it(tmp_path: Path) -> None:
    """R8.2: after 256 rounds nobody has won, and the next match begins with another record."""
    everlasting = {"make_match": last_rounds, "limits": AT_ONCE, "data": tmp_path}
    with local_server(**everlasting) as server, server.player() as player:
        player.create(seats=["random"] * 4, switches={"start_points": 21})
        for number in (255, 256):
            while player.view["stage"] == "play":
                player.hear()
            assert player.view["match"]["over"] == (number == 256)
            if number == 255:
                player.send("ready")
                player.wait_for("view", stage="play")
        assert player.view["match"]["winners"] == []
        first = server.tables.sessions[player.view["table"]].table.record_name
        player.send("ready")
        player.wait_for("view", stage="play")
        assert server.tables.sessions[player.view["table"]].table.record_name != first
        wait_until(lambda: files(tmp_path))
        assert len(files(tmp_path)) == 1
        assert len(Record.read(files(tmp_path)[0]).lines) < 1000


def kept_tables(folder: Path, count: int) -> list[str]:
    server = TableServer(folder, worlds=0)
    ids = [server.create({}, "x")[0].table.id for _ in range(count)]
    for session in server.sessions.values():
        bot = make_bot("greedy", 1)
        for _ in range(7):
            session.table.play(bot.act(session.table.match.round.observe(session.table.match.round.turn)))
        server.keep(session)
    asyncio.run(server._write())
    server._keeper.close()
    return ids


DAMAGE: list[Any] = [
    "",
    "{",
    "null",
    "[]",
    "7",
    '"x"',
    "NaN",
    "[" * 5000,
    "9" * 5000,
    b"\xff\xfe{}",
    7,
    {"version": 0},
    {"version": None},
    {"id": "another"},
    {"id": 7},
    {"invite": None},
    {"watch": 5},
    {"settings": []},
    {"settings": None},
    {"settings": {"seats": None}},
    {"settings": {"seats": ["person"]}},
    {"settings": {"preset": 5, "seats": ["person"] * 4}},
    {"seed": "x"},
    {"seed": 1.5},
    {"seed": True},
    {"record": "../../etc/passwd"},
    {"record": ""},
    {"record": None},
    {"touched": "now"},
    {"touched": float("nan")},
    {"touched": None},
    {"started": 1},
    {"played": None},
    {"played": [7]},
    {"played": [[7, 7, 7]]},
    {"played": [["draw"]]},
    {"played": [[0.0]]},
    {"played": [[2**70]]},
    {"played": [[], []]},
    {"seats": None},
    {"seats": []},
    {"seats": [None] * 4},
    {"seats": [{}] * 4},
    {"seats": [{"name": 5, "token": "x", "ready": True, "places": [None] * 30, "down": []}] * 4},
]


def test_one_bad_row_does_not_lose_the_other_tables(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    ids = kept_tables(tmp_path, 3)
    with sqlite3.connect(tmp_path / "tables.sqlite") as file:
        [good] = file.execute("SELECT kept FROM tables WHERE id = ?", (ids[0],)).fetchone()
        for number, damage in enumerate(DAMAGE):
            kept = damage
            if isinstance(damage, dict):
                kept = json.dumps({**json.loads(good), "id": f"bad {number}", **damage})
            row = "CAST(? AS TEXT)" if isinstance(kept, bytes) else "?"
            file.execute(f"INSERT INTO tables VALUES (?, {row})", (f"bad {number}", kept))
        file.execute("INSERT INTO tables VALUES (CAST(? AS TEXT), '{}')", (b"\xff\xfe",))
    file.close()
    with local_server(data=tmp_path) as server, server.player() as player:
        assert set(server.tables.sessions) == set(ids)
        token = server.tables.sessions[ids[0]].table.seats[0].token
        player.send("sit", token=token)
        assert player.wait_for("view")["moves"] == 7
    assert len(caplog.records) == len(DAMAGE) + 1
    assert sum("bad " in record.getMessage() for record in caplog.records) > 30
    caplog.clear()
    with local_server(data=tmp_path) as server, server.player():  # and at the next start nothing is said of them
        assert set(server.tables.sessions) == set(ids)
    assert caplog.records == []
    with sqlite3.connect(tmp_path / "tables.sqlite") as file:
        assert file.execute("SELECT count(*) FROM set_aside").fetchone() == (len(DAMAGE) + 1,)
    file.close()


def test_a_table_kept_by_an_earlier_version_gets_a_name_for_its_record(tmp_path: Path) -> None:
    [key] = kept_tables(tmp_path, 1)
    with sqlite3.connect(tmp_path / "tables.sqlite") as file:
        [text] = file.execute("SELECT kept FROM tables").fetchone()
        kept = json.loads(text)
        del kept["record"]
        file.execute("UPDATE tables SET kept = ?", (json.dumps(kept),))
    file.close()
    with local_server(data=tmp_path) as server, server.player():
        assert len(server.tables.sessions[key].table.record_name) > 20


def test_racks_come_back_as_they_lay() -> None:
    table = Table(Settings(), 5)
    table.take_seat("Ayşe")
    order = list(reversed(table.seats[0].rack.places))
    table.arrange(0, order, [])
    again = Table(Settings(), 5)
    again.restore(json.loads(json.dumps(table.to_json())))
    assert again.seats[0].rack.places == order
    assert again.record_name == table.record_name


def test_limits_have_their_documented_values() -> None:
    """docs/table.md says them."""
    text = (Path(__file__).parents[3] / "docs" / "table.md").read_text(encoding="utf-8")
    limits = Limits()
    for name in ("tables", "tables_per_address", "connections", "connections_per_address", "sockets", "records"):
        assert f"`{name}` | {getattr(limits, name):,}" in text, name
