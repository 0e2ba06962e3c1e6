"""Bot folders: what they hold, how they are checked, and the bots that they make.

A bot folder holds `bot.json`, which says what the bot is; `weights.npz`, its network as plain arrays; and
`policy.onnx`, the same network for other languages, which is not read here. There are two sorts of network. A flat
policy goes from an encoder's array to a score for each of the 109 actions: `relu` is a stack of dense layers, `kinds`
and `transformer` are the networks of these names. `scorer` is the candidate scorer (`thinking.scorer`), which comes
with the weights of the rule that it was trained with.

A folder may come from anywhere. So it holds only data: nothing in it is unpickled or run, and a folder that does not
fit is refused before a game begins.
"""

import hashlib
import io
import itertools
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from okey_agents.bots.flat import ActionScores, FlatBot
from okey_agents.bots.kinds_network import MESSAGE, KindsNetwork, kinds_shapes
from okey_agents.bots.network import Network
from okey_agents.bots.scorer import ScorerBot
from okey_agents.bots.transformer_network import TransformerNetwork, transformer_shapes
from okey_agents.thinking.rule_weights import RuleWeights, rule_of
from okey_agents.thinking.scorer.features import FEATURES_VERSION
from okey_agents.thinking.scorer.network import SHAPES
from okey_env.actions import ACTIONS_VERSION, NUM_ACTIONS
from okey_env.bots import BOT_FILE
from okey_env.encoders import Encoder, installed_encoder

FORMAT = "okey-env bot"
FORMAT_VERSION = 1
"""This number changes whenever a folder written before would be read wrongly."""
WEIGHTS_FILE = "weights.npz"

SCORER_ENCODER = "candidates"
"""The name of the features of `thinking.scorer`, in place of the name of an encoder."""

_MAX_WIDTH = 16_384
_MAX_LAYERS = 32


def load_bot(folder: Path) -> FlatBot | ScorerBot:
    """The bot of an exported folder.

    Raises:
        ValueError: the folder holds no bot, is damaged, or was made for another version; the message says which.
    """
    folder = Path(folder)
    if not (folder / BOT_FILE).is_file():
        raise ValueError(f"the folder {str(folder)!r} holds no bot: there is no {BOT_FILE} in it")
    try:
        manifest = _read_manifest(folder)
        if _entry(manifest, "network", dict).get("kind") == "scorer":
            return _load_scorer(folder, manifest)
        encoder = _known_encoder(manifest)
        _check_actions(manifest)
        network = _read_network(folder, manifest, encoder)
    except ValueError as error:
        raise ValueError(f"the bot in {str(folder)!r} cannot be loaded: {error}") from None
    return FlatBot(manifest["name"], encoder, network, manifest)


def _load_scorer(folder: Path, manifest: Mapping[str, Any]) -> ScorerBot:
    encoder = _entry(manifest, "encoder", dict)
    if encoder.get("name") != SCORER_ENCODER or encoder.get("version") != FEATURES_VERSION:
        raise ValueError(
            f"it needs version {encoder.get('version')!r} of the features {encoder.get('name')!r}, "
            f"and this okey-env has version {FEATURES_VERSION} of {SCORER_ENCODER!r}"
        )
    _check_actions(manifest)
    rule: RuleWeights = rule_of(_entry(manifest, "rule", dict))
    choice = _entry(manifest, "choice", dict)
    margin, bonus = _choice_number(choice, "margin"), _choice_number(choice, "bonus")
    arrays = _read_arrays(folder, manifest, SHAPES)
    weights = np.concatenate([arrays[name].reshape(-1) for name in SHAPES])
    return ScorerBot(manifest["name"], rule, weights, margin, bonus, manifest)


def _choice_number(choice: Mapping[str, Any], name: str) -> float:
    value = choice.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1000:
        raise ValueError(f"its {name} is {value!r}: expected a number from 0 to 1000")
    return float(value)


