"""Self-play for PPO: whole rounds with sampled moves, the critic's values, and the advantages of the moves.

For each round the kernel does what the textbook does for an episode. The learning seats sample among their candidates,
the critic values the position at each of their decisions, and after the round the advantages of each seat's decisions
follow from its values and its points (Schulman and others, 2016). Decisions with one candidate are part of the
environment.

Letters: `N` decisions, `M` candidates of all of them, `D` inputs of the critic.
"""

import dataclasses
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.position import position_in
from okey_agents.thinking.rating import rate_position
from okey_agents.thinking.rollout import RolloutSettings, look_at_rack, zero_sum
from okey_agents.thinking.scorer.choose import Policy, choose_by
from okey_agents.thinking.scorer.context import MAX_CANDIDATES
from okey_agents.thinking.scorer.features import fill_features, pick_candidates
from okey_agents.thinking.scorer.network import run_scorer
from okey_agents.thinking.value import NUM_VALUE_INPUTS, STOCK_SIZE, analyse_rack, count_stock, fill_analysed, run_value
from okey_agents.training.chance import STEPS, happens
from okey_agents.training.scorer.decisions import MAX_DECISIONS_OF_ROUND, DecisionBuffer, Decisions, new_buffer
from okey_agents.training.scorer.labels import label_candidates
from okey_env.actions import NUM_ACTIONS
from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal_round
from okey_env.engine.random import advance, below, derive_seed
from okey_env.engine.state import NOT_ENDED, PHASE_THROW, new_games
from okey_env.engine.turn import apply
from okey_env.rules import Rules
from okey_env.tiles import NUM_KINDS, NUM_SEATS

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

LEARNER, PAST_SELF, OPPONENT = range(3)
"""The roles of a seat."""
_DECISIONS_OF_ROUND = 40
"""More decisions than the learning seats have in a round, on average over a batch."""


class SelfPlaySettings(NamedTuple):
    """Who plays, and what is collected."""

    policy: Policy
    """Learns. It samples its moves, so its bonus does not count."""
    past_self: Policy
    """The policy at an earlier moment."""
    opponent: Policy
    """Plays the seats that are left."""
    critic: Floats
    """`(W,)` of a network with the shape of `thinking.value`."""
    learners: float
    """Probability that a seat learns."""
    past_selves: float
    """Probability that another seat is played by the past self."""
    all_actions: float
    """Probability that all candidates of a decision are tried."""
    rollouts: RolloutSettings
    """How they are tried."""
    gamma: np.float32
    """Discount from one decision of a seat to its next."""
    gae_lambda: np.float32
    """Decay of the advantage estimate."""


@dataclasses.dataclass(frozen=True)
class SelfPlayBatch:
    """Decisions of the learning seats in a batch of rounds."""

    decisions: Decisions
    """The labels are the points after each candidate if all were tried, else NaN."""
    chosen: Ints
    """`(N,)` the index of the move among the candidates."""
    scores: Floats
    """`(M,)` of the policy that played, for each candidate."""
    advantages: Floats
    """`(N,)` in points."""
    critic_inputs: Floats
    """`(N, D)`."""
    to_come: Floats
    """`(N, 4)` the points that the rest of the round paid each seat, from the mover on."""

    @classmethod
    def join(cls, parts: "list[SelfPlayBatch]") -> "SelfPlayBatch":
        """The decisions of several batches, one batch after the other."""
        arrays = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in dataclasses.fields(cls)
            if field.name != "decisions"
        }
        return cls(Decisions.join([part.decisions for part in parts]), **arrays)


class SelfPlayBuffer(NamedTuple):
    """Arrays that a kernel fills; the fields are those of `SelfPlayBatch`."""

    decisions: DecisionBuffer
    chosen: Ints
    scores: Floats
    advantages: Floats
    critic_inputs: Floats
    to_come: Floats

    def batch(self, count: int) -> SelfPlayBatch:
        """The first `count` decisions; the arrays beside the decisions are views."""
        decisions = self.decisions.decisions(count)
        scores = self.scores[: len(decisions.labels)]
        arrays = (self.advantages[:count], self.critic_inputs[:count], self.to_come[:count])
        return SelfPlayBatch(decisions, self.chosen[:count], scores, *arrays)


class RoundLog(NamedTuple):
    """One round: the seats' roles, and by decision of the learners what its advantage needs."""

    roles: Ints
    """`(4,)`."""
    movers: Ints
    """`(K,)` seats."""
    paid: Floats
    """`(K, 4)` zero-sum points of the round so far, from the mover on."""
    expected: Floats
    """`(K,)` points of the whole round that the critic expects for the mover."""


