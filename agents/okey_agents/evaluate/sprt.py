"""A sequential test: stop as soon as the points decide between two hypotheses, with stated error rates.

The hypotheses are about the mean points a round; a bot that plays like its opponents has mean 0:

* `low`: the mean is at most `low`; it is wrongly rejected with probability `alpha`.
* `high`: the mean is at least `high`; it is wrongly rejected with probability `beta`.

The observations are the means of the deals, which are independent, each over the challenger's rounds in all four
seats. Their distribution is unknown, so the test is the generalised sequential probability ratio test (GSPRT). At each
look it compares two likelihoods of the observed values: those of the most likely distributions on these values that
have the mean `low` and the mean `high` (empirical likelihood; chess programs use the same test under the name
pentanomial). It stops at Wald's bounds log(beta / (1 - alpha)) and log((1 - beta) / alpha). It looks once a chunk of
deals and oversteps the bounds a little, which makes both errors rarer. Nothing here is Elo: Elo comes from wins alone
and does not distinguish an ordinary finish from one with the okey; points do.
"""

import dataclasses
import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from okey_env.checks import float_of, shown

_TRACE = 1e-3  # deals added beyond either hypothesis, so that both have a likelihood whatever was observed
_HALVINGS = 60


@dataclasses.dataclass(frozen=True)
class Sprt:
    """The hypotheses of a sequential test and its error rates.

    Raises:
        ValueError: the hypotheses are not in order, or an error rate is not between 0 and 1/2.
    """

    low: float
    high: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        low, high = float_of(self.low), float_of(self.high)
        if low is None or high is None or not low < high:
            given = f"{shown(self.low)}, {shown(self.high)}"
            raise ValueError(f"sprt={given}: expected two means of points a round, the lower first")
        for name in ("alpha", "beta"):
            rate = float_of(getattr(self, name))
            if rate is None or not 0 < rate < 0.5:
                given = shown(getattr(self, name))
                raise ValueError(f"{name}={given}: expected an error rate above 0 and below 1/2")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which `low` and `high` are accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def decide(self, ratio: float) -> Literal["low", "high"] | None:
        """The hypothesis that a log-likelihood ratio accepts; None: neither yet."""
        low, high = self.bounds
        return "low" if ratio <= low else "high" if ratio >= high else None

    def log_ratio(self, means: npt.NDArray[np.float64]) -> float:
        """The log-likelihood ratio of `high` to `low` for the `(D,)` means of the deals.

        >>> test = Sprt(0.0, 0.5)
        >>> means = np.array([0.5, 1.0, -0.5, 0.75] * 20)
        >>> round(test.log_ratio(means), 1), test.decide(test.log_ratio(means))
        (19.2, 'high')
        """
        values, counts = np.unique(means, return_counts=True)
        return self.log_ratio_of_counts(values, counts.astype(np.float64))

    def log_ratio_of_counts(self, values: npt.NDArray[np.float64], counts: npt.NDArray[np.float64]) -> float:
        """The log-likelihood ratio of `high` to `low`.

        Args:
            values: `(V,)` different means of deals.
            counts: `(V,)` how often each was observed.
        """
        values, counts = values[counts > 0], counts[counts > 0]
        span = self.high - self.low
        values = np.concatenate([values, [self.low - span, self.high + span]])
        counts = np.concatenate([counts, [_TRACE, _TRACE]])
        # the likelihood is greatest at p = counts / n / (1 + tilt * (value - mean))
        low = np.log1p(_tilt(values, counts, self.low) * (values - self.low))
        high = np.log1p(_tilt(values, counts, self.high) * (values - self.high))
        return float(counts @ (low - high))


def _tilt(values: npt.NDArray[np.float64], counts: npt.NDArray[np.float64], mean: float) -> float:
    """The tilt at which the most likely distribution has this mean, which lies between the least and greatest value."""
    excess = values - mean
    low, high = -1 / float(excess.max()), -1 / float(excess.min())  # between these all probabilities are positive
    for _ in range(_HALVINGS):  # the derivative of the likelihood falls from infinity to minus infinity
        middle = (low + high) / 2
        if float(counts @ (excess / (1 + middle * excess))) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
