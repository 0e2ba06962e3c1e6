"""MaskablePPO of sb3-contrib, with our network as its policy: PPO with masks at one seat (Huang and Ontañón, 2022).

Stable-Baselines3 learns for one agent in each environment. So a task needs bots in the other seats; for self-play there
is `ppo`.
"""

from typing import Any

from sb3_contrib import MaskablePPO

from okey_agents.training.algorithms.seats import Budget, Task
from okey_agents.training.flat.sb3_env import Sb3Env
from okey_agents.training.networks import bot_of
from okey_agents.training.networks.sb3 import NetworkPolicy


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
    """Learn a task; the package describes the options that all have.

    Args:
        trace: lambda of the advantages.
        clip: how far the ratio of new and old probability may move from 1.
        entropy: weight of the policy's entropy.

    Returns:
        The bot that plays the most probable action.

    Raises:
        ValueError: the task is of self-play.
    """
    if task.only_self_play:
        raise ValueError(
            "the task is of self-play, and maskable_ppo learns at one seat: expected a task with opponents"
        )
    changes = {key: value for key, value in (("encoder", encoder), ("reward", reward)) if value is not None}
    env = task.make_vec(games, seed, **changes)
    model = MaskablePPO(
        NetworkPolicy,
        Sb3Env(env, task.reward_unit),
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
        policy_kwargs={"encoder": env.encoder, "network": network, "optimizer_kwargs": {"eps": 1e-5, "fused": True}},
    )
    assert isinstance(model.policy, NetworkPolicy)
    policy = model.policy
    while budget.goes_on(model.num_timesteps, lambda: bot_of(policy.network, "maskable_ppo")):
        model.learn(games * steps, reset_num_timesteps=model.num_timesteps == 0)
    return bot_of(policy.network, "maskable_ppo")
