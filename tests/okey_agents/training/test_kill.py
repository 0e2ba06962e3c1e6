"""`okey train` killed by SIGKILL at random moments, and within a write, goes on to the weights of a run never stopped.

Only what lies on disk survives a kill, so its moments are those between two touches of the run's folder. The process is
told before which touch it dies, drawn with a fixed seed; within a write means that half of the file is there.
"""

import contextlib
import multiprocessing
import os
import random
import shutil
import signal
import sys
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from okey_agents.cli import main
from okey_agents.training.checkpoint import checkpoints, load_checkpoint
from okey_agents.training.recipes import config_from_dict
from okey_agents.training.runs import CHECKPOINTS, CONFIG_FILE, LOG_FILE
from okey_agents.training.train import train_config
from tests.okey_agents.conftest import TINY, TINY_BRANCHING, TINY_SCORER_PPO

LOADED = (
    "okey_agents.training.recipes",
    "okey_agents.training.flat.sb3_model",
    "okey_agents.training.scorer.run",
    "torch._dynamo",  # the first optimiser of a process imports it
)
EVENTS = {"touch": ("open", "os.mkdir", "os.remove", "os.rename"), "write": ("os.rename",)}
"""What a touch of a folder is, and what ends the write of a whole file, as audit events."""


def train_and_die(arguments: list[str], folder: str, kind: str, number: int, said: str) -> None:
    """Run the command in this process; it dies at the n-th touch of a folder, or within the n-th write of a file."""
    left = number

    def watch(event: str, about: tuple[object, ...]) -> None:
        nonlocal left
        if event in EVENTS[kind] and str(about[0]).startswith(folder):
            left -= 1
            if left == 0:
                if kind == "write":
                    path = Path(str(about[0]))
                    os.truncate(path, path.stat().st_size // 2)
                os.kill(os.getpid(), signal.SIGKILL)

    with Path(said).open("w") as sys.stdout, contextlib.redirect_stderr(sys.stdout):
        sys.addaudithook(watch)
        main(arguments)


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """New processes that have loaded all that training needs: to load it takes longer than these runs."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(LOADED))
    return context


def tried(processes: ForkServerContext, config: Path, folder: Path, kind: str, number: int) -> tuple[int | None, str]:
    """Train, or go on with what has begun, until the process is killed or done: its exit code, and what it said."""
    resume = ["--resume"] if (folder / CONFIG_FILE).is_file() else []
    said = folder.with_suffix(".txt")
    arguments = ["train", str(config), "--run", str(folder), *resume]
    process = processes.Process(target=train_and_die, args=(arguments, str(folder), kind, number, str(said)))
    process.start()
    process.join()
    return process.exitcode, said.read_text(encoding="utf-8")


def killed(processes: ForkServerContext, config: Path, folder: Path, kind: str, number: int) -> None:
    """Train, or go on with what has begun, until the process is killed."""
    exitcode, said = tried(processes, config, folder, kind, number)
    assert exitcode == -signal.SIGKILL, said


def as_toml(data: dict[str, Any]) -> str:
    """A configuration of numbers, names, switches and lists of them as TOML."""
    lines = []
    for section, keys in data.items():
        lines.append(f"[{section}]")
        for key, value in keys.items():
            shown = str(value).lower() if isinstance(value, bool) else repr(value)
            lines.append(f"{key} = {shown}")
    return "\n".join(lines)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("data", "name", "touches"),
    [
        (TINY_BRANCHING, "tiny_scorer_run", range(32, 44)),
        (TINY_SCORER_PPO, "tiny_ppo_run", range(22, 26)),
        (TINY, "tiny_run", range(20, 32)),
    ],
    ids=["branching", "scorer_ppo", "maskable_ppo"],
)
def test_a_killed_run_ends_with_the_weights_of_one_never_stopped(
    data: dict[str, Any],
    name: str,
    touches: range,
    request: pytest.FixtureRequest,
    processes: ForkServerContext,
    tmp_path: Path,
) -> None:
    """Killed within a first write, then between a checkpoint and the last (`touches`), then within the next write."""
    whole: Path = request.getfixturevalue(name)
    config, folder = tmp_path / "config.toml", tmp_path / "run"
    config.write_text(as_toml(data))
    chance = random.Random(name)
    killed(processes, config, folder, "write", chance.randint(1, 4))
    killed(processes, config, folder, "touch", chance.choice(touches))
    reached, all_of_it = (load_checkpoint(checkpoints(run / CHECKPOINTS)[0]).decisions for run in (folder, whole))
    assert 0 < reached < all_of_it  # there is something to go on from, and something left to do
    killed(processes, config, folder, "write", 1)
    train_config(config_from_dict(data), folder, resume=True, console=Console(quiet=True))
    ends = [checkpoints(run / CHECKPOINTS)[0] for run in (folder, whole)]
    assert ends[0].read_bytes() == ends[1].read_bytes()
    assert {path.name for path in folder.iterdir()} == {path.name for path in whole.iterdir()}


@pytest.mark.parametrize(("data", "name"), [(TINY_BRANCHING, "tiny_scorer_run"), (TINY_SCORER_PPO, "tiny_ppo_run")])
def test_a_damaged_newest_checkpoint_is_named_and_the_one_before_taken(
    data: dict[str, Any], name: str, request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole: Path = request.getfixturevalue(name)
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    newest, before = checkpoints(folder / CHECKPOINTS)[:2]
    sound = newest.read_bytes()
    newest.write_bytes(sound[: len(sound) // 2] + b"\0" * (len(sound) - len(sound) // 2))
    with (folder / LOG_FILE).open("a") as log:
        log.write('{"event": "upda')  # as if it had died within this line
    train_config(config_from_dict(data), folder, resume=True)
    said = capsys.readouterr().err
    assert f"passed over: {newest} is damaged" in said
    assert f"going on from decision {load_checkpoint(before).decisions:,}\n" in said
    assert newest.read_bytes() == sound
    assert '{"event": "upda' in (folder / LOG_FILE).read_text().splitlines()
