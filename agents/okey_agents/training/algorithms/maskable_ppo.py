"""MaskablePPO of sb3-contrib, with our network as its policy: PPO with masks at one seat (Huang and Ontañón, 2022).

Stable-Baselines3 learns for one agent in each environment. So a task needs bots in the other seats; for self-play there
is `ppo`.
"""

from typing import Any

import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn

from okey_agents.training.algorithms import seats as common
from okey_agents.training.algorithms._player import player_of
from okey_agents.training.algorithms.seats import Budget, Task
from okey_agents.training.flat.sb3_env import Sb3Env
from okey_agents.training.networks import PolicyNetwork, make_network
from okey_env.encoders import Encoder


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
    entropy: float = 0.005,
) -> Any:
    """Learn a task.

    Args:
        task: gives the games.
        budget: says how long.
        seed: determines everything.
        network: a name of `NETWORKS`.
        encoder: another encoder than the task's.
        reward: another reward than the task's, to learn from.
        games: side by side.
        steps: decisions of each game in one iteration.
        learning_rate: at the beginning; it falls to 0.
        epochs: passes over a rollout.
        minibatch: decisions in one step of the optimiser.
        gamma: discount.
        trace: lambda of the advantages.
        clip: how far the ratio of new and old probability may move from 1.
        entropy: weight of the policy's entropy.

    Returns:
        The bot that plays the most probable action.

    Raises:
        ValueError: the task is of self-play.
    """
    if common.is_self_play(task):
        raise ValueError(
            "the task is of self-play, and maskable_ppo learns at one seat: expected a task with opponents"
        )
    changes = {key: value for key, value in (("encoder", encoder), ("reward", reward)) if value is not None}
    env = task.make_vec(games, seed, **changes)
    model = MaskablePPO(
        _NetworkPolicy,
        Sb3Env(env, float(getattr(task, "reward_unit", common.REWARD_UNIT))),
        learning_rate=lambda _left: learning_rate * (1 - budget.share),
        n_steps=steps,
        batch_size=minibatch,
        n_epochs=epochs,
        gamma=gamma,
        gae_lambda=trace,
        clip_range=clip,
        ent_coef=entropy,
        seed=seed % 2**32,
        device="cpu",
        policy_kwargs={"encoder": env.encoder, "network": network},
    )
    assert isinstance(model.policy, _NetworkPolicy)
    policy = model.policy
    while budget.goes_on(model.num_timesteps, lambda: player_of(policy.network, "maskable_ppo")):
        model.learn(games * steps, reset_num_timesteps=model.num_timesteps == 0)
    return player_of(policy.network, "maskable_ppo")


class _NetworkPolicy(MaskableActorCriticPolicy):
    """SB3's policy whose scores and values are those of a network."""

    network: PolicyNetwork

    def __init__(self, *spaces: Any, encoder: Encoder, network: str, **options: Any) -> None:
        self._make = lambda: make_network(network, encoder)
        options |= {"ortho_init": False, "optimizer_kwargs": {"eps": 1e-5, "fused": True}}
        super().__init__(*spaces, **options)

    def _build(self, lr_schedule: Any) -> None:
        self.network = self._make()  # type: ignore[no-untyped-call]
        self.mlp_extractor = _Heads(self.network)  # type: ignore[assignment]
        self.action_net, self.value_net = nn.Identity(), nn.Identity()  # type: ignore[assignment]
        rate = lr_schedule(1)
        self.optimizer = self.optimizer_class(self.parameters(), lr=rate, **self.optimizer_kwargs)  # type: ignore[call-arg]


class _Heads(nn.Module):
    """What SB3 calls an extractor: from observations to what its two last layers, here identities, are given."""

    def __init__(self, network: PolicyNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores `(N, 109)` and values `(N, 1)`."""
        scores, values = self.network(observations)
        return scores, values[:, None]

    def forward_actor(self, observations: torch.Tensor) -> torch.Tensor:
        """The scores."""
        return self.forward(observations)[0]

    def forward_critic(self, observations: torch.Tensor) -> torch.Tensor:
        """The values."""
        return self.forward(observations)[1]
