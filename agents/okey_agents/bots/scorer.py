"""ScorerBot: the candidate scorer as a bot."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.rule_weights import RuleWeights
from okey_agents.thinking.scorer.choose import Policy, choose_batch
from okey_agents.thinking.scorer.network import NUM_WEIGHTS
from okey_env.observation import Observation

Floats = npt.NDArray[np.float32]


class ScorerBot:
    """A neural network that chooses among the moves that a rule rates best, the candidates.

    Args:
        name: the name under which it is reported.
        rule: the weights of the rule.
        weights: `(NUM_WEIGHTS,)` float32, of the network.
        margin: a move is a candidate if its rating is at most so much below the best, in score units.
        bonus: points that the rule's own choice gets on top of its score.
        manifest: the content of `bot.json`.

    Raises:
        ValueError: the weights have another shape.
    """

    def __init__(
        self,
        name: str,
        rule: RuleWeights,
        weights: Floats,
        margin: float,
        bonus: float,
        manifest: Mapping[str, Any] | None = None,
    ) -> None:
        if weights.shape != (NUM_WEIGHTS,):
            raise ValueError(f"the scorer has weights of shape {weights.shape}: expected ({NUM_WEIGHTS},)")
        self.name = name
        self.policy = Policy(rule, np.array(weights, np.float32), np.float32(margin), np.float32(bonus))
        """The rule, the network, `margin` and `bonus`, as kernels take them."""
        self.manifest: Mapping[str, Any] = manifest or {}

    def reset(self, seed: int) -> None:
        """Nothing to settle: the same observation always gets the same move."""

    def act(self, observation: Observation) -> int:
        """Choose one of `observation.legal_actions`."""
        return int(self.act_batch(observation.records)[0])

    def act_batch(self, records: npt.NDArray[np.record]) -> npt.NDArray[np.int64]:
        """Choose for each of `(N,)` OBSERVATION records: `(N,)` actions."""
        actions = np.empty(len(records), np.int64)
        choose_batch(records, self.policy, actions)
        return actions
