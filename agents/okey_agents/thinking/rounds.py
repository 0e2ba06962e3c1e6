"""Rungs of weights against one another, whole rounds in one kernel: for tuning, and for tests of their order.

Each deal is played four times, with the challenger in each seat and a draw queue for each, as in the arena, and
moves are chosen straight from the game.
"""

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.position import position_in
from okey_agents.thinking.rating import choose_in_position
from okey_agents.thinking.rule_weights import RuleWeights
from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal_round
from okey_env.engine.hand.bits import as_int
from okey_env.engine.state import NOT_ENDED
from okey_env.engine.turn import apply
from okey_env.tiles import NUM_SEATS


@kernel
def play_deals(
    games: npt.NDArray[np.record],
    challenger: RuleWeights,
    field: RuleWeights,
    seed: np.uint64,
    first: int,
    points: npt.NDArray[np.int64],
    finishes: npt.NDArray[np.int64],
) -> None:
    """Play deals `first`, `first + 1`, … of a seed, one challenger against three of the field.

    Args:
        games: `(1,)`, a game with its rules and draw queues; played in.
        challenger: its weights.
        field: those of the others.
        seed: settles deals and ties.
        first: number of the first deal.
        points: `(D, 4)` filled with what the challenger won, less what it lost, by deal and seat.
        finishes: `(D, 4)` filled with 1 where the challenger finished on a wild tile or dear false joker, 2 by pairs.
    """
    game = games[0]
    for i in range(len(points)):
        for seat in range(NUM_SEATS):
            deal_round(game, seed, first + i)
            while game.ending == NOT_ENDED:
                weights = challenger if game.turn == seat else field
                apply(game, choose_in_position(position_in(game), weights, seed))
            points[i, seat] = as_int(game.won[seat]) - as_int(game.lost[seat])
            finishes[i, seat] = as_int(game.by_okey) + 2 * as_int(game.by_pairs) + 4 * int(game.winner == seat)
