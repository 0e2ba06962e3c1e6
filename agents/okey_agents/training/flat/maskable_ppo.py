"""MaskablePPO of sb3-contrib for a flat policy, at one seat against bots.

A run imitates a bot first, if its configuration says so. The intervals of `flat.run` begin with a rollout.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Console

from okey_agents.training.flat.imitation import ImitationConfig, imitate, make_optimizer, sharpen
from okey_agents.training.progress import ProgressStage
from okey_agents.training.schema import Between, Config, Count, Positive, Rate, Section, Share
from okey_agents.training.sections import EnvConfig, OpponentsConfig

if TYPE_CHECKING:
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

    from okey_agents.training.flat.run import FlatRun


@dataclasses.dataclass(frozen=True)
class MaskablePpoConfig(Section):
    """Proximal policy optimisation with masked actions (sb3-contrib's MaskablePPO)."""

    decisions: Count = 1_000_000
    """Decisions of the learner in all, rounded up to whole rollouts."""
    steps: Annotated[int, Between(1, 65_536)] = 32
    """Decisions of each environment in one rollout."""
    minibatch: Positive = 2048
    """Decisions in one step of the optimiser."""
    epochs: Annotated[int, Between(1, 100)] = 2
    """Passes over a rollout."""
    learning_rate: Rate = 3e-4
    """Step size at the beginning."""
    learning_rate_end: Rate = 0.0
    """Step size at the end; it changes linearly in between."""
    gamma: Share = 1.0
    """Discount; a round is short and pays only at its end."""
    gae_lambda: Share = 0.95
    """Decay of the advantage estimate."""
    clip: Annotated[float, Between(0.001, 10.0)] = 0.2
    """How far the ratio of new and old probability may move from 1."""
    entropy: Annotated[float, Between(0.0, 10.0)] = 0.003
    """Weight of the policy's entropy."""
    value_weight: Annotated[float, Between(0.0, 100.0)] = 0.5
    """Weight of the value's squared error."""
    max_grad_norm: Annotated[float, Between(0.001, 1000.0)] = 0.5
    """Longer gradients are cut to this norm."""
    target_kl: Annotated[float, Between(0.0, 100.0)] = 0.0
    """Stop a rollout's epochs when the KL divergence exceeds 1.5 times this; 0: never."""

    def check(self, config: Config) -> None:
        """Refuse a number of opponents that cannot be seated, and minibatches larger than a rollout."""
        seats = config[OpponentsConfig].seats
        if len(seats) not in (1, 3):
            raise ValueError(f"opponents.seats={list(seats)} are no opponents: expected 1 name or 3")
        batch = self.steps * config[EnvConfig].num_envs
        if batch < 2:
            raise ValueError(f"maskable_ppo.steps × env.num_envs = {batch} is out of range: expected at least 2")
        if self.minibatch > batch:
            raise ValueError(
                f"maskable_ppo.minibatch={self.minibatch} is out of range: expected at most "
                f"maskable_ppo.steps × env.num_envs = {batch}"
            )


def train_maskable_ppo(config: Config, folder: Path, resume: bool, console: Console) -> None:
    """Train a flat policy by MaskablePPO in the folder of a run, or resume the run."""
    from okey_agents.training.flat import sb3_model
    from okey_agents.training.flat.run import FlatRun

    with FlatRun(config, folder, resume, console) as run:
        model = sb3_model.make_model(config)
        if run.start is None and config[ImitationConfig].decisions:
            _imitate(run, model.policy)
        model.num_timesteps = run.begin(model.policy, model.policy.optimizer)
        if run.start is not None:
            model._n_updates = int(run.start.meta.get("updates", 0))  # SB3's count of epochs, for its log
        model.set_logger(sb3_model.make_logger(config, folder))
        total = config[MaskablePpoConfig].decisions
        with ProgressStage("learning", total, model.num_timesteps, run.console) as stage:
            if total > model.num_timesteps:
                keeper = sb3_model.CheckpointCallback(run, stage)
                model.learn(total - model.num_timesteps, keeper, reset_num_timesteps=False)
        run.finish(*sb3_model.state_of(model))
        model.logger.close()


def _imitate(run: FlatRun, policy: MaskableActorCriticPolicy) -> None:
    """Imitation before PPO, in place."""
    settings = run.config[ImitationConfig]
    with ProgressStage(f"imitating {settings.teacher}", settings.decisions, 0, run.console) as stage:
        imitate(policy, make_optimizer(policy, settings), 0, settings.decisions, run, stage)
    sharpen(policy, settings.sharpen)
