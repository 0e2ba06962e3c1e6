"""Flat policies as ONNX, with the mask inside the graph.

Each graph takes `observation` `(N, size)` float32 and `action_mask` `(N, 109)` int8, and gives `logits` `(N, 109)`
float32, very low where the mask is 0, and `action` `(N,)` int64, the first of the highest. The same weights give the
same bytes. With `half` the weights of the layers are stored in half precision, in which they have to be exact; the
graph computes in float32.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from okey_agents.bots.kinds_network import MESSAGE, neighbours, places_of
from okey_agents.bots.network import Network
from okey_agents.bots.transformer_network import NUM_TOKENS, TABLE, relations
from okey_agents.training.networks.network import MASKED
from okey_env.actions import NUM_ACTIONS
from okey_env.encoders import Encoder
from okey_env.tiles import NUM_KINDS

Floats = npt.NDArray[np.float32]
Arrays = Mapping[str, Floats]

_OPSET = 17
_IR_VERSION = 9
_TO_THE_END = 2**31 - 1


def relu_model(network: Network, *, half: bool = False) -> bytes:
    """A stack of dense layers as ONNX."""
    graph = _Graph(half)
    value = "observation"
    for number, (weights, bias) in enumerate(network.layers):
        kept = graph.weights(weights, f"weights_{number}", f"half_{number}")
        value = graph.add("Gemm", value, kept, graph.constant(bias, f"bias_{number}"), name=f"sum_{number}")
        if number < len(network.layers) - 1:
            value = graph.add("Relu", value, name=f"hidden_{number}")
    return graph.finish(value, network.sizes[0])


def kinds_model(encoder: Encoder, arrays: Arrays, *, half: bool = False) -> bytes:
    """The network `kinds` as ONNX: the dense form of `training.networks.kinds`.

    Args:
        encoder: makes the observations.
        arrays: weights with the names and shapes of `bots.kinds_network.kinds_shapes`.
        half: see the module.
    """
    graph, at = _Graph(half), places_of(encoder)
    width, pooled_width = arrays["kind.weight"].shape[0], arrays["value.weight"].shape[1]
    planes, facts = graph.planes_and_facts(at.num_planes)
    table = graph.unsqueeze(graph.linear(facts, arrays, "facts"), 1)
    kinds = graph.add("Relu", graph.add("Add", graph.linear(planes, arrays, "kind"), table))
    mean = graph.add("ReduceMean", kinds, axes=[1], keepdims=0)
    pooled = graph.add("Relu", graph.linear(graph.join(mean, facts, axis=1), arrays, "pool"))

    moves = [graph.linear(pooled, arrays, "rest")]
    if at.after_size:
        after = graph.cut("observation", at.after, at.after + 2 * at.after_size, axis=1)
        hidden = graph.add("Relu", graph.linear(graph.join(after, pooled, axis=1), arrays, "source.0"))
        moves.insert(0, graph.linear(hidden, arrays, "source.2"))

    told = graph.cut(kinds, width - MESSAGE, width, axis=2)
    beside = [
        graph.add("MatMul", graph.constant(part, f"beside_{i}"), told) for i, part in enumerate(_neighbourhoods())
    ]
    end = width + 3 * MESSAGE
    hidden = graph.linear(graph.join(kinds, *beside, axis=2), arrays, "second", (0, end))
    shared = graph.unsqueeze(graph.linear(pooled, arrays, "second", (end, end + pooled_width)), 1)
    hidden = graph.add("Relu", graph.add("Add", hidden, shared))
    lays = graph.by_kind(graph.linear(hidden, arrays, "lay"))
    return graph.finish(graph.join(*moves, lays, axis=1), encoder.size)


def transformer_model(encoder: Encoder, arrays: Arrays, heads: int, *, half: bool = False) -> bytes:
    """The network `transformer` as ONNX.

    Args:
        encoder: makes the observations.
        arrays: weights with the names and shapes of `bots.transformer_network.transformer_shapes`.
        heads: of attention.
        half: see the module.
    """
    graph, lie = _Graph(half), relations()
    width = len(arrays["kind.weight"])
    size = width // heads
    planes, facts = graph.planes_and_facts(encoder.num_planes)
    table = graph.unsqueeze(graph.linear(facts, arrays, "facts"), 1)
    tokens = graph.join(graph.linear(planes, arrays, "kind"), table, axis=1)
    scale = graph.constant(np.array(1 / np.sqrt(size), np.float32), "scale")
    number = 0
    while f"blocks.{number}.bias" in arrays:
        block = f"blocks.{number}"
        asked = graph.linear(graph.norm(tokens, arrays, f"{block}.norm"), arrays, f"{block}.ask")
        asked = graph.add("Transpose", graph.reshape(asked, -1, NUM_TOKENS, 3, heads, size), perm=[2, 0, 3, 1, 4])
        query, key, value = (graph.add("Gather", asked, graph.constant(np.array(i), f"part_{i}")) for i in range(3))
        key = graph.add("Transpose", key, perm=[0, 1, 3, 2])
        near = graph.add("Mul", graph.add("MatMul", query, key), scale)
        near = graph.add("Add", near, graph.constant(arrays[f"{block}.bias"][:, lie], f"{block}.relations"))
        heard = graph.add("MatMul", graph.add("Softmax", near, axis=-1), value)
        heard = graph.reshape(graph.add("Transpose", heard, perm=[0, 2, 1, 3]), -1, NUM_TOKENS, width)
        tokens = graph.add("Add", tokens, graph.linear(heard, arrays, f"{block}.answer"))
        wide = graph.linear(graph.norm(tokens, arrays, f"{block}.norm_after"), arrays, f"{block}.wide")
        tokens = graph.add("Add", tokens, graph.linear(graph.add("Relu", wide), arrays, f"{block}.narrow"))
        number += 1
    tokens = graph.norm(tokens, arrays, "norm")
    table = graph.reshape(graph.cut(tokens, TABLE, NUM_TOKENS, axis=1), -1, width)
    lays = graph.by_kind(graph.linear(graph.cut(tokens, 0, TABLE, axis=1), arrays, "lay"))
    return graph.finish(graph.join(graph.linear(table, arrays, "rest"), lays, axis=1), encoder.size)


def _neighbourhoods() -> list[Floats]:
    """Three `(53, 53)` matrices: in a row, 1 for the kinds one step away, two steps away, and of the same number."""
    parts = np.zeros((3, NUM_KINDS, NUM_KINDS), np.float32)
    near = np.zeros(7, np.int64)
    for kind in range(NUM_KINDS):
        for i in range(neighbours(kind, near)):
            parts[min(i // 2, 2), kind, near[i]] = 1
    return list(parts)


class _Graph:
    """A graph in the making: constants and nodes, each named after its place unless it is given a name."""

    def __init__(self, half: bool) -> None:
        self._half = half
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def constant(self, array: npt.NDArray[Any], name: str) -> str:
        """A constant; a name stands for one array."""
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.asarray(array, order="C"), name)
        return name

    def weights(self, array: Floats, name: str, half_name: str) -> str:
        """Weights, in half precision if the graph stores them so."""
        if not self._half:
            return self.constant(array, name)
        return self.add("Cast", self.constant(array.astype(np.float16), half_name), name=name, to=TensorProto.FLOAT)

    def add(self, op: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """A node with one output, whose name is returned."""
        output = name or f"value_{len(self._nodes)}"
        self._nodes.append(helper.make_node(op, list(inputs), [output], **attributes))
        return output

    def linear(self, value: str, arrays: Arrays, name: str, inputs: tuple[int, int | None] = (0, None)) -> str:
        """A layer along the last axis; the bias belongs to the part that ends with the last of the inputs."""
        whole = arrays[f"{name}.weight"]
        start, end = inputs[0], inputs[1] or whole.shape[1]
        part = "" if end - start == whole.shape[1] else f".{start}"
        weights = self.weights(whole[:, start:end].T, f"{name}.weight{part}", f"{name}.half{part}")
        product = self.add("MatMul", value, weights)
        if end < whole.shape[1] or f"{name}.bias" not in arrays:
            return product
        return self.add("Add", product, self.constant(arrays[f"{name}.bias"], f"{name}.bias"))

    def norm(self, value: str, arrays: Arrays, name: str) -> str:
        """A layer norm along the last axis."""
        parts = [self.constant(arrays[f"{name}.{part}"], f"{name}.{part}") for part in ("weight", "bias")]
        return self.add("LayerNormalization", value, *parts, axis=-1, epsilon=1e-5)

    def planes_and_facts(self, num_planes: int) -> tuple[str, str]:
        """The observation cut into `(N, 53, planes)` and `(N, facts)`."""
        end = num_planes * NUM_KINDS
        planes = self.reshape(self.cut("observation", 0, end, axis=1), -1, num_planes, NUM_KINDS)
        return self.add("Transpose", planes, perm=[0, 2, 1]), self.cut("observation", end, _TO_THE_END, axis=1)

    def by_kind(self, lays: str) -> str:
        """Scores `(N, 53, 2)` of throws and finishes in the order of the action table, `(N, 106)`."""
        return self.reshape(self.add("Transpose", lays, perm=[0, 2, 1]), -1, 2 * NUM_KINDS)

    def cut(self, value: str, start: int, end: int, *, axis: int) -> str:
        """The entries from `start` to before `end` along an axis."""
        return self.add("Slice", value, self._whole(start), self._whole(end), self._whole(axis))

    def join(self, *values: str, axis: int) -> str:
        """Values one after the other along an axis."""
        return self.add("Concat", *values, axis=axis)

    def reshape(self, value: str, *shape: int) -> str:
        """The same values in another shape."""
        return self.add("Reshape", value, self._whole(*shape))

    def unsqueeze(self, value: str, axis: int) -> str:
        """The same values with an axis of length 1 more."""
        return self.add("Unsqueeze", value, self._whole(axis))

    def _whole(self, *numbers: int) -> str:
        return self.constant(np.array(numbers, np.int64), "whole_" + "_".join(map(str, numbers)))

    def finish(self, scores: str, size: int) -> bytes:
        """The checked model that masks the scores `(N, 109)` and chooses."""
        masked = self.constant(np.array(MASKED, np.float32), "masked")
        allowed = self.add("Cast", "action_mask", name="allowed", to=TensorProto.BOOL)
        logits = self.add("Where", allowed, scores, masked, name="logits")
        self.add("ArgMax", logits, name="action", axis=1, keepdims=0)
        graph = helper.make_graph(
            self._nodes,
            "okey_env_policy",
            [
                helper.make_tensor_value_info("observation", TensorProto.FLOAT, ["N", size]),
                helper.make_tensor_value_info("action_mask", TensorProto.INT8, ["N", NUM_ACTIONS]),
            ],
            [
                helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", NUM_ACTIONS]),
                helper.make_tensor_value_info("action", TensorProto.INT64, ["N"]),
            ],
            list(self._constants.values()),
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION, producer_name="okey-env"
        )
        onnx.checker.check_model(model, full_check=True)
        serialized: bytes = model.SerializeToString()
        return serialized
