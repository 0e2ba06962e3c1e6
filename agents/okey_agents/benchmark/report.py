"""The report of a benchmark: a page with tables, and the pictures that it shows."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from okey_agents.benchmark.curves import reached
from okey_agents.benchmark.estimators import (
    RESAMPLES,
    Bootstrap,
    Floats,
    Scores,
    aggregate,
    compare,
)
from okey_agents.benchmark.pictures import curves_picture, profiles_picture
from okey_agents.benchmark.results import RESULTS_FILE, read_results
from okey_agents.benchmark.suite import Suite
from okey_agents.evaluate.statistics import Interval
from okey_env.files import write_whole
from okey_env.tasks import Task
from okey_env.tasks import task as task_of

PAGE, PROFILES = "README.md", "profiles.svg"

_MARKS = ("random", "greedy", "efficient", "expert")
_GOALS = ("greedy", "efficient")

_ABOUT = """\
**Normalised**: 0 is the score of the bot `random` on the task, 1 that of `expert`. **IQM**: the interquartile mean, the
mean of the runs without the best and the worst quarter; of three runs or fewer it is the mean. **Intervals** are 95 %,
from {resamples:,} resamples of a stratified bootstrap over seeds and deals (Agarwal et al. 2021); with very few seeds
they are too narrow. The scores of `random` and `expert` are taken as exact. An algorithm that lacks some tasks is
listed below those that have them all, since its mean is over other tasks.
"""


class _Table:
    """The results as the report needs them: by algorithm and task."""

    def __init__(self, results: Sequence[Mapping[str, Any]], suite: Suite) -> None:
        self.done = [result for result in results if result["error"] is None]
        self.failed = [result for result in results if result["error"] is not None]
        found = {result["task"] for result in self.done}
        self.tasks = [id for id in suite.tasks if id in found] + sorted(found - set(suite.tasks))
        self.names = sorted({result["algorithm"] for result in self.done})
        self.raw: dict[str, dict[str, Floats]] = {name: {} for name in self.names}
        for name in self.names:
            for id in self.tasks:
                runs = [result["groups"] for result in self.of(name, id)]
                if runs:
                    self.raw[name][id] = np.array(runs, np.float64)
        self.normalised: dict[str, Scores] = {
            name: {id: _normalised(task_of(id), groups) for id, groups in scores.items()}
            for name, scores in self.raw.items()
        }
        groups = {result["task"]: len(result["groups"]) for result in self.done}
        self.bootstrap = Bootstrap(groups)
        self.total = {name: aggregate(scores, self.bootstrap) for name, scores in self.normalised.items()}
        self.names.sort(key=lambda name: (-len(self.raw[name]), -self.total[name].mean))

    def of(self, name: str, id: str) -> list[Mapping[str, Any]]:
        """The finished runs of an algorithm on a task."""
        return [result for result in self.done if result["algorithm"] == name and result["task"] == id]

    def on(self, id: str) -> list[str]:
        """The algorithms with runs on a task, the best first."""
        scored = {name: aggregate({id: self.normalised[name][id]}, self.bootstrap).mean for name in self._having(id)}
        return sorted(scored, key=lambda name: -scored[name])

    def _having(self, id: str) -> list[str]:
        return [name for name in self.names if id in self.raw[name]]


def write_report(folder: Path, suite: Suite) -> Path:
    """Write page and pictures for all results in a folder; returns the page.

    Raises:
        ValueError: the folder holds no results.
    """
    results = read_results(folder)
    if not results:
        raise ValueError(f"{folder} holds no results: there is no run in {RESULTS_FILE}")
    table = _Table(results, suite)
    for id in table.tasks:
        task = task_of(id)
        curves = {name: [np.array(run["curve"], np.float64) for run in table.of(name, id)] for name in table.on(id)}
        marks = {name: getattr(task, name) for name in _MARKS}
        title = f"{id}: reward in an episode"
        write_whole(folder / _picture_name(id), curves_picture(title, curves, marks).encode())
    if table.names:
        profiles = profiles_picture({n: table.normalised[n] for n in table.names}, table.bootstrap)
        write_whole(folder / PROFILES, profiles.encode())
    write_whole(folder / PAGE, page(results, suite).encode())
    return folder / PAGE


def page(results: Sequence[Mapping[str, Any]], suite: Suite) -> str:
    """The page in Markdown."""
    table = _Table(results, suite)
    lines = [f"# Benchmark: {_plain(suite.name)}", "", *([suite.about, ""] if suite.about else [])]
    missing = _missing(table, suite)
    if table.failed or missing:
        lines += ["## Not everything was run", ""]
        lines += [f"- {_run(result)} failed: {_code(result['error'])}" for result in table.failed]
        lines += [f"- {where}." for where in missing]
        lines.append("")
    if table.names:
        lines += _ranking(table)
        for id in table.tasks:
            lines += _task(table, id)
        lines += _improvements(table)
        lines += ["## Profiles", "", "The share of runs with a normalised score above each value.", ""]
        lines += [f"![performance profiles]({PROFILES})", "", _ABOUT.format(resamples=RESAMPLES)]
    return "\n".join([*lines, *_made(results), ""])


def _ranking(table: _Table) -> list[str]:
    lines = ["## All tasks", "", "| | algorithm | IQM of normalised scores | mean | tasks | runs |"]
    lines.append("|---|---|---|---|---|---|")
    for place, name in enumerate(table.names, 1):
        scores = table.normalised[name]
        mean = aggregate(scores, table.bootstrap, of=lambda values: np.asarray(values).mean(axis=-1))
        tasks = f"{len(scores)} of {len(table.tasks)}"
        runs = sum(map(len, scores.values()))
        lines.append(f"| {place} | {_code(name)} | {_range(table.total[name])} | {_range(mean)} | {tasks} | {runs} |")
    return [*lines, ""]


def _task(table: _Table, id: str) -> list[str]:
    task = task_of(id)
    runs = [result for result in table.done if result["task"] == id]
    budget, evaluation = runs[0]["budget"], runs[0]["evaluation"]
    limits = []
    if budget["decisions"] is not None:
        limits.append(f"{budget['decisions']:,} decisions")
    if budget["cpu_seconds"] is not None:
        limits.append(f"{budget['cpu_seconds']:g} CPU seconds")
    known = ", ".join(f"`{name}` {_plus(*task.scores[name])}" for name in task.scores)
    said = (
        f"{task.about} A run may spend {' or '.join(limits)}{', whichever ends first' if len(limits) > 1 else ''}, and "
        f"is scored on {evaluation['deals']:,} deals. Known bots: {known}."
    )
    heads = ["algorithm", "reward in an episode", "normalised, IQM", "runs", "decisions a run", "CPU s a run"]
    heads += [f"CPU s to `{goal}`" for goal in _GOALS]
    lines = [f"## {id}", "", said, "", f"![learning curves of {id}]({_picture_name(id)})", ""]
    lines += [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name in table.on(id):
        mine = table.of(name, id)
        raw = aggregate({id: table.raw[name][id]}, table.bootstrap, of=lambda values: np.asarray(values).mean(axis=-1))
        normalised = aggregate({id: table.normalised[name][id]}, table.bootstrap)
        goals = " | ".join(_time_to(mine, getattr(task, goal)) for goal in _GOALS)
        lines.append(
            f"| {_code(name)} | {_range(raw)} | {_range(normalised)} | {len(mine)} "
            f"| {_spread([run['decisions'] for run in mine])} | {_spread([run['cpu'] for run in mine])} | {goals} |"
        )
    lines += ["", "Time to a bot's score: the median over the runs that reached it at a measured point (least … most)."]
    behaved = [f"{_run(run)}: {_plain(run['failures'])}" for run in runs if run["failures"]]
    if behaved:
        lines += ["", "Moves that the arena replaced: " + "; ".join(behaved) + "."]
    return [*lines, ""]


def _improvements(table: _Table) -> list[str]:
    if len(table.names) < 2:
        return []
    lines = [
        "## Probability of improvement",
        "",
        "A run of the algorithm on the left scores higher than one of that above with this probability, over all tasks",
        "that both have.",
        "",
        "| | " + " | ".join(map(_code, table.names)) + " |",
        "|---|" + "---|" * len(table.names),
    ]
    for name in table.names:
        cells = []
        for other in table.names:
            common = set(table.normalised[name]) & set(table.normalised[other])
            if name == other or not common:
                cells.append("")
            else:
                cells.append(_range(compare(table.normalised[name], table.normalised[other], table.bootstrap)))
        lines.append(f"| {_code(name)} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _made(results: Sequence[Mapping[str, Any]]) -> list[str]:
    made = [result["made"] for result in results if "made" in result]
    if not made:
        return []
    dates = sorted(str(one["date"])[:10] for one in made)
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    commits = sorted({_commit(one["commit"]) for one in made})
    machines = sorted({f"{one['machine']}, {one['processor']}, {one['cores']} cores" for one in made})
    packages = sorted({f"{name} {version}" for one in made for name, version in one["versions"].items() if version})
    wall = sum(result.get("wall", 0.0) for result in results)
    cpu = sum(result.get("cpu", 0.0) for result in results)
    learned = f"{wall / 3600:.2f} hours of wall time one after the other, {cpu / 3600:.2f} CPU hours of it for learning"
    return [
        f"{when}; commit {', '.join(commits)}; {'; '.join(map(_plain, machines))}; {', '.join(packages)}.",
        f"The runs took {learned}. One line for each is in [{RESULTS_FILE}]({RESULTS_FILE}). Made by",
        "",
        *(f"    {command}" for command in sorted({" ".join(str(one["command"]).split()) for one in made})),
    ]


def _missing(table: _Table, suite: Suite) -> list[str]:
    """What has no result yet, in sentences without an end; a seed that was not begun is one of them."""
    there = {(r["task"], r["algorithm"], r["seed"]) for r in (*table.done, *table.failed)}
    runs = suite.runs()
    begun = {run.seed for run in runs if (run.task, run.algorithm.name, run.seed) in there}
    return [f"seed {seed}: no run has a result yet" for seed in sorted({run.seed for run in runs} - begun)] + [
        f"{_code(run.algorithm.name)} on {run.task}, seed {run.seed}, has no result yet"
        for run in runs
        if run.seed in begun and (run.task, run.algorithm.name, run.seed) not in there
    ]


def _normalised(task: Task, groups: Floats) -> Floats:
    found: Floats = (groups - task.random) / (task.expert - task.random)
    return found


def _time_to(runs: Sequence[Mapping[str, Any]], score: float) -> str:
    times = [found[1] for run in runs if (found := reached(run["curve"], score)) is not None]
    if not times:
        return f"0 of {len(runs)} runs"
    return f"{_spread(times)}, {len(times)} of {len(runs)} runs"


def _spread(values: Sequence[float]) -> str:
    """The median, and the range if there is one."""
    low, middle, high = min(values), float(np.median(values)), max(values)
    whole = f"{middle:,.0f}" if middle >= 10 else f"{middle:.2g}"
    return whole if low == high else f"{whole} ({_number(low)} … {_number(high)})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _range(found: Interval) -> str:
    return f"{found.mean:.2f} ({found.low:.2f} … {found.high:.2f})".replace("-", "−")


def _plus(mean: float, margin: float) -> str:
    return f"{mean:+.3f} ± {margin:.3f}".replace("-", "−")


def _run(result: Mapping[str, Any]) -> str:
    return f"{_code(result['algorithm'])} on {result['task']}, seed {result['seed']}"


def _commit(commit: str | None) -> str:
    if commit is None:
        return "unknown"
    return commit[:8] + (" with changes" if commit.endswith("+") else "")


def _plain(words: str) -> str:
    """Text on one line, in which Markdown sees no markup."""
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", " ".join(words.split()))


def _code(words: str) -> str:
    """Text as code, also in a table, whatever it holds."""
    line = " ".join(words.split()).replace("|", r"\|")
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    inner = f" {line} " if "`" in line else line
    return f"{fence}{inner}{fence}"


def _picture_name(id: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]+", "_", id.rpartition("/")[2]) + ".svg"
