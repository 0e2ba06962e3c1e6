"""Learning by imitation: the network does what a bot does, and foresees what the bot earns.

The bot plays all four seats of whole rounds. Each of its decisions is a lesson: what it saw, what it was
allowed, what it did, and what the rest of the round then paid that seat. They are learned from batch by batch and
forgotten, so memory does not grow with their number.
"""

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from okey_env.bots import Bot, choose_for, make_bot
from okey_env.round import derive_seed
from okey_env.tiles import NUM_SEATS
from okey_env.vector import SelfPlay

from .config import TrainConfig

NUM_GAMES = 128
"""Rounds that the teacher plays side by side."""
NUM_STEPS = 256
"""Decisions in each of them that are learned from together: the memory of some 30,000 observations."""
_CLONE_STREAM = 2**63
"""The index under the run's seed from which the teacher's rounds derive theirs; PPO counts up from 0."""


@dataclasses.dataclass(frozen=True)
class Lessons:
    """Decisions of the teacher; `N` of them."""

    observations: npt.NDArray[np.float32]
    """`(N, size)`."""
    masks: npt.NDArray[np.int8]
    """`(N, 109)`."""
    actions: npt.NDArray[np.int64]
    """`(N,)`."""
    returns: npt.NDArray[np.float32]
    """`(N,)` what the rest of the round pays the seat; NaN where that is not known, as the round goes on."""


def clone(
    policy: MaskableActorCriticPolicy, config: TrainConfig, report: Callable[[int, dict[str, float]], None]
) -> None:
    """Teach a policy by imitation, in place; a function of the configuration and the weights.

    Args:
        policy: the network.
        config: the run's.
        report: is told after each batch of rounds how many decisions were learned from, and how well.
    """
    settings = config.clone
    generator = torch.Generator().manual_seed(derive_seed(config.run.seed, _CLONE_STREAM) % 2**63)
    optimizer = torch.optim.Adam(policy.parameters(), lr=settings.learning_rate, eps=1e-5, fused=True)
    policy.set_training_mode(True)
    done = 0
    for lessons in _all_lessons(config):
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * (1 - done / settings.decisions)
        values = _learn(policy, optimizer, lessons, config, generator)
        done += len(lessons.actions)
        report(done, values)
        if done >= settings.decisions:
            break
    with torch.no_grad():
        for parameter in policy.action_net.parameters():
            parameter.mul_(settings.sharpen)


def _all_lessons(config: TrainConfig) -> Iterator[Lessons]:
    """Batch after batch of the teacher's decisions, without end."""
    seed = derive_seed(config.run.seed, _CLONE_STREAM)
    teacher = make_bot(config.clone.teacher, seed)
    table = SelfPlay(NUM_GAMES, config.env.rules, config.env.encoder, seed, config.env.reward)
    table.reset()
    while True:
        yield play_lessons(teacher, table, NUM_STEPS)


def play_lessons(teacher: Bot, table: SelfPlay, num_steps: int) -> Lessons:
    """The next decisions of a bot that plays all four seats; the table has been reset and goes on from where it is."""
    shape = (num_steps, table.num_games)
    every = np.arange(table.num_games)
    observations = np.empty((*shape, table.observations.shape[1]), np.float32)
    masks = np.empty((*shape, table.masks.shape[1]), np.int8)
    actions = np.empty(shape, np.int64)
    seats = np.empty(shape, np.int64)
    rewards = np.empty((*shape, NUM_SEATS), np.float32)
    ended = np.empty(shape, np.bool_)
    for step in range(num_steps):
        observations[step], masks[step], seats[step] = table.observations, table.masks, table.seats
        actions[step] = choose_for(teacher, table.games, every, table.records)
        table.step(actions[step])
        rewards[step], ended[step] = table.rewards, table.terminated | table.truncated
    returns = np.empty(shape, np.float32)
    to_come = np.full((table.num_games, NUM_SEATS), np.nan, np.float32)  # rewards of the round after this step
    for step in reversed(range(num_steps)):
        to_come[ended[step]] = 0
        to_come += rewards[step]
        returns[step] = to_come[every, seats[step]]
    size = num_steps * table.num_games
    return Lessons(
        observations.reshape(size, -1), masks.reshape(size, -1), actions.reshape(size), returns.reshape(size)
    )


def _learn(
    policy: MaskableActorCriticPolicy,
    optimizer: torch.optim.Optimizer,
    lessons: Lessons,
    config: TrainConfig,
    generator: torch.Generator,
) -> dict[str, float]:
    """Some passes over a batch of lessons; how well they were known, averaged over the first."""
    settings = config.clone
    device = policy.device
    observations = torch.from_numpy(lessons.observations).to(device)
    masks = torch.from_numpy(lessons.masks).to(device)
    actions = torch.from_numpy(lessons.actions).to(device)
    returns = torch.from_numpy(lessons.returns).to(device) / config.env.reward_unit
    known = ~torch.isnan(returns)
    losses = []
    for _ in range(settings.epochs):
        for chosen in torch.split(torch.randperm(len(actions), generator=generator).to(device), settings.minibatch):
            values, log_prob, _ = policy.evaluate_actions(observations[chosen], actions[chosen], masks[chosen])
            imitation = -log_prob.mean()
            foresight = torch.where(known[chosen], values.flatten() - returns[chosen], 0).square().mean()
            optimizer.zero_grad()
            torch.autograd.backward(imitation + settings.value_weight * foresight)
            torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            optimizer.step()
            losses.append((imitation.item(), foresight.item()))
    imitation_mean, foresight_mean = np.mean(losses, axis=0).tolist()
    return {"imitation": imitation_mean, "foresight": foresight_mean}
