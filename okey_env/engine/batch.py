"""The kernels that plain Python calls: on one game of a batch (`*_in`), or loops over many games (`*_at`, `*_all`).

They take whole arrays, because numba takes an array from Python much faster than a single record. The argument
`indices` names the games of a loop, so that the caller of a batch can ask each player for its own games.
Shapes: `N` games in the batch, `M` indices.
"""

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal
from okey_env.engine.observe import look, observe, observe_events, observed_mask
from okey_env.engine.scoring import best_finish_points
from okey_env.engine.starts import shorten_stock, start_round
from okey_env.engine.state import NO_SEAT
from okey_env.engine.turn import action_mask, apply, is_legal


@kernel
def act_in(games: npt.NDArray[np.record], i: int, action: int) -> bool:
    """Do an action of the seat to move in game i if it is legal; returns whether it was."""
    if not is_legal(games[i], action):
        return False
    apply(games[i], action)
    return True


@kernel
def mask_in(games: npt.NDArray[np.record], i: int, mask: npt.NDArray[np.int8]) -> None:
    """Fill `(109,)` int8 with what the seat to move of game i may do."""
    action_mask(games[i], mask)


@kernel
def look_in(
    games: npt.NDArray[np.record], i: int, seat: int, records: npt.NDArray[np.record], mask: npt.NDArray[np.int8]
) -> None:
    """Fill `records[0]` and `(109,)` int8 with what a seat of game i sees and may do."""
    look(games[i], seat, records[0], mask)


@kernel
def observe_in(
    games: npt.NDArray[np.record], i: int, seat: int, records: npt.NDArray[np.record], events: npt.NDArray[np.uint16]
) -> int:
    """Fill `records[0]` and `(512,)` events with what a seat of game i has seen; returns the number of events."""
    observe(games[i], seat, records[0])
    return observe_events(games[i], seat, events)


@kernel
def observed_mask_in(records: npt.NDArray[np.record], i: int, mask: npt.NDArray[np.int8]) -> None:
    """Fill `(109,)` int8 with what the observer of record i may do."""
    observed_mask(records[i], mask)


@kernel
def finish_points_in(records: npt.NDArray[np.record], i: int, points: npt.NDArray[np.int64]) -> None:
    """Fill `(53,)` with the points that each loser loses if the observer of record i finishes with each kind."""
    seen = records[i]
    for kind in range(len(points)):
        points[kind] = best_finish_points(seen, kind, seen.finish_melds, seen.finish_pairs)


@kernel
def observed_masks(records: npt.NDArray[np.record], masks: npt.NDArray[np.int8]) -> None:
    """Fill `(N, 109)` int8 with what the observer of each of `(N,)` OBSERVATION records may do."""
    for i in range(len(records)):
        observed_mask(records[i], masks[i])


@kernel
def deal_in(games: npt.NDArray[np.record], i: int, starter: int) -> None:
    """Deal the round of its seed and number in game i; `starter` is a seat or `NO_SEAT`."""
    deal(games[i], starter)


@kernel
def start_in(games: npt.NDArray[np.record], i: int, starts: npt.NDArray[np.float64]) -> None:
    """Turn game i, which has just been dealt, into the start that it draws from a `(K, 2)` table of starts."""
    start_round(games[i], starts)


@kernel
def shorten_stock_in(games: npt.NDArray[np.record], i: int, draws: int) -> None:
    """Leave `draws` draws for each seat in the stock of game i, which has just been dealt."""
    shorten_stock(games[i], draws)


@kernel
def deal_all(games: npt.NDArray[np.record], seeds: npt.NDArray[np.uint64]) -> None:
    """Deal the first round of each of `(N,)` seeds into `(N,)` games, with a random starter (R2.2)."""
    for i in range(len(games)):
        games[i].seed = seeds[i]
        games[i].round_number = 0
        deal(games[i], NO_SEAT)


@kernel(borrows=True)
def observe_at(games: npt.NDArray[np.record], indices: npt.NDArray[np.int64], records: npt.NDArray[np.record]) -> None:
    """Fill `(M,)` OBSERVATION records with what the seat to move sees in the games at `(M,)` indices."""
    for row in range(len(indices)):
        game = games[indices[row]]
        observe(game, game.turn, records[row])


@kernel
def legal_at(
    games: npt.NDArray[np.record],
    indices: npt.NDArray[np.int64],
    actions: npt.NDArray[np.int64],
    legal: npt.NDArray[np.bool_],
) -> None:
    """Fill `(M,)` bool: whether the seat to move may do each of `(M,)` actions; the actions may be any numbers."""
    for row in range(len(indices)):
        legal[row] = is_legal(games[indices[row]], actions[row])


@kernel
def apply_at(games: npt.NDArray[np.record], indices: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]) -> None:
    """Do one legal action in each of the games at `(M,)` indices."""
    for row in range(len(indices)):
        apply(games[indices[row]], actions[row])


@kernel(borrows=True)
def look_at_seats(
    games: npt.NDArray[np.record],
    seats: npt.NDArray[np.int64],
    records: npt.NDArray[np.record],
    masks: npt.NDArray[np.int8],
) -> None:
    """Fill `(N,)` records and `(N, 109)` masks with what one seat of each game sees and may do."""
    for i in range(len(games)):
        look(games[i], seats[i], records[i], masks[i])
