"""Where a number comes from: the commit of this checkout, and nothing from an installed package."""

import subprocess
from pathlib import Path

import pytest

from okey_agents import provenance
from tests.places import ROOT


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_package_lies_in_the_checkout_whose_commit_is_named() -> None:
    assert (provenance._ROOT / "pyproject.toml").is_file()
    assert provenance._ROOT == ROOT


def test_the_commit_and_whether_files_differ_from_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(provenance, "_ROOT", tmp_path)
    assert provenance.commit() is None  # as in an installed package
    git(tmp_path, "init", "-q")
    assert provenance.commit() is None
    who = ("-c", "user.name=Test", "-c", "user.email=test@localhost")
    git(tmp_path, *who, "commit", "-q", "--allow-empty", "-m", "Begin")
    head = git(tmp_path, "rev-parse", "HEAD")
    assert provenance.commit() == head
    (tmp_path / "new.txt").touch()
    assert provenance.commit() == f"{head}+"
    monkeypatch.setattr(provenance, "_ROOT", tmp_path / "inside")  # installed inside another checkout
    (tmp_path / "inside").mkdir()
    assert provenance.commit() is None