def _read_manifest(folder: Path) -> dict[str, Any]:
    """The content of `bot.json`, with a format that this version reads and a name."""
    try:
        manifest = json.loads((folder / BOT_FILE).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{BOT_FILE} is not JSON: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError(f"{BOT_FILE} does not say format {FORMAT!r}")
    if manifest.get("format_version") != FORMAT_VERSION:
        raise ValueError(
            f"its format version is {manifest.get('format_version')!r}, and this okey-env reads {FORMAT_VERSION}"
        )
    if not isinstance(manifest.get("name"), str) or not manifest["name"]:
        raise ValueError(f"{BOT_FILE} gives it no name")
    return manifest


def _entry(data: Mapping[str, Any], key: str, kind: type) -> Any:
    """The value of a key of `bot.json`, which has to be of a type."""
    if not isinstance(data.get(key), kind):
        has = f"{key!r} = {data[key]!r:.100}" if key in data else f"no {key!r}"
        expected = {dict: "an object", list: "a list", str: "a string", int: "a whole number"}[kind]
        raise ValueError(f"{BOT_FILE} has {has}: expected {expected}")
    return data[key]


def _known_encoder(manifest: Mapping[str, Any]) -> Encoder:
    named = _entry(manifest, "encoder", dict)
    name, version = _entry(named, "name", str), _entry(named, "version", int)
    return installed_encoder(name, version)


def _check_actions(manifest: Mapping[str, Any]) -> None:
    version = _entry(manifest, "actions_version", int)
    if version != ACTIONS_VERSION:
        raise ValueError(f"it needs version {version} of the action table, and this okey-env has {ACTIONS_VERSION}")


def _read_network(folder: Path, manifest: Mapping[str, Any], encoder: Encoder) -> ActionScores:
    """The network of a flat policy."""
    told = _entry(manifest, "network", dict)
    match told.get("kind"):
        case "relu":
            return Network(_read_layers(folder, manifest, _relu_sizes(told, encoder)))
        case "kinds":
            width, pooled = _size(told, "width", _MAX_WIDTH, least=MESSAGE), _size(told, "pooled", _MAX_WIDTH)
            return KindsNetwork(encoder, _read_arrays(folder, manifest, kinds_shapes(encoder, width, pooled)))
        case "transformer":
            width, heads = _size(told, "width", _MAX_WIDTH), _size(told, "heads", _MAX_WIDTH)
            shapes = transformer_shapes(encoder, width, heads, _size(told, "layers", _MAX_LAYERS))
            return TransformerNetwork(_read_arrays(folder, manifest, shapes))
        case kind:
            raise ValueError(f"its network is of the unknown kind {kind!r:.100}")


def _size(told: Mapping[str, Any], name: str, most: int, *, least: int = 1) -> int:
    """A size of a network."""
    size = _entry(told, name, int)
    if isinstance(size, bool) or not least <= size <= most:
        raise ValueError(f"its network has the impossible {name} {size!r:.100}: expected {least} to {most}")
    return int(size)


def _relu_sizes(told: Mapping[str, Any], encoder: Encoder) -> list[int]:
    sizes = _entry(told, "sizes", list)
    if not all(type(size) is int and 1 <= size <= _MAX_WIDTH for size in sizes) or len(sizes) - 1 > _MAX_LAYERS:
        raise ValueError(f"its network has impossible sizes {sizes!r:.100}")
    if len(sizes) < 2 or sizes[0] != encoder.size or sizes[-1] != NUM_ACTIONS:
        raise ValueError(
            f"its network goes from {sizes[:1]} to {sizes[-1:]}: "
            f"expected {encoder.size} inputs and {NUM_ACTIONS} outputs"
        )
    return list(sizes)


def _read_layers(
    folder: Path, manifest: Mapping[str, Any], sizes: list[int]
) -> list[tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]]:
    """The weights and the bias of each layer of a flat policy."""
    shapes: dict[str, tuple[int, ...]] = {}
    for number, (inputs, outputs) in enumerate(itertools.pairwise(sizes)):
        shapes[f"weights_{number}"], shapes[f"bias_{number}"] = (inputs, outputs), (outputs,)
    arrays = _read_arrays(folder, manifest, shapes)
    return [(arrays[f"weights_{number}"], arrays[f"bias_{number}"]) for number in range(len(sizes) - 1)]


def _read_arrays(
    folder: Path, manifest: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, npt.NDArray[np.float32]]:
    """The arrays of the weights file, each with exactly the shape that `shapes` gives it."""
    weights = _entry(manifest, "weights", dict)
    path = folder / WEIGHTS_FILE
    if not path.is_file():
        raise ValueError(f"there is no {WEIGHTS_FILE}")
    expected = sum(4 * int(np.prod(shape)) + 1024 for shape in shapes.values())
    if path.stat().st_size > expected + 65_536:
        raise ValueError(f"{WEIGHTS_FILE} is larger than a network of its sizes")
    data = path.read_bytes()
    if checksum(data) != weights.get("blake2b"):
        raise ValueError(f"{WEIGHTS_FILE} is damaged: its checksum is not the one in {BOT_FILE}")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > expected:
                raise ValueError("it unpacks to more than a network of its sizes")
        with np.load(io.BytesIO(data), allow_pickle=False) as loaded:
            if set(loaded.files) != set(shapes):
                raise ValueError(f"it holds the arrays {sorted(loaded.files)}, expected {sorted(shapes)}")
            arrays = {name: np.asarray(loaded[name]) for name in shapes}
    # zipfile raises NotImplementedError for a way of packing that it does not know.
    except (OSError, RuntimeError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
        raise ValueError(f"{WEIGHTS_FILE} cannot be read: {error}") from None
    for name, array in arrays.items():
        if array.shape != shapes[name] or array.dtype != np.float32:
            raise ValueError(f"{name} is {array.dtype} {array.shape}: expected float32 {shapes[name]}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds values that are not finite")
    return arrays


def checksum(data: bytes) -> str:
    """The checksum of a file, as `bot.json` holds it."""
    return hashlib.blake2b(data, digest_size=32).hexdigest()
