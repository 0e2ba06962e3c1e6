"""Counterfactual labels: every candidate of a decision tried in the true hidden state.

At a decision of a round each candidate is played in a copy of the game, with the same tiles to come for all. As
each of the mover's next turns begins, a network that sees all racks says what the position is worth. An early look has
less of the luck in between, a late one knows more of what the move leads to; their mean is the label. The difference
to the other candidates is one sample of what the move is worth. The true state is a fair draw from all that the mover
cannot tell apart, so a network that sees only what the mover sees, fitted to many such labels, learns the mean over
them: the worth of the move given what is known. No belief about hidden tiles is needed.

The rounds are self-play, or one seat against three of another bot: then a label is what the move is worth against it.
"""

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.position import position_in
from okey_agents.thinking.rating import best_of, rate_position
from okey_agents.thinking.scorer.choose import Policy, best_place, choose_by
from okey_agents.thinking.scorer.features import MAX_CANDIDATES, fill_features, pick_candidates
from okey_agents.thinking.scorer.network import run_scorer
from okey_agents.thinking.value import NUM_VALUE_INPUTS
from okey_agents.training.scorer.rollout import look_at_rack, play_on, worth_of_position
from okey_env.actions import NUM_ACTIONS
from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal_round
from okey_env.engine.random import below, derive_seed
from okey_env.engine.state import NOT_ENDED
from okey_env.engine.turn import apply
from okey_env.tiles import NUM_KINDS, NUM_SEATS

Floats = npt.NDArray[np.float32]

_OF = 256


@kernel
def label_candidates(
    games: npt.NDArray[np.record],
    own: Policy,
    others: Policy,
    actions: npt.NDArray[np.int64],
    count: int,
    own_turns: int,
    value_weights: Floats,
    seed: np.uint64,
    labels: Floats,
) -> None:
    """Fill the zero-sum points that the mover may expect after each candidate in game 0.

    Args:
        games: `(2,)`; game 0 is the position and stays as it is, game 1 is played in. With draw queues, so that
            all candidates meet the same tiles.
        own: plays on for the mover.
        others: plays on for the others.
        actions: `(C,)` candidates.
        count: how many.
        own_turns: the position is valued at so many next turns of the mover; the mean counts.
        value_weights: of `thinking.value`.
        seed: settles ties in the rollouts, in the same way for all candidates.
        labels: `(C,)` to fill.
    """
    mover = int(games[0].turn)
    distances = np.empty(NUM_SEATS, np.int64)
    useful = np.empty(NUM_SEATS, np.uint64)
    found = np.empty(1, np.uint64)
    inputs = np.empty(NUM_VALUE_INPUTS, np.float32)
    values = np.empty(NUM_SEATS, np.float32)
    for place in range(count):
        games[1] = games[0]
        game = games[1]
        apply(game, actions[place])
        total = np.float32(0)
        for _ in range(own_turns):
            play_on(game, mover, own, others, seed)
            if game.ending == NOT_ENDED:
                for seat in range(NUM_SEATS):
                    look_at_rack(game, seat, distances, useful, found)
            total += worth_of_position(game, mover, distances, useful, value_weights, inputs, values)
        labels[place] = total / np.float32(own_turns)


@kernel
def note_decision(
    games: npt.NDArray[np.record],
    plays: Policy,
    plays_on: Policy,
    others_on: Policy,
    seed: np.uint64,
    share: int,
    own_turns: int,
    value_weights: Floats,
    table: Floats,
    features: Floats,
    labels: Floats,
) -> tuple[int, int]:
    """Choose for the seat to move in game 0, and label its candidates, if there are several, all or some of the time.

    Args:
        games: `(2,)` with draw queues; game 0 is the position and stays as it is, game 1 is played in.
        plays: the policy; its `margin` says among which moves, also if it is a rule.
        plays_on: for that seat in the copies.
        others_on: for the other seats in the copies.
        seed: settles the ties of a rule.
        share: of 256 decisions with several candidates, how many are labelled.
        own_turns: see `label_candidates`, as for the next.
        value_weights: of `thinking.value`.
        table: `(T,)` to fill.
        features: `(C, F)` to fill.
        labels: `(C,)` to fill.

    Returns:
        The action, and how many candidates were labelled.
    """
    game = games[0]
    ratings = np.empty(NUM_ACTIONS, np.float32)
    actions = np.empty(MAX_CANDIDATES, np.int64)
    scores = np.empty(MAX_CANDIDATES, np.float32)
    after = np.empty(NUM_KINDS, np.uint64)
    position = position_in(game)
    rate_position(position, plays.rule, ratings)
    count = pick_candidates(ratings, plays.margin, actions)
    chance = derive_seed(game.seed, np.uint64(game.num_events + 1))
    labelled = count > 1 and below(chance, _OF) < share
    by_rule = len(plays.weights) == 0
    if count > 1 and (labelled or not by_rule):
        fill_features(position, ratings, actions, count, after, table, features)
    if labelled:
        label_candidates(games, plays_on, others_on, actions, count, own_turns, value_weights, chance, labels)
    action = int(actions[0])
    if by_rule:
        action = best_of(ratings, position, seed)
    elif count > 1:
        run_scorer(table, features, count, plays.weights, scores)
        scores[0] += plays.bonus
        action = int(actions[best_place(scores, count)])
    return action, count if labelled else 0


