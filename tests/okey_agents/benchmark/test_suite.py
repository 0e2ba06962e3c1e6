"""Suites are read with what is wrong in them named; those that ship fit what they promise."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from okey_agents.benchmark.suite import SUITES, Algorithm, Spending, read_suite
from okey_agents.training.algorithms import ALGORITHMS
from okey_env.tasks import TASKS

NAMES = ["evening", "parts", "smoke", "table"]
WILL_EXIST = {
    *("ppo", "maskable_ppo", "dqn", "qr_dqn", "monte_carlo"),
    *("mmd", "nfsp", "behaviour_cloning", "dagger"),
}


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


GOOD = """
tasks = ["okey/Race-v0", "okey/Round-v0"]
seeds = [3, 1]
decisions = 1_000
cpu_seconds = 2.5
deals = 40

[task."okey/Round-v0"]
decisions = 500

[algorithms.ppo-mlp]
use = "ppo"
network = "mlp"

[algorithms.ppo]

[algorithms."of mine"]
use = "own.py:learn"
"""


def test_a_suite_is_read(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def learn(task, budget, seed): ...", encoding="utf-8")
    suite = read_suite(write(tmp_path, GOOD))
    assert (suite.name, suite.tasks, suite.seeds) == ("mine", ("okey/Race-v0", "okey/Round-v0"), (3, 1))
    assert suite.spending["okey/Race-v0"] == Spending(1_000, 2.5, deals=40)
    assert suite.spending["okey/Round-v0"] == Spending(500, 2.5, deals=40)
    assert suite.algorithms[0] == Algorithm("ppo-mlp", "ppo", {"network": "mlp"}, tmp_path)
    assert [one.entry for one in suite.algorithms] == [None, None, "learn"]
    assert suite.algorithms[2].file == (tmp_path / "own.py").resolve()
    runs = suite.runs()
    assert len(runs) == 12
    assert [run.seed for run in runs] == [3] * 6 + [1] * 6
    assert len({str(run) for run in runs}) == 12


def test_the_digest_follows_the_file(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text("one", encoding="utf-8")
    mine = Algorithm("a", "own.py", {}, tmp_path)
    before = mine.digest()
    path.write_text("two", encoding="utf-8")
    assert before != mine.digest()
    path.unlink()
    with pytest.raises(ValueError, match=r"algorithm 'a': there is no file '.*own.py'"):
        mine.digest()
    assert Algorithm("ppo", "ppo").digest() is None


def test_only_some_algorithms_and_a_file_beside_them(tmp_path: Path) -> None:
    suite = read_suite(write(tmp_path, GOOD)).only(["ppo", "other.py:go"])
    assert [(one.name, one.use) for one in suite.algorithms] == [("ppo", "ppo"), ("other.py:go", "other.py:go")]
    with pytest.raises(ValueError, match=r"--only dqn: expected algorithms of the suite \(ppo-mlp, ppo, of mine\)"):
        suite = read_suite(write(tmp_path, GOOD)).only(["dqn"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("seeds = [3, 1]", "seeds = 0"), "seeds=0: expected how many"),
        (("seeds = [3, 1]", "seeds = [3, 3]"), "a list of different seeds"),
        (("seeds = [3, 1]", "sedes = 2"), "sedes is not known: did you mean 'seeds'"),
        (("decisions = 500", "decision = 500"), "decision is not known: did you mean 'decisions'"),
        (("decisions = 500", "decisions = 0"), "okey/Round-v0: decisions=0 is out of range: expected 1 or more"),
        (("cpu_seconds = 2.5", "cpu_seconds = true"), "cpu_seconds=True is not a finite number: expected more than 0"),
        (("deals = 40", "deals = 30"), "deals=30: expected a multiple of 20"),
        (("deals = 40", "curve_deals = 1"), "curve_deals=1 is out of range"),
        (("deals = 40", "curve_points = -1"), "curve_points=-1 is out of range"),
        (("deals = 40", "evaluation_seed = -1"), "evaluation_seed=-1 is out of range"),
        (('"okey/Race-v0", ', '"okey/Rice-v0", '), "there is no task 'okey/Rice-v0'"),
        (('"okey/Race-v0", ', '"okey/Round-v0", '), "expected a list of different ids"),
        (('[task."okey/Round-v0"]', '[task."okey/Match-v0"]'), "expected one of its tasks"),
        (('use = "ppo"', "use = 3"), r"\[algorithms.ppo-mlp\] use=3: expected the name"),
        (("seeds = [3, 1]", "seeds = ["), "is no TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    assert change[0] in GOOD
    with pytest.raises(ValueError, match=message):
        read_suite(write(tmp_path, GOOD.replace(*change)))


def test_a_suite_needs_a_budget_and_algorithms(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no budget: expected `decisions`, `cpu_seconds` or both"):
        read_suite(write(tmp_path, 'tasks = ["okey/Race-v0"]\n[algorithms.ppo]\n'))
    with pytest.raises(ValueError, match=r"expected a table \[algorithms.NAME\]"):
        read_suite(write(tmp_path, 'tasks = ["okey/Race-v0"]\ndecisions = 5\n'))
    with pytest.raises(ValueError, match=r"no suite 'morning': expected evening, parts, smoke, table or a \.toml file"):
        read_suite("morning")


def test_the_suites_that_ship() -> None:
    assert sorted(path.stem for path in SUITES.glob("*.toml")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_suite_that_ships_names_tasks_and_algorithms_that_exist(name: str) -> None:
    suite = read_suite(name)
    assert set(suite.tasks) <= set(TASKS)
    assert suite.about
    uses = {algorithm.use for algorithm in suite.algorithms}
    assert uses <= WILL_EXIST
    if importlib.util.find_spec("okey_agents.training.algorithms") is not None:
        assert uses <= set(ALGORITHMS)


@pytest.mark.parametrize(
    ("name", "shape", "hours"), [("evening", (5, 3, 3), 0.83), ("table", (8, 4, 5), 3.2), ("parts", (11, 1, 3), 0.83)]
)
def test_a_suite_that_ships_keeps_to_its_time(name: str, shape: Any, hours: float) -> None:
    """Learning takes at most five sixths of what the suite may take; the rest is for measuring."""
    suite = read_suite(name)
    assert (len(suite.algorithms), len(suite.tasks), len(suite.seeds)) == shape
    seconds = [run.spending.cpu_seconds or float("inf") for run in suite.runs()]
    assert sum(seconds) <= hours * 3_600
