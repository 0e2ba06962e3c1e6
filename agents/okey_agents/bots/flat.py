"""FlatBot: a flat policy, a network that scores all 109 actions from an encoder's array."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from okey_agents.bots.network import best_legal
from okey_env.actions import NUM_ACTIONS
from okey_env.encoders import Encoder
from okey_env.engine.batch import observed_masks
from okey_env.observation import Observation

Floats = npt.NDArray[np.float32]


class ActionScores(Protocol):
    """A network on plain arrays, without torch: `Network`, `KindsNetwork` or `TransformerNetwork`."""

    def __call__(self, inputs: Floats) -> Floats:
        """The scores `(N, 109)` for inputs `(N, E)`, possibly as a view that the next call overwrites."""


class FlatBot:
    """A neural network that scores all actions and plays the legal one with the highest score, the first of equals.

    Args:
        name: the name under which it is reported.
        encoder: makes the network's inputs from an observation.
        network: from the encoder's array to a score for each of the 109 actions.
        manifest: the content of `bot.json`.
    """

    def __init__(
        self, name: str, encoder: Encoder, network: ActionScores, manifest: Mapping[str, Any] | None = None
    ) -> None:
        self.name = name
        self.encoder = encoder
        self.network = network
        self.manifest: Mapping[str, Any] = manifest or {}
        self._make_buffers(1)

    def reset(self, seed: int) -> None:
        """Nothing to settle: the same observation always gets the same move."""

    def act(self, observation: Observation) -> int:
        """Choose one of `observation.legal_actions`."""
        return int(self.act_batch(observation.records)[0])

    def act_batch(self, records: npt.NDArray[np.record]) -> npt.NDArray[np.int64]:
        """Choose for each of `(N,)` OBSERVATION records: `(N,)` actions."""
        count = len(records)
        if count > len(self._inputs):
            self._make_buffers(count)
        self.encoder.fill_batch(records, self._inputs[:count])
        observed_masks(records, self._masks[:count])
        best_legal(self.network(self._inputs[:count]), self._masks[:count], self._best[:count])
        return self._best[:count].copy()

    def _make_buffers(self, count: int) -> None:
        self._inputs = np.zeros((count, self.encoder.size), np.float32)
        self._masks = np.zeros((count, NUM_ACTIONS), np.int8)
        self._best = np.zeros(count, np.int64)
