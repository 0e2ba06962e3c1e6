"""The network `mlp`: dense layers over the whole array, with weights of their own for each entry."""

import itertools
from collections.abc import Sequence

import torch
from torch import nn

from okey_agents.training.networks.network import PolicyNetwork, aligned, begin_small
from okey_env.actions import NUM_ACTIONS
from okey_env.encoders import Encoder


class Mlp(PolicyNetwork):
    """ReLU layers, then one linear layer for scores and one for the value.

    Args:
        encoder: any.
        atoms: numbers for each action; 1: a score.
        widths: of the ReLU layers.
    """

    def __init__(self, encoder: Encoder, atoms: int = 1, widths: Sequence[int] = (256, 256)) -> None:
        super().__init__(encoder, atoms)
        sizes = [encoder.size, *widths]
        layers = [layer for pair in itertools.pairwise(sizes) for layer in (nn.Linear(*pair), nn.ReLU())]
        self.num_features = sizes[-1]
        self.sizes = {"widths": tuple(widths)}
        self.trunk = nn.Sequential(*layers)
        self.scores = nn.Linear(sizes[-1], NUM_ACTIONS * atoms)
        self.value = nn.Linear(sizes[-1], 1)
        begin_small(self.scores, self.value)

    def features(self, observations: torch.Tensor) -> torch.Tensor:
        """`(N, widths[-1])`."""
        features: torch.Tensor = self.trunk(aligned(observations))
        return features

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores `(N, 109)`, or `(N, 109, atoms)`, and values `(N,)` of `(N, E)` observations."""
        features = self.features(observations)
        return self._shaped(self.scores(features)), self.value(features)[:, 0]
