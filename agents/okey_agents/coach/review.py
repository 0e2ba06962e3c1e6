"""A played round or match looked through by the coach: which decisions it would make otherwise, and what they cost.

A player is judged by what it could know: the coach sees the observation of the seat that moved, tries the move that was
played beside its own, and tells how far it is behind. Luck is not in it. A move counts as a mistake if the whole
interval of that difference is on one side, so where moves are about equal nothing is said.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from okey_agents.coach.advice import WORLDS, Advice, Reason, advise
from okey_env.actions import to_text
from okey_env.record import Record
from okey_env.tiles import NUM_SEATS


@dataclasses.dataclass(frozen=True)
class Note:
    """One decision between several moves, as the coach sees it."""

    line: int
    """Of the record."""
    round: int
    throws: int
    """Throws before it."""
    seat: int
    played: Advice
    best: Advice
    okey: int

    @property
    def behind(self) -> Reason | None:
        """How far the move is behind the coach's; None if it is the coach's, or clearly not worth the trial."""
        return next((reason for reason in self.played.reasons if reason.code == "behind"), None)

    @property
    def cost(self) -> float:
        """Points that the move gave away, 0 where that is not certain."""
        behind = self.behind
        if behind is None:
            return 0.0
        numbers: Mapping[str, Any] = behind.numbers  # of `behind` all are numbers
        return float(numbers["points"]) if numbers["low"] > 0 else 0.0

    def text(self) -> str:
        """The note in two lines of English."""
        return (
            f"{to_text(self.played.action, self.okey)}, {self.cost:.2f} points given away\n"
            f"  played  {self.played.text(self.okey)}\n"
            f"  better  {self.best.text(self.okey)}"
        )


def review(
    record: Record, seats: Sequence[int] = range(NUM_SEATS), worlds: int = WORLDS, seed: int = 0
) -> Iterator[Note]:
    """Notes on the decisions of some seats, in order; moves without a choice are passed over.

    Args:
        record: what was played.
        seats: whose decisions.
        worlds: how often the hidden tiles are dealt again for each.
        seed: settles the worlds.

    Raises:
        ValueError: the record disagrees with the rules.
    """
    seen = None
    for step, match in record.replay():
        if seen is not None and step.action is not None and step.seat in seats and len(seen.legal_actions) > 1:
            advice = advise(seen, worlds, seed, also=[step.action])
            played = next(one for one in advice if one.action == step.action)
            yield Note(step.line, step.round, seen.throws, step.seat, played, advice[0], seen.okey)
        seen = None if match.round.over else match.round.observe(match.round.turn)
