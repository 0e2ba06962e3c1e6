"""The arena: one challenger against three opponents, on deals that are the same for everybody.

`evaluate` plays each deal with the challenger in every seat (`chunks`, `runner`), survives bots that misbehave
(`guard`), keeps its state in a file if it is given one (`state_file`), stops early if a sequential test is given
(`sprt`), and reports means with intervals clustered by deal (`statistics`, `report`). Chunks of deals count in their
order, and each result depends on the bots, the rules, the seed and the chunk alone, so the numbers are the same for any
number of processes and interruptions.
"""

import contextlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from okey_agents.evaluate.chunks import ChunkPlayer, ChunkResult, Lineup, Setup, chunks_of
from okey_agents.evaluate.guard.bot_host import MOVE_LIMIT
from okey_agents.evaluate.report import FINISHES, Report, Verdict, bot_report, warn_of_failures
from okey_agents.evaluate.runner import ChunkRunner, Elsewhere, header_of, progress_bar
from okey_agents.evaluate.sprt import Sprt
from okey_agents.evaluate.state_file import StateFile
from okey_agents.evaluate.statistics import clustered_interval
from okey_agents.provenance import provenance
from okey_env.bots import BotSpec
from okey_env.checks import MAX_DEALS, whole_number
from okey_env.engine.state import ENDED_BY_FINISH, ENDED_TRUNCATED, ENDED_VOID
from okey_env.rules import Rules, as_rules
from okey_env.tiles import NUM_SEATS


class Options(TypedDict, total=False):
    """How long a bot may think in an evaluation, and what the evaluation writes and shows."""

    move_limit: float
    """Seconds that a bot has for a move; a slower move is replaced. `MOVE_LIMIT` unless it is given."""
    state: Path | None
    """A file that keeps the evaluation, and from which it continues."""
    records: Path | None
    """A folder to which the record of each round is written."""
    progress: bool
    """Whether to show a progress bar on stderr."""
    elsewhere: Elsewhere | None
    """Plays the deals on other machines, such as a `RayCluster`."""


def evaluate(
    challenger: BotSpec,
    opponents: BotSpec | Sequence[BotSpec],
    deals: int = 1_000,
    rules: str | Rules | Mapping[str, Any] = "gamelake",
    seed: int = 0,
    workers: int | None = None,
    *,
    sprt: Sprt | None = None,
    **options: Unpack[Options],
) -> Report:
    """Play the challenger in every seat of each deal against three opponents.

    Args:
        challenger: any bot that `okey_env.bots.make_bot` knows.
        opponents: one, for all three other seats, or three, from the challenger's right-hand neighbour on.
        deals: how many; each is four rounds. With `sprt`, at most so many.
        rules: what is played.
        seed: settles deals and bots.
        workers: processes, 1: this one. None: this process for compiled bots while that is quicker, and for bots that
            cannot be sent; otherwise as many processes as there are cores and chunks. A bot that hangs in native code
            can be stopped in another process only.
        sprt: a sequential test after each chunk of deals, which may stop the evaluation early.
        options: the keywords of `Options`.

    Raises:
        ValueError: a number is out of its range, a bot cannot be found or sent to another process, or the state file
            belongs to another evaluation.
        BotFailureError: a bot failed at every one of its moves.

    Warns:
        BotWarning: a bot failed at some of its moves.
    """
    state_path, records = options.get("state"), options.get("records")
    records = records.absolute() if records is not None else None  # a bot may change the folder of the process
    deals = whole_number("deals", deals, 2, MAX_DEALS, ", since an interval needs 2")
    specs = (challenger, *opponents_of(opponents))
    setup = Setup(specs, as_rules(rules), seed, options.get("move_limit", MOVE_LIMIT), records=records)
    player = ChunkPlayer(setup)
    lineup: Lineup = (0, 1, 1, 1) if len(specs) == 2 else (0, 1, 2, 3)
    chunks = chunks_of(lineup, deals)
    runner = ChunkRunner(player, chunks, workers, options.get("elsewhere"))
    if records is not None:
        records.mkdir(parents=True, exist_ok=True)
    results: list[ChunkResult] = []
    test = None
    began = time.perf_counter()
    with contextlib.ExitStack() as stack:
        state = stack.enter_context(StateFile(state_path, header_of(setup))) if state_path is not None else None
        running = stack.enter_context(contextlib.closing(runner.results(state)))
        bar = stack.enter_context(progress_bar(options.get("progress", False)))
        task = bar.add_task("deals", total=deals)
        for chunk, result in zip(chunks, running, strict=True):
            results.append(result)
            if sprt is not None:
                ratio = sprt.log_ratio(_means(results))
                test = Verdict(sprt, ratio, sprt.decide(ratio))
                low, high = sprt.bounds
                bar.update(task, description=f"deals, ratio {ratio:+.2f} of {low:.2f} … {high:+.2f}")
            bar.advance(task, chunk.stop - chunk.first)
            if test is not None and test.decision is not None:
                break
    report = _report(player, results, test, runner.workers, time.perf_counter() - began)
    warn_of_failures((report.challenger, *report.opponents))
    return report


def opponents_of(opponents: BotSpec | Sequence[BotSpec]) -> Sequence[BotSpec]:
    """One bot or three, as a sequence.

    Raises:
        ValueError: there are neither one nor three.
    """
    if isinstance(opponents, str) or not isinstance(opponents, Sequence):
        return [opponents]
    if len(opponents) not in (1, NUM_SEATS - 1):
        raise ValueError(f"opponents={opponents!r}: expected one bot, or three: right, opposite, left")
    return opponents


def _means(results: Sequence[ChunkResult]) -> npt.NDArray[np.float64]:
    """`(D,)` the challenger's points a round, averaged over the rounds of each deal."""
    means: npt.NDArray[np.float64] = np.concatenate([one.outcomes["points"][..., 0].mean(axis=1) for one in results])
    return means


def _report(
    player: ChunkPlayer, results: Sequence[ChunkResult], test: Verdict | None, workers: int, seconds: float
) -> Report:
    outcomes = np.concatenate([one.outcomes for one in results])
    bots = [bot_report(name, [one.logs[index] for one in results]) for index, name in enumerate(player.names)]
    won = outcomes["winner"] == 0
    finished = outcomes["ending"] == ENDED_BY_FINISH
    return Report(
        challenger=bots[0],
        opponents=tuple(bots[1:]),
        rules=player.setup.rules.name,
        deals=len(outcomes),
        rounds=outcomes.size,
        seed=player.setup.seed,
        points=clustered_interval(outcomes["points"][..., 0]),
        win_share=clustered_interval(won),
        test=test,
        finishes={
            "challenger": _finish_shares(outcomes["finish"], won),
            "opponents": _finish_shares(outcomes["finish"], finished & ~won),
        },
        void_rate=float(np.mean(outcomes["ending"] == ENDED_VOID)),
        truncated_rate=float(np.mean(outcomes["ending"] == ENDED_TRUNCATED)),
        throws=float(np.mean(outcomes["throws"])),
        turns=float(np.mean(outcomes["throws"] + finished) / NUM_SEATS),
        workers=workers,
        seconds=seconds,
        made=provenance(),
    )


def _finish_shares(kinds: npt.NDArray[np.int8], counted: npt.NDArray[np.bool_]) -> dict[str, float]:
    """For each kind of finish, the share of all rounds that are `counted` and ended with it."""
    return {name: float(np.mean(counted & (kinds == number))) for number, name in enumerate(FINISHES)}
