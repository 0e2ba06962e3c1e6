"""`okey review`: a blunder is found and named, good play is left alone, and files that are no records are refused."""

from pathlib import Path

import pytest

from okey_agents.bots.rated import ExpertBot
from okey_agents.cli import main
from okey_agents.coach.review import review
from okey_env import Deal
from okey_env.record import Record
from okey_env.round import Round

PLAYERS = ("Ayşe", "Burak", "Cem", "Deniz")


@pytest.fixture(scope="module")
def record() -> Record:
    """Ayşe breaks a run at the first throw, one tile from a finish; all goes on as `expert` plays."""
    rack = "R1 R2 R3 R4  B4 B5 B6  K7 K8 K9  Y10 Y11 Y12  B13  K2"
    round = Round("gamelake", seed=1, deal=Deal(indicator="Y4", racks=(rack, None, None, None)))
    bot = ExpertBot(1)
    round.apply("throw K8")
    while not round.over and round.fields["throws"][0] < 8:
        round.apply(bot.act(round.observe(round.turn)))
    return Record.of(round, players=PLAYERS)


def test_a_blunder_is_found(record: Record) -> None:
    notes = list(review(record, worlds=60))
    worst = max(notes, key=lambda note: note.cost)
    assert (worst.seat, worst.throws, worst.line) == (0, 0, 3)
    assert worst.cost > 0.5
    assert worst.text().startswith("throw K8, ")
    good = [note for note in notes if note.played.action == note.best.action]
    assert good
    assert all(note.cost == 0 and note.behind is None for note in good)


def test_only_the_seats_asked_for(record: Record) -> None:
    assert {note.seat for note in review(record, seats=[2], worlds=2)} == {2}


def test_the_command(record: Record, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record.write(tmp_path / "round.jsonl")
    main(["review", str(tmp_path / "round.jsonl"), "--worlds", "60", "--seat", "0", "--most", "1"])
    printed = capsys.readouterr().out
    assert printed.startswith("round 1, throw 1, Ayşe (line 3): throw K8, ")
    assert "  better  throw " in printed
    assert "Ayşe: " in printed
    assert "Burak" not in printed


def test_mistakes_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("notes of mine\n", encoding="utf-8")
    for arguments in ([str(tmp_path / "notes.txt")], [str(tmp_path / "none")], ["record", "--worlds", "1"]):
        with pytest.raises(SystemExit):
            main(["review", *arguments])
        assert capsys.readouterr().err.count("\n") == 1
