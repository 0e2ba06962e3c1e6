"""Draw learning curves of runs: `scripts/curves.py runs/ppo runs/branching --into docs/pictures/curves.svg`.

Points a round with their 95 % intervals, from the `evaluated` lines of each run's log, against the decisions learned
from or the CPU time spent, measuring included. One picture for each opponent, one colour for each run. A ring is a
measurement on fresh deals, which nothing was chosen by. Curves do not compare across opponents, and decisions not
across recipes: `branching` tries all candidates of one, `ppo` plays one. CPU time compares.
"""

import argparse
import dataclasses
import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from okey_agents.evaluate.statistics import Interval
from okey_agents.evaluate.svg import NUM_HUES, WIDTH, document, signed, text, ticks
from okey_agents.training.runs import LOG_FILE

LEFT, RIGHT, LEGEND_ROW, HEAD, PLOT, FOOT = 66, 24, 24, 34, 220, 44
LETTER = 8  # the width of one, about


@dataclasses.dataclass(frozen=True)
class Point:
    """One measurement of a run."""

    against: str
    """The bot of which three were met."""
    decisions: int
    """Learned from so far."""
    cpu: float
    """Seconds that the run had taken by then, those before it was stopped included; NaN where the log does not say."""
    points: Interval
    """A round."""
    fresh: bool
    """On deals that nothing was chosen by."""


@dataclasses.dataclass(frozen=True)
class Run:
    """The measurements of a run."""

    name: str
    points: tuple[Point, ...]


def read_run(folder: Path) -> Run:
    """The measurements in the log of a run.

    Raises:
        ValueError: there is no log, it is damaged, or it has no measurements.
    """
    path = folder / LOG_FILE
    if not path.is_file():
        raise ValueError(f"{folder} holds no run: there is no {LOG_FILE} in it")
    found: dict[tuple[str, bool, int], Point] = {}  # what is measured again after a crash replaces what was
    cpu = before = began = 0.0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            event = json.loads(line)
        except ValueError:
            continue  # the process died while it wrote this line
        try:
            now = event.get("cpu", math.nan)
            if event["event"] in ("started", "resumed"):
                before, began = cpu, now
            cpu = before + now - began
            if event["event"] == "evaluated":
                point = _point_of(event, cpu)
                found[point.against, point.fresh, point.decisions] = point
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}, line {number}, is no line of a run's log: {error!r}") from None
    if not found:
        raise ValueError(f"{path} has no measurements: the run has none yet, or its evaluation.deals = 0")
    return Run(folder.resolve().name, tuple(sorted(found.values(), key=lambda point: (point.fresh, point.decisions))))


def _point_of(event: dict[str, Any], cpu: float) -> Point:
    fresh = bool(event.get("fresh", False))
    return Point(event["against"], event["decisions"], cpu, Interval(**event["points"]), fresh)


def draw(runs: Sequence[Run], by: str = "decisions") -> str:
    """The curves as SVG.

    Args:
        runs: whose; at most as many as there are colours.
        by: `decisions` or `cpu`, what they are drawn against.

    Raises:
        ValueError: there are too many runs, or a log does not say how much CPU time was spent.
    """
    if len(runs) > NUM_HUES:
        raise ValueError(f"{len(runs)} runs are too many to be told apart: expected at most {NUM_HUES}")
    for run in runs:
        if by == "cpu" and any(math.isnan(point.cpu) for point in run.points):
            raise ValueError(f"the log of {run.name} does not say how much CPU time was spent: draw it by decisions")
    opponents = list(dict.fromkeys(point.against for run in runs for point in run.points))
    elements, y = _legend(runs)
    across = _Across(max(getattr(point, by) for run in runs for point in run.points), by)
    for opponent in opponents:
        elements += _plot(runs, opponent, across, y)
        y += HEAD + PLOT + FOOT
    label = f"Learning curves: points a round with 95 % intervals against three {', three '.join(opponents)}"
    return document(y, label, elements)


class _Across:
    """The axis of decisions or CPU time."""

    def __init__(self, most: float, by: str) -> None:
        self._by = by
        self.title, self._unit = "decisions learned from", 1.0
        if by == "cpu":
            self.title, self._unit = ("CPU minutes", 60.0) if most > 300 else ("CPU seconds", 1.0)
        self.ticks = ticks(0, most / self._unit, 8)

    def of(self, point: Point) -> float:
        """Where a measurement lies, left to right."""
        return self.at(getattr(point, self._by) / self._unit)

    def at(self, value: float) -> float:
        """Where a value lies."""
        return LEFT + value / self.ticks[-1] * (WIDTH - LEFT - RIGHT)


