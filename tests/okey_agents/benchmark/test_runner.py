"""Runs in processes: killed, failing, foreign, side by side; each has one result, and nothing is run twice."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from okey_agents.benchmark.child import load_algorithm
from okey_agents.benchmark.results import RESULTS_FILE, ResultsFile, key_of, read_results
from okey_agents.benchmark.runner import LOGS, run_suite
from okey_agents.benchmark.suite import Suite, read_suite
from okey_agents.evaluate.measure import measure
from tests.okey_agents.benchmark.algorithms import Mixed
from tests.okey_agents.benchmark.places import HERE, algorithm, suite
from tests.places import ROOT

pytestmark = pytest.mark.heavy

PATIENCE = 60.0


def plain(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What does not depend on the clock."""
    kept = []
    for result in results:
        curve = [[decisions, *rest] for decisions, _, *rest in result["curve"]]
        own = {name: value for name, value in result.items() if name not in ("cpu", "wall", "made", "curve")}
        kept.append({**own, "curve": curve})
    return kept


def test_a_result_holds_everything(tmp_path: Path) -> None:
    small = suite(algorithm("half", most=0.5))
    assert run_suite(small, tmp_path, workers=1) == 0
    (result,) = read_results(tmp_path)
    bot = Mixed(0.5, 0)
    score = measure("okey/Race-v0", bot, 20, small.evaluation_seed)
    assert result["score"] == pytest.approx(score.score.mean, abs=1e-6)
    assert result["margin"] == pytest.approx(score.score.margin, abs=1e-6)
    assert result["groups"] == pytest.approx(score.means, abs=1e-6)
    assert [point[0] for point in result["curve"]] == [10, 20, 100]  # the first from 1/64 and 1/8 of the budget on
    assert result["curve"][-1][2:] == [result["score"], result["margin"]]
    assert result["options"] == {"most": 0.5}
    assert (result["task"], result["algorithm"], result["seed"]) == ("okey/Race-v0", "half", 0)
    assert result["budget"] == {"decisions": 100, "cpu_seconds": None}
    assert result["decisions"] == 100
    assert result["error"] is None
    assert {"date", "commit", "versions", "command", "machine", "processor", "cores"} <= set(result["made"])
    assert 0 < result["cpu"] < result["wall"]


def test_the_same_results_for_any_number_of_workers(tmp_path: Path) -> None:
    small = suite(algorithm("a"), algorithm("b", most=0.5), seeds=2)
    for workers in (1, 3):
        run_suite(small, tmp_path / str(workers), workers)
    one, three = (plain(read_results(tmp_path / str(workers))) for workers in (1, 3))
    assert len(one) == 4
    assert one == three


def test_finished_runs_are_skipped_and_new_ones_are_added(tmp_path: Path) -> None:
    small = suite(algorithm("a"))
    run_suite(small, tmp_path, 1)
    before = (tmp_path / RESULTS_FILE).read_bytes()
    said: list[str] = []
    run_suite(small, tmp_path, 1, said.append)
    assert said == ["1 of 1 runs are done already"]
    assert (tmp_path / RESULTS_FILE).read_bytes() == before
    run_suite(dataclasses.replace(small, seeds=(0, 1)), tmp_path, 1)
    assert (tmp_path / RESULTS_FILE).read_bytes().startswith(before)
    assert [result["seed"] for result in read_results(tmp_path)] == [0, 1]


def test_a_failure_is_recorded_and_does_not_stop_the_rest(tmp_path: Path) -> None:
    small = suite(
        algorithm("raises", "fails"),
        algorithm("nothing", "returns_nothing"),
        algorithm("leaves", "leaves"),
        algorithm("absent", "no_such_function"),
        algorithm("odd", "train", leest=1),
        algorithm("good"),
    )
    said: list[str] = []
    assert run_suite(small, tmp_path, 2, said.append) == 5
    errors = {result["algorithm"]: result["error"] for result in read_results(tmp_path)}
    assert errors["raises"] == "RuntimeError: no `luck` | with <this> & that"
    assert errors["nothing"].startswith("TypeError: train() returned None: expected a bot")
    assert errors["leaves"] == "the process ended with status 7 and left no result"
    assert "has no function no_such_function: expected" in errors["absent"]
    assert "unexpected keyword argument 'leest'" in errors["odd"]
    assert errors["good"] is None
    assert sum("failed: " in sentence for sentence in said) == 5
    log = next((tmp_path / LOGS).glob("raises-*.log"))
    assert "RuntimeError" in log.read_text(encoding="utf-8")
    assert run_suite(small, tmp_path, 2) == 5  # tried again


