"""The network `transformer` as plain arrays, and the kernels that run it.

`okey_agents.training.networks.transformer` is the same network in torch, and says what it computes. As in
`bots.network`, a row gives the same bits alone and in a batch, on every machine: each row is computed by itself, each
sum in a fixed order, and powers by a polynomial, not by the system's `exp`.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.bots.network import add_products, put_bias, run_layer
from okey_env.actions import FINISH, NUM_ACTIONS, THROW
from okey_env.encoders import Encoder
from okey_env.engine._jit import kernel
from okey_env.tiles import NUM_FACES, NUM_KINDS, NUM_NUMBERS

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

TABLE = NUM_KINDS
"""The place of the table's token, after the kinds."""
NUM_TOKENS = NUM_KINDS + 1
_STEPS = NUM_NUMBERS // 2 + 1  # 0 to 6 numbers apart
NUM_RELATIONS = _STEPS + 4
"""How two tokens may lie to each other: 7 in one colour, same number, neither, with a wild tile, with the table."""

_EPSILON = np.float32(1e-5)  # of torch's LayerNorm
_LOWEST = -126  # below 2 to this power a float32 loses digits
_HALVES = 2.0 ** -np.arange(1 - _LOWEST, dtype=np.float32)
_LOG2_E = np.float32(1 / np.log(2))
# The series of 2**x; up to 0.5 away from 0 its error is below the digits of a float32.
_C1, _C2, _C3, _C4, _C5, _C6 = (np.float32(c) for c in np.cumprod([np.log(2) / n for n in range(1, 7)]))

# Letters: N rows, W numbers of a token, H heads, L blocks, P planes, F facts.


def relations() -> Ints:
    """`(54, 54)`: how the token of a column lies to the token of a row, from 0 to `NUM_RELATIONS` - 1."""
    same_number, neither, wild, table = range(_STEPS, NUM_RELATIONS)
    found = np.full((NUM_TOKENS, NUM_TOKENS), table)
    for one in range(NUM_KINDS):
        for other in range(NUM_KINDS):
            if max(one, other) >= NUM_FACES:
                found[one, other] = wild
            elif one // NUM_NUMBERS == other // NUM_NUMBERS:
                apart = abs(one - other)
                found[one, other] = min(apart, NUM_NUMBERS - apart)
            else:
                found[one, other] = same_number if one % NUM_NUMBERS == other % NUM_NUMBERS else neither
    return found


def transformer_shapes(encoder: Encoder, width: int, heads: int, layers: int) -> dict[str, tuple[int, ...]]:
    """The shapes of the weights, by the names that torch gives them.

    Raises:
        ValueError: the encoder has no planes, or `heads` does not divide `width`.
    """
    if encoder.num_planes == 0:
        raise ValueError(f"the encoder {encoder.name!r} has no planes: expected one like 'tiles', or the network 'mlp'")
    if heads < 1 or width % heads:
        raise ValueError(f"width={width} is not a multiple of heads={heads}")
    linear = {
        "kind": (width, encoder.num_planes),
        "facts": (width, encoder.size - NUM_KINDS * encoder.num_planes),
        "lay": (2, width),
        "rest": (3, width),
        "value": (1, width),
    }
    norms = ["norm"]
    shapes: dict[str, tuple[int, ...]] = {}
    for block in (f"blocks.{number}" for number in range(layers)):
        linear |= {
            f"{block}.ask": (3 * width, width),
            f"{block}.answer": (width, width),
            f"{block}.wide": (2 * width, width),
            f"{block}.narrow": (width, 2 * width),
        }
        norms += [f"{block}.norm", f"{block}.norm_after"]
        shapes[f"{block}.bias"] = (heads, NUM_RELATIONS)
    for name, (outputs, inputs) in linear.items():
        shapes |= {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}
    for name in norms:
        shapes |= {f"{name}.weight": (width,), f"{name}.bias": (width,)}
    return shapes


