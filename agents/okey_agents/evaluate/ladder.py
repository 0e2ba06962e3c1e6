"""The ladder: bots against each other, one against three and at mixed tables, and a rating of each.

* Each bot against three of each other one: points a round with an interval, as `arena.evaluate` has them.
* Each four of the bots at one table, in all orders in turn.

All lineups play the same deals, every deal in all four seatings. The rating (`ratings`) is fitted to all of them.
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

from okey_agents.evaluate.arena import Playing, header_of, player_of, progress_bar
from okey_agents.evaluate.guard.asking import MOVE_LIMIT, Log
from okey_agents.evaluate.ratings import Wins, rate
from okey_agents.evaluate.report import Player
from okey_agents.evaluate.saved import Saved
from okey_agents.evaluate.statistics import Interval, clustered_interval
from okey_agents.evaluate.tables import Chunk, Tables, chunks_of
from okey_agents.provenance import provenance
from okey_env.bots import BotSpec
from okey_env.rules import Rules, as_rules
from okey_env.tiles import NUM_SEATS

REFERENCE = "greedy"
"""The bot whose rating is 0, if it is there; otherwise the first one."""


@dataclasses.dataclass(frozen=True)
class Rung:
    """One bot on the ladder."""

    player: Player
    rating: Interval
    """On the scale of Elo, from the reference."""
    mixed_points: Interval | None
    """Points a round at tables of four different bots, each four alike; None: there were fewer than four bots."""


@dataclasses.dataclass(frozen=True)
class Ladder:
    """Bots by strength, the strongest first, and how each did against three of each other one."""

    rungs: tuple[Rung, ...]
    points: dict[tuple[str, str], Interval]
    """Points a round by (challenger, opponent)."""
    reference: str
    rules: str
    deals: int
    """Of each lineup, but for those that `fewer` names."""
    fewer: dict[str, int]
    """Deals of the lineups with these bots."""
    rounds: int
    seed: int
    seconds: float
    made: dict[str, Any]
    """Date, commit, versions and command line."""

    def to_dict(self) -> dict[str, Any]:
        """The ladder as plain data."""
        table = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        table["rungs"] = [
            dataclasses.asdict(rung.player)
            | {"rating": rung.rating._asdict()}
            | {"mixed_points": rung.mixed_points._asdict() if rung.mixed_points else None}
            for rung in self.rungs
        ]
        table["points"] = [
            {"challenger": challenger, "opponent": opponent} | points._asdict()
            for (challenger, opponent), points in self.points.items()
        ]
        return table

    def write_json(self, path: Path) -> None:
        """Write the ladder to a file."""
        path.write_text(json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def climb(
    specs: Sequence[BotSpec],
    deals: int = 1_000,
    rules: str | Rules | Mapping[str, Any] = "gamelake",
    seed: int = 0,
    workers: int | None = None,
    *,
    fewer: Mapping[str, int] | None = None,
    state: Path | None = None,
    move_limit: float = MOVE_LIMIT,
    progress: bool = False,
) -> Ladder:
    """Play all bots against each other.

    Args:
        specs: the bots, two or more.
        deals: how many each lineup plays; each is four rounds.
        rules: what is played.
        seed: settles deals and bots.
        workers: processes; as for `arena.evaluate`.
        fewer: for slow bots by name: how many deals the lineups with them play.
        state: a file in which the ladder is kept, and from which it goes on.
        move_limit: seconds a move.
        progress: show a progress bar on stderr.

    Raises:
        ValueError: there are fewer than two bots or two of one name, `fewer` names none of them, a number is out of its
            range, or the state file is of another ladder.
    """
    fewer = dict(fewer or {})
    tables = Tables(specs, as_rules(rules), seed, move_limit)
    names = [bot.name for bot in tables.bots]
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError(f"bots={', '.join(names)}: expected two or more, each once")
    if deals < 2:
        raise ValueError(f"deals={deals} is out of range: an interval needs at least 2")
    for name, number in fewer.items():
        if name not in names:
            raise ValueError(f"fewer deals for {name!r}: it is none of the bots {', '.join(names)}")
        if not 2 <= number <= deals:
            raise ValueError(f"fewer deals, {number} for {name!r}, is out of range: expected 2 to {deals}")
    chunks = _chunks(names, deals, fewer)
    outcomes = defaultdict(list)
    logs: list[list[Log]] = []
    began = time.perf_counter()
    with ExitStack() as stack:
        saved = stack.enter_context(Saved(state, header_of(tables, specs))) if state is not None else None
        results = stack.enter_context(closing(Playing(tables, chunks, workers, saved).results()))
        bar = stack.enter_context(progress_bar(progress))
        task = bar.add_task("deals", total=sum(chunk.stop - chunk.first for chunk in chunks))
        for chunk, played in zip(chunks, results, strict=True):
            outcomes[chunk.lineup].append((chunk, played.outcomes))
            logs.append(played.logs)
            bar.advance(task, chunk.stop - chunk.first)
    wins, points, mixed = [], {}, defaultdict(list)
    rounds = 0
    for lineup, parts in outcomes.items():
        found = np.concatenate([part for _, part in parts])
        numbers = np.concatenate([np.arange(chunk.first, chunk.stop) for chunk, _ in parts])
        rounds += found.size
        won = (found["winner"][..., None] == np.arange(NUM_SEATS)).sum(axis=1).astype(np.float64)
        wins.append(Wins(lineup, numbers, won))
        if len(set(lineup)) == NUM_SEATS:
            means = found["points"].mean(axis=1)
            for place, bot in enumerate(lineup):
                mixed[bot].append((numbers, means[:, place]))
        else:
            points[names[lineup[0]], names[lineup[1]]] = clustered_interval(found["points"][..., 0])
    reference = names.index(REFERENCE) if REFERENCE in names else 0
    ratings = rate(wins, len(names), reference, seed)
    rungs = [
        Rung(
            player_of(names[bot], [log[bot] for log in logs]),
            ratings[bot],
            _mixed_points(mixed[bot]) if bot in mixed else None,
        )
        for bot in sorted(range(len(names)), key=lambda bot: -ratings[bot].mean)
    ]
    return Ladder(
        rungs=tuple(rungs),
        points=points,
        reference=names[reference],
        rules=tables.rules.name,
        deals=deals,
        fewer=fewer,
        rounds=rounds,
        seed=seed,
        seconds=time.perf_counter() - began,
        made=provenance(),
    )


def _chunks(names: Sequence[str], deals: int, fewer: Mapping[str, int]) -> list[Chunk]:
    """What is played, one lineup after the other; the orders of a mixed table change from chunk to chunk."""
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
    """Mean points over all rounds, the interval clustered by deal: a deal is met at several tables."""
    numbers = np.concatenate([part[0] for part in parts])
    means = np.concatenate([part[1] for part in parts])
    times = np.bincount(numbers)
    totals = np.bincount(numbers, weights=means)
    mean = means.mean()
    # a ratio of sums over deals; its error as if each deal gave the rest of its total over the mean number of tables
    rest = (totals - mean * times) / times.mean()
    spread = clustered_interval(rest[times > 0])
    return Interval(float(mean), float(mean) - spread.margin, float(mean) + spread.margin)
