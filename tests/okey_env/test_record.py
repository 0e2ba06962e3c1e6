"""Records: what is played can be read, stepped through, verified and taken up again, and nothing else passes for one.

`python -m tests.okey_env.test_record` writes the golden record again.
"""

import json
import random
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import okey_env
from okey_agents.cli import main
from okey_env import Deal, OkeyEnv, Round, SelfPlay
from okey_env.match import Match
from okey_env.record import Record, RecordWriter
from okey_env.rules import Rules
from tests.places import ROOT
from tests.playthrough import GOLDEN, choose

GOLDEN_MATCH = GOLDEN / "match.jsonl"
PLAYERS = ("Ayşe", "Mehmet", "greedy", "greedy")

# R5 finishes with melds; the okey is Y5
FINISHED = "R1 R2 R3 R4 | B4 B5 B6 | K7 K8 K9 | Y10 Y11 Y12 Y13 | R5"


def play_match(seed: int, rules: Any, writer: RecordWriter | None = None) -> Match:
    """A whole match of plain players."""
    match = Match(rules, seed=seed)
    rng = random.Random(seed)
    while True:
        while not match.round.over:
            match.apply(choose(match.round, rng))
            if writer is not None:
                writer.update(match)
        if match.over:
            return match
        match.next_round()


RULES = {"start_points": 7, "void_points": 1, "rotation": "winner"}


@pytest.fixture(scope="module")
def match() -> Match:
    return play_match(2, RULES)


@pytest.fixture(scope="module")
def record(match: Match) -> Record:
    return Record.of(match, PLAYERS)


def random_round(seed: int) -> Round:
    """A round of chance, cut off somewhere or not."""
    rng = random.Random(seed)
    deal = Deal("Y4", (FINISHED, None, None, None)) if seed % 3 == 0 else None
    rules = {"preset": rng.choice(("gamelake", "klasik")), "max_throws": rng.choice((5, 60, 200))}
    round = Round(rules, seed=seed, deal=deal, number=seed, points=(3, 9, 1, 21), draw_queues=seed % 2 == 0)
    for _ in range(rng.choice((0, 1, 30, 1_000))):
        if not round.over:
            round.apply(rng.choice(round.legal_actions()))
    return round


# --- what is played is what is read ---------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_a_round_is_found_again_whole(seed: int, tmp_path: Path) -> None:
    round = random_round(seed)
    Record.of(round, PLAYERS).write(tmp_path / "round.jsonl")
    record = Record.read(tmp_path / "round.jsonl")
    assert record.at(-1).round.save() == round.save()
    assert record.lines == Record.of(record.at(-1).round, PLAYERS).lines
    assert (record.rules, record.seed, record.players, record.episode) == (round.rules, seed, PLAYERS, "round")
    assert record.complete == round.over
    assert json.loads(record.lines[1])["by_seed"] == (seed % 3 != 0)
    if round.over:
        record.verify()
    else:
        with pytest.raises(
            ValueError, match=r"stops in round 0 after line \d+, up to which all agrees: expected the end"
        ):
            record.verify()


