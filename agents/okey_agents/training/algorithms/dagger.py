"""DAgger: a teacher says what it would play where the learner goes (Ross, Gordon and Bagnell, 2011).

The learner plays the learning seats of the task, at first with the teacher's moves among its own. The teacher is asked
in every position. All positions are kept (the oldest go when the memory is full), and the network learns the teacher's
moves in a sample of all of them. Like `behaviour_cloning`, this is an informed line.
"""

from typing import Any

import numpy as np
import torch

from okey_agents.training.algorithms import seats as common
from okey_agents.training.algorithms.behaviour_cloning import imitation_loss, moves_of
from okey_agents.training.algorithms.memory import SparseRows
from okey_agents.training.algorithms.seats import Bools, Budget, Seats, Task
from okey_agents.training.games import Floats, Ints
from okey_agents.training.networks import bot_of, make_network
from okey_env.bots import make_bot


def train(
    task: Task,
    budget: Budget,
    seed: int,
    *,
    network: str = "kinds",
    encoder: str | None = None,
    teacher: str = "expert",
    games: int = 128,
    steps: int = 32,
    teacher_plays: float = 0.2,
    memory: int = 200_000,
    samples: int = 2,
    learning_rate: float = 2e-3,
    minibatch: int = 512,
) -> Any:
    """Learn a task; the package describes the options that all have.

    Args:
        teacher: the bot that is asked, by name.
        teacher_plays: the share of the budget in which the teacher's part of the moves falls from 1 to 0.
        memory: decisions that are kept.
        samples: times that as many decisions as were collected are drawn from the memory and learned from.

    Returns:
        The bot that plays the most probable action.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    table, bot = Seats(task, games, seed, encoder), make_bot(teacher, seed)
    learner = make_network(network, table.encoder)
    optimizer = common.make_optimizer(learner, learning_rate)
    observations = SparseRows(memory, table.encoder.size)
    masks, moves = np.zeros((memory, table.games.masks.shape[1]), np.bool_), np.zeros(memory, np.int64)
    decisions = 0
    while budget.goes_on(decisions, lambda: bot_of(learner, "dagger")):
        share = max(0.0, 1 - budget.share / teacher_plays) if teacher_plays > 0 else 0.0
        told = list[Ints]()

        def choose(seen: Floats, legal: Bools, share: float = share, told: list[Ints] = told) -> Ints:
            told.append(moves_of(bot, table))
            own = common.best_of(common.scores_of(learner, seen), legal)
            return np.where(rng.random(len(own)) < share, told[-1], own)

        rollout = common.play(table, steps, choose)
        places = (decisions + np.arange(rollout.over.size)) % memory
        observations.put(places, common.flat(rollout, rollout.observations))
        masks[places], moves[places] = common.flat(rollout, rollout.masks), np.concatenate(told)
        decisions += rollout.over.size
        common.set_rate(optimizer, common.falling(learning_rate, 0, budget.share))
        for _ in range(samples * rollout.over.size // minibatch):
            part = rng.integers(0, min(decisions, memory), minibatch)
            scores = learner(torch.from_numpy(observations.get(part)))[0]
            loss = imitation_loss(scores, torch.from_numpy(masks[part]), torch.from_numpy(moves[part]))
            common.improve(learner, optimizer, loss, longest=1.0)
    return bot_of(learner, "dagger")
