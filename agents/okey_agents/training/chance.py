"""Events of a given probability in kernels, such as whether a decision is labelled."""

from typing import Any

import numpy as np

from okey_env.engine._jit import kernel
from okey_env.engine.random import below

STEPS: Any = np.int64(256)
"""How finely probabilities are told apart where a caller has no reason for another number."""


@kernel
def happens(state: np.uint64, probability: float, steps: int) -> bool:
    """Whether an event happens, decided by one number read from a random state.

    Args:
        state: of a stream, as in `okey_env.engine.random`.
        probability: from 0 to 1; it is rounded to whole steps.
        steps: how many steps there are from 0 to 1.
    """
    return below(state, steps) < int(np.rint(steps * probability))
