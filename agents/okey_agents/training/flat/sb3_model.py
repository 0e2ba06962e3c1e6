"""MaskablePPO of sb3-contrib as a run uses it: the model, its checkpoints and its log."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat

from okey_agents.training.flat.maskable_ppo import MaskablePpoConfig
from okey_agents.training.flat.policy import policy_kwargs
from okey_agents.training.flat.run import FlatRun
from okey_agents.training.flat.sb3_env import Sb3Env
from okey_agents.training.progress import ProgressStage
from okey_agents.training.runs import log_event
from okey_agents.training.schema import Config
from okey_agents.training.sections import (
    CheckpointsConfig,
    EnvConfig,
    GameConfig,
    NetworkConfig,
    OpponentsConfig,
    RunConfig,
)
from okey_env.round import derive_seed
from okey_env.vector import OkeyVectorEnv


def make_model(config: Config) -> MaskablePPO:
    """MaskablePPO with fresh weights and its environments, as the configuration says."""
    env, ppo = config[EnvConfig], config[MaskablePpoConfig]
    opponents = config[OpponentsConfig].seats
    games = OkeyVectorEnv(
        env.num_envs,
        rules=config[GameConfig].rules,
        encoder=env.encoder,
        reward=env.reward,
        opponents=opponents if len(opponents) > 1 else opponents[0],
    )
    return MaskablePPO(
        MaskableActorCriticPolicy,
        Sb3Env(games, env.reward_unit),
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
        stats_window_size=4 * env.num_envs,
        policy_kwargs=policy_kwargs(config[NetworkConfig]),
        seed=config[RunConfig].seed % 2**32,
        device=config[NetworkConfig].device,
    )


def make_logger(config: Config, folder: Path) -> Logger:
    """SB3's logger, which writes into the run's log, and for TensorBoard if the configuration says so."""
    writers: list[KVWriter] = [_JsonLines(folder)]
    if config[RunConfig].tensorboard:
        writers.append(TensorBoardOutputFormat(str(folder / "tensorboard")))
    return Logger(None, writers)


def state_of(model: MaskablePPO) -> tuple[int, MaskableActorCriticPolicy, torch.optim.Optimizer, Mapping[str, Any]]:
    """What a checkpoint holds: decisions so far, policy, optimiser, and SB3's count of epochs."""
    assert isinstance(model.policy, MaskableActorCriticPolicy)
    return model.num_timesteps, model.policy, model.policy.optimizer, {"updates": model._n_updates}


class CheckpointCallback(BaseCallback):
    """Begins each interval of a run during PPO: saves a checkpoint, measures, deals anew; and shows the progress.

    Args:
        run: the run.
        stage: where progress is shown.
    """

    def __init__(self, run: FlatRun, stage: ProgressStage) -> None:
        super().__init__()
        self._run = run
        self._stage = stage
        self._interval = -1

    def _on_rollout_start(self) -> None:
        model = self._ppo()
        decisions = model.num_timesteps
        interval = decisions // self._run.config[CheckpointsConfig].every
        if interval == self._interval:
            return
        if self._interval >= 0:
            self._run.keep(*state_of(model))
        self._interval = interval
        seed = derive_seed(self._run.config[RunConfig].seed, decisions)
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


class _JsonLines(KVWriter):
    """Writes SB3's numbers as lines of the run's log."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Append one line."""
        values = {key: value.item() if isinstance(value, np.generic) else value for key, value in key_values.items()}
        log_event(self._folder, "rollout", decisions=step, **values)

    def close(self) -> None:
        """Nothing to close: each line opens the file anew."""
