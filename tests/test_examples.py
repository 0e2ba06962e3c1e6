"""Examples run as they are, on what is installed."""

import runpy

import pytest

from okey_agents.evaluate.arena import evaluate
from tests.places import ROOT


@pytest.mark.heavy
def test_ppo_learns_from_nothing_to_beat_random_players() -> None:
    ppo = runpy.run_path(str(ROOT / "examples" / "ppo.py"))
    network = ppo["learn"](seconds=25.0)
    points = evaluate(ppo["player"](network), "random", deals=100, seed=7, workers=1).points
    assert points.low > 1.5  # random weights have 0: with other random players hardly anybody finishes