@kernel
def note_branches(
    games: npt.NDArray[np.record],
    plays: Policy,
    others: Policy,
    one_seat: bool,
    plays_on: Policy,
    others_on: Policy,
    seed: np.uint64,
    room: int,
    share: int,
    own_turns: int,
    value_weights: Floats,
    tables: Floats,
    features: Floats,
    counts: npt.NDArray[np.int64],
    labels: Floats,
) -> int:
    """Play rounds 0, 1, … of a seed, and label decisions until `room` are noted.

    Args:
        games: `(2,)` with draw queues; played in.
        plays: the policy whose decisions are labelled; its `margin` says among which moves, also if it is a rule.
        others: plays the other seats, if there are any.
        one_seat: whether `plays` has one seat, another in each round, or all four.
        plays_on: for `plays` in the copies.
        others_on: for the other seats in the copies.
        seed: settles all of it.
        room: how many decisions; the last round is played to its end.
        share: of 256 decisions with several candidates, how many are labelled.
        own_turns: see `label_candidates`, as for the next.
        value_weights: of `thinking.value`.
        tables: `(N, T)` to fill.
        features: `(M, F)` to fill.
        counts: `(N,)` to fill.
        labels: `(M,)` to fill.

    Returns:
        How many decisions were noted.
    """
    game = games[0]
    noted, rows, number = 0, 0, 0
    while noted < room:
        deal_round(game, seed, number)
        learner = number % NUM_SEATS
        number += 1
        while game.ending == NOT_ENDED:
            if one_seat and game.turn != learner:
                apply(game, choose_by(position_in(game), others, seed))
                continue
            into = slice(rows, rows + MAX_CANDIDATES)
            action, count = note_decision(
                games,
                plays,
                plays_on,
                others_on,
                seed,
                share,
                own_turns,
                value_weights,
                tables[noted],
                features[into],
                labels[into],
            )
            if count:
                counts[noted] = count
                noted += 1
                rows += count
            apply(game, action)
    return noted


@kernel
def note_at(
    games: npt.NDArray[np.record],
    indices: npt.NDArray[np.int64],
    spare: npt.NDArray[np.record],
    plays: Policy,
    plays_on: Policy,
    others_on: Policy,
    seed: np.uint64,
    own_turns: int,
    value_weights: Floats,
    tables: Floats,
    features: Floats,
    counts: npt.NDArray[np.int64],
    labels: Floats,
    done: npt.NDArray[np.int64],
    actions: npt.NDArray[np.int64],
) -> None:
    """Choose in the games at `(M,)` indices, and label all decisions while there is room for them.

    Args:
        games: `(N,)` with draw queues.
        indices: where the seat of `plays` is to move.
        spare: `(2,)` to work in.
        plays: see `note_decision`, as for those that follow.
        plays_on: see there.
        others_on: see there.
        seed: see there.
        own_turns: see there.
        value_weights: see there.
        tables: `(N, T)` to fill.
        features: `(M, F)` to fill.
        counts: `(N,)` to fill.
        labels: `(M,)` to fill.
        done: `(2,)` decisions and candidates noted so far; taken on.
        actions: `(M,)` to fill.
    """
    for place in range(len(indices)):
        noted, rows = done[0], done[1]
        share = _OF if noted < len(counts) else 0
        noted = min(noted, len(counts) - 1)
        spare[0] = games[indices[place]]
        into = slice(rows, rows + MAX_CANDIDATES)
        actions[place], count = note_decision(
            spare,
            plays,
            plays_on,
            others_on,
            seed,
            share,
            own_turns,
            value_weights,
            tables[noted],
            features[into],
            labels[into],
        )
        if count:
            counts[noted] = count
            done[0] += 1
            done[1] += count
