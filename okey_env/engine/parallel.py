"""The batch of self-play: one decision in every game, on one thread or several.

Each game is independent of the others, so the threads share nothing and the result is the same for any
number of them. The `*_range` kernels do a stretch of the games; the `*_parallel` ones share the games out.

Shapes: `N` games.
"""

import numba
import numpy as np
import numpy.typing as npt

from okey_env.actions import SHOW
from okey_env.engine._jit import JIT_IS_OFF, kernel
from okey_env.engine.deal import deal_round
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
from okey_env.engine.state import NOT_ENDED
from okey_env.engine.turn import apply, is_legal
from okey_env.tiles import NUM_SEATS

prange = range if JIT_IS_OFF else numba.prange


@kernel
def first_illegal(games: npt.NDArray[np.record], actions: npt.NDArray[np.int64]) -> int:
    """The index of the first game whose action is not legal; -1 if all are."""
    for i in range(len(games)):
        if not is_legal(games[i], actions[i]):
            return i
    return -1


@kernel
def deal_range(games: npt.NDArray[np.record], seed: np.uint64, start: int, stop: int) -> None:
    """Deal the first round of each game; game i has the seed derived from (seed, i)."""
    for i in range(start, stop):
        deal_round(games[i], seed, i)


@kernel(borrows=True)
def advance_range(
    games: npt.NDArray[np.record],
    actions: npt.NDArray[np.int64],
    matches: bool,
    reward: int,
    paid: npt.NDArray[np.float32],
    rewards: npt.NDArray[np.float32],
    terminated: npt.NDArray[np.bool_],
    truncated: npt.NDArray[np.bool_],
    start: int,
    stop: int,
) -> None:
    """Do one legal action in each game, pay what it changed, and deal again where the round ended.

    Args:
        games: `(N,)` of GAME.
        actions: `(N,)`, legal.
        matches: whether an episode is a match.
        reward: REWARD_*.
        paid: `(N, 4)` totals that were paid before; brought up to date.
        rewards: `(N, 4)` filled with what this action pays each seat.
        terminated: `(N,)` filled: the episode ended.
        truncated: `(N,)` filled: it was cut off.
        start: the first game to do.
        stop: the game after the last.
    """
    for i in range(start, stop):
        game = games[i]
        apply(game, actions[i])
        over = game.ending != NOT_ENDED
        status = episode_status(game, matches)
        terminated[i] = status == TERMINATED
        truncated[i] = status == TRUNCATED
        if over or actions[i] == SHOW:
            fill_match_totals(game, reward, rewards[i])
            for seat in range(NUM_SEATS):
                total = rewards[i, seat]
                rewards[i, seat] = total - paid[i, seat]
                paid[i, seat] = 0.0 if over else total
        else:
            for seat in range(NUM_SEATS):
                rewards[i, seat] = 0.0
        if status != GOES_ON:
            next_episode(game, matches)
        elif over:
            next_round(game)


@kernel(borrows=True)
def look_range(
    games: npt.NDArray[np.record],
    records: npt.NDArray[np.record],
    masks: npt.NDArray[np.int8],
    seats: npt.NDArray[np.int64],
    start: int,
    stop: int,
) -> None:
    """Fill what the seat to move of each game sees and may do, and which seat that is."""
    for i in range(start, stop):
        seats[i] = games[i].turn
        look(games[i], games[i].turn, records[i], masks[i])


@kernel(parallel=True)
def advance_parallel(
    games: npt.NDArray[np.record],
    actions: npt.NDArray[np.int64],
    matches: bool,
    reward: int,
    paid: npt.NDArray[np.float32],
    rewards: npt.NDArray[np.float32],
    terminated: npt.NDArray[np.bool_],
    truncated: npt.NDArray[np.bool_],
    records: npt.NDArray[np.record],
    masks: npt.NDArray[np.int8],
    seats: npt.NDArray[np.int64],
    parts: int,
) -> None:
    """`advance_range` and `look_range` over all games, in `parts` stretches on as many threads."""
    size = len(games)
    for part in prange(parts):
        start, stop = part * size // parts, (part + 1) * size // parts
        advance_range(games, actions, matches, reward, paid, rewards, terminated, truncated, start, stop)
        look_range(games, records, masks, seats, start, stop)
