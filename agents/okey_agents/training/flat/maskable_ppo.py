"""Training a flat policy by MaskablePPO, at one seat against bots.

A run first imitates a bot, if its configuration says so, and then learns by MaskablePPO. The intervals of `flat_run`
begin with a rollout.
"""

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

from okey_agents.training.config import TrainConfig
from okey_agents.training.flat.imitation import imitate, make_optimizer, sharpen
from okey_agents.training.flat.policy import policy_kwargs
from okey_agents.training.flat.run import FlatRun
from okey_agents.training.flat.sb3_env import Sb3Env
from okey_agents.training.progress import Stage
from okey_agents.training.runs import log_event
from okey_env.round import derive_seed
from okey_env.vector import OkeyVectorEnv


def train_flat(config: TrainConfig, folder: Path, *, resume: bool = False, console: Console | None = None) -> Path:
    """Train a flat policy by MaskablePPO, or go on with a run; see `train_config`."""
    with FlatRun(config, folder, resume, console) as run:
        model = _make_model(config)
        if run.start is None and config.clone.decisions:
            _imitate(run, model.policy)
        model.num_timesteps = run.begin(model.policy, model.policy.optimizer)
        if run.start is not None:
            model._n_updates = int(run.start.meta.get("updates", 0))  # SB3's count of passes, for its log
        model.set_logger(_logger(config, folder))
        left = config.ppo.decisions - model.num_timesteps
        with Stage("learning", config.ppo.decisions, model.num_timesteps, run.console) as stage:
            if left > 0:
                model.learn(left, _Keeper(run, stage), reset_num_timesteps=False)
        run.finish(*_state(model))
        model.logger.close()
    return folder


def _imitate(run: FlatRun, policy: MaskableActorCriticPolicy) -> None:
    """What comes before PPO."""
    settings = run.config.clone
    with Stage(f"imitating {settings.teacher}", settings.decisions, 0, run.console) as stage:
        imitate(policy, make_optimizer(policy, run.config), 0, settings.decisions, run, stage)
    sharpen(policy, run.config)


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


class _Keeper(BaseCallback):
    """Stands beside PPO: begins each interval, keeps checkpoints, measures, and shows how far it is."""

    def __init__(self, run: FlatRun, stage: Stage) -> None:
        super().__init__()
        self._run = run
        self._stage = stage
        self._interval = -1

    def _on_rollout_start(self) -> None:
        model = self._ppo()
        decisions = model.num_timesteps
        interval = decisions // self._run.config.run.checkpoint_every
        if interval == self._interval:
            return
        if self._interval >= 0:
            self._run.keep(*_state(model))
        self._interval = interval
        seed = derive_seed(self._run.config.run.seed, decisions)
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
        rounds = model.ep_info_buffer or ()
        points = float(np.mean([entry["r"] for entry in rounds])) if rounds else 0.0
        self._stage.update(model.num_timesteps, {"points a round": points})

    def _ppo(self) -> MaskablePPO:
        assert isinstance(self.model, MaskablePPO)
        return self.model


def _state(model: MaskablePPO) -> tuple[int, MaskableActorCriticPolicy, torch.optim.Optimizer, Mapping[str, Any]]:
    """What a checkpoint holds of a run."""
    assert isinstance(model.policy, MaskableActorCriticPolicy)
    return model.num_timesteps, model.policy, model.policy.optimizer, {"updates": model._n_updates}


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
