"""TorchRL's PPO in one seat against three random players, from racks one tile from a finish.

    python examples/torchrl_ppo.py

`GymWrapper` reads an `OkeyEnv` as it is, and `check_env_specs` passes. TorchRL 0.14 does not read the last observations
of a vector environment that are dictionaries, so this file uses single environments in a row. The network looks at all
kinds of tiles with the same weights; layers over the whole observation learn much less in the same time.
"""

import time
from typing import Any

import numpy as np
import torch
from tensordict.nn import ProbabilisticTensorDictModule, ProbabilisticTensorDictSequential, TensorDictModule
from torch import nn
from torchrl.envs import GymWrapper, SerialEnv
from torchrl.modules import MaskedCategorical, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import okey_env
from okey_agents.training import networks

TASK: dict[str, Any] = {
    "rules": {"preset": "gamelake", "max_throws": 40},
    "opponents": "random",
    "encoder": "tiles",
    "start": "distance-1",
}
NUM_ENVS, STEPS, EPOCHS, MINIBATCH = 8, 128, 4, 256


class Masked(MaskedCategorical):  # type: ignore[misc]  # TorchRL has no types
    """The softmax over the legal actions, from a mask of 0 and 1."""

    def __init__(self, logits: torch.Tensor, mask: torch.Tensor) -> None:
        super().__init__(logits=logits, mask=mask.bool())


def for_torchrl() -> GymWrapper:
    """One environment, whose actions are numbers and not one-hot."""
    return GymWrapper(okey_env.OkeyEnv(reward="win+0.2*distance", **TASK), categorical_action_encoding=True)


class Scores(nn.Module):
    """The scores of all actions, without the values."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, observation: torch.Tensor) -> torch.Tensor:  # noqa: D102
        return self.network(observation.reshape(-1, observation.shape[-1]))[0].reshape(*observation.shape[:-1], -1)


class Values(Scores):
    """The values `(…, 1)`."""

    def forward(self, observation: torch.Tensor) -> torch.Tensor:  # noqa: D102
        return self.network(observation.reshape(-1, observation.shape[-1]))[1].reshape(*observation.shape[:-1], 1)


def make_network() -> nn.Module:
    """Random weights; torch alone, as any module could be."""
    return networks.make_network("kinds", okey_env.as_encoder("tiles"), width=32)


def make_policy() -> ProbabilisticTensorDictSequential:
    """From the observation to a legal action and its probability."""
    return ProbabilisticTensorDictSequential(
        TensorDictModule(Scores(make_network()), in_keys=["observation"], out_keys=["logits"]),
        ProbabilisticTensorDictModule(
            in_keys={"logits": "logits", "mask": "action_mask"},
            out_keys=["action"],
            distribution_class=Masked,
            return_log_prob=True,
        ),
    )


def learn(seconds: float, seed: int = 1) -> tuple[nn.Module, int]:
    """Train for so many CPU seconds: the network that gives the logits, and its decisions."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    envs = SerialEnv(NUM_ENVS, for_torchrl)
    envs.set_seed(seed)
    policy, critic = make_policy(), ValueOperator(Values(make_network()), in_keys=["observation"])
    loss = ClipPPOLoss(policy, critic, entropy_coeff=0.01)
    advantage = GAE(gamma=0.97, lmbda=0.95, value_network=critic, average_gae=True)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    began, decisions, last = time.process_time(), 0, envs.reset()
    while time.process_time() - began < seconds:
        with torch.no_grad():
            rollout = envs.rollout(STEPS, policy, auto_reset=False, tensordict=last, break_when_any_done=False)
            last = envs.maybe_reset(envs.step_mdp(rollout[:, -1]))
            advantage(rollout)
        decisions += rollout.numel()
        flat = rollout.reshape(-1)
        for part in torch.cat([torch.randperm(len(flat)) for _ in range(EPOCHS)]).split(MINIBATCH):
            losses = loss(flat[part])
            total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
            optimizer.zero_grad()
            total.backward()
            nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
            optimizer.step()
    return policy[0].module, decisions


def score(network: nn.Module | None, episodes: int, seed: int = 9) -> float:
    """The share of the rounds that the network wins (None: a random player)."""
    envs = okey_env.OkeyVectorEnv(64, reward="win", seed=seed, **TASK)
    observation, _ = envs.reset()
    rng, won = np.random.default_rng(seed), list[bool]()
    while len(won) < episodes:
        values = rng.random(observation["action_mask"].shape)
        if network is not None:
            with torch.no_grad():
                values = network(torch.from_numpy(observation["observation"])).numpy()
        actions = np.where(observation["action_mask"] == 1, values, -np.inf).argmax(axis=1)
        observation, rewards, terminated, truncated, _ = envs.step(actions)
        won.extend(rewards[terminated | truncated] > 0)
    return float(np.mean(won[:episodes]))


if __name__ == "__main__":
    print(f"a random player: {score(None, 500):.1%} won")
    for seconds in (30,):
        network, decisions = learn(seconds)
        print(f"PPO, {seconds} CPU seconds, {decisions} decisions: {score(network, 500):.1%} won", flush=True)
