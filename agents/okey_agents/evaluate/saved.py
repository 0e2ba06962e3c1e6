"""The state of an evaluation on disk: JSON lines, a header and then one line a chunk, written as it is played.

An evaluation that was stopped goes on from there and gives the same numbers as one that never was: a chunk depends on
nothing but its number. A line that was being written when the process was killed is left out. A file of another
evaluation is refused, with what differs.
"""

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from okey_agents.evaluate.guard.asking import Log
from okey_agents.evaluate.tables import OUTCOME, Chunk, Played

_FORMAT = "okey evaluation, 1"
_FIELDS = OUTCOME.names or ()


class Saved:
    """A state file, open for more chunks.

    Args:
        path: the file; it is made if it is not there, with its folder.
        header: all that settles the numbers, as plain data.

    Raises:
        ValueError: the file is none of an evaluation, or of another one, or damaged.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self._chunks: dict[Chunk, Played] = {}
        header = {"format": _FORMAT, **json.loads(json.dumps(header))}
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = self._read(path, header) if path.exists() else 0
        self._file: IO[bytes] = path.open("r+b" if path.exists() else "wb")
        self._file.truncate(whole)
        self._file.seek(whole)
        if whole == 0:
            self._write(header)

    def __enter__(self) -> "Saved":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def get(self, chunk: Chunk) -> Played | None:
        """What came of a chunk, if it was played before."""
        return self._chunks.get(chunk)

    def add(self, chunk: Chunk, played: Played) -> None:
        """Write down what came of a chunk."""
        outcomes = {field: played.outcomes[field].tolist() for field in _FIELDS}
        logs = [dataclasses.asdict(log) for log in played.logs]
        self._write({"chunk": chunk._asdict(), "outcomes": outcomes, "logs": logs})

    def _write(self, line: Mapping[str, Any]) -> None:
        self._file.write(_line(line))
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self, path: Path, header: Mapping[str, Any]) -> int:
        """Read the chunks; returns the length of the whole lines."""
        whole = 0
        for number, line in enumerate(_whole_lines(path), 1):
            try:
                table = json.loads(line)
                if number > 1:
                    self._chunks[_chunk(table["chunk"])] = _played(table)
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{path}, line {number}: damaged, or not the state of an evaluation") from error
            if number == 1:
                _check(path, table, header)
            whole += len(line)
        if whole == 0 and not _line(header).startswith(path.read_bytes()):  # not even a header cut short
            raise ValueError(f"{path}: not the state of an evaluation")
        return whole


def _line(table: Mapping[str, Any]) -> bytes:
    return json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _check(path: Path, found: Any, header: Mapping[str, Any]) -> None:
    if not isinstance(found, dict) or "format" not in found:
        raise ValueError(f"{path}, line 1: not the state of an evaluation")
    for key, value in header.items():
        if found.get(key) != value:
            raise ValueError(f"{path} is of another evaluation: its {key} is {found.get(key)!r}, this one's {value!r}")


def _whole_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line


def _chunk(table: Mapping[str, Any]) -> Chunk:
    first, second, third, fourth = table["lineup"]
    return Chunk((first, second, third, fourth), table["first"], table["stop"])


def _played(table: Mapping[str, Any]) -> Played:
    outcomes = np.zeros(np.shape(table["outcomes"]["winner"]), OUTCOME)
    for field in _FIELDS:
        outcomes[field] = table["outcomes"][field]
    return Played(outcomes, [Log(**log) for log in table["logs"]])
