"""The distribution as users meet it: names in the wheel, public names, entry points, and what an import drags in."""

import ast
import base64
import hashlib
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import numba
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


def wheel_of_agents(folder: Path) -> Path:
    """A wheel of another distribution, whose top-level package is `agents`."""
    files = {
        "agents/__init__.py": b"VALUE = 42\n",
        "agents-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: agents\nVersion: 1.0\n",
        "agents-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = ["agents-1.0.dist-info/RECORD,,"]
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}")
    path = folder / "agents-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        archive.writestr("agents-1.0.dist-info/RECORD", "\n".join(rows) + "\n")
    return path


PLAY = """
import okey_env
bot, round = okey_env.make_bot("greedy"), okey_env.Round(seed=1)
assert bot.act(round.observe(round.turn)) in round.legal_actions()
"""
USE = "import agents; assert agents.VALUE == 42"
GONE = "import importlib.util; assert importlib.util.find_spec({name!r}) is None"


@pytest.mark.heavy
def test_another_distribution_may_own_the_name_agents(tmp_path: Path) -> None:
    """Both work side by side, and uninstalling either leaves the other whole."""
    wheels = {
        "okey-env": next(iter(WheelBuilder(str(ROOT)).build(directory=str(tmp_path)))),
        "agents": str(wheel_of_agents(tmp_path)),
    }
    venv.create(tmp_path / "venv", symlinks=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    borrowed = str(Path(numba.__file__).parent.parent)  # dependencies; an editable install there stays out of sight
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}  # one move in Python takes less time than to compile it

    def pip(*arguments: str) -> None:
        command = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "--no-input"]
        done = subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def install(*names: str) -> None:
        pip("install", "--no-index", "--no-deps", "--no-compile", *(wheels[name] for name in names))

    def runs(*codes: str) -> None:
        code = "\n".join((f"import sys; sys.path.append({borrowed!r})", *codes))
        done = subprocess.run(
            [python, "-I", "-W", "ignore", "-c", code],
            cwd=tmp_path,
            env=plain,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    install("okey-env", "agents")
    runs(PLAY, USE)
    pip("uninstall", "-y", "agents")
    runs(PLAY, GONE.format(name="agents"))
    install("agents")
    pip("uninstall", "-y", "okey-env")
    runs(USE, GONE.format(name="okey_env"), GONE.format(name="okey_agents"))


def test_public_names_exist_and_are_listed_once() -> None:
    names = list(okey_env.__all__)
    assert len(names) == len(set(names))
    assert [name for name in names if not hasattr(okey_env, name)] == []


def test_importing_okey_env_loads_no_bot_and_no_trainer() -> None:
    loaded = loaded_after("import okey_env")
    assert loaded.isdisjoint({"okey_agents", *HEAVY})


@pytest.mark.heavy
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