class Racks(NamedTuple):
    """What the critic's inputs need of all racks, and arrays to work in."""

    distances: Ints
    """`(4,)`."""
    useful: npt.NDArray[np.uint64]
    """`(4,)` sets of kinds."""
    up_to_date: npt.NDArray[np.bool_]
    """`(4,)` whether a seat's rack is as it was when it was analysed."""
    stock: npt.NDArray[np.uint8]
    """Counts of the kinds in the stock."""
    after: npt.NDArray[np.uint64]
    found: npt.NDArray[np.uint64]


@kernel
def estimate_advantages(
    values: Floats, final: np.float32, gamma: np.float32, gae_lambda: np.float32, advantages: Floats
) -> None:
    """Fill `(n,)` advantages of one seat's decisions in a round (GAE), which pays only at its end.

    Args:
        values: `(n,)` the points of the whole round that the critic expected at each decision.
        final: the points that the round paid.
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
    """An index drawn from the softmax of some scores."""
    most = scores.max()
    total = np.float32(0)
    for index in range(len(scores)):
        total += np.exp(scores[index] - most)
    left = np.float32(below(state, 1 << 24)) / np.float32(1 << 24) * total
    for index in range(len(scores) - 1):
        left -= np.exp(scores[index] - most)
        if left < np.float32(0):
            return index
    return len(scores) - 1


@kernel
def deal_with_roles(
    game: np.record, settings: SelfPlaySettings, seed: np.uint64, number: int, roles: Ints
) -> np.uint64:
    """Deal round `number` of a seed and draw the role of each seat; returns the state of the round's random stream."""
    deal_round(game, seed, number)
    state = derive_seed(game.seed, np.uint64(1))
    for seat in range(NUM_SEATS):
        state = advance(state)
        roles[seat] = LEARNER if happens(state, settings.learners, STEPS) else OPPONENT
        state = advance(state)
        if roles[seat] == OPPONENT and happens(state, settings.past_selves, STEPS):
            roles[seat] = PAST_SELF
    return state


@kernel
def fill_critic_inputs(game: np.record, racks: Racks, inputs: Floats) -> None:
    """Fill `(D,)` inputs of the critic; only the racks that have changed are analysed anew."""
    count_stock(game, racks.stock)
    for seat in range(NUM_SEATS):
        if seat == game.turn and game.phase == PHASE_THROW:
            racks.distances[seat], racks.useful[seat] = analyse_rack(game, seat, racks.stock, racks.after)
            racks.up_to_date[seat] = False
        elif not racks.up_to_date[seat]:
            look_at_rack(game, seat, racks.distances, racks.useful, racks.found)
            racks.up_to_date[seat] = True
    fill_analysed(game, racks.stock, racks.distances, racks.useful, inputs)


@kernel
def collect_round(
    games: npt.NDArray[np.record],
    settings: SelfPlaySettings,
    seed: np.uint64,
    state: np.uint64,
    log: RoundLog,
    buffer: SelfPlayBuffer,
    first: int,
    rows: int,
) -> tuple[int, int]:
    """Play the round in game 0 to its end, and collect the decisions of the learners without their advantages.

    Args:
        games: `(2,)`; game 0 has been dealt, game 1 is for trying candidates.
        settings: who plays.
        seed: settles the ties of a rule.
        state: of the round's random stream.
        log: has the roles; to fill.
        buffer: to fill.
        first: decisions in the buffer.
        rows: candidates in the buffer.

    Returns:
        Decisions and candidates in the buffer.
    """
    game, decisions = games[0], buffer.decisions
    ratings = np.empty(NUM_ACTIONS, np.float32)
    actions = np.empty(MAX_CANDIDATES, np.int64)
    values = np.empty(NUM_SEATS, np.float32)
    after = np.empty(NUM_KINDS, np.uint64)
    racks = Racks(
        np.empty(NUM_SEATS, np.int64),
        np.empty(NUM_SEATS, np.uint64),
        np.zeros(NUM_SEATS, np.bool_),
        np.zeros(STOCK_SIZE, np.uint8),
        after,
        np.empty(1, np.uint64),
    )
    count = first
    while game.ending == NOT_ENDED:
        mover = int(game.turn)
        position = position_in(game)
        if log.roles[mover] == OPPONENT:
            action = choose_by(position, settings.opponent, seed)
        elif log.roles[mover] == PAST_SELF:
            action = choose_by(position, settings.past_self, seed)
        else:
            rate_position(position, settings.policy.rule, ratings)
            candidates = pick_candidates(ratings, settings.policy.margin, actions)
            action = int(actions[0])
            if candidates > 1:
                context, features = decisions.contexts[count], decisions.features[rows : rows + candidates]
                fill_features(position, ratings, actions, candidates, after, context, features)
                scores = buffer.scores[rows : rows + candidates]
                run_scorer(context, features, candidates, settings.policy.scorer, scores)
                state = advance(state)
                buffer.chosen[count] = sample(scores, state)
                action = int(actions[buffer.chosen[count]])
                fill_critic_inputs(game, racks, buffer.critic_inputs[count])
                run_value(buffer.critic_inputs[count], mover, settings.critic, values)
                for step in range(NUM_SEATS):
                    log.paid[count - first, step] = zero_sum(game, (mover + step) % NUM_SEATS)
                log.expected[count - first] = log.paid[count - first, 0] + values[mover]
                log.movers[count - first] = mover
                state = advance(state)
                labels = decisions.labels[rows : rows + candidates]
                if happens(state, settings.all_actions, STEPS):
                    label_candidates(games, actions[:candidates], settings.rollouts, state, labels)
                else:
                    labels[:] = np.float32(np.nan)
                decisions.counts[count] = candidates
                count += 1
                rows += candidates
        apply(game, action)
        if game.turn != mover:
            racks.up_to_date[mover] = False  # it has thrown a tile
    return count, rows


