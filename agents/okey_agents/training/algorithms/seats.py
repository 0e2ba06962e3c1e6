"""What the algorithms share: the seats that learn, rollouts of their decisions, returns, choices, small steps.

Letters: `T` steps, `G` games, `S` learning seats of a game (4 in self-play, else 1), `N` decisions, `E` entries of the
encoder, 109 actions.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from okey_agents.training.games import Floats, FourSeats, Games, Ints, OneSeat
from okey_env.vector import OkeyVectorEnv, SelfPlay

Bools = npt.NDArray[np.bool_]


class Task(Protocol):
    """What an algorithm asks of a task: `okey_env.tasks.Task`, or anything like it."""

    reward: str
    """The name of its reward."""
    reward_unit: float
    """The size of a usual reward, by which networks divide."""
    only_self_play: bool
    """Whether all seats learn, and no bot takes part."""

    def make_vec(self, num_envs: int, seed: int, **changes: Any) -> OkeyVectorEnv:
        """Games with one learning seat against the task's bots; `changes`: keywords that differ from the task's."""

    def self_play(self, num_games: int, seed: int, **changes: Any) -> SelfPlay:
        """Games in which all four seats learn."""


class Budget(Protocol):
    """What a run may spend."""

    share: float
    """The share that is spent, 0 to 1."""

    def goes_on(self, decisions: int, make_bot: Callable[[], Any]) -> bool:
        """Whether something is left after so many decisions."""


class Rollout(NamedTuple):
    """`T` decisions in each of `G` games."""

    observations: Floats
    """`(T, G, E)`."""
    masks: Bools
    """`(T, G, 109)`."""
    actions: Ints
    """`(T, G)`."""
    seats: Ints
    """`(T, G)`: who decided, 0 to S - 1."""
    rewards: Floats
    """`(T, G, S)`: what each seat was paid by the step, in units of the task."""
    over: Bools
    """`(T, G)`: whether the episode ended with the step."""


class Seats:
    """The games of a task as the learning seats see them.

    Args:
        task: gives the games.
        num_games: `G`.
        seed: determines all deals and bots.
        encoder: another encoder than the task's.
        reward: another reward than the task's, such as one with a shaping term.
    """

    def __init__(
        self, task: Task, num_games: int, seed: int, encoder: str | None = None, reward: str | None = None
    ) -> None:
        changes = {key: value for key, value in (("encoder", encoder), ("reward", reward)) if value is not None}
        self.num_games = num_games
        self.unit = task.reward_unit
        self.games: Games
        if task.only_self_play:
            self.games = FourSeats(task.self_play(num_games, seed, **changes))
        else:
            self.games = OneSeat(task.make_vec(num_games, seed, **changes))
        self.games.reset(seed)
        self.num_seats, self.encoder = self.games.num_players, self.games.encoder
        self.over: Bools = np.ones(num_games, np.bool_)
        """`(G,)`: whether the decision to come is the first one of an episode."""

    @property
    def observations(self) -> Floats:
        """`(G, E)`; overwritten by the next step."""
        return self.games.observations

    @property
    def masks(self) -> Bools:
        """`(G, 109)`."""
        return self.games.masks.astype(np.bool_)

    @property
    def records(self) -> npt.NDArray[np.record]:
        """`(G,)` of OBSERVATION; overwritten by the next step."""
        return self.games.records

    @property
    def seats(self) -> Ints:
        """`(G,)`: whose decision it is."""
        return self.games.players

    def step(self, actions: Ints) -> tuple[Floats, Bools]:
        """One decision in each game: what it paid, `(G, S)` in units of the task, and whether the episode is over."""
        rewards, self.over = self.games.step(actions)
        return rewards / np.float32(self.unit), self.over


def play(seats: Seats, num_steps: int, choose: Callable[[Floats, Bools], Ints]) -> Rollout:
    """Play on from where the games are.

    Args:
        seats: the games.
        num_steps: `T`.
        choose: from observations `(G, E)` and masks `(G, 109)` to actions `(G,)`.
    """
    shape = (num_steps, seats.num_games)
    rollout = Rollout(
        observations=np.empty((*shape, seats.encoder.size), np.float32),
        masks=np.empty((*shape, seats.games.masks.shape[1]), np.bool_),
        actions=np.empty(shape, np.int64),
        seats=np.empty(shape, np.int64),
        rewards=np.empty((*shape, seats.num_seats), np.float32),
        over=np.empty(shape, np.bool_),
    )
    for step in range(num_steps):
        rollout.observations[step], rollout.masks[step] = seats.observations, seats.masks
        rollout.seats[step] = seats.seats
        rollout.actions[step] = choose(rollout.observations[step], rollout.masks[step])
        rollout.rewards[step], rollout.over[step] = seats.step(rollout.actions[step])
    return rollout


def lambda_returns(
    rollout: Rollout,
    values: Floats | None,
    trace: float | Floats,
    gamma: float = 1.0,
    rng: np.random.Generator | None = None,
) -> Floats:
    """What each decision is followed by: rewards up to the seat's next decision, and then a mix of two estimates.

    The estimates are the value of the next decision, and the return of the next decision (weight `trace`).

    Args:
        rollout: the decisions; their observations are not looked at.
        values: `(T, G)`, or `(T, G, atoms)` with the atoms of a distribution; None: only whole rounds count, and
            `trace` is 1.
        trace: lambda, one number or `(T, G)`: how much of the return of that decision the decision before it takes.
        gamma: discount from one decision of a seat to its next.
        rng: if given, one of the two estimates is drawn and taken whole, as the mix of two distributions asks for.

    Returns:
        In the shape of `values`, or `(T, G)`. NaN: the rollout ends before the seat's next decision or the end of the
        round (without values: before the end of the round).
    """
    num_steps, num_games, num_seats = rollout.rewards.shape
    shape = rollout.over.shape if values is None else values.shape
    known = np.full((*shape, 1), np.nan, np.float32) if values is None else values.reshape(num_steps, num_games, -1)
    traces = np.broadcast_to(np.asarray(trace, np.float32), rollout.over.shape)
    every = np.arange(num_games)
    found = np.empty(known.shape, np.float32)
    paid = np.zeros((num_games, num_seats, 1), np.float32)  # since the decision before, going back in time
    beyond = np.full((num_games, num_seats, known.shape[2]), np.nan, np.float32)
    for step in reversed(range(num_steps)):
        ended, seat = rollout.over[step], rollout.seats[step]
        paid[ended] = beyond[ended] = 0
        paid[:, :, 0] += rollout.rewards[step]
        found[step] = paid[every, seat] + gamma * beyond[every, seat]
        paid[every, seat] = 0
        if values is None:
            beyond[every, seat] = found[step]
            continue
        following = np.where(np.isnan(found[step]), known[step], found[step])
        weight = traces[step][:, None] if rng is None else (rng.random((num_games, 1)) < traces[step][:, None])
        beyond[every, seat] = weight * following + (1 - weight) * known[step]
    return found.reshape(shape)


def best_of(scores: Floats, masks: Bools) -> Ints:
    """The legal actions `(N,)` with the highest scores, the first of equals."""
    best: Ints = np.where(masks, scores, -np.inf).argmax(1)
    return best


def explore(scores: Floats, masks: Bools, epsilon: float, rng: np.random.Generator) -> Ints:
    """The best legal actions `(N,)`, and with probability `epsilon` any legal action."""
    drawn = best_of(rng.random(masks.shape, np.float32), masks)
    return np.where(rng.random(len(masks)) < epsilon, drawn, best_of(scores, masks))


def sample(scores: Floats, masks: Bools, rng: np.random.Generator) -> Ints:
    """Legal actions `(N,)` drawn from the softmax of the scores."""
    return best_of(scores + rng.gumbel(size=scores.shape).astype(np.float32), masks)


def action_values(network: nn.Module, observations: torch.Tensor) -> torch.Tensor:
    """What a network expects of each action: `(N, 109)` or `(N, 109, atoms)`.

    The value says what all actions of a decision have in common, and the scores how they differ (a dueling network
    without the mean subtracted). The best action is the same by the scores alone.
    """
    scores, value = network(observations)
    expected: torch.Tensor = scores + value.view(-1, *(1 for _ in scores.shape[1:]))
    return expected


def scores_of(network: Callable[[torch.Tensor], Any], observations: Floats, chunk: int = 2048) -> Floats:
    """The scores of a network for `(N, E)` observations, without gradients."""
    with torch.no_grad():
        parts = torch.split(torch.from_numpy(observations), chunk)
        scores: Floats = torch.cat([network(part)[0] for part in parts]).numpy()
    return scores


def flat(rollout: Rollout, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array `(T, G, …)` of a rollout as `(T * G, …)`."""
    return array.reshape(rollout.over.size, *array.shape[2:])


def minibatches(count: int, size: int, rng: np.random.Generator) -> Iterator[Ints]:
    """`count` rows in random order, at most `size` at a time."""
    order = rng.permutation(count)
    for begin in range(0, count, size):
        yield order[begin : begin + size]


def make_optimizer(network: nn.Module, rate: float) -> torch.optim.Optimizer:
    """Adam with a small step to begin with."""
    return torch.optim.Adam(network.parameters(), lr=rate, eps=1e-5, fused=True)


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Set the step size."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def improve(network: nn.Module, optimizer: torch.optim.Optimizer, loss: torch.Tensor, longest: float = 0.5) -> None:
    """One step of the optimiser; longer gradients are cut to `longest`."""
    optimizer.zero_grad()
    torch.autograd.backward(loss)
    nn.utils.clip_grad_norm_(network.parameters(), longest)
    optimizer.step()


def falling(begin: float, end: float, share: float) -> float:
    """A number that changes linearly from `begin` to `end` while `share` goes from 0 to 1."""
    return begin + (end - begin) * share
