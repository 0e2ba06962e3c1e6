"""`efficient`: the exact distance first, then the most unseen tiles that shorten it.

How it rates what it may do is told in `judge`; here are its weights, and the kernels through which others play it.
"""

import numpy as np
import numpy.typing as npt

from okey_agents.bots.compiled import CompiledBot
from okey_agents.thinking.position import position_in, position_of
from okey_agents.thinking.rating import Ratings, choose_in_position, rate_position
from okey_agents.thinking.rule_weights import EFFICIENT
from okey_env.engine._jit import kernel


@kernel
def rate(seen: np.record, ratings: Ratings) -> None:
    """Fill `(109,)` float32 with the rating of each legal action, in score units, and -inf for the others."""
    rate_position(position_of(seen), EFFICIENT, ratings)


@kernel
def choose(seen: np.record, seed: np.uint64) -> int:
    """The action for an OBSERVATION with the observer to move: that with the best rating."""
    return choose_in_position(position_of(seen), EFFICIENT, seed)


@kernel
def choose_in_game(games: npt.NDArray[np.record], i: int, seed: np.uint64) -> int:
    """The same for the seat to move in game i, without an observation."""
    return choose_in_position(position_in(games[i]), EFFICIENT, seed)


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
