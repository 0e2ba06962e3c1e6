"""Networks from an encoder's array to the scores of all actions and a value, as plain torch modules.

| name | what it looks at | encoders |
|---|---|---|
| `kinds` | the 53 kinds of tiles, each with the same small network; neighbours in runs and groups | with planes |
| `mlp` | the whole array, with dense layers | any |
| `transformer` | the kinds that are held, on offer or in sight, as tokens that attend to one another | with planes |

Every network is called with `(N, E)` float32 observations. It gives scores `(N, 109)` of all actions, legal or not
(with `atoms` above 1 `(N, 109, atoms)`, for distributions of returns), and values `(N,)`. `features` gives the
`(N, num_features)` numbers that both are made of, for heads of one's own.

`bot_of` makes a bot of a network, `okey_agents.training.export.export_network` a bot folder, and
`okey_agents.training.networks.sb3` a policy of sb3-contrib.
"""

from typing import Any

from torch import nn

from okey_agents.training.networks.kinds import Kinds
from okey_agents.training.networks.mlp import Mlp
from okey_agents.training.networks.network import PolicyNetwork
from okey_agents.training.networks.plain import bot_of
from okey_agents.training.networks.transformer import Transformer
from okey_env.encoders import Encoder

NETWORKS: dict[str, type[PolicyNetwork]] = {"kinds": Kinds, "mlp": Mlp, "transformer": Transformer}
"""The networks by name."""


def make_network(name: str, encoder: Encoder, **sizes: Any) -> PolicyNetwork:
    """A network with fresh weights, drawn from torch's global generator.

    Args:
        name: a name of `NETWORKS`.
        encoder: makes the observations.
        sizes: keywords of the network's class.

    Raises:
        ValueError: there is no such network, or it needs an encoder with planes.
    """
    if name not in NETWORKS:
        raise ValueError(f"network={name!r} is not a network: expected {', '.join(map(repr, NETWORKS))}")
    return NETWORKS[name](encoder, **sizes)


def sizes_of(name: str, width: int) -> dict[str, Any]:
    """The keywords of `make_network` for one number of hidden units; 0: the network's own default."""
    if width == 0:
        return {}
    return {"widths": (width, width)} if name == "mlp" else {"width": width}


def num_weights(network: nn.Module) -> int:
    """How many numbers a network learns."""
    return sum(parameter.numel() for parameter in network.parameters())


__all__ = [
    "NETWORKS",
    "Kinds",
    "Mlp",
    "PolicyNetwork",
    "Transformer",
    "bot_of",
    "make_network",
    "num_weights",
    "sizes_of",
]
