"""MMD: an actor-critic that is pulled to a slowly moving policy, for games of many players (Sokota and others, 2023).

Magnetic mirror descent in self-play: the policy climbs its advantages, and pays for its KL divergence from the policy
that played (weight `proximal`) and from a magnet (weight `magnet`). The magnet follows the policy slowly; with
`magnet_speed` 0 it stays the nearly uniform policy of the beginning. Clipped ratios and the value are those of PPO.
"""

import copy
from typing import Any

import numpy as np
import torch

from okey_agents.training.algorithms import seats as common
from okey_agents.training.algorithms.seats import Bools, Budget, Seats, Task
from okey_agents.training.games import Floats, Ints
from okey_agents.training.networks import PolicyNetwork, bot_of, make_network
from okey_agents.training.networks.network import legal_log_probs


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
    learning_rate: float = 2e-3,
    epochs: int = 2,
    minibatch: int = 1024,
    gamma: float = 1.0,
    trace: float = 0.95,
    clip: float = 0.2,
    proximal: float = 0.01,
    magnet: float = 0.002,
    magnet_speed: float = 0.2,
    entropy: float = 0.005,
) -> Any:
    """Learn a task; the package describes the options that all have.

    Args:
        trace: lambda of the returns.
        clip: how far the ratio of new and old probability may move from 1.
        proximal: weight of the KL divergence from the policy that played.
        magnet: weight of the KL divergence from the magnet at the beginning; it falls to 0, as does `entropy`.
        magnet_speed: the share of the way to the policy that the magnet's weights go in an iteration.
        entropy: weight of the policy's entropy.

    Returns:
        The bot that plays the most probable action.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    table = Seats(task, games, seed, encoder, reward)
    learner = make_network(network, table.encoder)
    pulls = copy.deepcopy(learner)
    optimizer = common.make_optimizer(learner, learning_rate)
    decisions = 0
    while budget.goes_on(decisions, lambda: bot_of(learner, "mmd")):
        scores, values = list[Floats](), list[Floats]()

        def choose(observations: Floats, masks: Bools, scores: Any = scores, values: Any = values) -> Ints:
            with torch.no_grad():
                found, value = learner(torch.from_numpy(observations))
            scores.append(found.numpy())
            values.append(value.numpy())
            return common.sample(scores[-1], masks, rng)

        rollout = common.play(table, steps, choose)
        returns = common.lambda_returns(rollout, np.stack(values), trace, gamma)
        known = np.flatnonzero(~np.isnan(common.flat(rollout, returns)))
        observations, masks, actions, gains, targets, before = (
            torch.from_numpy(common.flat(rollout, array)[known])
            for array in (
                rollout.observations,
                rollout.masks,
                rollout.actions,
                returns - np.stack(values),
                returns,
                np.stack(scores),
            )
        )
        magnets = torch.from_numpy(common.scores_of(pulls, observations.numpy()))
        left = 1 - budget.share
        common.set_rate(optimizer, learning_rate * left)
        for _ in range(epochs):
            for part in common.minibatches(len(known), minibatch, rng):
                rows = torch.from_numpy(part)
                found, value = learner(observations[rows])
                old, to = (legal_log_probs(each[rows], masks[rows]) for each in (before, magnets))
                new = legal_log_probs(found, masks[rows])
                ratio = (new - old).gather(1, actions[rows, None])[:, 0].exp()
                gain = (gains[rows] - gains[rows].mean()) / (gains[rows].std(correction=0) + 1e-8)
                climb = torch.min(ratio * gain, ratio.clamp(1 - clip, 1 + clip) * gain).mean()
                loss = pull(new, old, to, proximal, magnet * left, entropy * left)
                loss = loss - climb + 0.5 * (value - targets[rows]).square().mean()
                common.improve(learner, optimizer, loss)
        follow(pulls, learner, magnet_speed)
        decisions += rollout.over.size
    return bot_of(learner, "mmd")


def pull(
    new: torch.Tensor, old: torch.Tensor, to: torch.Tensor, proximal: float, magnet: float, entropy: float
) -> torch.Tensor:
    """What a policy pays for moving: KL divergences from the old policy and from the magnet, less entropy.

    Args:
        new, old, to: logarithms of the policy, of the one that played and of the magnet, `(N, 109)`.
        proximal, magnet, entropy: the weights.
    """
    weighted = proximal * (new - old) + magnet * (new - to) + entropy * new
    return (new.exp() * weighted).sum(1).mean()


def follow(magnet: PolicyNetwork, network: PolicyNetwork, speed: float) -> None:
    """Move the magnet's weights a share of the way to those of a network."""
    with torch.no_grad():
        for slow, fast in zip(magnet.parameters(), network.parameters(), strict=True):
            slow.lerp_(fast, speed)
