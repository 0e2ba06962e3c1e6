"""`efficient`: the exact distance first, then the most unseen tiles that shorten it.

How it rates what it may do is told in `judge`; here are its weights, and the kernels through which others play it.
"""

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel

from .compiled_bot import CompiledBot
from .judge import NO_THROW_WEIGHTS, Ratings, Weights, choose_in_position, rate_position
from .position import position_in, position_of

WEIGHTS = Weights(
    step=40.0,
    wait=(4.0, 7.0, 14.0, 30.0),
    wait_useful=(7.0, 11.0, 9.0, 14.0),
    pairs_step=60.0,
    pairs_tile=1.0,
    risk=0.15,
    spare_joker=(0.0, 0.0, 0.0, 0.0),
    ahead=(0.0, 0.0, 0.0, 0.0),
    throws=(NO_THROW_WEIGHTS, NO_THROW_WEIGHTS, NO_THROW_WEIGHTS, NO_THROW_WEIGHTS),
)


@kernel
def rate(seen: np.record, ratings: Ratings) -> None:
    """Fill `(109,)` float32 with the rating of each legal action, in score units, and -inf for the others."""
    rate_position(position_of(seen), WEIGHTS, ratings)


@kernel
def choose(seen: np.record, seed: np.uint64) -> int:
    """The action for an OBSERVATION with the observer to move: that with the best rating."""
    return choose_in_position(position_of(seen), WEIGHTS, seed)


@kernel
def choose_in_game(games: npt.NDArray[np.record], i: int, seed: np.uint64) -> int:
    """The same for the seat to move in game i, without an observation."""
    return choose_in_position(position_in(games[i]), WEIGHTS, seed)


@kernel
def rate_batch(records: npt.NDArray[np.record], ratings: Ratings) -> None:
    """Fill `(N, 109)` ratings for `(N,)` records."""
    for i in range(len(records)):
        rate(records[i], ratings[i])


@kernel
def choose_batch(records: npt.NDArray[np.record], seed: np.uint64, actions: npt.NDArray[np.int64]) -> None:
    """The actions for `(N,)` records."""
    for i in range(len(records)):
        actions[i] = choose(records[i], seed)


class EfficientBot(CompiledBot):
    """The exact distance first, then the most unseen useful tiles; takes a throw only if it beats an unknown draw."""

    name = "efficient"
    choose = staticmethod(choose)
    choose_batch = staticmethod(choose_batch)
