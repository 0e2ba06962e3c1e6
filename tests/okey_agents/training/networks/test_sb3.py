"""The networks in MaskablePPO: they learn, are saved and loaded, and are exported."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env

from okey_agents.bots.flat import FlatBot
from okey_agents.bots.folder import load_bot
from okey_agents.training.export import export_network
from okey_agents.training.flat.sb3_env import Sb3Env
from okey_agents.training.networks.sb3 import NetworkExtractor, NetworkPolicy
from okey_env.vector import OkeyVectorEnv

SIZES: dict[str, dict[str, Any]] = {
    "kinds": {"width": 16, "pooled": 16},
    "mlp": {"widths": (16,)},
    "transformer": {"width": 8, "layers": 1},
}


def _env(encoder: str = "tiles_raw") -> Sb3Env:
    return Sb3Env(OkeyVectorEnv(8, opponents="random", encoder=encoder), reward_unit=6)


def _model(policy: Any, env: Any, **policy_kwargs: Any) -> MaskablePPO:
    return MaskablePPO(
        policy, env, n_steps=8, batch_size=32, n_epochs=2, learning_rate=0.01, policy_kwargs=policy_kwargs, seed=1
    )


@pytest.mark.heavy
@pytest.mark.parametrize("network", SIZES)
def test_it_learns_and_is_saved_loaded_and_exported(network: str, tmp_path: Path) -> None:
    env = _env()
    model = _model(NetworkPolicy, env, network=network, encoder="tiles_raw", sizes=SIZES[network])
    assert isinstance(model.policy, NetworkPolicy)
    before = {name: parameter.detach().clone() for name, parameter in model.policy.network.named_parameters()}
    model.learn(128)
    for name, parameter in model.policy.network.named_parameters():
        assert not torch.equal(parameter, before[name]), f"{name} has not learned"

    env.seed(2)
    observations, masks = env.reset(), env.action_masks()
    moves, _ = model.predict(observations, action_masks=masks, deterministic=True)
    with torch.no_grad():
        scores, values = model.policy.network(torch.from_numpy(observations))
        values_of_policy = model.policy.predict_values(torch.from_numpy(observations))
    np.testing.assert_array_equal(moves, np.where(masks, scores.numpy(), -np.inf).argmax(axis=1))
    torch.testing.assert_close(values_of_policy[:, 0], values)

    model.save(tmp_path / "model")
    model.policy.save(str(tmp_path / "policy"))
    loaded = MaskablePPO.load(tmp_path / "model", env=env)
    for policy in (loaded, NetworkPolicy.load(str(tmp_path / "policy"))):
        again, _ = policy.predict(observations, action_masks=masks, deterministic=True)
        np.testing.assert_array_equal(again, moves)
    loaded.learn(64)

    bot = load_bot(export_network(model.policy.network, tmp_path / "bot"))
    assert isinstance(bot, FlatBot)
    by_bot = np.where(masks, bot.network(observations), -np.inf).argmax(axis=1)
    np.testing.assert_array_equal(by_bot, moves)


@pytest.mark.heavy
def test_dicts_of_observations_reach_the_network() -> None:
    env = make_vec_env("okey/Round-v0", n_envs=2, env_kwargs={"opponents": "random", "encoder": "tiles_raw"})
    told = {"encoder": "tiles_raw", "sizes": SIZES["kinds"]}
    for policy, kwargs in (
        (NetworkPolicy, told),
        ("MultiInputPolicy", {"features_extractor_class": NetworkExtractor, "features_extractor_kwargs": told}),
    ):
        model = _model(policy, env, **kwargs).learn(32)
        observations = env.reset()
        assert isinstance(observations, dict)
        masks = observations["action_mask"]
        moves, _ = model.predict(observations, action_masks=masks, deterministic=True)
        assert masks[np.arange(2), moves].all()
        turned = {**observations, "observation": np.zeros_like(observations["observation"])}
        tensors = [model.policy.obs_to_tensor(seen)[0] for seen in (observations, turned)]
        values = [model.policy.predict_values(tensor) for tensor in tensors]
        assert not torch.allclose(values[0], values[1])


def test_features_are_those_of_the_network() -> None:
    env = _env()
    torch.manual_seed(1)
    extractor = NetworkExtractor(env.observation_space, "transformer", "tiles_raw", SIZES["transformer"])
    observations = torch.from_numpy(env.reset())
    assert extractor.features_dim == 8
    torch.testing.assert_close(extractor(observations), extractor.network.features(observations))


def test_other_observations_and_atoms_are_refused() -> None:
    with pytest.raises(ValueError, match=r"observations have the shape \(995,\), but the encoder 'tiles' makes"):
        _model(NetworkPolicy, _env(), network="kinds", encoder="tiles")
    with pytest.raises(ValueError, match="atoms=3: a policy needs one number for each action"):
        _model(NetworkPolicy, _env(), encoder="tiles_raw", sizes={"atoms": 3})
