"""Counterfactual labels: every candidate of a decision is tried in the true hidden state.

At a decision of a round each candidate is played in a copy of the game, with the same tiles to come for all. At the
beginning of each of the mover's next turns, a value network that sees all racks values the position. An early value has
less of the luck in between, a late value knows more of what the move leads to; their mean is the label. The difference
between two labels is one sample of the difference between two moves. The true state is a fair draw from all states that
the mover cannot tell apart. So a network that sees only what the mover sees, fitted to many such labels, learns the
mean over these states: what the move is worth given what is known. No belief about hidden tiles is needed.

The rounds are self-play, or one seat against three of another bot; then a label is what the move is worth against it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.position import position_in
from okey_agents.thinking.rating import best_of, rate_position
from okey_agents.thinking.rollout import RolloutSettings, for_rollouts, roll_out
from okey_agents.thinking.scorer.choose import Policy, best_index, choose_by
from okey_agents.thinking.scorer.context import MAX_CANDIDATES
from okey_agents.thinking.scorer.features import fill_features, pick_candidates
from okey_agents.thinking.scorer.network import run_scorer
from okey_agents.thinking.value import value_for
from okey_agents.training.chance import STEPS, happens
from okey_agents.training.scorer.decisions import DecisionBuffer
from okey_env.actions import NUM_ACTIONS
from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal_round
from okey_env.engine.random import derive_seed
from okey_env.engine.state import NOT_ENDED
from okey_env.engine.turn import apply
from okey_env.rules import Rules
from okey_env.tiles import NUM_KINDS, NUM_SEATS

Floats = npt.NDArray[np.float32]


class LabelSettings(NamedTuple):
    """Whose decisions are labelled, and how."""

    policy: Policy
    """Makes the decisions; its `margin` says which moves are candidates, even if it is a rule without a scorer."""
    rollouts: RolloutSettings
    share: float
    """Probability that a decision with several candidates is labelled."""


def label_settings(rules: Rules, policy: Policy, opponent: Policy, own_turns: int, share: float = 1.0) -> LabelSettings:
    """Settings by which policy and opponent play on in the copies, their rules without the look two draws ahead.

    Args:
        rules: of the game.
        policy: makes the decisions.
        opponent: plays for the other seats in the copies.
        own_turns: the position is valued at so many next turns of the mover.
        share: probability that a decision is labelled.
    """
    rollouts = RolloutSettings(for_rollouts(policy), for_rollouts(opponent), own_turns, value_for(rules))
    return LabelSettings(policy, rollouts, share)


@kernel
def label_candidates(
    games: npt.NDArray[np.record],
    actions: npt.NDArray[np.int64],
    settings: RolloutSettings,
    seed: np.uint64,
    labels: Floats,
) -> None:
    """Fill the zero-sum points that the mover may expect after each candidate in game 0.

    Args:
        games: `(2,)`; game 0 is the position and stays as it is, game 1 is played in. With draw queues, so that
            all candidates meet the same tiles.
        actions: `(C,)` candidates.
        settings: how the round is played on and valued.
        seed: settles ties in the rollouts, in the same way for all candidates.
        labels: `(C,)` or longer, to fill.
    """
    mover = int(games[0].turn)
    points = np.empty(settings.own_turns, np.float64)
    for index in range(len(actions)):
        games[1] = games[0]
        apply(games[1], actions[index])
        roll_out(games[1], mover, settings, seed, points)
        total = np.float32(0)
        for turn in range(settings.own_turns):
            total += np.float32(points[turn])
        labels[index] = total / np.float32(settings.own_turns)


@kernel
def collect_decision(
    games: npt.NDArray[np.record],
    settings: LabelSettings,
    seed: np.uint64,
    buffer: DecisionBuffer,
    count: int,
    rows: int,
) -> tuple[int, int]:
    """Choose for the seat to move in game 0, and label its candidates if there are several and chance says so.

    Args:
        games: `(2,)` with draw queues; game 0 is the position and stays as it is, game 1 is played in.
        settings: the policy that chooses, and how its candidates are labelled.
        seed: settles the ties of a rule.
        buffer: is filled with the decision, except for the number of its candidates.
        count: decisions in the buffer.
        rows: candidates in the buffer.

    Returns:
        The action, and how many candidates were labelled; 0 if the decision does not count.
    """
    game, policy = games[0], settings.policy
    ratings = np.empty(NUM_ACTIONS, np.float32)
    actions = np.empty(MAX_CANDIDATES, np.int64)
    scores = np.empty(MAX_CANDIDATES, np.float32)
    after = np.empty(NUM_KINDS, np.uint64)
    position = position_in(game)
    rate_position(position, policy.rule, ratings)
    candidates = pick_candidates(ratings, policy.margin, actions)
    chance = derive_seed(game.seed, np.uint64(game.num_events + 1))
    labelled = candidates > 1 and happens(chance, settings.share, STEPS)
    by_rule = len(policy.scorer) == 0
    context, features = buffer.contexts[count], buffer.features[rows : rows + MAX_CANDIDATES]
    if candidates > 1 and (labelled or not by_rule):
        fill_features(position, ratings, actions, candidates, after, context, features)
    if labelled:
        label_candidates(games, actions[:candidates], settings.rollouts, chance, buffer.labels[rows:])
    action = int(actions[0])
    if by_rule:
        action = best_of(ratings, position, seed)
    elif candidates > 1:
        run_scorer(context, features, candidates, policy.scorer, scores)
        scores[0] += policy.bonus
        action = int(actions[best_index(scores, candidates)])
    return action, candidates if labelled else 0


@kernel
def collect_self_play(
    games: npt.NDArray[np.record],
    settings: LabelSettings,
    opponent: Policy,
    one_seat: bool,
    seed: np.uint64,
    num_decisions: int,
    buffer: DecisionBuffer,
) -> int:
    """Play rounds 0, 1, … of a seed, and label decisions until there are enough.

    Args:
        games: `(2,)` with draw queues; played in.
        settings: the policy whose decisions are labelled, and how.
        opponent: plays the other seats, if there are any.
        one_seat: whether the policy has one seat, another in each round, or all four.
        seed: deals and decides everything.
        num_decisions: how many; the last round is played to its end.
        buffer: to fill.

    Returns:
        The decisions in the buffer.
    """
    game = games[0]
    count, rows, number = 0, 0, 0
    while count < num_decisions:
        deal_round(game, seed, number)
        learner = number % NUM_SEATS
        number += 1
        while game.ending == NOT_ENDED:
            if one_seat and game.turn != learner:
                apply(game, choose_by(position_in(game), opponent, seed))
                continue
            action, candidates = collect_decision(games, settings, seed, buffer, count, rows)
            if candidates:
                buffer.counts[count] = candidates
                count += 1
                rows += candidates
            apply(game, action)
    return count


@kernel
def collect_at(
    games: npt.NDArray[np.record],
    indices: npt.NDArray[np.int64],
    spare: npt.NDArray[np.record],
    settings: LabelSettings,
    seed: np.uint64,
    buffer: DecisionBuffer,
    done: npt.NDArray[np.int64],
    actions: npt.NDArray[np.int64],
) -> None:
    """Choose in the games at `(M,)` indices, and label all decisions until the buffer is full.

    Args:
        games: `(N,)` with draw queues.
        indices: where the seat of the policy is to move.
        spare: `(2,)` to work in.
        settings: the policy that chooses, and how its candidates are labelled.
        seed: settles the ties of a rule.
        buffer: to fill; it is full when `counts` is.
        done: `(2,)` decisions and candidates in the buffer; updated.
        actions: `(M,)` to fill.
    """
    capacity = len(buffer.counts)
    rollouts, share = settings.rollouts, settings.share
    for i in range(len(indices)):
        count, rows = done[0], done[1]
        chance = share if count < capacity else 0.0
        count = min(count, capacity - 1)
        spare[0] = games[indices[i]]
        one = LabelSettings(settings.policy, rollouts, chance)
        actions[i], candidates = collect_decision(spare, one, seed, buffer, count, rows)
        if candidates:
            buffer.counts[count] = candidates
            done[0] += 1
            done[1] += candidates
