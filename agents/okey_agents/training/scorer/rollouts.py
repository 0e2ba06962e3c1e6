"""Whole rounds of self-play for PPO: sampled moves, what the critic thought, and how much better they went.

The kernel does for each round what the textbook does for an episode: the learning seats sample among their
candidates, the critic values the position at each of their decisions, and when the round is over the advantages of each
seat's decisions follow from its values and its points (Schulman and others, 2016). Moves with one candidate are part
of the world.

Letters: `N` decisions, `M` candidates of all of them, `D` inputs of the critic.
"""

import dataclasses

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.position import position_in
from okey_agents.thinking.rating import choose_in_position, rate_position
from okey_agents.thinking.rule_weights import RuleWeights
from okey_agents.thinking.scorer.choose import Policy, choose_scored
from okey_agents.thinking.scorer.features import MAX_CANDIDATES, fill_features, pick_candidates
from okey_agents.thinking.scorer.network import run_scorer
from okey_agents.thinking.value import NUM_VALUE_INPUTS, STOCK_SIZE, analyse_rack, count_stock, fill_analysed, run_value
from okey_agents.training.scorer.decisions import MOST_OF_A_ROUND, Decisions, Notebook
from okey_agents.training.scorer.labels import label_candidates
from okey_agents.training.scorer.rollout import for_rollouts, look_at_rack, zero_sum
from okey_env.actions import NUM_ACTIONS
from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal_round
from okey_env.engine.random import advance, below, derive_seed
from okey_env.engine.state import NOT_ENDED, PHASE_THROW
from okey_env.engine.turn import apply
from okey_env.rules import Rules
from okey_env.tiles import NUM_KINDS, NUM_SEATS

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

_OF = 256
_DECISIONS_A_ROUND = 40
"""More than the learning seats have in a round, on average over a batch."""


@dataclasses.dataclass(frozen=True)
class Rollout:
    """Decisions of the learning seats in a batch of rounds."""

    decisions: Decisions
    """With labels: the points after each candidate where all were tried, NaN elsewhere."""
    chosen: Ints
    """`(N,)` the place of the move among the candidates."""
    scores: Floats
    """`(M,)` that the policy which played gave each candidate."""
    advantages: Floats
    """`(N,)` in points."""
    critic_inputs: Floats
    """`(N, D)`."""
    to_come: Floats
    """`(N, 4)` the points that the rest of the round paid each seat, from the mover on."""

    @classmethod
    def join(cls, parts: "list[Rollout]") -> "Rollout":
        """All decisions of several."""
        arrays = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in dataclasses.fields(cls)
            if field.name != "decisions"
        }
        return cls(Decisions.join([part.decisions for part in parts]), **arrays)


@kernel
def estimate_advantages(
    values: Floats, final: np.float32, gamma: np.float32, gae_lambda: np.float32, advantages: Floats
) -> None:
    """Fill `(n,)` advantages of one seat's decisions in a round (GAE), which pays only at its end.

    Args:
        values: `(n,)` what the critic expected of the whole round at each.
        final: what the round paid.
        gamma: discount from one decision to the next.
        gae_lambda: decay of the estimate.
        advantages: to fill.
    """
    after, sum_of_errors = final, np.float32(0)
    for i in range(len(values) - 1, -1, -1):
        sum_of_errors = gamma * after - values[i] + gamma * gae_lambda * sum_of_errors
        advantages[i] = sum_of_errors
        after = values[i]


@kernel
def sample(scores: Floats, state: np.uint64) -> int:
    """A place drawn from the softmax of some scores."""
    most = scores.max()
    total = np.float32(0)
    for place in range(len(scores)):
        total += np.exp(scores[place] - most)
    left = np.float32(below(state, 1 << 24)) / np.float32(1 << 24) * total
    for place in range(len(scores) - 1):
        left -= np.exp(scores[place] - most)
        if left < np.float32(0):
            return place
    return len(scores) - 1


