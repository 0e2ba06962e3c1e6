"""Networks on plain arrays: the scores of torch, the same bits alone and in a batch, and bots that may be sent."""

import pickle

import numpy as np
import pytest
import torch

from okey_agents.bots.kinds_network import kinds_shapes
from okey_agents.bots.transformer_network import transformer_shapes
from okey_agents.training.networks import PolicyNetwork
from okey_agents.training.networks.plain import bot_of, scores_on_arrays, with_one_atom
from okey_env.vector import SelfPlay
from tests.okey_agents.training.observed import ALL, observed, shaken


@pytest.mark.parametrize(("name", "encoder"), ALL)
@pytest.mark.parametrize("atoms", [1, 3])
def test_arrays_give_the_scores_of_torch(name: str, encoder: str, atoms: int) -> None:
    network = shaken(name, encoder, atoms=atoms)
    observations, masks = observed(encoder)
    with torch.no_grad():
        scores = network(torch.from_numpy(observations))[0]
        by_torch = (scores if atoms == 1 else scores.mean(2)).numpy()
        by_copy = with_one_atom(network)(torch.from_numpy(observations))[0].numpy()
    by_arrays = scores_on_arrays(network)(observations)
    allowed = masks != 0
    assert by_torch[allowed].std() > 0.1
    np.testing.assert_allclose(by_arrays[allowed], by_torch[allowed], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(by_copy[allowed], by_torch[allowed], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "sizes"), [("kinds", {"width": 8, "pooled": 5}), ("transformer", {"width": 6, "heads": 3, "layers": 3})]
)
def test_arrays_give_the_scores_of_torch_at_other_sizes(name: str, sizes: dict[str, int]) -> None:
    network = shaken(name, "tiles", **sizes)
    observations, masks = observed("tiles")
    with torch.no_grad():
        by_torch = network(torch.from_numpy(observations))[0].numpy()
    allowed = masks != 0
    np.testing.assert_allclose(
        scores_on_arrays(network)(observations)[allowed], by_torch[allowed], rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize(("name", "encoder"), ALL)
def test_a_row_gives_the_same_bits_alone_and_in_a_batch(name: str, encoder: str) -> None:
    scores = scores_on_arrays(shaken(name, encoder))
    observations, _ = observed(encoder)
    together = scores(observations).copy()
    alone = np.concatenate([scores(observations[i : i + 1]).copy() for i in range(len(observations))])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(scores(observations[::-1].copy())[::-1], together)


@pytest.mark.parametrize("encoder", ["tiles", "tiles_raw"])
def test_the_shapes_that_bot_folders_ask_for_are_those_of_torch(encoder: str) -> None:
    def shapes_of(network: PolicyNetwork) -> dict[str, tuple[int, ...]]:
        return {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}

    kinds = shaken("kinds", encoder, width=24, pooled=20)
    assert kinds_shapes(kinds.encoder, width=24, pooled=20) == shapes_of(kinds)
    transformer = shaken("transformer", encoder, width=12, heads=3, layers=3)
    assert transformer_shapes(transformer.encoder, width=12, heads=3, layers=3) == shapes_of(transformer)


@pytest.mark.heavy
@pytest.mark.parametrize(("name", "encoder"), [("kinds", "tiles"), ("transformer", "tiles"), ("mlp", "flat")])
def test_a_bot_keeps_its_weights_and_may_be_sent(name: str, encoder: str) -> None:
    network = shaken(name, encoder)
    bot = bot_of(network, "mine")
    games = SelfPlay(32, encoder=encoder, seed=1)
    games.reset()
    for _ in range(3):
        games.step(bot.act_batch(games.records))
    moves = bot.act_batch(games.records)
    with torch.no_grad():
        scores = network(torch.from_numpy(games.observations))[0].numpy()
    np.testing.assert_array_equal(moves, np.where(games.masks, scores, -np.inf).argmax(axis=1))
    sent = pickle.loads(pickle.dumps(bot))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.neg_()
    assert sent.name == "mine"
    np.testing.assert_array_equal(sent.act_batch(games.records), moves)
    np.testing.assert_array_equal(bot.act_batch(games.records), moves)
    assert (bot_of(network).act_batch(games.records) != moves).any()


def test_a_bot_takes_nothing_from_the_generator_of_torch() -> None:
    network = shaken("kinds", "tiles_raw")
    torch.manual_seed(3)
    before = torch.get_rng_state()
    with_one_atom(network)
    torch.testing.assert_close(torch.get_rng_state(), before)


def test_a_network_of_ones_own_has_no_plain_form() -> None:
    class Mine(PolicyNetwork):
        def features(self, observations: torch.Tensor) -> torch.Tensor:
            return observations

        def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return observations[:, :109], observations[:, 0]

    with pytest.raises(ValueError, match="Mine has no form in plain arrays: expected kinds, mlp or transformer"):
        bot_of(Mine(shaken("mlp", "flat").encoder))
