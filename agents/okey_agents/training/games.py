"""Where an algorithm's decisions come from: all seats of self-play, or one seat against bots, in one form.

A *player* is whoever is paid: the four seats of self-play, or the one learning seat. `K` is the number of players.
"""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from okey_env.encoders import Encoder
from okey_env.tiles import NUM_SEATS
from okey_env.vector import OkeyVectorEnv, SelfPlay

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


class Games(Protocol):
    """`N` games under way. The arrays are overwritten by each step."""

    encoder: Encoder
    num_games: int
    num_players: int
    """`K`."""

    @property
    def observations(self) -> Floats:
        """`(N, E)` what the player to move sees."""

    @property
    def masks(self) -> npt.NDArray[np.int8]:
        """`(N, 109)` what it may do."""

    @property
    def records(self) -> npt.NDArray[np.record]:
        """`(N,)` of OBSERVATION, the same as a record."""

    @property
    def states(self) -> npt.NDArray[np.record]:
        """`(N,)` of GAME, hidden tiles included: for teachers, which are asked as bots are."""

    @property
    def players(self) -> Ints:
        """`(N,)` who is to move, 0 to K - 1."""

    def reset(self, seed: int) -> None:
        """Begin new games; the seed settles all that follows."""

    @property
    def distance_weight(self) -> float:
        """Points for each tile by which a rack comes nearer; 0 if the reward has no dense term."""

    @distance_weight.setter
    def distance_weight(self, weight: float) -> None: ...

    def step(self, actions: Ints) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Do one action in each game: rewards `(N, K)`, and whether the episode ended `(N,)`."""


class FourSeats:
    """All seats of `SelfPlay`."""

    num_players = NUM_SEATS

    def __init__(self, batch: SelfPlay) -> None:
        if batch.encoder is None:
            raise ValueError("the games have no encoder: expected SelfPlay with one")
        self.batch, self.encoder, self.num_games = batch, batch.encoder, batch.num_games

    @property
    def observations(self) -> Floats:
        """`(N, E)` what the player to move sees."""
        return self.batch.observations

    @property
    def masks(self) -> npt.NDArray[np.int8]:
        """`(N, 109)` what it may do."""
        return self.batch.masks

    @property
    def records(self) -> npt.NDArray[np.record]:
        """`(N,)` of OBSERVATION, the same as a record."""
        return self.batch.records

    @property
    def states(self) -> npt.NDArray[np.record]:
        """`(N,)` of GAME, hidden tiles included."""
        return self.batch.games

    @property
    def players(self) -> Ints:
        """`(N,)` the seat to move."""
        return self.batch.seats

    def reset(self, seed: int) -> None:
        """Begin new games."""
        self.batch.reset(seed)

    @property
    def distance_weight(self) -> float:
        """Points for each tile by which a rack comes nearer; 0 if the reward has no dense term."""
        return self.batch.distance_weight

    @distance_weight.setter
    def distance_weight(self, weight: float) -> None:
        self.batch.distance_weight = weight

    def step(self, actions: Ints) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Do one action in each game."""
        self.batch.step(actions)
        return self.batch.rewards, self.batch.terminated | self.batch.truncated


class OneSeat:
    """The learning seat of an `OkeyVectorEnv`."""

    num_players = 1

    def __init__(self, env: OkeyVectorEnv) -> None:
        self.env, self.encoder, self.num_games = env, env.encoder, env.num_envs
        self.players: Ints = np.zeros(env.num_envs, np.int64)

    @property
    def observations(self) -> Floats:
        """`(N, E)` what the learning seat sees."""
        return self.env.observations

    @property
    def masks(self) -> npt.NDArray[np.int8]:
        """`(N, 109)` what it may do."""
        return self.env.masks

    @property
    def records(self) -> npt.NDArray[np.record]:
        """`(N,)` of OBSERVATION, the same as a record."""
        return self.env.records

    @property
    def states(self) -> npt.NDArray[np.record]:
        """`(N,)` of GAME, hidden tiles included."""
        return self.env.games

    def reset(self, seed: int) -> None:
        """Begin new games."""
        self.env.reset(seed=seed)

    @property
    def distance_weight(self) -> float:
        """Points for each tile by which a rack comes nearer; 0 if the reward has no dense term."""
        return self.env.distance_weight

    @distance_weight.setter
    def distance_weight(self, weight: float) -> None:
        self.env.distance_weight = weight

    def step(self, actions: Ints) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Do one action in each game, and play on to the learning seat's next decision."""
        _, rewards, terminated, truncated, _ = self.env.step(actions)
        return rewards.astype(np.float32)[:, None], terminated | truncated
