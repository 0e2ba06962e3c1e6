"""Writing a bot folder: weights, ONNX file, and `bot.json` with checksums and the origin of the bot."""

import io
import json
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from okey_agents.bots.folder import FORMAT, FORMAT_VERSION, WEIGHTS_FILE, checksum, load_bot
from okey_agents.training.checkpoint import Checkpoint
from okey_agents.training.runs import EVALUATION_FILE, RUN_FILE, as_json
from okey_agents.training.schema import Config
from okey_agents.training.sections import GameConfig, RunConfig
from okey_env.actions import ACTIONS_VERSION
from okey_env.bot_lookup import BOT_FILE, ONNX_FILE
from okey_env.files import write_whole
from okey_env.rules import as_rules


def checked_folder(folder: Path, own: Collection[str] = ()) -> None:
    """Check that a bot may be written to a folder.

    Args:
        folder: may be missing, or empty, or hold an exported bot.
        own: names of files, beside which nothing else may lie in a folder that holds none.

    Raises:
        ValueError: it is a file, or holds something that is not a bot.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file: choose another name for the bot")
    if not folder.is_dir() or (folder / BOT_FILE).is_file():
        return
    if any(path.name not in own for path in folder.iterdir()):
        raise ValueError(f"{folder} holds something that is not a bot: choose another folder")


def write_bot(
    folder: Path,
    weights: bytes,
    model: bytes,
    parts: Mapping[str, Any],
    origin: Mapping[str, Any],
    name: str | None = None,
) -> Path:
    """Write a bot folder, load the bot once as a check, and rename the folder; a bot of that name is replaced.

    Args:
        folder: the bot folder to make.
        weights: the bytes of the weights file.
        model: the bytes of the ONNX file.
        parts: what the bot is, for the manifest: encoder, network.
        origin: where it comes from, for the manifest: rules, training, scores, config.
        name: of the bot; None: the name of the folder.

    Returns:
        The bot folder.
    """
    unfinished = folder.with_name(folder.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    write_whole(unfinished / WEIGHTS_FILE, weights)
    write_whole(unfinished / ONNX_FILE, model)
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "name": folder.resolve().name if name is None else name,
        "actions_version": ACTIONS_VERSION,
        **parts,
        "weights": {"file": WEIGHTS_FILE, "blake2b": checksum(weights)},
        "onnx": {"file": ONNX_FILE, "blake2b": checksum(model)},
        **origin,
    }
    write_whole(unfinished / BOT_FILE, as_json(manifest))
    load_bot(unfinished)
    if folder.exists():
        shutil.rmtree(folder)
    unfinished.rename(folder)
    return folder


def origin_in_run(run: Path, config: Config, checkpoint: Checkpoint) -> dict[str, Any]:
    """Where a bot comes from that was trained in the folder of a run: rules, training, scores, config."""
    return {
        "rules": as_rules(config[GameConfig].rules).name,
        "training": {"decisions": checkpoint.decisions, "seed": config[RunConfig].seed, **_read(run / RUN_FILE)},
        "scores": _scores(run, checkpoint.decisions),
        "config": config.to_dict(),
    }


def packed(arrays: Mapping[str, npt.NDArray[np.float32]], *, compressed: bool = False) -> bytes:
    """Arrays as the bytes of a weights file."""
    buffer = io.BytesIO()
    if compressed:
        np.savez_compressed(buffer, allow_pickle=False, **arrays)
    else:
        np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _scores(run: Path, decisions: int) -> list[Any]:
    """The measurements made after exactly so many decisions."""
    measured = _read(run / EVALUATION_FILE)
    return list(measured.get("scores", [])) if measured.get("decisions") == decisions else []


def _read(path: Path) -> Mapping[str, Any]:
    data = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return data if isinstance(data, Mapping) else {}
