"""Algorithms for tests of the benchmark, as a file of a user might have them; nothing here needs torch."""

import os
import signal
import time
from pathlib import Path
from typing import Any

from okey_env import Observation, make_bot


class Mixed:
    """A bot that plays a share of the moves of `greedy`, and the others of `random`."""

    name = "mixed"

    def __init__(self, share: float, seed: int) -> None:
        self._share = share
        self._greedy, self._random = make_bot("greedy", seed), make_bot("random", seed)

    def reset(self, seed: int) -> None:
        """Set the seed of the moves at random."""
        self._greedy.reset(seed)
        self._random.reset(seed)

    def act(self, observation: Observation) -> int:
        """Choose by what it sees, so that the same position gets the same move."""
        drawn = sum(observation.records.tobytes()) % 97 / 97
        return (self._greedy if drawn < self._share else self._random).act(observation)


def train(task: Any, budget: Any, seed: int, most: float = 1.0) -> Mixed:
    """The share grows with the budget; it is lower for other seeds, so that runs differ."""
    decisions = 0

    def bot() -> Mixed:
        return Mixed(most * decisions / budget.decisions * (1 - seed / 10), seed)

    while budget.goes_on(decisions, bot):
        decisions += 10
    return bot()


def fails(task: Any, budget: Any, seed: int) -> Mixed:
    """Fails after some decisions, with all that Markdown and HTML find in the message."""
    budget.goes_on(5, lambda: "random")
    raise RuntimeError("no `luck` | with <this> & that")


def returns_nothing(task: Any, budget: Any, seed: int) -> None:
    """Forgets the bot."""


def leaves(task: Any, budget: Any, seed: int) -> None:
    """Ends the process."""
    os._exit(7)


def dies(task: Any, budget: Any, seed: int, where: str, times: int = 1) -> Any:
    """Is killed so many times, and counts them in a file; then it is `train`."""
    tries = Path(where)
    with tries.open("a") as file:
        file.write("x")
    if tries.stat().st_size <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return train(task, budget, seed)


def waits(task: Any, budget: Any, seed: int, where: str) -> Any:
    """Says that it has begun, and its process, and waits until a file is there; then it is `train`."""
    Path(where, f"begun-{seed}").write_text(str(os.getpid()))
    while not Path(where, "go").exists():
        time.sleep(0.01)
    return train(task, budget, seed)
