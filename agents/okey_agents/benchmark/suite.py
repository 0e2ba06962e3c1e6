"""Suites: what a benchmark runs, read from TOML.

```toml
about = "Two algorithms on two tasks."
tasks = ["okey/Finish-v0", "okey/Round-v0"]
seeds = 3                     # 0, 1, 2; or a list of seeds
decisions = 200_000           # the budget of a run: decisions learned from, CPU seconds, or both
cpu_seconds = 60
deals = 1_000                 # of the final score
curve_points = 6              # measurements before it
curve_deals = 200

[task."okey/Finish-v0"]       # what differs for a task
cpu_seconds = 20

[algorithms.ppo-mlp]          # `use` is the algorithm's own name unless it is given; the rest are its options
use = "ppo"
network = "mlp"

[algorithms.mine]
use = "my_algo.py"            # beside the suite; my_algo.py:name for a function that is not called `train`
```
"""

import dataclasses
import difflib
import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from okey_env.checks import index_of, named, positive_number, seed_number, shown, whole_number
from okey_env.tasks import task as task_of

SUITES = Path(__file__).with_name("suites")
"""The suites that are shipped."""
NUM_GROUPS = 20
"""Groups of deals whose means a result keeps."""

_FOREIGN = re.compile(r"(?P<path>.+\.py)(:(?P<name>[A-Za-z_]\w*))?")
_BUDGET = ("decisions", "cpu_seconds", "deals", "curve_points", "curve_deals")
_KEYS = ("about", "tasks", "seeds", "evaluation_seed", "task", "algorithms", *_BUDGET)


