"""The network of the candidate scorer, as one vector of weights and a kernel that runs it.

The context of the decision and the features of a candidate go through a linear layer each, to 128. Their sum goes
through a ReLU and a layer to 64, and through a ReLU and a layer to one score. The part of the context is computed once
for all candidates.
"""

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.scorer.context import NUM_CONTEXT
from okey_agents.thinking.scorer.features import NUM_FEATURES
from okey_agents.thinking.vectors import count_weights, part_starts
from okey_env.engine._jit import kernel

Floats = npt.NDArray[np.float32]

WIDE = 128
NARROW = 64
SHAPES: dict[str, tuple[int, ...]] = {
    "table": (NUM_CONTEXT, WIDE),
    "candidate": (NUM_FEATURES, WIDE),
    "bias_1": (WIDE,),
    "hidden": (WIDE, NARROW),
    "bias_2": (NARROW,),
    "out": (NARROW,),
    "bias_3": (1,),
}
"""The parts of the vector, in order, each with its shape, inputs first; `table` takes the context."""
NUM_WEIGHTS = count_weights(SHAPES)
_PART = part_starts(SHAPES)
_CONTEXT, _CANDIDATE, _BIAS_1 = _PART["table"], _PART["candidate"], _PART["bias_1"]
_HIDDEN, _BIAS_2, _OUT, _BIAS_3 = _PART["hidden"], _PART["bias_2"], _PART["out"], _PART["bias_3"]


@kernel
def _add_product(inputs: Floats, weights: Floats, start: int, outputs: Floats) -> None:
    """`outputs += inputs @ W` with `W` at `start`; an input of 0 costs nothing."""
    width = len(outputs)
    for j in range(len(inputs)):
        value = inputs[j]
        if value != np.float32(0):
            row = weights[start + j * width : start + (j + 1) * width]
            for k in range(width):
                outputs[k] += value * row[k]


@kernel
def run_scorer(context: Floats, features: Floats, count: int, weights: Floats, scores: Floats) -> None:
    """Fill the scores of `count` candidates.

    Args:
        context: `(T,)`.
        features: `(C, F)`.
        count: candidates.
        weights: `(NUM_WEIGHTS,)`.
        scores: `(C,)` to fill.
    """
    shared = np.empty(WIDE, np.float32)
    wide = np.empty(WIDE, np.float32)
    narrow = np.empty(NARROW, np.float32)
    for k in range(WIDE):
        shared[k] = weights[_BIAS_1 + k]
    _add_product(context, weights, _CONTEXT, shared)
    for index in range(count):
        wide[:] = shared
        _add_product(features[index], weights, _CANDIDATE, wide)
        for k in range(WIDE):
            wide[k] = max(wide[k], np.float32(0))
        for k in range(NARROW):
            narrow[k] = weights[_BIAS_2 + k]
        _add_product(wide, weights, _HIDDEN, narrow)
        score = weights[_BIAS_3]
        for k in range(NARROW):
            score += max(narrow[k], np.float32(0)) * weights[_OUT + k]
        scores[index] = score
