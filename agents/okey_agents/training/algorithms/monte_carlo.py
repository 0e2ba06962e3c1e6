"""Deep Monte Carlo: learns what the rest of a round pays after each action, from whole rounds (Zha and others, 2021).

The network plays the best legal action, and with probability `epsilon` any legal one. Its score of an action is fitted
to what the rest of the round paid the seat. There is no bootstrapping, no discount and no second network. The
decisions of a round that a rollout cuts off are not learned from.
"""

from typing import Any

import numpy as np
import torch

from okey_agents.training.algorithms import seats as common
from okey_agents.training.algorithms.seats import Bools, Budget, Seats, Task
from okey_agents.training.games import Floats, Ints
from okey_agents.training.networks import bot_of, make_network


def train(
    task: Task,
    budget: Budget,
    seed: int,
    *,
    network: str = "kinds",
    encoder: str | None = None,
    reward: str | None = None,
    games: int = 64,
    steps: int = 128,
    epsilon: float = 0.1,
    epsilon_end: float = 0.01,
    learning_rate: float = 5e-3,
    epochs: int = 1,
    minibatch: int = 512,
) -> Any:
    """Learn a task; the package describes the options that all have.

    Args:
        epsilon: probability of a random action at the beginning.
        epsilon_end: the same at the end.

    Returns:
        The bot that plays the best action.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    table = Seats(task, games, seed, encoder, reward)
    learner = make_network(network, table.encoder)
    optimizer = common.make_optimizer(learner, learning_rate)
    decisions = 0
    while budget.goes_on(decisions, lambda: bot_of(learner, "monte_carlo")):
        chance = common.falling(epsilon, epsilon_end, budget.share)

        def choose(observations: Floats, masks: Bools, chance: float = chance) -> Ints:
            return common.explore(common.scores_of(learner, observations), masks, chance, rng)

        rollout = common.play(table, steps, choose)
        returns = common.flat(rollout, common.lambda_returns(rollout, values=None, trace=1))
        known = np.flatnonzero(~np.isnan(returns))
        observations = torch.from_numpy(common.flat(rollout, rollout.observations))
        actions, targets = torch.from_numpy(common.flat(rollout, rollout.actions)), torch.from_numpy(returns)
        common.set_rate(optimizer, common.falling(learning_rate, 0, budget.share))
        for _ in range(epochs):
            for part in common.minibatches(len(known), minibatch, rng):
                rows = torch.from_numpy(known[part])
                expected = learner(observations[rows])[0][torch.arange(len(rows)), actions[rows]]
                common.improve(learner, optimizer, (expected - targets[rows]).square().mean(), longest=10.0)
        decisions += rollout.over.size
    return bot_of(learner, "monte_carlo")
