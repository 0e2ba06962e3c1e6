"""The network of the candidate scorer, as one vector of weights and a kernel that runs it.

The table's features and a candidate's go through a linear layer each, to 128; their sum, after a ReLU, to 64, ReLU, and
to one score. The part of the table is computed once for all candidates.
"""

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.scorer.features import NUM_FEATURES, NUM_TABLE
from okey_agents.thinking.vectors import count_weights
from okey_env.engine._jit import kernel

Floats = npt.NDArray[np.float32]

WIDE = 128
NARROW = 64
SHAPES: dict[str, tuple[int, ...]] = {
    "table": (NUM_TABLE, WIDE),
    "candidate": (NUM_FEATURES, WIDE),
    "bias_1": (WIDE,),
    "hidden": (WIDE, NARROW),
    "bias_2": (NARROW,),
    "out": (NARROW,),
    "bias_3": (1,),
}
"""The parts of the vector, in order, each with its shape, inputs first."""
NUM_WEIGHTS = count_weights(SHAPES)
_CANDIDATE = NUM_TABLE * WIDE
_BIAS_1 = _CANDIDATE + NUM_FEATURES * WIDE
_HIDDEN = _BIAS_1 + WIDE
_BIAS_2 = _HIDDEN + WIDE * NARROW
_OUT = _BIAS_2 + NARROW
_BIAS_3 = _OUT + NARROW


@kernel
def _add_product(inputs: Floats, weights: Floats, start: int, outputs: Floats) -> None:
    """`outputs += inputs @ W` with `W` at `start`; inputs that are 0 are passed over."""
    width = len(outputs)
    for j in range(len(inputs)):
        value = inputs[j]
        if value != np.float32(0):
            row = weights[start + j * width : start + (j + 1) * width]
            for k in range(width):
                outputs[k] += value * row[k]


@kernel
def run_scorer(table: Floats, features: Floats, count: int, weights: Floats, scores: Floats) -> None:
    """Fill the scores of `count` candidates.

    Args:
        table: `(T,)`.
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
    _add_product(table, weights, 0, shared)
    for place in range(count):
        wide[:] = shared
        _add_product(features[place], weights, _CANDIDATE, wide)
        for k in range(WIDE):
            wide[k] = max(wide[k], np.float32(0))
        for k in range(NARROW):
            narrow[k] = weights[_BIAS_2 + k]
        _add_product(wide, weights, _HIDDEN, narrow)
        score = weights[_BIAS_3]
        for k in range(NARROW):
            score += max(narrow[k], np.float32(0)) * weights[_OUT + k]
        scores[place] = score
