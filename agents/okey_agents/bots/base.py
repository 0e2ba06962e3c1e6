"""The stream of random numbers that the moves of a bot may use; `okey_env.bots` says what a bot is."""

import numpy as np

from okey_agents.thinking.position import mix_seed
from okey_env.engine._jit import kernel
from okey_env.engine.hand.bits import as_int
from okey_env.tiles import WILD


@kernel
def move_seed(seen: np.record, seed: np.uint64) -> np.uint64:
    """The state of a random stream for one move, settled by the bot's seed and what the mover sees.

    Args:
        seen: the OBSERVATION of the seat to move.
        seed: of the bot.
    """
    return mix_seed(seen, as_int(seen.rack[WILD]), seed)
