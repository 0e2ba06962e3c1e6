"""Scores of a few runs on a few tasks as one number with an interval.

The estimators are those of Agarwal et al. (2021), "Deep Reinforcement Learning at the Edge of the Statistical
Precipice", and of their package `rliable`, which would bring matplotlib, pandas and statsmodels along.

Intervals are percentiles of a stratified bootstrap: runs are drawn again within each task, and so are the deals that
they were scored on. All runs of a task were scored on the same deals, so the same deals are drawn for all of them.

A `Scores` maps each task to `(R, G)` scores: R runs (one for each seed), each as the means of G groups of deals of
equal size. The score of a run is the mean of its groups.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from okey_agents.evaluate.statistics import CONFIDENCE, Interval

Floats: TypeAlias = npt.NDArray[np.float64]
Scores: TypeAlias = Mapping[str, Floats]

RESAMPLES = 2_000
_TRIM = 0.25


def iqm(scores: npt.ArrayLike) -> Floats:
    """The interquartile mean along the last axis: the mean without the lowest and the highest quarter.

    Of n numbers, `int(n / 4)` are left out at each end, as `scipy.stats.trim_mean` does.

    >>> float(iqm([0.0, 1.0, 2.0, 9.0]))
    1.5
    """
    ordered = np.sort(np.asarray(scores, np.float64), axis=-1)
    cut = int(_TRIM * ordered.shape[-1])
    trimmed: Floats = ordered[..., cut : ordered.shape[-1] - cut].mean(axis=-1)
    return trimmed


def improvement(first: Sequence[Floats], second: Sequence[Floats]) -> Floats:
    """The probability that a run of the first algorithm scores higher than one of the second, averaged over tasks.

    Equal scores count half, so this is the mean over tasks of the Mann-Whitney statistic U / (n m).

    Args:
        first: for each task `(…, n)` scores of runs.
        second: for each task, in the same order, `(…, m)` scores.

    >>> float(improvement([np.array([1.0, 3.0])], [np.array([1.0, 2.0])]))
    0.625
    """
    tasks = []
    for one, other in zip(first, second, strict=True):
        left, right = one[..., :, None], other[..., None, :]
        tasks.append(((left > right) + 0.5 * (left == right)).mean(axis=(-2, -1)))
    mean: Floats = np.mean(tasks, axis=0)
    return mean


def profile(scores: npt.ArrayLike, thresholds: npt.ArrayLike) -> Floats:
    """The share of runs with a score above each threshold (the run-score distribution): `(…, T)` of `(…, n)` scores.

    >>> profile([0.0, 1.0], [-1.0, 0.0, 0.5, 1.0]).tolist()
    [1.0, 0.5, 0.5, 0.0]
    """
    above = np.asarray(scores, np.float64)[..., None, :] > np.asarray(thresholds, np.float64)[:, None]
    share: Floats = above.mean(axis=-1)
    return share


class Bootstrap:
    """Draws runs and deals again, the same deals for all algorithms.

    Args:
        groups: for each task, the number of groups of deals.
        seed: settles what is drawn.
        resamples: how often.
    """

    def __init__(self, groups: Mapping[str, int], seed: int = 0, resamples: int = RESAMPLES) -> None:
        self._random = np.random.default_rng(seed)
        self._resamples = resamples
        self._weights = {
            task: self._random.multinomial(number, np.full(number, 1 / number), resamples) / number
            for task, number in sorted(groups.items())
        }

    def runs(self, scores: Scores) -> dict[str, Floats]:
        """For each task, `(B, R)` scores of runs drawn again."""
        drawn = {}
        for task, groups in scores.items():
            means = self._weights[task] @ groups.T
            chosen = self._random.integers(0, len(groups), (self._resamples, len(groups)))
            drawn[task] = np.take_along_axis(means, chosen, axis=1)
        return drawn


def interval(value: float, drawn: npt.ArrayLike) -> Interval:
    """A value with the interval between the percentiles of what it was when all was drawn again."""
    low, high = np.quantile(np.asarray(drawn, np.float64), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(value), min(float(low), float(value)), max(float(high), float(value)))


def aggregate(scores: Scores, bootstrap: Bootstrap, of: Callable[[npt.ArrayLike], Floats] = iqm) -> Interval:
    """One number for all runs on all tasks of `scores`, by default the interquartile mean, with its interval."""
    value = of(np.concatenate([groups.mean(axis=1) for groups in scores.values()]))
    drawn = of(np.concatenate(list(bootstrap.runs(scores).values()), axis=1))
    return interval(float(value), drawn)


def compare(first: Scores, second: Scores, bootstrap: Bootstrap) -> Interval:
    """`improvement` of the first over the second on the tasks that both have, with its interval.

    Raises:
        ValueError: they have no task in common.
    """
    tasks = [task for task in first if task in second]
    if not tasks:
        raise ValueError("no task in common: a comparison needs runs of both algorithms on the same task")
    value = improvement(*([scores[task].mean(axis=1) for task in tasks] for scores in (first, second)))
    one, other = (bootstrap.runs({task: scores[task] for task in tasks}) for scores in (first, second))
    return interval(float(value), improvement([one[task] for task in tasks], [other[task] for task in tasks]))
