"""Examples run as they are, on what is installed."""

import runpy

import numpy as np

from okey_agents.evaluate.arena import evaluate
from tests.places import ROOT


def test_ppo_learns_from_its_own_play_and_its_network_plays_as_a_bot() -> None:
    ppo = runpy.run_path(str(ROOT / "examples" / "ppo.py"))
    untrained, network = ppo["Kinds"](), ppo["learn"](seconds=1.0)
    before, after = untrained.state_dict(), network.state_dict()
    assert all(not np.array_equal(before[name].numpy(), after[name].numpy()) for name in before)
    assert all(np.isfinite(values.numpy()).all() for values in after.values())
    points = evaluate(ppo["player"](network), "random", deals=2, seed=7, workers=1).points
    assert np.isfinite(points.mean)
