"""Decisions of whole rounds of self-play, with the return of each: what the rest of the round paid the seat.

A fixed number of decisions of every game is collected and handed over at once, so memory does not grow with their
number.
"""

import dataclasses
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from okey_env.tiles import NUM_SEATS
from okey_env.vector import SelfPlay

Choose: TypeAlias = Callable[[SelfPlay], npt.NDArray[np.int64]]
"""A player: from `G` games under way to the actions `(G,)` of their seats to move."""


@dataclasses.dataclass(frozen=True)
class Batch:
    """`N` decisions."""

    observations: npt.NDArray[np.float32]
    """`(N, size)`."""
    masks: npt.NDArray[np.int8]
    """`(N, 109)`."""
    actions: npt.NDArray[np.int64]
    """`(N,)`."""
    returns: npt.NDArray[np.float32]
    """`(N,)` what the rest of the round pays the seat; NaN if the batch ends before the round does."""


def collect(choose: Choose, games: SelfPlay, num_steps: int) -> Batch:
    """Play on, and collect the decisions of all four seats.

    Args:
        choose: plays every seat.
        games: has been reset; it is played on from where it is.
        num_steps: decisions in each of its games.

    Returns:
        `num_steps * games.num_games` decisions, step by step.
    """
    shape = (num_steps, games.num_games)
    every = np.arange(games.num_games)
    observations = np.empty((*shape, games.observations.shape[1]), np.float32)
    masks = np.empty((*shape, games.masks.shape[1]), np.int8)
    actions = np.empty(shape, np.int64)
    seats = np.empty(shape, np.int64)
    rewards = np.empty((*shape, NUM_SEATS), np.float32)
    ended = np.empty(shape, np.bool_)
    for step in range(num_steps):
        observations[step], masks[step], seats[step] = games.observations, games.masks, games.seats
        actions[step] = choose(games)
        games.step(actions[step])
        rewards[step], ended[step] = games.rewards, games.terminated | games.truncated
    returns = np.empty(shape, np.float32)
    to_come = np.full((games.num_games, NUM_SEATS), np.nan, np.float32)  # rewards of the round after this step
    for step in reversed(range(num_steps)):
        to_come[ended[step]] = 0
        to_come += rewards[step]
        returns[step] = to_come[every, seats[step]]
    size = num_steps * games.num_games
    return Batch(observations.reshape(size, -1), masks.reshape(size, -1), actions.reshape(size), returns.reshape(size))
