"""What README and docs/ say is what the code does."""

import argparse
import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from okey_agents import cli
from okey_agents.training.recipes import load_config
from tests.places import ROOT, load_script

NOTEBOOK = ROOT / "docs" / "experiments"
CONFIGS = ROOT / "training_configs"
USER_PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    CONFIGS / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "klasik").glob("*.md")),
    *sorted((ROOT / "agents" / "okey_agents" / "bots" / "shipped").glob("*/README.md")),
]
"""What is true today, for users and contributors."""
ENTRIES = [path for path in sorted(NOTEBOOK.glob("*.md")) if path.name != "README.md"]
PAGES = [*USER_PAGES, NOTEBOOK / "README.md", *ENTRIES, ROOT / "CHANGELOG.md"]
STUDIES = sorted((ROOT / "scripts" / "studies").glob("*.py"))

MONTHS = ["January", "February", "March", "April", "May", "June"]
MONTHS += ["July", "August", "September", "October", "November", "December"]
DATE = rf"\d{{1,2}} (?:{'|'.join(MONTHS)}) 20\d\d"
COMMIT = r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,8}\b"


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def fenced(text: str) -> Iterator[tuple[str, int, str]]:
    """The fenced code of a page: its language, the number of lines before it, and the code."""
    language, first, lines = None, 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
        elif language is None:
            language, first, lines = line[3:], number, []
        else:
            yield language, first, "\n".join(lines)
            language = None


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


# --- pages made from the code -----------------------------------------------------------------------------------------


def test_pages_made_from_the_code_are_up_to_date() -> None:
    for name, page in load_script("docs").PAGES.items():
        assert text_of(ROOT / "docs" / name) == page(), f"run scripts/docs.py: docs/{name} is old"


# --- code and commands ------------------------------------------------------------------------------------------------


def python_blocks(*pages: Path) -> list[Any]:
    """The Python code on pages, with the page and, by empty lines before it, its place there."""
    blocks = []
    for page in pages:
        for language, line, code in fenced(text_of(page)):
            if language == "python":
                blocks.append(pytest.param(name_of(page), "\n" * line + code, id=f"{name_of(page)}:{line + 1}"))
    return blocks


