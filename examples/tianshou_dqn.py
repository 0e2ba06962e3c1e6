"""Tianshou's DQN in one seat against three random players, from racks one tile from a finish.

    python examples/tianshou_dqn.py

Tianshou reads masks from `obs.mask`, so one wrapper renames the two keys of the observation. For four seats,
`tianshou.env.PettingZooEnv(okey_env.env())` needs no wrapper. Of its algorithms only the Q-learning family reads masks.
"""

import time
from typing import Any

import gymnasium
import numpy as np
import torch
from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.utils.torch_utils import policy_within_training_step

import okey_env
from okey_agents.training.networks import make_network

TASK: dict[str, Any] = {
    "rules": {"preset": "gamelake", "max_throws": 40},
    "opponents": "random",
    "encoder": "tiles",
    "start": "distance-1",
}
NUM_ENVS = 16


def for_tianshou() -> gymnasium.Env[Any, Any]:
    """One environment whose observations have the keys `obs` and `mask`."""
    env = okey_env.OkeyEnv(reward="win+0.2*distance", **TASK)
    space = gymnasium.spaces.Dict(
        {
            "obs": env.observation_space["observation"],
            "mask": gymnasium.spaces.MultiBinary(okey_env.actions.NUM_ACTIONS),
        }
    )

    def rename(observation: dict[str, Any]) -> dict[str, Any]:
        return {"obs": observation["observation"], "mask": observation["action_mask"].astype(bool)}

    return gymnasium.wrappers.TransformObservation(env, rename, space)


class Network(torch.nn.Module):
    """A network with the same weights for all kinds of tiles, as Tianshou calls it."""

    def __init__(self) -> None:
        super().__init__()
        self.network = make_network("kinds", okey_env.as_encoder("tiles"), width=32)

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[torch.Tensor, Any]:  # noqa: D102
        observations = torch.as_tensor(obs.obs if hasattr(obs, "obs") else obs)
        return self.network(observations)[0], state


def make_algorithm() -> DQN[Any]:
    """Double DQN; the values are masked where it chooses and where it bootstraps."""
    network = Network()
    policy = DiscreteQLearningPolicy(
        model=network, action_space=gymnasium.spaces.Discrete(okey_env.actions.NUM_ACTIONS), eps_training=1.0
    )
    return DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=0.95, target_update_freq=200)


def learn(seconds: float, seed: int = 1) -> tuple[DQN[Any], int]:
    """Train for so many CPU seconds: the algorithm and its decisions."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    np.random.seed(seed)  # noqa: NPY002 (the generator from which Tianshou explores)
    algorithm = make_algorithm()
    envs = DummyVectorEnv([for_tianshou] * NUM_ENVS)
    envs.seed(seed)
    buffer = VectorReplayBuffer(50_000, NUM_ENVS)
    collector = Collector[CollectStats](algorithm, envs, buffer, exploration_noise=True)
    collector.reset()
    began, decisions = time.process_time(), 0
    while (used := time.process_time() - began) < seconds:
        algorithm.policy.set_eps_training(max(0.02, 1 - 3 * used / seconds))
        with policy_within_training_step(algorithm.policy):
            decisions += collector.collect(n_step=4 * NUM_ENVS).n_collected_steps
            if decisions > 1_000:
                for _ in range(8):
                    algorithm.update(buffer=buffer, sample_size=64)
    return algorithm, decisions


def score(network: torch.nn.Module | None, episodes: int, seed: int = 9) -> float:
    """The share of the rounds that the network wins (None: a random player)."""
    envs = okey_env.OkeyVectorEnv(64, reward="win", seed=seed, **TASK)
    observation, _ = envs.reset()
    rng, won = np.random.default_rng(seed), []
    while len(won) < episodes:
        values = rng.random(observation["action_mask"].shape)
        if network is not None:
            with torch.no_grad():
                values = network(observation["observation"])[0].numpy()
        actions = np.where(observation["action_mask"] == 1, values, -np.inf).argmax(axis=1)
        observation, rewards, terminated, truncated, _ = envs.step(actions)
        won.extend(rewards[terminated | truncated] > 0)
    return float(np.mean(won[:episodes]))


if __name__ == "__main__":
    print(f"a random player: {score(None, 500):.1%} won")
    for seconds in (30,):
        learned, decisions = learn(seconds)
        won = score(learned.policy.model, 500)
        print(f"DQN, {seconds} CPU seconds, {decisions} decisions: {won:.1%} won", flush=True)
