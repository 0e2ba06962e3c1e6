"""The rated bots `efficient` and `expert`: every legal action gets a rating, and the highest is played.

`thinking.rating` says how actions are rated, and `thinking.rule_weights` has the weights of each bot. `expert` adds to
`efficient` what measurably helps: how likely useful tiles are to come, the shape of the hand, what the right-hand
neighbour needs, tiles held twice, what a hand at distance 2 is worth after the next useful tile, and a false joker to
finish on where the rules pay for it.
"""

import numpy as np
import numpy.typing as npt

from okey_agents.bots.compiled import CompiledBot
from okey_agents.thinking.position import position_of
from okey_agents.thinking.rating import Ratings, choose_in_position, rate_position
from okey_agents.thinking.rule_weights import EFFICIENT, EXPERT, RuleWeights
from okey_env.engine._jit import kernel


@kernel
def rate_batch(records: npt.NDArray[np.record], weights: RuleWeights, ratings: Ratings) -> None:
    """Fill `(N, 109)` float32 with the rating of each legal action, in score units, and -inf for the others.

    Args:
        records: `(N,)` of OBSERVATION, with the observer to move.
        weights: of the rule.
        ratings: to fill.
    """
    for i in range(len(records)):
        rate_position(position_of(records[i]), weights, ratings[i])


@kernel
def choose_rated(
    records: npt.NDArray[np.record], weights: RuleWeights, seed: np.uint64, actions: npt.NDArray[np.int64]
) -> None:
    """Fill `(N,)` actions with the highest rating for `(N,)` OBSERVATION records; chance decides between equals."""
    for i in range(len(records)):
        actions[i] = choose_in_position(position_of(records[i]), weights, seed)


# Weights passed from Python cost more than a move of `efficient`, so each bot has a kernel in which they are constant.


@kernel
def choose_efficient(records: npt.NDArray[np.record], seed: np.uint64, actions: npt.NDArray[np.int64]) -> None:
    """Fill the `(N,)` actions of `efficient` for `(N,)` OBSERVATION records; the seed settles ties."""
    choose_rated(records, EFFICIENT, seed, actions)


@kernel
def choose_expert(records: npt.NDArray[np.record], seed: np.uint64, actions: npt.NDArray[np.int64]) -> None:
    """Fill the `(N,)` actions of `expert` for `(N,)` OBSERVATION records; the seed settles ties."""
    choose_rated(records, EXPERT, seed, actions)


class EfficientBot(CompiledBot):
    """A rule: the smallest distance, then the most unseen useful tiles; far above `greedy`; any rules."""

    name = "efficient"
    choose_batch = staticmethod(choose_efficient)


class ExpertBot(CompiledBot):
    """A rule: `efficient` with tile odds, hand shape and danger; the strongest rule; any rules."""

    name = "expert"
    choose_batch = staticmethod(choose_expert)
