"""Rollouts: what a void round counts."""

import numpy as np
import pytest

from okey_agents.thinking.rollout import RolloutSettings, roll_out
from okey_agents.thinking.rule_weights import EFFICIENT
from okey_agents.thinking.scorer.choose import Policy
from okey_agents.thinking.value import load_value
from okey_env.round import Round


@pytest.mark.parametrize(("zero_sum", "expected"), [(True, 0.0), (False, -5.0)])
def test_a_void_round_counts_nothing_or_what_was_lost(zero_sum: bool, expected: float) -> None:
    """R5.5: everybody loses `void_points`, so of the zero-sum points nothing is left."""
    round = Round({"preset": "gamelake", "void_points": 5, "indicator_points": 0}, seed=1)
    while not round.over:
        round.apply(min(round.legal_actions()))  # nobody finishes
    rule = Policy(EFFICIENT)
    points = np.zeros(2, np.float64)
    settings = RolloutSettings(rule, rule, len(points), load_value("gamelake"), zero_sum)
    roll_out(round.games[0], 0, settings, np.uint64(1), points)
    assert points.tolist() == [expected, expected]