class _Layers(NamedTuple):
    """Weights `(I, O)`, one row for each input; those of blocks are stacked along the first axis, `(L, …)`."""

    kind: Floats
    kind_bias: Floats
    facts: Floats
    facts_bias: Floats
    relations: Floats
    """`(L, H, 54, 54)`: what is added to the attention of a row to a column."""
    norms: Floats
    """`(2 L + 1, 2, W)`: weights and bias of the norms, in the order in which they are used."""
    ask: Floats
    ask_bias: Floats
    answer: Floats
    answer_bias: Floats
    wide: Floats
    wide_bias: Floats
    narrow: Floats
    narrow_bias: Floats
    lay: Floats
    lay_bias: Floats
    rest: Floats
    rest_bias: Floats


@kernel
def _exponentials(values: Floats) -> None:
    """Replace values, none above 0, by their exponentials; NaN becomes 0."""
    for i in range(len(values)):
        power = values[i] * _LOG2_E
        power = power if power > _LOWEST else np.float32(_LOWEST)
        whole = int(np.float32(0.5) - power)
        x = power + np.float32(whole)
        high = _C3 + x * (_C4 + x * (_C5 + x * _C6))
        values[i] = (np.float32(1) + x * (_C1 + x * (_C2 + x * high))) * _HALVES[whole]


@kernel
def _normalise(tokens: Floats, norm: Floats, normed: Floats) -> None:
    """Fill `(54, W)` with tokens that have mean 0 and variance 1, times `norm[0]`, plus `norm[1]`."""
    width = tokens.shape[1]
    share = np.float32(1) / np.float32(width)
    for token in range(NUM_TOKENS):
        mean, variance = np.float32(0), np.float32(0)
        for unit in range(width):
            mean += tokens[token, unit]
        mean *= share
        for unit in range(width):
            variance += (tokens[token, unit] - mean) * (tokens[token, unit] - mean)
        scale = np.float32(1) / np.sqrt(variance * share + _EPSILON)
        for unit in range(width):
            normed[token, unit] = (tokens[token, unit] - mean) * scale * norm[0, unit] + norm[1, unit]


@kernel
def _attend(asked: Floats, relations: Floats, heard: Floats) -> None:
    """Fill `(54, W)` with what each token hears.

    Args:
        asked: `(54, 3 W)`, queries, keys and values.
        relations: `(H, 54, 54)`.
        heard: to fill.
    """
    heads, width = len(relations), heard.shape[1]
    size = width // heads
    scale = np.float32(1) / np.sqrt(np.float32(size))
    queries, keys = np.empty((NUM_TOKENS, size), np.float32), np.empty((size, NUM_TOKENS), np.float32)
    values, of_head = np.empty((NUM_TOKENS, size), np.float32), np.empty((NUM_TOKENS, size), np.float32)
    near = np.empty((NUM_TOKENS, NUM_TOKENS), np.float32)
    for head in range(heads):
        first = head * size
        for token in range(NUM_TOKENS):
            for unit in range(size):
                queries[token, unit] = asked[token, first + unit]
                keys[unit, token] = asked[token, width + first + unit] * scale
                values[token, unit] = asked[token, 2 * width + first + unit]
        near[:] = relations[head]
        add_products(queries, keys, near)
        for token in range(NUM_TOKENS):
            highest = near[token, 0]
            for other in range(1, NUM_TOKENS):
                highest = max(highest, near[token, other])
            for other in range(NUM_TOKENS):
                near[token, other] -= highest
            _exponentials(near[token])
            total = np.float32(0)
            for other in range(NUM_TOKENS):
                total += near[token, other]
            share = np.float32(1) / total
            for other in range(NUM_TOKENS):
                near[token, other] *= share
        of_head[:] = 0
        add_products(near, values, of_head)
        heard[:, first : first + size] = of_head


