"""Examples run as they are, on what is installed."""

import runpy

import numpy as np
import pytest

from okey_agents.evaluate.arena import evaluate
from okey_agents.training.networks import bot_of
from tests.places import ROOT


@pytest.mark.heavy
def test_ppo_learns_from_nothing_to_beat_random_players() -> None:
    ppo = runpy.run_path(str(ROOT / "examples" / "ppo.py"))
    network = ppo["learn"](seconds=25.0)
    points = evaluate(ppo["player"](network), "random", deals=100, seed=7, workers=1).points
    assert points.low > 1.5  # random weights have 0: with other random players hardly anybody finishes


@pytest.mark.heavy
def test_ppo_over_a_vector_of_environments_learns_from_nothing() -> None:
    example = runpy.run_path(str(ROOT / "examples" / "ppo_vector.py"))
    network, _ = example["learn"](seconds=15.0)
    points = evaluate(bot_of(network), "random", deals=100, seed=7, workers=1).points
    assert points.low > 1.5


@pytest.mark.heavy
def test_a_recurrent_network_over_events_learns_from_nothing() -> None:
    example = runpy.run_path(str(ROOT / "examples" / "events_ppo.py"))
    network, _ = example["learn"](seconds=20.0)
    points = evaluate(example["EventsBot"](network), "random", deals=60, seed=7, workers=1).points
    assert points.low > 1.5


@pytest.mark.heavy
def test_dqn_of_stable_baselines3_learns_with_masks_at_every_place_that_needs_them() -> None:
    example = runpy.run_path(str(ROOT / "examples" / "sb3_dqn.py"))
    model = example["learn"](6_000)
    assert example["score"](model, 200) > 0.2  # a random player wins less than 1 %
    played = model.replay_buffer
    masks = played.observations["action_mask"][: played.pos]
    assert np.take_along_axis(masks, played.actions[: played.pos], axis=2).all()
    assert np.isfinite(
        model.q_net(model.policy.obs_to_tensor(model.env.reset())[0]).max(dim=1).values.detach().numpy()
    ).all()
