"""Export: a network becomes a bot folder that plays without torch, in Python or another language.

| file | |
|---|---|
| `bot.json` | the bot's network, encoder, origin and scores, and checksums of the other two files |
| `weights.npz` | the network as plain float32 arrays, read by `okey_agents.bots.folder` |
| `policy.onnx` | the network as ONNX, with the mask inside the graph; see `okey_agents.training.onnx_models` |

`export` takes a run, `export_network` any network of `okey_agents.training.networks`. The arrays of `kinds` and
`transformer` have the names of torch's state dict; those of `mlp` are `weights_0`, `bias_0`, …, in a folder of the kind
`relu`.

With `network.half` the weights are rounded to half precision first. ONNX then holds half precision, and `weights.npz`
is compressed, which pays because each float32 then ends with zeros.

Before the folder gets its name, the trained network in torch, the ONNX file in onnxruntime and the plain arrays must
agree on the observations of whole rounds.
"""

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
import torch

from okey_agents.bots.flat import ActionScores
from okey_agents.bots.network import Network
from okey_agents.provenance import provenance
from okey_agents.training.bot_folder import checked_folder, origin_in_run, packed, write_bot
from okey_agents.training.checkpoint import Checkpoint, newest_good
from okey_agents.training.flat.batches import collect
from okey_agents.training.flat.policy import Arrays, acting_layers, make_policy, set_policy_arrays
from okey_agents.training.networks import Kinds, Mlp, PolicyNetwork, Transformer, make_network, sizes_of
from okey_agents.training.networks.plain import arrays_of, scores_on_arrays, with_one_atom
from okey_agents.training.onnx_models import kinds_model, relu_model, transformer_model
from okey_agents.training.runs import CHECKPOINTS, read_config
from okey_agents.training.schema import Config
from okey_agents.training.scorer.export import export_scorer
from okey_agents.training.sections import ChoiceConfig, EnvConfig, GameConfig, NetworkConfig, PolicyConfig
from okey_env.actions import NUM_ACTIONS
from okey_env.bots import choose_for, make_bot
from okey_env.encoders import Encoder, as_encoder
from okey_env.rules import Rules, as_rules
from okey_env.vector import SelfPlay

Floats = npt.NDArray[np.float32]
Logits = Callable[[Floats, npt.NDArray[np.int8]], Floats]
"""From observations `(N, size)` and masks `(N, 109)` to scores `(N, 109)`, up to a constant in each row."""

_TOLERANCE = 1e-4  # on logits; float32 sums in another order differ by some 1e-6


def export(run: Path, folder: Path) -> Path:
    """Make a bot folder of the newest whole checkpoint of a run.

    Args:
        run: the folder of the run.
        folder: the bot folder to make; a bot that is there is replaced.

    Returns:
        The bot folder.

    Raises:
        ValueError: there is no run or no whole checkpoint, or `folder` holds something else.
        RuntimeError: torch, ONNX and the plain arrays do not agree.
    """
    config = read_config(run)
    checked_folder(folder)
    if ChoiceConfig in config:  # only the candidate scorer has it
        return export_scorer(run, config, folder)
    rules, checkpoint = config[GameConfig].rules, _newest(run)
    if PolicyConfig in config:
        network = _network_of(config, checkpoint)
        return export_network(network, folder, rules=rules, origin=origin_in_run(run, config, checkpoint))
    half = config[NetworkConfig].half
    policy = checkpoint.named("policy.")
    if half:
        policy = {name: array.astype(np.float16).astype(np.float32) for name, array in policy.items()}
    network = _mlp(as_encoder(config[EnvConfig].encoder), policy)
    check_agreement(scores_on_arrays(network), {"the policy": _policy_logits(config, policy)}, rules, network.encoder)
    return export_network(network, folder, rules=rules, origin=origin_in_run(run, config, checkpoint), half=half)


def _network_of(config: Config, checkpoint: Checkpoint) -> PolicyNetwork:
    """The network of a run whose policy is one of `NETWORKS`."""
    policy = config[PolicyConfig]
    encoder = as_encoder(config[EnvConfig].encoder)
    network = make_network(policy.network, encoder, **sizes_of(policy.network, policy.width))
    weights = checkpoint.named("policy.network.")
    network.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return network