def test_a_match_is_found_again_at_every_step(record: Record, match: Match) -> None:
    assert len(match.earlier) > 1
    record.verify()
    assert record.complete
    last = record.at(-1)
    assert last.save() == match.save()
    assert [round.save() for round in last.earlier] == [round.save() for round in match.earlier]
    assert record.at(0).round.racks.sum() == 57
    saved = [table.save() for _, table in record.replay()]
    for step in (0, 1, 30, len(record.steps) // 2, len(record.steps) - 1):
        assert record.at(step).save() == saved[step]
    with pytest.raises(IndexError):
        record.at(len(record.steps))


def test_play_goes_on_from_any_step(record: Record, match: Match) -> None:
    table = record.at(25)
    assert table.round.legal_actions()
    for step in record.steps[26:]:
        if step.action is None:
            table.next_round()
        else:
            table.apply(step.text)
    assert table.save() == match.save()


def test_steps_say_who_did_what(record: Record) -> None:
    first, second, *_ = record.steps
    assert (first.round, first.action, first.text, first.line) == (0, None, "deal", 2)
    assert (second.seat, second.line) == (first.seat, 3)
    assert second.text.startswith("throw ")
    assert all((step.tile is not None) == (step.text in ("draw", "take")) for step in record.steps)


def test_same_game_same_bytes(record: Record, tmp_path: Path) -> None:
    writer = RecordWriter(tmp_path / "live.jsonl", PLAYERS)
    play_match(2, RULES, writer)
    record.write(tmp_path / "after.jsonl")
    assert (tmp_path / "live.jsonl").read_bytes() == (tmp_path / "after.jsonl").read_bytes()


def test_golden_match_is_written_as_ever() -> None:
    header, *golden = GOLDEN_MATCH.read_text(encoding="utf-8").splitlines()
    first, *lines = golden_match().lines
    assert lines == golden
    expected, written = json.loads(header), json.loads(first)
    assert written | {"rules": expected["rules"]} == expected
    later = {name: value for name, value in written["rules"].items() if name not in expected["rules"]}
    assert later == {name: getattr(Rules(), name) for name in later}  # switches that came after it
    Record.read(GOLDEN_MATCH).verify()


def test_a_record_of_version_0_1_is_read_with_the_names_that_switches_had_then() -> None:
    record = Record.read(GOLDEN / "match_of_version_0_1.jsonl")
    record.verify()
    assert record.rules == golden_match().rules


def golden_match() -> Record:
    rules = {"preset": "klasik", "start_points": 5, "teams": True}
    return Record.of(play_match(8, rules), PLAYERS)


# --- written by the environments ------------------------------------------------------------------------


def test_environments_write_records() -> None:
    aec: Any = okey_env.raw_env({"max_throws": 8}, episode="match")
    aec.reset(seed=1)
    single = OkeyEnv(opponents=["greedy", "random", "greedy"], learning_seat=1)
    single.reset(seed=1)
    for _ in range(30):
        aec.step(int(np.flatnonzero(aec.observe(aec.agent_selection)["action_mask"])[0]))
        if not single.round.over:
            single.step(int(np.flatnonzero(single.action_masks())[0]))
    of_match = aec.record()
    assert (of_match.episode, of_match.players[3]) == ("match", "player_3")
    assert of_match.at(-1).save() == aec.save()
    of_round = single.record("Ayşe")
    assert of_round.players == ("greedy", "Ayşe", "greedy", "random")
    assert of_round.at(-1).save() == single.save()
    games = SelfPlay(2, seed=1)
    games.reset()
    games.step(games.masks.argmax(axis=1))
    assert Record.of(games.clone(1)).at(-1).save() == games.save(1)


# --- taken up again after a stop ------------------------------------------------------------------------


def test_a_record_cut_off_anywhere_is_taken_up_and_ends_the_same(record: Record, tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    record.write(path)
    whole = path.read_bytes()
    second_line = len(record.lines[0].encode()) + len(record.lines[1].encode()) + 2
    ends = [i for i, byte in enumerate(whole, start=1) if byte == ord("\n") and i >= second_line]
    cuts = random.Random(1).sample(range(second_line, len(whole)), 25) + random.Random(2).sample(ends, 15)
    for cut in [second_line, *cuts, len(whole) - 1, len(whole)]:
        path.write_bytes(whole[:cut])
        writer, table = RecordWriter.resume(path)
        assert isinstance(table, Match)
        done = Record.read(path).steps
        for step in record.steps[len(done) :]:
            if step.action is None:
                table.next_round()
            else:
                table.apply(step.action)
            writer.update(table)
        assert path.read_bytes() == whole


def test_a_round_is_taken_up_as_a_round(tmp_path: Path) -> None:
    path = tmp_path / "round.jsonl"
    round = random_round(7)
    Record.of(round).write(path)
    _, table = RecordWriter.resume(path)
    assert isinstance(table, Round)
    assert table.save() == round.save()


def test_what_is_no_record_is_not_taken_up_and_stays(record: Record, tmp_path: Path) -> None:
    path = tmp_path / "file"
    respaced = [record.lines[0], json.dumps(json.loads(record.lines[1]), separators=(",", ":")), ""]
    cases = {
        "is no okey-env record": "a letter\n",
        "holds no deal": record.lines[0] + "\n" + record.lines[1][:40],
        "line 2: not as it would be written here": "\n".join(respaced),
    }
    for message, text in cases.items():
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=message):
            RecordWriter.resume(path)
        assert path.read_text(encoding="utf-8") == text


def test_a_writer_may_be_asked_seldom(record: Record, match: Match, tmp_path: Path) -> None:
    writer = RecordWriter(tmp_path / "late.jsonl", PLAYERS)
    writer.update(match)
    writer.update(match)
    assert (tmp_path / "late.jsonl").read_text(encoding="utf-8").splitlines() == record.lines


# --- nothing else passes --------------------------------------------------------------------------------

OTHER_VALUES: dict[str, Any] = {
    "seat": lambda value: (value + 1) % 4,
    "action": lambda value: value + 1,
    "text": lambda value: "throw R14",
    "tile": lambda value: "R14",
    "number": lambda value: value + 1,
    "points": lambda value: [value[0] - 1, *value[1:]],
    "starter": lambda value: (value + 1) % 4,
    "indicator": lambda value: "R1" if value != "R1" else "R2",
    "racks": lambda value: [*value[1:], value[0]],
    "stock": lambda value: " ".join(value.split()[::-1]),
    "by_seed": lambda value: not value,
    "ending": lambda value: "void" if value != "void" else "finish",
    "winner": lambda value: None if value is not None else 0,
    "lost": lambda value: [value[0] + 1, *value[1:]],
    "won": lambda value: [value[0] + 1, *value[1:]],
    "winners": lambda value: value[:-1],
    "truncated": lambda value: not value,
    "standings": lambda value: value[::-1],
}


def test_each_value_that_is_changed_is_found_in_its_line(record: Record) -> None:
    ends = [i for i, line in enumerate(record.lines) if json.loads(line).get("type") in ("end", "result", "deal")]
    rng = random.Random(1)
    tried = set()
    for i in sorted({*ends, *rng.sample(range(2, len(record.lines)), 40)}):
        for key, value in json.loads(record.lines[i]).items():
            if key == "type" or (key == "points" and i == 1):  # a match may begin with any points
                continue
            entry = json.loads(record.lines[i])
            entry[key] = OTHER_VALUES[key](value)
            tried.add(key)
            lines = [*record.lines[:i], json.dumps(entry), *record.lines[i + 1 :]]
            with pytest.raises(ValueError, match=rf"^the record, line {i + 1}: "):
                Record(lines).verify()
    assert tried == set(OTHER_VALUES)


def test_each_line_that_is_left_out_or_doubled_is_found(record: Record) -> None:
    for i in random.Random(1).sample(range(len(record.lines)), 60):
        for lines in (record.lines[:i] + record.lines[i + 1 :], record.lines[: i + 1] + record.lines[i:]):
            with pytest.raises(ValueError, match=r"^the record"):
                Record(lines).verify()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is no okey-env record"),
        (b"hello\n", "is no okey-env record: its first line is no JSON object"),
        (b"\x89PNG\r\n\x1a\n", "is no okey-env record: it is not text"),
        (b'{"name": "x"}\n', "is no okey-env record: expected a first line with the format"),
        (b"[" * 100_000 + b"\n", "is no okey-env record"),
        (b'{"format": "okey-env record", "version": 9}\n', "line 1: version 9 is not known here: expected 1"),
        (b'{"format": "okey-env record", "version": 1}\n', "line 1: damaged: there is no 'episode' in the header"),
        (b'{"format": "okey-env record", "versio', "is cut off: its last line has no end"),
    ],
)
def test_foreign_files_are_refused_in_one_sentence(
    data: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    for verb in ("verify", "replay"):
        with pytest.raises(SystemExit) as stopped:
            main([verb, str(path)])
        assert stopped.value.code == 1
        said = capsys.readouterr().err
        assert message in said
        assert len(said.splitlines()) == 1
    with pytest.raises(SystemExit) as stopped:
        main(["verify", str(tmp_path / "nothing")])
    assert stopped.value.code == 1
    assert capsys.readouterr().err.endswith("nothing: No such file or directory\n")


def test_damage_of_any_kind_is_a_sentence(record: Record, tmp_path: Path) -> None:
    path = tmp_path / "file"
    record.write(path)
    whole = path.read_bytes()
    rng = random.Random(1)
    agreed = 0
    for _ in range(200):
        data = bytearray(whole)
        if rng.random() < 0.3:
            del data[rng.randrange(len(data)) :]
        else:
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data)
        said = ""
        try:
            Record.read(path).verify()
        except ValueError as error:
            said = str(error)
        agreed += not said  # a letter of a name, say
        assert not said or str(path) in said
    assert agreed < 10


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("episode", "game", "episode='game': expected 'round' or 'match'"),
        ("rules", {"start_points": 99}, "start_points=99 is out of range: expected 5 to 21"),
        ("rules", {"wind": True}, "'wind' is not a switch of the rules"),
        ("players", ["a", "b"], "expected four printable names"),
        ("players", ["a", "b", "c", "\x1b[2J"], "expected four printable names"),
        ("seed", -1, "expected a whole number below"),
        ("seed", True, "expected a whole number below"),
    ],
)
def test_an_impossible_header_is_refused(record: Record, key: str, value: Any, message: str) -> None:
    header = {**json.loads(record.lines[0]), key: value}
    with pytest.raises(ValueError, match=f"^the record, line 1: .*{message}"):
        Record([json.dumps(header), *record.lines[1:]])