def _legend(runs: Sequence[Run]) -> tuple[list[str], float]:
    """The runs' names with their colours, and how far down they reach."""
    elements = []
    x, y = float(LEFT), float(LEGEND_ROW)
    for hue, run in enumerate(runs):
        wide = 44 + LETTER * len(run.name)
        if x > LEFT and x + wide > WIDTH - RIGHT:
            x, y = float(LEFT), y + LEGEND_ROW
        swatch = f'<path d="M{x:.1f} {y:.1f}h20" stroke="currentColor" stroke-width="3" stroke-linecap="round"/>'
        elements += [f'<g class="hue{hue}">{swatch}</g>', text(x + 28, y + 5, run.name)]
        x += wide
    return elements, y + LEGEND_ROW / 2


def _plot(runs: Sequence[Run], opponent: str, across: _Across, top: float) -> Iterator[str]:
    """One picture: axes, and the curve of each run that met this opponent."""
    shown = [[point for point in run.points if point.against == opponent] for run in runs]
    ends = [end for points in shown for point in points for end in point.points]
    marks = ticks(min(0.0, *ends), max(0.0, *ends), 6)
    digits = max(0, -math.floor(math.log10(marks[1] - marks[0]) + 1e-6))
    floor = top + HEAD + PLOT

    def y(points: float) -> float:
        return floor - (points - marks[0]) / (marks[-1] - marks[0]) * PLOT

    yield text(LEFT, top + HEAD - 14, f"points a round against three {opponent}")
    for mark in marks:
        look = "grid" if mark else "axis"
        yield f'<path class="{look}" d="M{LEFT} {y(mark):.1f}H{WIDTH - RIGHT}"/>'
        yield text(LEFT - 10, y(mark) + 5, signed(mark, digits), look="quiet", anchor="end")
    for tick in across.ticks:
        yield f'<path class="grid" d="M{across.at(tick):.1f} {top + HEAD:.1f}V{floor:.1f}"/>'
        yield text(across.at(tick), floor + 18, _short(tick), look="quiet", anchor="middle")
    yield text(WIDTH - RIGHT, floor + 38, across.title, look="quiet", anchor="end")
    if any(point.fresh for points in shown for point in points):
        yield text(LEFT, floor + 38, "○ the best on fresh deals", look="quiet")
    for hue, points in enumerate(shown):
        yield f'<g class="hue{hue}">'
        line = " ".join(f"{across.of(point):.1f},{y(point.points.mean):.1f}" for point in points if not point.fresh)
        yield f'<polyline points="{line}" fill="none" stroke="currentColor" stroke-width="2"/>'
        for point in points:
            x, (mean, low, high) = across.of(point), map(y, point.points)
            yield f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="currentColor" stroke-width="5" opacity=".3"/>'
            look = 'class="page" stroke="currentColor" stroke-width="2"' if point.fresh else 'fill="currentColor"'
            yield f'<circle cx="{x:.1f}" cy="{mean:.1f}" r="4" {look}/>'
        yield "</g>"


def _short(value: float) -> str:
    """A number as one reads it beside an axis."""
    for unit, name in ((1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw them."""
    parser = argparse.ArgumentParser(description="draw learning curves of runs")
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folder of a run")
    parser.add_argument("--into", type=Path, required=True, metavar="FILE", help="the SVG file to write")
    parser.add_argument("--by", choices=("decisions", "cpu"), default="decisions", help="what they are drawn against")
    parser.add_argument("--against", nargs="+", metavar="BOT", help="only these opponents")
    options = parser.parse_args(arguments)
    try:
        runs = [read_run(folder) for folder in options.runs]
        if options.against:
            runs = [_only(run, options.against) for run in runs]
        picture = draw(runs, options.by)
    except ValueError as error:
        parser.error(str(error))
    options.into.parent.mkdir(parents=True, exist_ok=True)
    options.into.write_text(picture, encoding="utf-8")


def _only(run: Run, opponents: Sequence[str]) -> Run:
    points = tuple(point for point in run.points if point.against in opponents)
    if not points:
        met = ", ".join(sorted({point.against for point in run.points}))
        raise ValueError(f"{run.name} was not measured against {' or '.join(opponents)}: expected one of {met}")
    return Run(run.name, points)


if __name__ == "__main__":
    main()