def test_an_unknown_algorithm_is_named(tmp_path: Path) -> None:
    small = suite(dataclasses.replace(algorithm("x"), use="alphazero"))
    run_suite(small, tmp_path, 1)
    (result,) = read_results(tmp_path)
    assert "alphazero" in result["error"] or "okey_agents.training.algorithms" in result["error"]


def test_a_run_whose_process_was_killed_is_run_again(tmp_path: Path) -> None:
    said: list[str] = []
    small = suite(algorithm("dies", "dies", where=str(tmp_path / "tries")))
    assert run_suite(small, tmp_path / "out", 1, said.append) == 0
    assert said[0] == "dies on okey/Race-v0, seed 0: killed by SIGKILL, and begun again"
    (result,) = read_results(tmp_path / "out")
    whole = suite(algorithm("dies"))
    run_suite(whole, tmp_path / "whole", 1)
    assert result["groups"] == read_results(tmp_path / "whole")[0]["groups"]


def test_a_run_that_is_always_killed_fails_at_last(tmp_path: Path) -> None:
    small = suite(algorithm("dies", "dies", where=str(tmp_path / "tries"), times=99))
    assert run_suite(small, tmp_path / "out", 1) == 1
    assert read_results(tmp_path / "out")[0]["error"] == "the process was killed by SIGKILL 3 times"
    assert (tmp_path / "tries").stat().st_size == 3


RUN = """
import sys
from pathlib import Path
from okey_agents.benchmark.runner import run_suite
from tests.okey_agents.benchmark.places import algorithm, suite
where = sys.argv[1]
small = suite(algorithm("quick"), algorithm("waits", "waits", where=where), seeds=2)
run_suite(small, Path(where) / "out", workers=2, tell=lambda said: print(said, flush=True))
"""


def wait_for(condition: Any) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "it takes too long"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_a_runner_that_is_killed_leaves_no_process_and_goes_on_later(tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT), str(ROOT / "agents")])
    runner = subprocess.Popen(
        [sys.executable, "-c", RUN, str(tmp_path)], cwd=ROOT, env={**os.environ, "PYTHONPATH": path}
    )
    try:
        wait_for(lambda: all((tmp_path / f"begun-{seed}").exists() for seed in (0, 1)))
        results = tmp_path / "out" / RESULTS_FILE
        wait_for(lambda: results.read_bytes().count(b"\n") >= 1)
    finally:
        os.kill(runner.pid, signal.SIGKILL)
        runner.wait()
    pids = [int((tmp_path / f"begun-{seed}").read_text()) for seed in (0, 1)]
    wait_for(lambda: not any(map(alive, pids)))
    kept = results.read_bytes()
    results.write_bytes(kept + b'{"task":"okey/Race-v0","algor')  # as if it had died while it wrote
    (tmp_path / "go").touch()
    small = suite(algorithm("quick"), algorithm("waits", "waits", where=str(tmp_path)), seeds=2)
    assert run_suite(small, tmp_path / "out", 2) == 0
    assert results.read_bytes().startswith(kept)
    whole = suite(algorithm("quick"), algorithm("waits", where=str(tmp_path)), seeds=2)
    again = read_results(tmp_path / "out")
    assert [(result["algorithm"], result["seed"]) for result in again] == [
        ("quick", 0),
        ("quick", 1),
        ("waits", 0),
        ("waits", 1),
    ]
    assert [result["groups"] for result in again[:2]] == [result["groups"] for result in again[2:]]
    assert len(whole.runs()) == results.read_bytes().count(b"\n")


def test_a_hanging_run_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from okey_agents.benchmark import runner

    monkeypatch.setattr(runner, "_wall_limit", lambda run: 8.0 if run.algorithm.name == "waits" else None)
    small = suite(algorithm("waits", "waits", where=str(tmp_path)), algorithm("good"), cpu_seconds=100.0)
    assert run_suite(small, tmp_path / "out", 2) == 1
    good, waits = read_results(tmp_path / "out")
    assert good["error"] is None
    assert waits["error"] == "stopped after 8 s of wall time: it did not come to an end"


