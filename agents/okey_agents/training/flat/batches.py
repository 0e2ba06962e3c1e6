"""Decisions of whole rounds in which one player has all four seats, and what the rest of the round then paid.

A stretch of some decisions in every game is played and handed over at once, so memory does not grow with their number.
"""

import dataclasses
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from okey_env.tiles import NUM_SEATS
from okey_env.vector import SelfPlay

Choose: TypeAlias = Callable[[SelfPlay], npt.NDArray[np.int64]]
"""From the games as they are to an action for each."""


@dataclasses.dataclass(frozen=True)
class Played:
    """`N` decisions."""

    observations: npt.NDArray[np.float32]
    """`(N, size)`."""
    masks: npt.NDArray[np.int8]
    """`(N, 109)`."""
    actions: npt.NDArray[np.int64]
    """`(N,)`."""
    returns: npt.NDArray[np.float32]
    """`(N,)` what the rest of the round pays the seat; NaN where that is not known, as the round goes on."""


def play_on(choose: Choose, table: SelfPlay, num_steps: int) -> Played:
    """The next decisions of a player that has all four seats.

    Args:
        choose: the player.
        table: has been reset; it goes on from where it is.
        num_steps: decisions in each of its games.

    Returns:
        `num_steps * table.num_games` decisions, step by step.
    """
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
        actions[step] = choose(table)
        table.step(actions[step])
        rewards[step], ended[step] = table.rewards, table.terminated | table.truncated
    returns = np.empty(shape, np.float32)
    to_come = np.full((table.num_games, NUM_SEATS), np.nan, np.float32)  # rewards of the round after this step
    for step in reversed(range(num_steps)):
        to_come[ended[step]] = 0
        to_come += rewards[step]
        returns[step] = to_come[every, seats[step]]
    size = num_steps * table.num_games
    return Played(observations.reshape(size, -1), masks.reshape(size, -1), actions.reshape(size), returns.reshape(size))
