"""The soft clone: a scorer fitted to the rule's ratings, where self-play PPO begins.

Its labels are all ratings of the rule and not only its choice: the target policy is the softmax of `softness` times the
ratings. Two moves that the rule rates equal stay equal.
"""

import dataclasses
from typing import Annotated

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.position import position_in
from okey_agents.thinking.rating import best_of, rate_position
from okey_agents.thinking.scorer.choose import Policy
from okey_agents.thinking.scorer.context import MAX_CANDIDATES
from okey_agents.thinking.scorer.features import fill_features, pick_candidates
from okey_agents.training.schema import Between, Count, Positive, Rate, Section
from okey_agents.training.scorer.decisions import MAX_DECISIONS_OF_ROUND, DecisionBuffer, Decisions, new_buffer
from okey_env.actions import NUM_ACTIONS
from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal_round
from okey_env.engine.state import NOT_ENDED, new_games
from okey_env.engine.turn import apply
from okey_env.rules import Rules
from okey_env.tiles import NUM_KINDS


@dataclasses.dataclass(frozen=True)
class SoftCloneConfig(Section):
    """The soft clone: the scorer learns the rule's ratings; `scorer_ppo` begins there."""

    decisions: Count = 200_000
    """Decisions of the rule to learn from."""
    epochs: Annotated[int, Between(1, 1000)] = 3
    """Passes over the decisions."""
    minibatch: Positive = 1024
    """Decisions in one step of the optimiser."""
    learning_rate: Rate = 2e-3
    """Step size at the beginning; it falls to 0."""
    softness: Annotated[float, Between(0.001, 100.0)] = 0.4
    """The target policy is the softmax of this times the ratings."""


@kernel
def collect_ratings(
    games: npt.NDArray[np.record], policy: Policy, seed: np.uint64, num_decisions: int, buffer: DecisionBuffer
) -> int:
    """Let a rule play rounds 0, 1, … of a seed, and collect its decisions with their ratings.

    Args:
        games: `(1,)`; played in.
        policy: the rule and its margin.
        seed: deals the rounds and settles ties.
        num_decisions: how many; the last round is played to its end.
        buffer: to fill.

    Returns:
        The decisions in the buffer.
    """
    game = games[0]
    ratings = np.empty(NUM_ACTIONS, np.float32)
    actions = np.empty(MAX_CANDIDATES, np.int64)
    after = np.empty(NUM_KINDS, np.uint64)
    count, rows, number = 0, 0, 0
    while count < num_decisions:
        deal_round(game, seed, number)
        number += 1
        while game.ending == NOT_ENDED:
            position = position_in(game)
            rate_position(position, policy.rule, ratings)
            candidates = pick_candidates(ratings, policy.margin, actions)
            if candidates > 1:
                features = buffer.features[rows : rows + candidates]
                fill_features(position, ratings, actions, candidates, after, buffer.contexts[count], features)
                for i in range(candidates):
                    buffer.labels[rows + i] = ratings[actions[i]]
                buffer.counts[count] = candidates
                count += 1
                rows += candidates
            apply(game, best_of(ratings, position, seed))
    return count


def rated_decisions(rules: Rules, policy: Policy, seed: int, num_decisions: int) -> Decisions:
    """Decisions of a rule in self-play, with its ratings as labels.

    Args:
        rules: of the game.
        policy: the rule, and the margin within which moves are candidates.
        seed: deals the rounds and settles ties.
        num_decisions: at least so many; the last round is played to its end.
    """
    buffer = new_buffer(num_decisions)
    games = new_games(rules, 1, draw_queues=True)
    count = collect_ratings(games, policy, np.uint64(seed), num_decisions, buffer)
    assert count <= num_decisions + MAX_DECISIONS_OF_ROUND
    return buffer.decisions(count)
