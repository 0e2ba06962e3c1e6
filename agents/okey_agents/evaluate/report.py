"""Report: the outcome of an evaluation as numbers, as JSON and as a table."""

import dataclasses
import json
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from okey_agents.evaluate.sprt import Sprt
from okey_agents.evaluate.statistics import CONFIDENCE, Interval

INTERVALS = f"{CONFIDENCE:.0%} intervals, Student's t over the means of each deal"

FINISHES = ("ordinary", "okey", "pairs", "both")
"""Kinds of finishes: by melds, by melds with the okey, by seven pairs, by seven pairs with the okey (R6.1-R6.5)."""


@dataclasses.dataclass(frozen=True)
class Player:
    """How one bot behaved, whatever it won."""

    name: str
    moves: int
    """Actions that it was asked for."""
    ms_a_move: float
    """Milliseconds of wall time a move, games side by side where the bot can."""
    illegal: int
    """Replies that were not legal; each was replaced by a legal action."""
    errors: int
    """Moves at which it raised an exception; replaced likewise."""
    stalled: int
    """Moves at which it did not come back: the time limit was over, or it ended the process; replaced likewise."""
    unasked: int
    """Moves at which it was not asked any more, because it had stalled too often in that chunk of deals."""
    first_error: str
    """The first exception or stall in words; empty if there was none."""

    @property
    def failures(self) -> str:
        """What went wrong, in words; empty if nothing did."""
        counts = {
            "illegal replies": self.illegal,
            "exceptions": self.errors,
            "stalls": self.stalled,
            "moves not asked for after stalls": self.unasked,
        }
        failed = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
        return f"{failed} in {self.moves:,} moves {self.first_error}".strip() if failed else ""


@dataclasses.dataclass(frozen=True)
class Verdict:
    """How a sequential test stands or ended."""

    sprt: Sprt
    log_ratio: float
    """Log-likelihood ratio of the higher mean to the lower."""
    decision: Literal["low", "high"] | None
    """The hypothesis that it accepts; None: the deals ran out before."""

    def __str__(self) -> str:
        sprt = self.sprt
        found = {"low": f"at most {sprt.low:+g}", "high": f"at least {sprt.high:+g}", None: "undecided"}[self.decision]
        rates = f"error rates {sprt.alpha:.0%}, {sprt.beta:.0%}"
        return f"{found} (of {sprt.low:+g} and {sprt.high:+g}, {rates}; log ratio {self.log_ratio:+.2f})"


@dataclasses.dataclass(frozen=True)
class Report:
    """One challenger against three opponents, on the same deals in every seat."""

    challenger: Player
    opponents: tuple[Player, ...]
    """One, which sits on the three other seats, or three in the order of the seats to the challenger's right."""
    rules: str
    deals: int
    rounds: int
    """Four times the deals: the challenger sits in every seat of each."""
    seed: int
    points: Interval
    """Points a round that the challenger won less those that it lost: a bot against itself has 0."""
    win_share: Interval
    """Share of all rounds that the challenger finished: a bot against itself has 1/4 of those that are finished."""
    test: Verdict | None
    """The sequential test, if there was one. It stops on what it sees, so intervals lean away from the middle then."""
    finishes: dict[str, dict[str, float]]
    """For `challenger` and for the three `opponents` together: share of all rounds by kind of finish."""
    void_rate: float
    """Share of rounds that ended void because the stock was used up."""
    truncated_rate: float
    """Share of rounds that ended at the limit of throws."""
    throws: float
    """Throws a round, of all seats."""
    turns: float
    """Turns a round of one seat, in the mean of the four."""
    workers: int
    seconds: float
    made: dict[str, Any]
    """Date, commit, versions and command line."""

    def outcome(self) -> dict[str, Any]:
        """All that depends on the bots, the rules, the deals and the seed alone, and not on the machine."""
        table = self.to_dict()
        for key in ("workers", "seconds", "made"):
            del table[key]
        for player in (table["challenger"], *table["opponents"]):
            del player["ms_a_move"]
        return table

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, as `--json` writes it."""
        table = dataclasses.asdict(self)
        for key in ("points", "win_share"):
            table[key] = getattr(self, key)._asdict()
        table["opponents"] = list(table["opponents"])
        return table | {"intervals": INTERVALS}

    def write_json(self, path: Path) -> None:
        """Write the report to a file."""
        path.write_text(json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def print(self, console: Console) -> None:
        """Print the report as a table."""
        against = ", ".join(player.name for player in self.opponents)
        table = Table(title=f"{self.challenger.name} against {against}", show_header=False, title_justify="left")
        table.add_column()
        table.add_column()
        table.add_row("rules", self.rules)
        table.add_row("rounds", f"{self.rounds:,} ({self.deals:,} deals, every seat), seed {self.seed}")
        table.add_row("points a round", f"{self.points.mean:+.3f} ± {self.points.margin:.3f}")
        if self.test is not None:
            table.add_row("sequential test", str(self.test))
        table.add_row("rounds won", f"{self.win_share.mean:.1%} ± {self.win_share.margin:.1%}")
        for who, shares in self.finishes.items():
            table.add_row(f"finishes, {who}", ", ".join(f"{kind} {share:.1%}" for kind, share in shares.items()))
        table.add_row("void, truncated", f"{self.void_rate:.1%}, {self.truncated_rate:.1%}")
        table.add_row("throws, turns each", f"{self.throws:.1f}, {self.turns:.1f}")
        for player in (self.challenger, *self.opponents):
            table.add_row(f"{player.name}, a move", f"{player.ms_a_move:.4f} ms")
        for player in (self.challenger, *self.opponents):
            if player.failures:
                table.add_row(f"{player.name} failed", player.failures, style="red")
        table.add_row("took", f"{self.seconds:.1f} s with {self.workers} worker{'s' if self.workers > 1 else ''}")
        console.print(table)
        console.print(INTERVALS, style="dim")
