"""Ratings from who won among four bots, with intervals by resampling deals.

The model is Plackett-Luce, of which a round of Okey shows the first rank: among the four bots of a lineup, bot b wins
with probability exp(r_b) over the sum of exp(r) of all four. Void rounds carry no information about it and are left
out. Ratings are printed on the Elo scale: 400 points are a factor of ten in the odds against one opponent. All lineups
are fitted at once by maximum likelihood, with a prior so wide that it matters only for a bot that never won or never
lost.

Rounds that are played from the same deal share its luck, in whatever lineup. The intervals therefore come from a
bootstrap over deals: a deal is drawn with all its rounds, in all lineups, or not at all.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.evaluate.chunks import Lineup
from okey_agents.evaluate.statistics import CONFIDENCE, Interval
from okey_env.tiles import NUM_SEATS

ELO = 400 / math.log(10)
"""Elo points of a factor of e."""
RESAMPLES = 1_000

_PRIOR = 10.0  # standard deviation of ratings around their mean, in natural units: 1,737 Elo
_MAX_STEPS = 200
_LONGEST_STEP = 2.0
_CONVERGED = 1e-7


class LineupWins(NamedTuple):
    """Who won the rounds of one lineup."""

    lineup: Lineup
    deals: npt.NDArray[np.int64]
    """`(D,)` numbers of the deals."""
    wins: npt.NDArray[np.float64]
    """`(D, 4)` rounds won, by index in the lineup."""


def rate(lineups: Sequence[LineupWins], num_bots: int, reference: int, seed: int = 0) -> list[Interval]:
    """The rating of each bot on the Elo scale, on which the reference has 0.

    Args:
        lineups: who won.
        num_bots: how many bots the lineups name by index.
        reference: the bot that has 0.
        seed: settles the resampling.
    """
    shares = np.stack([np.bincount(one.lineup, minlength=num_bots) for one in lineups]).astype(np.float64)
    wins = np.zeros((len(lineups), 1 + max(int(one.deals.max()) for one in lineups), num_bots))
    for number, one in enumerate(lineups):
        for index in range(NUM_SEATS):
            wins[number, one.deals, one.lineup[index]] += one.wins[:, index]
    best = fit(shares, wins.sum(axis=1))
    random = np.random.default_rng(seed)
    num_deals = wins.shape[1]
    drawn = random.multinomial(num_deals, np.full(num_deals, 1 / num_deals), size=RESAMPLES).astype(np.float64)
    resampled = (drawn @ wins.swapaxes(0, 1).reshape(num_deals, -1)).reshape(RESAMPLES, len(lineups), num_bots)
    ratings = np.array([best, *fit(shares, resampled, best)])
    ratings = ELO * (ratings - ratings[:, [reference]])
    low, high = np.quantile(ratings[1:], [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    return [Interval(*map(float, found)) for found in zip(ratings[0], low, high, strict=True)]


def fit(
    shares: npt.NDArray[np.float64], wins: npt.NDArray[np.float64], start: npt.NDArray[np.float64] | None = None
) -> npt.NDArray[np.float64]:
    """The `(..., B)` ratings of maximum likelihood, in natural units, by Newton's method.

    Args:
        shares: `(L, B)` how many seats each bot has in each lineup.
        wins: `(..., L, B)` how many rounds it won there.
        start: `(B,)` where to begin; None: all equal.

    >>> ratings = fit(np.array([[1.0, 3.0]]), np.array([[50.0, 50.0]]))
    >>> round(float(np.exp(ratings[0] - ratings[1])), 2)
    3.0
    """
    num_bots = shares.shape[1]
    prior = np.eye(num_bots) / _PRIOR**2
    ratings = np.broadcast_to(np.zeros(num_bots) if start is None else start, (*wins.shape[:-2], num_bots))
    rounds = wins.sum(axis=-1, keepdims=True)
    for _ in range(_MAX_STEPS):
        odds = shares * np.exp(ratings - ratings.max(axis=-1, keepdims=True))[..., None, :]
        chances = odds / odds.sum(axis=-1, keepdims=True)
        expected = rounds * chances
        gradient = (wins - expected).sum(axis=-2) - ratings @ prior
        curvature = expected.sum(axis=-2)[..., None] * np.eye(num_bots) - expected.swapaxes(-1, -2) @ chances + prior
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        longest = np.abs(step).max(axis=-1, keepdims=True)
        ratings = ratings + step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, 1e-300))
        if longest.max() < _CONVERGED:
            break
    return ratings
