"""The folder of a training run: opening it, resuming from it, writing to it.

| in the folder | |
|---|---|
| `config.json` | the configuration with all defaults |
| `run.json` | commit, versions and date of the run |
| `checkpoints/` | the newest checkpoints, named by decisions |
| `log.jsonl` | one JSON object a line, with time and CPU seconds: starts, losses, evaluations |
| `evaluation.json` | the last measurement, and the number of decisions at it |
| `tensorboard/` | the numbers of the log for TensorBoard |
"""

import json
import time
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console

from okey_agents.provenance import provenance
from okey_agents.training.checkpoint import Checkpoint, newest_good, set_aside
from okey_agents.training.recipes import config_from_dict, differences
from okey_agents.training.schema import Config
from okey_env.files import UNFINISHED, write_whole

CONFIG_FILE = "config.json"
RUN_FILE = "run.json"
LOG_FILE = "log.jsonl"
EVALUATION_FILE = "evaluation.json"
CHECKPOINTS = "checkpoints"

_MAY_CHANGE = ("evaluation.", "duel.", "checkpoints.", "run.", "network.device", "scorer_ppo.checkpoint_every")
"""The keys, by the beginnings of their names, that may have other values when a run is resumed."""
_MUST_STAY = ("run.recipe", "run.seed")
_BEFORE_IT_BEGAN = (RUN_FILE, RUN_FILE + UNFINISHED, CONFIG_FILE + UNFINISHED)
"""The files that a process may leave which dies before the run has begun."""


def open_run(
    config: Config, folder: Path, resume: bool, console: Console, packages: Iterable[str]
) -> Checkpoint | None:
    """Make the folder of a run, or check it when the run is resumed.

    Args:
        config: the configuration of the run.
        folder: the folder of the run.
        resume: go on from the newest whole checkpoint of the folder.
        console: where damaged checkpoints and the one that is resumed from are named.
        packages: distributions whose versions are written into `run.json`.

    Returns:
        The checkpoint to resume from; None at the beginning.

    Raises:
        ValueError: the folder is not empty, holds another run, or has checkpoints of which none is whole.
    """
    if not resume:
        if folder.exists() and any(path.name not in _BEFORE_IT_BEGAN for path in folder.iterdir()):
            raise ValueError(f"{folder} is not empty: resume the run in it, or choose another folder")
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / RUN_FILE, as_json({"name": folder.name, **_origin(packages)}))
        write_whole(folder / CONFIG_FILE, as_json(config.to_dict()))  # written last: with this file the run has begun
        log_event(folder, "started")
        return None
    saved = read_config(folder)
    changed = differences(config, saved)
    for name in sorted(changed, key=lambda name: name not in _MUST_STAY):  # another recipe explains all other keys
        now, before = changed[name]
        if not name.startswith(_MAY_CHANGE) or name in _MUST_STAY:
            raise ValueError(
                f"{name} = {now!r}, but the run in {folder} began with {before!r}: it cannot go on with another"
            )
    checkpoint, damages = newest_good(folder / CHECKPOINTS)
    for damage in damages.values():
        console.print(f"passed over: {damage}", style="yellow", highlight=False, soft_wrap=True)
    _end_last_line(folder / LOG_FILE)
    if checkpoint is None:
        if damages:
            raise ValueError(f"the run in {folder} cannot go on: none of its {len(damages)} checkpoints is whole")
        console.print(f"{folder} has no checkpoint yet: beginning anew", highlight=False)
        log_event(folder, "started")
        return None
    for path in damages:
        set_aside(path)
    console.print(f"going on from decision {checkpoint.decisions:,}", highlight=False)
    log_event(folder, "resumed", decisions=checkpoint.decisions, passed_over=list(damages.values()))
    return checkpoint


def read_config(folder: Path) -> Config:
    """The configuration of a run.

    Raises:
        ValueError: the folder holds no run or one of an earlier version, or its configuration is damaged.
    """
    path = folder / CONFIG_FILE
    if not path.is_file():
        raise ValueError(f"{folder} holds no run: there is no {CONFIG_FILE} in it")
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if "rules" in data.get("env", {}):
            raise ValueError(
                "the run was begun by an earlier version of okey-env, whose sections had other names; this version "
                "can neither resume nor export it: train again in another folder"
            )
        return config_from_dict(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def log_event(folder: Path, event: str, **values: Any) -> None:
    """Append a line to the run's log, with the time and the CPU seconds of this process so far."""
    clocks = {"time": round(time.time(), 3), "cpu": round(time.process_time(), 3)}
    line = json.dumps({"event": event, **clocks, **values})
    with (folder / LOG_FILE).open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def _end_last_line(path: Path) -> None:
    """End the last line of a log if the process died within it; readers of logs skip a broken line."""
    if path.is_file() and not path.read_bytes().endswith(b"\n"):
        with path.open("a", encoding="utf-8") as file:
            file.write("\n")


def as_json(data: Mapping[str, Any]) -> bytes:
    """Data as the text of a JSON file."""
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()


def _origin(packages: Iterable[str]) -> dict[str, Any]:
    """Commit, versions and date; the versions include those of the packages that learn."""
    origin = provenance()
    origin["versions"] |= {package: metadata.version(package) for package in packages}
    return origin
