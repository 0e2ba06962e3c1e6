"""One run in a process of its own: `python -m okey_agents.benchmark.child JOB RESULT`.

The job says what `suite.Run.identity` says, and where a file with an algorithm lies. The result is a line for
`results`, with an error if the algorithm failed. The process ends when its standard input ends, so that it does not
outlive the runner.
"""

import importlib.util
import inspect
import json
import os
import platform
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from okey_agents.benchmark.suite import NUM_GROUPS
from okey_agents.evaluate.measure import Measured, measure
from okey_agents.provenance import provenance
from okey_env.files import write_whole
from okey_env.tasks import task as task_of

_TRAINING_PACKAGES = ("torch", "stable-baselines3", "sb3-contrib")
_DIGITS = 6

Train = Callable[..., Any]
"""`train(task, budget, seed, **options) -> bot`."""


def run_job(job: Mapping[str, Any]) -> dict[str, Any]:
    """Train and score; an exception of the algorithm becomes the result's `error`."""
    from okey_agents.training.budget import Budget

    identity = job["identity"]
    evaluation = identity["evaluation"]
    task = task_of(identity["task"])
    result: dict[str, Any] = {**identity, "error": None}
    began = time.perf_counter()
    failures: list[str] = []

    def measured(bot: Any, deals: int) -> Measured:
        found = measure(task, bot, deals, evaluation["seed"], workers=1)
        if found.failures:
            failures.append(found.failures)
        return found

    def point(bot: Any) -> tuple[float, float]:
        score = measured(bot, evaluation["curve_deals"]).score
        return score.mean, score.margin

    try:
        train = load_algorithm(identity["use"], job["file"], job["entry"], identity["options"])
        budget = Budget(**identity["budget"], measurer=point, points=evaluation["curve_points"])
        bot = train(task, budget, identity["seed"], **identity["options"])
        cpu = budget.cpu
        if bot is None:
            raise TypeError("train() returned None: expected a bot, or a function from an Observation to an action")
        last = measured(bot, evaluation["deals"])
        points = [(at.decisions, at.cpu, *at.result) for at in budget.curve]
        points.append((budget.decisions_spent, cpu, last.score.mean, last.score.margin))
        groups = last.means.reshape(NUM_GROUPS, -1).mean(axis=1)
        result |= {
            "score": _round(last.score.mean),
            "margin": _round(last.score.margin),
            "groups": [_round(mean) for mean in groups],
            "curve": [[int(decisions), *map(_round, others)] for decisions, *others in points],
            "decisions": budget.decisions_spent,
            "cpu": _round(cpu),
            "failures": failures[-1] if failures else "",
        }
    except Exception as error:
        traceback.print_exc()
        result["error"] = f"{type(error).__name__}: {error}"
    result["wall"] = round(time.perf_counter() - began, 3)
    result["made"] = {**provenance(), "command": job["command"], "processor": _processor(), "cores": os.cpu_count()}
    for package in _TRAINING_PACKAGES:
        if package.replace("-", "_") in sys.modules:
            result["made"]["versions"][package] = metadata.version(package)
    return result


def load_algorithm(use: str, file: str | None, entry: str | None, options: Mapping[str, Any]) -> Train:
    """The function of an algorithm.

    Args:
        use: how the suite calls it.
        file: the file that holds the function; None: it is in the registry.
        entry: the name of the function in the file.
        options: the keywords that it will be given.

    Raises:
        ValueError: there is no such algorithm, its file has no such function, or the function takes other arguments.
    """
    if file is None:
        from okey_agents.training.algorithms import algorithm

        return algorithm(use)
    path = Path(file)
    spec = importlib.util.spec_from_file_location(f"okey_algorithm_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} cannot be loaded as a Python file")
    module_of_file = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module_of_file
    sys.path.insert(0, str(path.parent))  # it may import what lies beside it
    spec.loader.exec_module(module_of_file)
    train: Any = getattr(module_of_file, str(entry), None)
    if not callable(train):
        raise ValueError(f"{path} has no function {entry}: expected `def {entry}(task, budget, seed, **options)`")
    try:
        inspect.signature(train).bind("task", "budget", "seed", **options)
    except TypeError as error:
        raise ValueError(f"{entry} of {path}: {error}: expected (task, budget, seed, **options)") from None
    found: Train = train
    return found


def _round(value: float) -> float:
    value = float(value)
    if not np.isfinite(value):
        raise ValueError(f"a score or time of {value}: expected a finite number")
    return round(value, _DIGITS)


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _end_with_the_runner() -> None:
    def wait() -> None:
        while os.read(0, 1024):
            pass
        os._exit(3)

    threading.Thread(target=wait, daemon=True).start()


def main() -> None:
    """Do the job whose file is named on the command line."""
    job, result = map(Path, sys.argv[1:])
    _end_with_the_runner()
    done = run_job(json.loads(job.read_text(encoding="utf-8")))
    write_whole(result, json.dumps(done, ensure_ascii=False).encode())


if __name__ == "__main__":
    main()
