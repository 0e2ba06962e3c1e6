"""The pictures of a benchmark: learning curves of a task, and performance profiles."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from okey_agents.benchmark.curves import CPU, DECISIONS, Band, band
from okey_agents.benchmark.estimators import Bootstrap, Floats, Scores, profile
from okey_agents.evaluate.statistics import CONFIDENCE
from okey_agents.evaluate.svg import NUM_HUES, WIDTH, document, signed, text, ticks

_LEFT, _RIGHT, _LEGEND_ROW, _HEAD, _PLOT, _FOOT = 66, 110, 24, 34, 220, 48
_LETTER = 8  # the width of one, about
_DASHES = ("", "7 4", "2 4", "10 3 2 3")
_THRESHOLDS = 81

Scale = Callable[[float], float]


def curves_picture(title: str, curves: Mapping[str, Sequence[Floats]], marks: Mapping[str, float]) -> str:
    """Learning curves of one task by decisions and by CPU time, as SVG.

    Args:
        title: what the score is.
        curves: for each algorithm the curves of its seeds, see `band`.
        marks: scores of known bots, drawn as lines across.
    """
    names = list(curves)
    elements, top = _legend(names)
    for by, what in ((DECISIONS, "decisions learned from"), (CPU, "CPU seconds")):
        bands = {name: found for name in names if (found := band(curves[name], by)) is not None}
        if bands:
            elements += _curves(title, what, names, bands, marks, top)
            top += _HEAD + _PLOT + _FOOT
    return document(top, f"Learning curves with 95 % intervals: {title}", elements)


def profiles_picture(scores: Mapping[str, Scores], bootstrap: Bootstrap) -> str:
    """For each algorithm the share of its runs with a normalised score above each threshold, as SVG."""
    names = list(scores)
    elements, top = _legend(names)
    flat = {name: np.concatenate([groups.mean(axis=1) for groups in scores[name].values()]) for name in names}
    low, high = min(0.0, *(runs.min() for runs in flat.values())), max(1.0, *(runs.max() for runs in flat.values()))
    marks = ticks(max(low, -1.0), high, 8)
    thresholds = np.linspace(marks[0], marks[-1], _THRESHOLDS)
    floor = top + _HEAD + _PLOT

    def x(value: float) -> float:
        return _LEFT + (value - marks[0]) / (marks[-1] - marks[0]) * (WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return floor - value * _PLOT

    elements.append(text(_LEFT, top + _HEAD - 14, "share of runs above a normalised score (0 random, 1 expert)"))
    elements += _frame([(x(mark), signed(mark, 2)) for mark in marks], [(y(s), f"{s:g}") for s in (0, 0.5, 1)], floor)
    elements.append(text(WIDTH - _RIGHT, floor + 38, "normalised score", look="quiet", anchor="end"))
    for number, name in enumerate(names):
        drawn = np.concatenate(list(bootstrap.runs(scores[name]).values()), axis=1)
        lows, highs = np.quantile(profile(drawn, thresholds), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
        elements += _line(number, Band(thresholds, profile(flat[name], thresholds), lows, highs), x, y)
    return document(floor + _FOOT, "Performance profiles with 95 % intervals", elements)


def _curves(
    title: str, what: str, names: Sequence[str], bands: Mapping[str, Band], marks: Mapping[str, float], top: float
) -> Iterator[str]:
    """One panel: axes, lines of known bots, and the curve of each algorithm."""
    ends = [float(value) for one in bands.values() for value in (*one.low, *one.high)]
    rows = ticks(min(*ends, *marks.values()), max(*ends, *marks.values()), 6)
    digits = max(0, -math.floor(math.log10(rows[1] - rows[0]) + 1e-6))
    floor = top + _HEAD + _PLOT
    left = math.log10(min(float(one.x[0]) for one in bands.values()))
    right = math.log10(max(float(one.x[-1]) for one in bands.values()))
    if right - left < 0.1:  # one point, or all at the same place
        left, right = left - 0.1, right + 0.1

    def x(value: float) -> float:
        return _LEFT + (math.log10(value) - left) / (right - left) * (WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return floor - (value - rows[0]) / (rows[-1] - rows[0]) * _PLOT

    yield text(_LEFT, top + _HEAD - 14, title)
    yield from _frame(
        [(x(mark), _short(mark)) for mark in _decades(left, right)],
        [(y(row), signed(row, digits)) for row in rows],
        floor,
    )
    yield text(WIDTH - _RIGHT, floor + 38, what, look="quiet", anchor="end")
    lowest = math.inf
    for name, score in sorted(marks.items(), key=lambda item: item[1]):
        yield f'<path class="axis" stroke-dasharray="2 3" d="M{_LEFT} {y(score):.1f}H{WIDTH - _RIGHT}"/>'
        lowest = min(y(score) + 5, lowest - 15)  # names of near scores do not overlap
        yield text(WIDTH - _RIGHT + 8, lowest, name, look="quiet")
    for number, name in enumerate(names):
        if name in bands:
            yield from _line(number, bands[name], x, y)


def _line(number: int, one: Band, x: Scale, y: Scale) -> Iterator[str]:
    """A curve with its band; the number of the algorithm gives the colour and the dashes."""
    across = [x(float(value)) for value in one.x]
    upper = [f"{a:.1f},{y(float(b)):.1f}" for a, b in zip(across, one.high, strict=True)]
    lower = [f"{a:.1f},{y(float(b)):.1f}" for a, b in zip(across, one.low, strict=True)]
    middle = [f"{a:.1f},{y(float(b)):.1f}" for a, b in zip(across, one.mean, strict=True)]
    yield f'<g class="hue{number % NUM_HUES}">'
    if len(across) > 1:
        yield f'<polygon points="{" ".join([*upper, *reversed(lower)])}" fill="currentColor" opacity=".15"/>'
        yield f'<polyline points="{" ".join(middle)}" fill="none" {_stroke(number)}/>'
    else:
        high, low = y(float(one.high[0])), y(float(one.low[0]))
        yield f'<path d="M{across[0]:.1f} {low:.1f}V{high:.1f}" stroke="currentColor" stroke-width="5" opacity=".3"/>'
    yield f'<circle cx="{across[-1]:.1f}" cy="{y(float(one.mean[-1])):.1f}" r="3.5" fill="currentColor"/>'
    yield "</g>"


def _frame(columns: Iterable[tuple[float, str]], rows: Iterable[tuple[float, str]], floor: float) -> Iterator[str]:
    """Lines and numbers of both axes."""
    for y, words in rows:
        yield f'<path class="grid" d="M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}"/>'
        yield text(_LEFT - 10, y + 5, words, look="quiet", anchor="end")
    for x, words in columns:
        yield f'<path class="grid" d="M{x:.1f} {floor - _PLOT:.1f}V{floor:.1f}"/>'
        yield text(x, floor + 18, words, look="quiet", anchor="middle")


def _legend(names: Sequence[str]) -> tuple[list[str], float]:
    """The names with their colours and dashes, and how far down they reach."""
    elements = []
    x, y = float(_LEFT), float(_LEGEND_ROW)
    for number, name in enumerate(names):
        wide = 44 + _LETTER * len(name)
        if x > _LEFT and x + wide > WIDTH - 24:
            x, y = float(_LEFT), y + _LEGEND_ROW
        swatch = f'<path d="M{x:.1f} {y:.1f}h24" {_stroke(number)}/>'
        elements += [f'<g class="hue{number % NUM_HUES}">{swatch}</g>', text(x + 32, y + 5, name)]
        x += wide
    return elements, y + _LEGEND_ROW / 2


def _stroke(number: int) -> str:
    dashes = _DASHES[number // NUM_HUES % len(_DASHES)]
    return 'stroke="currentColor" stroke-width="2"' + (f' stroke-dasharray="{dashes}"' if dashes else "")


def _decades(left: float, right: float) -> list[float]:
    """Round numbers between two powers of ten: powers of ten, or 1, 2 and 5 times such if there are few."""
    factors = (1, 2, 5) if right - left < 2.5 else (1,)
    marks = [factor * 10.0**power for power in range(math.floor(left) - 1, math.ceil(right) + 1) for factor in factors]
    return [mark for mark in marks if left - 1e-9 <= math.log10(mark) <= right + 1e-9]


def _short(value: float) -> str:
    """A number as one reads it beside an axis."""
    for unit, name in ((1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"
