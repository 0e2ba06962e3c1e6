"""CompiledBot: a bot whose moves are computed by one kernel, as an object that meets the protocol of bots."""

from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from okey_env.checks import seed_number
from okey_env.observation import Observation

ChooseBatch: TypeAlias = "staticmethod[[npt.NDArray[np.record], np.uint64, npt.NDArray[np.int64]], None]"
"""A kernel that fills `(N,)` actions for `(N,)` records."""


class CompiledBot:
    """A bot made of kernels. A subclass defines `name` and `choose_batch`, or overrides `act_batch`.

    Args:
        seed: settles the moves; `reset` gives another.
    """

    name: str
    choose_batch: ClassVar[ChooseBatch]

    def __init__(self, seed: int = 0) -> None:
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Settle all randomness of the moves to come."""
        self._seed = np.uint64(seed_number(seed))

    def act(self, observation: Observation) -> int:
        """Choose one of `observation.legal_actions`."""
        return int(self.act_batch(observation.records)[0])

    def act_batch(self, records: npt.NDArray[np.record]) -> npt.NDArray[np.int64]:
        """Choose for each of `(N,)` OBSERVATION records: `(N,)` actions."""
        actions = np.empty(len(records), np.int64)
        self.choose_batch(records, self._seed, actions)
        return actions
