"""The results of a benchmark on disk: JSON lines, one for each run that has ended, the last line of a run counts.

A line is written at once and synced. A last line without its end is dropped: the process was killed while it wrote.
Only one benchmark writes into a folder at a time.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module or nothing

RESULTS_FILE = "results.jsonl"
_IDENTITY = ("task", "algorithm", "use", "source", "options", "seed", "budget", "evaluation")


def key_of(result: Mapping[str, Any]) -> str:
    """What tells one run from others, as text: everything that its result depends on besides the program."""
    return json.dumps({name: result[name] for name in _IDENTITY}, sort_keys=True)


def read_results(folder: Path) -> list[dict[str, Any]]:
    """The results in a folder, without those that were replaced later; empty if there are none yet.

    For each task, algorithm and seed the last line counts, except that a failure does not replace a score.

    Raises:
        ValueError: a line is damaged.
    """
    path = folder / RESULTS_FILE
    found: dict[tuple[str, str, int], dict[str, Any]] = {}
    for result in _lines(path) if path.exists() else ():
        place = (result["task"], result["algorithm"], result["seed"])
        earlier = found.get(place)
        scored = earlier is not None and earlier["error"] is None and key_of(earlier) == key_of(result)
        if result["error"] is None or not scored:
            found[place] = result
    return [found[place] for place in sorted(found)]


class ResultsFile:
    """The results of a folder, open for more of them. It is a context manager.

    Raises:
        ValueError: a line is damaged.
        OSError: another benchmark is writing there.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / RESULTS_FILE
        self._file: IO[bytes] = path.open("a+b")
        try:
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise ValueError(f"another benchmark is writing to {path}: wait for it, or name another folder") from None
        try:
            whole = sum(len(line) for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n"))
            self._file.truncate(whole)
            self.results = read_results(folder)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> "ResultsFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, result: Mapping[str, Any]) -> None:
        """Write one result."""
        self._file.write(json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), 1):
        if not line.endswith(b"\n"):
            return
        try:
            result = json.loads(line)
            key_of(result)
            result["error"]
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{path}, line {number}: damaged, or not the result of a run") from None
        yield result
