"""Observations of whole rounds, and networks whose scores are far apart, for the tests of networks."""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from okey_agents.training.networks import PolicyNetwork, make_network
from okey_env.encoders import as_encoder
from okey_env.vector import SelfPlay

ALL = [
    ("kinds", "tiles"),
    ("kinds", "tiles_raw"),
    ("transformer", "tiles"),
    ("transformer", "tiles_raw"),
    ("mlp", "tiles"),
    ("mlp", "tiles_raw"),
    ("mlp", "flat"),
]
"""Networks and encoders that fit together."""


@functools.cache
def observed(encoder: str) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]:
    """Observations `(960, E)` and masks `(960, 109)`, spread over the first 240 decisions of six games at random."""
    games = SelfPlay(6, "gamelake", encoder, seed=3)
    games.reset()
    generator = np.random.default_rng(3)
    observations, masks = [], []
    for step in range(240):
        if step % 3:
            observations.append(games.observations.copy())
            masks.append(games.masks.copy())
        games.step((games.masks * generator.random(games.masks.shape)).argmax(axis=1))
    return np.concatenate(observations), np.concatenate(masks)


def shaken(name: str, encoder: str, **sizes: Any) -> PolicyNetwork:
    """A network whose weights, biases included, are far from their beginning, so that its scores differ."""
    torch.manual_seed(7)
    network = make_network(name, as_encoder(encoder), **sizes)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return network
