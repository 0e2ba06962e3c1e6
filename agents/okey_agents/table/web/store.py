"""Keeps tables on disk, so that they survive a restart of the server: one SQLite file, a row of JSON for each table."""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Store:
    """The file of tables. Its methods must be called from one thread at a time.

    Args:
        path: the file; it is created, readable for its owner only, if it does not exist. None: nothing is kept.

    Raises:
        ValueError: the file exists and is not a SQLite file.
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
                f"{path} holds no tables that can be read ({error}): move it away, or name another folder"
            ) from None

    def load(self) -> list[dict[str, Any]]:
        """All tables that are kept, as `save` was given them, decoded."""
        if self._file is None:
            return []
        return [json.loads(kept) for (kept,) in self._file.execute("SELECT kept FROM tables")]

    def save(self, changes: Mapping[str, str | None]) -> None:
        """Write tables: by id the JSON of a table, or None to remove it."""
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
