"""What a bot is (see `okey_env.bots`), and the stream of random numbers that its moves may use."""

import numpy as np

from okey_env.bots import BatchBot, Bot
from okey_env.engine._jit import kernel
from okey_env.engine.random import derive_seed
from okey_env.tiles import WILD

__all__ = ["BatchBot", "Bot", "move_seed"]


@kernel
def move_seed(seen: np.record, seed: np.uint64) -> np.uint64:
    """The state of a random stream for one move: settled by the bot's seed and what the mover sees."""
    word = derive_seed(seed, seen.once)
    word = derive_seed(word, seen.twice)
    place = np.uint64(seen.rack[WILD]) + np.uint64(4) * np.uint64(seen.throws)
    place = place * np.uint64(64) + np.uint64(seen.stock_left)
    place = place * np.uint64(256) + np.uint64(seen.offer)
    place = place * np.uint64(64) + np.uint64(seen.indicator)
    place = place * np.uint64(16) + np.uint64(seen.phase) * np.uint64(4) + np.uint64(seen.seat)
    return derive_seed(word, place)
