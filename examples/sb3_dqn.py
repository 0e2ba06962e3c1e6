"""Stable-Baselines3's DQN in one seat against three random players, from racks one tile from a finish.

    python examples/sb3_dqn.py

DQN of SB3 knows no masks. Three places need them, and this file has all three: the best action (`MaskedQNetwork`), the
value of the next position (the same network, as SB3's target), and the random actions of exploration (`MaskedDQN`). An
environment that replaced illegal actions by legal ones would be shorter, and the values would be learned for actions
that were never played.
"""

import time
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3 import DQN
from stable_baselines3.common.vec_env import DummyVecEnv
from stable_baselines3.dqn.policies import MultiInputPolicy, QNetwork

import okey_env
from okey_agents.training.networks import make_network

TASK: dict[str, Any] = {
    "rules": {"preset": "gamelake", "max_throws": 40},
    "opponents": "random",
    "encoder": "tiles",
    "start": "distance-1",
}
NUM_ENVS = 16


class MaskedQNetwork(QNetwork):
    """Values of actions, minus infinity for illegal ones, by a network with the same weights for all kinds of tiles."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.q_net = make_network("kinds", okey_env.as_encoder("tiles"), width=32)  # type: ignore[assignment]

    def forward(self, obs: Any) -> torch.Tensor:  # noqa: D102
        legal = obs["action_mask"] == 1
        values: torch.Tensor = self.q_net(obs["observation"])[0].masked_fill(~legal, -torch.inf)
        # After an end nothing is legal, and SB3 bootstraps from there if it was the limit of throws: that is worth 0.
        return values.masked_fill(~legal.any(dim=1, keepdim=True), 0)


class MaskedPolicy(MultiInputPolicy):  # noqa: D101
    def make_q_net(self) -> QNetwork:  # noqa: D102
        return MaskedQNetwork(**self._update_features_extractor(self.net_args)).to(self.device)


class MaskedDQN(DQN):
    """DQN that explores among the legal actions, in each game by a chance of its own."""

    def predict(  # noqa: D102
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[np.ndarray, Any]:
        actions, state = self.policy.predict(observation, state, episode_start, deterministic=True)
        if not deterministic:
            masks = np.atleast_2d(observation["action_mask"])
            legal = np.where(masks == 1, np.random.random(masks.shape), -1).argmax(axis=1)  # noqa: NPY002 (SB3 seeds it)
            explores = np.random.random(len(masks)) < self.exploration_rate  # noqa: NPY002
            actions = np.where(explores, legal, actions).reshape(np.shape(actions))
        return actions, state

    def _sample_action(self, learning_starts: int, *rest: Any, **more: Any) -> tuple[np.ndarray, np.ndarray]:
        return super()._sample_action(0, *rest, **more)  # without it the first actions would be any of the 109


def make_env() -> gymnasium.Env[Any, Any]:  # noqa: D103
    return okey_env.OkeyEnv(reward="win+0.2*distance", **TASK)


def learn(decisions: int, seed: int = 1) -> MaskedDQN:
    """Train for so many decisions."""
    torch.set_num_threads(1)
    model = MaskedDQN(
        MaskedPolicy,
        DummyVecEnv([make_env] * NUM_ENVS),
        gamma=0.95,
        learning_rate=1e-3,
        buffer_size=50_000,
        batch_size=128,
        learning_starts=1_000,
        train_freq=4,
        gradient_steps=4,
        target_update_interval=40 * NUM_ENVS,
        exploration_fraction=0.33,
        exploration_final_eps=0.02,
        seed=seed,
    )
    return model.learn(decisions)


def score(model: MaskedDQN | None, episodes: int, seed: int = 9) -> float:
    """The share of the rounds that the model wins (None: a random player)."""
    envs = okey_env.OkeyVectorEnv(64, reward="win", seed=seed, **TASK)
    observation, _ = envs.reset()
    rng, won = np.random.default_rng(seed), list[bool]()
    while len(won) < episodes:
        if model is None:
            masks = observation["action_mask"]
            actions = np.where(masks == 1, rng.random(masks.shape), -1).argmax(axis=1)
        else:
            actions, _ = model.predict(observation, deterministic=True)
        observation, rewards, terminated, truncated, _ = envs.step(actions)
        won.extend(rewards[terminated | truncated] > 0)
    return float(np.mean(won[:episodes]))


if __name__ == "__main__":
    print(f"a random player: {score(None, 500):.1%} won")
    began = time.process_time()
    learned = learn(50_000)
    spent = time.process_time() - began
    print(
        f"DQN: {score(learned, 500):.1%} won after {learned.num_timesteps} decisions in {spent:.0f} CPU seconds",
        flush=True,
    )
