"""The ladder: all bots against each other, and a rating of each.

* Each bot plays one against three of each other bot: points a round with an interval, as in `arena.evaluate`.
* Each four of the bots play one another (a mixed table), in all orders in turn.

All lineups play the same deals, every deal in all four seatings. The ratings (`ratings`) are fitted to all of them.
"""

import dataclasses
import itertools
import json
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from okey_agents.evaluate.chunks import Chunk, ChunkPlayer, Lineup, Setup, chunks_of
from okey_agents.evaluate.guard.bot_host import BotLog
from okey_agents.evaluate.ratings import LineupWins, rate
from okey_agents.evaluate.report import BotReport, bot_report, warn_of_failures
from okey_agents.evaluate.runner import ChunkRunner, Elsewhere, header_of, progress_bar
from okey_agents.evaluate.state_file import StateFile
from okey_agents.evaluate.statistics import Interval, clustered_interval
from okey_agents.provenance import provenance
from okey_env.bots import BotSpec
from okey_env.checks import MAX_DEALS, whole_number
from okey_env.files import write_whole
from okey_env.rules import Rules, as_rules
from okey_env.tiles import NUM_SEATS

REFERENCE = "greedy"
"""The bot whose rating is 0. If it does not play, the first bot has 0."""


@dataclasses.dataclass(frozen=True)
class Rung:
    """One bot on the ladder."""

    bot: BotReport
    rating: Interval
    """On the Elo scale, on which the reference has 0."""
    mixed_points: Interval | None
    """Points a round at mixed tables, each four of the bots weighing the same; None: there were fewer than four bots.
    """