@kernel
def play_rounds(
    games: npt.NDArray[np.record],
    rule: RuleWeights,
    plays_on: Policy,
    seed: np.uint64,
    num_rounds: int,
    learners: int,
    past_selves: int,
    all_actions: int,
    own_turns: int,
    margin: np.float32,
    gamma: np.float32,
    gae_lambda: np.float32,
    weights: Floats,
    past: Floats,
    critic: Floats,
    value_weights: Floats,
    tables: Floats,
    features: Floats,
    counts: Ints,
    labels: Floats,
    chosen: Ints,
    scores: Floats,
    advantages: Floats,
    critic_inputs: Floats,
    to_come: Floats,
) -> int:
    """Play rounds 0, 1, … of a seed, and file the decisions of the learning seats.

    Args:
        games: `(2,)` with draw queues; played in.
        rule: its weights.
        plays_on: plays all seats where all candidates are tried.
        seed: settles all of it.
        num_rounds: how many rounds.
        learners: of 256 seats, how many learn.
        past_selves: of 256 other seats, how many `past` plays.
        all_actions: of 256 decisions, how many have all candidates tried.
        own_turns: see `label_candidates`.
        margin: within how many rating units of the rule's best a move is a candidate.
        gamma: see `estimate_advantages`, as for the next.
        gae_lambda: see there.
        weights: of the policy.
        past: of an earlier policy.
        critic: weights of the critic, as of `thinking.value`.
        value_weights: of `thinking.value`, for the labels.
        tables: `(N, T)` to fill, like all that follow; see `Rollout`.
        features: `(M, F)`.
        counts: `(N,)`.
        labels: `(M,)`.
        chosen: `(N,)`.
        scores: `(M,)`.
        advantages: `(N,)`.
        critic_inputs: `(N, D)`.
        to_come: `(N, 4)`.

    Returns:
        How many decisions were filed; -1 if there was no room for them.
    """
    game = games[0]
    ratings = np.empty(NUM_ACTIONS, np.float32)
    actions = np.empty(MAX_CANDIDATES, np.int64)
    values = np.empty(NUM_SEATS, np.float32)
    after = np.empty(NUM_KINDS, np.uint64)
    found = np.empty(1, np.uint64)
    stock = np.zeros(STOCK_SIZE, np.uint8)
    distances = np.empty(NUM_SEATS, np.int64)
    useful = np.empty(NUM_SEATS, np.uint64)
    known = np.empty(NUM_SEATS, np.bool_)  # which of them are up to date
    roles = np.empty(NUM_SEATS, np.int64)  # 0 learns, 1 past self, 2 rule
    seats = np.empty(MOST_OF_A_ROUND, np.int64)
    paid = np.empty((MOST_OF_A_ROUND, NUM_SEATS), np.float32)
    expected = np.empty(MOST_OF_A_ROUND, np.float32)
    own_values = np.empty(MOST_OF_A_ROUND, np.float32)
    own_advantages = np.empty(MOST_OF_A_ROUND, np.float32)
    noted, rows = 0, 0
    for number in range(num_rounds):
        if noted + MOST_OF_A_ROUND > len(counts):
            return -1
        deal_round(game, seed, number)
        state = derive_seed(game.seed, np.uint64(1))
        for seat in range(NUM_SEATS):
            state = advance(state)
            roles[seat] = 0 if below(state, _OF) < learners else 2
            state = advance(state)
            if roles[seat] == 2 and below(state, _OF) < past_selves:
                roles[seat] = 1
            known[seat] = False
        first = noted
        while game.ending == NOT_ENDED:
            mover = int(game.turn)
            position = position_in(game)
            if roles[mover] == 2:
                action = choose_in_position(position, rule, seed)
            elif roles[mover] == 1:
                action = choose_scored(position, rule, past, margin, np.float32(0))
            else:
                rate_position(position, rule, ratings)
                count = pick_candidates(ratings, margin, actions)
                action = int(actions[0])
                if count > 1:
                    fill_features(
                        position, ratings, actions, count, after, tables[noted], features[rows : rows + count]
                    )
                    own = scores[rows : rows + count]
                    run_scorer(tables[noted], features[rows : rows + count], count, weights, own)
                    state = advance(state)
                    chosen[noted] = sample(own, state)
                    action = int(actions[chosen[noted]])
                    count_stock(game, stock)
                    for seat in range(NUM_SEATS):
                        if seat == mover and game.phase == PHASE_THROW:
                            distances[seat], useful[seat] = analyse_rack(game, seat, stock, after)
                            known[seat] = False
                        elif not known[seat]:
                            look_at_rack(game, seat, distances, useful, found)
                            known[seat] = True
                    fill_analysed(game, stock, distances, useful, critic_inputs[noted])
                    run_value(critic_inputs[noted], mover, critic, values)
                    for step in range(NUM_SEATS):
                        paid[noted - first, step] = zero_sum(game, (mover + step) % NUM_SEATS)
                    expected[noted - first] = paid[noted - first, 0] + values[mover]
                    seats[noted - first] = mover
                    state = advance(state)
                    if below(state, _OF) < all_actions:
                        label_candidates(
                            games,
                            plays_on,
                            plays_on,
                            actions,
                            count,
                            own_turns,
                            value_weights,
                            state,
                            labels[rows : rows + count],
                        )
                    else:
                        labels[rows : rows + count] = np.float32(np.nan)
                    counts[noted] = count
                    noted += 1
                    rows += count
            apply(game, action)
            if game.turn != mover:
                known[mover] = False  # it has thrown
        for seat in range(NUM_SEATS):
            size = 0
            for i in range(noted - first):
                if seats[i] == seat:
                    own_values[size] = expected[i]
                    size += 1
            estimate_advantages(own_values[:size], zero_sum(game, seat), gamma, gae_lambda, own_advantages)
            size = 0
            for i in range(noted - first):
                if seats[i] == seat:
                    advantages[first + i] = own_advantages[size]
                    size += 1
        for i in range(noted - first):
            for step in range(NUM_SEATS):
                to_come[first + i, step] = zero_sum(game, (seats[i] + step) % NUM_SEATS) - paid[i, step]
    return noted


