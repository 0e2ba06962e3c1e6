"""The strength of a scorer: one policy against three of another, in whole rounds inside one kernel."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from okey_agents.evaluate.statistics import Interval, clustered_interval
from okey_agents.thinking.scorer.choose import Policy, play_duels
from okey_env.engine.state import new_games
from okey_env.rules import Rules
from okey_env.tiles import NUM_SEATS

Integers = npt.NDArray[np.int64]

_CHUNK = 250


def measure_scorer(scorer: Policy, rules: Rules, seed: int, deals: int, workers: int = 1) -> tuple[Interval, Interval]:
    """Measure a scorer against three of its own rule on duplicate deals, in each seat, with a draw queue for each seat.

    Args:
        scorer: the policy.
        rules: of the game.
        seed: settles the deals.
        deals: how many; four rounds each.
        workers: threads; the result is the same for any number.

    Returns:
        Zero-sum points a round, and the share of rounds won.
    """
    points, wins = duel(scorer, Policy(scorer.rule), rules, seed, deals, workers)
    return clustered_interval(points), clustered_interval(wins)


def duel(
    challenger: Policy,
    opponent: Policy,
    rules: Rules,
    seed: int,
    deals: int,
    workers: int = 1,
    report: Callable[[int], None] = lambda done: None,
) -> tuple[Integers, Integers]:
    """Play each deal four times, the challenger in every seat against three opponents.

    Args:
        challenger: plays one seat.
        opponent: plays the other seats.
        rules: of the game.
        seed: settles deals and ties.
        deals: how many; four rounds each.
        workers: threads; the result is the same for any number.
        report: is called with the number of deals done.

    Returns:
        The challenger's points `(D, 4)` by deal and its seat, and 1 or 0 `(D, 4)`: whether it finished.
    """
    points = np.zeros((deals, NUM_SEATS), np.int64)
    wins = np.zeros((deals, NUM_SEATS), np.int64)

    def play(first: int) -> int:
        part = slice(first, min(first + _CHUNK, deals))
        games = new_games(rules, 1, draw_queues=True)
        play_duels(games, challenger, opponent, np.uint64(seed), first, points[part], wins[part])
        return part.stop

    report(play(0))  # loads the kernel once
    with ThreadPoolExecutor(workers) as executor:
        for done in executor.map(play, range(_CHUNK, deals, _CHUNK)):
            report(done)
    return points, wins
