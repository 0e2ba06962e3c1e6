"""The candidate scorer at play: the rule names the candidates, the network chooses among them.

A scorer is a vector of weights, the weights of the rule, and two numbers. A move is a candidate if the rule rates it
within `margin` of its best. The rule's own choice gets `bonus` on top of its score, so the network plays another move
only if it scores it that much higher. A rule alone is a `Policy` with `NO_SCORER`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.position import Position, position_in, position_of
from okey_agents.thinking.rating import choose_in_position, rate_position
from okey_agents.thinking.rule_weights import RuleWeights
from okey_agents.thinking.scorer.context import MAX_CANDIDATES, NUM_CONTEXT
from okey_agents.thinking.scorer.features import NUM_FEATURES, fill_features, pick_candidates
from okey_agents.thinking.scorer.network import run_scorer
from okey_env.actions import NUM_ACTIONS
from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal_round
from okey_env.engine.state import NOT_ENDED
from okey_env.engine.turn import apply
from okey_env.tiles import NUM_KINDS, NUM_SEATS

Floats = npt.NDArray[np.float32]

NO_SCORER: Floats = np.empty(0, np.float32)
"""In place of the weights of a scorer: the rule plays alone."""


class Policy(NamedTuple):
    """A bot as numbers: a rule, alone or with a candidate scorer that chooses among its good moves."""

    rule: RuleWeights
    scorer: Floats = NO_SCORER
    """`(W,)` weights of the network."""
    margin: np.float32 = np.float32(0)
    """A move is a candidate if its rating is at most so much below the rule's best, in score units."""
    bonus: np.float32 = np.float32(0)
    """Points that the rule's own choice gets on top of its score."""


@kernel
def choose_by(position: Position, policy: Policy, seed: np.uint64) -> int:
    """The action of a policy; `seed` settles the ties of a rule."""
    if len(policy.scorer) == 0:
        return choose_in_position(position, policy.rule, seed)
    return choose_scored(position, policy)


@kernel
def score_candidates(position: Position, policy: Policy, actions: npt.NDArray[np.int64], scores: Floats) -> int:
    """Fill the candidates of a decision, and their scores in points.

    Args:
        position: what the mover sees.
        policy: a rule with a scorer.
        actions: `(MAX_CANDIDATES,)` to fill, the best rated first.
        scores: `(MAX_CANDIDATES,)` to fill, with the bonus of the rule's choice in; 0 for an only candidate.

    Returns:
        How many candidates there are.
    """
    ratings = np.empty(NUM_ACTIONS, np.float32)
    rate_position(position, policy.rule, ratings)
    count = pick_candidates(ratings, policy.margin, actions)
    if count == 1:
        scores[0] = 0
        return count
    context = np.empty(NUM_CONTEXT, np.float32)
    features = np.empty((MAX_CANDIDATES, NUM_FEATURES), np.float32)
    after = np.empty(NUM_KINDS, np.uint64)
    fill_features(position, ratings, actions, count, after, context, features)
    run_scorer(context, features, count, policy.scorer, scores)
    scores[0] += policy.bonus
    return count


@kernel
def choose_scored(position: Position, policy: Policy) -> int:
    """The candidate with the highest score of a policy with a scorer, the better rated of equals."""
    actions = np.empty(MAX_CANDIDATES, np.int64)
    scores = np.empty(MAX_CANDIDATES, np.float32)
    count = score_candidates(position, policy, actions, scores)
    return int(actions[best_index(scores, count)])


@kernel
def best_index(scores: Floats, count: int) -> int:
    """The index of the highest of the first scores, the first of equals."""
    best = 0
    for index in range(1, count):
        if scores[index] > scores[best]:
            best = index
    return best


@kernel
def choose_batch(records: npt.NDArray[np.record], policy: Policy, actions: npt.NDArray[np.int64]) -> None:
    """Fill `(N,)` actions of a policy with a scorer for `(N,)` OBSERVATION records; the observer is to move in each."""
    for i in range(len(records)):
        actions[i] = choose_scored(position_of(records[i]), policy)


@kernel
def choose_at(
    games: npt.NDArray[np.record],
    indices: npt.NDArray[np.int64],
    policy: Policy,
    seed: np.uint64,
    actions: npt.NDArray[np.int64],
) -> None:
    """Fill `(M,)` actions of a policy for the seats to move in the games at `(M,)` indices."""
    for i in range(len(indices)):
        actions[i] = choose_by(position_in(games[indices[i]]), policy, seed)


@kernel
def play_duels(
    games: npt.NDArray[np.record],
    challenger: Policy,
    opponent: Policy,
    seed: np.uint64,
    first: int,
    points: npt.NDArray[np.int64],
    wins: npt.NDArray[np.int64],
) -> None:
    """Play deals `first`, `first + 1`, … with the challenger in each seat in turn against three opponents.

    Args:
        games: `(1,)`, a game with its rules and draw queues; played in.
        challenger: plays one seat.
        opponent: plays the others.
        seed: settles deals and ties.
        first: number of the first deal.
        points: `(D, 4)` filled with what the challenger won, less what it lost, by deal and seat.
        wins: `(D, 4)` filled with 1 where it finished.
    """
    game = games[0]
    for i in range(len(points)):
        for seat in range(NUM_SEATS):
            deal_round(game, seed, first + i)
            while game.ending == NOT_ENDED:
                position = position_in(game)
                if game.turn == seat:
                    apply(game, choose_by(position, challenger, seed))
                else:
                    apply(game, choose_by(position, opponent, seed))
            points[i, seat] = int(game.won[seat]) - int(game.lost[seat])
            wins[i, seat] = game.winner == seat