@dataclasses.dataclass(frozen=True)
class Ladder:
    """Bots by strength, the strongest first, and how each did against three of each other bot."""

    rungs: tuple[Rung, ...]
    points: dict[tuple[str, str], Interval]
    """Points a round by (challenger, opponent)."""
    reference: str
    rules: str
    deals: int
    """Deals of each lineup without a bot of `fewer`."""
    fewer: dict[str, int]
    """Deals of the lineups with these bots."""
    rounds: int
    seed: int
    seconds: float
    made: dict[str, Any]
    """Date, commit, versions and command line."""

    def to_dict(self) -> dict[str, Any]:
        """The ladder as plain data."""
        data = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        data["rungs"] = [
            dataclasses.asdict(rung.bot)
            | {"rating": rung.rating._asdict()}
            | {"mixed_points": rung.mixed_points._asdict() if rung.mixed_points else None}
            for rung in self.rungs
        ]
        data["points"] = [
            {"challenger": challenger, "opponent": opponent} | points._asdict()
            for (challenger, opponent), points in self.points.items()
        ]
        return data

    def write_json(self, path: Path) -> None:
        """Write the ladder to a file."""
        write_whole(path, json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n")


def play_ladder(
    specs: Sequence[BotSpec],
    deals: int = 1_000,
    rules: str | Rules | Mapping[str, Any] = "gamelake",
    seed: int = 0,
    workers: int | None = None,
    *,
    fewer: Mapping[str, int] | None = None,
    state: Path | None = None,
    progress: bool = False,
    elsewhere: Elsewhere | None = None,
) -> Ladder:
    """Play all bots against each other.

    Args:
        specs: the bots, two or more.
        deals: how many each lineup plays; each is four rounds.
        rules: what is played.
        seed: settles deals and bots.
        workers: processes, as in `arena.evaluate`.
        fewer: for slow bots, by name: how many deals the lineups with them play.
        state: a file that keeps the ladder, and from which it continues.
        progress: whether to show a progress bar on stderr.
        elsewhere: plays the deals on other machines, such as a `RayCluster`.

    Raises:
        ValueError: there are fewer than two bots or two of one name, `fewer` names none of them, a number is out of its
            range, or the state file belongs to another ladder.
        BotFailureError: a bot failed at every one of its moves.

    Warns:
        BotWarning: a bot failed at some of its moves.
    """
    fewer = dict(fewer or {})
    setup = Setup(tuple(specs), as_rules(rules), seed)
    player = ChunkPlayer(setup)
    names = [bot.name for bot in player.bots]
    _check(names, deals, fewer)
    chunks = _chunks(names, deals, fewer)
    runner = ChunkRunner(player, chunks, workers, elsewhere)
    outcomes: dict[Lineup, list[tuple[Chunk, npt.NDArray[np.void]]]] = defaultdict(list)
    logs: list[list[BotLog]] = []
    began = time.perf_counter()
    with ExitStack() as stack:
        state_file = stack.enter_context(StateFile(state, header_of(setup))) if state is not None else None
        results = stack.enter_context(closing(runner.results(state_file)))
        bar = stack.enter_context(progress_bar(progress))
        task = bar.add_task("deals", total=sum(chunk.stop - chunk.first for chunk in chunks))
        for chunk, result in zip(chunks, results, strict=True):
            outcomes[chunk.lineup].append((chunk, result.outcomes))
            logs.append(result.logs)
            bar.advance(task, chunk.stop - chunk.first)
    wins, points, mixed = [], {}, defaultdict(list)
    rounds = 0
    for lineup, parts in outcomes.items():
        found = np.concatenate([part for _, part in parts])
        numbers = np.concatenate([np.arange(chunk.first, chunk.stop) for chunk, _ in parts])
        rounds += found.size
        won = (found["winner"][..., None] == np.arange(NUM_SEATS)).sum(axis=1).astype(np.float64)
        wins.append(LineupWins(lineup, numbers, won))
        if len(set(lineup)) == NUM_SEATS:
            means = found["points"].mean(axis=1)
            for index, bot in enumerate(lineup):
                mixed[bot].append((numbers, means[:, index]))
        else:
            points[names[lineup[0]], names[lineup[1]]] = clustered_interval(found["points"][..., 0])
    reference = names.index(REFERENCE) if REFERENCE in names else 0
    ratings = rate(wins, len(names), reference, seed)
    rungs = [
        Rung(
            bot_report(names[bot], [log[bot] for log in logs]),
            ratings[bot],
            _mixed_points(mixed[bot]) if bot in mixed else None,
        )
        for bot in sorted(range(len(names)), key=lambda bot: -ratings[bot].mean)
    ]
    warn_of_failures(rung.bot for rung in rungs)
    return Ladder(
        rungs=tuple(rungs),
        points=points,
        reference=names[reference],
        rules=setup.rules.name,
        deals=deals,
        fewer=fewer,
        rounds=rounds,
        seed=seed,
        seconds=time.perf_counter() - began,
        made=provenance(),
    )


def _check(names: Sequence[str], deals: int, fewer: Mapping[str, int]) -> None:
    """Raise ValueError for bots or numbers of deals that make no ladder."""
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError(f"bots={', '.join(names)}: expected two or more, each once")
    whole_number("deals", deals, 2, MAX_DEALS, note=", since an interval needs 2")
    for name, number in fewer.items():
        if name not in names:
            raise ValueError(f"fewer deals for {name!r}: expected one of the bots {', '.join(names)}")
        whole_number(f"fewer deals for {name!r}", number, 2, deals)


def _chunks(names: Sequence[str], deals: int, fewer: Mapping[str, int]) -> list[Chunk]:
    """All chunks of the ladder, by lineup. Each four bots change their order from chunk to chunk."""
    chunks = []
    for first, second in itertools.permutations(range(len(names)), 2):
        chunks += chunks_of((first, second, second, second), _deals(names, (first, second), deals, fewer))
    for four in itertools.combinations(range(len(names)), NUM_SEATS):
        orders = [(four[0], *rest) for rest in itertools.permutations(four[1:])]
        for number, chunk in enumerate(chunks_of((0, 0, 0, 0), _deals(names, four, deals, fewer))):
            first, second, third, fourth = orders[number % len(orders)]
            chunks.append(chunk._replace(lineup=(first, second, third, fourth)))
    return chunks


def _deals(names: Sequence[str], bots: Sequence[int], deals: int, fewer: Mapping[str, int]) -> int:
    return min([deals, *(fewer[names[bot]] for bot in bots if names[bot] in fewer)])


def _mixed_points(parts: Sequence[tuple[Any, Any]]) -> Interval:
    """One bot's mean points over all rounds at mixed tables, with an interval clustered by deal.

    Args:
        parts: for each lineup the numbers of its deals and the bot's mean points in each. A deal may be in several.
    """
    numbers = np.concatenate([part[0] for part in parts])
    means = np.concatenate([part[1] for part in parts])
    times = np.bincount(numbers)
    totals = np.bincount(numbers, weights=means)
    mean = means.mean()
    # The mean is a ratio of sums over deals. Its error is that of the deals' residuals: how much a deal's total differs
    # from the mean times its number of lineups, divided by the average number of lineups.
    residuals = (totals - mean * times) / times.mean()
    spread = clustered_interval(residuals[times > 0])
    return Interval(float(mean), float(mean) - spread.margin, float(mean) + spread.margin)