def test_names_with_odd_characters(tmp_path: Path) -> None:
    names = ["../a/b", "ünïcode ‘x’", "a|b `c` <d>", "*_*", "CON"]
    small = suite(*(algorithm(name) for name in names))
    assert run_suite(small, tmp_path / "out", 2) == 0
    assert {result["algorithm"] for result in read_results(tmp_path / "out")} == set(names)
    assert {path.name for path in tmp_path.iterdir()} == {"out"}
    assert len(list((tmp_path / "out" / LOGS).iterdir())) == 5


def test_another_budget_needs_another_folder(tmp_path: Path) -> None:
    run_suite(suite(algorithm("a")), tmp_path, 1)
    with pytest.raises(ValueError, match=r"holds runs on okey/Race-v0 whose budget is .*100.*200.*another folder"):
        run_suite(suite(algorithm("b"), decisions=200), tmp_path, 1)
    with pytest.raises(ValueError, match=r"whose evaluation is .*20.*40.*another folder"):
        run_suite(suite(algorithm("b"), deals=40), tmp_path, 1)


def test_one_benchmark_at_a_time_in_a_folder(tmp_path: Path) -> None:
    with ResultsFile(tmp_path), pytest.raises(ValueError, match="another benchmark is writing to"):
        ResultsFile(tmp_path)


def test_workers_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="workers=0 is out of range"):
        run_suite(suite(algorithm("a")), tmp_path, 0)


def line(algorithm: str, score: float | None, source: str = "1") -> bytes:
    names = ("task", "use", "options", "seed", "budget", "evaluation")
    result = dict.fromkeys(names, 0) | {"algorithm": algorithm, "source": source, "score": score}
    return json.dumps({**result, "error": None if score is not None else "bad"}).encode() + b"\n"


def test_the_last_line_of_a_run_counts_but_a_failure_replaces_no_score(tmp_path: Path) -> None:
    lines = [line("a", None), line("a", 1.0), line("a", None), line("b", 1.0), line("b", None, source="2")]
    (tmp_path / RESULTS_FILE).write_bytes(b"".join(lines) + line("c", 1.0)[:-1])
    found = {result["algorithm"]: result["score"] for result in read_results(tmp_path)}
    assert found == {"a": 1.0, "b": None}  # c is cut short
    with ResultsFile(tmp_path) as file:
        file.add(json.loads(line("c", 2.0)))
    assert (tmp_path / RESULTS_FILE).read_bytes() == b"".join(
        [*lines, line("c", 2.0).replace(b", ", b",").replace(b": ", b":")]
    )


@pytest.mark.parametrize("damage", [b"nothing\n", b"{}\n", b"[1]\n"])
def test_a_damaged_line_is_named(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / RESULTS_FILE).write_bytes(line("a", 1.0) + damage)
    with pytest.raises(ValueError, match=r"results.jsonl, line 2: damaged, or not the result of a run"):
        read_results(tmp_path)


def test_a_key_is_that_of_the_run() -> None:
    run = suite(algorithm("a", most=0.5)).runs()[0]
    assert key_of(run.identity()) == key_of({**run.identity(), "score": 3})
    assert key_of(run.identity()) != key_of({**run.identity(), "options": {"most": 0.6}})


def test_an_algorithm_in_a_file_may_import_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "beside_it.py").write_text("VALUE = 42", encoding="utf-8")
    path = tmp_path / "mine.py"
    path.write_text("import beside_it\ndef train(task, budget, seed): return beside_it.VALUE", encoding="utf-8")
    assert load_algorithm("mine.py", str(path), "train", {})(1, 2, 3) == 42
    path.write_text("def train(task): ...", encoding="utf-8")
    with pytest.raises(ValueError, match=r"train of .*mine.py: too many positional arguments: expected \(task, budget"):
        load_algorithm("mine.py", str(path), "train", {})


def test_the_suite_smoke_runs_with_algorithms_that_need_no_torch(tmp_path: Path) -> None:
    """Its tasks and its shape, a tiny budget, and files for its algorithms."""
    smoke = read_suite("smoke")
    tiny: Suite = dataclasses.replace(
        smoke,
        seeds=(0,),
        spending={id: dataclasses.replace(one, decisions=100, deals=20) for id, one in smoke.spending.items()},
        algorithms=tuple(dataclasses.replace(one, use="algorithms.py", folder=HERE) for one in smoke.algorithms),
    )
    assert run_suite(tiny, tmp_path, 2) == 0
    assert len(read_results(tmp_path)) == len(smoke.tasks) * len(smoke.algorithms)
