"""The report of an evaluation: numbers, to be written as JSON or printed."""

import dataclasses
import io
import itertools
import json
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from okey_agents.console import PlainConsole, one_line
from okey_agents.errors import BotWarning
from okey_agents.evaluate.guard.bot_host import BotLog
from okey_agents.evaluate.sprt import Sprt
from okey_agents.evaluate.statistics import CONFIDENCE, Interval
from okey_env.files import write_whole

INTERVALS = f"{CONFIDENCE:.0%} intervals, Student's t over the means of each deal"

FINISHES = ("ordinary", "okey", "pairs", "both")
"""Kinds of finishes: by melds, by melds with the okey, by seven pairs, by seven pairs with the okey (R6.1-R6.5)."""


@dataclasses.dataclass(frozen=True)
class BotReport:
    """How one bot behaved, apart from its results."""

    name: str
    moves: int
    """Moves it had to make, those at which it was not asked included."""
    ms_a_move: float
    """Milliseconds of wall time a move; many games are asked for at once if the bot can do that."""
    illegal: int
    """Replies that were not legal; each was replaced by a legal action."""
    errors: int
    """Moves at which it raised an exception; each was replaced by a legal action."""
    stalled: int
    """Moves at which it ran out of time or ended the process; each was replaced by a legal action."""
    unasked: int
    """Moves at which it was not asked, because it had stalled too often in that chunk of deals."""
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
        return f"{failed} in {self.moves:,} moves: {self.first_error}".removesuffix(": ") if failed else ""


def warn_of_failures(bots: Iterable[BotReport]) -> None:
    """Warn of each bot that failed; the caller's caller is named as the place."""
    for bot in bots:
        if bot.failures:
            text = f"{bot.name} failed, and legal actions stand in for its moves: {bot.failures}"
            warnings.warn(text, BotWarning, stacklevel=3)


def names_apart(names: Sequence[str]) -> list[str]:
    """Names that are all different and take one line: the second of one name has (2) after it."""
    given = [one_line(name) for name in names]
    apart: list[str] = []
    for name in given:
        numbered = (f"{name} ({number})" for number in itertools.count(2))
        taken = {*apart, *given}  # a bot may be called "greedy (2)"
        apart.append(name if name not in apart else next(one for one in numbered if one not in taken))
    return apart


def bot_report(name: str, logs: Sequence[BotLog]) -> BotReport:
    """How one bot behaved in all chunks together."""
    moves = sum(log.moves for log in logs)
    return BotReport(
        name=name,
        moves=moves,
        ms_a_move=1_000 * sum(log.seconds for log in logs) / max(moves, 1),
        illegal=sum(log.illegal for log in logs),
        errors=sum(log.errors for log in logs),
        stalled=sum(log.stalled for log in logs),
        unasked=sum(log.unasked for log in logs),
        first_error=next((log.first_error for log in logs if log.first_error), ""),
    )


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Where a sequential test stands."""

    sprt: Sprt
    log_ratio: float
    """Log-likelihood ratio of the higher mean to the lower."""
    decision: Literal["low", "high"] | None
    """The hypothesis that it accepts; None: undecided, since the deals ran out first."""

    def __str__(self) -> str:
        sprt = self.sprt
        found = {"low": f"at most {sprt.low:+g}", "high": f"at least {sprt.high:+g}", None: "undecided"}[self.decision]
        rates = f"error rates {sprt.alpha:.0%}, {sprt.beta:.0%}"
        return f"{found} (of {sprt.low:+g} and {sprt.high:+g}, {rates}; log ratio {self.log_ratio:+.2f})"


@dataclasses.dataclass(frozen=True)
class Report:
    """One challenger against three opponents, on the same deals in every seat."""

    challenger: BotReport
    opponents: tuple[BotReport, ...]
    """One, which holds the three other seats, or three, from the challenger's right-hand neighbour on."""
    rules: str
    deals: int
    rounds: int
    """Four times the deals: the challenger sits in every seat of each."""
    seed: int
    points: Interval
    """Points a round that the challenger won, less those that it lost: a bot against itself has 0."""
    win_share: Interval
    """Share of all rounds that the challenger finished: a bot against itself has 1/4 of those that are finished."""
    test: Verdict | None
    """The sequential test, if there was one. It stops on what it observes, so the means are biased away from the
    middle of its two hypotheses."""
    finishes: dict[str, dict[str, float]]
    """For `challenger` and for the three `opponents` together: share of all rounds by kind of finish."""
    void_rate: float
    """Share of rounds that ended void because the stock was used up."""
    truncated_rate: float
    """Share of rounds that ended at the limit of throws."""
    throws: float
    """Throws a round, of all seats together."""
    turns: float
    """Turns a round of one seat, averaged over the four."""
    workers: int
    seconds: float
    made: dict[str, Any]
    """Date, commit, versions and command line."""

    def outcome(self) -> dict[str, Any]:
        """The part of `to_dict` that depends on bots, rules, deals and seed alone, and not on the machine."""
        data = self.to_dict()
        for key in ("workers", "seconds", "made"):
            del data[key]
        for bot in (data["challenger"], *data["opponents"]):
            del bot["ms_a_move"]
        return data

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, as `--json` writes it."""
        data = dataclasses.asdict(self)
        for key in ("points", "win_share"):
            data[key] = getattr(self, key)._asdict()
        data["opponents"] = list(data["opponents"])
        return data | {"intervals": INTERVALS}

    def write_json(self, path: Path) -> None:
        """Write the report to a file."""
        write_whole(path, json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n")

    def __str__(self) -> str:
        """What `print` shows, as plain text."""
        console = PlainConsole(file=io.StringIO(), width=100, color_system=None)
        self.print(console)
        file = console.file
        assert isinstance(file, io.StringIO)
        return file.getvalue().rstrip()

    def print(self, console: Console) -> None:
        """Print the report, and before it which bots failed."""
        for bot in (self.challenger, *self.opponents):
            if bot.failures:
                console.print(f"{bot.name} failed: {bot.failures}", style="bold red")
        against = ", ".join(bot.name for bot in self.opponents)
        grid = Table(title=f"{self.challenger.name} against {against}", show_header=False, title_justify="left")
        grid.add_column()
        grid.add_column()
        grid.add_row("rules", self.rules)
        grid.add_row("rounds", f"{self.rounds:,} ({self.deals:,} deals, every seat), seed {self.seed}")
        grid.add_row("points a round", f"{self.points.mean:+.3f} ± {self.points.margin:.3f}")
        if self.test is not None:
            grid.add_row("sequential test", str(self.test))
        grid.add_row("rounds won", f"{self.win_share.mean:.1%} ± {self.win_share.margin:.1%}")
        for who, shares in self.finishes.items():
            grid.add_row(f"finishes, {who}", ", ".join(f"{kind} {share:.1%}" for kind, share in shares.items()))
        grid.add_row("void, truncated", f"{self.void_rate:.1%}, {self.truncated_rate:.1%}")
        grid.add_row("throws, turns each", f"{self.throws:.1f}, {self.turns:.1f}")
        for bot in (self.challenger, *self.opponents):
            grid.add_row(f"{bot.name}, a move", f"{bot.ms_a_move:.4f} ms")
        grid.add_row("took", f"{self.seconds:.1f} s with {self.workers} worker{'s' if self.workers > 1 else ''}")
        console.print(grid)
        console.print(INTERVALS, style="dim")
