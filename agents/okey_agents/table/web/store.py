"""Tables kept on disk, so that they outlive the server: one SQLite file, a row of JSON for each."""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Store:
    """The file. Its methods are called from one thread at a time.

    Args:
        path: the file, made if it is not there, for its owner's eyes only; None: nothing is kept.

    Raises:
        ValueError: the file is there and is none of ours.
    """

    def __init__(self, path: Path | None) -> None:
        self._file: sqlite3.Connection | None = None
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        self._file = sqlite3.connect(path, check_same_thread=False)
        try:
            with self._file:
                self._file.execute("CREATE TABLE IF NOT EXISTS tables (id TEXT PRIMARY KEY, kept TEXT NOT NULL)")
        except sqlite3.DatabaseError as error:
            self._file.close()
            raise ValueError(
                f"{path} holds no tables that can be read ({error}): move it away, or name another"
            ) from None

    def load(self) -> list[dict[str, Any]]:
        """All tables that are kept."""
        if self._file is None:
            return []
        return [json.loads(kept) for (kept,) in self._file.execute("SELECT kept FROM tables")]

    def save(self, changes: Mapping[str, str | None]) -> None:
        """Keep tables by id, as JSON; None: forget that one."""
        if self._file is None:
            return
        with self._file:
            for key, kept in changes.items():
                if kept is None:
                    self._file.execute("DELETE FROM tables WHERE id = ?", (key,))
                else:
                    self._file.execute("INSERT OR REPLACE INTO tables VALUES (?, ?)", (key, kept))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
