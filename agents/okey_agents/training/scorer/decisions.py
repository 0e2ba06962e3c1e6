"""Decisions of the candidate scorer with labels, as arrays to learn from, and the buffer that kernels fill with them.

A decision is what the scorer sees of it and one label for each candidate: the rule's rating in the soft clone, points
in `branching`. Decisions with one candidate teach nothing and are left out.

Letters: `N` decisions, `M` candidates of all of them, which follow one another, `T` features of the context of a
decision, which its candidates share, `F` features of a candidate.
"""

import dataclasses
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.scorer.context import MAX_CANDIDATES, NUM_CONTEXT
from okey_agents.thinking.scorer.features import NUM_FEATURES

Floats = npt.NDArray[np.float32]
Halves = npt.NDArray[np.float16]

MAX_DECISIONS_OF_ROUND = 512
"""A round has fewer decisions than this."""


@dataclasses.dataclass(frozen=True)
class Decisions:
    """Decisions to learn from; half precision is enough for the features."""

    contexts: Halves
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
        """The first `number` decisions, as views."""
        rows = int(self.counts[:number].sum())
        return Decisions(self.contexts[:number], self.features[:rows], self.counts[:number], self.labels[:rows])

    @classmethod
    def join(cls, parts: "list[Decisions]") -> "Decisions":
        """The decisions of several parts, one part after the other."""
        return cls(
            np.concatenate([part.contexts for part in parts]),
            np.concatenate([part.features for part in parts]),
            np.concatenate([part.counts for part in parts]),
            np.concatenate([part.labels for part in parts]),
        )


class DecisionBuffer(NamedTuple):
    """Arrays that a kernel fills with decisions; the fields are those of `Decisions`, in single precision."""

    contexts: Floats
    features: Floats
    counts: npt.NDArray[np.int64]
    labels: Floats

    def decisions(self, count: int) -> Decisions:
        """The first `count` decisions, copied."""
        counts = self.counts[:count].copy()
        rows = int(counts.sum())
        return Decisions(
            self.contexts[:count].astype(np.float16),
            self.features[:rows].astype(np.float16),
            counts,
            self.labels[:rows].copy(),
        )


def new_buffer(num_decisions: int) -> DecisionBuffer:
    """A buffer for so many decisions, and for those of one more round, which a kernel plays to its end."""
    capacity = num_decisions + MAX_DECISIONS_OF_ROUND
    return DecisionBuffer(
        np.empty((capacity, NUM_CONTEXT), np.float32),
        np.empty((capacity * MAX_CANDIDATES, NUM_FEATURES), np.float32),
        np.empty(capacity, np.int64),
        np.empty(capacity * MAX_CANDIDATES, np.float32),
    )