@dataclasses.dataclass(frozen=True)
class Algorithm:
    """An algorithm under a name."""

    name: str
    """What it is called in the report."""
    use: str
    """A name of `okey_agents.training.algorithms.ALGORITHMS`, or a file `my_algo.py` or `my_algo.py:name`."""
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Keywords for its function."""
    folder: Path = Path()
    """From which the path of a file counts."""

    @property
    def file(self) -> Path | None:
        """The file, if it is one."""
        found = _FOREIGN.fullmatch(self.use)
        return (self.folder / found["path"]).resolve() if found else None

    @property
    def entry(self) -> str | None:
        """The name of the function in the file; None: the algorithm is one of the registry."""
        found = _FOREIGN.fullmatch(self.use)
        return (found["name"] or "train") if found else None

    def digest(self) -> str | None:
        """The first digits of a digest of the file, so that results of another version are not taken for its own.

        Raises:
            ValueError: there is no such file.
        """
        if self.file is None:
            return None
        if not self.file.is_file():
            raise ValueError(f"algorithm {self.name!r}: there is no file {str(self.file)!r}")
        return hashlib.sha256(self.file.read_bytes()).hexdigest()[:12]


@dataclasses.dataclass(frozen=True)
class Spending:
    """The budget of a run on a task, and how it is scored."""

    decisions: int | None = None
    cpu_seconds: float | None = None
    deals: int = 1_000
    """Of the final score."""
    curve_points: int = 6
    curve_deals: int = 200

    def __post_init__(self) -> None:
        if self.decisions is not None:
            whole_number("decisions", self.decisions, 1)
        if self.cpu_seconds is not None:
            positive_number("cpu_seconds", self.cpu_seconds)
        if self.decisions is None and self.cpu_seconds is None:
            raise ValueError("no budget: expected `decisions`, `cpu_seconds` or both")
        if whole_number("deals", self.deals, NUM_GROUPS) % NUM_GROUPS:
            raise ValueError(f"deals={self.deals}: expected a multiple of {NUM_GROUPS}")
        whole_number("curve_points", self.curve_points, 0, 10_000)
        whole_number("curve_deals", self.curve_deals, 2)


@dataclasses.dataclass(frozen=True)
class Run:
    """One run: an algorithm with a seed on a task."""

    task: str
    algorithm: Algorithm
    seed: int
    spending: Spending
    evaluation_seed: int

    def identity(self) -> dict[str, Any]:
        """Everything that the result depends on, besides the program, as plain data."""
        return {
            "task": self.task,
            "algorithm": self.algorithm.name,
            "use": self.algorithm.use,
            "source": self.algorithm.digest(),
            "options": json.loads(json.dumps(dict(self.algorithm.options), default=str)),
            "seed": self.seed,
            "budget": {"decisions": self.spending.decisions, "cpu_seconds": self.spending.cpu_seconds},
            "evaluation": {
                "deals": self.spending.deals,
                "curve_points": self.spending.curve_points,
                "curve_deals": self.spending.curve_deals,
                "seed": self.evaluation_seed,
            },
        }

    def __str__(self) -> str:
        return f"{self.algorithm.name} on {self.task}, seed {self.seed}"


@dataclasses.dataclass(frozen=True)
class Suite:
    """Tasks, algorithms, seeds and budgets."""

    name: str
    about: str
    tasks: tuple[str, ...]
    algorithms: tuple[Algorithm, ...]
    seeds: tuple[int, ...]
    spending: Mapping[str, Spending]
    """By the id of a task."""
    evaluation_seed: int = 1_000_003
    """Settles the deals of all scores."""

    def runs(self) -> list[Run]:
        """All runs: seed by seed, so that a benchmark that is stopped early has some of everything."""
        return [
            Run(task, algorithm, seed, self.spending[task], self.evaluation_seed)
            for seed in self.seeds
            for task in self.tasks
            for algorithm in self.algorithms
        ]

    def only(self, names: Sequence[str]) -> "Suite":
        """The suite with some algorithms: those of these names, and files, which need not be in the suite.

        Raises:
            ValueError: a name is neither an algorithm of the suite nor a file.
        """
        mine = {algorithm.name: algorithm for algorithm in self.algorithms}
        chosen = []
        for name in names:
            if name not in mine and not _FOREIGN.fullmatch(name):
                raise ValueError(f"--only {name}: expected algorithms of the suite ({', '.join(mine)}) or a .py file")
            chosen.append(mine.get(name) or Algorithm(name, name))
        return dataclasses.replace(self, algorithms=tuple(chosen))


def read_suite(where: str | Path) -> Suite:
    """The suite of a TOML file, or one of those that are shipped.

    Args:
        where: a path that ends with `.toml`, or the name of a suite in `SUITES`.

    Raises:
        ValueError: there is no such suite, or something in it is wrong; the message names it.
    """
    path = Path(where)
    if path.suffix != ".toml":
        names = sorted(found.stem for found in SUITES.glob("*.toml"))
        if str(where) not in names:
            raise ValueError(f"there is no suite {shown(str(where))}: expected {', '.join(names)} or a .toml file")
        path = SUITES / f"{where}.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no TOML: {error}") from None
    try:
        return _suite(path, data)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from None


def _suite(path: Path, data: dict[str, Any]) -> Suite:
    _check_keys(data, _KEYS, "")
    tasks = data.get("tasks", [])
    if not isinstance(tasks, list) or not tasks or len(set(map(str, tasks))) < len(tasks):
        raise ValueError(f"tasks={shown(tasks)}: expected a list of different ids")
    for task in tasks:
        task_of(task)
    common = {key: data[key] for key in _BUDGET if key in data}
    spending = {}
    others = data.get("task", {})
    if not isinstance(others, dict):
        raise ValueError(f"task={shown(others)}: expected a table [task.ID] for each task that differs")
    for task in others:
        if task not in tasks:
            raise ValueError(f"[task.{task!r}]: expected one of its tasks, {', '.join(tasks)}")
    for task in tasks:
        own = others.get(task, {})
        _check_keys(own, _BUDGET, f"[task.{task!r}] ")
        try:
            spending[task] = Spending(**{**common, **own})
        except ValueError as error:
            raise ValueError(f"{task}: {error}") from None
    about = data.get("about", "")
    return Suite(
        name=path.stem,
        about=str(about),
        tasks=tuple(tasks),
        algorithms=_algorithms(data.get("algorithms", {}), path.parent),
        seeds=_seeds(data.get("seeds", 1)),
        spending=spending,
        evaluation_seed=_evaluation_seed(data.get("evaluation_seed", Suite.evaluation_seed)),
    )


def _algorithms(tables: Any, folder: Path) -> tuple[Algorithm, ...]:
    if not isinstance(tables, dict) or not tables or not all(isinstance(table, dict) for table in tables.values()):
        raise ValueError("algorithms: expected a table [algorithms.NAME] for each algorithm")
    found = []
    for name, table in tables.items():
        use = table.get("use", name)
        if not isinstance(use, str) or not use:
            raise ValueError(f"[algorithms.{name}] use={use!r}: expected the name of an algorithm or a .py file")
        found.append(Algorithm(name, use, {key: value for key, value in table.items() if key != "use"}, folder))
    return tuple(found)


def _seeds(seeds: Any) -> tuple[int, ...]:
    if isinstance(seeds, list):
        listed = [seed_number(seed, f"seeds[{i}]") for i, seed in enumerate(seeds)]
        if listed and len(set(listed)) == len(listed):
            return tuple(listed)
    elif index_of(seeds) in range(1, 1_000_001):
        return tuple(range(seeds))
    raise ValueError(f"seeds={shown(seeds)}: expected how many, 1 or more, or a list of different seeds from 0 on")


def _evaluation_seed(seed: Any) -> int:
    return seed_number(seed, "evaluation_seed")


def _check_keys(table: Any, known: Sequence[str], where: str) -> None:
    if not isinstance(table, dict):
        raise ValueError(f"{where or 'the suite'}: expected a table")
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected {', '.join(known)}"
            raise ValueError(f"{where}{named(key)} is not known: {hint}")
