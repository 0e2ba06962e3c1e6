"""The budget of a run that learns: decisions and CPU seconds, and the learning curve that is measured on the way.

An algorithm learns while `budget.goes_on(decisions, make_bot)`. The budget counts the CPU time of this process from the
moment it is made. When a point of the learning curve is due, it asks for the bot and measures it; that time is not
counted. One thread of torch is used, so that CPU time is comparable.
"""

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from okey_env.bots import BotSpec
from okey_env.checks import positive_number, whole_number

_FIRST_SHARE = 1 / 64
"""The share of the budget after which the first point of a learning curve is due."""


class Point(NamedTuple):
    """A point of a learning curve."""

    decisions: int
    """Learned from so far."""
    cpu: float
    """CPU seconds spent so far, without those of measuring."""
    result: Any
    """What the measurer returned."""


class Budget:
    """What a run may spend.

    Args:
        decisions: the most decisions to learn from; None: no limit.
        cpu_seconds: the most CPU seconds of this process; None: no limit.
        measurer: measures a bot for the learning curve; None: no curve, the budget only counts.
        points: measurements before the end, at shares of the budget that grow by the same factor, from 1/64 on.
        clock: gives CPU seconds.

    Raises:
        ValueError: there is no limit, or a number is out of its range.

    >>> budget = Budget(decisions=300)
    >>> learned_from = 0
    >>> while budget.goes_on(learned_from, lambda: "greedy"):
    ...     learned_from += 128
    >>> learned_from, budget.share
    (384, 1.0)
    """

    def __init__(
        self,
        decisions: int | None = None,
        cpu_seconds: float | None = None,
        *,
        measurer: Callable[[BotSpec], Any] | None = None,
        points: int = 0,
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        if decisions is None and cpu_seconds is None:
            raise ValueError("decisions=None and cpu_seconds=None: expected a limit of at least one of them")
        if decisions is not None:
            decisions = whole_number("decisions", decisions, 1, note=", or None")
        if cpu_seconds is not None:
            cpu_seconds = positive_number("cpu_seconds", cpu_seconds, ", or None")
        points = whole_number("points", points, 0, 10_000)
        self.decisions = decisions
        """The limit of decisions; None: there is none."""
        self.cpu_seconds = cpu_seconds
        """The limit of CPU seconds; None: there is none."""
        self.curve: list[Point] = []
        """The points that were measured."""
        self.decisions_spent = 0
        """Decisions learned from, as `goes_on` was told last."""
        shares = np.geomspace(_FIRST_SHARE, 1, points + 1)[:-1] * (1 - 1e-9)  # a rounding error delays no point
        self._due = shares.tolist() if measurer else []
        self._measurer = measurer
        self._clock = clock
        self._began = clock()
        self._measuring = 0.0
        _use_one_torch_thread()

    @property
    def cpu(self) -> float:
        """CPU seconds spent so far, without those of measuring."""
        return self._clock() - self._began - self._measuring

    @property
    def share(self) -> float:
        """The spent share of the limit that is nearer, 0 to 1; it also grows between two calls of `goes_on`."""
        spent = 0.0
        if self.decisions is not None:
            spent = self.decisions_spent / self.decisions
        if self.cpu_seconds is not None:
            spent = max(spent, self.cpu / self.cpu_seconds)
        return min(spent, 1.0)

    def goes_on(self, decisions: int, make_bot: Callable[[], BotSpec]) -> bool:
        """Whether something is left to spend; measures a point of the learning curve first if one is due.

        Args:
            decisions: learned from so far; it never falls.
            make_bot: gives the bot as it is now, or its function from an `Observation` to an action.

        Raises:
            ValueError: `decisions` has fallen, or is not a whole number.
        """
        note = ", as many as before" if self.decisions_spent else ""
        self.decisions_spent = whole_number("decisions", decisions, self.decisions_spent, note=note)
        if not self.curve:
            _use_one_torch_thread()  # torch may have been imported since
        share = self.share
        if share >= 1:
            return False
        if self._due and share >= self._due[0]:
            self._due = [due for due in self._due if due > share]
            self._measure(make_bot)
        return True

    def _measure(self, make_bot: Callable[[], BotSpec]) -> None:
        if self._measurer is None:
            return
        spent, began = self.cpu, self._clock()
        result = self._measurer(make_bot())
        self.curve.append(Point(self.decisions_spent, spent, result))
        self._measuring += self._clock() - began


def _use_one_torch_thread() -> None:
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
