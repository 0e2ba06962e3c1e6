"""Writes tables and the records of their matches to the disk, in a thread of its own.

What could not be written is kept and tried again. A record tells the deals to come of a match that still runs, so the
folder of records, the names of its files and the files are for their owner only.
"""

import asyncio
import contextlib
import copy
import logging
import os
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

from okey_agents.table.web.store import Store
from okey_env.match import Match
from okey_env.record import Record

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module or nothing

_Written = tuple[Match, tuple[str, ...], Mapping[str, Mapping[str, Any]]]
"""A match, the names of its players, and by person what is kept of it for them."""

_log = logging.getLogger(__name__)

_MOST_WAITING = 500
"""Records that wait for a disk that cannot be written; when there are more, the oldest is given up."""


class Keeper:
    """The tables and records of one data folder.

    Args:
        data: the folder; None: nothing is kept.
        records: how many files of records there may be.
        record_bytes: and how many bytes they may have together.

    Raises:
        ValueError: the file of tables is not one, or another server keeps its tables in this folder.
        OSError: the folder cannot be made or written.
    """

    def __init__(self, data: Path | None, records: int, record_bytes: int) -> None:
        self._lock = _locked(data) if data else None
        try:
            self._store = Store(data / "tables.sqlite" if data else None)
        except BaseException:
            self._unlock()
            raise
        self._folder = data / "records" if data else None
        self._most_records, self._most_bytes = records, record_bytes
        self._thread = ThreadPoolExecutor(1, "okey-disk")
        self._rows: dict[str, str | None] = {}
        self._records: dict[str, _Written] = {}
        self._fault: str | None = None

    def load(self) -> list[tuple[str, dict[str, Any]]]:
        """The kept tables with their ids; called once, at the start."""
        if self._folder is not None and self._folder.is_dir():
            with contextlib.suppress(OSError):
                for path in (self._folder, *self._folder.glob("*.jsonl")):
                    path.chmod(0o700 if path == self._folder else 0o600)  # an earlier version let everybody read them
                for path in self._folder.glob("*.part"):
                    path.unlink()
        return self._store.load()

    def set_aside(self, key: str, why: str) -> None:
        """Move a kept table that cannot be restored out of the way."""
        self._store.set_aside(key, why)

    def add_row(self, key: str, kept: str | None) -> None:
        """Have a table written, or removed if `kept` is None."""
        self._rows[key] = kept

    def add_record(
        self, name: str, match: Match, players: tuple[str, ...], games: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        """Have the record of a match written whose current round is over.

        Args:
            name: of the file.
            match: the match.
            players: their names.
            games: once the match is over, by person what is kept of it for them.
        """
        frozen = copy.copy(match)  # rounds that are over do not change, but the current one is dealt again
        frozen.earlier, frozen.round = list(match.earlier), copy.deepcopy(match.round)
        self._records.pop(name, None)
        self._records[name] = (frozen, players, games or {})
        if len(self._records) > _MOST_WAITING:
            oldest = next(iter(self._records))
            del self._records[oldest]
            _log.error("the record %s is given up: %d others wait to be written", oldest, _MOST_WAITING)

    def has_record(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return self._folder is not None and self.path(name).exists()

    async def games(self, person: str) -> list[dict[str, Any]]:
        """The matches that a person has played and whose records are there, the latest first."""
        loop = asyncio.get_running_loop()
        games = await loop.run_in_executor(self._thread, self._store.games, person)
        return [game for game in games if self.has_record(game["record"])]

    async def keep_game(self, person: str, record: str, kept: Mapping[str, Any] | None) -> None:
        """Keep a person's match, or with None forget it; its record stays for the others who have played it."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._store.keep_game, person, record, kept)

    async def write(self, running: Collection[str]) -> None:
        """Write what has been added; `running` names the records of matches that go on, which are not removed."""
        rows, self._rows = self._rows, {}
        records, self._records = self._records, {}
        if self._folder is None or not (rows or records):
            return
        faults: list[Exception] = []
        try:
            loop = asyncio.get_running_loop()
            rows, records = await loop.run_in_executor(self._thread, self._write, rows, records, set(running), faults)
        finally:  # what was not written, and not added anew meanwhile, waits for the next time
            self._rows = {**rows, **self._rows}
            self._records = {**records, **self._records}
        self._tell(faults)

    def _write(
        self,
        rows: Mapping[str, str | None],
        records: Mapping[str, _Written],
        running: Collection[str],
        faults: list[Exception],
    ) -> tuple[dict[str, str | None], dict[str, _Written]]:
        """Write, and return what could not be written."""
        failed_rows, failed_records = dict(rows), dict(records)
        try:
            self._store.save(rows)
            failed_rows.clear()
        except Exception as error:
            faults.append(error)
        for name, (match, players, games) in records.items():
            try:
                self._write_record(name, match, players)
                for person, game in games.items():
                    self._store.keep_game(person, name, game)
                del failed_records[name]
            except Exception as error:
                faults.append(error)
        if records:
            with contextlib.suppress(OSError):
                self._remove_oldest(running)
        return failed_rows, failed_records

    def _write_record(self, name: str, match: Match, players: tuple[str, ...]) -> None:
        text = text_of(match, players)
        path = self.path(name)
        part = path.with_suffix(".part")
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        part.unlink(missing_ok=True)
        descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)

    def _remove_oldest(self, running: Collection[str]) -> None:
        assert self._folder is not None
        files = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in self._folder.glob("*.jsonl"))
        count, size = len(files), sum(size for _, size, _ in files)
        for _, length, path in files:
            if count <= self._most_records and size <= self._most_bytes:
                return
            if path.stem not in running:
                path.unlink()
                count, size = count - 1, size - length

    def path(self, name: str) -> Path:
        """The file of a record; the server keeps records."""
        assert self._folder is not None
        return self._folder / f"{name}.jsonl"

    def _tell(self, faults: list[Exception]) -> None:
        """Log a fault once, not with each further try, and its end."""
        fault = f"{faults[0]}" if faults else None
        if fault != self._fault:
            if fault is None:
                _log.warning("tables and records are written again")
            else:
                _log.error("tables or records could not be written, and are tried again: %s", fault)
        self._fault = fault

    def close(self) -> None:
        """Close the file of tables and give up the folder."""
        self._thread.shutdown()
        self._store.close()
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()


def _locked(folder: Path) -> IO[bytes]:
    """A file of a folder, locked while it is open; the system gives the lock up if this process ends."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = (folder / "tables.lock").open("ab")
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise ValueError(
            f"another `okey play` keeps its tables in {folder}: close it, or name another folder with --data"
        ) from None
    except OSError:
        pass  # some network drives have no locks
    return file


def text_of(match: Match, players: tuple[str, ...]) -> str:
    """The record of a match so far as the text of its file."""
    return "".join(f"{line}\n" for line in Record.of(match, players).lines)
