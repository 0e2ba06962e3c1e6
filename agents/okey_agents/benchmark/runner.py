"""Runs a suite: one process for each run, several side by side, and one line of results for each as it ends.

A benchmark that was stopped goes on where it was: runs with a score are skipped, runs that failed are tried again. Any
process may be killed at any time: a run without a result is run again.
"""

import dataclasses
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import okey_agents
import okey_env
from okey_agents.benchmark.results import ResultsFile, key_of
from okey_agents.benchmark.suite import Run, Suite
from okey_agents.evaluate.guard.workers import num_cores
from okey_env.checks import MAX_WORKERS, whole_number

LOGS = "logs"
"""The folder for what runs print."""

_TRIES = 3
"""Times that a run whose process was killed is begun before it counts as failed."""
_PAUSE = 0.02
_ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}

Tell = Callable[[str], object]


@dataclasses.dataclass
class _Process:
    """A run that is going on."""

    run: Run
    identity: dict[str, Any]
    tries: int
    result: Path
    process: subprocess.Popen[bytes]
    log: IO[bytes]
    began: float


def run_suite(suite: Suite, folder: Path, workers: int | None = None, tell: Tell = lambda _: None) -> int:
    """Run what is not done yet; the results are in `folder`.

    Args:
        suite: what is to be run.
        folder: made if it does not exist.
        workers: runs side by side; None: as many as there are cores.
        tell: is given a sentence for each run that ends.

    Returns:
        How many runs of the suite failed.

    Raises:
        ValueError: `workers` is below 1, the file of an algorithm is missing, or the folder holds runs with another
            budget.
    """
    if workers is not None:
        workers = whole_number("workers", workers, 1, MAX_WORKERS, ", or None")
    runs = [(run, run.identity()) for run in suite.runs()]
    with ResultsFile(folder) as file:
        _check(file.results, suite, folder)
        done = {key_of(result) for result in file.results if result["error"] is None}
        waiting = [(run, identity, 1) for run, identity in runs if key_of(identity) not in done]
        if len(waiting) < len(runs):
            tell(f"{len(runs) - len(waiting)} of {len(runs)} runs are done already")
        return _Runner(file, folder, workers or num_cores(), tell).run(waiting)


class _Runner:
    """Starts processes and takes their results."""

    def __init__(self, file: ResultsFile, folder: Path, workers: int, tell: Tell) -> None:
        self._file, self._folder, self._workers, self._tell = file, folder, workers, tell
        self._going: list[_Process] = []
        self._total = self._ended = self._failed = 0

    def run(self, waiting: list[tuple[Run, dict[str, Any], int]]) -> int:
        """Run all; returns how many failed."""
        self._total = len(waiting)
        (self._folder / LOGS).mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="okey-benchmark-") as scratch:
            try:
                while waiting or self._going:
                    while waiting and len(self._going) < self._workers:
                        self._going.append(self._start(*waiting.pop(0), Path(scratch)))
                    time.sleep(_PAUSE)
                    for one in [one for one in self._going if one.process.poll() is not None or _too_long(one)]:
                        self._going.remove(one)
                        self._end(one, waiting)
            finally:
                for one in self._going:
                    _stop(one)
        return self._failed

    def _start(self, run: Run, identity: dict[str, Any], tries: int, scratch: Path) -> _Process:
        name = _file_name(identity)
        job, result = scratch / f"{name}.job", scratch / f"{name}.result"
        algorithm = run.algorithm
        plain = {
            "identity": identity,
            "file": str(algorithm.file) if algorithm.file else None,
            "entry": algorithm.entry,
            "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        }
        job.write_text(json.dumps(plain), encoding="utf-8")
        log = (self._folder / LOGS / f"{name}.log").open("wb")
        process = subprocess.Popen(
            [sys.executable, "-m", "okey_agents.benchmark.child", str(job), str(result)],
            stdin=subprocess.PIPE,  # whose end tells the process that this one is gone
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **_ONE_THREAD, "PYTHONPATH": _python_path()},
        )
        return _Process(run, identity, tries, result, process, log, time.perf_counter())

    def _end(self, one: _Process, waiting: list[tuple[Run, dict[str, Any], int]]) -> None:
        status = one.process.poll()
        _stop(one)
        if one.result.is_file():
            result = json.loads(one.result.read_text(encoding="utf-8"))
        elif status is not None and status < 0 and one.tries < _TRIES:
            self._tell(f"{one.run}: killed by {signal.Signals(-status).name}, and begun again")
            waiting.insert(0, (one.run, one.identity, one.tries + 1))
            return
        else:
            result = {**one.identity, "error": _why(one, status)}
        self._file.add(result)
        self._ended += 1
        if result["error"] is None:
            said = f"{result['score']:+.3f} ± {result['margin']:.3f}, {result['cpu']:.0f} CPU s"
        else:
            self._failed += 1
            said = f"failed: {result['error']} (see {self._folder / LOGS / Path(one.log.name).name})"
        self._tell(f"[{self._ended}/{self._total}] {one.run}: {said}")


def _check(results: list[dict[str, Any]], suite: Suite, folder: Path) -> None:
    """Raise a ValueError if the folder holds runs that cannot be compared with those of the suite."""
    for result in results:
        spending = suite.spending.get(result["task"])
        if spending is None:
            continue
        like = Run(result["task"], suite.algorithms[0], 0, spending, suite.evaluation_seed).identity()
        for name in ("budget", "evaluation"):
            if result[name] != like[name]:
                raise ValueError(
                    f"{folder} holds runs on {result['task']} whose {name} is {result[name]}, and the suite has "
                    f"{like[name]}: name another folder"
                )


def _too_long(one: _Process) -> bool:
    """Whether a run has taken far longer than its CPU seconds, so that it must hang."""
    limit = _wall_limit(one.run)
    return limit is not None and time.perf_counter() - one.began > limit


def _wall_limit(run: Run) -> float | None:
    return None if run.spending.cpu_seconds is None else 20 * run.spending.cpu_seconds + 1_200


def _why(one: _Process, status: int | None) -> str:
    """Why a process left no result."""
    if status is None:
        return f"stopped after {_wall_limit(one.run):.0f} s of wall time: it did not come to an end"
    if status < 0:
        return f"the process was killed by {signal.Signals(-status).name} {one.tries} times"
    return f"the process ended with status {status} and left no result"


def _stop(one: _Process) -> None:
    if one.process.poll() is None:
        one.process.kill()
    one.process.wait()
    if one.process.stdin is not None:
        one.process.stdin.close()
    one.log.close()


def _file_name(identity: dict[str, Any]) -> str:
    """A name for files: what the run is, in letters that every file system takes, and a digest of the rest."""
    words = f"{identity['algorithm']}-{identity['task'].rpartition('/')[2]}-{identity['seed']}"
    digest = hashlib.sha256(key_of(identity).encode()).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9.-]+', '_', words)[:80]}-{digest}"


def _python_path() -> str:
    """The path on which a new process finds the same two packages as this one."""
    folders = [str(Path(str(package.__file__)).resolve().parents[1]) for package in (okey_env, okey_agents)]
    kept = os.environ.get("PYTHONPATH", "")
    return os.pathsep.join(dict.fromkeys([*folders, *filter(None, kept.split(os.pathsep))]))