def test_tiles_that_the_seed_does_not_deal_must_be_marked_as_chosen() -> None:
    record = Record.of(Round(seed=1, deal=Deal("Y4", (FINISHED, None, None, None))))
    line = record.lines[1].replace('"by_seed": false', '"by_seed": true')
    with pytest.raises(ValueError, match="line 2: these are not the tiles that round 0 of the seed deals"):
        Record([record.lines[0], line]).verify()


@pytest.mark.parametrize("episode", ["round", "match"])
@pytest.mark.parametrize("start", ["distance-1", "short-2", {"deal": 1, "distance-3": 1, "short-5": 1}], ids=str)
def test_rounds_with_a_start_are_found_again(episode: str, start: Any, tmp_path: Path) -> None:
    env = okey_env.raw_env({"void_points": 3, "start_points": 5, "max_throws": 90}, episode=episode, start=start)
    rng = random.Random(1)
    for seed in range(6):
        env.reset(seed=seed)
        path = tmp_path / "record.jsonl"
        writer = RecordWriter(path)
        while not (env.terminations["player_0"] or env.truncations["player_0"]):
            env.step(rng.choice(env.round.legal_actions()))
            writer.update(env.match or env.round)
        record = env.record(["seat 0", "seat 1", "seat 2", "seat 3"])
        assert record.complete
        record.verify()
        assert Record.read(path).lines == record.lines
        assert record.at(-1).round.save() == env.save()
        deals = [json.loads(line) for line in record.lines if '"type": "deal"' in line]
        if start == "short-2":
            assert [deal["set_aside"] for deal in deals] == [40] * len(deals)
            assert all(deal["by_seed"] for deal in deals)  # the tiles are those of the seed
        elif start == "distance-1":
            assert not any(deal["by_seed"] or "set_aside" in deal for deal in deals)


