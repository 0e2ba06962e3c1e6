"""Training a flat policy by MaskablePPO, at one seat against bots; what is in the folder is told in `runs`.

A run first imitates a bot, if its configuration says so, and then learns by MaskablePPO at one seat against
bots. It is cut into intervals. At the start of each, the rounds are dealt anew and all random streams begin anew,
from the run's seed and the decisions so far; so what an interval does depends on nothing but the configuration, the
weights and the optimiser's memory at its start, which is what the checkpoint there holds. A run that was stopped and
taken up again therefore ends with the same weights as one that was not.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat

from okey_env.encoders import as_encoder
from okey_env.round import derive_seed
from okey_env.vector import OkeyVectorEnv

from ..evaluate.arena import evaluate
from .checkpoint import Checkpoint, save_checkpoint, write_whole
from .clone import clone
from .config import TrainConfig
from .learned_bot import LearnedBot
from .network import Network
from .optimizers import optimizer_arrays, set_optimizer_arrays
from .policy import (
    acting_layers,
    policy_arrays,
    policy_kwargs,
    set_policy_arrays,
)
from .progress import Stage
from .runs import CHECKPOINTS, EVALUATION_FILE, as_json, log_event, open_run
from .sb3_env import Sb3Env

PACKAGES = ("torch", "stable-baselines3", "sb3-contrib")
"""What learns, by distribution; its versions are written down with the run."""
_EVALUATION_STREAM = 2**62
"""The index under the run's seed from which evaluation deals come."""


def train_flat(config: TrainConfig, folder: Path, *, resume: bool = False, console: Console | None = None) -> Path:
    """Train a flat policy, or go on with a run.

    Args:
        config: the configuration.
        folder: the folder of the run.
        resume: go on from the newest whole checkpoint of the folder.
        console: where progress is shown; None: stderr.
    """
    console = console or Console(stderr=True)
    start = open_run(config, folder, resume, console, PACKAGES)
    torch.set_num_threads(config.run.threads)
    model = _make_model(config)
    keeper = _Keeper(config, folder, console, start.decisions if start is not None else None)
    if start is None:
        keeper.begin(model)
    else:
        _restore(model, start)
    model.set_logger(_logger(config, folder))
    left = config.ppo.decisions - model.num_timesteps
    with Stage("learning", config.ppo.decisions, model.num_timesteps, console) as keeper.stage:
        if left > 0:
            model.learn(left, keeper, reset_num_timesteps=False)
    keeper.end(model)
    model.logger.close()
    return folder


def _make_model(config: TrainConfig) -> MaskablePPO:
    ppo = config.ppo
    opponents = config.opponents.seats
    env = OkeyVectorEnv(
        config.env.num_envs,
        rules=config.env.rules,
        encoder=config.env.encoder,
        reward=config.env.reward,
        opponents=opponents if len(opponents) > 1 else opponents[0],
    )
    return MaskablePPO(
        MaskableActorCriticPolicy,
        Sb3Env(env, config.env.reward_unit),
        learning_rate=lambda left: ppo.learning_rate_end + (ppo.learning_rate - ppo.learning_rate_end) * left,
        n_steps=ppo.steps,
        batch_size=ppo.minibatch,
        n_epochs=ppo.epochs,
        gamma=ppo.gamma,
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip,
        ent_coef=ppo.entropy,
        vf_coef=ppo.value_weight,
        max_grad_norm=ppo.max_grad_norm,
        target_kl=ppo.target_kl or None,
        stats_window_size=4 * config.env.num_envs,
        policy_kwargs=policy_kwargs(config.network),
        seed=config.run.seed % 2**32,
        device=config.run.device,
    )


def _restore(model: MaskablePPO, checkpoint: Checkpoint) -> None:
    set_policy_arrays(model.policy, checkpoint.named("policy."))
    set_optimizer_arrays(model.policy.optimizer, checkpoint.named("optimizer."))
    model.num_timesteps = checkpoint.decisions
    model._n_updates = int(checkpoint.meta["updates"])  # SB3's count of passes, for its log


