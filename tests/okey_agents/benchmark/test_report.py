"""The report: numbers that were put in come out, names are safe, and what is missing is said."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okey_agents import cli
from okey_agents.benchmark.report import PAGE, page, write_report
from okey_agents.benchmark.results import ResultsFile, read_results
from okey_agents.benchmark.suite import NUM_GROUPS, Algorithm, Spending, Suite
from okey_agents.evaluate.svg import NUM_HUES
from okey_env.tasks import task

RACE, ROUND = "okey/Race-v0", "okey/Round-v0"
MADE = {
    "date": "2026-12-01T10:00:00+00:00",
    "commit": "0123456789abcdef+",
    "versions": {"python": "3.11", "torch": None},
    "command": "okey benchmark mine.toml",
    "machine": "Linux x86_64",
    "processor": "A_Processor",
    "cores": 2,
}


def result(
    name: str, id: str, seed: int, share: float, error: str | None = None, spread: float = 0.0
) -> dict[str, Any]:
    """A run whose normalised score is `share`; with `spread`, groups of deals lie so far around it."""
    known = task(id)
    way = known.expert - known.random
    identity = {
        "task": id,
        "algorithm": name,
        "use": name,
        "source": None,
        "options": {},
        "seed": seed,
        "budget": {"decisions": 1_000, "cpu_seconds": 60.0},
        "evaluation": {"deals": 200, "curve_points": 2, "curve_deals": 20, "seed": 1},
        "error": error,
        "wall": 100.0,
        "made": MADE,
    }
    if error is not None:
        return identity
    score = known.random + share * way
    groups = score + spread * way * np.tile([1, -1], NUM_GROUPS // 2)
    curve = [[100, 5.0, known.random, 0.1 * way], [1_000, 50.0 + seed, score, 0.05 * way]]
    return {
        **identity,
        "score": score,
        "margin": 0.05 * way,
        "groups": groups.tolist(),
        "curve": curve,
        "decisions": 1_000,
        "cpu": 50.0 + seed,
        "failures": "",
    }


def suite_of(*names: str, tasks: tuple[str, ...] = (RACE, ROUND), seeds: int = 2) -> Suite:
    spending = dict.fromkeys(tasks, Spending(decisions=1_000, cpu_seconds=60.0, deals=200))
    return Suite(
        "mine", "About it.", tasks, tuple(Algorithm(name, name) for name in names), tuple(range(seeds)), spending
    )


def rows(text: str, heading: str) -> list[list[str]]:
    """The rows of the table under a heading, without its head."""
    section = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


GOOD = [result("good", id, seed, 1.0 + 0.2 * seed) for id in (RACE, ROUND) for seed in (0, 1)]
BAD = [result("bad", id, seed, 0.25) for id in (RACE, ROUND) for seed in (0, 1)]


def test_the_table_of_all_tasks_ranks_by_the_interquartile_mean() -> None:
    text = page([*BAD, *GOOD], suite_of("bad", "good"))
    first, second = rows(text, "All tasks")
    assert first[:2] == ["1", "`good`"]
    assert first[2].startswith("1.10 (1.00 … 1.20)")
    assert first[4:] == ["2 of 2", "4"]
    assert second[1:4] == ["`bad`", "0.25 (0.25 … 0.25)", "0.25 (0.25 … 0.25)"]
    assert "Not everything was run" not in text


def test_the_table_of_a_task_has_scores_and_times() -> None:
    text = page([*BAD, *GOOD], suite_of("bad", "good"))
    good, bad = rows(text, ROUND)
    known = task(ROUND)
    end = known.random + 1.1 * (known.expert - known.random)
    assert good[0] == "`good`"
    assert good[1].startswith(f"{end:.2f} (")
    assert good[3:6] == ["2", "1,000", "50 (50 … 51)"]
    assert good[6:] == ["50 (50 … 51), 2 of 2 runs", "50 (50 … 51), 2 of 2 runs"]
    assert bad[6:] == ["0 of 2 runs", "0 of 2 runs"]
    assert f"`expert` {known.expert:+.3f} ± {known.scores['expert'].margin:.3f}" in text
    assert "1,000 decisions or 60 CPU seconds, whichever ends first" in text


def test_improvement_and_where_it_comes_from() -> None:
    text = page([*BAD, *GOOD], suite_of("bad", "good"))
    assert rows(text, "Probability of improvement") == [
        ["`good`", "", "1.00 (1.00 … 1.00)"],
        ["`bad`", "0.00 (0.00 … 0.00)", ""],
    ]
    assert "2026-12-01; commit 01234567 with changes; Linux x86\\_64, A\\_Processor, 2 cores; python 3.11." in text
    assert "    okey benchmark mine.toml" in text
    assert "0.22 hours of wall time one after the other, 0.11 CPU hours" in text


def test_deals_widen_the_interval_of_one_seed() -> None:
    text = page([result("one", RACE, 0, 0.5, spread=0.4)], suite_of("one", tasks=(RACE,), seeds=1))
    mean, low, high = map(float, re.findall(r"\d\.\d\d", rows(text, "All tasks")[0][2]))
    assert mean == 0.5
    assert high - low == pytest.approx(2 * 1.96 * 0.4 / np.sqrt(NUM_GROUPS), rel=0.1)


def test_an_algorithm_that_lacks_a_task_is_ranked_below_those_that_have_all() -> None:
    part = [result("part", RACE, seed, 3.0) for seed in (0, 1)]
    ranking = rows(page([*BAD, *part], suite_of("bad", "part")), "All tasks")
    assert [(row[1], row[4]) for row in ranking] == [("`bad`", "2 of 2"), ("`part`", "1 of 2")]


def test_failures_and_gaps_are_said() -> None:
    failed = result("worse", RACE, 0, 0, error="ValueError: a | `b` <c>")
    text = page([*GOOD, failed], suite_of("good", "worse", tasks=(RACE,)))
    assert "## Not everything was run" in text
    assert "- `worse` on okey/Race-v0, seed 0 failed: `` ValueError: a \\| `b` <c> ``" in text
    assert "- `worse` on okey/Race-v0, seed 1, has no result yet." in text
    assert "`worse`" not in text.split("## All tasks")[1]
    of_one_seed = [one for one in GOOD if one["seed"] == 0]
    text = page(of_one_seed, suite_of("good", tasks=(RACE,)))
    assert "- seed 1: no run has a result yet." in text
    assert "seed 1, has no result" not in text


def test_a_page_of_failures_alone(tmp_path: Path) -> None:
    with ResultsFile(tmp_path) as file:
        file.add(result("worse", RACE, 0, 0, error="bad luck"))
    write_report(tmp_path, suite_of("worse", tasks=(RACE,), seeds=1))
    text = (tmp_path / PAGE).read_text(encoding="utf-8")
    assert "`bad luck`" in text
    assert "## All tasks" not in text


def test_replaced_moves_are_said() -> None:
    naughty = {**result("good", RACE, 0, 1.0), "failures": "3 illegal replies in 40 moves"}
    text = page([naughty], suite_of("good", tasks=(RACE,), seeds=1))
    assert "Moves that the arena replaced: `good` on okey/Race-v0, seed 0: 3 illegal replies in 40 moves." in text


def test_a_task_of_another_suite_is_shown_too() -> None:
    text = page([*GOOD, *BAD], suite_of("good", "bad", tasks=(RACE,)))
    assert f"## {ROUND}" in text


def test_odd_names_stay_in_their_cells_and_out_of_the_markup(tmp_path: Path) -> None:
    names = ["a|b", "x `y` ``z``", "<script>alert(1)</script>", "line\nbreak", "mine.py:go & more", "*_[x](y)_*", "ö"]
    assert len(names) > NUM_HUES
    with ResultsFile(tmp_path) as file:
        for number, name in enumerate(names):
            file.add(result(name, RACE, 0, 1 - number / 10))
    assert len(read_results(tmp_path)) == len(names)
    write_report(tmp_path, suite_of(*names, tasks=(RACE,), seeds=1))
    text = (tmp_path / PAGE).read_text(encoding="utf-8")
    ranking = rows(text, "All tasks")
    assert [row[1] for row in ranking] == [
        "`a\\|b`",
        "``` x `y` ``z`` ```",
        "`<script>alert(1)</script>`",
        "`line break`",
        "`mine.py:go & more`",
        "`*_[x](y)_*`",
        "`ö`",
    ]
    assert all(len(row) == 6 for row in ranking)
    for picture in ("Race-v0.svg", "profiles.svg"):
        words = ["".join(element.itertext()) for element in ET.parse(tmp_path / picture).iter()]
        assert {"a|b", "<script>alert(1)</script>", "mine.py:go & more"} <= set(words)
        assert f"({picture})" in text


def test_pictures_have_a_curve_for_each_algorithm_by_decisions_and_by_time(tmp_path: Path) -> None:
    with ResultsFile(tmp_path) as file:
        for one in [*GOOD, *BAD]:
            file.add(one)
    write_report(tmp_path, suite_of("good", "bad"))
    picture = (tmp_path / "Round-v0.svg").read_text(encoding="utf-8")
    assert picture.count("<polyline") == picture.count("<polygon") == 4
    assert "decisions learned from" in picture
    assert "CPU seconds" in picture
    assert "prefers-color-scheme:dark" in picture
    for known in ("random", "greedy", "efficient", "expert"):
        assert picture.count(f">{known}</text>") == 2
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no results"):
        write_report(tmp_path, suite_of("good"))


SUITE = """
about = "One file."
tasks = ["okey/Race-v0"]
decisions = 100
deals = 20
curve_points = 1
curve_deals = 2

