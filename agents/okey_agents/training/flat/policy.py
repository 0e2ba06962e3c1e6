"""The network of a flat policy in torch, in the form of sb3-contrib, and its conversion to and from plain arrays."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from okey_agents.training.sections import NetworkConfig

Arrays = dict[str, npt.NDArray[Any]]


class Trunk(BaseFeaturesExtractor):
    """ReLU layers that policy and value share."""

    def __init__(self, observation_space: spaces.Box, widths: Sequence[int]) -> None:
        sizes = [observation_space.shape[0], *widths]
        super().__init__(observation_space, features_dim=sizes[-1])
        layers: list[nn.Module] = []
        for inputs, outputs in itertools.pairwise(sizes):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """The features `(N, F)` of observations `(N, I)`."""
        features: torch.Tensor = self.layers(observations)
        return features


def policy_kwargs(network: NetworkConfig) -> dict[str, Any]:
    """The keyword arguments with which MaskablePPO builds this network."""
    return {
        "features_extractor_class": Trunk,
        "features_extractor_kwargs": {"widths": network.trunk},
        "net_arch": {"pi": list(network.policy), "vf": list(network.value)},
        "activation_fn": nn.ReLU,
        "optimizer_kwargs": {"eps": 1e-5, "fused": True},
    }


def make_policy(size: int, num_actions: int, network: NetworkConfig) -> MaskableActorCriticPolicy:
    """A policy with fresh weights, outside any trainer."""
    return MaskableActorCriticPolicy(
        spaces.Box(-np.inf, np.inf, (size,), np.float32),
        spaces.Discrete(num_actions),
        lambda _: 0.0,
        **policy_kwargs(network),
    )


def scores_of(policy: MaskableActorCriticPolicy, observations: torch.Tensor) -> torch.Tensor:
    """The scores `(N, 109)` of all actions, legal or not, for observations `(N, size)`."""
    features: torch.Tensor = policy.pi_features_extractor(observations)
    scores: torch.Tensor = policy.action_net(policy.mlp_extractor.forward_actor(features))
    return scores


def scores_and_values(
    policy: MaskableActorCriticPolicy, observations: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The scores `(N, 109)` of all actions and the values `(N,)` of observations `(N, size)`."""
    actor, critic = policy.mlp_extractor(policy.extract_features(observations))
    return policy.action_net(actor), policy.value_net(critic).squeeze(1)


def policy_arrays(policy: nn.Module) -> Arrays:
    """All weights by name."""
    return {name: parameter.detach().cpu().numpy().copy() for name, parameter in policy.named_parameters()}


def set_policy_arrays(policy: nn.Module, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Put weights from `policy_arrays` into a policy of the same shape.

    Raises:
        ValueError: the names or shapes are not this network's.
    """
    parameters = dict(policy.named_parameters())
    if parameters.keys() != arrays.keys():
        raise ValueError(f"weights of another network: {sorted(parameters.keys() ^ arrays.keys())} are not in both")
    with torch.no_grad():
        for name, parameter in parameters.items():
            if tuple(parameter.shape) != arrays[name].shape:
                raise ValueError(
                    f"weights of another network: {name} is {arrays[name].shape}, expected {tuple(parameter.shape)}"
                )
            parameter.copy_(torch.from_numpy(np.array(arrays[name])))


def acting_layers(arrays: Mapping[str, npt.NDArray[Any]]) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """The layers from the observation to the scores, in order: weights `(I, O)` and bias `(O,)` of each."""
    layers = []
    for module in ("features_extractor.layers", "mlp_extractor.policy_net"):
        numbers = sorted(
            int(name.removeprefix(f"{module}.").partition(".")[0])
            for name in arrays
            if name.startswith(f"{module}.") and name.endswith(".weight")
        )
        layers += [(arrays[f"{module}.{i}.weight"], arrays[f"{module}.{i}.bias"]) for i in numbers]
    layers.append((arrays["action_net.weight"], arrays["action_net.bias"]))
    return [(np.ascontiguousarray(weights.T), bias) for weights, bias in layers]
