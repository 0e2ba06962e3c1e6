"""Behaviour cloning (imitation): the network learns a bot's moves, and its value learns what the bot earns.

The bot (the teacher) plays all four seats of whole rounds. The network learns from each of its decisions: from the
observation and the mask to the move, or to the softmax of the ratings of all moves, and to what the rest of the round
paid the seat. Decisions are learned from batch by batch and discarded, so memory does not grow with their number.

Imitation is a recipe, and it may come before PPO in the recipe `maskable_ppo`.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import numpy.typing as npt
from rich.console import Console

from okey_agents.bots.rated import rate_batch
from okey_agents.thinking.rule_weights import EFFICIENT, EXPERT
from okey_agents.training.flat.batches import Batch, collect
from okey_agents.training.progress import ProgressStage
from okey_agents.training.schema import Between, Config, Count, Positive, Rate, Section
from okey_agents.training.sections import EnvConfig, GameConfig, RunConfig
from okey_env.actions import NUM_ACTIONS
from okey_env.bots import choose_for, make_bot
from okey_env.round import derive_seed
from okey_env.vector import SelfPlay

if TYPE_CHECKING:
    import torch
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

    from okey_agents.training.flat.run import FlatRun

Floats = npt.NDArray[np.float32]

NUM_GAMES = 128
"""Rounds that the teacher plays side by side."""
NUM_STEPS = 256
"""Decisions in each of them that are learned from together: a batch of about 30,000 observations."""
_TEACHER_STREAM = 2**63
"""The index under the run's seed from which the seeds of the teacher's rounds are derived; PPO counts up from 0."""
_RATED = {"efficient": EFFICIENT, "expert": EXPERT}
"""By teacher: the function that fills the ratings of all actions."""


@dataclasses.dataclass(frozen=True)
class ImitationConfig(Section):
    """Imitation: the policy learns a bot's moves, the value learns what the bot earns."""

    decisions: Count = 0
    """Decisions of the teacher to learn from; 0: `maskable_ppo` starts from random weights."""
    teacher: str = "greedy"
    """The bot that is imitated, by name; it plays all four seats."""
    softness: Annotated[float, Between(0.0, 100.0)] = 0.0
    """The target policy is the softmax of this times the teacher's ratings, which `efficient` and `expert` have;
    0: the teacher's move alone."""
    epochs: Annotated[int, Between(1, 1000)] = 2
    """Passes over each batch of about 30,000 decisions."""
    minibatch: Positive = 1024
    """Decisions in one step of the optimiser."""
    learning_rate: Rate = 1e-3
    """Step size at the beginning; it falls to 0."""
    value_weight: Annotated[float, Between(0.0, 100.0)] = 0.5
    """Weight of the value's squared error beside the policy's cross-entropy."""
    sharpen: Annotated[float, Between(0.01, 100.0)] = 1.0
    """Factor on the scores before PPO; above 1, the policy plays its best move more often."""

    def check(self, config: Config) -> None:
        """Refuse a teacher without ratings where they are needed, and a run of imitation without decisions."""
        if self.softness and self.teacher not in _RATED:
            raise ValueError(
                f"imitation.teacher={self.teacher!r} does not rate its moves: with "
                f"imitation.softness={self.softness:g}, expected {' or '.join(map(repr, _RATED))}"
            )
        if config[RunConfig].recipe == "imitation" and self.decisions == 0:
            raise ValueError("imitation.decisions=0 is out of range: the recipe 'imitation' expects at least 1")


def train_imitation(config: Config, folder: Path, resume: bool, console: Console) -> None:
    """Train a flat policy by imitation in the folder of a run, or resume the run."""
    from okey_agents.training.flat.run import FlatRun

    settings = config[ImitationConfig]
    with FlatRun(config, folder, resume, console) as run:
        policy = run.make_policy()
        optimizer = make_optimizer(policy, settings)
        done, total = run.begin(policy, optimizer), settings.decisions
        with ProgressStage(f"imitating {settings.teacher}", total, done, run.console) as stage:
            while done < total:
                done = imitate(policy, optimizer, done, run.interval_end(done, total), run, stage)
                run.keep(done, policy, optimizer)
        run.finish(done, policy, optimizer)


def make_optimizer(policy: MaskableActorCriticPolicy, settings: ImitationConfig) -> torch.optim.Optimizer:
    """The optimiser of imitation."""
    import torch

    return torch.optim.Adam(policy.parameters(), lr=settings.learning_rate, eps=1e-5, fused=True)


