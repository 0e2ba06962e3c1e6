"""What a reward function of a user pays in a batch of rounds."""

from typing import Any

import numpy as np
import numpy.typing as npt

from okey_env.rewards import RewardFunction, as_reward, illegal_reward, lowest_end
from okey_env.round import Round
from okey_env.rules import Rules
from okey_env.tiles import NUM_SEATS


class FunctionPay:
    """Asks a reward function for the totals of every game, and pays what has changed.

    Args:
        function: gives the totals of the four seats of a `Round`.
        rules: of the games.
        num_games: `N`.
    """

    def __init__(self, function: RewardFunction, rules: Rules, num_games: int) -> None:
        self._function = as_reward(function)
        self._round = Round(rules, seed=0)  # a place to show one game after the other
        self._paid = np.zeros((num_games, NUM_SEATS))
        self._illegal = illegal_reward(function, rules)

    def begin(self, games: npt.NDArray[np.record], indices: npt.NDArray[np.int64]) -> None:
        """What these games are due now counts as paid, as after a deal."""
        for i in indices.tolist():
            self._paid[i] = self._totals(games, i)

    def due(self, games: npt.NDArray[np.record]) -> npt.NDArray[np.float64]:
        """What each seat of `(N,)` games is due since the last call: `(N, 4)`.

        Raises:
            ValueError: the function did not give four numbers.
        """
        totals = np.array([self._totals(games, i) for i in range(len(games))])
        due: npt.NDArray[np.float64] = totals - self._paid
        self._paid = totals
        return due

    def price_of_illegal(self, games: npt.NDArray[np.record], i: int, seat: int) -> float:
        """The reward for an illegal action in game i: never more than the worst end that the round may still have."""
        self._round.games[:] = games[i : i + 1]
        lowest = lowest_end(self._function, self._round, seat)
        return min(self._illegal, lowest - float(self._paid[i, seat]))

    def _totals(self, games: npt.NDArray[np.record], i: int) -> Any:
        self._round.games[:] = games[i : i + 1]
        return self._function(self._round)
