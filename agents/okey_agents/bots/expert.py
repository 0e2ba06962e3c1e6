"""`expert`: `efficient` and what measurably adds to it.

Beside what `efficient` thinks of, it weighs how likely useful tiles are to come, the shape of the hand, what the
right-hand neighbour needs, which tiles it holds twice, what a hand at distance 2 is after the next useful tile, and a
false joker to finish on where that is dear. How that is rated is told in `judge`; here are the weights, and the kernels
through which others play it. What was tried beside them is in docs/bots.md.
"""

import numpy as np
import numpy.typing as npt

from okey_agents.bots.compiled import CompiledBot
from okey_agents.thinking.position import position_in, position_of
from okey_agents.thinking.rating import Ratings, choose_in_position, rate_position
from okey_agents.thinking.rule_weights import EXPERT
from okey_env.engine._jit import kernel


@kernel
def rate(seen: np.record, ratings: Ratings) -> None:
    """Fill `(109,)` float32 with the rating of each legal action, in score units, and -inf for the others."""
    rate_position(position_of(seen), EXPERT, ratings)


@kernel
def choose(seen: np.record, seed: np.uint64) -> int:
    """The action for an OBSERVATION with the observer to move: that with the best rating."""
    return choose_in_position(position_of(seen), EXPERT, seed)


@kernel
def choose_in_game(games: npt.NDArray[np.record], i: int, seed: np.uint64) -> int:
    """The same for the seat to move in game i, without an observation."""
    return choose_in_position(position_in(games[i]), EXPERT, seed)


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


class ExpertBot(CompiledBot):
    """Efficient, with an eye for the shape of the hand, the right-hand neighbour and dear finishes."""

    name = "expert"
    choose = staticmethod(choose)
    choose_batch = staticmethod(choose_batch)