class _Keeper(BaseCallback):
    """Stands beside PPO: begins each interval, keeps checkpoints, measures, and shows how far it is."""

    def __init__(self, config: TrainConfig, folder: Path, console: Console, saved: int | None) -> None:
        super().__init__()
        self.stage: Stage | None = None
        self._config = config
        self._folder = folder
        self._console = console
        self._saved = saved  # decisions of the last checkpoint
        self._interval = -1

    def begin(self, model: MaskablePPO) -> None:
        """What comes before PPO: imitation, the first checkpoint and the first measurement."""
        wanted = self._config.clone.decisions
        if wanted:
            with Stage(f"imitating {self._config.clone.teacher}", wanted, 0, self._console) as stage:
                clone(model.policy, self._config, lambda done, values: self._cloned(stage, done, values))
        self._save(model)
        self._measure(model)

    def end(self, model: MaskablePPO) -> None:
        """What comes after PPO: the last checkpoint and the last measurement."""
        if self._saved != model.num_timesteps:
            self._save(model)
        if self._measured() != model.num_timesteps:
            self._measure(model)
        log_event(self._folder, "finished", decisions=model.num_timesteps)

    def _on_rollout_start(self) -> None:
        model = self._ppo()
        decisions = model.num_timesteps
        interval = decisions // self._config.run.checkpoint_every
        if interval == self._interval:
            return
        if self._interval >= 0:
            self._save(model)
            every = self._config.evaluation.every
            if every and decisions // every != (self._measured() or 0) // every:
                self._measure(model)
        self._interval = interval
        seed = derive_seed(self._config.run.seed, decisions)
        torch.manual_seed(seed % 2**63)
        np.random.seed(seed % 2**32)  # noqa: NPY002 (SB3 shuffles minibatches with the global generator)
        env = self.training_env
        env.seed(seed)
        observations = env.reset()
        assert isinstance(observations, np.ndarray)
        model._last_obs = observations
        model._last_episode_starts = np.ones(env.num_envs, np.bool_)

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        model = self._ppo()
        if self.stage is not None:
            rounds = model.ep_info_buffer or ()
            points = float(np.mean([entry["r"] for entry in rounds])) if rounds else 0.0
            self.stage.update(model.num_timesteps, {"points a round": points})

    def _ppo(self) -> MaskablePPO:
        assert isinstance(self.model, MaskablePPO)
        return self.model

    def _cloned(self, stage: Stage, done: int, values: Mapping[str, float]) -> None:
        stage.update(done, values)
        log_event(self._folder, "imitated", decisions=done, **values)

    def _save(self, model: MaskablePPO) -> None:
        arrays = {f"policy.{name}": array for name, array in policy_arrays(model.policy).items()}
        arrays |= {f"optimizer.{name}": array for name, array in optimizer_arrays(model.policy.optimizer).items()}
        checkpoint = Checkpoint(model.num_timesteps, arrays, {"updates": model._n_updates})
        path = save_checkpoint(self._folder / CHECKPOINTS, checkpoint, keep=self._config.run.keep)
        self._saved = model.num_timesteps
        log_event(self._folder, "saved", decisions=model.num_timesteps, file=path.name)

    def _measure(self, model: MaskablePPO) -> None:
        """Play the best moves of the network as it is against the bots of the configuration."""
        settings = self._config.evaluation
        if settings.deals == 0:
            return
        bot = LearnedBot(
            "learner", as_encoder(self._config.env.encoder), Network(acting_layers(policy_arrays(model.policy)))
        )
        seed = derive_seed(self._config.run.seed, _EVALUATION_STREAM)
        scores = []
        for opponent in settings.against:
            report = evaluate(bot, opponent, settings.deals, self._config.env.rules, seed, workers=1)
            score = {
                "against": opponent,
                "deals": settings.deals,
                "seed": seed,
                "points": report.points._asdict(),
                "win_share": report.win_share._asdict(),
                "void_rate": report.void_rate,
            }
            scores.append(score)
            log_event(self._folder, "evaluated", decisions=model.num_timesteps, **score)
            self._console.print(
                f"against {opponent} after {model.num_timesteps:,} decisions: "
                f"{report.points.mean:+.2f} ± {report.points.margin:.2f} points a round, "
                f"{report.win_share.mean:.1%} ± {report.win_share.margin:.1%} of rounds won",
                highlight=False,
                soft_wrap=True,
            )
        write_whole(self._folder / EVALUATION_FILE, as_json({"decisions": model.num_timesteps, "scores": scores}))

    def _measured(self) -> int | None:
        """The decisions at the last measurement."""
        path = self._folder / EVALUATION_FILE
        return int(json.loads(path.read_text(encoding="utf-8"))["decisions"]) if path.is_file() else None


class _JsonLines(KVWriter):
    """SB3's numbers as lines of the run's log."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Append one line."""
        values = {key: value.item() if isinstance(value, np.generic) else value for key, value in key_values.items()}
        log_event(self._folder, "rollout", decisions=step, **values)

    def close(self) -> None:
        """Nothing is held open."""


def _logger(config: TrainConfig, folder: Path) -> Logger:
    writers: list[KVWriter] = [_JsonLines(folder)]
    if config.run.tensorboard:
        writers.append(TensorBoardOutputFormat(str(folder / "tensorboard")))
    return Logger(None, writers)
