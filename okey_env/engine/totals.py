"""The named rewards of a round as totals since the deal, for batches; `okey_env.rewards` has them in plain Python."""

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel
from okey_env.engine.state import ENDED_TRUNCATED, ENDED_VOID, NO_SEAT
from okey_env.tiles import NUM_SEATS

REWARD_POINTS = 0
REWARD_ZERO_SUM = 1
REWARD_SOON = 3
REWARD_NAMES = ("points", "zero_sum", "win", "soon")


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
