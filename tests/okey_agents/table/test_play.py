"""`okey play` in the words of its command line: every mistake is told in one sentence."""

import socket
from pathlib import Path
from typing import Any

import pytest

from okey_agents.cli import main
from okey_agents.table.web.keeper import Keeper


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[Any, str]:
    """The exit status, and what was said, of a command line that is refused."""
    with pytest.raises(SystemExit) as ended:
        main(["play", "--no-browser", *arguments])
    said = capsys.readouterr().err.strip()
    assert "Traceback" not in said
    return ended.value.code, said.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--port", "99999"), "99999"),
        (("--port", "-1"), "-1"),
        (("--port", "x"), "x"),
        (("--port", "1.5"), "1.5"),
        (("--port", ""), "port"),
        (("--port", "9" * 50), "999"),
        (("--host", "no.such.host.invalid"), "no.such.host.invalid"),
        (("--host", "a..b"), "a..b"),
        (("--host", ""), "host"),
        (("--host", "203.0.113.7"), "203.0.113.7"),
        (("--host", "300.1.1.1"), "300.1.1.1"),
        (("--host", "::zz"), "::zz"),
    ],
)
def test_an_address_that_cannot_be_is_told(
    arguments: tuple[str, ...], word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = told(capsys, "--data", str(tmp_path), "--port", "0", *arguments)
    assert status == 2
    assert word in said


def test_a_port_that_is_taken_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        status, said = told(capsys, "--data", str(tmp_path), "--port", port)
    assert status == 2
    assert port in said
    assert "in use" in said


@pytest.mark.parametrize("name", ["http://okey.example/", "okey.example:80", "", "a b"])
def test_a_host_that_is_no_name_is_told(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = told(capsys, "--data", str(tmp_path), "--port", "0", "--allow-host", name)
    assert status == 1
    assert f"--allow-host {name!r}" in said


@pytest.mark.parametrize("name", ["expert", "person"])
def test_a_bot_whose_name_is_taken_is_told(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).mkdir()
    status, said = told(capsys, "--data", str(tmp_path), "--port", "0", "--bot", str(tmp_path / name))
    assert (status, f"the name '{name}' is taken" in said) == (1, True)


def test_two_servers_on_one_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keeper = Keeper(tmp_path, 10, 10**6)
    status, said = told(capsys, "--data", str(tmp_path), "--port", "0")
    assert status == 1
    assert "another `okey play` keeps its tables in" in said
    assert str(tmp_path) in said
    keeper.close()
    Keeper(tmp_path, 10, 10**6).close()  # now it is free


@pytest.mark.parametrize("blocked", [".", "tables.sqlite", "tables.lock"])
def test_a_folder_that_cannot_be_used_is_told(blocked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "data"
    if blocked == ".":
        folder.write_text("a file")
    else:
        (folder / blocked).mkdir(parents=True)
    status, said = told(capsys, "--data", str(folder), "--port", "0")
    assert status == 1
    assert str(folder) in said


def test_without_a_home_the_option_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    for variable in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    status, said = told(capsys, "--port", "0")
    assert (status, "--data" in said) == (1, True)
