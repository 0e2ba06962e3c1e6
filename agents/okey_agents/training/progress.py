"""Progress on the console: a bar on a terminal, a line every ten seconds anywhere else."""

import time
from collections.abc import Mapping
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from okey_agents.console import PlainConsole

SECONDS_BETWEEN_LINES = 10.0


class ProgressStage:
    """One stage of the run with a known amount of work; a context manager.

    Args:
        title: what is being done.
        total: units of work in all.
        done: units done before the stage begins.
        console: where to show it; None: stderr.
        unit: what is counted.
        decisions: decisions made before the stage begins; only needed if the unit is another and the speed in decisions
            is to be shown as well.
    """

    def __init__(
        self,
        title: str,
        total: int,
        done: int = 0,
        console: Console | None = None,
        unit: str = "decisions",
        decisions: int = 0,
    ) -> None:
        self._title = title
        self._unit = unit
        self._total = total
        self._before = self._done = done
        self._decisions_before = self._decisions = decisions
        self._console = console or PlainConsole(stderr=True)
        self._began = self._said = time.monotonic()
        self._bar: Progress | None = None
        self._task = TaskID(0)
        if self._console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.fields[state]}", markup=False),
                console=self._console,
            )
            self._task = self._bar.add_task(title, total=total, completed=done, state=f"of {total:,} {unit}")

    @property
    def speed(self) -> float:
        """Units a second since the stage began."""
        return (self._done - self._before) / max(time.monotonic() - self._began, 1e-9)

    def update(self, done: int, values: Mapping[str, float], decisions: int = 0) -> None:
        """Show the progress.

        Args:
            done: units done so far.
            values: numbers to show beside it, by name.
            decisions: decisions made so far, if the unit is another.
        """
        self._done = min(done, self._total)
        self._decisions = decisions
        if self._bar is None and time.monotonic() - self._said < SECONDS_BETWEEN_LINES:
            return
        parts = [f"{self._done:,} of {self._total:,} {self._unit}"]
        if self._done > self._before:
            left = round((self._total - self._done) / self.speed)
            parts += [self._speeds(), f"{left // 60} min {left % 60:02} s left"]
        state = " · ".join(parts + [f"{name} {value:+.2f}" for name, value in values.items()])
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, state=state)
        else:
            self._said = time.monotonic()
            self._print(state)

    def __enter__(self) -> "ProgressStage":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif kind is None:
            self._print(f"{self._done:,} {self._unit} in {time.monotonic() - self._began:.0f} s, {self._speeds()}")

    def _speeds(self) -> str:
        """The speed in units, and in decisions if those are counted too."""
        speed = f"{_rate(self.speed)}/s"
        if self._decisions <= self._decisions_before:
            return speed
        made = (self._decisions - self._decisions_before) / max(time.monotonic() - self._began, 1e-9)
        return f"{speed} · {_rate(made)} decisions/s"

    def _print(self, state: str) -> None:
        self._console.print(f"{self._title}: {state}", highlight=False, markup=False, soft_wrap=True)


def _rate(speed: float) -> str:
    return f"{speed:,.0f}" if speed >= 10 else f"{speed:.2f}"
