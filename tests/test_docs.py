"""What README and docs/ say is what the code does."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.places import ROOT


def docs_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_script", ROOT / "scripts" / "docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_made_from_the_code_are_up_to_date() -> None:
    for name, page in docs_script().PAGES.items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == page(), f"run scripts/docs.py: docs/{name} is old"


def python_blocks(*names: str) -> list[Any]:
    """The Python code on pages, with the page and, by empty lines before it, its place there."""
    blocks = []
    for name in names:
        text = (ROOT / name).read_text(encoding="utf-8")
        for found in re.finditer(r"```python\n(.*?)```", text, flags=re.DOTALL):
            line = text.count("\n", 0, found.start(1))
            blocks.append(pytest.param(name, "\n" * line + found[1], id=f"{name}:{line + 1}"))
    return blocks


@pytest.mark.heavy
@pytest.mark.parametrize(("page", "block"), python_blocks("README.md", "docs/learning.md"))
def test_code_runs(page: str, block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some of it trains, and leaves folders
    exec(compile(block, page, "exec"), {})


@pytest.mark.parametrize(("page", "block"), python_blocks("docs/learning.md"))
def test_learning_takes_at_most_ten_lines(page: str, block: str) -> None:
    assert len([line for line in block.splitlines() if line.strip()]) <= 10
