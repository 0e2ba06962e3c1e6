"""What the networks have in common: their inputs cut into planes and facts, and how their heads begin."""

import abc
from typing import Any

import torch
from torch import nn

from okey_env.actions import NUM_ACTIONS
from okey_env.encoders import Encoder
from okey_env.tiles import NUM_KINDS

MASKED = -1e8
"""The score of an illegal action; sb3-contrib has the same."""


class PolicyNetwork(nn.Module, abc.ABC):
    """A network from observations to scores and values; see `okey_agents.training.networks`.

    Args:
        encoder: makes the observations.
        atoms: numbers for each action; 1: a score.
    """

    num_features: int
    sizes: dict[str, Any]
    """The keywords, besides `atoms`, with which the class makes a network of the same shape."""

    def __init__(self, encoder: Encoder, atoms: int = 1) -> None:
        super().__init__()
        if atoms < 1:
            raise ValueError(f"atoms={atoms}: expected 1 or more")
        self.encoder = encoder
        self.atoms = atoms

    @abc.abstractmethod
    def features(self, observations: torch.Tensor) -> torch.Tensor:
        """`(N, num_features)` numbers that tell the whole of each observation."""

    @abc.abstractmethod
    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores `(N, 109)`, or `(N, 109, atoms)`, and values `(N,)` of `(N, E)` observations."""

    def _shaped(self, scores: torch.Tensor) -> torch.Tensor:
        """Scores `(N, 109 * atoms)` in their final shape."""
        return scores if self.atoms == 1 else scores.view(len(scores), NUM_ACTIONS, self.atoms)


class PlanesNetwork(PolicyNetwork):
    """A network that reads the array of an encoder as planes by kind and facts of the table."""

    def __init__(self, encoder: Encoder, atoms: int = 1) -> None:
        super().__init__(encoder, atoms)
        if encoder.num_planes == 0:
            raise ValueError(
                f"the encoder {encoder.name!r} has no planes: expected one like 'tiles', or the network 'mlp'"
            )
        self.num_planes = encoder.num_planes
        self.num_facts = encoder.size - NUM_KINDS * encoder.num_planes

    def planes_and_facts(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """`(N, 53, num_planes)` numbers of each kind, and `(N, num_facts)`."""
        end = NUM_KINDS * self.num_planes
        planes = observations[:, :end].view(len(observations), self.num_planes, NUM_KINDS).transpose(1, 2)
        return planes, observations[:, end:]


def aligned(observations: torch.Tensor) -> torch.Tensor:
    """The same numbers in memory that begins at a multiple of 64 bytes, which arrays of numpy need not do.

    Products of matrices round by how their memory is aligned, so a seed would not settle the weights.
    """
    return observations if not in_memory(observations) or observations.data_ptr() % 64 == 0 else observations.clone()


def in_memory(*tensors: torch.Tensor) -> bool:
    """Whether all are numbers in this machine's memory: not on a GPU, and no stand-ins of `vmap` or `torch.compile`."""
    try:
        return all(tensor.device.type == "cpu" and tensor.data_ptr() >= 0 for tensor in tensors)
    except RuntimeError:  # a stand-in has no storage
        return False


def legal_log_probs(scores: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """The logarithms of the softmax over the legal actions, very low for the others: `(N, 109)`."""
    return torch.log_softmax(scores.masked_fill(masks == 0, MASKED), dim=1)


def begin_small(*layers: nn.Linear) -> None:
    """Let a network begin with nearly equal scores, so that its first moves are nearly uniform."""
    for layer in layers:
        nn.init.orthogonal_(layer.weight, 0.01)
        nn.init.zeros_(layer.bias)
