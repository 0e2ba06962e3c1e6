"""A trained network as plain arrays, and the kernel that runs it.

Each output is a sum over the inputs in their order, rounded after each product; inputs that are 0 are skipped. So a
row gives the same bits alone and in a batch, on every machine. Most of an observation is 0, so most of the first layer
costs nothing.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel

Floats = npt.NDArray[np.float32]

# Letters: N rows, I inputs and O outputs of a layer.


@kernel
def add_products(inputs: Floats, weights: Floats, outputs: Floats) -> None:
    """Add `inputs @ weights` to `outputs`.

    Args:
        inputs: `(N, I)`.
        weights: `(I, O)`, one row for each input.
        outputs: `(N, O)` to add to.
    """
    num_inputs, num_outputs = weights.shape
    used = np.empty(num_inputs, np.int64)  # the indices of the inputs that are not 0
    for i in range(len(inputs)):
        count = 0
        for j in range(num_inputs):
            used[count] = j
            count += inputs[i, j] != 0
        done = 0
        while done + 4 <= count:  # four inputs in one pass over the outputs; the order of the sums stays
            a, b, c, d = used[done], used[done + 1], used[done + 2], used[done + 3]
            at_a, at_b, at_c, at_d = inputs[i, a], inputs[i, b], inputs[i, c], inputs[i, d]
            for k in range(num_outputs):
                two = outputs[i, k] + at_a * weights[a, k] + at_b * weights[b, k]
                outputs[i, k] = two + at_c * weights[c, k] + at_d * weights[d, k]
            done += 4
        while done < count:
            j = used[done]
            for k in range(num_outputs):
                outputs[i, k] += inputs[i, j] * weights[j, k]
            done += 1


@kernel
def put_bias(bias: Floats, outputs: Floats) -> None:
    """Fill each row of `(N, O)` with a bias `(O,)`."""
    for i in range(outputs.shape[0]):
        for k in range(outputs.shape[1]):
            outputs[i, k] = bias[k]


@kernel
def cut_below_zero(values: Floats) -> None:
    """Apply a ReLU to `(N, O)` values in place."""
    for i in range(values.shape[0]):
        for k in range(values.shape[1]):
            values[i, k] = max(values[i, k], np.float32(0))


@kernel
def run_layer(inputs: Floats, weights: Floats, bias: Floats, relu: bool, outputs: Floats) -> None:
    """Run one layer: `outputs = inputs @ weights + bias`, with a ReLU if `relu`.

    Args:
        inputs: `(N, I)`.
        weights: `(I, O)`, one row for each input.
        bias: `(O,)`.
        relu: whether a ReLU follows.
        outputs: `(N, O)` to fill.
    """
    put_bias(bias, outputs)
    add_products(inputs, weights, outputs)
    if relu:
        cut_below_zero(outputs)


@kernel
def best_legal(scores: Floats, masks: npt.NDArray[np.int8], best: npt.NDArray[np.int64]) -> None:
    """Fill `(N,)` with the legal action that has the highest score in each row, the first of equals; -1 for none.

    Args:
        scores: `(N, A)`.
        masks: `(N, A)`, 1 for legal actions.
        best: `(N,)` to fill.
    """
    for i in range(scores.shape[0]):
        best[i] = -1
        for action in range(scores.shape[1]):
            if masks[i, action] != 0 and (best[i] < 0 or scores[i, action] > scores[i, best[i]]):
                best[i] = action


class Network:
    """A network of linear layers with a ReLU between them.

    Args:
        layers: weights `(I, O)` and bias `(O,)` of each, float32.

    >>> network = Network([(np.eye(2, dtype=np.float32), np.zeros(2, np.float32))])
    >>> network(np.array([[1, -2]], np.float32)).tolist()
    [[1.0, -2.0]]
    """

    def __init__(self, layers: Sequence[tuple[Floats, Floats]]) -> None:
        self.layers = [
            (np.ascontiguousarray(weights, np.float32), np.ascontiguousarray(bias, np.float32))
            for weights, bias in layers
        ]
        self._buffers: list[Floats] = []

    @property
    def sizes(self) -> list[int]:
        """The number of inputs, the width of each hidden layer, and the number of outputs."""
        return [self.layers[0][0].shape[0], *(len(bias) for _, bias in self.layers)]

    def __call__(self, inputs: Floats) -> Floats:
        """The outputs `(N, O)` for inputs `(N, I)`, as a view that the next call overwrites."""
        count = len(inputs)
        if not self._buffers or len(self._buffers[0]) < count:
            self._buffers = [np.empty((count, size), np.float32) for size in self.sizes[1:]]
        values = inputs
        for number, (weights, bias) in enumerate(self.layers, 1):
            outputs = self._buffers[number - 1][:count]
            run_layer(values, weights, bias, number < len(self.layers), outputs)
            values = outputs
        return values
