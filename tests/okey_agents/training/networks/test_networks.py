"""The networks in torch: the two ways through `kinds`, and what the symmetries of the tiles ask of a network."""

from typing import Any

import numpy as np
import pytest
import torch

from okey_agents.training.networks import NETWORKS, Kinds, make_network, num_weights
from okey_env.actions import NUM_ACTIONS
from okey_env.encoders import as_encoder
from okey_env.symmetries import turn_actions, turn_observations
from tests.okey_agents.training.observed import ALL, observed, shaken

WITH_PLANES = ["tiles", "tiles_raw"]


def _dense_and_sparse(encoder: str, atoms: int) -> tuple[Kinds, Kinds]:
    dense, sparse = (shaken("kinds", encoder, atoms=atoms) for _ in range(2))
    assert isinstance(dense, Kinds)
    assert isinstance(sparse, Kinds)
    dense.dense = True
    return dense, sparse


@pytest.mark.parametrize("encoder", WITH_PLANES)
@pytest.mark.parametrize("atoms", [1, 3])
def test_kinds_gives_the_same_scores_values_and_gradients_on_dense_arrays(encoder: str, atoms: int) -> None:
    observations, masks = observed(encoder)
    seen, allowed = torch.from_numpy(observations), torch.from_numpy(masks != 0)
    gradients = []
    results = []
    for network in _dense_and_sparse(encoder, atoms):
        scores, values = network(seen)
        legal = scores[allowed]
        features = network.features(seen)
        generator = torch.Generator().manual_seed(1)
        weights = [torch.randn(part.shape, generator=generator) for part in (legal, values, features)]
        loss = sum((part * weight).mean() for part, weight in zip((legal, values, features), weights, strict=True))
        assert isinstance(loss, torch.Tensor)
        loss.backward()  # type: ignore[no-untyped-call]
        gradients.append({name: parameter.grad for name, parameter in network.named_parameters()})
        results.append((legal.detach(), values.detach(), features.detach()))
    for dense, sparse in zip(*results, strict=True):
        assert dense.std() > 0.01
        torch.testing.assert_close(sparse, dense, rtol=1e-4, atol=1e-5)
    for name, gradient in gradients[0].items():
        assert gradient is not None, name
        other = gradients[1][name]
        assert other is not None, name
        assert gradient.abs().max() > 0, name
        torch.testing.assert_close(other, gradient, rtol=1e-3, atol=1e-5, msg=name)


@pytest.mark.parametrize("encoder", WITH_PLANES)
@pytest.mark.parametrize("name", ["kinds", "transformer"])
def test_exchanged_colours_exchange_the_scores_and_nothing_else(name: str, encoder: str) -> None:
    network = shaken(name, encoder)
    observations, masks = observed(encoder)
    observations, masks = observations[::4], masks[::4]
    with torch.no_grad():
        scores, values = (part.numpy() for part in network(torch.from_numpy(observations)))
        for symmetry in (1, 9, 23):
            turned = turn_observations(observations, symmetry, network.encoder)
            of_turned, values_of_turned = (part.numpy() for part in network(torch.from_numpy(turned)))
            back = of_turned[:, turn_actions(np.arange(NUM_ACTIONS), symmetry)]
            np.testing.assert_allclose(np.where(masks, back, 0), np.where(masks, scores, 0), atol=1e-4)
            np.testing.assert_allclose(values_of_turned, values, atol=1e-4)
            assert np.abs(np.where(masks, of_turned - scores, 0)).max() > 0.1  # the colours did change something


def test_a_dense_network_does_not_know_the_colours() -> None:
    network = shaken("mlp", "tiles")
    observations, _ = observed("tiles")
    with torch.no_grad():
        values = network(torch.from_numpy(observations))[1]
        of_turned = network(torch.from_numpy(turn_observations(observations, 9, network.encoder)))[1]
    assert (values - of_turned).abs().max() > 0.1


@pytest.mark.parametrize("name", ["kinds", "mlp", "transformer"])
def test_its_sizes_make_the_same_network_again(name: str) -> None:
    sizes: dict[str, dict[str, Any]] = {
        "kinds": {"width": 24, "pooled": 20},
        "mlp": {"widths": (30, 20)},
        "transformer": {"width": 12, "heads": 3, "layers": 1},
    }
    network = shaken(name, "tiles_raw", **sizes[name])
    again = make_network(name, network.encoder, **network.sizes)
    again.load_state_dict(network.state_dict())
    assert network.sizes == sizes[name]
    assert num_weights(again) == num_weights(network)
    assert network.features(torch.zeros(2, network.encoder.size)).shape == (2, network.num_features)


def test_atoms_are_the_last_axis_of_the_scores() -> None:
    for name in ("kinds", "mlp", "transformer"):
        scores, values = make_network(name, as_encoder("tiles"), atoms=5)(torch.zeros(3, as_encoder("tiles").size))
        assert scores.shape == (3, NUM_ACTIONS, 5)
        assert values.shape == (3,)


def test_what_cannot_be_a_network_is_refused() -> None:
    tiles, flat = as_encoder("tiles"), as_encoder("flat")
    with pytest.raises(ValueError, match="network='tree' is not a network: expected 'kinds', 'mlp', 'transformer'"):
        make_network("tree", tiles)
    for name in ("kinds", "transformer"):
        with pytest.raises(ValueError, match="the encoder 'flat' has no planes"):
            make_network(name, flat)
    with pytest.raises(ValueError, match="width=7 is too small: expected 8 or more"):
        make_network("kinds", tiles, width=7)
    with pytest.raises(ValueError, match="width=32 is not a multiple of heads=5"):
        make_network("transformer", tiles, heads=5)
    with pytest.raises(ValueError, match="atoms=0: expected 1 or more"):
        make_network("mlp", tiles, atoms=0)


@pytest.mark.parametrize("name", sorted(NETWORKS))
@pytest.mark.parametrize("atoms", [1, 3])
def test_no_observations_have_no_scores(name: str, atoms: int) -> None:
    encoder = as_encoder("tiles")
    scores, values = make_network(name, encoder, atoms=atoms)(torch.empty(0, encoder.size))
    assert scores.shape == ((0, NUM_ACTIONS) if atoms == 1 else (0, NUM_ACTIONS, atoms))
    assert values.shape == (0,)


@pytest.mark.parametrize(("name", "encoder"), ALL)
def test_a_network_is_a_plain_module_under_vmap_and_functional_call(name: str, encoder: str) -> None:
    """As TorchRL calls the networks of a loss: several sets of weights at once, and observations without memory."""
    network = shaken(name, encoder)
    observations = torch.from_numpy(observed(encoder)[0][:6])
    masks = torch.from_numpy(observed(encoder)[1][:6]) != 0
    weights = {key: torch.stack([value.detach(), value.detach() * 2]) for key, value in network.named_parameters()}

    def scores(parameters: dict[str, torch.Tensor], array: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.func.functional_call(network, parameters, (array,))[0]
        return result

    with torch.no_grad():
        both = torch.vmap(scores, (0, None))(weights, observations)
        in_parts = torch.vmap(scores, (None, 0))({k: v[0] for k, v in weights.items()}, observations.view(2, 3, -1))
        alone = network(observations)[0]
    torch.testing.assert_close(both[0][masks], alone[masks], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(in_parts.flatten(0, 1)[masks], alone[masks], rtol=1e-4, atol=1e-4)
    assert not torch.allclose(both[1][masks], alone[masks])
