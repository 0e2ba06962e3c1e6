"""Means with 95 % intervals, clustered by deal.

The rounds that are played from one deal, with the challenger in each of the four seats, share its luck and are not
independent; the deals are. The four rounds of a deal are therefore replaced by their mean, and the interval is
Student's t for independent deals. The four seatings also cancel much of the luck of the deal, because every bot gets
every rack.
"""

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """A mean with its 95 % confidence interval."""

    mean: float
    low: float
    high: float

    @property
    def margin(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2


def clustered_interval(values: npt.ArrayLike) -> Interval:
    """The mean of all values, with its interval clustered by deal.

    An interval of width 0 means that all deals have the same mean, not that no other result is possible.

    Args:
        values: `(D, R)`, R rounds of each of D deals.

    Raises:
        ValueError: there are fewer than two deals, so that their spread is unknown.

    >>> interval = clustered_interval([[1, 0], [1, 1], [0, 1], [0, 0]])
    >>> round(interval.mean, 3), round(interval.margin, 3)
    (0.5, 0.649)
    """
    rounds = np.asarray(values, np.float64)
    deals = len(rounds)
    if deals < 2:
        raise ValueError(f"an interval needs at least 2 deals, got {deals}")
    means = rounds.reshape(deals, -1).mean(axis=1)
    mean = float(means.mean())
    margin = t_quantile(deals - 1) * float(means.std(ddof=1)) / math.sqrt(deals)
    return Interval(mean, mean - margin, mean + margin)


def t_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """The two-sided quantile of Student's t: |t| stays below it with probability `confidence`.

    Exact for 1 and 2 degrees of freedom. Above, the expansion of Abramowitz and Stegun 26.7.5: good to 1 % at 3 degrees
    of freedom and to 0.01 % from 10.

    >>> [round(t_quantile(freedom), 2) for freedom in (1, 2, 10, 1000)]
    [12.71, 4.3, 2.23, 1.96]
    """
    if freedom == 1:
        return math.tan(math.pi * confidence / 2)
    if freedom == 2:
        return confidence * math.sqrt(2 / (1 - confidence**2))
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))
