"""How strong a scorer is: one policy against three of another, whole rounds in one kernel, as the arena plays them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from okey_agents.evaluate.statistics import Interval, clustered_interval
from okey_agents.thinking.rule_weights import RuleWeights
from okey_agents.thinking.scorer.choose import Policy, play_duels
from okey_env.engine.state import new_games
from okey_env.rules import Rules
from okey_env.tiles import NUM_SEATS

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

_CHUNK = 250


def measure_scorer(
    rule: RuleWeights,
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
    scorer = Policy(rule, weights, np.float32(margin), np.float32(bonus))
    points, wins = duel(scorer, Policy(rule), rules, seed, deals, workers)
    return clustered_interval(points), clustered_interval(wins)


def duel(
    challenger: Policy,
    field: Policy,
    rules: Rules,
    seed: int,
    deals: int,
    workers: int = 1,
    report: Callable[[int], None] = lambda done: None,
) -> tuple[Integers, Integers]:
    """Play each deal four times, the challenger in every seat against three of the field.

    Args:
        challenger: plays one seat.
        field: plays the others.
        rules: of the game.
        seed: settles deals and ties.
        deals: how many; four rounds each.
        workers: threads; the result is the same for any number.
        report: is told how many deals are done.

    Returns:
        Points `(D, 4)` by deal and seat, and where the challenger finished.
    """
    points = np.zeros((deals, NUM_SEATS), np.int64)
    wins = np.zeros((deals, NUM_SEATS), np.int64)

    def play(first: int) -> int:
        part = slice(first, min(first + _CHUNK, deals))
        games = new_games(rules, 1, draw_queues=True)
        play_duels(games, challenger, field, np.uint64(seed), first, points[part], wins[part])
        return part.stop

    report(play(0))  # loads the kernel once
    with ThreadPoolExecutor(workers) as executor:
        for done in executor.map(play, range(_CHUNK, deals, _CHUNK)):
            report(done)
    return points, wins
