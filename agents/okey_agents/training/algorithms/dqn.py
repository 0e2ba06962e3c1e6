"""DQN: learns what the rest of a round pays after each action, from its own earlier games (Mnih and others, 2015).

Double DQN (van Hasselt and others, 2016) with masks: the best legal action by the network is valued by the target
network. An action's value is its score plus the value of the position. Instead of one step, the target is a
lambda-return. The replay memory keeps whole rollouts, so that returns are computed with the present networks each time
a rollout is learned from (Daley and Amato, 2019). With `cut` 0 the returns follow the actions as they were played
(Peng's Q(lambda)); with `cut` 1 they stop at actions that are not the best (Watkins).
"""

import copy
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from okey_agents.training.algorithms import seats as common
from okey_agents.training.algorithms.memory import SparseRows
from okey_agents.training.algorithms.seats import Bools, Budget, Rollout, Seats, Task
from okey_agents.training.games import Floats, Ints
from okey_agents.training.networks import bot_of, make_network

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""From what the network expects of the actions, `(N, …)`, and what they brought, in the same shape, to one number."""


def train(
    task: Task,
    budget: Budget,
    seed: int,
    *,
    network: str = "kinds",
    encoder: str | None = None,
    reward: str | None = None,
    games: int = 128,
    steps: int = 64,
    epsilon: float = 0.1,
    epsilon_end: float = 0.01,
    **learning: Any,
) -> Any:
    """Learn a task; the package describes the options that all have.

    Args:
        epsilon: probability of a random action at the beginning.
        epsilon_end: the same at the end.
        learning: options of `QLearner`.

    Returns:
        The bot that plays the best action.
    """
    table = Seats(task, games, seed, encoder, reward)
    learner = QLearner(table, network, seed, torch.nn.functional.smooth_l1_loss, **learning)
    decisions = 0
    while budget.goes_on(decisions, lambda: bot_of(learner.network, "dqn")):
        chance = common.falling(epsilon, epsilon_end, budget.share)
        rollout = common.play(table, steps, functools.partial(learner.explore, epsilon=chance))
        learner.learn(rollout, budget.share)
        decisions += rollout.over.size
    return bot_of(learner.network, "dqn")


class QLearner:
    """A network of action values, its target network and its replay memory.

    Args:
        table: the games, which say the encoder.
        network: a name of `NETWORKS`.
        seed: determines weights and draws.
        loss: compares what is expected with what came.
        atoms: numbers for each action; above 1: a distribution, whose mean is the action's value.
        learning_rate: at the beginning; it falls to 0.
        trace: lambda of the returns.
        gamma: discount from one decision of a seat to its next.
        cut: 1: returns stop at actions that are not the best.
        memory: rollouts that are kept.
        replays: earlier rollouts that are learned from beside each new one.
        minibatch: decisions in one step of the optimiser.
        target_every: iterations after which the target network becomes the network.
    """

    def __init__(
        self,
        table: Seats,
        network: str,
        seed: int,
        loss: Loss,
        *,
        atoms: int = 1,
        learning_rate: float = 5e-3,
        trace: float = 0.95,
        gamma: float = 1.0,
        cut: int = 0,
        memory: int = 32,
        replays: int = 1,
        minibatch: int = 512,
        target_every: int = 2,
    ) -> None:
        torch.manual_seed(seed)
        self.rng = np.random.default_rng(seed)
        self.network = make_network(network, table.encoder, atoms=atoms)
        self.target = copy.deepcopy(self.network)
        self._optimizer = common.make_optimizer(self.network, learning_rate)
        self._loss, self._rate, self._minibatch = loss, learning_rate, minibatch
        self._trace, self._gamma, self._cut = trace, gamma, cut
        self._replays, self._target_every, self._iterations = replays, target_every, 0
        self._memory, self._kept = memory, list[Rollout]()
        self._rows: SparseRows | None = None

    def explore(self, observations: Floats, masks: Bools, epsilon: float) -> Ints:
        """The best legal actions `(N,)`, and with probability `epsilon` any."""
        return common.explore(_means(common.scores_of(self.network, observations)), masks, epsilon, self.rng)

    def learn(self, rollout: Rollout, share: float) -> None:
        """Keep a rollout, and learn from it and from some that were kept."""
        common.set_rate(self._optimizer, common.falling(self._rate, 0, share))
        earlier = self.rng.choice(len(self._kept), min(self._replays, len(self._kept)), replace=False)
        for chosen in [rollout, *(self._again(int(i)) for i in earlier)]:
            self._improve(chosen)
        self._keep(rollout)
        self._iterations += 1
        if self._iterations % self._target_every == 0:
            self.target.load_state_dict(self.network.state_dict())

    def returns(self, rollout: Rollout) -> Floats:
        """What each decision brought, `(T * G,)` or `(T * G, atoms)`; NaN where it is not known."""
        observations, masks = common.flat(rollout, rollout.observations), common.flat(rollout, rollout.masks)
        best = common.best_of(_means(common.scores_of(self.network, observations)), masks)
        values = common.scores_of(lambda seen: (common.action_values(self.target, seen),), observations)
        values = values[np.arange(len(best)), best]
        values = values.reshape(*rollout.over.shape, *values.shape[1:])
        follows = (best == common.flat(rollout, rollout.actions)).reshape(rollout.over.shape)
        trace = np.where(follows, self._trace, 0) if self._cut else self._trace
        mixes_whole = self.rng if values.ndim == 3 else None
        return common.flat(rollout, common.lambda_returns(rollout, values, trace, self._gamma, mixes_whole))

    def _improve(self, rollout: Rollout) -> None:
        """One pass over a rollout."""
        returns = self.returns(rollout)
        known = np.flatnonzero(~np.isnan(returns.reshape(len(returns), -1)[:, 0]))
        observations = torch.from_numpy(common.flat(rollout, rollout.observations))
        actions, targets = torch.from_numpy(common.flat(rollout, rollout.actions)), torch.from_numpy(returns)
        for part in common.minibatches(len(known), self._minibatch, self.rng):
            rows = torch.from_numpy(known[part])
            expected = common.action_values(self.network, observations[rows])
            expected = expected[torch.arange(len(rows)), actions[rows]]
            common.improve(self.network, self._optimizer, self._loss(expected, targets[rows]), longest=10.0)

    def _keep(self, rollout: Rollout) -> None:
        """Put a rollout into the memory, in the place of the oldest if it is full; observations become sparse."""
        size, observations = rollout.over.size, common.flat(rollout, rollout.observations)
        if self._rows is None:
            self._rows = SparseRows(self._memory * size, observations.shape[1])
        place = self._iterations % self._memory
        self._rows.put(place * size + np.arange(size), observations)
        self._kept[place : place + 1] = [rollout._replace(observations=observations[:0])]

    def _again(self, place: int) -> Rollout:
        """A rollout of the memory."""
        kept = self._kept[place]
        assert self._rows is not None
        rows = self._rows.get(place * kept.over.size + np.arange(kept.over.size))
        return kept._replace(observations=rows.reshape(*kept.over.shape, -1))


def _means(scores: Floats) -> Floats:
    """The values of actions, from scores `(N, 109)` or distributions `(N, 109, atoms)`."""
    return scores if scores.ndim == 2 else scores.mean(2)
