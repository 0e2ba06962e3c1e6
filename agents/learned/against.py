"""One seat against three of a frozen bot: every good move of that seat tried in the true hidden state.

This is `branch` with two sides. The seat that learns plays the rule, the three others the frozen bot, in the rounds
and in the copies in which a candidate is tried, so a label is what the move is worth against that bot.
"""

import numpy as np
import numpy.typing as npt

from okey_env.actions import NUM_ACTIONS
from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal
from okey_env.engine.random import derive_seed
from okey_env.engine.state import NO_SEAT, NOT_ENDED, PHASE_DRAW
from okey_env.engine.turn import apply
from okey_env.tiles import NUM_KINDS, NUM_SEATS

from ..judge import Weights, best_of, choose_in_position, rate_position
from ..position import position_in
from ..scorer.choose import Policy, choose_by
from ..scorer.features import MAX_CANDIDATES, fill_features, pick_candidates
from ..value import NUM_VALUE_INPUTS
from .rollout import look_at_rack, worth_of_position

Floats = npt.NDArray[np.float32]


@kernel
def label_against(
    games: npt.NDArray[np.record],
    rule: Weights,
    frozen: Policy,
    actions: npt.NDArray[np.int64],
    count: int,
    own_turns: int,
    value_weights: Floats,
    seed: np.uint64,
    labels: Floats,
) -> None:
    """Fill the zero-sum points that the mover may expect after each candidate in game 0.

    Args:
        games: `(2,)` with draw queues; game 0 is the position and stays as it is, game 1 is played in.
        rule: plays on for the mover.
        frozen: plays on for the others.
        actions: `(C,)` candidates.
        count: how many.
        own_turns: the position is valued at so many next turns of the mover; the mean counts.
        value_weights: of `agents.value`.
        seed: settles ties, in the same way for all candidates.
        labels: `(C,)` to fill.
    """
    mover = int(games[0].turn)
    distances = np.empty(NUM_SEATS, np.int64)
    useful = np.empty(NUM_SEATS, np.uint64)
    after = np.empty(NUM_KINDS, np.uint64)
    inputs = np.empty(NUM_VALUE_INPUTS, np.float32)
    values = np.empty(NUM_SEATS, np.float32)
    for place in range(count):
        games[1] = games[0]
        game = games[1]
        apply(game, actions[place])
        total = np.float32(0)
        for _ in range(own_turns):
            while game.ending == NOT_ENDED:
                position = position_in(game)
                if game.turn == mover:
                    apply(game, choose_in_position(position, rule, seed))
                else:
                    apply(game, choose_by(position, frozen, seed))
                if game.phase == PHASE_DRAW and game.turn == mover:
                    break
            if game.ending == NOT_ENDED:
                for seat in range(NUM_SEATS):
                    look_at_rack(game, seat, distances, useful, after)
            total += worth_of_position(game, mover, distances, useful, value_weights, inputs, values)
        labels[place] = total / np.float32(own_turns)


@kernel
def note_against(
    games: npt.NDArray[np.record],
    rule: Weights,
    rollout_rule: Weights,
    frozen: Policy,
    seed: np.uint64,
    room: int,
    margin: np.float32,
    own_turns: int,
    value_weights: Floats,
    tables: Floats,
    features: Floats,
    counts: npt.NDArray[np.int64],
    labels: Floats,
) -> int:
    """Play rounds 0, 1, … of a seed, the rule in one seat, and label its decisions until `room` are noted.

    Args:
        games: `(2,)` with draw queues; played in.
        rule: plays one seat, another in each round.
        rollout_rule: plays it in the copies.
        frozen: plays the others.
        seed: settles all of it.
        room: how many decisions; the last round is played to its end.
        margin: within how many rating units of the rule's best a move is a candidate.
        own_turns: see `label_against`.
        value_weights: of `agents.value`.
        tables: `(N, T)` to fill.
        features: `(M, F)` to fill.
        counts: `(N,)` to fill.
        labels: `(M,)` to fill.

    Returns:
        How many decisions were noted.
    """
    game = games[0]
    ratings = np.empty(NUM_ACTIONS, np.float32)
    actions = np.empty(MAX_CANDIDATES, np.int64)
    after = np.empty(NUM_KINDS, np.uint64)
    noted, rows, number = 0, 0, 0
    while noted < room:
        game.seed = derive_seed(seed, np.uint64(number))
        game.round_number = 0
        learner = number % NUM_SEATS
        number += 1
        deal(game, NO_SEAT)
        while game.ending == NOT_ENDED:
            position = position_in(game)
            if game.turn != learner:
                apply(game, choose_by(position, frozen, seed))
                continue
            rate_position(position, rule, ratings)
            count = pick_candidates(ratings, margin, actions)
            if count > 1:
                end = rows + count
                fill_features(position, ratings, actions, count, after, tables[noted], features[rows:end])
                label_against(
                    games,
                    rollout_rule,
                    frozen,
                    actions,
                    count,
                    own_turns,
                    value_weights,
                    derive_seed(seed, np.uint64(noted)),
                    labels[rows:end],
                )
                counts[noted] = count
                noted += 1
                rows = end
            apply(game, best_of(ratings, position, seed))
    return noted
