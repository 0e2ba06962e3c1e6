"""Deep Monte Carlo: what a round pays after each action, learned from whole rounds (Zha and others, 2021).

The network plays some seats: the legal action of the highest output, and with probability `epsilon` any legal action. A
bot plays the other seats. Each output stands for an action and is fitted to the return of the seat that chose it: what
the rest of the round paid, whoever played. There is no bootstrapping, no discount and no model of the opponents. The
bot plays the highest output, so it is exported like every flat policy.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import numpy.typing as npt
from rich.console import Console

from okey_agents.bots.network import best_legal
from okey_agents.training.flat.batches import Batch, collect
from okey_agents.training.progress import ProgressStage
from okey_agents.training.schema import Between, Config, Count, Positive, Rate, Section, Share
from okey_agents.training.sections import EnvConfig, GameConfig, OpponentsConfig, RunConfig
from okey_env.bots import choose_for, make_bot
from okey_env.round import derive_seed
from okey_env.tiles import NUM_SEATS
from okey_env.vector import SelfPlay

if TYPE_CHECKING:
    import torch
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy


@dataclasses.dataclass(frozen=True)
class MonteCarloConfig(Section):
    """Deep Monte Carlo: the outputs of the network are what a round will pay after each action."""

    decisions: Count = 1_000_000
    """Decisions of all four seats, rounded up to whole batches."""
    steps: Annotated[int, Between(1, 65_536)] = 256
    """Decisions of each game in one batch. A round has about 60 decisions, at first more than 100; the decisions of
    rounds that the batch cuts off are left out."""
    learners: Annotated[int, Between(1, 4)] = 2
    """Seats that the network plays; the bot of `opponents.seats` plays the others, and its decisions are learned from
    as well. With 4 the network plays against itself alone, and at first hardly any round is finished."""
    epsilon: Share = 0.05
    """Probability that a move of the network is drawn evenly from the legal ones."""
    minibatch: Positive = 1024
    """Decisions in one step of the optimiser."""
    epochs: Annotated[int, Between(1, 100)] = 1
    """Passes over a batch."""
    learning_rate: Rate = 1e-3
    """Step size at the beginning; it falls to 0."""
    max_grad_norm: Annotated[float, Between(0.001, 1000.0)] = 1.0
    """Longer gradients are cut to this norm."""

    def check(self, config: Config) -> None:
        """Refuse more than one opponent."""
        seats = config[OpponentsConfig].seats
        if len(seats) != 1:
            raise ValueError(f"opponents.seats={list(seats)}: the recipe 'monte_carlo' expects 1 name")


def train_monte_carlo(config: Config, folder: Path, resume: bool, console: Console) -> None:
    """Train a flat policy by Deep Monte Carlo in the folder of a run, or resume the run."""
    import torch

    from okey_agents.training.flat.run import FlatRun

    settings, env = config[MonteCarloConfig], config[EnvConfig]
    games = SelfPlay(env.num_envs, config[GameConfig].rules, env.encoder, reward=env.reward)
    with FlatRun(config, folder, resume, console) as run:
        policy = run.make_policy()
        optimizer = torch.optim.Adam(policy.parameters(), lr=settings.learning_rate, eps=1e-5, fused=True)
        done, total = run.begin(policy, optimizer), settings.decisions
        with ProgressStage("learning", total, done, run.console) as stage:
            while done < total:
                seed = derive_seed(config[RunConfig].seed, done)
                games.reset(seed)
                player = _Player(policy, config, seed)
                generator = torch.Generator().manual_seed(seed % 2**63)
                end = run.interval_end(done, total)
                while done < end:
                    for group in optimizer.param_groups:
                        group["lr"] = settings.learning_rate * (1 - done / total)
                    batch = collect(player.choose, games, settings.steps)
                    values = _learn(policy, optimizer, batch, config, generator)
                    done += len(batch.actions)
                    run.log("learned", done, values)
                    stage.update(done, values)
                run.keep(done, policy, optimizer)
        run.finish(done, policy, optimizer)


class _Player:
    """The network at some seats, which differ from one game to the next, and a bot at the others."""

    def __init__(self, policy: MaskableActorCriticPolicy, config: Config, seed: int) -> None:
        self._policy = policy
        self._learners = config[MonteCarloConfig].learners
        self._epsilon = config[MonteCarloConfig].epsilon
        self._bot = make_bot(config[OpponentsConfig].seats[0], seed)
        self._generator = np.random.default_rng(seed)

    def choose(self, games: SelfPlay) -> npt.NDArray[np.int64]:
        """The moves `(G,)`."""
        every = np.arange(games.num_games)
        learns = (games.seats + every) % NUM_SEATS < self._learners
        own, others = every[learns], every[~learns]
        actions = np.zeros(games.num_games, np.int64)
        actions[own] = self._explore(games.observations[own], games.masks[own])
        if len(others):
            actions[others] = choose_for(self._bot, games.games, others, games.records[others])
        return actions

    def _explore(self, observations: npt.NDArray[np.float32], masks: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        """The network's moves: the highest output, or with probability `epsilon` any legal action."""
        import torch

        from okey_agents.training.flat.policy import scores_of

        with torch.no_grad():
            outputs = scores_of(self._policy, torch.from_numpy(observations).to(self._policy.device))
        best = np.zeros(len(masks), np.int64)
        best_legal(outputs.cpu().numpy(), masks, best)
        weights = 1 - self._generator.random(masks.shape)  # above 0
        drawn = (weights * masks).argmax(axis=1)
        return np.where(self._generator.random(len(masks)) < self._epsilon, drawn, best)


def _learn(
    policy: MaskableActorCriticPolicy,
    optimizer: torch.optim.Optimizer,
    batch: Batch,
    config: Config,
    generator: torch.Generator,
) -> dict[str, float]:
    """Some passes over a batch, in place; the mean squared error, beside the variance of the returns."""
    import torch

    from okey_agents.training.flat.policy import scores_of

    settings, unit = config[MonteCarloConfig], config[EnvConfig].reward_unit
    known = np.flatnonzero(~np.isnan(batch.returns))  # those of rounds that ended
    if not len(known):
        return {}
    observations = torch.from_numpy(batch.observations[known]).to(policy.device)
    actions = torch.from_numpy(batch.actions[known]).to(policy.device)
    returns = torch.from_numpy(batch.returns[known]).to(policy.device) / unit
    errors = []
    for _ in range(settings.epochs):
        order = torch.randperm(len(known), generator=generator).to(policy.device)
        for chosen in torch.split(order, settings.minibatch):
            expected = scores_of(policy, observations[chosen]).gather(1, actions[chosen].unsqueeze(1)).squeeze(1)
            error = (expected - returns[chosen]).square().mean()
            optimizer.zero_grad()
            torch.autograd.backward(error)
            torch.nn.utils.clip_grad_norm_(policy.parameters(), settings.max_grad_norm)
            optimizer.step()
            errors.append(error.item())
    return {"error": float(np.mean(errors)), "variance": float(np.var(batch.returns[known] / unit))}
