"""The distribution as users meet it: names in the wheel, public names, entry points, and what an import drags in."""

import ast
import importlib
import json
import pkgutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

import okey_env
from tests.places import ROOT

# What only training and export need. `okey_env`, and every bot that plays, does without.
HEAVY = ("torch", "stable_baselines3", "sb3_contrib", "tensorboard", "onnx", "onnxscript", "onnxruntime")


def loaded_after(code: str) -> set[str]:
    """The top-level packages that a fresh interpreter has loaded after running `code`."""
    report = "import json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def modules_that_play() -> list[str]:
    """All modules of `okey_agents` outside the room that trains."""
    package = importlib.import_module("okey_agents")
    names = [module.name for module in pkgutil.walk_packages(package.__path__, "okey_agents.")]
    return [name for name in names if not name.startswith("okey_agents.training")]


def test_the_wheel_holds_two_top_level_names() -> None:
    builder = WheelBuilder(str(ROOT))
    with builder.config.set_build_data({"artifacts": [], "force_include": {}, "build_hooks": ()}):
        files = [Path(file.distribution_path) for file in builder.recurse_included_files()]
    assert {file.parts[0] for file in files} == {"okey_env", "okey_agents"}
    assert {Path("okey_env/py.typed"), Path("okey_agents/py.typed")} <= set(files)


def test_public_names_exist_and_are_listed_once() -> None:
    names = list(okey_env.__all__)
    assert len(names) == len(set(names))
    assert [name for name in names if not hasattr(okey_env, name)] == []


def test_importing_okey_env_loads_no_bot_and_no_trainer() -> None:
    loaded = loaded_after("import okey_env")
    assert loaded.isdisjoint({"okey_agents", *HEAVY})


def test_bots_play_without_the_trainer() -> None:
    names = modules_that_play()
    assert "okey_agents.bots.random" in names
    loaded = loaded_after("import " + ", ".join(names))
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize("name", ["greedy", "random"])
def test_bots_are_found_by_name(name: str) -> None:
    (entry,) = metadata.entry_points(group="okey_env.bots", name=name)
    assert entry.value.startswith("okey_agents.")
    assert callable(entry.load())


def test_the_twin_of_the_rules_stands_on_the_standard_library_alone() -> None:
    twin = ROOT / "tests" / "reference"
    sources = [source for source in sorted(twin.rglob("*.py")) if not source.name.startswith("test_")]
    assert sources
    for source in sources:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                inside = source.relative_to(twin).parts  # relative imports stay in the folder
                assert node.level <= len(inside), f"{source.name}: an import out of tests/reference"
                names = [] if node.level else [str(node.module)]
            else:
                continue
            for name in names:
                own = name == "tests.reference" or name.startswith("tests.reference.")
                assert own or name.partition(".")[0] in sys.stdlib_module_names, f"{source.name} imports {name}"
