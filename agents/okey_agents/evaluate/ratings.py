"""Ratings from who won at tables of four, with intervals by resampling deals.

The model is that of Plackett and Luce, of which a round of Okey shows the first place: at a table the bot b wins with
probability exp(r_b) over the sum of exp(r) of all four. Void rounds say nothing about it and are left out. Ratings are
printed on the scale of Elo: 400 points are a factor of ten in the odds against one opponent. They are fitted to all
tables at once by greatest likelihood, with a prior so wide that it matters only for a bot that never won or never lost.

Rounds that are played from the same deal share its luck, at whatever table. So the intervals come from a bootstrap over
deals: a deal is drawn with all its rounds, at all tables, or not at all.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.evaluate.statistics import CONFIDENCE, Interval
from okey_agents.evaluate.tables import Lineup
from okey_env.tiles import NUM_SEATS

ELO = 400 / math.log(10)
"""Elo points of a factor of e."""
RESAMPLES = 1_000

_PRIOR = 10.0  # standard deviation of ratings around their middle, in natural units: 1,737 Elo
_STEPS = 200
_LONGEST_STEP = 2.0
_CLOSE = 1e-7


class Wins(NamedTuple):
    """Who won at the tables of one lineup."""

    lineup: Lineup
    deals: npt.NDArray[np.int64]
    """`(D,)` numbers of the deals."""
    wins: npt.NDArray[np.float64]
    """`(D, 4)` rounds won by place in the lineup."""


def rate(tables: Sequence[Wins], num_bots: int, reference: int, seed: int = 0) -> list[Interval]:
    """The rating of each bot on the scale of Elo, the reference having 0.

    Args:
        tables: what was played.
        num_bots: how many bots the lineups name by index.
        reference: the bot that has 0.
        seed: settles the resampling.
    """
    shares = np.stack([np.bincount(table.lineup, minlength=num_bots) for table in tables]).astype(np.float64)
    wins = np.zeros((len(tables), 1 + max(int(table.deals.max()) for table in tables), num_bots))
    for number, table in enumerate(tables):
        for place in range(NUM_SEATS):
            wins[number, table.deals, table.lineup[place]] += table.wins[:, place]
    best = fit(shares, wins.sum(axis=1))
    chance = np.random.default_rng(seed)
    num_deals = wins.shape[1]
    drawn = chance.multinomial(num_deals, np.full(num_deals, 1 / num_deals), size=RESAMPLES).astype(np.float64)
    resampled = (drawn @ wins.swapaxes(0, 1).reshape(num_deals, -1)).reshape(RESAMPLES, len(tables), num_bots)
    ratings = np.array([best, *fit(shares, resampled, best)])
    ratings = ELO * (ratings - ratings[:, [reference]])
    low, high = np.quantile(ratings[1:], [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    return [Interval(*map(float, found)) for found in zip(ratings[0], low, high, strict=True)]


def fit(
    shares: npt.NDArray[np.float64], wins: npt.NDArray[np.float64], start: npt.NDArray[np.float64] | None = None
) -> npt.NDArray[np.float64]:
    """The `(..., B)` ratings of greatest likelihood, in natural units, by Newton's method.

    Args:
        shares: `(T, B)` how many seats each bot has at each table.
        wins: `(..., T, B)` how many rounds it won there.
        start: `(B,)` where to begin; None: all equal.

    >>> ratings = fit(np.array([[1.0, 3.0]]), np.array([[50.0, 50.0]]))
    >>> round(float(np.exp(ratings[0] - ratings[1])), 2)
    3.0
    """
    num_bots = shares.shape[1]
    prior = np.eye(num_bots) / _PRIOR**2
    ratings = np.broadcast_to(np.zeros(num_bots) if start is None else start, (*wins.shape[:-2], num_bots))
    rounds = wins.sum(axis=-1, keepdims=True)
    for _ in range(_STEPS):
        odds = shares * np.exp(ratings - ratings.max(axis=-1, keepdims=True))[..., None, :]
        chances = odds / odds.sum(axis=-1, keepdims=True)
        expected = rounds * chances
        slope = (wins - expected).sum(axis=-2) - ratings @ prior
        bend = expected.sum(axis=-2)[..., None] * np.eye(num_bots) - expected.swapaxes(-1, -2) @ chances + prior
        step = np.linalg.solve(bend, slope[..., None])[..., 0]
        longest = np.abs(step).max(axis=-1, keepdims=True)
        ratings = ratings + step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, 1e-300))
        if longest.max() < _CLOSE:
            break
    return ratings