def imitate(
    policy: MaskableActorCriticPolicy,
    optimizer: torch.optim.Optimizer,
    done: int,
    until: int,
    run: FlatRun,
    stage: ProgressStage,
) -> int:
    """Learn from the teacher's decisions number `done` to `until`, rounded up to whole batches.

    The result depends on the configuration, `done`, the weights and the optimiser's memory, and on nothing else.

    Args:
        policy: learns in place.
        optimizer: of its weights, from `make_optimizer`.
        done: decisions learned from before.
        until: where to stop.
        run: has the configuration, and logs the losses of each batch.
        stage: shows the progress.

    Returns:
        The decisions learned from so far.
    """
    import torch

    config = run.config
    settings, env = config[ImitationConfig], config[EnvConfig]
    seed = derive_seed(config[RunConfig].seed, _TEACHER_STREAM + done)
    generator = torch.Generator().manual_seed(seed % 2**63)
    games = SelfPlay(NUM_GAMES, config[GameConfig].rules, env.encoder, seed, env.reward)
    games.reset()
    teacher = Teacher(settings.teacher, seed, settings.softness)
    policy.set_training_mode(True)
    while done < until:
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * max(0.0, 1 - done / settings.decisions)
        batch = collect(teacher.choose, games, NUM_STEPS)
        values = _learn(policy, optimizer, batch, teacher.targets(), config, generator)
        done += len(batch.actions)
        run.log("imitated", done, values)
        stage.update(done, values)
    return done


def sharpen(policy: MaskableActorCriticPolicy, factor: float) -> None:
    """Multiply the scores that a policy gives, in place."""
    import torch

    with torch.no_grad():
        for parameter in policy.action_net.parameters():
            parameter.mul_(factor)


class Teacher:
    """A bot that plays, and keeps the target policy of each of its decisions.

    Args:
        name: of the bot.
        seed: settles its moves.
        softness: 0: the target is its move alone; otherwise the softmax of this times its ratings, which it must have.
    """

    def __init__(self, name: str, seed: int, softness: float) -> None:
        self._weights = _RATED[name] if softness else None
        self._softness = np.float32(softness)
        self._bot = make_bot(name, seed)
        self._targets: list[Floats] = []

    def choose(self, games: SelfPlay) -> npt.NDArray[np.int64]:
        """Its moves `(G,)`; of equal ratings, the first."""
        targets = np.zeros((games.num_games, NUM_ACTIONS), np.float32)
        if self._weights is None:
            every = np.arange(games.num_games)
            actions = choose_for(self._bot, games.games, every, games.records)
            targets[every, actions] = 1
        else:
            rate_batch(games.records, self._weights, targets)  # -inf for illegal actions
            actions = targets.argmax(axis=1)
            targets -= targets.max(axis=1, keepdims=True)
            np.exp(targets * self._softness, out=targets)
            targets /= targets.sum(axis=1, keepdims=True)
        self._targets.append(targets)
        return actions

    def targets(self) -> Floats:
        """Probabilities `(N, 109)` for the decisions since the last call, in their order."""
        targets, self._targets = np.concatenate(self._targets), []
        return targets


def _learn(
    policy: MaskableActorCriticPolicy,
    optimizer: torch.optim.Optimizer,
    batch: Batch,
    targets: Floats,
    config: Config,
    generator: torch.Generator,
) -> dict[str, float]:
    """Some passes over a batch, in place; the losses of policy and value, averaged over all passes."""
    import torch

    from okey_agents.training.flat.policy import scores_and_values
    from okey_agents.training.networks.network import legal_log_probs

    settings = config[ImitationConfig]
    device = policy.device
    observations = torch.from_numpy(batch.observations).to(device)
    masks = torch.from_numpy(batch.masks).to(device)
    shares = torch.from_numpy(targets).to(device)
    returns = torch.from_numpy(batch.returns).to(device) / config[EnvConfig].reward_unit
    known = ~torch.isnan(returns)
    losses = []
    for _ in range(settings.epochs):
        for chosen in torch.split(torch.randperm(len(targets), generator=generator).to(device), settings.minibatch):
            scores, values = scores_and_values(policy, observations[chosen])
            imitation = -(shares[chosen] * legal_log_probs(scores, masks[chosen])).sum(dim=1).mean()
            foresight = torch.where(known[chosen], values - returns[chosen], 0).square().mean()
            optimizer.zero_grad()
            torch.autograd.backward(imitation + settings.value_weight * foresight)
            torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            optimizer.step()
            losses.append((imitation.item(), foresight.item()))
    imitation_mean, foresight_mean = np.mean(losses, axis=0).tolist()
    return {"imitation": imitation_mean, "foresight": foresight_mean}
