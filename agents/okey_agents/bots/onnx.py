"""OnnxBot: a policy in an ONNX file, from whatever trainer wrote it.

A manifest lies beside the file. For `policy.onnx` it is `policy.json`, or the `bot.json` of an exported folder:

    {"encoder": {"name": "tiles", "version": 1}, "actions_version": 1, "input": "observation", "output": "scores"}

The network goes from the encoder's array, float32 `(N, size)`, to a score for each action, `(N, 109)`. Illegal actions
are masked here. `input` and `output` may be left out if the network has one of each, or if they have the names in the
files of `okey export`: `observation` and `logits`. An input `action_mask` is given ones. `name` names the bot.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from okey_agents.bots.flat import FlatBot
from okey_env.actions import ACTIONS_VERSION, NUM_ACTIONS
from okey_env.bots import BOT_FILE
from okey_env.encoders import installed_encoder

Floats = npt.NDArray[np.float32]

_MASK = "action_mask"


class OnnxNetwork:
    """A network that onnxruntime runs on one thread.

    Args:
        path: the ONNX file.
        size: the entries of the encoder's array.
        names: the names of input and output; None: the only one.

    Raises:
        ValueError: the file is no network that fits.
        ModuleNotFoundError: onnxruntime is not installed.
    """

    def __init__(self, path: Path, size: int, names: tuple[str | None, str | None] = (None, None)) -> None:
        import onnxruntime

        self._made_of = (path, size, names)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # workers share the cores
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has a class of its own for each reason
            raise ValueError(f"{path.name} is not a network that onnxruntime can run: {error!s:.200}") from None
        inputs = [node.name for node in self._session.get_inputs()]
        self._masked = _MASK in inputs
        self._input = _chosen("input", names[0], [name for name in inputs if name != _MASK], "observation")
        self._output = _chosen("output", names[1], [node.name for node in self._session.get_outputs()], "logits")
        try:
            shape = np.shape(self._run(np.zeros((2, size), np.float32)))
        except Exception as error:
            raise ValueError(f"{path.name} cannot be run on float32 (2, {size}): {error!s:.200}") from None
        if shape != (2, NUM_ACTIONS):
            raise ValueError(f"{path.name} gives {shape} for two observations: expected (2, {NUM_ACTIONS})")

    def __call__(self, inputs: Floats) -> Floats:
        """The scores `(N, 109)` for inputs `(N, size)`."""
        scores = np.ascontiguousarray(self._run(inputs), np.float32)
        if not np.isfinite(scores).all():
            scores = np.nan_to_num(scores, nan=-np.inf, neginf=-np.inf)
        return scores

    def _run(self, inputs: Floats) -> Any:
        given: dict[str, npt.NDArray[Any]] = {self._input: inputs}
        if self._masked:
            given[_MASK] = np.ones((len(inputs), NUM_ACTIONS), np.int8)
        return self._session.run([self._output], given)[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return OnnxNetwork, self._made_of


def load_network(path: Path) -> FlatBot:
    """The bot of an ONNX file with a manifest beside it.

    Raises:
        ValueError: file or manifest are missing, damaged, or made for another encoder or action table.
        ModuleNotFoundError: onnxruntime is not installed.
    """
    path = Path(path).absolute()
    if not path.is_file():
        raise ValueError(f"there is no file {str(path)!r}")
    manifest = _manifest_of(path)
    named = manifest.get("encoder")
    if not isinstance(named, Mapping) or not isinstance(named.get("name"), str):
        raise ValueError('its manifest has no encoder: expected "encoder": {"name": "tiles", "version": 1}')
    encoder = installed_encoder(named["name"], named.get("version"))
    if manifest.get("actions_version", ACTIONS_VERSION) != ACTIONS_VERSION:
        raise ValueError(
            f"it needs version {manifest['actions_version']!r} of the action table, and this okey-env has "
            f"{ACTIONS_VERSION}"
        )
    name = manifest.get("name", path.stem)
    network = OnnxNetwork(path, encoder.size, (manifest.get("input"), manifest.get("output")))
    return FlatBot(str(name), encoder, network, manifest)


def _manifest_of(path: Path) -> dict[str, Any]:
    own, exported = path.with_suffix(".json"), path.with_name(BOT_FILE)
    file = own if own.is_file() else exported
    if not file.is_file():
        raise ValueError(
            f"there is no {own.name} beside {path.name}: expected a file with "
            '{"encoder": {"name": "tiles", "version": 1}}, see docs/write_a_bot.md'
        )
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file.name} is not JSON: {error}") from None
    if not isinstance(manifest, dict):
        raise ValueError(f"{file.name} is not an object: expected one with the key 'encoder'")
    return manifest


def _chosen(what: str, name: object, names: list[str], usual: str) -> str:
    """The input or output of a name; without a name the only one, or the usual one."""
    if name is None and len(names) == 1:
        return names[0]
    chosen = usual if name is None else name
    if chosen not in names:
        raise ValueError(f"its {what} is {chosen!r}: expected one of {', '.join(map(repr, names))}")
    return str(chosen)
