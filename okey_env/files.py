"""Files that are whole or not there, and files and folders that one process has to itself."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module or nothing


UNFINISHED = ".unfinished"
"""The suffix of a file that is not complete on disk."""


def write_whole(path: str | Path, data: bytes | str, *, sync: bool = True) -> None:
    """Write a file so that its name never stands for half of it, whenever the process or the machine dies.

    Args:
        path: the file. If it cannot be written, what was there stays.
        data: bytes, or text that is written as UTF-8 with its ends of lines as they are.
        sync: wait until the disk has it, so that it is whole even after a loss of power.

    Raises:
        OSError: the file cannot be written.
    """
    path = Path(path)
    raw = data.encode("utf-8") if isinstance(data, str) else data
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        with unfinished.open("wb") as file:
            file.write(raw)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise
    if sync:
        _sync_folder(path.parent)


def check_writable(path: str | Path, what: str) -> None:
    """Check that a file can be written there, before the work whose result it is to hold; nothing is changed.

    Args:
        path: the file.
        what: the name of the argument or option.

    Raises:
        ValueError: it cannot; the message names the argument, the path and the reason.

    >>> check_writable("/no/such/folder/report.json", "--json")
    Traceback (most recent call last):
        ...
    ValueError: --json: there is no folder '/no/such/folder'
    """
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{what}: {str(path)!r} is a folder: expected a file")
    if not path.parent.is_dir():
        raise ValueError(f"{what}: there is no folder {str(path.parent)!r}")
    if path.exists() and not os.access(path, os.W_OK):
        raise ValueError(f"{what}: {str(path)!r} cannot be written: permission denied")
    try:
        with tempfile.TemporaryFile(dir=path.parent) as file:
            file.write(b"0" * 4096)
            file.flush()
    except OSError as error:
        raise ValueError(f"{what}: {str(path)!r} cannot be written: {error.strerror or error}") from error


@contextlib.contextmanager
def alone_with(path: str | Path, what: str) -> Iterator[None]:
    """A context in which no other process is alone with the same file or folder.

    The lock lies in a file beside it, `.NAME.lock`, and the system gives it up when the process ends, however it ends.
    Where the system has no locks, there are none.

    Args:
        path: the file or folder; it need not exist, but the folder that holds it must.
        what: what the other process would be, for the message.

    Raises:
        ValueError: another process is; the message has its number.
    """
    lock = _lock_of(Path(path).absolute(), what)
    try:
        yield
    finally:
        if lock is not None:
            with contextlib.suppress(OSError):
                Path(lock.name).unlink()
            lock.close()


def _lock_of(path: Path, what: str) -> IO[bytes] | None:
    """The lock file of a path, open and locked; None where nothing can be locked."""
    name = path.with_name(f".{path.name}.lock")
    lock = getattr(fcntl, "flock", None)
    while lock is not None:
        try:
            file = name.open("a+b")
        except OSError:
            return None  # a folder that cannot be written
        try:
            lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            number = file.read(20).decode("ascii", "replace").strip() or "unknown"
            file.close()
            raise ValueError(f"another {what} (process {number}) works on {path}: wait until it has ended") from None
        except OSError:
            return file  # some network drives have no locks
        with contextlib.suppress(OSError):
            if os.fstat(file.fileno()).st_ino == name.stat().st_ino:  # nobody has removed it meanwhile
                file.truncate(0)
                file.write(str(os.getpid()).encode())
                file.flush()
                return file
        file.close()
    return None


def _sync_folder(folder: Path) -> None:
    # not every system can open a folder; then it decides itself when to write the name
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
