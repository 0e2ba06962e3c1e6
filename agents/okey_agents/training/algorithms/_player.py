"""The bot of a network that learns."""

import copy

import numpy as np
import numpy.typing as npt
import torch

from okey_agents.training.networks import PolicyNetwork
from okey_env.actions import NUM_ACTIONS
from okey_env.engine.batch import observed_masks
from okey_env.observation import Observation


class _Player:
    """Plays the legal action with the highest score, the first of equals."""

    def __init__(self, network: PolicyNetwork, name: str) -> None:
        self.name = name
        self.network = network

    def reset(self, seed: int) -> None:
        """Nothing to settle: the same observation always gets the same move."""

    def act(self, observation: Observation) -> int:
        """Choose one of `observation.legal_actions`."""
        return int(self.act_batch(observation.records)[0])

    def act_batch(self, records: npt.NDArray[np.record]) -> npt.NDArray[np.int64]:
        """Choose for each of `(N,)` OBSERVATION records: `(N,)` actions."""
        encoder = self.network.encoder
        observations = np.zeros((len(records), encoder.size), np.float32)
        masks = np.zeros((len(records), NUM_ACTIONS), np.int8)
        encoder.fill_batch(records, observations)
        observed_masks(records, masks)
        with torch.no_grad():
            scores = self.network(torch.from_numpy(observations))[0].numpy()
        if scores.ndim == 3:  # distributions
            scores = scores.mean(2)
        best: npt.NDArray[np.int64] = np.where(masks, scores, -np.inf).argmax(1)
        return best


def player_of(network: PolicyNetwork, name: str) -> _Player:
    """A bot with the weights that the network has now."""
    return _Player(copy.deepcopy(network), name)
