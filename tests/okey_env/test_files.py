"""Files are whole or not there, and two processes do not work on one of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from okey_env.files import alone_with, check_writable, write_whole
from tests.places import ROOT


def test_a_file_is_written_whole_or_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    write_whole(path, "first ±\n")
    assert path.read_bytes() == "first ±\n".encode()

    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("okey_env.files.os.fsync", no_room)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"second")
    assert path.read_bytes() == "first ±\n".encode()
    assert [one.name for one in tmp_path.iterdir()] == ["report.json"]


def test_what_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    check_writable(tmp_path / "new.json", "--json")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match=r"^--json: '.*' is a folder: expected a file$"):
        check_writable(tmp_path, "--json")
    with pytest.raises(ValueError, match=r"^--json: there is no folder '.*missing'$"):
        check_writable(tmp_path / "missing" / "a.json", "--json")


LOCK = """
import sys
from okey_env.files import alone_with
with alone_with(sys.argv[1], "training"):
    print("in", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(os.name != "posix", reason="needs flock")
def test_the_second_is_told_and_a_killed_one_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "run"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    first = subprocess.Popen(
        [sys.executable, "-c", LOCK, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    assert first.stdout is not None
    assert first.stdin is not None
    assert first.stdout.readline() == b"in\n"
    words = rf"^another training \(process {first.pid}\) works on .*run: wait until it has ended$"
    with pytest.raises(ValueError, match=words), alone_with(path, "training"):
        pass
    first.kill()
    first.wait()
    first.stdin.close()
    first.stdout.close()
    with alone_with(path, "training"):
        pass
    assert not list(tmp_path.iterdir())  # nothing is left lying
