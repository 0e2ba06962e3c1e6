"""Learning curves of several seeds as one curve with a band."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from okey_agents.benchmark.estimators import Floats
from okey_agents.evaluate.statistics import CONFIDENCE, t_quantile

DECISIONS, CPU = 0, 1
"""What a curve is drawn against: the column of a point."""

_STEPS = 48
_RESAMPLES = 1_000
_SCORE, _MARGIN = 2, 3


class Band(NamedTuple):
    """A curve with its 95 % interval, `(X,)` each."""

    x: Floats
    mean: Floats
    low: Floats
    high: Floats


def band(curves: Sequence[Floats], by: int, seed: int = 0) -> Band | None:
    """The mean of the curves where all of them were measured, with a bootstrap over seeds.

    Curves are straight lines between their points over log x. Each curve that is drawn again is moved by a normal error
    of the size of its margins, since its points were measured on some deals only.

    Args:
        curves: for each seed `(P, 4)`: decisions, CPU seconds, score, margin.
        by: DECISIONS or CPU.
        seed: settles what is drawn.

    Returns:
        None if the curves have no stretch in common or x is not above 0 anywhere.
    """
    cleaned = [_increasing(np.asarray(curve, np.float64), by) for curve in curves]
    if not cleaned or any(len(curve) == 0 for curve in cleaned):
        return None
    first = max(float(curve[0, by]) for curve in cleaned)
    last = min(float(curve[-1, by]) for curve in cleaned)
    if last < first:
        return None
    x = np.geomspace(first, last, _STEPS) if last > first else np.array([first])
    scores, margins = (
        np.array([np.interp(np.log(x), np.log(curve[:, by]), curve[:, column]) for curve in cleaned])
        for column in (_SCORE, _MARGIN)
    )
    random = np.random.default_rng(seed)
    drawn = random.integers(0, len(cleaned), (_RESAMPLES, len(cleaned)))
    errors = random.standard_normal((_RESAMPLES, len(cleaned), 1)) / t_quantile(10**6)
    means = (scores[drawn] + errors * margins[drawn]).mean(axis=1)
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    return Band(x, scores.mean(axis=0), low, high)


def reached(curve: Floats, score: float) -> tuple[int, float] | None:
    """The decisions and CPU seconds of the first point of a curve with at least this score; None: it has none."""
    points = np.asarray(curve, np.float64)
    for decisions, cpu, found, _ in points:
        if found >= score:
            return int(decisions), float(cpu)
    return None


def _increasing(curve: Floats, by: int) -> Floats:
    """The points of a curve with x above 0; of several with the same x, the last."""
    kept = [row for row, after in zip(curve, [*curve[1:], None], strict=True) if after is None or after[by] > row[by]]
    return np.array([row for row in kept if row[by] > 0]).reshape(-1, 4)
