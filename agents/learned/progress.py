"""What the person who waits sees: a bar on a terminal, a line every few seconds anywhere else."""

import time
from collections.abc import Mapping
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

SECONDS_BETWEEN_LINES = 10.0


class Stage:
    """One stage of the run with a known amount of work; a context manager.

    Args:
        title: what is being done.
        total: how many in all.
        done: how many were done before.
        console: where to show it.
        unit: what is counted.
    """

    def __init__(
        self, title: str, total: int, done: int = 0, console: Console | None = None, unit: str = "decisions"
    ) -> None:
        self._title = title
        self._unit = unit
        self._total = total
        self._before = self._done = done
        self._console = console or Console(stderr=True)
        self._began = self._said = time.monotonic()
        self._bar: Progress | None = None
        self._task = TaskID(0)
        if self._console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn(f"{{task.completed:,.0f}} / {{task.total:,.0f}} {unit} · {{task.fields[speed]:,.3g}}/s"),
                TimeRemainingColumn(),
                TextColumn("{task.fields[values]}"),
                console=self._console,
            )
            self._task = self._bar.add_task(title, total=total, completed=done, speed=0.0, values="")

    @property
    def speed(self) -> float:
        """How many a second since the stage began."""
        return (self._done - self._before) / max(time.monotonic() - self._began, 1e-9)

    def update(self, done: int, values: Mapping[str, float]) -> None:
        """Show how far it is, with some numbers."""
        self._done = min(done, self._total)
        text = " · ".join(f"{name} {value:+.2f}" for name, value in values.items())
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, speed=self.speed, values=text)
        elif time.monotonic() - self._said >= SECONDS_BETWEEN_LINES:
            self._said = time.monotonic()
            left = round((self._total - self._done) / max(self.speed, 1e-9))
            self._console.print(
                f"{self._title}: {self._done:,} of {self._total:,} {self._unit} · {_rate(self.speed)}/s · "
                f"{left // 60} min {left % 60:02} s left" + (f" · {text}" if text else ""),
                highlight=False,
                soft_wrap=True,
            )

    def __enter__(self) -> "Stage":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif kind is None:
            seconds = time.monotonic() - self._began
            self._console.print(
                f"{self._title}: {self._done:,} {self._unit} in {seconds:.0f} s, {_rate(self.speed)}/s",
                highlight=False,
                soft_wrap=True,
            )


def _rate(speed: float) -> str:
    return f"{speed:,.0f}" if speed >= 10 else f"{speed:.2f}"
