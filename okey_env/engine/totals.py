"""The named rewards of a round as totals since the deal, and their dense part; `okey_env.rewards` is the plain form."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel
from okey_env.engine.starts import ORDINARY, distance_of
from okey_env.engine.state import ENDED_TRUNCATED, ENDED_VOID, NO_SEAT, NOT_ENDED
from okey_env.tiles import NUM_SEATS

REWARD_POINTS = 0
REWARD_ZERO_SUM = 1
REWARD_SOON = 3
REWARD_NAMES = ("points", "zero_sum", "win", "soon")

NOT_DENSE = 0
DENSE_DISTANCE = 1  # kept at the end of the round
DENSE_POTENTIAL = 2  # paid back at the end of the round
DENSE_NAMES = ("", "distance", "potential")


class Terms(NamedTuple):
    """The kind of episode, the reward and the starts of the games of a batch."""

    matches: bool
    """Whether an episode is a match."""
    reward: int
    """REWARD_*: the base reward."""
    dense: int = NOT_DENSE
    """NOT_DENSE or DENSE_*: what is added to the base reward."""
    weight: float = 0.0
    """Points for each tile by which a rack comes nearer to a finish; each change is paid at the weight of its time."""
    starts: npt.NDArray[np.float64] = ORDINARY
    """`(K, 2)` table of starts (`okey_env.engine.starts`)."""


@kernel
def fill_totals(game: np.record, reward: int, totals: npt.NDArray[np.float32]) -> None:
    """Fill `(4,)` with the total reward of each seat since the deal; `reward` is an index of REWARD_NAMES."""
    void = game.rules.void_points if game.ending == ENDED_VOID or game.ending == ENDED_TRUNCATED else 0
    for seat in range(NUM_SEATS):
        if reward == REWARD_POINTS:
            totals[seat] = -np.float32(game.lost[seat])
        elif reward == REWARD_ZERO_SUM:
            totals[seat] = np.float32(game.won[seat]) - np.float32(game.lost[seat]) + np.float32(void)
        elif game.winner == NO_SEAT:
            totals[seat] = 0.0
        elif reward == REWARD_SOON:
            wins = seat == game.winner or (game.rules.teams != 0 and (seat + game.winner) % 2 == 0)
            totals[seat] = 1.0 - game.throws / (game.rules.max_throws + 1) if wins else 0.0
        elif game.rules.teams != 0:
            totals[seat] = 1.0 if (seat + game.winner) % 2 == 0 else -1.0
        else:
            totals[seat] = 1.0 if seat == game.winner else np.float32(-1.0 / (NUM_SEATS - 1))


@kernel(borrows=True)
def pay_nearer(
    game: np.record, terms: Terms, seat: int, distances: npt.NDArray[np.int8], dense: npt.NDArray[np.float32]
) -> np.float32:
    """The dense reward of a seat for the change of its own rack since the last call.

    At the end of the round, DENSE_POTENTIAL pays back what it has paid; call it only once for each seat then.

    Args:
        game: the round.
        terms: the dense part and its weight.
        seat: the seat.
        distances: `(4,)` the distance of each rack at the last call; updated.
        dense: `(4,)` the dense rewards of each seat so far in this round; updated.
    """
    pay = np.float32(0.0)
    distance = distance_of(game, seat)
    if distance != distances[seat]:
        pay = np.float32(terms.weight * (int(distances[seat]) - distance))
        distances[seat] = distance
        dense[seat] += pay
    if game.ending != NOT_ENDED and terms.dense == DENSE_POTENTIAL:
        pay -= dense[seat]
        dense[seat] = 0.0
    return pay


@kernel(borrows=True)
def begin_dense(game: np.record, distances: npt.NDArray[np.int8], dense: npt.NDArray[np.float32]) -> None:
    """Fill the two `(4,)` arrays of `pay_nearer` for a round in which nothing is paid yet."""
    for seat in range(NUM_SEATS):
        distances[seat] = distance_of(game, seat)
        dense[seat] = 0.0


# --- many games -----------------------------------------------------------------------------------------


@kernel
def distance_in(games: npt.NDArray[np.record], i: int, seat: int) -> int:
    """The melds distance of a rack of game i."""
    return distance_of(games[i], seat)


@kernel
def begin_dense_at(
    games: npt.NDArray[np.record],
    indices: npt.NDArray[np.int64],
    distances: npt.NDArray[np.int8],
    dense: npt.NDArray[np.float32],
) -> None:
    """`begin_dense` in the games at `(M,)` indices; `distances` and `dense` are `(N, 4)`."""
    for row in range(len(indices)):
        i = indices[row]
        begin_dense(games[i], distances[i], dense[i])
