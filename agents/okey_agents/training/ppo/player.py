"""The policy as a bot, while it learns."""

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from okey_agents.training.networks import PolicyNetwork
from okey_agents.training.ppo.learner import ActorCritic
from okey_env.actions import NUM_ACTIONS
from okey_env.engine.batch import observed_masks
from okey_env.observation import Observation


class Player:
    """Plays the legal action of the highest score, the first of equals.

    Args:
        network: may go on learning; the bot plays it as it is.
    """

    name = "learner"

    def __init__(self, network: PolicyNetwork) -> None:
        self.network = network

    def reset(self, seed: int) -> None:
        """Nothing to settle: the same observation always gets the same move."""

    def act(self, observation: Observation) -> int:
        """Choose one of `observation.legal_actions`."""
        return int(self.act_batch(observation.records)[0])

    def act_batch(self, records: npt.NDArray[np.record]) -> npt.NDArray[np.int64]:
        """Choose for each of `(N,)` OBSERVATION records: `(N,)` actions."""
        observations = np.zeros((len(records), self.network.encoder.size), np.float32)
        masks = np.zeros((len(records), NUM_ACTIONS), np.int8)
        self.network.encoder.fill_batch(records, observations)
        observed_masks(records, masks)
        with torch.no_grad():
            scores = self.network(torch.from_numpy(observations))[0].numpy()
        best: npt.NDArray[np.int64] = np.where(masks != 0, scores, -np.inf).argmax(axis=1)
        return best


def bot_of(model: nn.Module) -> Player:
    """The bot of an `ActorCritic`."""
    assert isinstance(model, ActorCritic)
    return Player(model.network)
