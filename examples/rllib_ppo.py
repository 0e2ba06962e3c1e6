"""RLlib's PPO on the new API stack with masks of actions: one shared policy for four seats, or one for each seat.

    python examples/rllib_ppo.py             # a shared policy
    python examples/rllib_ppo.py --separate  # four policies

RLlib's module with masks wants the key `observations` and masks of float32, so a wrapper of ten lines renames them.
"""

import argparse
import os
import time
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # before Ray starts: its processes would otherwise share the cores badly
import gymnasium
import numpy as np
import ray
import torch
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

import okey_env

TASK: dict[str, Any] = {"rules": {"preset": "gamelake", "max_throws": 40}, "start": "distance-1"}
SIZE, ACTIONS = okey_env.as_encoder("flat").size, okey_env.actions.NUM_ACTIONS
SPACE = gymnasium.spaces.Dict(
    {
        "observations": gymnasium.spaces.Box(-1, 1, (SIZE,), np.float32),
        "action_mask": gymnasium.spaces.Box(0, 1, (ACTIONS,), np.float32),
    }
)


class ForRLlib(PettingZooEnv):  # type: ignore[misc]  # Ray has no types
    """The four seats, with the names of RLlib's module."""

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__(okey_env.env(reward="win+0.2*distance", **TASK))
        self.observation_spaces = dict.fromkeys(self.possible_agents, SPACE)

    def reset(self, **keywords: Any) -> Any:
        """As the base class, renamed."""
        observations, infos = super().reset(**keywords)
        return renamed(observations), infos

    def step(self, action: Any) -> Any:
        """As the base class, renamed."""
        observations, *rest = super().step(action)
        return renamed(observations), *rest


def renamed(observations: dict[str, Any]) -> dict[str, Any]:
    """The observations by agent with RLlib's names and types."""
    return {
        agent: {"observations": seen["observation"], "action_mask": seen["action_mask"].astype(np.float32)}
        for agent, seen in observations.items()
    }


def configuration(separate: bool, seed: int) -> PPOConfig:
    """PPO with one policy for each seat, or one for all."""
    seats = [f"player_{seat}" for seat in range(4)]
    modules = seats if separate else ["shared"]
    spec = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule,
        observation_space=SPACE,
        action_space=gymnasium.spaces.Discrete(ACTIONS),
        model_config={"fcnet_hiddens": [128], "fcnet_activation": "relu", "head_fcnet_hiddens": []},
    )
    return (
        PPOConfig()
        .environment(ForRLlib)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=1, rollout_fragment_length=1_000)
        .multi_agent(
            policies=set(modules), policy_mapping_fn=lambda agent, episode, **_: agent if separate else "shared"
        )
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=dict.fromkeys(modules, spec)))
        .training(train_batch_size_per_learner=2_000, minibatch_size=256, num_epochs=4, lr=1e-3, entropy_coeff=0.01)
        .debugging(seed=seed)
    )


def learn(seconds: float, separate: bool = False, seed: int = 1) -> tuple[PPO, int]:
    """Train for so many seconds: the algorithm and its decisions."""
    algorithm = configuration(separate, seed).build_algo()
    began, decisions = time.process_time(), 0
    while time.process_time() - began < seconds:
        decisions = int(algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"])
    return algorithm, decisions


def score(algorithm: PPO | None, module: str, episodes: int, seed: int = 9) -> float:
    """The share of the rounds that a policy wins against three random players (None: a random player)."""
    envs = okey_env.OkeyVectorEnv(64, reward="win", seed=seed, opponents="random", learning_seat=0, **TASK)
    observation, _ = envs.reset()
    rng, won = np.random.default_rng(seed), list[bool]()
    while len(won) < episodes:
        values = rng.random(observation["action_mask"].shape)
        if algorithm is not None:
            seen = {"observations": observation["observation"], "action_mask": observation["action_mask"]}
            batch = {"obs": {key: torch.from_numpy(array.astype(np.float32)) for key, array in seen.items()}}
            with torch.no_grad():
                values = algorithm.get_module(module).forward_inference(batch)["action_dist_inputs"].numpy()
        actions = np.where(observation["action_mask"] == 1, values, -np.inf).argmax(axis=1)
        observation, rewards, terminated, truncated, _ = envs.step(actions)
        won.extend(rewards[terminated | truncated] > 0)
    return float(np.mean(won[:episodes]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--separate", action="store_true", help="one policy for each seat")
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    ray.init(num_cpus=1, include_dashboard=False, object_store_memory=200_000_000)
    print(f"a random player: {score(None, '', 500):.1%} won")
    learned, decisions = learn(arguments.seconds, arguments.separate)
    won = score(learned, "player_0" if arguments.separate else "shared", 500)
    print(f"PPO, {arguments.seconds:.0f} CPU seconds, {decisions} decisions: {won:.1%} won")
