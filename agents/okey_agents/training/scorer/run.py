"""What the recipes of the candidate scorer share: checkpoints and the best of them, measurements, the log."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from torch.utils.tensorboard import SummaryWriter

from okey_agents.thinking.rule_weights import EXPERT, RULE_NAME, rule_data, rule_of
from okey_agents.thinking.scorer.choose import NO_SCORER, Policy
from okey_agents.training.checkpoint import (
    Checkpoint,
    load_checkpoint,
    save_checkpoint,
    set_aside,
    write_checkpoint,
)
from okey_agents.training.runs import CHECKPOINTS, EVALUATION_FILE, as_json, log_event, open_run
from okey_agents.training.schema import Config
from okey_agents.training.scorer.measure import measure_scorer
from okey_agents.training.sections import ChoiceConfig, DuelConfig, GameConfig, RunConfig
from okey_env.files import write_whole
from okey_env.round import derive_seed
from okey_env.rules import Rules, as_rules

Floats = npt.NDArray[np.float32]

PACKAGES = ("torch",)
BEST_FILE = "best.ckpt"
"""The checkpoint whose interval of points has the highest lower end."""
_MEASURE_STREAM = 2**62
_FRESH_STREAM = 2**62 + 1
"""The indices under the run's seed from which the seeds of measurements are derived."""


class ScorerRun:
    """A run of the candidate scorer and its folder; a context manager.

    Args:
        config: the configuration of the run.
        folder: the folder of the run.
        resume: go on from the newest whole checkpoint of the folder.
        console: where progress is shown.
    """

    def __init__(self, config: Config, folder: Path, resume: bool, console: Console) -> None:
        torch.set_num_threads(config[RunConfig].threads)
        checkpoint = open_run(config, folder, resume, console, PACKAGES)
        self.config = config
        self.folder = folder
        self.console = console
        self.rules: Rules = as_rules(config[GameConfig].rules)
        self.start = checkpoint or Checkpoint(0, {}, {})
        self.rule = rule_of(self.start.meta.get("rule", rule_data(EXPERT)))
        """The rule as it was when the run began."""
        self._writer = SummaryWriter(str(folder / "tensorboard")) if config[RunConfig].tensorboard else None
        self._best = self._best_so_far()

    def save(self, decisions: int, arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Save a checkpoint; the array `scorer` is the network."""
        checkpoint = Checkpoint(decisions, arrays, {"rule": rule_data(self.rule), **meta})
        path = save_checkpoint(self.folder / CHECKPOINTS, checkpoint, keep=self.config[RunConfig].keep)
        log_event(self.folder, "saved", decisions=decisions, file=path.name)

    def measure(self, decisions: int, weights: Floats, *, fresh: bool = False, keep: bool = True) -> None:
        """Measure the scorer against three of the rule, and keep it if it is the best so far.

        Args:
            decisions: learned from so far.
            weights: `(W,)` of the scorer.
            fresh: measure on deals on which no choice was based; this is the result of the run.
            keep: whether the scorer may become the best.
        """
        settings, run = self.config[DuelConfig], self.config[RunConfig]
        deals = settings.fresh_deals if fresh else settings.deals
        if deals < 2:
            if keep and not fresh:
                self._keep_best(decisions, weights, {"points": {"low": float(decisions)}})
            return
        seed = derive_seed(run.seed, _FRESH_STREAM if fresh else _MEASURE_STREAM)
        choice = self.config[ChoiceConfig]
        scorer = Policy(self.rule, weights, np.float32(choice.margin), np.float32(choice.bonus))
        points, wins = measure_scorer(scorer, self.rules, seed, deals, run.workers)
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
        """Measure the best scorer on fresh deals, unless that was done; this is the result of the run."""
        best = load_checkpoint(self.folder / BEST_FILE)
        path = self.folder / EVALUATION_FILE
        if not path.is_file() or json.loads(path.read_text(encoding="utf-8"))["decisions"] != best.decisions:
            self.measure(best.decisions, best.arrays["scorer"].astype(np.float32), fresh=True)
        log_event(self.folder, "finished", best=best.decisions)

    def log(self, event: str, decisions: int, values: Mapping[str, float]) -> None:
        """Write numbers into the run's log and for TensorBoard."""
        log_event(self.folder, event, decisions=decisions, **values)
        self.scalars(decisions, {f"{event}/{name}": value for name, value in values.items()})

    def scalars(self, decisions: int, values: Mapping[str, float]) -> None:
        """Write numbers for TensorBoard."""
        if self._writer is not None:
            for name, value in values.items():
                self._writer.add_scalar(name, value, decisions)

    def _best_so_far(self) -> float:
        """The lower end of the best measurement; if that checkpoint is damaged, the newest one is measured instead."""
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
