"""The configuration of a training run: one frozen dataclass for each concern, read from a TOML file.

`run.recipe` says how the bot learns, and with it which sections there are: `maskable_ppo`, `clone` and
`deep_monte_carlo` are `TrainConfig`, a flat policy over all actions; `branching` and `ppo` are `ScorerConfig`, the
candidate scorer. A file names what differs from the defaults here; the command line may override single keys, written
`section.key`. Whatever is unknown or out of range stops the run before it starts, with the full name of the key, its
value and what was expected. The configuration as resolved is saved with the run.
"""

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from okey_agents.training.schema import (
    Between,
    Count,
    Positive,
    Rate,
    Share,
    Width,
    override_value,
    plain,
    read_section,
)
from okey_env.rules import as_rules


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
    half: bool = False
    """Export the weights in half precision, which makes the bot's files half as large."""


RATING_BOTS = ("efficient", "expert")
"""Bots that rate all their moves, by name."""


@dataclasses.dataclass(frozen=True)
class CloneConfig:
    """Imitation, alone or before PPO: the network learns to do what a bot does, and to foresee what it earns."""

    decisions: Count = 0
    """Decisions of the teacher to learn from; 0: `maskable_ppo` starts from random weights."""
    teacher: str = "greedy"
    """The bot that is imitated, by name; it plays all four seats."""
    softness: Annotated[float, Between(0.0, 100.0)] = 0.0
    """The wanted policy is the softmax of this times the teacher's ratings, which `efficient` and `expert` have;
    0: the teacher's move alone."""
    epochs: Annotated[int, Between(1, 1000)] = 2
    """Passes over its decisions, some 30,000 at a time."""
    minibatch: Positive = 1024
    """Decisions in one step of the optimiser."""
    learning_rate: Rate = 1e-3
    """Step size at the beginning; it falls to 0."""
    value_weight: Annotated[float, Between(0.0, 100.0)] = 0.5
    """Weight of the value's squared error beside the policy's cross-entropy."""
    sharpen: Annotated[float, Between(0.01, 100.0)] = 1.0
    """Before PPO, scores are multiplied by this; above 1, the policy keeps more to its best move, as bots do."""


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
class MonteCarloConfig:
    """Deep Monte Carlo: the network's outputs are what a round will pay after each action, learned by playing on."""

    decisions: Count = 1_000_000
    """Decisions of all four seats; rounded up to whole batches."""
    steps: Annotated[int, Between(1, 65_536)] = 256
    """Decisions in each of the rounds side by side that are learned from together. A round has about 60, at first more
    than 100, and those of rounds that have not ended are left out."""
    learners: Annotated[int, Between(1, 4)] = 2
    """Seats that the network plays; the bot of `opponents.seats` has the others, and is learned from as well. With 4 it
    plays against itself alone, and at first hardly a round comes to a finish."""
    epsilon: Share = 0.05
    """Part of the network's moves that is drawn evenly from the legal ones."""
    minibatch: Positive = 1024
    """Decisions in one step of the optimiser."""
    epochs: Annotated[int, Between(1, 100)] = 1
    """Passes over a batch."""
    learning_rate: Rate = 1e-3
    """Step size at the beginning; it falls to 0."""
    max_grad_norm: Annotated[float, Between(0.001, 1000.0)] = 1.0
    """Longer gradients are cut to this."""


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

    recipe: Literal["maskable_ppo", "clone", "deep_monte_carlo"] = "maskable_ppo"
    """How the bot learns."""
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
    """A whole run of a flat policy.

    >>> TrainConfig().ppo.epochs
    2
    """

    env: EnvConfig = dataclasses.field(default_factory=EnvConfig)
    opponents: OpponentsConfig = dataclasses.field(default_factory=OpponentsConfig)
    network: NetworkConfig = dataclasses.field(default_factory=NetworkConfig)
    clone: CloneConfig = dataclasses.field(default_factory=CloneConfig)
    ppo: PpoConfig = dataclasses.field(default_factory=PpoConfig)
    monte_carlo: MonteCarloConfig = dataclasses.field(default_factory=MonteCarloConfig)
    evaluation: EvaluationConfig = dataclasses.field(default_factory=EvaluationConfig)
    run: RunConfig = dataclasses.field(default_factory=RunConfig)

    def to_dict(self) -> dict[str, Any]:
        """All keys with their values, as plain data."""
        data: dict[str, Any] = plain(dataclasses.asdict(self))
        return data


# --- the candidate scorer -------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class GameConfig:
    """The game that is learned."""

    rules: str | dict[str, Any] = "gamelake"
    """A preset of the rules, or a table with a preset and switches."""