@pytest.mark.heavy
@pytest.mark.parametrize(("page", "block"), python_blocks(*USER_PAGES))
def test_code_saved_to_a_file_runs(page: str, block: str, tmp_path: Path) -> None:
    """As users run it: a file, a process of its own, no guard around what it does."""
    file = tmp_path / "example.py"
    file.write_text(block, encoding="utf-8")
    path = os.pathsep.join((str(ROOT), str(ROOT / "agents")))
    environment = {**os.environ, "SDL_VIDEODRIVER": "dummy", "PYTHONPATH": path}
    ran = subprocess.run(
        [sys.executable, "-W", "error", file.name],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, f"{page}:\n{ran.stderr}"


@pytest.mark.parametrize(("page", "block"), python_blocks(ROOT / "docs" / "learning.md"))
def test_learning_takes_at_most_ten_lines(page: str, block: str) -> None:
    assert len([line for line in block.splitlines() if line.strip()]) <= 10


def okey_commands(text: str) -> Iterator[str]:
    """Every command line of `okey` in code on a page, without the remark that follows it after two spaces."""
    lines = [line for language, _, code in fenced(text) if not language for line in code.splitlines()]
    lines += [line.strip() for line in text.splitlines() if line.startswith("    ")]
    lines += re.findall(r"`(okey [a-z]+ [^`]*)`", " ".join(without_code(text).split()))
    for line in lines:
        command = re.split(r"\s{2,}", line.removeprefix(".venv/bin/"))[0]
        if command.startswith("okey "):
            yield command


def parse(command: str) -> argparse.Namespace:
    """The arguments of a command line, as the verb reads them."""
    _, verb, *rest = shlex.split(command)
    assert verb in cli._verbs(), f"`{command}`: there is no verb {verb}"
    parser = argparse.ArgumentParser(prog=f"okey {verb}")
    cli._import(verb).add_arguments(parser)
    if rest and rest[-1].startswith("--"):  # a text may name an option without a value
        assert rest.pop() in parser._option_string_actions, f"`{command}`: there is no such option"
    return parser.parse_intermixed_args(rest)


@pytest.mark.parametrize("page", [*USER_PAGES, *ENTRIES], ids=name_of)
def test_commands_are_what_the_command_line_takes(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in okey_commands(text_of(page)):
        try:
            arguments = parse(command)
        except SystemExit:
            pytest.fail(f"`{command}`: {capsys.readouterr().err}")
        if command.startswith("okey train ") and "NAME" not in command:
            load_config(ROOT / arguments.config, dict(given.split("=", 1) for given in arguments.settings))


def test_readme_lists_every_verb() -> None:
    listed = {command.split()[1] for command in okey_commands(text_of(ROOT / "README.md"))}
    assert set(cli._verbs()) <= listed


def test_every_configuration_is_on_its_page() -> None:
    page = text_of(CONFIGS / "README.md")
    for path in CONFIGS.glob("*.toml"):
        assert f"| `{path.name}` |" in page, f"training_configs/README.md does not list {path.name}"


# --- links and paths --------------------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """The names under which the headings of a page can be linked."""
    headings = re.findall(r"^#+ (.*)$", without_code(text_of(page)), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(text_of(page))):
        if link.startswith(("http://", "https://")):
            continue
        target, _, anchor = link.partition("#")
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{name_of(page)} links to {link}: there is no such file"
        if anchor:
            assert anchor in anchors(path), f"{name_of(page)} links to {link}: there is no such heading"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_that_are_named_exist(page: Path) -> None:
    players = ROOT / "agents" / "okey_agents"
    roots = (ROOT, ROOT / "agents", players, players / "training", ROOT / "okey_env", page.parent)
    old = page.name == "README.md" and page.parent == NOTEBOOK  # has a table of former names
    for code in re.findall(r"`([^`\n]+)`", without_code(text_of(page))):
        for word in code.split():
            if not re.fullmatch(r"(?:[\w.]+/)+(?:[\w.]+\.(?:py|sh|toml|npz|md))?", word) or word.startswith("runs/"):
                continue
            found = any((root / word).exists() for root in roots)
            assert found or (old and f"| `{word}` |" in text_of(page)) or "NAME" in word, f"{word} does not exist"


def tree_of(text: str) -> list[str]:
    """The paths of a drawn tree: two spaces a level, names of files and folders first, then what they are."""
    paths: list[str] = []
    above: list[str] = []
    for line in text.splitlines():
        indent, names = len(line) - len(line.lstrip(" ")), re.match(r"\s*((?:[\w./]+(?:\.py|/)\s+)+)", line)
        if names is None or indent % 2 or indent > 8:
            continue
        level = indent // 2
        for name in names[1].split():
            paths.append("/".join([*above[:level], name.rstrip("/")]))
            above = [*above[:level], name.rstrip("/")]
    return paths


def test_architecture_draws_the_tree() -> None:
    (tree,) = (code for _, _, code in fenced(text_of(ROOT / "docs" / "architecture.md")))
    drawn = tree_of(tree)
    for path in drawn:
        assert (ROOT / path).exists(), f"docs/architecture.md draws {path}, which does not exist"
    rooms = [path.parent for root in ("okey_env", "agents") for path in (ROOT / root).rglob("__init__.py")]
    shown = [*rooms, *(path for path in (ROOT / "okey_env").glob("*.py") if path.name != "__init__.py")]
    missing = {name_of(path) for path in shown} - set(drawn)
    assert not missing, f"docs/architecture.md does not draw {sorted(missing)}"


# --- the notebook -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", USER_PAGES, ids=name_of)
def test_commits_stand_in_the_line_under_a_table(page: Path) -> None:
    for number, line in enumerate(text_of(page).splitlines(), 1):
        found = re.search(COMMIT, line)
        dated = re.match(rf"(?:{DATE}|\d{{1,2}} \w+ and {DATE}|20\d\d-\d\d-\d\d), commits? ", line)
        assert not found or dated, f"{name_of(page)}:{number} has a commit in running text: {line}"


def entries_of(page: Path) -> list[tuple[str, str]]:
    """The entries of a page of the notebook: heading, and the lines down to the first empty one."""
    return [
        (heading, " ".join(facts.split()))
        for heading, facts in re.findall(r"^## ([^\n]*)\n\n(.*?)\n\n", text_of(page), flags=re.MULTILINE | re.DOTALL)
    ]


@pytest.mark.parametrize("page", ENTRIES, ids=name_of)
def test_entries_have_date_commit_and_command_and_the_newest_is_first(page: Path) -> None:
    entries = entries_of(page)
    assert len(entries) == text_of(page).count("\n## ")
    dates = []
    for heading, facts in entries:
        found = re.match(rf"({DATE}) · [^·]*?{COMMIT}[^·]* · (.*)", facts)
        assert found, f"{name_of(page)}, {heading!r}: expected date · commit · command, got {facts!r}"
        assert "`" in found[2] or found[2] == "no command recorded", f"{name_of(page)}, {heading!r} has no command"
        day, month, year = found[1].split()
        dates.append((int(year), MONTHS.index(month), int(day)))
    assert dates == sorted(dates, reverse=True), f"{name_of(page)}: the newest entry comes first"


def test_the_index_of_the_notebook_is_whole() -> None:
    index = text_of(NOTEBOOK / "README.md")
    for page in ENTRIES:
        assert f"]({page.name})" in index, f"docs/experiments/README.md does not list {page.name}"


def test_what_is_superseded_says_by_what() -> None:
    headings = {heading for page in ENTRIES for heading, _ in entries_of(page)}
    for page in ENTRIES:
        for line in text_of(page).splitlines():
            if line.startswith("Superseded by"):
                named = re.search(r'"(.*?)[."]', line)
                assert "every entry above" in line or "](" in line or (named and named[1] in headings), line


@pytest.mark.parametrize("study", STUDIES, ids=lambda path: str(path.stem))
def test_a_study_says_its_command_and_its_entry(study: Path) -> None:
    said = ast.get_docstring(ast.parse(text_of(study)))
    assert said is not None
    assert f".venv/bin/python {name_of(study)} " in said
    found = re.search(r'^Result: (docs/experiments/\w+\.md), "(.*)"\.$', said, flags=re.MULTILINE)
    assert found, f"{study.name} does not say which entry of the notebook has its result"
    facts = dict(entries_of(ROOT / found[1]))
    assert found[2] in facts, f"{found[1]} has no entry {found[2]!r}"
    assert name_of(study) in facts[found[2]], f"{found[1]}, {found[2]!r} does not give the command of {study.name}"


# --- the rules --------------------------------------------------------------------------------------------------------


def test_every_cited_rule_is_on_the_page() -> None:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    written = set(re.findall(r"\bR\d\.\d\b", page))
    sources = [*(ROOT / "okey_env").rglob("*.py"), *(ROOT / "agents").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    for path in sources:
        for number in re.findall(r"\bR[1-9]\.\d\b", path.read_text(encoding="utf-8")):
            assert number in written, f"{path.relative_to(ROOT)} cites {number}, which docs/rules.md does not have"
