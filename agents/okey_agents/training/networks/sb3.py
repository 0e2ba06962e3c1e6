"""The networks in Stable-Baselines3: a policy with the heads of a network, and its features for other policies.

`MaskablePPO(NetworkPolicy, env, policy_kwargs={"network": "kinds", "encoder": "tiles"})` learns the network itself;
`model.policy.network` is the torch module, which `export_network` takes. `NetworkExtractor` gives the features of a
network to any policy of SB3, as `features_extractor_class`; the policy then has layers of its own for actions.

Environments may observe the array of the encoder (`Sb3Env`) or the dict of `okey/Round-v0`, whose key `observation` is
read.
"""

from collections.abc import Mapping
from typing import Any

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.type_aliases import PyTorchObs, Schedule
from torch import nn

from okey_agents.training.networks import PolicyNetwork, make_network
from okey_env.encoders import Encoder, as_encoder


class NetworkExtractor(BaseFeaturesExtractor):
    """The features `(N, num_features)` of a network.

    Args:
        observation_space: the encoder's array, or a dict with it.
        network: a name of `NETWORKS`.
        encoder: of the observations.
        sizes: keywords of the network's class.

    Raises:
        ValueError: the observations are not those of the encoder.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        network: str = "kinds",
        encoder: str | Encoder = "tiles",
        sizes: Mapping[str, Any] | None = None,
    ) -> None:
        made = _made(observation_space, network, encoder, sizes)
        super().__init__(observation_space, made.num_features)
        self.network = made

    def forward(self, observations: PyTorchObs) -> torch.Tensor:
        """The features of observations."""
        return self.network.features(_array(observations))


class NetworkPolicy(MaskableActorCriticPolicy):
    """A policy whose action scores and values are those of a network, without further layers.

    Args:
        observation_space: the encoder's array, or a dict with it.
        action_space: the 109 actions.
        lr_schedule: the learning rate, as SB3 passes it.
        network: a name of `NETWORKS`.
        encoder: of the observations.
        sizes: keywords of the network's class.
        optimizer_class: of torch.
        optimizer_kwargs: its keywords, without the learning rate; None: those of SB3.

    Raises:
        ValueError: the observations are not those of the encoder, or the network has several atoms.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        network: str = "kinds",
        encoder: str | Encoder = "tiles",
        sizes: Mapping[str, Any] | None = None,
        optimizer_class: type[torch.optim.Optimizer] = torch.optim.Adam,
        optimizer_kwargs: dict[str, Any] | None = None,
    ) -> None:
        self._told = {"network": network, "encoder": encoder, "sizes": sizes}
        super().__init__(
            observation_space,
            action_space,
            lr_schedule,
            net_arch=[],
            features_extractor_class=_Observations,
            optimizer_class=optimizer_class,
            optimizer_kwargs=optimizer_kwargs,
        )

    @property
    def network(self) -> PolicyNetwork:
        """The network, as `export_network` takes it."""
        network = self.mlp_extractor.network
        assert isinstance(network, PolicyNetwork)
        return network

    def _build(self, lr_schedule: Schedule) -> None:
        """Make the network and the optimiser; fresh weights stay as the network draws them."""
        network = _made(self.observation_space, **self._told)  # type: ignore[arg-type]  # a dict of different things
        if network.atoms != 1:
            raise ValueError(f"atoms={network.atoms}: a policy needs one number for each action")
        self.mlp_extractor = _Heads(network)  # type: ignore[assignment]  # SB3 names classes of its own
        self.action_net = nn.Identity()
        self.value_net = nn.Identity()  # type: ignore[assignment]  # SB3 names a linear layer
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)  # type: ignore[call-arg]  # as in SB3

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {
            "observation_space": self.observation_space,
            "action_space": self.action_space,
            "lr_schedule": self._dummy_schedule,  # a policy that is loaded alone does not learn
            **self._told,
            "optimizer_class": self.optimizer_class,
            "optimizer_kwargs": self.optimizer_kwargs,
        }


class _Observations(BaseFeaturesExtractor):
    """The array of the encoder as it is."""

    def __init__(self, observation_space: spaces.Space[Any]) -> None:
        super().__init__(observation_space, _box(observation_space).shape[0])

    def forward(self, observations: PyTorchObs) -> torch.Tensor:
        """`(N, E)`."""
        return _array(observations)


class _Heads(nn.Module):
    """A network in the place of SB3's layers for actor and critic; both outputs are final."""

    def __init__(self, network: PolicyNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores `(N, 109)` and values `(N, 1)`."""
        scores, values = self.network(observations)
        return scores, values[:, None]

    def forward_actor(self, observations: torch.Tensor) -> torch.Tensor:
        """Scores `(N, 109)`."""
        return self.forward(observations)[0]

    def forward_critic(self, observations: torch.Tensor) -> torch.Tensor:
        """Values `(N, 1)`."""
        return self.forward(observations)[1]


def _made(
    observation_space: spaces.Space[Any], network: str, encoder: str | Encoder, sizes: Mapping[str, Any] | None
) -> PolicyNetwork:
    """A network with fresh weights for an observation space."""
    found, shape = as_encoder(encoder), _box(observation_space).shape
    if shape != found.shape:
        raise ValueError(f"observations have the shape {shape}, but the encoder {found.name!r} makes {found.shape}")
    return make_network(network, found, **(sizes or {}))


def _box(observation_space: spaces.Space[Any]) -> spaces.Box:
    """The space of the encoder's array."""
    space = observation_space["observation"] if isinstance(observation_space, spaces.Dict) else observation_space
    if not isinstance(space, spaces.Box):
        raise ValueError(f"the observation space {space} is not the array of an encoder")
    return space


def _array(observations: PyTorchObs) -> torch.Tensor:
    """The encoder's array in observations."""
    return observations if isinstance(observations, torch.Tensor) else observations["observation"]