@dataclasses.dataclass(frozen=True)
class ChoiceConfig:
    """Among which moves the scorer chooses."""

    margin: Annotated[float, Between(0.0, 1000.0)] = 12.0
    """Rating units: a move within so many of the rule's best is a candidate."""
    bonus: Annotated[float, Between(0.0, 100.0)] = 0.01
    """Points that another move must seem better than the rule's choice before it is played."""


@dataclasses.dataclass(frozen=True)
class SoftCloneConfig:
    """The soft clone: the scorer learns the rule's ratings; where `ppo` begins."""

    decisions: Count = 200_000
    """Decisions of the rule to learn from."""
    epochs: Annotated[int, Between(1, 1000)] = 3
    """Passes over them."""
    minibatch: Positive = 1024
    """Decisions in one step of the optimiser."""
    learning_rate: Rate = 2e-3
    """Step size at the beginning; it falls to 0."""
    softness: Annotated[float, Between(0.001, 100.0)] = 0.4
    """The wanted policy is the softmax of this times the ratings."""


@dataclasses.dataclass(frozen=True)
class BranchingConfig:
    """Counterfactual branching: every candidate tried in the true hidden state."""

    decisions: tuple[Positive, ...] = (1_000_000,)
    """Labelled decisions of each generation. The first is labelled in the rule's self-play, each later one in that of
    the scorer before it, which goes on learning from them."""
    curve: tuple[Positive, ...] = ()
    """Numbers of decisions of the first generation with which a scorer is fitted and measured too: a learning curve.
    Nothing is chosen by it."""
    own_turns: Annotated[int, Between(1, 30)] = 2
    """The position is valued at so many next turns of the mover; the mean counts."""
    share: Annotated[float, Between(0.004, 1.0)] = 1.0
    """Part of the decisions that is labelled; less means more different rounds."""
    chunk: Annotated[int, Between(1, 1_000_000)] = 50_000
    """Decisions that are labelled and written down together; what a crash can cost."""
    epochs: Annotated[int, Between(1, 1000)] = 5
    """Passes over the decisions of the first generation."""
    later_epochs: Annotated[int, Between(1, 1000)] = 2
    """Passes over those of a later one."""
    minibatch: Positive = 1024
    """Decisions in one step of the optimiser."""
    learning_rate: Rate = 2e-3
    """Step size at the beginning; it falls to 0."""
    later_rate: Rate = 5e-4
    """That of a later generation."""
    weight_decay: Share = 1e-3
    """Of AdamW."""


@dataclasses.dataclass(frozen=True)
class SelfPlayConfig:
    """Self-play PPO from the soft clone; the critic sees all racks and begins as the value network."""

    updates: Count = 400
    """Batches of rounds that are played and learned from."""
    rounds: Positive = 1500
    """Rounds of a batch."""
    learners: Share = 0.6
    """Part of the seats that learn."""
    past_selves: Share = 0.0
    """Part of the other seats that the policy of the checkpoint before plays; the rule plays the rest."""
    minibatch: Positive = 6000
    """Decisions in one step of the optimiser."""
    epochs: Annotated[int, Between(1, 100)] = 2
    """Passes over a batch."""
    learning_rate: Rate = 4e-4
    """Step size of the policy at the beginning; it falls to 0."""
    critic_rate: Rate = 2e-4
    """The critic's, which falls to 0 as well."""
    gamma: Share = 1.0
    """Discount from one decision of a seat to its next."""
    gae_lambda: Share = 0.95
    """Decay of the advantage estimate."""
    clip: Annotated[float, Between(0.001, 10.0)] = 0.2
    """How far the ratio of new and old probability may move."""
    entropy: Annotated[float, Between(0.0, 10.0)] = 0.003
    """Weight of the policy's entropy at the beginning; it falls to 0 with the step size."""
    keep_to_clone: Annotated[float, Between(0.0, 100.0)] = 0.05
    """Weight of the divergence from the clone at the beginning."""
    clone_half_life: Positive = 60
    """Updates in which that weight halves."""
    all_actions: Share = 0.0
    """Part of the decisions whose candidates are all tried, as in `branching`; there the labels are the advantages."""
    max_grad_norm: Annotated[float, Between(0.001, 1000.0)] = 0.5
    """Longer gradients are cut to this."""


@dataclasses.dataclass(frozen=True)
class DuelConfig:
    """How the scorer is measured: against three of the rule, duplicate deals in every seat, a draw queue for each."""

    deals: Annotated[int, Between(0, 10**9)] = 2_500
    """Deals of a measurement during the run, four rounds each, always the same; 0: none."""
    fresh_deals: Annotated[int, Between(0, 10**9)] = 10_000
    """Deals of the measurement at the end, which no choice was made by."""
    every: Positive = 20
    """Updates of `ppo` between two measurements; `branching` measures every generation."""


