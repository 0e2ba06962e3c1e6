"""`random`: a legal action, each with the same probability."""

import numpy as np
import numpy.typing as npt

from okey_agents.bots.base import move_seed
from okey_agents.bots.compiled import CompiledBot
from okey_env.actions import NUM_ACTIONS
from okey_env.engine._jit import kernel
from okey_env.engine.observe import observed_mask
from okey_env.engine.random import advance, below


@kernel
def choose(seen: np.record, seed: np.uint64) -> int:
    """The action for an OBSERVATION with the observer to move; -1 if it is not."""
    mask = np.empty(NUM_ACTIONS, np.int8)
    observed_mask(seen, mask)
    skipped = below(advance(move_seed(seen, seed)), int(mask.sum()))
    for action in range(NUM_ACTIONS):
        if mask[action] != 0:
            if skipped == 0:
                return action
            skipped -= 1
    return -1  # no action is legal: it is not the observer's turn


@kernel
def choose_batch(records: npt.NDArray[np.record], seed: np.uint64, actions: npt.NDArray[np.int64]) -> None:
    """The actions for `(N,)` records."""
    for i in range(len(records)):
        actions[i] = choose(records[i], seed)


class RandomBot(CompiledBot):
    """A legal action drawn at random, each with the same probability; the weakest bot; any rules."""

    name = "random"
    choose_batch = staticmethod(choose_batch)
