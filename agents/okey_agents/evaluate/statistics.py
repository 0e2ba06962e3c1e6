"""Means with 95 % intervals, clustered by deal.

The rounds that are played from one deal, with the challenger in each of the four seats, share its luck and are not
independent; the deals are. So the four rounds are first made one number, their mean, and the interval is the
ordinary one of Student's t for independent deals. That is also where the pairing pays: what the deal gave to a seat is
given to every bot once.
"""

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """A mean and the interval that holds the true one in 95 of 100 such experiments."""

    mean: float
    low: float
    high: float

    @property
    def margin(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2


def clustered_interval(values: npt.ArrayLike) -> Interval:
    """The mean of `(D, R)` values, R rounds of each of D deals, with its interval clustered by deal.

    An interval without width says that all deals came out alike, not that nothing else can happen.

    Raises:
        ValueError: there are fewer than two deals, so that nothing tells how far they scatter.

    >>> interval = clustered_interval([[1, 0], [1, 1], [0, 1], [0, 0]])
    >>> round(interval.mean, 3), round(interval.margin, 3)
    (0.5, 0.649)
    """
    table = np.asarray(values, np.float64)
    deals = len(table)
    if deals < 2:
        raise ValueError(f"an interval needs at least 2 deals, got {deals}")
    means = table.reshape(deals, -1).mean(axis=1)
    mean = float(means.mean())
    margin = t_quantile(deals - 1) * float(means.std(ddof=1)) / math.sqrt(deals)
    return Interval(mean, mean - margin, mean + margin)


def t_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """The bound that Student's t with so many degrees of freedom stays within, either way, with this confidence.

    Exact for 1 and 2 degrees of freedom; above, the expansion of Abramowitz and Stegun 26.7.5, good to 1 % at 3 degrees
    and to 0.01 % from 10.

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