@dataclasses.dataclass(frozen=True)
class ScorerRunConfig:
    """Everything around learning."""

    recipe: Literal["branching", "ppo"] = "branching"
    """How the scorer learns."""
    seed: Annotated[int, Between(0, 2**63 - 1)] = 1
    """All randomness of the run follows from it."""
    checkpoint_every: Positive = 20
    """Updates of `ppo` between two checkpoints; `branching` keeps every chunk."""
    keep: Annotated[int, Between(1, 10_000)] = 3
    """Checkpoints that stay on disk, beside the best."""
    workers: Annotated[int, Between(1, 256)] = 2
    """Threads that play; the result is the same for any number."""
    threads: Annotated[int, Between(1, 256)] = 1
    """Threads of torch."""
    tensorboard: bool = True
    """Write TensorBoard's files into the run."""


@dataclasses.dataclass(frozen=True)
class ScorerConfig:
    """A whole run of the candidate scorer.

    >>> ScorerConfig().branching.own_turns
    2
    """

    env: GameConfig = dataclasses.field(default_factory=GameConfig)
    choice: ChoiceConfig = dataclasses.field(default_factory=ChoiceConfig)
    clone: SoftCloneConfig = dataclasses.field(default_factory=SoftCloneConfig)
    branching: BranchingConfig = dataclasses.field(default_factory=BranchingConfig)
    ppo: SelfPlayConfig = dataclasses.field(default_factory=SelfPlayConfig)
    evaluation: DuelConfig = dataclasses.field(default_factory=DuelConfig)
    run: ScorerRunConfig = dataclasses.field(default_factory=ScorerRunConfig)

    def to_dict(self) -> dict[str, Any]:
        """All keys with their values, as plain data."""
        data: dict[str, Any] = plain(dataclasses.asdict(self))
        return data


AnyConfig: TypeAlias = TrainConfig | ScorerConfig
RECIPES: dict[str, type[TrainConfig] | type[ScorerConfig]] = {
    "maskable_ppo": TrainConfig,
    "clone": TrainConfig,
    "deep_monte_carlo": TrainConfig,
    "branching": ScorerConfig,
    "ppo": ScorerConfig,
}


# --- reading ----------------------------------------------------------------------------------------------------------


def config_from_dict(data: Mapping[str, Any]) -> AnyConfig:
    """A configuration from sections of keys.

    Raises:
        ValueError: a key is unknown, or a value is not what it should be.

    >>> config_from_dict({"ppo": {"epochs": 0}})
    Traceback (most recent call last):
        ...
    ValueError: ppo.epochs = 0 is out of range: expected a whole number from 1 to 100
    """
    run = data.get("run")
    recipe = run.get("recipe", "maskable_ppo") if isinstance(run, Mapping) else "maskable_ppo"
    if not isinstance(recipe, str) or recipe not in RECIPES:
        raise ValueError(f"run.recipe = {recipe!r} is not a choice: expected {' or '.join(map(repr, RECIPES))}")
    config: AnyConfig = read_section(RECIPES[recipe], data)
    _check_rules(config.env.rules)
    if isinstance(config, TrainConfig):
        _check_together(config)
    return config


def load_config(path: Path, overrides: Mapping[str, str] | None = None) -> AnyConfig:
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
        table[key] = override_value(text)
    try:
        return config_from_dict(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def differences(one: AnyConfig, other: AnyConfig) -> dict[str, tuple[Any, Any]]:
    """The keys in which two configurations differ, by full name, with both values."""
    found = {}
    mine, theirs = one.to_dict(), other.to_dict()
    for section, keys in mine.items():
        for key, value in keys.items():
            before = theirs.get(section, {}).get(key)
            if value != before:
                found[f"{section}.{key}"] = (value, before)
    return found


def _check_rules(rules: Any) -> None:
    try:
        as_rules(rules)
    except (TypeError, ValueError) as error:
        raise ValueError(f"env.rules = {rules!r} are no rules: {error}") from None


def _check_together(config: TrainConfig) -> None:
    """What no single key can get wrong."""
    clone = config.clone
    if clone.softness and clone.teacher not in RATING_BOTS:
        raise ValueError(
            f"clone.teacher = {clone.teacher!r} does not rate its moves: with clone.softness = {clone.softness:g}, "
            f"expected {' or '.join(map(repr, RATING_BOTS))}"
        )
    if config.run.recipe == "clone" and clone.decisions == 0:
        raise ValueError("clone.decisions = 0 is out of range: the recipe 'clone' expects at least 1")
    if config.run.recipe == "deep_monte_carlo" and len(config.opponents.seats) != 1:
        raise ValueError(f"opponents.seats = {list(config.opponents.seats)}: 'deep_monte_carlo' expects 1 name")
    if config.run.recipe == "maskable_ppo":
        _check_ppo(config)


def _check_ppo(config: TrainConfig) -> None:
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