def play_rollout(
    rules: Rules,
    rule: RuleWeights,
    weights: Floats,
    past: Floats,
    critic: Floats,
    value_weights: Floats,
    seed: int,
    num_rounds: int,
    *,
    learners: float,
    past_selves: float,
    all_actions: float,
    own_turns: int,
    margin: float,
    gamma: float,
    gae_lambda: float,
) -> Rollout:
    """`play_rounds` with arrays of its own."""
    room = num_rounds * _DECISIONS_A_ROUND + MOST_OF_A_ROUND
    while True:
        book = Notebook(rules, room, 2)
        size = len(book.counts)
        chosen = np.empty(size, np.int64)
        scores, advantages = np.empty(len(book.labels), np.float32), np.empty(size, np.float32)
        critic_inputs = np.empty((size, NUM_VALUE_INPUTS), np.float32)
        to_come = np.empty((size, NUM_SEATS), np.float32)
        count = play_rounds(
            book.games,
            rule,
            for_rollouts(Policy(rule)),
            np.uint64(seed),
            num_rounds,
            round(_OF * learners),
            round(_OF * past_selves),
            round(_OF * all_actions),
            own_turns,
            np.float32(margin),
            np.float32(gamma),
            np.float32(gae_lambda),
            weights,
            past,
            critic,
            value_weights,
            book.tables,
            book.features,
            book.counts,
            book.labels,
            chosen,
            scores,
            advantages,
            critic_inputs,
            to_come,
        )
        if count >= 0:
            break
        room *= 2
    decisions = book.decisions(count)
    return Rollout(
        decisions,
        chosen[:count],
        scores[: len(decisions.labels)],
        advantages[:count],
        critic_inputs[:count],
        to_come[:count],
    )
