"""Checkpoints: everything that a run needs to be resumed, in one file that is either whole or refused.

A file is one line that names the format, a checksum, and a zip of plain arrays (`numpy.savez`) with one JSON text among
them. It is written under another name, flushed to disk and only then renamed, so a process that dies at any moment
leaves the checkpoint before it untouched. Nothing in it is pickled.
"""

import dataclasses
import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from okey_env.files import UNFINISHED, write_whole

Arrays = Mapping[str, npt.NDArray[Any]]

_HEADER = b"okey-env checkpoint 1\n"
"""The number changes when the contents of the file change."""
_DIGEST_SIZE = 32
_META = "meta.json"
_SUFFIX = ".ckpt"
_DAMAGED = ".damaged"


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """The state of a run after some decisions."""

    decisions: int
    """Decisions of the learner so far."""
    arrays: Arrays
    """Weights and the optimiser's memory, by name."""
    meta: Mapping[str, Any]
    """Anything else, as JSON data."""

    def named(self, prefix: str) -> dict[str, npt.NDArray[Any]]:
        """The arrays whose names begin with `prefix`, by the rest of their names."""
        return {name.removeprefix(prefix): array for name, array in self.arrays.items() if name.startswith(prefix)}


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint into a file of any name."""
    meta = np.frombuffer(json.dumps({"decisions": checkpoint.decisions, **checkpoint.meta}).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **{_META: meta, **checkpoint.arrays})
    body = buffer.getvalue()
    write_whole(path, _HEADER + _digest(body) + body)


def save_checkpoint(folder: Path, checkpoint: Checkpoint, *, keep: int) -> Path:
    """Write a checkpoint into a folder, remove all but the newest `keep`; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{checkpoint.decisions:012d}{_SUFFIX}"
    write_checkpoint(path, checkpoint)
    for old in checkpoints(folder)[keep:]:
        old.unlink()
    for unfinished in folder.glob(f"*{UNFINISHED}"):
        unfinished.unlink()
    return path


def checkpoints(folder: Path) -> list[Path]:
    """The paths of the checkpoints of a folder, newest first, whether they are whole or not."""
    return sorted(folder.glob(f"*{_SUFFIX}"), reverse=True)


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        ValueError: the file is damaged or not a checkpoint; the message names it.
    """
    data = path.read_bytes()
    if not data.startswith(_HEADER):
        raise ValueError(f"{path} is not a checkpoint of this version: expected it to begin with {_HEADER!r}")
    body = data[len(_HEADER) + _DIGEST_SIZE :]
    if _digest(body) != data[len(_HEADER) : len(_HEADER) + _DIGEST_SIZE]:
        raise ValueError(f"{path} is damaged: its checksum does not match its {len(body)} bytes")
    try:
        with np.load(io.BytesIO(body), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        meta = json.loads(arrays.pop(_META).tobytes())
        return Checkpoint(int(meta.pop("decisions")), arrays, meta)
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is damaged: {error}") from None


def newest_good(folder: Path) -> tuple[Checkpoint | None, dict[Path, str]]:
    """The newest whole checkpoint, or None, and the error message of each newer one, by path."""
    damages: dict[Path, str] = {}
    for path in checkpoints(folder):
        try:
            return load_checkpoint(path), damages
        except ValueError as error:
            damages[path] = str(error)
    return None, damages


def set_aside(path: Path) -> None:
    """Rename a damaged checkpoint so that it no longer counts as one."""
    path.rename(path.with_name(path.name + _DAMAGED))


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST_SIZE).digest()
