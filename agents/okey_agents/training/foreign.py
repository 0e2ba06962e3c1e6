"""Export of networks from other trainers: any torch module, or an ONNX file, becomes a folder that plays without torch.

The folder has `policy.onnx` and `policy.json`, its manifest (`okey_agents.bots.onnx`). Before it gets its name, the
file in onnxruntime and the module in torch must agree on the observations of whole rounds.
"""

import contextlib
import copy
import io
import json
import logging
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from okey_agents.bots.onnx import OnnxNetwork, load_network
from okey_agents.provenance import provenance
from okey_agents.training.bot_folder import checked_folder
from okey_agents.training.export import export_network, observations_of_rounds, worst_difference
from okey_agents.training.networks import PolicyNetwork
from okey_env.actions import ACTIONS_VERSION, NUM_ACTIONS
from okey_env.bot_lookup import ONNX_FILE, object_named, said
from okey_env.checks import shown
from okey_env.encoders import Encoder, installed_encoder
from okey_env.files import write_whole

Floats = npt.NDArray[np.float32]

_MANIFEST = str(Path(ONNX_FILE).with_suffix(".json"))
TOLERANCE = 1e-3
"""The largest difference of scores, relative to the largest of a position; sums in another order differ less."""


def export_foreign(what: str, folder: Path, encoder: str, weights: Path | None = None, name: str | None = None) -> Path:
    """Export what a text names: `my_net.py:NAME`, `module:NAME`, or a file `*.onnx`.

    Args:
        what: the name of a torch module, of a class or function that makes one without arguments, or of the ONNX file.
        folder: the folder to make; an export that is there is replaced.
        encoder: the name of an installed encoder.
        weights: a file of `torch.save(module.state_dict(), …)` to load into the module.
        name: of the bot; None: the name of the folder.

    Returns:
        The folder.

    Raises:
        ValueError: there is no such network or encoder, it does not fit the encoder, or `folder` holds something else.
        RuntimeError: torch and onnxruntime do not agree.
    """
    if what.endswith(".onnx"):
        if weights is not None:
            raise ValueError(f"weights={str(weights)!r}: an ONNX file has its weights, expected none beside it")
        return export_onnx(Path(what), folder, encoder, name)
    module = object_named(what)
    if not isinstance(module, torch.nn.Module) and callable(module):
        module = module()
    if not isinstance(module, torch.nn.Module):
        raise ValueError(f"{what!r} is {shown(module)}: expected a torch module, or what makes one without arguments")
    if weights is not None:
        try:
            module.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
        except Exception as error:  # torch has many classes for it
            raise ValueError(f"{weights} does not fit {what!r}: {said(error)}") from error
    return export_module(module, folder, encoder, name)


def export_module(module: torch.nn.Module, folder: Path, encoder: str | Encoder, name: str | None = None) -> Path:
    """Export a torch module from observations `(N, E)` to scores `(N, 109)`; of a tuple the first is taken.

    Args:
        module: a copy of it is exported, in the mode `eval`. A network of ours is exported as `export_network` does.
        folder: the folder to make; an export that is there is replaced.
        encoder: an installed encoder, or its name.
        name: of the bot; None: the name of the folder.

    Returns:
        The folder.

    Raises:
        ValueError: the module gives something else, cannot be written as ONNX, or `folder` holds something else.
        RuntimeError: torch and onnxruntime do not agree.
    """
    if isinstance(module, PolicyNetwork):
        return export_network(module, folder, name=name)
    found = _installed(encoder)
    checked_folder(folder, {ONNX_FILE, _MANIFEST})
    scores = _Scores(copy.deepcopy(module)).to("cpu", torch.float32).eval()
    observations, masks = observations_of_rounds(found)
    by_torch = _by_torch(scores, observations)
    with _quiet():
        try:
            program = torch.onnx.export(
                scores,
                (torch.from_numpy(observations[:3]),),
                input_names=["observation"],
                output_names=["scores"],
                dynamic_shapes=({0: torch.export.Dim("N")},),
                dynamo=True,
                external_data=False,
                verbose=False,
            )
        except Exception as error:
            raise ValueError(f"{type(module).__name__} cannot be written as ONNX: {said(error)}") from error
    assert program is not None
    with _unfinished(folder) as place:
        write_whole(place / ONNX_FILE, program.model_proto.SerializeToString())
        worst = worst_difference(OnnxNetwork(place / ONNX_FILE, found.size)(observations), by_torch, masks != 0)
        if not worst <= TOLERANCE:
            raise RuntimeError(f"onnxruntime and torch differ by {worst:.2g} in a score: nothing was exported")
        _finish(place, folder, found, name, {"module": type(module).__name__})
    return folder


