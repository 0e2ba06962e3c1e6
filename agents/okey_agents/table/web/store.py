"""Keeps tables on disk, so that they survive a restart of the server: one SQLite file, a row of JSON for each table."""

import json
import logging
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_log = logging.getLogger(__name__)


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
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        try:
            self._file = sqlite3.connect(path, check_same_thread=False)
            with self._file:
                self._file.execute("CREATE TABLE IF NOT EXISTS tables (id TEXT PRIMARY KEY, kept TEXT NOT NULL)")
                self._file.execute("CREATE TABLE IF NOT EXISTS set_aside (id TEXT, kept TEXT, why TEXT)")
                columns = "person TEXT, record TEXT, kept TEXT, PRIMARY KEY (person, record)"
                self._file.execute(f"CREATE TABLE IF NOT EXISTS games ({columns})")
        except sqlite3.DatabaseError as error:
            self.close()
            raise ValueError(
                f"{path} holds no tables that can be read ({error}): move it away, or name another folder"
            ) from None

    def load(self) -> list[tuple[str, dict[str, Any]]]:
        """All tables that are kept, as `save` was given them, decoded, with their ids; other rows are set aside."""
        tables = []
        for row in self._rows():
            try:
                key, text = self._execute("SELECT id, kept FROM tables WHERE rowid = ?", (row,)).fetchone()
                kept = json.loads(text)
                if not isinstance(kept, dict) or not isinstance(key, str):
                    raise ValueError(f"it holds {type(kept).__name__}: expected an object")
                tables.append((key, kept))
            except (sqlite3.Error, ValueError, TypeError, RecursionError) as error:
                self._move(f"in row {row}", "rowid = ?", row, str(error))
        return tables

    def _rows(self) -> list[int]:
        rows: list[int] = []
        if self._file is None:
            return rows
        try:
            rows.extend(row for (row,) in self._execute("SELECT rowid FROM tables ORDER BY rowid"))
        except sqlite3.Error as error:
            _log.error("some kept tables cannot be read: %s", error)
        return rows

    def set_aside(self, key: str, why: str) -> None:
        """Move a kept table to where nothing reads it, the SQL table `set_aside`, and log its name."""
        self._move(key, "id = ?", key, why)

    def _move(self, name: str, where: str, value: Any, why: str) -> None:
        _log.warning("table %s is not restored and set aside: %s", name, why)
        if self._file is None:
            return
        try:
            with self._file:
                self._execute(f"INSERT INTO set_aside SELECT id, kept, ? FROM tables WHERE {where}", (why, value))
                self._execute(f"DELETE FROM tables WHERE {where}", (value,))
        except sqlite3.Error as error:
            _log.error("table %s could not be set aside: %s", name, error)

    def _execute(self, command: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        assert self._file is not None
        return self._file.execute(command, values)

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

    def games(self, person: str) -> list[dict[str, Any]]:
        """The matches that a person has played to their end, the latest first, as `keep_game` was given them."""
        if self._file is None:
            return []
        rows = self._execute("SELECT kept FROM games WHERE person = ? ORDER BY rowid DESC", (person,))
        return [json.loads(kept) for (kept,) in rows]

    def keep_game(self, person: str, record: str, kept: Mapping[str, Any] | None) -> None:
        """Keep a person's match, or with None forget it."""
        if self._file is None:
            return
        with self._file:
            if kept is None:
                self._execute("DELETE FROM games WHERE person = ? AND record = ?", (person, record))
            else:
                command = (
                    "INSERT INTO games VALUES (?, ?, ?) "
                    "ON CONFLICT (person, record) DO UPDATE SET kept = excluded.kept"  # it keeps its place in the order
                )
                self._execute(command, (person, record, json.dumps(kept)))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
