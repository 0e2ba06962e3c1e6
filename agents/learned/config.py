"""The configuration of a training run: one frozen dataclass for each concern, read from a TOML file.

A file names what differs from the defaults here; the command line may override single keys, written
`section.key`. Whatever is unknown or out of range stops the run before it starts, with the full name of
the key, its value and what was expected. The configuration as resolved is saved with the run.
"""

import dataclasses
import tomllib
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from okey_env.rules import as_rules


class Between(NamedTuple):
    """The range of a number, both ends included."""

    low: float
    high: float


Section = TypeVar("Section")
Positive = Annotated[int, Between(1, 10**12)]
Count = Annotated[int, Between(0, 10**12)]
Share = Annotated[float, Between(0.0, 1.0)]
Rate = Annotated[float, Between(0.0, 1.0)]
Width = Annotated[int, Between(1, 16_384)]


@dataclasses.dataclass(frozen=True)
class EnvConfig:
    """The game that is learned."""

    rules: str | dict[str, Any] = "gamelake"
    """A preset of the rules, or a table with a preset and switches."""
    encoder: str = "flat"
    """The encoder of observations, by name."""
    reward: Literal["points", "zero_sum", "win"] = "zero_sum"
    """What a round pays the learner."""
    reward_unit: Annotated[float, Between(0.001, 1000.0)] = 6.0
    """Rewards are divided by this; an ordinary win is 6 points in `zero_sum`."""
    num_envs: Annotated[int, Between(1, 65_536)] = 256
    """Rounds played side by side."""


@dataclasses.dataclass(frozen=True)
class OpponentsConfig:
    """Who sits at the other three seats."""

    seats: tuple[str, ...] = ("greedy",)
    """Bots by name: one for all three, or three, from the learner's right-hand neighbour on."""


@dataclasses.dataclass(frozen=True)
class NetworkConfig:
    """The network: ReLU layers shared by policy and value, then one linear layer for each."""

    trunk: tuple[Width, ...] = (256, 256)
    """Widths of the shared layers."""
    policy: tuple[Width, ...] = ()
    """Widths of layers of the policy's own."""
    value: tuple[Width, ...] = ()
    """Widths of layers of the value's own."""


@dataclasses.dataclass(frozen=True)
class CloneConfig:
    """Before PPO: the network learns to do what a bot does, and to foresee what it earns."""

    decisions: Count = 0
    """Decisions of the teacher to learn from; 0: start from random weights."""
    teacher: str = "greedy"
    """The bot that is imitated, by name; it plays all four seats."""
    epochs: Annotated[int, Between(1, 1000)] = 2
    """Passes over its decisions."""
    minibatch: Positive = 1024
    """Decisions in one step of the optimiser."""
    learning_rate: Rate = 1e-3
    """Step size at the beginning; it falls to 0."""
    value_weight: Annotated[float, Between(0.0, 100.0)] = 0.5
    """Weight of the value's squared error beside the policy's cross-entropy."""
    sharpen: Annotated[float, Between(0.01, 100.0)] = 1.0
    """Scores are multiplied by this afterwards; above 1, the policy keeps more to its best move, as bots do."""


@dataclasses.dataclass(frozen=True)
class PpoConfig:
    """Proximal policy optimisation with masked actions (sb3-contrib's MaskablePPO)."""

    decisions: Count = 1_000_000
    """Decisions of the learner in all; rounded up to whole rollouts."""
    steps: Annotated[int, Between(1, 65_536)] = 32
    """Decisions of each environment in one rollout."""
    minibatch: Positive = 2048
    """Decisions in one step of the optimiser."""
    epochs: Annotated[int, Between(1, 100)] = 2
    """Passes over a rollout."""
    learning_rate: Rate = 3e-4
    """Step size at the beginning."""
    learning_rate_end: Rate = 0.0
    """Step size at the end; between them it changes evenly."""
    gamma: Share = 1.0
    """Discount; a round is short and only its end pays."""
    gae_lambda: Share = 0.95
    """Decay of the advantage estimate."""
    clip: Annotated[float, Between(0.001, 10.0)] = 0.2
    """How far the ratio of new and old probability may move."""
    entropy: Annotated[float, Between(0.0, 10.0)] = 0.003
    """Weight of the policy's entropy."""
    value_weight: Annotated[float, Between(0.0, 100.0)] = 0.5
    """Weight of the value's squared error."""
    max_grad_norm: Annotated[float, Between(0.001, 1000.0)] = 0.5
    """Longer gradients are cut to this."""
    target_kl: Annotated[float, Between(0.0, 100.0)] = 0.0
    """A rollout's passes stop once the policy has moved half as far again; 0: never."""


@dataclasses.dataclass(frozen=True)
class EvaluationConfig:
    """How the learner is measured during the run: its best move against three bots, the same deals each time."""

    against: tuple[str, ...] = ("random", "greedy")
    """Bots by name; three of each make a table."""
    deals: Count = 500
    """Deals against each, played in every seat, so four times as many rounds; 0: no evaluation."""
    every: Count = 0
    """Decisions between two evaluations, rounded up to checkpoints; 0: only before the first and after the last."""


