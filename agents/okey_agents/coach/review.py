"""The review of a record: which decisions the coach would make differently, and what they cost.

A player is judged by what it could know. The coach sees the observation of the seat that moved, tries the played move
beside its own, and tells how many points the played move is behind. Luck does not count. A move counts as a mistake
only if the whole interval of the difference is above 0, so nothing is said about moves that are about equal.
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
    """The coach's note on one decision between several moves."""

    line: int
    """The line of the record."""
    round: int
    """The number of the round in its match."""
    throws: int
    """Throws in the round before the decision."""
    seat: int
    """Who decided."""
    played: Advice
    """The move that was played."""
    best: Advice
    """The coach's move."""
    okey: int
    """The kind of the round's okey."""

    @property
    def behind(self) -> Reason | None:
        """By how much the move is behind the coach's; None if it is the coach's move or was not tried."""
        return next((reason for reason in self.played.reasons if reason.code == "behind"), None)

    @property
    def cost(self) -> float:
        """Points that the move gave away; 0 if the interval of the difference contains 0."""
        behind = self.behind
        if behind is None:
            return 0.0
        numbers: Mapping[str, Any] = behind.numbers  # the code `behind` has no tuples
        return float(numbers["points"]) if numbers["low"] > 0 else 0.0

    def text(self) -> str:
        """The note in three lines of English."""
        return (
            f"{to_text(self.played.action, self.okey)}, {self.cost:.2f} points given away\n"
            f"  played  {self.played.text(self.okey)}\n"
            f"  better  {self.best.text(self.okey)}"
        )


def review(
    record: Record, seats: Sequence[int] = range(NUM_SEATS), worlds: int = WORLDS, seed: int = 0
) -> Iterator[Note]:
    """Notes on the decisions of some seats, in order; moves without a choice are left out.

    Args:
        record: the record of a round or match.
        seats: whose decisions.
        worlds: in how many worlds the moves of each decision are tried.
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
