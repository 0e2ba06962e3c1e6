"""NFSP: a best response to the average of its own past, and that average as the bot (Heinrich and Silver, 2016).

Each seat plays a round either by `dqn` (probability `anticipation`) or by the average policy. The learner of `dqn`
learns from all decisions and so answers the average policy. A second network, the average policy, imitates the
decisions that were made by `dqn`, of which a reservoir keeps an even sample over the whole of training. In two-player
zero-sum games the average comes near an equilibrium; with four players there is no such proof.
"""

from typing import Any

import numpy as np
import torch

from okey_agents.training.algorithms import seats as common
from okey_agents.training.algorithms.dqn import QLearner
from okey_agents.training.algorithms.memory import Reservoir, SparseRows
from okey_agents.training.algorithms.seats import Bools, Budget, Seats, Task
from okey_agents.training.games import Floats, Ints
from okey_agents.training.networks import bot_of, make_network
from okey_agents.training.networks.network import legal_log_probs


def train(
    task: Task,
    budget: Budget,
    seed: int,
    *,
    network: str = "kinds",
    encoder: str | None = None,
    reward: str | None = None,
    games: int = 128,
    steps: int = 64,
    epsilon: float = 0.1,
    epsilon_end: float = 0.01,
    anticipation: float = 0.3,
    average_rate: float = 5e-3,
    reservoir: int = 100_000,
    imitations: int = 8,
    minibatch: int = 512,
    cut: int = 1,
    **learning: Any,
) -> Any:
    """Learn a task; the package describes the options that all have.

    Args:
        epsilon: probability of a random action of `dqn` at the beginning.
        epsilon_end: the same at the end.
        anticipation: probability that a seat plays a round by `dqn`.
        average_rate: step size of the average policy at the beginning; it falls to 0.
        reservoir: decisions of `dqn` that are kept.
        imitations: steps of the average policy's optimiser in an iteration.
        cut: 1: returns of `dqn` stop at actions that are not the best, since most are those of the average policy.
        learning: other options of `QLearner`.

    Returns:
        The bot that plays the most probable action of the average policy.
    """
    table = Seats(task, games, seed, encoder, reward)
    learner = QLearner(
        table, network, seed, torch.nn.functional.smooth_l1_loss, cut=cut, minibatch=minibatch, **learning
    )
    rng = learner.rng
    average = make_network(network, table.encoder)
    optimizer = common.make_optimizer(average, average_rate)
    kept, observations = Reservoir(reservoir, rng), SparseRows(reservoir, table.encoder.size)
    masks, actions = np.zeros((reservoir, table.games.masks.shape[1]), np.bool_), np.zeros(reservoir, np.int64)
    responds = np.zeros((games, table.num_seats), np.bool_)  # which seats play their round by dqn
    every, decisions = np.arange(games), 0
    while budget.goes_on(decisions, lambda: bot_of(average, "nfsp")):
        chance = common.falling(epsilon, epsilon_end, budget.share)
        by_dqn = list[Bools]()

        def choose(seen: Floats, legal: Bools, chance: float = chance, by_dqn: list[Bools] = by_dqn) -> Ints:
            responds[table.over] = rng.random((int(table.over.sum()), table.num_seats)) < anticipation
            now = responds[every, table.seats]
            by_dqn.append(now)
            chosen = np.zeros(games, np.int64)
            if now.any():  # networks may refuse 0 rows
                chosen[now] = learner.explore(seen[now], legal[now], chance)
            if not now.all():
                chosen[~now] = common.sample(common.scores_of(average, seen[~now]), legal[~now], rng)
            return chosen

        rollout = common.play(table, steps, choose)
        rows = np.flatnonzero(np.stack(by_dqn))
        chosen, places = kept.places(len(rows))
        rows = rows[chosen]
        observations.put(places, common.flat(rollout, rollout.observations)[rows])
        masks[places] = common.flat(rollout, rollout.masks)[rows]
        actions[places] = common.flat(rollout, rollout.actions)[rows]
        learner.learn(rollout, budget.share)
        common.set_rate(optimizer, common.falling(average_rate, 0, budget.share))
        for _ in range(imitations if len(kept) else 0):
            part = rng.integers(0, len(kept), minibatch)
            logs = legal_log_probs(average(torch.from_numpy(observations.get(part)))[0], torch.from_numpy(masks[part]))
            loss = -logs.gather(1, torch.from_numpy(actions[part])[:, None]).mean()
            common.improve(average, optimizer, loss)
        decisions += rollout.over.size
    return bot_of(average, "nfsp")