@kernel
def _run_transformer(seen: Floats, layers: _Layers, scores: Floats) -> None:
    """Fill the scores `(N, 109)` of observations `(N, E)`."""
    planes, width = layers.kind.shape
    tokens, normed = np.empty((NUM_TOKENS, width), np.float32), np.empty((NUM_TOKENS, width), np.float32)
    asked, wide = np.empty((NUM_TOKENS, 3 * width), np.float32), np.empty((NUM_TOKENS, 2 * width), np.float32)
    laid = np.empty((NUM_KINDS, 2), np.float32)
    for row in range(len(seen)):
        put_bias(layers.kind_bias, tokens[:TABLE])
        add_products(seen[row, : planes * NUM_KINDS].reshape(planes, NUM_KINDS).T, layers.kind, tokens[:TABLE])
        facts = seen[row : row + 1, planes * NUM_KINDS :]
        run_layer(facts, layers.facts, layers.facts_bias, False, tokens[TABLE:])
        for block in range(len(layers.ask)):
            _normalise(tokens, layers.norms[2 * block], normed)
            run_layer(normed, layers.ask[block], layers.ask_bias[block], False, asked)
            _attend(asked, layers.relations[block], normed)
            for token in range(NUM_TOKENS):
                for unit in range(width):
                    tokens[token, unit] += layers.answer_bias[block, unit]
            add_products(normed, layers.answer[block], tokens)
            _normalise(tokens, layers.norms[2 * block + 1], normed)
            run_layer(normed, layers.wide[block], layers.wide_bias[block], True, wide)
            for token in range(NUM_TOKENS):
                for unit in range(width):
                    tokens[token, unit] += layers.narrow_bias[block, unit]
            add_products(wide, layers.narrow[block], tokens)
        _normalise(tokens, layers.norms[2 * len(layers.ask)], normed)
        run_layer(normed[:TABLE], layers.lay, layers.lay_bias, False, laid)
        for kind in range(NUM_KINDS):
            scores[row, THROW + kind] = laid[kind, 0]
            scores[row, FINISH + kind] = laid[kind, 1]
        run_layer(normed[TABLE:], layers.rest, layers.rest_bias, False, scores[row : row + 1, :THROW])


class TransformerNetwork:
    """The network `transformer`: from observations of an encoder to a score for each action.

    Args:
        arrays: weights with the names and shapes of `transformer_shapes`.
    """

    def __init__(self, arrays: Mapping[str, Floats]) -> None:
        weights = {name: np.ascontiguousarray(np.asarray(array, np.float32).T) for name, array in arrays.items()}
        self.layers = sum(name.endswith(".ask.weight") for name in weights)
        width = weights["kind.weight"].shape[1]
        blocks = [f"blocks.{number}" for number in range(self.layers)]
        norms = [name for block in blocks for name in (f"{block}.norm", f"{block}.norm_after")]

        def stacked(name: str, *shape: int) -> Floats:
            parts = [weights[f"{block}.{name}"] for block in blocks]
            return np.stack(parts) if parts else np.zeros((0, *shape), np.float32)

        lie = relations()
        bias = [np.asarray(arrays[f"{block}.bias"], np.float32)[:, lie] for block in blocks]
        self._layers = _Layers(
            kind=weights["kind.weight"],
            kind_bias=weights["kind.bias"],
            facts=weights["facts.weight"],
            facts_bias=weights["facts.bias"],
            relations=np.stack(bias) if bias else np.zeros((0, 1, NUM_TOKENS, NUM_TOKENS), np.float32),
            norms=np.stack([np.stack((weights[f"{n}.weight"], weights[f"{n}.bias"])) for n in [*norms, "norm"]]),
            ask=stacked("ask.weight", width, 3 * width),
            ask_bias=stacked("ask.bias", 3 * width),
            answer=stacked("answer.weight", width, width),
            answer_bias=stacked("answer.bias", width),
            wide=stacked("wide.weight", width, 2 * width),
            wide_bias=stacked("wide.bias", 2 * width),
            narrow=stacked("narrow.weight", 2 * width, width),
            narrow_bias=stacked("narrow.bias", width),
            lay=weights["lay.weight"],
            lay_bias=weights["lay.bias"],
            rest=weights["rest.weight"],
            rest_bias=weights["rest.bias"],
        )
        self._scores = np.empty((0, NUM_ACTIONS), np.float32)

    def __call__(self, inputs: Floats) -> Floats:
        """The scores `(N, 109)` for inputs `(N, E)`, as a view that the next call overwrites."""
        count = len(inputs)
        if len(self._scores) < count:
            self._scores = np.empty((count, NUM_ACTIONS), np.float32)
        _run_transformer(inputs, self._layers, self._scores[:count])
        return self._scores[:count]
