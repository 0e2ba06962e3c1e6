"""Match: rounds one after the other until somebody has no points left (RULES R8).

Like a `Round`, a `Match` is for code that runs games: it holds the current round, keeps the score, deals the next
round and says who has won. A bot knows of it only what its observation says: the points of all seats before the round.
"""

import copy
import secrets
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from okey_env.checks import MAX_SEED, whole_number
from okey_env.deal import Deal
from okey_env.engine.match import GOES_ON, MAX_ROUNDS, TERMINATED, TRUNCATED, episode_status_in, next_rounds_at
from okey_env.round import Round
from okey_env.rules import Rules
from okey_env.tiles import NUM_SEATS

_ONLY = np.zeros(1, np.int64)
_TEAMS = ((0, 2), (1, 3))


class Standing(NamedTuple):
    """A row of the standings of a match."""

    rank: int
    """From 1 on; equal points share a rank, and the next rank is left out: 1, 2, 2, 4."""
    seats: tuple[int, ...]
    """One seat, or the two of a team (R8.4)."""
    points: int


class Match:
    """A match: play its `round`, then `next_round()`, until it is over.

    Args:
        rules: a preset's name, `Rules`, or a mapping of switches.
        seed: determines, with `number`, all deals; None: a random one.
        deal: a chosen position for the first round.
        points: the four seats' points to start from, 1 to 21; None: `start_points` of the rules.
        number: which match of this seed.
        draw_queues: each seat draws from its own quarter of the stock, for paired evaluation.

    Raises:
        ValueError: the points are not possible (`okey_env.round.check_points`), or another value is not what it should
            be.

    >>> rack = "R1 R2 R3 R4 | B4 B5 B6 | K7 K8 K9 | Y10 Y11 Y12 Y13 | R5"
    >>> deal = Deal(indicator="Y4", racks=(None, rack, None, None))
    >>> match = Match("klasik", seed=7, deal=deal, points=(2, 9, 4, 11))
    >>> match.apply("finish R5")
    >>> match.scores, match.over, match.winners
    ((0, 9, 2, 9), True, (1, 3))
    """

    def __init__(
        self,
        rules: str | Rules | Mapping[str, Any] = "gamelake",
        seed: int | None = None,
        deal: Deal | None = None,
        points: Sequence[int] | None = None,
        *,
        number: int = 0,
        draw_queues: bool = False,
    ) -> None:
        self.round = Round(rules, seed=0, draw_queues=draw_queues)
        """The current round; the same object during the whole match."""
        self.earlier: list[Round] = []
        """The rounds before it, as they ended. `save` does not save them."""
        self.deal(seed if seed is not None else secrets.randbits(63), deal, points, number=number)

    def deal(
        self, seed: int, deal: Deal | None = None, points: Sequence[int] | None = None, *, number: int = 0
    ) -> None:
        """Begin a new match with the same rules.

        Raises:
            ValueError: the points are not possible, or another value is not what it should be; nothing has changed.
        """
        number = whole_number("number", number, 0, MAX_SEED // MAX_ROUNDS)
        self.round.deal(seed, deal, number=number * MAX_ROUNDS, points=points)
        self.earlier = []

    # --- where the match stands --------------------------------------------------------------------------

    @property
    def rules(self) -> Rules:
        """The rules of the match."""
        return self.round.rules

    @property
    def seed(self) -> int:
        """The seed of its deals."""
        return self.round.seed

    @property
    def number(self) -> int:
        """Which match of its seed this is."""
        return self.round.number // MAX_ROUNDS

    @property
    def rounds_played(self) -> int:
        """Rounds that have ended, void ones included."""
        return self.round.number % MAX_ROUNDS + self.round.over

    @property
    def scores(self) -> tuple[int, ...]:
        """The current points by seat: the losses of the current round are subtracted (R6.6). Partners have the same."""
        return tuple(score - lost for score, lost in zip(self.round.scores, self.round.lost, strict=True))

    @property
    def over(self) -> bool:
        """Whether a round has ended and somebody has 0 points or less (R8.2), or the match is `truncated`."""
        return episode_status_in(self.round.games, 0, True) != GOES_ON

    @property
    def truncated(self) -> bool:
        """Whether the match was cut off after 256 rounds, since void rounds cost nothing. Then nobody wins."""
        return episode_status_in(self.round.games, 0, True) == TRUNCATED

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats that win, including all that share a win (R8.3); empty while the match goes on."""
        return tuple(seat for seat, share in enumerate(self.shares) if share > 0)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The share of the win that each seat has (R8.3); seats with equal points share their winning ranks.

        With 10, 7, 7, -1 points and two winners it is 1, 1/2, 1/2, 0. A team's two seats have the same (R8.4).
        """
        return shares(self.round)

    @property
    def standings(self) -> list[Standing]:
        """Seats, or teams (R8.4), by points, the best first; equal points share a rank (R8.3)."""
        scores = self.scores
        sides = _TEAMS if self.rules.teams else tuple((seat,) for seat in range(NUM_SEATS))
        standings = [
            Standing(1 + sum(scores[other[0]] > scores[side[0]] for other in sides), side, scores[side[0]])
            for side in sides
        ]
        return sorted(standings)

    # --- play --------------------------------------------------------------------------------------------

    def apply(self, action: int | str) -> None:
        """Do an action of the seat to move, a number or its text; `next_round` deals the next round.

        Raises:
            ValueError: the action is not legal; nothing has changed.
        """
        self.round.apply(action)

    def next_round(self) -> None:
        """Deal the next round: the points lost are subtracted, and the starter changes (R2.2).

        Raises:
            ValueError: the round is not over, or the match is.
        """
        if not self.round.over:
            raise ValueError("the round is not over: expected the next one to be dealt after it")
        if self.over:
            raise ValueError(f"the match is over after {self.rounds_played} rounds: expected no next one")
        self.earlier.append(copy.deepcopy(self.round))
        next_rounds_at(self.round.games, _ONLY)

    # --- save, restore -----------------------------------------------------------------------------------

    def save(self) -> bytes:
        """The current round and the points before it as bytes, hidden tiles included; see `okey_env.saving`."""
        return self.round.save()

    def restore(self, saved: bytes) -> None:
        """Go back to a saved match, including its rules; `earlier` is empty afterwards.

        Raises:
            ValueError: the bytes are not those of a saved game of this version; nothing has changed.
        """
        self.round.restore(saved)
        self.earlier = []


def shares(round: Round) -> tuple[Fraction, ...]:
    """The share of the win that each seat has if this round has ended its match (R8.3, R8.4); else all 0."""
    if episode_status_in(round.games, 0, True) != TERMINATED:
        return (Fraction(0),) * NUM_SEATS
    scores = [score - lost for score, lost in zip(round.scores, round.lost, strict=True)]
    winners = 2 if round.rules.teams else round.rules.winners  # partners have the same points: two seats win
    won = []
    for score in scores:
        better = sum(other > score for other in scores)
        equal = scores.count(score)
        won.append(Fraction(min(max(winners - better, 0), equal), equal))
    return tuple(won)
