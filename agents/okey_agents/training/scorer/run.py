"""What the two recipes of the candidate scorer share: keeping checkpoints and the best, measuring, logging."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from torch.utils.tensorboard import SummaryWriter

from okey_agents.thinking.rule_weights import EXPERT, RULE_NAME, rule_data, rule_of
from okey_agents.thinking.scorer.choose import NO_SCORER
from okey_agents.training.checkpoint import (
    Checkpoint,
    load_checkpoint,
    save_checkpoint,
    set_aside,
    write_checkpoint,
    write_whole,
)
from okey_agents.training.config import ScorerConfig
from okey_agents.training.runs import CHECKPOINTS, EVALUATION_FILE, as_json, log_event, open_run
from okey_agents.training.scorer.measure import measure_scorer
from okey_env.round import derive_seed
from okey_env.rules import Rules, as_rules

Floats = npt.NDArray[np.float32]

PACKAGES = ("torch",)
BEST_FILE = "best.ckpt"
"""The checkpoint whose measurement has the highest lower end."""
_MEASURE_STREAM = 2**62
_FRESH_STREAM = 2**62 + 1
"""The indices under the run's seed from which the deals of measurements come."""


class ScorerRun:
    """A run of the candidate scorer and its folder; a context manager.

    Args:
        config: the run's.
        folder: its folder.
        resume: go on from what is there.
        console: where progress is shown.
    """

    def __init__(self, config: ScorerConfig, folder: Path, resume: bool, console: Console) -> None:
        checkpoint = open_run(config, folder, resume, console, PACKAGES)
        self.config = config
        self.folder = folder
        self.console = console
        self.rules: Rules = as_rules(config.env.rules)
        self.start = checkpoint or Checkpoint(0, {}, {})
        self.rule = rule_of(self.start.meta.get("rule", rule_data(EXPERT)))
        """The rule as it was when the run began."""
        self._writer = SummaryWriter(str(folder / "tensorboard")) if config.run.tensorboard else None
        self._best = self._best_so_far()

    def save(self, decisions: int, arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Keep a checkpoint; the array `scorer` is the network."""
        checkpoint = Checkpoint(decisions, arrays, {"rule": rule_data(self.rule), **meta})
        path = save_checkpoint(self.folder / CHECKPOINTS, checkpoint, keep=self.config.run.keep)
        log_event(self.folder, "saved", decisions=decisions, file=path.name)

    def measure(self, decisions: int, weights: Floats, *, fresh: bool = False, keep: bool = True) -> None:
        """Measure the scorer against three of the rule; the best so far is kept.

        Args:
            decisions: learned from so far.
            weights: of the scorer.
            fresh: on deals that nothing was chosen by, and the result is the run's.
            keep: whether it may become the best.
        """
        settings = self.config.evaluation
        deals = settings.fresh_deals if fresh else settings.deals
        if deals < 2:
            if keep and not fresh:
                self._keep_best(decisions, weights, {"points": {"low": float(decisions)}})
            return
        seed = derive_seed(self.config.run.seed, _FRESH_STREAM if fresh else _MEASURE_STREAM)
        choice = self.config.choice
        points, wins = measure_scorer(
            self.rule, weights, choice.margin, choice.bonus, self.rules, seed, deals, self.config.run.workers
        )
        score = {
            "against": RULE_NAME,
            "deals": deals,
            "seed": seed,
            "points": points._asdict(),
            "win_share": wins._asdict(),
        }
        log_event(self.folder, "evaluated", decisions=decisions, fresh=fresh, **score)
        self.scalars(decisions, {"points": points.mean, "points_low": points.low, "win_share": wins.mean})
        self.console.print(
            f"against three {RULE_NAME} after {decisions:,} decisions: {points.mean:+.3f} ± {points.margin:.3f} points "
            f"a round, {wins.mean:.2%} ± {wins.margin:.2%} of rounds won" + (" (fresh deals)" if fresh else ""),
            highlight=False,
            soft_wrap=True,
        )
        if fresh:
            write_whole(self.folder / EVALUATION_FILE, as_json({"decisions": decisions, "scores": [score]}))
        elif keep:
            self._keep_best(decisions, weights, score)

    def finish(self) -> None:
        """Measure the best on fresh deals, unless that was done; the result of the run."""
        best = load_checkpoint(self.folder / BEST_FILE)
        path = self.folder / EVALUATION_FILE
        if not path.is_file() or json.loads(path.read_text(encoding="utf-8"))["decisions"] != best.decisions:
            self.measure(best.decisions, best.arrays["scorer"].astype(np.float32), fresh=True)
        log_event(self.folder, "finished", best=best.decisions)

    def log(self, event: str, decisions: int, values: Mapping[str, float]) -> None:
        """A line of the run's log, and the same for TensorBoard."""
        log_event(self.folder, event, decisions=decisions, **values)
        self.scalars(decisions, {f"{event}/{name}": value for name, value in values.items()})

    def scalars(self, decisions: int, values: Mapping[str, float]) -> None:
        """Numbers for TensorBoard."""
        if self._writer is not None:
            for name, value in values.items():
                self._writer.add_scalar(name, value, decisions)

    def _best_so_far(self) -> float:
        """The lower end of the best measurement. If the best is damaged, the newest checkpoint stands in for it."""
        path = self.folder / BEST_FILE
        if not path.is_file():
            return -np.inf
        try:
            return float(load_checkpoint(path).meta["score"]["points"]["low"])
        except ValueError as error:
            set_aside(path)
            instead = (
                "" if "scorer" not in self.start.arrays else f": decision {self.start.decisions:,} stands in for it"
            )
            self.console.print(f"passed over: {error}{instead}", style="yellow", highlight=False, soft_wrap=True)
            log_event(self.folder, "best_lost", reason=str(error))
            self._best = -np.inf
            weights = np.asarray(self.start.arrays.get("scorer", NO_SCORER), np.float32)
            if len(weights):
                self.measure(self.start.decisions, weights)
            return self._best

    def _keep_best(self, decisions: int, weights: Floats, score: Mapping[str, Any]) -> None:
        if score["points"]["low"] > self._best:
            self._best = score["points"]["low"]
            meta = {"rule": rule_data(self.rule), "score": score}
            write_checkpoint(self.folder / BEST_FILE, Checkpoint(decisions, {"scorer": weights}, meta))

    def __enter__(self) -> "ScorerRun":
        return self

    def __exit__(self, *error: object) -> None:
        if self._writer is not None:
            self._writer.close()
