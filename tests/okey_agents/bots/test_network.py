"""The kernel that runs a network: right, and the same bits alone and in a batch."""

import itertools

import numpy as np
import numpy.typing as npt
import pytest

from okey_agents.bots.network import Network, best_legal


def _network(sizes: list[int], seed: int = 0) -> Network:
    generator = np.random.default_rng(seed)
    return Network(
        [
            (
                (generator.normal(size=(inputs, outputs)) / 4).astype(np.float32),
                generator.normal(size=outputs).astype(np.float32),
            )
            for inputs, outputs in itertools.pairwise(sizes)
        ]
    )


def _slowly(network: Network, inputs: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    values = inputs.astype(np.float64)
    for number, (weights, bias) in enumerate(network.layers, 1):
        values = values @ weights.astype(np.float64) + bias
        if number < len(network.layers):
            values = np.maximum(values, 0)
    return values


@pytest.mark.parametrize("sizes", [[5, 3], [7, 16, 4], [40, 33, 17, 109]])
def test_it_computes_what_the_formula_says(sizes: list[int]) -> None:
    network = _network(sizes)
    inputs = np.random.default_rng(1).normal(size=(50, sizes[0])).astype(np.float32)
    inputs[inputs < 0.3] = 0
    assert network.sizes == sizes
    np.testing.assert_allclose(network(inputs), _slowly(network, inputs), rtol=1e-5, atol=1e-5)


def test_a_row_gives_the_same_bits_alone_and_in_a_batch() -> None:
    network = _network([40, 32, 32, 109])
    inputs = np.random.default_rng(2).normal(size=(64, 40)).astype(np.float32)
    together = network(inputs).copy()
    alone = np.concatenate([network(inputs[i : i + 1]).copy() for i in range(64)])
    np.testing.assert_array_equal(together, alone)


def test_each_sum_goes_over_the_inputs_in_their_order_rounded_after_each_product() -> None:
    network = _network([23, 13])
    (weights, bias), *_ = network.layers
    inputs = np.random.default_rng(3).normal(size=(20, 23)).astype(np.float32)
    inputs[inputs < -0.2] = 0
    sums = np.tile(bias, (20, 1))
    for number in range(23):
        sums += inputs[:, number : number + 1] * weights[number]
    np.testing.assert_array_equal(network(inputs), sums)


def test_the_first_of_the_best_allowed_is_chosen() -> None:
    scores = np.array([[3, 5, 5, 9], [1, 1, 1, 1], [-4, -2, -3, 0]], np.float32)
    masks = np.array([[1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 1, 0]], np.int8)
    best = np.zeros(3, np.int64)
    best_legal(scores, masks, best)
    assert best.tolist() == [1, 2, 2]