@pytest.mark.parametrize("value", [0, 3, 48, "4", None, True, 4.0])
def test_an_impossible_number_of_tiles_aside_is_refused(value: Any) -> None:
    env = okey_env.raw_env(start="short-2")
    env.reset(seed=1)
    lines = env.record().lines
    deal = json.loads(lines[1])
    assert deal["set_aside"] == 40
    with pytest.raises(ValueError, match=r"line 2: damaged: set_aside=.*: expected a multiple of 4, 4 to 44"):
        Record([lines[0], json.dumps({**deal, "set_aside": value})])


def test_names_are_checked() -> None:
    with pytest.raises(ValueError, match=r"players=\['a'\]: expected 4 printable names"):
        Record.of(Round(seed=1), ["a"])


# --- the commands ---------------------------------------------------------------------------------------


def test_verify_counts(record: Record, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "match.jsonl"
    record.write(path)
    main(["verify", str(path)])
    rounds = record.steps[-1].round + 1
    assert capsys.readouterr().out == f"{path}: {rounds} rounds, {len(record.steps) - rounds} moves, all by the rules\n"


def test_replay_shows_all_racks_and_the_end(record: Record, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "match.jsonl"
    record.write(path)
    main(["replay", str(path)])
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "a match, rules gamelake, void_points=1, start_points=7, rotation=winner, seed 2: " + ", ".join(
        f"{seat} {name}" for seat, name in enumerate(PLAYERS)
    )
    assert sum(line.startswith("  0 Ayşe  ") for line in out) == record.steps[-1].round + 1
    assert out[-1].startswith("the match goes to ")
    assert sum(" throw " in line for line in out) == sum(step.text.startswith("throw") for step in record.steps)


def test_replay_step_by_step_ends_when_asked(
    record: Record, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "match.jsonl"
    record.write(path)
    answers = iter(["", "", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(answers))
    main(["replay", "--step", str(path)])
    out = capsys.readouterr().out
    assert out.count("Okey (gamelake") == 3


def test_replay_of_an_unfinished_round_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "round.jsonl"
    round = Round(seed=1)
    round.apply(round.legal_actions()[-1])
    Record.of(round).write(path)
    main(["replay", str(path)])
    assert capsys.readouterr().out.endswith("the record stops here, before the end of the round\n")


def test_replay_of_pairs_and_of_a_void_round(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = Round(seed=1, deal=Deal("Y4", ("R1 R1 R5 R5 B3 B3 K7 K7 K9 K9 Y2 Y2 B12 * Y8", None, None, None)))
    pairs.apply("finish Y8")
    void = Round({"max_throws": 1}, seed=1)
    void.apply(void.legal_actions()[-1])
    for round, sentence in ((pairs, "finishes, laying Y8: seven pairs, R1 R1"), (void, "the round is void: too many")):
        Record.of(round).write(tmp_path / "round.jsonl")
        main(["replay", str(tmp_path / "round.jsonl")])
        assert sentence in capsys.readouterr().out


@pytest.mark.parametrize("page", ["matches.md", "records.md"])
def test_code_on_the_pages_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(compile(block, page, "exec"), {})


if __name__ == "__main__":
    golden_match().write(GOLDEN_MATCH)
