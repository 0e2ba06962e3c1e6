"""Export of a candidate scorer: a bot folder like that of a flat policy, with the rule's weights in its manifest.

The ONNX graph takes `table` `(N, T)`, the features of the context, and `features` `(N, C, F)`, those of the candidates,
both float32, and gives `scores` `(N, C)`. `thinking.scorer.features` defines the features and their numbers `T` and
`F`. Torch, onnxruntime and the compiled network must agree before anything is written.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper

from okey_agents.bots.folder import SCORER_ENCODER
from okey_agents.thinking.rule_weights import RULE_NAME
from okey_agents.thinking.scorer.context import MAX_CANDIDATES, NUM_CONTEXT
from okey_agents.thinking.scorer.features import FEATURES_VERSION, NUM_FEATURES
from okey_agents.thinking.scorer.network import NARROW, SHAPES, WIDE, run_scorer
from okey_agents.thinking.vectors import count_weights, split_parts
from okey_agents.training.bot_folder import origin_in_run, packed, write_bot
from okey_agents.training.checkpoint import load_checkpoint
from okey_agents.training.schema import Config
from okey_agents.training.scorer.net import ScorerNet
from okey_agents.training.scorer.run import BEST_FILE
from okey_agents.training.sections import ChoiceConfig

Floats = npt.NDArray[np.float32]

_OPSET = 17
_IR_VERSION = 9
_TOLERANCE = 1e-4


def export_scorer(run: Path, config: Config, folder: Path) -> Path:
    """Make a bot folder of the best scorer of a run.

    Args:
        run: the folder of the run.
        config: the configuration of the run.
        folder: the bot folder to make; a bot that is there is replaced.

    Returns:
        The bot folder.

    Raises:
        ValueError: the run has no scorer yet, or its best checkpoint is damaged.
        RuntimeError: torch, ONNX and the compiled network do not agree.
    """
    path = run / BEST_FILE
    if not path.is_file():
        raise ValueError(f"{run} has no scorer to export yet: there is no {BEST_FILE} in it")
    checkpoint = load_checkpoint(path)
    weights = checkpoint.arrays["scorer"].astype(np.float32)
    model = scorer_onnx(weights)
    check_scorers(weights, model)
    choice = config[ChoiceConfig]
    parts = {
        "encoder": {"name": SCORER_ENCODER, "version": FEATURES_VERSION},
        "network": {"kind": "scorer", "sizes": [NUM_CONTEXT + NUM_FEATURES, WIDE, NARROW, 1]},
        "choice": {"rule": RULE_NAME, "margin": choice.margin, "bonus": choice.bonus},
        "rule": checkpoint.meta["rule"],
    }
    origin = origin_in_run(run, config, checkpoint)
    return write_bot(folder, packed(split_parts(weights, SHAPES)), model, parts, origin)


def scorer_onnx(weights: Floats) -> bytes:
    """The scorer with weights `(W,)` as a serialised ONNX model."""
    initializers = [
        numpy_helper.from_array(np.array(part), name) for name, part in split_parts(weights, SHAPES).items()
    ]
    initializers.append(numpy_helper.from_array(np.array([1], np.int64), "one"))
    initializers.append(numpy_helper.from_array(np.array([-1], np.int64), "last"))
    nodes = [
        helper.make_node("MatMul", ["table", "table_weights"], ["of_table"]),
        helper.make_node("Add", ["of_table", "bias_1"], ["shared"]),
        helper.make_node("Unsqueeze", ["shared", "one"], ["for_all"]),
        helper.make_node("MatMul", ["features", "candidate"], ["of_candidate"]),
        helper.make_node("Add", ["of_candidate", "for_all"], ["sum_1"]),
        helper.make_node("Relu", ["sum_1"], ["wide"]),
        helper.make_node("MatMul", ["wide", "hidden"], ["product_2"]),
        helper.make_node("Add", ["product_2", "bias_2"], ["sum_2"]),
        helper.make_node("Relu", ["sum_2"], ["narrow"]),
        helper.make_node("Unsqueeze", ["out", "last"], ["column"]),
        helper.make_node("MatMul", ["narrow", "column"], ["product_3"]),
        helper.make_node("Squeeze", ["product_3", "last"], ["flat"]),
        helper.make_node("Add", ["flat", "bias_3"], ["scores"]),
    ]
    for initializer in initializers:
        if initializer.name == "table":  # a graph cannot have an input and a constant of one name
            initializer.name = "table_weights"
    graph = helper.make_graph(
        nodes,
        "okey_env_scorer",
        [
            helper.make_tensor_value_info("table", TensorProto.FLOAT, ["N", NUM_CONTEXT]),
            helper.make_tensor_value_info("features", TensorProto.FLOAT, ["N", "C", NUM_FEATURES]),
        ],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", "C"])],
        initializers,
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION, producer_name="okey-env"
    )
    onnx.checker.check_model(model, full_check=True)
    serialized: bytes = model.SerializeToString()
    return serialized


def check_scorers(weights: Floats, model: bytes) -> None:
    """Compare the scorer in torch, in onnxruntime and compiled, on random features.

    Raises:
        RuntimeError: they do not agree.
    """
    assert weights.size == count_weights(SHAPES)
    generator = np.random.default_rng(0)
    contexts = generator.random((64, NUM_CONTEXT), np.float32)
    features = generator.random((64, MAX_CANDIDATES, NUM_FEATURES), np.float32)
    compiled = np.zeros((64, MAX_CANDIDATES), np.float32)
    for i in range(64):
        run_scorer(contexts[i], features[i], MAX_CANDIDATES, weights, compiled[i])
    net = ScorerNet()
    net.set_weights(weights)
    owners = torch.arange(64).repeat_interleave(MAX_CANDIDATES)
    with torch.no_grad():
        by_torch = net(torch.from_numpy(contexts), torch.from_numpy(features.reshape(-1, NUM_FEATURES)), owners)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    by_onnx = session.run(None, {"table": contexts, "features": features})[0]
    scale = max(1.0, float(np.abs(compiled).max()))
    for name, scores in (("torch", by_torch.numpy().reshape(compiled.shape)), ("onnxruntime", by_onnx)):
        worst = float(np.abs(scores - compiled).max()) / scale
        if not worst <= _TOLERANCE:
            raise RuntimeError(f"the compiled scorer and {name} differ by {worst:.2g}: nothing was exported")
