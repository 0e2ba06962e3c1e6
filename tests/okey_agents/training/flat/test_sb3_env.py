"""The batch as Stable-Baselines3 sees it."""

import numpy as np
import pytest
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn

from okey_agents.training.flat.sb3_env import Sb3Env
from okey_env.vector import OkeyVectorEnv


@pytest.fixture
def env() -> Sb3Env:
    return Sb3Env(OkeyVectorEnv(6, opponents="random"), reward_unit=6.0)


def _play(env: Sb3Env, steps: int, seed: int) -> list[VecEnvStepReturn]:
    generator = np.random.default_rng(seed)
    told = []
    for _ in range(steps):
        masks = get_action_masks(env).reshape(6, 109)
        told.append(env.step((masks * generator.random(masks.shape)).argmax(axis=1)))
    return told


def test_masks_reach_the_trainer_in_one_piece(env: Sb3Env) -> None:
    env.seed(1)
    env.reset()
    assert is_masking_supported(env)
    assert get_action_masks(env).shape == (1, 6, 109)
    np.testing.assert_array_equal(get_action_masks(env)[0], env.env.masks == 1)


def test_what_was_returned_does_not_change_later(env: Sb3Env) -> None:
    env.seed(1)
    first = env.reset()
    before = first.copy()
    _play(env, 3, seed=0)
    np.testing.assert_array_equal(first, before)


def test_the_same_seed_gives_the_same_rounds(env: Sb3Env) -> None:
    env.seed(4)
    env.reset()
    one = _play(env, 30, seed=0)
    env.seed(4)
    env.reset()
    for (obs, rewards, dones, _), (obs_2, rewards_2, dones_2, _) in zip(one, _play(env, 30, seed=0), strict=True):
        np.testing.assert_array_equal(obs, obs_2)
        np.testing.assert_array_equal(rewards, rewards_2)
        np.testing.assert_array_equal(dones, dones_2)


def test_an_ended_round_tells_its_points_length_and_last_observation(env: Sb3Env) -> None:
    env.seed(2)
    env.reset()
    earned = np.zeros(6)
    lengths = np.zeros(6, np.int64)
    ended = 0
    for _, rewards, dones, infos in _play(env, 200, seed=1):
        earned += rewards * 6.0
        lengths += 1
        for i in range(6):
            assert bool(infos[i]) == bool(dones[i])
            if dones[i]:
                ended += 1
                assert infos[i]["episode"]["r"] == pytest.approx(earned[i], abs=1e-5)
                assert infos[i]["episode"]["l"] == lengths[i]
                assert infos[i]["terminal_observation"].shape == env.observation_space.shape
                assert infos[i]["TimeLimit.truncated"] is False
                earned[i] = lengths[i] = 0
    assert ended > 6
