"""QR-DQN: learns how what the rest of a round pays is distributed (Dabney and others, 2018).

For each action the network gives `atoms` quantiles instead of a mean. The action with the highest mean is the best.
Everything else is `dqn`: of a decision's two estimates (the next decision's value and its return) one is drawn with the
odds of lambda, since a mix of distributions is what a lambda-return means here.
"""

import functools
from typing import Any

import torch

from okey_agents.training.algorithms import seats as common
from okey_agents.training.algorithms.dqn import QLearner
from okey_agents.training.algorithms.seats import Budget, Seats, Task
from okey_agents.training.networks import bot_of


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
    atoms: int = 16,
    **learning: Any,
) -> Any:
    """Learn a task; the package describes the options that all have.

    Args:
        epsilon: probability of a random action at the beginning.
        epsilon_end: the same at the end.
        atoms: quantiles of each action.
        learning: options of `QLearner`.

    Returns:
        The bot that plays the action with the highest mean.
    """
    table = Seats(task, games, seed, encoder, reward)
    learner = QLearner(table, network, seed, quantile_loss, atoms=atoms, **learning)
    decisions = 0
    while budget.goes_on(decisions, lambda: bot_of(learner.network, "qr_dqn")):
        chance = common.falling(epsilon, epsilon_end, budget.share)
        rollout = common.play(table, steps, functools.partial(learner.explore, epsilon=chance))
        learner.learn(rollout, budget.share)
        decisions += rollout.over.size
    return bot_of(learner.network, "qr_dqn")


def quantile_loss(expected: torch.Tensor, targets: torch.Tensor, width: float = 1.0) -> torch.Tensor:
    """The quantile Huber loss.

    Args:
        expected: `(N, A)`: the quantiles at (i + 0.5) / A.
        targets: `(N, B)`: samples of the distribution, equally likely.
        width: the error at which the square becomes a line.

    Returns:
        The sum over quantiles of the mean over samples, averaged over `N`.
    """
    count = expected.shape[1]
    at = (torch.arange(count) + 0.5) / count
    error = targets[:, None, :] - expected[:, :, None]  # (N, A, B)
    size = error.abs()
    huber = torch.where(size <= width, 0.5 * error.square(), width * (size - 0.5 * width))
    return ((at[None, :, None] - (error < 0).float()).abs() * huber / width).mean(2).sum(1).mean()