@kernel
def fill_returns(
    game: np.record, settings: SelfPlaySettings, log: RoundLog, buffer: SelfPlayBuffer, first: int, end: int
) -> None:
    """Fill the advantages of a round's decisions `first` … `end - 1`, and the points that were still to come."""
    size = end - first
    values = np.empty(size, np.float32)
    advantages = np.empty(size, np.float32)
    for seat in range(NUM_SEATS):
        own = 0
        for i in range(size):
            if log.movers[i] == seat:
                values[own] = log.expected[i]
                own += 1
        estimate_advantages(values[:own], zero_sum(game, seat), settings.gamma, settings.gae_lambda, advantages)
        own = 0
        for i in range(size):
            if log.movers[i] == seat:
                buffer.advantages[first + i] = advantages[own]
                own += 1
    for i in range(size):
        for step in range(NUM_SEATS):
            final = zero_sum(game, (log.movers[i] + step) % NUM_SEATS)
            buffer.to_come[first + i, step] = final - log.paid[i, step]


@kernel
def play_rounds(
    games: npt.NDArray[np.record],
    settings: SelfPlaySettings,
    seed: np.uint64,
    num_rounds: int,
    buffer: SelfPlayBuffer,
) -> int:
    """Play rounds 0, 1, … of a seed, and collect the decisions of the learning seats.

    Args:
        games: `(2,)` with draw queues; played in.
        settings: who plays, and what is collected.
        seed: deals and decides everything.
        num_rounds: how many rounds.
        buffer: to fill.

    Returns:
        The decisions in the buffer; -1 if it is too small.
    """
    log = RoundLog(
        np.empty(NUM_SEATS, np.int64),
        np.empty(MAX_DECISIONS_OF_ROUND, np.int64),
        np.empty((MAX_DECISIONS_OF_ROUND, NUM_SEATS), np.float32),
        np.empty(MAX_DECISIONS_OF_ROUND, np.float32),
    )
    count, rows = 0, 0
    for number in range(num_rounds):
        if count + MAX_DECISIONS_OF_ROUND > len(buffer.chosen):
            return -1
        first = count
        state = deal_with_roles(games[0], settings, seed, number, log.roles)
        count, rows = collect_round(games, settings, seed, state, log, buffer, first, rows)
        fill_returns(games[0], settings, log, buffer, first, count)
    return count


def play_batch(rules: Rules, settings: SelfPlaySettings, seed: int, num_rounds: int) -> SelfPlayBatch:
    """The decisions of the learning seats in rounds 0, 1, … of a seed."""
    num_decisions = num_rounds * _DECISIONS_OF_ROUND + MAX_DECISIONS_OF_ROUND
    while True:
        decisions = new_buffer(num_decisions)
        size = len(decisions.counts)
        buffer = SelfPlayBuffer(
            decisions,
            np.empty(size, np.int64),
            np.empty(len(decisions.labels), np.float32),
            np.empty(size, np.float32),
            np.empty((size, NUM_VALUE_INPUTS), np.float32),
            np.empty((size, NUM_SEATS), np.float32),
        )
        games = new_games(rules, 2, draw_queues=True)
        count = play_rounds(games, settings, np.uint64(seed), num_rounds, buffer)
        if count >= 0:
            return buffer.batch(count)
        num_decisions *= 2