def export_onnx(file: Path, folder: Path, encoder: str | Encoder, name: str | None = None) -> Path:
    """Copy an ONNX file with a manifest into a folder, if it plays: from `(N, E)` to scores `(N, 109)`.

    Args:
        file: the ONNX file, with one input and output, or with the names of our exports.
        folder: the folder to make; an export that is there is replaced.
        encoder: an installed encoder, or its name.
        name: of the bot; None: the name of the folder.

    Returns:
        The folder.

    Raises:
        ValueError: the file is missing or no such network, gives a legal action NaN, or `folder` holds something else.
    """
    found = _installed(encoder)
    checked_folder(folder, {ONNX_FILE, _MANIFEST})
    if not file.is_file():
        raise ValueError(f"there is no file {str(file)!r}")
    observations, masks = observations_of_rounds(found)
    scores = OnnxNetwork(file.absolute(), found.size)(observations)
    best = np.where(masks != 0, scores, -np.inf).max(axis=1)
    if not np.isfinite(best).all():
        raise ValueError(f"{file} gives no legal action a finite score in one position of {len(best)}")
    with _unfinished(folder) as place:
        write_whole(place / ONNX_FILE, file.read_bytes())
        _finish(place, folder, found, name, {"file": file.name})
    return folder


class _Scores(torch.nn.Module):
    """The scores of a module, without what else it gives."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """`(N, 109)`."""
        given = self.module(observation)
        scores: torch.Tensor = given[0] if isinstance(given, tuple | list) else given
        return scores


def _by_torch(scores: _Scores, observations: Floats) -> Floats:
    try:
        with torch.no_grad():
            given = scores(torch.from_numpy(observations))
    except Exception as error:
        raise ValueError(f"the module cannot be called with float32 {observations.shape}: {said(error)}") from error
    expected = (len(observations), NUM_ACTIONS)
    if not isinstance(given, torch.Tensor) or tuple(given.shape) != expected:
        what = tuple(given.shape) if isinstance(given, torch.Tensor) else type(given).__name__
        raise ValueError(f"the module gives {what} for observations {observations.shape}: expected scores {expected}")
    found: Floats = given.to(torch.float32).numpy()
    return found


def _installed(encoder: str | Encoder) -> Encoder:
    """The encoder by the name under which the bot will ask for it."""
    name = encoder.name if isinstance(encoder, Encoder) else encoder
    found = installed_encoder(name)
    if isinstance(encoder, Encoder) and found is not encoder:
        raise ValueError(f"encoder={name!r}: another encoder is installed under this name")
    return found


@contextlib.contextmanager
def _unfinished(folder: Path) -> Iterator[Path]:
    """A folder beside the other, which is gone at the end."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.resolve().parent))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _finish(place: Path, folder: Path, encoder: Encoder, name: str | None, origin: Mapping[str, Any]) -> None:
    """Write the manifest, load the bot once, and give the folder its name."""
    manifest = {
        "name": folder.resolve().name if name is None else name,
        "encoder": {"name": encoder.name, "version": encoder.version},
        "actions_version": ACTIONS_VERSION,
        "exported": {**origin, **provenance()},
    }
    write_whole(place / _MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    load_network(place / ONNX_FILE)
    place.chmod(0o755)
    if folder.exists():
        shutil.rmtree(folder)
    place.rename(folder)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence for the exporter of torch, which tells of its own parts; what goes wrong is raised."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
