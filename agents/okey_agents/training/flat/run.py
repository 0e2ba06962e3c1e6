"""What the recipes of a flat policy share: the network, its checkpoints, the measurements during the run.

A run is cut into intervals. At the start of each interval the rounds are dealt anew and all random streams begin anew,
from the run's seed and the decisions so far. So an interval depends on nothing but the configuration, the weights and
the optimiser's memory at its start, and a checkpoint holds these. A run that was stopped and resumed therefore ends
with the same weights as one that was not.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn
from torch.utils.tensorboard import SummaryWriter

from okey_agents.bots.flat import FlatBot
from okey_agents.bots.network import Network
from okey_agents.evaluate.arena import evaluate
from okey_agents.training.checkpoint import Checkpoint, save_checkpoint
from okey_agents.training.flat.policy import acting_layers, make_policy, policy_arrays, set_policy_arrays
from okey_agents.training.optimizers import optimizer_arrays, set_optimizer_arrays
from okey_agents.training.runs import CHECKPOINTS, EVALUATION_FILE, as_json, log_event, open_run
from okey_agents.training.schema import Config
from okey_agents.training.sections import (
    CheckpointsConfig,
    EnvConfig,
    EvaluationConfig,
    GameConfig,
    NetworkConfig,
    RunConfig,
)
from okey_env.actions import NUM_ACTIONS
from okey_env.bots import Bot
from okey_env.encoders import as_encoder
from okey_env.files import write_whole
from okey_env.round import derive_seed

PACKAGES = ("torch", "stable-baselines3", "sb3-contrib")
"""The distributions that learn; their versions are written into `run.json`."""
_EVALUATION_STREAM = 2**62
"""The index under the run's seed from which evaluation deals come."""


class FlatRun:
    """A run of a flat policy and its folder; a context manager.

    Args:
        config: the configuration of the run.
        folder: the folder of the run.
        resume: go on from the newest whole checkpoint of the folder.
        console: where progress is shown.
        bot_of: the bot of a policy as it is now; None: of a `MaskableActorCriticPolicy`.
    """

    def __init__(
        self,
        config: Config,
        folder: Path,
        resume: bool,
        console: Console,
        bot_of: Callable[[nn.Module], Bot] | None = None,
    ) -> None:
        self.config = config
        self._bot_of = bot_of or self._flat_bot
        self.folder = folder
        self.console = console
        self.start: Checkpoint | None = open_run(config, folder, resume, self.console, PACKAGES)
        """The checkpoint to resume from; None at the beginning."""
        self._saved = self.start.decisions if self.start is not None else None
        self._writer = SummaryWriter(str(folder / "tensorboard")) if config[RunConfig].tensorboard else None
        torch.set_num_threads(config[RunConfig].threads)

    def make_policy(self) -> MaskableActorCriticPolicy:
        """The network with fresh weights, drawn with the run's seed."""
        torch.manual_seed(self.config[RunConfig].seed % 2**63)
        encoder, network = as_encoder(self.config[EnvConfig].encoder), self.config[NetworkConfig]
        return make_policy(encoder.size, NUM_ACTIONS, network).to(network.device)

    def begin(self, policy: nn.Module, optimizer: torch.optim.Optimizer) -> int:
        """Load the checkpoint into a policy and its optimiser; at the beginning of a run, save and measure them.

        Returns:
            The decisions so far.
        """
        if self.start is None:
            self.keep(0, policy, optimizer)
            return 0
        set_policy_arrays(policy, self.start.named("policy."))
        set_optimizer_arrays(optimizer, self.start.named("optimizer."))
        return self.start.decisions

    def interval_end(self, decisions: int, total: int) -> int:
        """The decisions after which the interval ends that `decisions` lies in, at most `total`."""
        every = self.config[CheckpointsConfig].every
        return min(total, (decisions // every + 1) * every)

    def keep(
        self,
        decisions: int,
        policy: nn.Module,
        optimizer: torch.optim.Optimizer,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Save a checkpoint, and measure the policy if an evaluation is due."""
        self.save(decisions, policy, optimizer, meta)
        measured, every = self.measured(), self.config[EvaluationConfig].every
        if measured is None or (every and decisions // every != measured // every):
            self.measure(decisions, policy)

    def finish(
        self,
        decisions: int,
        policy: nn.Module,
        optimizer: torch.optim.Optimizer,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Save and measure the end of the run, unless that was done."""
        if self._saved != decisions:
            self.save(decisions, policy, optimizer, meta)
        if self.measured() != decisions:
            self.measure(decisions, policy)
        log_event(self.folder, "finished", decisions=decisions)

    def save(
        self,
        decisions: int,
        policy: nn.Module,
        optimizer: torch.optim.Optimizer,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Save a checkpoint."""
        arrays = {f"policy.{name}": array for name, array in policy_arrays(policy).items()}
        arrays |= {f"optimizer.{name}": array for name, array in optimizer_arrays(optimizer).items()}
        checkpoint = Checkpoint(decisions, arrays, meta or {})
        path = save_checkpoint(self.folder / CHECKPOINTS, checkpoint, keep=self.config[RunConfig].keep)
        self._saved = decisions
        log_event(self.folder, "saved", decisions=decisions, file=path.name)

    def measure(self, decisions: int, policy: nn.Module) -> None:
        """Evaluate the policy, by its best moves, against the bots of the configuration."""
        settings = self.config[EvaluationConfig]
        if settings.deals == 0:
            return
        bot = self._bot_of(policy)
        rules, run = self.config[GameConfig].rules, self.config[RunConfig]
        seed = derive_seed(run.seed, _EVALUATION_STREAM)
        scores = []
        for opponent in settings.against:
            report = evaluate(bot, opponent, settings.deals, rules, seed, workers=run.workers)
            score = {
                "against": opponent,
                "deals": settings.deals,
                "seed": seed,
                "points": report.points._asdict(),
                "win_share": report.win_share._asdict(),
                "void_rate": report.void_rate,
            }
            scores.append(score)
            log_event(self.folder, "evaluated", decisions=decisions, **score)
            self._scalars(decisions, {f"against {opponent}": report.points.mean})
            self.console.print(
                f"against {opponent} after {decisions:,} decisions: "
                f"{report.points.mean:+.2f} ± {report.points.margin:.2f} points a round, "
                f"{report.win_share.mean:.1%} ± {report.win_share.margin:.1%} of rounds won",
                highlight=False,
                soft_wrap=True,
            )
        write_whole(self.folder / EVALUATION_FILE, as_json({"decisions": decisions, "scores": scores}))

    def _flat_bot(self, policy: nn.Module) -> Bot:
        network = Network(acting_layers(policy_arrays(policy)))
        return FlatBot("learner", as_encoder(self.config[EnvConfig].encoder), network)

    def log(self, event: str, decisions: int, values: Mapping[str, float]) -> None:
        """Write numbers into the run's log and for TensorBoard."""
        log_event(self.folder, event, decisions=decisions, **values)
        self._scalars(decisions, {f"{event}/{name}": value for name, value in values.items()})

    def measured(self) -> int | None:
        """The decisions at the last measurement; None before the first."""
        path = self.folder / EVALUATION_FILE
        return int(json.loads(path.read_text(encoding="utf-8"))["decisions"]) if path.is_file() else None

    def _scalars(self, decisions: int, values: Mapping[str, float]) -> None:
        if self._writer is not None:
            for name, value in values.items():
                self._writer.add_scalar(name, value, decisions)

    def __enter__(self) -> "FlatRun":
        return self

    def __exit__(self, *error: object) -> None:
        if self._writer is not None:
            self._writer.close()
