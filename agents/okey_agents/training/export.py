"""Export: a run becomes a bot folder that plays without torch, in Python or another language.

| file | |
|---|---|
| `bot.json` | the bot's network, encoder, origin and scores, and checksums of the other two files |
| `weights.npz` | the network as plain float32 arrays, `weights_0`, `bias_0`, …, read by `okey_agents.bots.flat` |
| `policy.onnx` | the network as ONNX, with the mask inside the graph |

With `network.half` the weights are rounded to half precision first. ONNX then holds half precision, and `weights.npz`
is compressed, which pays because each float32 then ends with zeros.

The ONNX graph takes `observation` `(N, size)` float32 and `action_mask` `(N, 109)` int8, and gives `logits` `(N, 109)`
float32, very low where the mask is 0, and `action` `(N,)` int64, the first of the highest.

Before the folder gets its name, the trained policy in torch, the ONNX file in onnxruntime and the arrays in `Network`
must agree on the observations of whole rounds.
"""

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper

from okey_agents.bots.network import Network
from okey_agents.training.bot_folder import checked_folder, packed, write_bot
from okey_agents.training.checkpoint import Checkpoint, newest_good
from okey_agents.training.flat.batches import collect
from okey_agents.training.flat.policy import MASKED, Arrays, acting_layers, make_policy, set_policy_arrays
from okey_agents.training.runs import CHECKPOINTS, read_config
from okey_agents.training.schema import Config
from okey_agents.training.scorer.export import export_scorer
from okey_agents.training.sections import ChoiceConfig, EnvConfig, GameConfig, NetworkConfig
from okey_env.actions import NUM_ACTIONS
from okey_env.bots import choose_for, make_bot
from okey_env.encoders import Encoder, as_encoder
from okey_env.vector import SelfPlay

_OPSET = 17
_IR_VERSION = 9
_TOLERANCE = 1e-4  # on logits; float32 sums in another order differ by some 1e-6


def export(run: Path, folder: Path) -> Path:
    """Make a bot folder of the newest whole checkpoint of a run.

    Args:
        run: the folder of the run.
        folder: the bot folder to make; a bot that is there is replaced.

    Returns:
        The bot folder.

    Raises:
        ValueError: there is no run or no whole checkpoint, or `folder` holds something else.
        RuntimeError: torch, ONNX and the plain arrays do not agree.
    """
    config = read_config(run)
    checked_folder(folder)
    if ChoiceConfig in config:  # only the candidate scorer has it
        return export_scorer(run, config, folder)
    half = config[NetworkConfig].half
    checkpoint = _newest(run)
    policy = checkpoint.named("policy.")
    if half:
        policy = {name: array.astype(np.float16).astype(np.float32) for name, array in policy.items()}
    encoder = as_encoder(config[EnvConfig].encoder)
    network = Network(acting_layers(policy))
    layers = {
        f"{part}_{number}": array
        for number, layer in enumerate(network.layers)
        for part, array in zip(("weights", "bias"), layer, strict=True)
    }
    weights = _compressed(layers) if half else packed(layers)
    model = onnx_model(network, half=half)
    check_agreement(config, policy, encoder, network, model)
    parts = {
        "encoder": {"name": encoder.name, "version": encoder.version},
        "network": {"kind": "relu", "sizes": network.sizes},
    }
    return write_bot(run, config, checkpoint, folder, weights, model, parts)


