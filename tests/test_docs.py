"""What README and docs/ say is what the code does."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


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


def python_blocks() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


@pytest.mark.parametrize("block", python_blocks())
def test_readme_code_runs(block: str) -> None:
    exec(compile(block, "README.md", "exec"), {})


def test_every_cited_rule_is_on_the_page() -> None:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    written = set(re.findall(r"\bR\d\.\d\b", page))
    sources = [*(ROOT / "okey_env").rglob("*.py"), *(ROOT / "agents").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    for path in sources:
        for number in re.findall(r"\bR[1-9]\.\d\b", path.read_text(encoding="utf-8")):
            assert number in written, f"{path.relative_to(ROOT)} cites {number}, which docs/rules.md does not have"
