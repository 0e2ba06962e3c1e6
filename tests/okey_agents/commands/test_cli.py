"""The command `okey`: what it prints, and one sentence for each mistake."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from okey_agents import bench, commands
from okey_agents.cli import main
from tests.places import ROOT


def fails_with(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command that fails says on stderr: one line."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    assert stopped.value.code == (2 if "--help says more" in error else 1)  # 2: the command line cannot be read
    return error


def test_the_rule_sheet(capsys: pytest.CaptureFixture[str]) -> None:
    main(["rules", "klasik", "--set", "stock_end=next_may_take", "--set", "max_throws=90", "--set", "teams=true"])
    sheet = capsys.readouterr().out
    assert sheet.startswith("Okey, rules: klasik, stock_end=next_may_take, max_throws=90, teams=True")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rules", "poker"), "'poker' is not a preset: expected 'gamelake' or 'klasik'"),
        (("rules", "klasik", "--set", "jokers=3"), "'jokers' is not a switch of the rules"),
        (("rules", "klasik", "--set", "max_throws=many"), "max_throws='many' is not a whole number: expected 1 to 250"),
        (("rules", "klasik", "--set", "teams"), "--set teams: expected a name and a value"),
        (("evaluate", "gredy", "random"), "did you mean 'greedy'?"),
        (("evaluate", "greedy", "random", "--deals", "1"), "--deals: 1 is out of range: expected 2 to 100000000"),
        (("evaluate", "greedy"), "opponents=(): expected one bot, or three"),
        (("evaluate", "greedy", "random", "--json", "no/such/report.json"), "there is no folder 'no/such'"),
        (("play", "--terminal", "--points", "0"), "--points: 0 is out of range: expected 5 to 21"),
        (("play", "--port", "99999"), "--port: 99999 is out of range: expected 0 to 65535"),
        (("play", "--port", "x"), "--port: 'x' is not a whole number: expected 0 to 65535"),
        (("exploit", "greedy", "--margin", "nan"), "--margin: nan is not a finite number: expected 1 or more"),
        (
            ("evaluate", "greedy", "random", "--sprt", "0", "inf"),
            "--sprt: inf is not a finite number: expected a number",
        ),
        (("evaluate", "greedy", "random", "--sprt", "1", "0"), "sprt=1.0, 0.0: expected two means of points a round"),
        (
            ("evaluate", "greedy", "random", "--seed", "18446744073709551616"),
            "is out of range: expected 0 to 2**64 - 1",
        ),
        (
            ("evaluate", "greedy", "random", "--move-limit", "0"),
            "--move-limit: 0.0 is out of range: expected more than 0",
        ),
        (("tasks", "greedy", "--deals", "9" * 5000), "is not a whole number: expected 2 to 100000000"),
        (("rules", "klasik", "--set", "name=x"), "'name' is not a switch of the rules"),
        (("rules", "klasik", "--set", "preset=gamelake"), "'preset' is not a switch of the rules"),
        (("rules", "klasik", "--set", "combine"), "--set combine: expected a name and a value"),
        (("rules", "--bad"), "okey rules: unrecognized arguments: --bad (okey rules --help says more)"),
    ],
)
def test_mistakes_are_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert message in fails_with(capsys, *arguments)


def test_evaluate_prints_and_writes_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    main(["evaluate", "greedy", "random", "--deals", "10", "--seed", "3", "--json", str(tmp_path / "report.json")])
    table = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    printed = capsys.readouterr().out
    assert "greedy against random" in printed
    assert f"{table['points']['mean']:+.3f}" in printed
    assert f"{table['win_share']['mean']:.1%}" in printed


def test_three_opponents_are_named_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    main(["evaluate", "greedy", "random", "greedy", "random", "--deals", "2", "--workers", "1"])
    assert "greedy against random, greedy (2), random (2)" in capsys.readouterr().out


@pytest.mark.heavy
def test_the_benchmark_measures_something(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A first round without kernels compiles for fifteen seconds; scripts/build.sh plays one.
    monkeypatch.setattr(bench, "_COLD_START", "import okey_env; print(1.0)")
    bench.run(tmp_path / "bench.json", seconds=0.001)
    table = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == table
    cases = {row["case"]: row for row in table["rows"]}
    assert {"AEC raw_env()", "arena, greedy against greedy"} <= set(cases)
    assert all(row["cpu"] > 0 and row["wall"] > 0 for row in cases.values())


def test_bots_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["bots"])
    printed = capsys.readouterr().out
    assert "greedy" in printed
    assert "A legal action drawn at random" in printed


def test_without_a_verb_all_verbs_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    listed = capsys.readouterr().out
    files = {path.stem.replace("_", "-") for path in Path(commands.__file__).parent.glob("[!_]*.py")}
    assert {line.split()[0] for line in listed.splitlines()[2:]} == files
    main(["--help"])
    assert capsys.readouterr().out == listed


@pytest.mark.parametrize("file", [path.stem for path in sorted(Path(commands.__file__).parent.glob("[!_]*.py"))])
def test_every_verb_explains_itself(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    verb = file.replace("_", "-")
    with pytest.raises(SystemExit) as stopped:
        main([verb, "--help"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: okey {verb} ")


@pytest.mark.parametrize(("verb", "hint"), [("evalute", "did you mean 'evaluate'?"), ("dance", "expected ")])
def test_an_unknown_verb_is_named(capsys: pytest.CaptureFixture[str], verb: str, hint: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([verb])
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert f"there is no verb {verb!r}" in error
    assert hint in error


def test_options_may_stand_among_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    main(["evaluate", "greedy", "--deals", "2", "random"])
    assert "greedy against random" in capsys.readouterr().out


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--version"])
    assert capsys.readouterr().out.startswith("okey-env ")


def in_a_new_process(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_the_rule_sheet_waits_for_no_compiler() -> None:
    done = in_a_new_process(
        "import sys; from okey_agents.cli import main; main(['rules']); sys.exit('numba' in sys.modules)"
    )
    assert done.returncode == 0, done.stderr


def test_training_without_the_trainer_names_the_extra() -> None:
    hide = "import sys; sys.modules.update(dict.fromkeys(('torch', 'stable_baselines3', 'sb3_contrib')))"
    config = ROOT / "training_configs" / "smoke.toml"
    done = in_a_new_process(f"{hide}; from okey_agents.cli import main; main(['train', {str(config)!r}])")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "pip install 'okey-env[train]'" in done.stderr