def _compressed(arrays: Mapping[str, npt.NDArray[np.float32]]) -> bytes:
    """Arrays as the bytes of a compressed weights file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def onnx_model(network: Network, *, half: bool = False) -> bytes:
    """The network as ONNX, with the mask inside the graph.

    Args:
        network: its weights.
        half: store the weights of the layers in half precision, in which they are exact; the graph computes in float32.
    """
    nodes, initializers = [], []
    value = "observation"
    for number, (weights, bias) in enumerate(network.layers):
        kept = f"half_{number}" if half else f"weights_{number}"
        initializers += [
            numpy_helper.from_array(weights.astype(np.float16) if half else weights, kept),
            numpy_helper.from_array(bias, f"bias_{number}"),
        ]
        if half:
            nodes.append(helper.make_node("Cast", [kept], [f"weights_{number}"], to=TensorProto.FLOAT))
        nodes.append(helper.make_node("Gemm", [value, f"weights_{number}", f"bias_{number}"], [f"sum_{number}"]))
        value = f"sum_{number}"
        if number < len(network.layers) - 1:
            nodes.append(helper.make_node("Relu", [value], [f"hidden_{number}"]))
            value = f"hidden_{number}"
    initializers.append(numpy_helper.from_array(np.array(MASKED, np.float32), "masked"))
    nodes += [
        helper.make_node("Cast", ["action_mask"], ["allowed"], to=TensorProto.BOOL),
        helper.make_node("Where", ["allowed", value, "masked"], ["logits"]),
        helper.make_node("ArgMax", ["logits"], ["action"], axis=1, keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "okey_env_policy",
        [
            helper.make_tensor_value_info("observation", TensorProto.FLOAT, ["N", network.sizes[0]]),
            helper.make_tensor_value_info("action_mask", TensorProto.INT8, ["N", network.sizes[-1]]),
        ],
        [
            helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", network.sizes[-1]]),
            helper.make_tensor_value_info("action", TensorProto.INT64, ["N"]),
        ],
        initializers,
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION, producer_name="okey-env"
    )
    onnx.checker.check_model(model, full_check=True)
    serialized: bytes = model.SerializeToString()
    return serialized


def check_agreement(config: Config, arrays: Arrays, encoder: Encoder, network: Network, model: bytes) -> None:
    """Compare the trained policy, its ONNX file and its plain arrays on the observations of whole rounds.

    Raises:
        RuntimeError: they do not agree.
    """
    games = SelfPlay(16, config[GameConfig].rules, encoder, seed=0)
    games.reset()
    bot, every = make_bot("random", 0), np.arange(games.num_games)
    batch = collect(lambda games: choose_for(bot, games.games, every, games.records), games, 64)
    observations, masks = batch.observations, batch.masks
    policy = make_policy(encoder.size, NUM_ACTIONS, config[NetworkConfig])
    set_policy_arrays(policy, arrays)
    with torch.no_grad():
        distribution = policy.get_distribution(torch.from_numpy(observations), masks).distribution
        by_torch = distribution.logits.numpy()  # type: ignore[union-attr]  # SB3 declares it optional; it is set by now
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    by_onnx, _ = session.run(None, {"observation": observations, "action_mask": masks})
    by_arrays = network(observations).copy()
    allowed = masks != 0
    for name, logits in (("torch", by_torch), ("onnxruntime", by_onnx)):
        worst = _worst_difference(by_arrays, logits, allowed)
        if not worst <= _TOLERANCE:
            raise RuntimeError(f"the exported arrays and {name} differ by {worst:.2g} in a logit: nothing was exported")


def _worst_difference(
    one: npt.NDArray[np.float32], other: npt.NDArray[np.float32], allowed: npt.NDArray[np.bool_]
) -> float:
    """The largest difference between two arrays of logits, up to a constant in each row, relative to the logits."""
    difference = np.where(allowed, one - other, np.nan)
    spread = np.nanmax(difference, axis=1) - np.nanmin(difference, axis=1)
    scale = np.maximum(np.abs(np.where(allowed, one, 0)).max(axis=1), 1)
    return float(np.max(spread / scale))


def _newest(run: Path) -> Checkpoint:
    """The newest whole checkpoint of a run."""
    checkpoint, damages = newest_good(run / CHECKPOINTS)
    if checkpoint is None:
        raise ValueError(
            f"{run} has no whole checkpoint to export" + "".join(f"; {damage}" for damage in damages.values())
        )
    return checkpoint