def export_network(
    network: PolicyNetwork,
    folder: Path,
    *,
    name: str | None = None,
    rules: str | Mapping[str, Any] | Rules = "gamelake",
    origin: Mapping[str, Any] | None = None,
    half: bool = False,
) -> Path:
    """Make a bot folder of a network with the weights that it has now.

    Args:
        network: `kinds`, `mlp` or `transformer`; with `atoms` above 1 the bot plays by the mean of the atoms.
        folder: the bot folder to make; a bot that is there is replaced.
        name: of the bot; None: the name of the folder.
        rules: under which it was trained.
        origin: further entries of `bot.json`, such as `training` and `scores`, as JSON data; None: date, commit and
            versions.
        half: round the weights to half precision, which makes the files half as large.

    Returns:
        The bot folder.

    Raises:
        ValueError: the network is of another class, its encoder has no name, or `folder` holds something else.
        RuntimeError: torch, ONNX and the plain arrays do not agree.
    """
    checked_folder(folder)
    plain = with_one_atom(network, half=half)
    encoder, scores, arrays = plain.encoder, scores_on_arrays(plain), arrays_of(plain)
    if isinstance(plain, Kinds):
        told = {"kind": "kinds", **plain.sizes}
        model = kinds_model(encoder, arrays, half=half)
    elif isinstance(plain, Transformer):
        told = {"kind": "transformer", **plain.sizes}
        model = transformer_model(encoder, arrays, plain.sizes["heads"], half=half)
    else:
        assert isinstance(scores, Network)
        told = {"kind": "relu", "sizes": scores.sizes}
        model = relu_model(scores, half=half)
        arrays = {
            f"{part}_{number}": array
            for number, layer in enumerate(scores.layers)
            for part, array in zip(("weights", "bias"), layer, strict=True)
        }
    others = {"torch": _torch_logits(plain if half else network), "onnxruntime": _onnx_logits(model)}
    check_agreement(scores, others, rules, encoder)
    parts = {"encoder": {"name": encoder.name, "version": encoder.version}, "network": told}
    about = {"rules": as_rules(rules).name, **({"training": provenance()} if origin is None else origin)}
    return write_bot(folder, packed(arrays, compressed=half), model, parts, about, name)


def check_agreement(
    arrays: ActionScores, others: Mapping[str, Logits], rules: str | Mapping[str, Any] | Rules, encoder: Encoder
) -> None:
    """Compare plain arrays with other forms of the same network on the observations of whole rounds.

    Raises:
        RuntimeError: they do not agree.
    """
    observations, masks = observations_of_rounds(encoder, rules)
    by_arrays = arrays(observations).copy()
    for name, logits in others.items():
        worst = worst_difference(by_arrays, logits(observations, masks), masks != 0)
        if not worst <= _TOLERANCE:
            raise RuntimeError(f"the exported arrays and {name} differ by {worst:.2g} in a logit: nothing was exported")


def observations_of_rounds(
    encoder: Encoder, rules: str | Mapping[str, Any] | Rules = "gamelake"
) -> tuple[Floats, npt.NDArray[np.int8]]:
    """What all seats see in some rounds, `(1024, size)`, and their masks `(1024, 109)`."""
    games = SelfPlay(16, rules, encoder, seed=0)
    games.reset()
    bot, every = make_bot("random", 0), np.arange(games.num_games)
    batch = collect(lambda games: choose_for(bot, games.games, every, games.records), games, 64)
    return batch.observations, batch.masks


def _torch_logits(network: PolicyNetwork) -> Logits:
    network = copy.deepcopy(network).to("cpu", torch.float32)

    def logits(observations: Floats, masks: npt.NDArray[np.int8]) -> Floats:
        with torch.no_grad():
            scores = network(torch.from_numpy(observations))[0]
        found: Floats = (scores if network.atoms == 1 else scores.mean(2)).numpy()
        return found

    return logits


def _onnx_logits(model: bytes) -> Logits:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])

    def logits(observations: Floats, masks: npt.NDArray[np.int8]) -> Floats:
        found: Floats = session.run(["logits"], {"observation": observations, "action_mask": masks})[0]
        return found

    return logits


def _policy_logits(config: Config, arrays: Arrays) -> Logits:
    """Those of a policy of sb3-contrib, as it was trained."""
    encoder = as_encoder(config[EnvConfig].encoder)
    policy = make_policy(encoder.size, NUM_ACTIONS, config[NetworkConfig])
    set_policy_arrays(policy, arrays)

    def logits(observations: Floats, masks: npt.NDArray[np.int8]) -> Floats:
        with torch.no_grad():
            distribution = policy.get_distribution(torch.from_numpy(observations), masks).distribution
        found: Floats = distribution.logits.numpy()  # type: ignore[union-attr]  # SB3 declares it optional; it is set by now
        return found

    return logits


def _mlp(encoder: Encoder, policy: Arrays) -> Mlp:
    """The network that a policy of sb3-contrib plays by; the layers of its value are left behind."""
    *trunk, (weights, bias) = acting_layers(policy)
    network = Mlp(encoder, widths=[len(bias) for _, bias in trunk])
    with torch.no_grad():
        for number, (of_layer, bias_of_layer) in enumerate(trunk):
            layer = network.trunk[2 * number]
            assert isinstance(layer, torch.nn.Linear)
            layer.weight.copy_(torch.from_numpy(of_layer.T))
            layer.bias.copy_(torch.from_numpy(bias_of_layer))
        network.scores.weight.copy_(torch.from_numpy(weights.T))
        network.scores.bias.copy_(torch.from_numpy(bias))
    return network


def worst_difference(one: Floats, other: Floats, allowed: npt.NDArray[np.bool_]) -> float:
    """The largest difference between two arrays of logits, up to a constant in each row, relative to the logits."""
    difference = np.where(allowed, one - other, np.nan)
    spread = np.nanmax(difference, axis=1) - np.nanmin(difference, axis=1)
    scale = np.maximum(np.abs(np.where(allowed, one, 0)).max(axis=1), 1)
    return float(np.max(spread / scale))


def _newest(run: Path) -> Checkpoint:
    """The newest whole checkpoint of a run."""
    checkpoint, damages = newest_good(run / CHECKPOINTS)
    if checkpoint is None:
        raise ValueError(
            f"{run} has no whole checkpoint to export" + "".join(f"; {damage}" for damage in damages.values())
        )
    return checkpoint
