"""The match (R8): points go down from round to round until somebody has none left."""

from collections.abc import Sequence
from fractions import Fraction

from .switches import Rules, flag, number, word


class ReferenceMatch:
    """Scores, who starts the next round, when the match is over, and who has won it.

    Args:
        rules: The switches by name; read here are `start_points`, `teams`, `winners` and `rotation`.
        starter: The seat that begins the first round (R2.2: a random one; the caller draws it).

    Attributes:
        scores: One for each seat, or with teams one for each team: seats 0 and 2, seats 1 and 3 (R8.4).
        starter: The seat that begins the next round.
        rounds: Rounds played, void ones included.
    """

    def __init__(self, rules: Rules, starter: int) -> None:
        self.teams = flag(rules, "teams")
        self.rotation = word(rules, "rotation", ("right", "winner"))
        self.places = 1 if self.teams else number(rules, "winners")  # R8.3; of two teams one wins
        self.scores = [number(rules, "start_points")] * (2 if self.teams else 4)  # R8.1
        self.starter = starter
        self.rounds = 0

    @property
    def over(self) -> bool:
        """R8.2: somebody's points are 0 or less. Looked at after each round, so an indicator shown counts as well."""
        return min(self.scores) <= 0

    def end_round(self, lost: Sequence[int], winner: int | None) -> None:
        """Take what each seat has lost in a round off the scores, and pass on the start.

        Raises:
            ValueError: The match is over, or (R8.4) two partners have not lost the same.
        """
        if self.over:
            raise ValueError("the match is over")
        if self.teams and list(lost[:2]) != list(lost[2:]):
            raise ValueError(f"partners lose together, got {list(lost)}")
        # R8.2: points below 0 are kept. R8.4: a team has one score and loses the points once.
        self.scores = [score - lost[side] for side, score in enumerate(self.scores)]
        # R2.2: to the right each round, also after a void one; or to the winner, and if there is none it stays.
        if self.rotation == "right":
            self.starter = (self.starter + 1) % 4
        elif winner is not None:
            self.starter = winner
        self.rounds += 1

    def winners(self) -> list[int]:
        """R8.3: the seats that win, equal scores included; nobody while the match goes on."""
        return [seat for seat, share in enumerate(self.shares()) if share > 0]

    def shares(self) -> list[Fraction]:
        """R8.3: how much of a win each seat has. Equal scores share the winning places that they reach together.

        With 10, 7, 7, -1 points and two winners it is 1, 1/2, 1/2, 0. With teams both partners have their team's share.
        """
        if not self.over:
            return [Fraction(0)] * 4
        shares = []
        for score in self.scores:
            better = sum(other > score for other in self.scores)
            equal = self.scores.count(score)
            places_reached = min(max(self.places - better, 0), equal)
            shares.append(Fraction(places_reached, equal))
        return shares * 2 if self.teams else shares
