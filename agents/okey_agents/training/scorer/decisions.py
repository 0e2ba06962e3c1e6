"""Decisions of self-play with several candidates, as arrays to learn from, and the kernels that note them.

A decision is what the scorer sees of it and one number for each candidate: the rule's rating in `clone`, points in
`branching`. Decisions with one candidate teach nothing and are left out.

Letters: `N` decisions, `M` candidates of all of them, which follow one another.
"""

import dataclasses

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.scorer.features import MAX_CANDIDATES, NUM_FEATURES, NUM_TABLE
from okey_env.engine.state import new_games
from okey_env.rules import Rules

Floats = npt.NDArray[np.float32]
Halves = npt.NDArray[np.float16]

MOST_OF_A_ROUND = 512
"""Room for the decisions of one round."""


@dataclasses.dataclass(frozen=True)
class Decisions:
    """Decisions to learn from; features are kept in half precision, which is more than they need."""

    tables: Halves
    """`(N, T)`."""
    features: Halves
    """`(M, F)`, the candidates of each decision together, the best rated first."""
    counts: npt.NDArray[np.int64]
    """`(N,)` candidates of each decision."""
    labels: Floats
    """`(M,)`."""

    def __len__(self) -> int:
        return len(self.counts)

    def first(self, number: int) -> "Decisions":
        """The first `number` of them, as views."""
        rows = int(self.counts[:number].sum())
        return Decisions(self.tables[:number], self.features[:rows], self.counts[:number], self.labels[:rows])

    @classmethod
    def join(cls, parts: "list[Decisions]") -> "Decisions":
        """All decisions of several."""
        return cls(
            np.concatenate([part.tables for part in parts]),
            np.concatenate([part.features for part in parts]),
            np.concatenate([part.counts for part in parts]),
            np.concatenate([part.labels for part in parts]),
        )


class Notebook:
    """The arrays that a kernel notes decisions into.

    Args:
        rules: the rules of the games.
        num_decisions: for how many decisions there is room, beside those of one last round.
        num_games: records for the kernel to play in, with draw queues.
    """

    def __init__(self, rules: Rules, num_decisions: int, num_games: int) -> None:
        room = num_decisions + MOST_OF_A_ROUND
        self.games = new_games(rules, num_games, draw_queues=True)
        self.tables: Floats = np.empty((room, NUM_TABLE), np.float32)
        self.features: Floats = np.empty((room * MAX_CANDIDATES, NUM_FEATURES), np.float32)
        self.counts: npt.NDArray[np.int64] = np.empty(room, np.int64)
        self.labels: Floats = np.empty(room * MAX_CANDIDATES, np.float32)

    def decisions(self, count: int) -> Decisions:
        """The first `count` decisions noted, copied."""
        counts = self.counts[:count].copy()
        rows = int(counts.sum())
        return Decisions(
            self.tables[:count].astype(np.float16),
            self.features[:rows].astype(np.float16),
            counts,
            self.labels[:rows].copy(),
        )
