"""Keeps the state of an evaluation on disk: JSON lines, a header and then one line for each chunk as it is played.

An evaluation that was stopped continues from the file and gives the same numbers as one that was not stopped, because a
chunk's result depends on the header and the chunk alone. A last line without its end is dropped: the process was killed
while it wrote. A file that belongs to another evaluation is refused; the message says what differs.
"""

import contextlib
import dataclasses
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from okey_agents.evaluate.chunks import OUTCOME, Chunk, ChunkResult
from okey_agents.evaluate.guard.bot_host import BotLog
from okey_env.files import alone_with

_FORMAT = "okey evaluation, 1"
_FIELDS = OUTCOME.names or ()


class StateFile:
    """A state file, open for more chunks.

    Args:
        path: the file; it is created, with its folder, if it does not exist.
        header: everything that the numbers depend on, as plain data.

    Raises:
        ValueError: the file is not a state file, is damaged, belongs to another evaluation, or another process uses it.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self._results: dict[Chunk, ChunkResult] = {}
        header = {"format": _FORMAT, **json.loads(json.dumps(header))}
        path.parent.mkdir(parents=True, exist_ok=True)
        self._alone = contextlib.ExitStack()
        self._alone.enter_context(alone_with(path, "evaluation"))
        try:
            self._open(path, header)
        except BaseException:
            self._alone.close()
            raise

    def _open(self, path: Path, header: Mapping[str, Any]) -> None:
        whole = self._read(path, header) if path.exists() else 0
        self._file: IO[bytes] = path.open("r+b" if path.exists() else "wb")
        self._file.truncate(whole)
        self._file.seek(whole)
        if whole == 0:
            self._write(header)

    def __enter__(self) -> "StateFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._alone.close()

    def get(self, chunk: Chunk) -> ChunkResult | None:
        """The result of a chunk; None if the file does not hold it."""
        return self._results.get(chunk)

    def add(self, chunk: Chunk, result: ChunkResult) -> None:
        """Write the result of a chunk."""
        outcomes = {name: result.outcomes[name].tolist() for name in _FIELDS}
        logs = [dataclasses.asdict(log) for log in result.logs]
        self._write({"chunk": chunk._asdict(), "outcomes": outcomes, "logs": logs})

    def _write(self, entry: Mapping[str, Any]) -> None:
        self._file.write(_line(entry))
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self, path: Path, header: Mapping[str, Any]) -> int:
        """Read all results; returns how many bytes the whole lines have."""
        whole = 0
        for number, line in enumerate(_whole_lines(path), 1):
            try:
                entry = json.loads(line)
                if number > 1:
                    self._results[_chunk(entry["chunk"])] = _result(entry)
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{path}, line {number}: damaged, or not the state of an evaluation") from error
            if number == 1:
                _check(path, entry, header)
            whole += len(line)
        if whole == 0 and not _line(header).startswith(path.read_bytes()):  # not even a header cut short
            raise ValueError(f"{path}: not the state of an evaluation")
        return whole


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _check(path: Path, found: Any, header: Mapping[str, Any]) -> None:
    """Compare the header found in the file with the one expected.

    Raises:
        ValueError: they differ, or what was found is not a header.
    """
    if not isinstance(found, dict) or "format" not in found:
        raise ValueError(f"{path}, line 1: not the state of an evaluation")
    for key, value in header.items():
        if found.get(key) != value:
            raise ValueError(
                f"{path} belongs to another evaluation: its {key} is {found.get(key)!r}, expected {value!r}: "
                "name another file, or remove this one to begin again"
            )


def _whole_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line


def _chunk(entry: Mapping[str, Any]) -> Chunk:
    first, second, third, fourth = entry["lineup"]
    return Chunk((first, second, third, fourth), entry["first"], entry["stop"])


def _result(entry: Mapping[str, Any]) -> ChunkResult:
    outcomes = np.zeros(np.shape(entry["outcomes"]["winner"]), OUTCOME)
    for name in _FIELDS:
        outcomes[name] = entry["outcomes"][name]
    return ChunkResult(outcomes, [BotLog(**log) for log in entry["logs"]])
