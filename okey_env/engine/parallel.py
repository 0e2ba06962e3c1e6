"""The batch of self-play: one decision in every game, on one thread or several.

Each game is independent of the others, so the threads share nothing and the result does not depend on their number.
The `*_range` kernels process a range of the games; the `*_parallel` kernels divide the games among threads.

Shapes: `N` games.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_env.actions import SHOW
from okey_env.engine._jit import kernel, prange
from okey_env.engine.deal import deal_round
from okey_env.engine.hand.bits import as_int
from okey_env.engine.match import (
    GOES_ON,
    TERMINATED,
    TRUNCATED,
    episode_status,
    fill_match_totals,
    next_episode,
    next_round,
)
from okey_env.engine.observe import look
from okey_env.engine.starts import start_round
from okey_env.engine.state import NOT_ENDED
from okey_env.engine.totals import NOT_DENSE, Terms, begin_dense, pay_nearer
from okey_env.engine.turn import apply, is_legal
from okey_env.tiles import NUM_SEATS


@kernel
def first_illegal(games: npt.NDArray[np.record], actions: npt.NDArray[np.int64]) -> int:
    """The index of the first game whose action is not legal; -1 if all actions are legal."""
    for i in range(len(games)):
        if not is_legal(games[i], actions[i]):
            return i
    return -1


@kernel
def deal_range(games: npt.NDArray[np.record], seed: np.uint64, start: int, stop: int) -> None:
    """Deal the first round of the games from `start` to `stop` - 1; game i has the seed derived from (seed, i)."""
    for i in range(start, stop):
        deal_round(games[i], seed, i)


class Payouts(NamedTuple):
    """The rewards of the last action, and the episodes that it ended."""

    paid: npt.NDArray[np.float32]
    """`(N, 4)` the base totals that were paid before; updated."""
    rewards: npt.NDArray[np.float32]
    """`(N, 4)`, filled: the reward of each seat for the action."""
    terminated: npt.NDArray[np.bool_]
    """`(N,)`, filled: the episode ended."""
    truncated: npt.NDArray[np.bool_]
    """`(N,)`, filled: the episode was truncated."""
    distances: npt.NDArray[np.int8]
    """`(N, 4)` as in `pay_nearer`; used only with a dense reward."""
    dense: npt.NDArray[np.float32]
    """`(N, 4)` as in `pay_nearer`; used only with a dense reward."""


class Views(NamedTuple):
    """What the seat to move of each game sees."""

    records: npt.NDArray[np.record]
    """`(N,)` of OBSERVATION, filled."""
    masks: npt.NDArray[np.int8]
    """`(N, 109)`, filled: 1 for each legal action."""
    seats: npt.NDArray[np.int64]
    """`(N,)`, filled: the seat to move."""


@kernel(borrows=True)
def advance_range(
    games: npt.NDArray[np.record],
    actions: npt.NDArray[np.int64],
    terms: Terms,
    payouts: Payouts,
    start: int,
    stop: int,
) -> None:
    """Do one legal action in each game, pay the rewards, and deal the next round where the round ended.

    Args:
        games: `(N,)` of GAME.
        actions: `(N,)`, legal.
        terms: the kind of episode, the reward and the starts.
        payouts: filled for these games.
        start: the first game.
        stop: the game after the last.
    """
    paid, rewards = payouts.paid, payouts.rewards
    for i in range(start, stop):
        game = games[i]
        mover = as_int(game.turn)
        apply(game, actions[i])
        over = game.ending != NOT_ENDED
        status = episode_status(game, terms.matches)
        payouts.terminated[i] = status == TERMINATED
        payouts.truncated[i] = status == TRUNCATED
        if over or actions[i] == SHOW:
            fill_match_totals(game, terms.reward, rewards[i])
            for seat in range(NUM_SEATS):
                total = rewards[i, seat]
                rewards[i, seat] = total - paid[i, seat]
                paid[i, seat] = 0.0 if over else total
        else:
            for seat in range(NUM_SEATS):
                rewards[i, seat] = 0.0
        if terms.dense != NOT_DENSE:
            for seat in range(NUM_SEATS):
                if over or seat == mover:  # no other rack has changed
                    rewards[i, seat] += pay_nearer(game, terms, seat, payouts.distances[i], payouts.dense[i])
        if not over:
            continue
        if status != GOES_ON:
            next_episode(game, terms.matches)
        else:
            next_round(game)
        start_round(game, terms.starts)
        if terms.dense != NOT_DENSE:
            begin_dense(game, payouts.distances[i], payouts.dense[i])


@kernel(borrows=True)
def look_range(games: npt.NDArray[np.record], views: Views, start: int, stop: int) -> None:
    """Fill `views` for the games from `start` to `stop` - 1."""
    for i in range(start, stop):
        views.seats[i] = games[i].turn
        look(games[i], games[i].turn, views.records[i], views.masks[i])


@kernel(parallel=True)
def advance_parallel(
    games: npt.NDArray[np.record],
    actions: npt.NDArray[np.int64],
    terms: Terms,
    payouts: Payouts,
    views: Views,
    parts: int,
) -> None:
    """`advance_range` and `look_range` over all games, divided into `parts` ranges, one a thread."""
    size = len(games)
    for part in prange(parts):
        start, stop = part * size // parts, (part + 1) * size // parts
        advance_range(games, actions, terms, payouts, start, stop)
        look_range(games, views, start, stop)
