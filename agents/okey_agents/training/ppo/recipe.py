"""PPO in all four seats from random weights: the recipe, its settings, and its runs.

No bot takes part: not as a teacher, not as an opponent. Random players hardly ever finish a round, so points alone
teach nothing at first. At the beginning a seat is therefore also paid for each tile by which its rack comes nearer to a
finish (`zero_sum+distance`); that pay falls to 0 in the first part of the run. What remains are the points.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Console

from okey_agents.training.progress import ProgressStage
from okey_agents.training.schema import Between, Config, Count, Positive, Rate, Section, Share
from okey_agents.training.sections import EnvConfig, GameConfig, PolicyConfig, RunConfig
from okey_env.round import derive_seed

if TYPE_CHECKING:
    from torch import nn

    from okey_agents.training.ppo.learner import Learner
    from okey_env.bots import Bot

SHARDS = 2
"""Parts of the games that are played and learned from side by side; the weights depend on it."""


@dataclasses.dataclass(frozen=True)
class PpoConfig(Section):
    """Proximal policy optimisation in all four seats."""

    decisions: Count = 2_000_000
    """Decisions of all seats, rounded up to whole rollouts."""
    steps: Annotated[int, Between(1, 65_536)] = 64
    """Decisions of each game in one rollout."""
    minibatch: Positive = 1024
    """Decisions in one step of the optimiser, rounded to whole steps of all games."""
    epochs: Annotated[int, Between(1, 100)] = 2
    """Passes over a rollout."""
    learning_rate: Rate = 5e-3
    """Step size at the beginning; it falls to 0."""
    gamma: Share = 1.0
    """Discount from one decision of the game to the next, whoever makes them."""
    gae_lambda: Share = 0.95
    """Decay of the advantage estimate from one decision of the game to the next."""
    clip: Annotated[float, Between(0.001, 10.0)] = 0.2
    """How far the ratio of new and old probability may move from 1."""
    entropy: Annotated[float, Between(0.0, 10.0)] = 0.005
    """Weight of the policy's entropy at the beginning; it falls."""
    entropy_floor: Share = 0.1
    """The share of that weight that stays until the end."""
    value_weight: Annotated[float, Between(0.0, 100.0)] = 0.5
    """Weight of the critic's squared error."""
    max_grad_norm: Annotated[float, Between(0.001, 1000.0)] = 0.5
    """Longer gradients are cut to this norm."""
    dense_share: Share = 0.2
    """The share of the run after which the pay for distance is 0, if `env.reward` has any."""
    dense_gamma: Share = 0.987
    """Discount at the beginning; it rises to `gamma` while the pay for distance falls. Without a discount, to be near
    in the end would be worth as much as to be near soon."""

    sources: Count = 0
    """Decisions after all these, rounded up to whole rollouts, from which drawing and taking are learned by regression
    (`okey_agents.training.ppo.sources`); 0: they stay as they are. Each million takes some 100 MB of memory."""
    explore: Share = 0.3
    """The share of decisions between drawing and taking in which either is as likely, for that regression."""

    def check(self, config: Config) -> None:
        """Refuse games that cannot be cut into shards, and a network or encoder that has no part for sources."""
        games = config[EnvConfig].num_envs
        if self.sources and (config[PolicyConfig].network != "kinds" or config[EnvConfig].encoder != "tiles"):
            raise ValueError(
                f"ppo.sources={self.sources}: expected policy.network 'kinds' and env.encoder 'tiles', or 0"
            )
        if games % SHARDS:
            raise ValueError(f"env.num_envs={games}: the recipe 'ppo' expects a multiple of {SHARDS}")


def train_ppo(config: Config, folder: Path, resume: bool, console: Console) -> None:
    """Train a network by self-play PPO in the folder of a run, or resume the run."""
    from okey_agents.training.flat.run import FlatRun

    run_seed, settings = config[RunConfig].seed, config[PpoConfig]
    total = settings.decisions
    learner = _learner(config)  # first: a network that does not fit the encoder is refused before there is a folder
    with FlatRun(config, folder, resume, console, _bot_of) as run:
        done = run.begin(learner.model, learner.optimizer)
        with ProgressStage("learning", total, done, run.console) as stage:
            while done < total:
                learner.begin(derive_seed(run_seed, done))
                end = run.interval_end(done, total)
                while done < end:
                    told = learner.iterate(done / total)
                    done += learner.decisions
                    run.log("learned", done, told)
                    stage.update(done, {"finished": told["finished"], "explained": told["explained"]})
                run.keep(done, learner.model, learner.optimizer)
        if settings.sources and done < total + settings.sources:
            done += _learn_sources(config, learner, done, run.console)
        run.finish(done, learner.model, learner.optimizer)


def _learn_sources(config: Config, learner: Learner, done: int, console: Console) -> int:
    """Learn drawing and taking by regression; returns the decisions that were played for it."""
    from okey_agents.training.ppo.sources import STEPS, Tried

    settings, seed = config[PpoConfig], derive_seed(config[RunConfig].seed, done)
    tried, played = Tried(learner.network), 0
    learner.begin(seed)
    with ProgressStage("trying draws and takes", settings.sources, 0, console) as stage:
        while played < settings.sources:
            for rollout, advantages in learner.try_both(settings.explore):
                tried.add(rollout, advantages)
            played += learner.decisions
            stage.update(played, {})
    with ProgressStage("valuing draws and takes", STEPS, 0, console, unit="steps") as stage:
        tried.fit(seed % 2**63, lambda step, error: stage.update(step, {"error": error}), STEPS)
    return played


def _bot_of(model: nn.Module) -> Bot:
    from okey_agents.training.networks import bot_of
    from okey_agents.training.ppo.learner import ActorCritic

    assert isinstance(model, ActorCritic)
    return bot_of(model.network)


def _learner(config: Config) -> Learner:
    """The learner with fresh weights, drawn with the run's seed."""
    import torch

    from okey_agents.training.games import FourSeats
    from okey_agents.training.networks import make_network, sizes_of
    from okey_agents.training.ppo.learner import Learner
    from okey_env.encoders import as_encoder
    from okey_env.vector import SelfPlay

    env = config[EnvConfig]
    encoder = as_encoder(env.encoder)
    torch.manual_seed(config[RunConfig].seed % 2**63)
    policy = config[PolicyConfig]
    network = make_network(policy.network, encoder, **sizes_of(policy.network, policy.width))
    shards = [
        FourSeats(SelfPlay(env.num_envs // SHARDS, config[GameConfig].rules, encoder, reward=env.reward))
        for _ in range(SHARDS)
    ]
    return Learner(shards, network, config[PpoConfig], env.reward_unit, threads=config[RunConfig].workers)