[algorithms.half]
use = "{file}"
most = 0.5
"""


@pytest.mark.heavy
def test_the_verb_runs_a_file_and_ranks_another_beside_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = Path(__file__).with_name("algorithms.py")
    (tmp_path / "s.toml").write_text(SUITE.format(file=own), encoding="utf-8")
    into = ["--into", str(tmp_path / "out")]
    cli.main(["benchmark", str(tmp_path / "s.toml"), *into, "--workers", "1"])
    foreign = f"{own}:train"
    cli.main(["benchmark", str(tmp_path / "s.toml"), *into, "--only", foreign])
    out = capsys.readouterr().out
    assert out.count("[1/1] ") == 2
    text = (tmp_path / "out" / PAGE).read_text(encoding="utf-8")
    assert [row[1] for row in rows(text, "All tasks")] == [f"`{foreign}`", "`half`"]
    before = text
    cli.main(["benchmark", str(tmp_path / "s.toml"), *into, "--report"])
    assert (tmp_path / "out" / PAGE).read_text(encoding="utf-8") == before


@pytest.mark.heavy
def test_a_failed_run_gives_the_exit_status_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = Path(__file__).with_name("algorithms.py")
    (tmp_path / "s.toml").write_text(SUITE.format(file=f"{own}:fails"), encoding="utf-8")
    with pytest.raises(SystemExit) as exit:
        cli.main(["benchmark", str(tmp_path / "s.toml"), "--into", str(tmp_path / "out")])
    assert exit.value.code == 1
    assert "failed: ValueError: fails of" in capsys.readouterr().out


def test_the_verb_names_an_unknown_suite(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["benchmark", "morning"])
    assert "okey: there is no suite 'morning': expected evening, parts, smoke, table" in capsys.readouterr().err


def test_the_verb_tasks_lists_and_measures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["tasks"])
    listed = capsys.readouterr().out
    known = task(RACE).scores["greedy"]
    assert f"greedy             {known.mean:+.3f} ± {known.margin:.3f}" in listed
    path = tmp_path / "scores.json"
    cli.main(["tasks", "greedy", "learned-gamelake", "--only", RACE, "--deals", "4", "--into", str(path)])
    measured = capsys.readouterr().out
    assert RACE in measured
    assert ROUND not in measured
    import json

    data = json.loads(path.read_text(encoding="utf-8"))
    assert set(data["scores"][RACE]) == {"greedy", "learned"}
    assert data["made"][RACE]["how"] == "4 deals, seed 0"
