"""How strong a scorer is: the scorer against three of the rule, whole rounds in one kernel, as the arena plays them."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from okey_env.engine.state import new_games
from okey_env.rules import Rules
from okey_env.tiles import NUM_SEATS

from ..evaluate.stats import Interval, clustered_interval
from ..judge import Weights
from ..scorer.choose import play_duels

Floats = npt.NDArray[np.float32]

_CHUNK = 250


def measure_scorer(
    rule: Weights,
    weights: Floats,
    margin: float,
    bonus: float,
    rules: Rules,
    seed: int,
    deals: int,
    workers: int = 1,
) -> tuple[Interval, Interval]:
    """Measure on duplicate deals: the scorer in all four seats of each, a draw queue for each seat.

    Args:
        rule: the weights of the rule, which plays the other seats.
        weights: of the scorer.
        margin: of the scorer.
        bonus: of the scorer.
        rules: of the game.
        seed: settles the deals.
        deals: how many; four rounds each.
        workers: threads; the result is the same for any number.

    Returns:
        Zero-sum points a round, and the share of rounds won.
    """
    points = np.zeros((deals, NUM_SEATS), np.int64)
    wins = np.zeros((deals, NUM_SEATS), np.int64)

    def play(first: int) -> None:
        games = new_games(rules, 1, draw_queues=True)
        part = slice(first, min(first + _CHUNK, deals))
        play_duels(
            games,
            rule,
            weights,
            np.float32(margin),
            np.float32(bonus),
            np.uint64(seed),
            first,
            points[part],
            wins[part],
        )

    play(0)  # loads the kernel once
    with ThreadPoolExecutor(workers) as executor:
        list(executor.map(play, range(_CHUNK, deals, _CHUNK)))
    return clustered_interval(points), clustered_interval(wins)
