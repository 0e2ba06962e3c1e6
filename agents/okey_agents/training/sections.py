"""Sections of a configuration that several recipes share; those of one algorithm are beside it, in its own module."""

import dataclasses
from typing import Annotated, Any, Literal

from okey_agents.training.schema import Between, Config, Count, Positive, Section, Width
from okey_env.rewards import REWARDS, parse_reward
from okey_env.rules import as_rules

# --- every recipe -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class GameConfig(Section):
    """The game that is learned."""

    rules: str | dict[str, Any] = "gamelake"
    """A preset of the rules, or a table with a preset and switches."""

    def check(self, config: Config) -> None:
        """Refuse rules that do not exist."""
        try:
            as_rules(self.rules)
        except (TypeError, ValueError) as error:
            raise ValueError(f"game.rules={self.rules!r} are no rules: {error}") from None


@dataclasses.dataclass(frozen=True)
class RunConfig(Section):
    """Everything around learning."""

    recipe: str = "maskable_ppo"
    """How the bot learns: a name of `training.recipes.RECIPES`."""
    seed: Annotated[int, Between(0, 2**63 - 1)] = 1
    """The seed from which all randomness of the run is derived."""
    keep: Annotated[int, Between(1, 10_000)] = 3
    """Checkpoints that stay on disk; a candidate scorer keeps its best one beside them."""
    workers: Annotated[int, Between(1, 256)] = 1
    """Threads that play rounds for a candidate scorer or learn in `ppo`, or processes that evaluate a flat policy; the
    result is the same for any number."""
    threads: Annotated[int, Between(1, 256)] = 1
    """Threads of torch. For a flat policy more than one pays only on an idle machine."""
    tensorboard: bool = True
    """Write TensorBoard's files into the run."""


# --- a flat policy over all actions -----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class EnvConfig(Section):
    """What a flat policy observes and what it is paid."""

    encoder: str = "flat"
    """The encoder of observations, by name."""
    reward: str = "zero_sum"
    """The reward of a round, by name; with a dense term also a seat's way to a finish, like `zero_sum+distance`."""
    reward_unit: Annotated[float, Between(0.001, 1000.0)] = 6.0
    """Rewards are divided by this; an ordinary win is 6 points in `zero_sum`."""
    num_envs: Annotated[int, Between(1, 65_536)] = 256
    """Rounds played side by side."""

    def check(self, config: Config) -> None:
        """Refuse rewards that do not exist."""
        try:
            base = parse_reward(self.reward).base
        except ValueError as error:
            raise ValueError(f"env.reward: {error}") from None
        if base not in REWARDS:
            names = " or ".join(map(repr, REWARDS))
            raise ValueError(
                f"env.reward={self.reward!r} is not a choice: expected {names}, "
                "perhaps with '+distance' or '+potential'"
            )


@dataclasses.dataclass(frozen=True)
class OpponentsConfig(Section):
    """The bots at the other seats."""

    seats: tuple[str, ...] = ("greedy",)
    """Bots by name: one for all seats, or three, from the learner's right-hand neighbour on."""


@dataclasses.dataclass(frozen=True)
class NetworkConfig(Section):
    """The network: ReLU layers shared by policy and value, then one linear layer for each."""

    trunk: tuple[Width, ...] = (256, 256)
    """Widths of the shared layers."""
    policy: tuple[Width, ...] = ()
    """Widths of the layers that only the policy has."""
    value: tuple[Width, ...] = ()
    """Widths of the layers that only the value has."""
    half: bool = False
    """Export the weights in half precision, which makes the bot's files half as large."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where the network learns."""


@dataclasses.dataclass(frozen=True)
class PolicyConfig(Section):
    """The network that `ppo` learns, one of `okey_agents.training.networks`."""

    network: Literal["kinds", "mlp", "transformer"] = "kinds"
    """The network by name."""
    width: Annotated[int, Between(0, 4096)] = 0
    """Hidden numbers of a kind or a token, or of each layer of `mlp`; 0: the network's own default."""


@dataclasses.dataclass(frozen=True)
class EvaluationConfig(Section):
    """How a flat policy is measured during the run: its best move against three bots, the same deals each time."""

    against: tuple[str, ...] = ("random", "greedy")
    """Bots by name; the learner meets three of each."""
    deals: Count = 500
    """Deals against each bot, played from every seat, so four times as many rounds; 0: no evaluation."""
    every: Count = 0
    """Decisions between two evaluations, rounded up to checkpoints; 0: only before the first and after the last."""


@dataclasses.dataclass(frozen=True)
class CheckpointsConfig(Section):
    """When a flat policy is saved."""

    every: Positive = 200_000
    """Decisions between two checkpoints, rounded up to whole batches; a crash costs no more than these."""


# --- the candidate scorer ---------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class ChoiceConfig(Section):
    """The moves among which the scorer chooses."""

    margin: Annotated[float, Between(0.0, 1000.0)] = 12.0
    """Rating units: a move rated within this margin of the rule's best is a candidate."""
    bonus: Annotated[float, Between(0.0, 100.0)] = 0.01
    """Points by which another move must score higher than the rule's choice before it is played."""


@dataclasses.dataclass(frozen=True)
class DuelConfig(Section):
    """How a scorer is measured: against three of the rule, duplicate deals in every seat, a draw queue for each."""

    deals: Annotated[int, Between(0, 10**9)] = 2_500
    """Deals of a measurement during the run, four rounds each, always the same; 0: none."""
    fresh_deals: Annotated[int, Between(0, 10**9)] = 10_000
    """Deals of the measurement at the end, on which no choice was based."""
    every: Positive = 20
    """Updates of `scorer_ppo` between two measurements; `branching` measures every generation."""