@dataclasses.dataclass(frozen=True)
class RunConfig:
    """Everything around learning."""

    seed: Annotated[int, Between(0, 2**63 - 1)] = 1
    """All randomness of the run follows from it."""
    checkpoint_every: Positive = 200_000
    """Decisions between two checkpoints; what a crash can cost at most. Rounded up to whole rollouts."""
    keep: Annotated[int, Between(1, 10_000)] = 3
    """Checkpoints that stay on disk."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where the network learns."""
    threads: Annotated[int, Between(1, 256)] = 1
    """Threads of torch; more than one pays only on an idle machine."""
    tensorboard: bool = True
    """Write TensorBoard's files into the run."""


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    """A whole run.

    >>> TrainConfig().ppo.epochs
    2
    """

    env: EnvConfig = dataclasses.field(default_factory=EnvConfig)
    opponents: OpponentsConfig = dataclasses.field(default_factory=OpponentsConfig)
    network: NetworkConfig = dataclasses.field(default_factory=NetworkConfig)
    clone: CloneConfig = dataclasses.field(default_factory=CloneConfig)
    ppo: PpoConfig = dataclasses.field(default_factory=PpoConfig)
    evaluation: EvaluationConfig = dataclasses.field(default_factory=EvaluationConfig)
    run: RunConfig = dataclasses.field(default_factory=RunConfig)

    def to_dict(self) -> dict[str, Any]:
        """All keys with their values, as plain data."""
        data: dict[str, Any] = _plain(dataclasses.asdict(self))
        return data


def config_from_dict(data: Mapping[str, Any]) -> TrainConfig:
    """A configuration from sections of keys.

    Raises:
        ValueError: a key is unknown, or a value is not what it should be.

    >>> config_from_dict({"ppo": {"epochs": 0}})
    Traceback (most recent call last):
        ...
    ValueError: ppo.epochs = 0 is out of range: expected a whole number from 1 to 100
    """
    config = _read_section(TrainConfig, data, "")
    _check_together(config)
    return config


def load_config(path: Path, overrides: Mapping[str, str] | None = None) -> TrainConfig:
    """Read a TOML file and set single keys otherwise.

    Args:
        path: the file.
        overrides: values by `section.key`, written as in TOML; quotes around text may be left out.

    Raises:
        ValueError: the file is not TOML, a key is unknown, or a value is not what it should be.
        FileNotFoundError: there is no such file.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a TOML file: {error}") from None
    for name, text in (overrides or {}).items():
        section, _, key = name.partition(".")
        if not key:
            raise ValueError(f"{name!r} is not a key of the configuration: expected section.key, like ppo.epochs")
        table = data.setdefault(section, {})
        if not isinstance(table, dict):
            raise ValueError(f"{section} = {table!r} is not a section: expected a table of keys")
        table[key] = _override_value(text)
    try:
        return config_from_dict(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def differences(one: TrainConfig, other: TrainConfig) -> dict[str, tuple[Any, Any]]:
    """The keys in which two configurations differ, by full name, with both values."""
    found = {}
    mine, theirs = one.to_dict(), other.to_dict()
    for section, keys in mine.items():
        for key, value in keys.items():
            if value != theirs[section][key]:
                found[f"{section}.{key}"] = (value, theirs[section][key])
    return found


def _check_together(config: TrainConfig) -> None:
    """What no single key can get wrong."""
    try:
        as_rules(config.env.rules)
    except (TypeError, ValueError) as error:
        raise ValueError(f"env.rules = {config.env.rules!r} are no rules: {error}") from None
    if len(config.opponents.seats) not in (1, 3):
        raise ValueError(f"opponents.seats = {list(config.opponents.seats)} are no opponents: expected 1 name or 3")
    batch = config.ppo.steps * config.env.num_envs
    if batch < 2:
        raise ValueError(f"ppo.steps × env.num_envs = {batch} is out of range: expected at least 2")
    if config.ppo.minibatch > batch:
        raise ValueError(
            f"ppo.minibatch = {config.ppo.minibatch} is out of range: expected at most "
            f"ppo.steps × env.num_envs = {batch}"
        )


def _read_section(cls: type[Section], data: Any, prefix: str) -> Section:
    if not isinstance(data, Mapping):
        raise ValueError(f"{prefix.rstrip('.')} = {data!r} is not a section: expected a table of keys")
    hints = typing.get_type_hints(cls, include_extras=True)
    for key in data:
        if key not in hints:
            what = "key" if prefix else "section"
            raise ValueError(f"{prefix}{key} is not a {what} of the configuration: expected one of {', '.join(hints)}")
    values = {}
    for key, value in data.items():
        hint = hints[key]
        if dataclasses.is_dataclass(hint):
            values[key] = _read_section(typing.cast(type[Any], hint), value, f"{key}.")
        else:
            values[key] = _read_value(hint, value, f"{prefix}{key}")
    return cls(**values)


def _read_value(hint: Any, value: Any, name: str) -> Any:
    """A value of a key, checked against the key's type."""
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if origin is Annotated:
        return _read_number(arguments[0], arguments[1], value, name)
    if origin is Literal:
        if value not in arguments:
            raise ValueError(f"{name} = {value!r} is not a choice: expected {' or '.join(map(repr, arguments))}")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise ValueError(f"{name} = {value!r} is not a list: expected values in brackets")
        return tuple(_read_value(arguments[0], item, f"{name}[{i}]") for i, item in enumerate(value))
    if hint is bool:
        if not isinstance(value, bool):
            raise ValueError(f"{name} = {value!r} is not a switch value: expected true or false")
        return value
    if origin is types.UnionType:  # rules: a name or a table, looked into by _check_together
        return dict(value) if isinstance(value, Mapping) else value
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} = {value!r} is not a name: expected text")
    return value


def _read_number(kind: Any, between: Between, value: Any, name: str) -> int | float:
    whole = kind is int
    is_number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not is_number or not between.low <= value <= between.high:  # NaN is not between
        low, high = (int(between.low), int(between.high)) if whole else between
        what = "whole number" if whole else "number"
        raise ValueError(f"{name} = {value!r} is out of range: expected a {what} from {low} to {high}")
    return int(value) if whole else float(value)


def _override_value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _plain(value: Any) -> Any:
    """The same with lists for tuples, as JSON and TOML have them."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
