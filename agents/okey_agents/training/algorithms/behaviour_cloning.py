"""Behaviour cloning: learns the moves of a teacher from rounds that the teacher plays (Pomerleau, 1989).

The teacher is a bot that knows how to play, so this is an informed line beside the algorithms that start from nothing.
It plays the learning seats of the task. The network learns each of its moves by cross-entropy.
"""

from typing import Any

import numpy as np
import torch

from okey_agents.training.algorithms import seats as common
from okey_agents.training.algorithms.seats import Budget, Seats, Task
from okey_agents.training.games import Ints
from okey_agents.training.networks import bot_of, make_network
from okey_agents.training.networks.network import legal_log_probs
from okey_env.bots import Bot, choose_for, make_bot


def train(
    task: Task,
    budget: Budget,
    seed: int,
    *,
    network: str = "kinds",
    encoder: str | None = None,
    teacher: str = "expert",
    games: int = 128,
    steps: int = 64,
    learning_rate: float = 2e-3,
    epochs: int = 2,
    minibatch: int = 512,
) -> Any:
    """Learn a task; the package describes the options that all have.

    Args:
        teacher: the bot that is imitated, by name.

    Returns:
        The bot that plays the most probable action.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    table, bot = Seats(task, games, seed, encoder), make_bot(teacher, seed)
    learner = make_network(network, table.encoder)
    optimizer = common.make_optimizer(learner, learning_rate)
    decisions = 0
    while budget.goes_on(decisions, lambda: bot_of(learner, "behaviour_cloning")):
        rollout = common.play(table, steps, lambda _seen, _masks: moves_of(bot, table))
        observations, masks, moves = (
            torch.from_numpy(common.flat(rollout, array))
            for array in (rollout.observations, rollout.masks, rollout.actions)
        )
        common.set_rate(optimizer, common.falling(learning_rate, 0, budget.share))
        for _ in range(epochs):
            for part in common.minibatches(len(moves), minibatch, rng):
                rows = torch.from_numpy(part)
                loss = imitation_loss(learner(observations[rows])[0], masks[rows], moves[rows])
                common.improve(learner, optimizer, loss, longest=1.0)
        decisions += rollout.over.size
    return bot_of(learner, "behaviour_cloning")


def moves_of(bot: Bot, table: Seats) -> Ints:
    """What a bot would play in each game: `(G,)`."""
    return choose_for(bot, table.games.states, np.arange(table.num_games), table.records)


def imitation_loss(scores: torch.Tensor, masks: torch.Tensor, moves: torch.Tensor) -> torch.Tensor:
    """The mean cross-entropy of `(N,)` moves under the softmax of the legal scores `(N, 109)`."""
    return -legal_log_probs(scores, masks).gather(1, moves[:, None]).mean()
