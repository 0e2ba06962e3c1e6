"""PPO: in all four seats with a critic that sees all of them, or in one seat against a task's bots.

The loop of the recipe `ppo` (`okey_agents.training.ppo`), here for any task and budget. In self-play no bot takes part
in learning, whatever the task's opponents are; they are met when the bot is scored.
"""

from typing import Any

import torch

from okey_agents.training.algorithms.seats import Budget, Task
from okey_agents.training.games import FourSeats, Games, OneSeat
from okey_agents.training.networks import bot_of, make_network
from okey_agents.training.ppo.learner import Learner
from okey_agents.training.ppo.recipe import PpoConfig


def train(
    task: Task,
    budget: Budget,
    seed: int,
    *,
    network: str = "kinds",
    encoder: str | None = None,
    reward: str | None = None,
    start: Any = None,
    self_play: bool | None = None,
    games: int = 128,
    steps: int = 64,
    learning_rate: float = 5e-3,
    epochs: int = 2,
    minibatch: int = 1024,
    trace: float = 0.95,
    clip: float = 0.2,
    entropy: float = 0.005,
    dense_share: float = 0.3,
) -> Any:
    """Learn a task; the package describes the options that all have.

    Args:
        reward: another reward than the task's, to learn from; None: the task's and, at the beginning, pay for each tile
            by which a rack comes nearer to a finish, since random players never finish a round.
        start: another start of the rounds than the task's, such as a curriculum.
        self_play: whether to learn in all four seats; None: only if the task is of self-play.
        trace: lambda of the advantages, from one decision of the game to the next.
        clip: how far the ratio of new and old probability may move from 1.
        entropy: weight of the policy's entropy at the beginning.
        dense_share: the share of the budget in which the pay for distance falls to 0, if the reward has any.

    Returns:
        The bot that plays the most probable action.
    """
    torch.manual_seed(seed)
    everywhere = task.only_self_play if self_play is None else self_play
    if reward is None and "+" not in task.reward:
        reward = f"{task.reward}+{task.reward_unit / 3:g}*distance"
    given = {"encoder": encoder, "reward": reward, "start": start}
    changes = {key: value for key, value in given.items() if value is not None}
    played: Games
    if everywhere:
        played = FourSeats(task.self_play(games, seed, **changes))
    else:
        played = OneSeat(task.make_vec(games, seed, **changes))
    settings = PpoConfig(
        steps=steps,
        minibatch=minibatch,
        epochs=epochs,
        learning_rate=learning_rate,
        gae_lambda=trace,
        clip=clip,
        entropy=entropy,
        dense_share=dense_share,
    )
    learner = Learner([played], make_network(network, played.encoder), settings, task.reward_unit)
    learner.begin(seed)
    decisions = 0
    while budget.goes_on(decisions, lambda: bot_of(learner.network, "ppo")):
        learner.iterate(budget.share)
        decisions += learner.decisions
    return bot_of(learner.network, "ppo")
