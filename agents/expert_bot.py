"""`expert`: `efficient` and what measurably adds to it.

Beside what `efficient` thinks of, it weighs how likely useful tiles are to come, the shape of the hand, what the
right-hand neighbour needs, which tiles it holds twice, what a hand at distance 2 is after the next useful tile, and a
false joker to finish on where that is dear. How that is rated is told in `judge`; here are the weights, and the kernels
through which others play it. What was tried beside them is in docs/bots.md.
"""

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel

from .compiled_bot import CompiledBot
from .efficient_bot import WEIGHTS as EFFICIENT
from .judge import Ratings, ThrowWeights, choose_in_position, rate_position
from .position import position_in, position_of

WEIGHTS = EFFICIENT._replace(
    spare_joker=(1.0, 0.75, 0.7, 0.4),
    ahead=(0.0, 2.36, 0.0, 0.0),
    throws=(
        ThrowWeights(coming=0.85, one_away=0.36, two_away=0.0, same_number=0.27, needed=2.2, twin=-0.4),
        ThrowWeights(coming=1.7, one_away=0.86, two_away=0.0, same_number=0.84, needed=3.5, twin=-1.1),
        ThrowWeights(coming=2.2, one_away=1.7, two_away=0.1, same_number=2.0, needed=9.0, twin=-1.7),
        ThrowWeights(coming=3.0, one_away=4.5, two_away=0.7, same_number=2.8, needed=18.0, twin=-2.0),
    ),
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


class ExpertBot(CompiledBot):
    """Efficient, with an eye for the shape of the hand, the right-hand neighbour and dear finishes."""

    name = "expert"
    choose = staticmethod(choose)
    choose_batch = staticmethod(choose_batch)
