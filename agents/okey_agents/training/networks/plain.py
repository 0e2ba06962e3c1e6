"""Networks as plain arrays: players that need no torch, made from the weights that a network has now."""

import copy

import numpy as np
import numpy.typing as npt
import torch

from okey_agents.bots.flat import ActionScores, FlatBot
from okey_agents.bots.kinds_network import KindsNetwork
from okey_agents.bots.network import Network
from okey_agents.bots.transformer_network import TransformerNetwork
from okey_agents.training.networks.kinds import Kinds
from okey_agents.training.networks.mlp import Mlp
from okey_agents.training.networks.network import PolicyNetwork
from okey_agents.training.networks.transformer import Transformer
from okey_env.actions import NUM_ACTIONS

Arrays = dict[str, npt.NDArray[np.float32]]


def bot_of(network: PolicyNetwork, name: str = "learner") -> FlatBot:
    """A bot that plays the legal action with the highest score, by the weights that the network has now.

    It may be pickled and sent to other processes, and plays there without torch. The network may learn on: the bot
    keeps its weights.

    Args:
        network: one of `NETWORKS`. With `atoms` above 1 the score is the mean of the atoms, as for quantiles of
            returns.
        name: the name under which the bot is reported.

    Raises:
        ValueError: the network is of another class.
    """
    return FlatBot(name, network.encoder, scores_on_arrays(network))


def scores_on_arrays(network: PolicyNetwork) -> ActionScores:
    """From inputs `(N, E)` to scores `(N, 109)` on plain arrays; see `bot_of`."""
    arrays = arrays_of(network)
    if isinstance(network, Kinds):
        return KindsNetwork(network.encoder, arrays)
    if isinstance(network, Transformer):
        return TransformerNetwork(arrays)
    numbers = range(len(network.sizes["widths"]))
    layers = [(arrays[f"trunk.{2 * i}.weight"].T, arrays[f"trunk.{2 * i}.bias"]) for i in numbers]
    return Network([*layers, (arrays["scores.weight"].T, arrays["scores.bias"])])


def arrays_of(network: PolicyNetwork) -> Arrays:
    """Copies of the weights by the names of the state dict, as those of a network with one atom.

    Atoms are averaged, which is exact: scores are linear in the weights of the last layer.

    Raises:
        ValueError: the network is none of `NETWORKS`.
    """
    if not isinstance(network, Kinds | Mlp | Transformer):
        raise ValueError(f"{type(network).__name__} has no form in plain arrays: expected kinds, mlp or transformer")
    arrays = {
        name: tensor.detach().to("cpu", torch.float32, copy=True).numpy()
        for name, tensor in network.state_dict().items()
    }
    heads = {"lay": 2, "rest": 3, "scores": NUM_ACTIONS}
    if "source.2.weight" in arrays:
        heads |= {"rest": 1, "source.2": 2}
    for head, outputs in heads.items():
        if network.atoms > 1 and f"{head}.weight" in arrays:
            for name in (f"{head}.weight", f"{head}.bias"):
                values = arrays[name].reshape(outputs, network.atoms, *arrays[name].shape[1:])
                arrays[name] = values.mean(axis=1)
    return arrays


def with_one_atom(network: PolicyNetwork, *, half: bool = False) -> PolicyNetwork:
    """A copy of a network with the scores that `bot_of` plays by, on the CPU and in float32.

    Args:
        network: one of `NETWORKS`.
        half: round the weights to half precision.
    """
    with torch.random.fork_rng(devices=[]):  # fresh weights would move the caller's generator
        plain = type(network)(network.encoder, 1, **copy.copy(network.sizes))
    weights = {name: torch.from_numpy(array) for name, array in arrays_of(network).items()}
    plain.load_state_dict({name: array.half().float() if half else array for name, array in weights.items()})
    return plain.eval()
