"""Proximal policy optimisation (Schulman and others, 2017) for many games side by side.

The policy is any network of `okey_agents.training.networks`. The critic is a network of its own, used in training
only, and privileged: it sees the facts of all seats (`rollout.Sight`). That takes most of the luck of the deal out of
the advantages. The policy sees observations alone.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from okey_agents.training.games import Floats, Games
from okey_agents.training.networks import PolicyNetwork
from okey_agents.training.networks.network import legal_log_probs
from okey_agents.training.ppo.recipe import PpoConfig
from okey_agents.training.ppo.rollout import Rollout, Sight
from okey_env.round import derive_seed


class Critic(nn.Module):
    """From what the critic sees `(N, C)` to the value of the game to each player, the player to move first `(N, K)`.

    Args:
        inputs: `C`.
        players: `K`.
    """

    def __init__(self, inputs: int, players: int) -> None:
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU())
        self.values = nn.Linear(64, players)
        nn.init.zeros_(self.values.weight)
        nn.init.zeros_(self.values.bias)

    def forward(self, sights: torch.Tensor) -> torch.Tensor:
        """`(N, K)`."""
        values: torch.Tensor = self.values(self.hidden(sights))
        return values


class ActorCritic(nn.Module):
    """The two networks that learn together.

    Args:
        network: the policy.
        critic: sees all seats.
    """

    def __init__(self, network: PolicyNetwork, critic: Critic) -> None:
        super().__init__()
        self.network = network
        self.critic = critic


class Batch(NamedTuple):
    """Decisions as tensors, one row each or `(S, N, …)`."""

    observations: torch.Tensor
    masks: torch.Tensor
    actions: torch.Tensor
    log_probs: torch.Tensor
    sights: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor


class Told(NamedTuple):
    """What a shard tells of the rollout that it has played."""

    advantages: Floats
    """`(S, N)`."""
    returns: Floats
    """`(S, N, K)`."""
    episodes: int
    """Episodes that ended."""
    finished: int
    """How many of them were finished."""
    explained: float
    """The share of the variance of returns that the critic explains."""


class Shard:
    """A part of the games with all that playing them needs, so that shards play at the same time.

    Args:
        games: have not been reset.
        steps: decisions of each game in a rollout.
    """

    def __init__(self, games: Games, steps: int) -> None:
        self.games = games
        self.rollout = Rollout.empty(steps, games, Sight(games))
        self.begin(0)

    def begin(self, seed: int) -> None:
        """Deal anew, and begin the random streams anew."""
        self.games.reset(seed)
        self._sight = Sight(self.games)
        self._generator = np.random.default_rng(seed)

    def play(
        self, network: PolicyNetwork, critic: Critic, gamma: float, decay: float, unit: float, explore: float = 0.0
    ) -> Told:
        """Play a rollout: advantages and returns of its decisions, and numbers for the log."""

        def scores_of(observations: Floats) -> Floats:
            scores: Floats = network(torch.from_numpy(observations))[0].numpy()
            return scores

        with torch.no_grad():
            episodes, finished = self.rollout.play(self.games, self._sight, scores_of, self._generator, explore)
            values: Floats = critic(torch.from_numpy(self.rollout.sights)).numpy()
        self.rollout.rewards /= np.float32(unit)
        advantages, returns = self.rollout.estimate(values, gamma, decay)
        explained = 1 - float((returns - values[:-1]).var()) / max(float(returns.var()), 1e-9)
        return Told(advantages, returns, episodes, finished, explained)

    def batch(self, told: Told) -> Batch:
        """The rollout as tensors `(S, N, …)`."""
        rollout = self.rollout
        arrays = (rollout.observations, rollout.masks, rollout.actions, rollout.log_probs, rollout.sights[:-1])
        return Batch(*map(torch.from_numpy, (*arrays, told.advantages, told.returns)))


class Learner:
    """Plays, learns from what was played, and forgets it.

    The weights depend on the shards, but not on the number of threads: each shard's gradient is computed by itself, and
    the gradients are added in order.

    Args:
        shards: the games in parts of one size; a thread works on one part at a time.
        network: the policy.
        settings: the numbers of the algorithm.
        reward_unit: rewards are divided by this.
        threads: how many work at the same time.
    """

    def __init__(
        self, shards: Sequence[Games], network: PolicyNetwork, settings: PpoConfig, reward_unit: float, threads: int = 1
    ) -> None:
        self.settings = settings
        self._shards = [Shard(games, settings.steps) for games in shards]
        self.model = ActorCritic(network, Critic(Sight(shards[0]).size, shards[0].num_players))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=settings.learning_rate, eps=1e-5)
        self.decisions = settings.steps * sum(games.num_games for games in shards)
        """Decisions of one iteration."""
        self._unit = reward_unit
        self._distance_weight = shards[0].distance_weight
        self._generator = np.random.default_rng(0)
        # torch counts its own threads for each thread of Python
        self._pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))

    @property
    def network(self) -> PolicyNetwork:
        """The policy."""
        return self.model.network

    def begin(self, seed: int) -> None:
        """Deal anew, and begin all random streams anew."""
        for number, shard in enumerate(self._shards):
            shard.begin(derive_seed(seed, number))
        self._generator = np.random.default_rng(seed)

    def iterate(self, share: float) -> dict[str, float]:
        """Play a rollout and learn from it; returns numbers for the log.

        Args:
            share: how much of the run is over, 0 to 1. Step size, entropy and the pay for distance depend on it.
        """
        settings, dense = self.settings, self._dense(share)
        for shard in self._shards:
            if self._distance_weight:
                shard.games.distance_weight = self._distance_weight * dense
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * (1 - share)
        gamma = settings.gamma + (settings.dense_gamma - settings.gamma) * dense
        told = list(self._pool.map(lambda shard: self._play(shard, gamma), self._shards))
        _normalise([one.advantages for one in told])
        batches = [shard.batch(one) for shard, one in zip(self._shards, told, strict=True)]
        entropy = settings.entropy * max(1 - share, settings.entropy_floor)
        losses = [
            self._improve([Batch(*(array[steps].flatten(0, 1) for array in batch)) for batch in batches], entropy)
            for _ in range(settings.epochs)
            for steps in self._minibatches()
        ]
        episodes = sum(one.episodes for one in told)
        return {
            "episodes": episodes,
            "finished": sum(one.finished for one in told) / max(episodes, 1),
            "explained": float(np.mean([one.explained for one in told])),
            **dict(zip(("policy_loss", "value_loss", "entropy", "kl"), np.mean(losses, axis=0).tolist(), strict=True)),
        }

    def try_both(self, explore: float) -> Sequence[tuple[Rollout, Floats]]:
        """Play a rollout and learn nothing; returns what each shard played, with its advantages.

        Args:
            explore: the share of decisions between drawing and taking in which either is as likely.
        """
        if self._distance_weight:
            for shard in self._shards:
                shard.games.distance_weight = 0.0
        told = list(self._pool.map(lambda shard: self._play(shard, self.settings.gamma, explore), self._shards))
        return [(shard.rollout, one.advantages) for shard, one in zip(self._shards, told, strict=True)]

    def _dense(self, share: float) -> float:
        """How much of the pay for distance is left after a share of the run, from 1 down to 0."""
        if not self._distance_weight or share >= self.settings.dense_share:
            return 0.0
        return 1 - share / self.settings.dense_share

    def _play(self, shard: Shard, gamma: float, explore: float = 0.0) -> Told:
        return shard.play(self.network, self.model.critic, gamma, self.settings.gae_lambda, self._unit, explore)

    def _minibatches(self) -> Sequence[torch.Tensor]:
        """Steps of the rollout in random order, cut into minibatches. One step holds a decision of every game."""
        each = max(1, self.settings.minibatch * self.settings.steps // self.decisions)
        return torch.split(torch.from_numpy(self._generator.permutation(self.settings.steps)), each)

    def _improve(self, batches: Sequence[Batch], entropy_weight: float) -> list[float]:
        """One step of the optimiser; returns its losses, the policy's entropy and the KL divergence so far."""
        parameters = list(self.model.parameters())
        parts = list(self._pool.map(lambda batch: self._gradients(batch, parameters, entropy_weight), batches))
        for number, parameter in enumerate(parameters):
            parameter.grad = torch.stack([gradients[number] for gradients, _ in parts]).mean(0)
        nn.utils.clip_grad_norm_(parameters, self.settings.max_grad_norm)
        self.optimizer.step()
        means: list[float] = np.mean([losses for _, losses in parts], axis=0).tolist()
        return means

    def _gradients(
        self, batch: Batch, parameters: Sequence[nn.Parameter], entropy_weight: float
    ) -> tuple[Sequence[torch.Tensor], list[float]]:
        settings = self.settings
        log_probs = legal_log_probs(self.network(batch.observations)[0], batch.masks)
        change = log_probs.gather(1, batch.actions[:, None])[:, 0] - batch.log_probs
        ratio = change.exp()
        clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
        policy_loss = -torch.min(ratio * batch.advantages, clipped * batch.advantages).mean()
        value_loss = (self.model.critic(batch.sights) - batch.returns).square().mean()
        entropy = -(log_probs.exp() * log_probs).sum(1).mean()
        loss = policy_loss + settings.value_weight * value_loss - entropy_weight * entropy
        gradients = torch.autograd.grad(loss, parameters, materialize_grads=True, allow_unused=True)
        kl = (ratio.detach() - 1 - change.detach()).mean()
        return gradients, [number.item() for number in (policy_loss, value_loss, entropy, kl)]


def _normalise(parts: Sequence[Floats]) -> None:
    """Give the numbers of all parts together the mean 0 and the deviation 1, in place."""
    every = np.concatenate([part.ravel() for part in parts])
    mean, deviation = every.mean(), every.std() + 1e-8
    for part in parts:
        part -= mean
        part /= deviation
