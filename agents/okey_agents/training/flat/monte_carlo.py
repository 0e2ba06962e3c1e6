"""Deep Monte Carlo: what a round pays after each action, learned from whole rounds (Zha and others, 2021).

The network plays some seats, with the legal action of the highest output and now and then any legal one, a bot plays
the others. Each output stands for an action, and is fitted to what the rest of the round paid the seat that did it,
whoever played it; there is no bootstrapping, no discount and no model of the others. What comes of it plays the highest
output, so it is exported like every flat policy.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from okey_agents.bots.network import best_legal
from okey_agents.training.config import TrainConfig
from okey_agents.training.flat.batches import Played, play_on
from okey_agents.training.flat.policy import scores_of
from okey_agents.training.flat.run import FlatRun
from okey_agents.training.progress import Stage
from okey_env.bots import choose_for, make_bot
from okey_env.round import derive_seed
from okey_env.tiles import NUM_SEATS
from okey_env.vector import SelfPlay


def train_monte_carlo(
    config: TrainConfig, folder: Path, *, resume: bool = False, console: Console | None = None
) -> Path:
    """Train a flat policy by Deep Monte Carlo, or go on with a run; see `train_config`."""
    settings = config.monte_carlo
    table = SelfPlay(config.env.num_envs, config.env.rules, config.env.encoder, reward=config.env.reward)
    with FlatRun(config, folder, resume, console) as run:
        policy = run.make_policy()
        optimizer = torch.optim.Adam(policy.parameters(), lr=settings.learning_rate, eps=1e-5, fused=True)
        done, total = run.begin(policy, optimizer), settings.decisions
        with Stage("learning", total, done, run.console) as stage:
            while done < total:
                seed = derive_seed(config.run.seed, done)
                table.reset(seed)
                player = _Player(policy, config, seed)
                generator = torch.Generator().manual_seed(seed % 2**63)
                end = run.interval_end(done, total)
                while done < end:
                    for group in optimizer.param_groups:
                        group["lr"] = settings.learning_rate * (1 - done / total)
                    played = play_on(player.choose, table, settings.steps)
                    values = _learn(policy, optimizer, played, config, generator)
                    done += len(played.actions)
                    run.log("learned", done, values)
                    stage.update(done, values)
                run.keep(done, policy, optimizer)
        run.finish(done, policy, optimizer)
    return folder


class _Player:
    """Who plays: the network at some seats of each table, which differ from one to the next, a bot at the others."""

    def __init__(self, policy: MaskableActorCriticPolicy, config: TrainConfig, seed: int) -> None:
        self._policy = policy
        self._learners = config.monte_carlo.learners
        self._epsilon = config.monte_carlo.epsilon
        self._bot = make_bot(config.opponents.seats[0], seed)
        self._chance = np.random.default_rng(seed)

    def choose(self, table: SelfPlay) -> npt.NDArray[np.int64]:
        """The moves."""
        every = np.arange(table.num_games)
        learns = (table.seats + every) % NUM_SEATS < self._learners
        own, others = every[learns], every[~learns]
        actions = np.zeros(table.num_games, np.int64)
        actions[own] = self._explore(table.observations[own], table.masks[own])
        if len(others):
            actions[others] = choose_for(self._bot, table.games, others, table.records[others])
        return actions

    def _explore(self, observations: npt.NDArray[np.float32], masks: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        """The network's moves: the highest output, and a share of `epsilon` by chance."""
        with torch.no_grad():
            outputs = scores_of(self._policy, torch.from_numpy(observations).to(self._policy.device))
        best = np.zeros(len(masks), np.int64)
        best_legal(outputs.cpu().numpy(), masks, best)
        weights = 1 - self._chance.random(masks.shape)  # above 0
        drawn = (weights * masks).argmax(axis=1)
        return np.where(self._chance.random(len(masks)) < self._epsilon, drawn, best)


def _learn(
    policy: MaskableActorCriticPolicy,
    optimizer: torch.optim.Optimizer,
    played: Played,
    config: TrainConfig,
    generator: torch.Generator,
) -> dict[str, float]:
    """Some passes over a batch of decisions; the mean squared error, beside the variance of the returns."""
    settings = config.monte_carlo
    known = np.flatnonzero(~np.isnan(played.returns))  # those of rounds that came to an end
    if not len(known):
        return {}
    observations = torch.from_numpy(played.observations[known]).to(policy.device)
    actions = torch.from_numpy(played.actions[known]).to(policy.device)
    returns = torch.from_numpy(played.returns[known]).to(policy.device) / config.env.reward_unit
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
    return {"error": float(np.mean(errors)), "variance": float(np.var(played.returns[known] / config.env.reward_unit))}
