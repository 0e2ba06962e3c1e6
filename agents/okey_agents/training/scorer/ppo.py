"""Self-play PPO for the candidate scorer (Schulman and others, 2017), from a soft clone of the rule.

All four seats of every game are played by the policy, by the rule or by a past self; the policy's decisions are filed
(`self_play`) with advantages from a critic that sees all racks. The critic is the value network, which goes on
learning. There is no reward shaping by distance: a potential that the critic can see cancels out of the
advantages. There is no turning of samples by the symmetries of the tiles: the features are the same under all of them.

The next batch is played on other threads, by the policy as it was, while this one is learned from; at each checkpoint
the two wait for each other, so that a run taken up there goes on as if it had never stopped.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from torch import nn

from okey_agents.thinking.value import value_for
from okey_agents.training.config import ScorerConfig
from okey_agents.training.fits.value import make_value_module, set_value_weights, value_weights
from okey_agents.training.optimizers import optimizer_arrays, set_optimizer_arrays
from okey_agents.training.progress import Stage
from okey_agents.training.scorer.net import Batch, Batches, ScorerNet, Scores, fit_scorer, soft_label_loss
from okey_agents.training.scorer.rollouts import Rollout, play_rollout
from okey_agents.training.scorer.run import ScorerRun
from okey_agents.training.scorer.soft_clone import rated_decisions
from okey_env.round import derive_seed

Floats = npt.NDArray[np.float32]

_PARTS = 8
"""Stretches of rounds that a batch is played in."""
_CLONE_STREAM = 2**60
_PLAY_STREAM = 2**60 + 1
"""The indices under the run's seed from which the rule's rounds and those of self-play are dealt."""


class Losses(NamedTuple):
    """The parts of PPO's loss for a batch."""

    policy: torch.Tensor
    entropy: torch.Tensor
    from_clone: torch.Tensor
    """Divergence from the clone."""
    moved: torch.Tensor
    """Divergence from the policy that played, about."""


def train_ppo(config: ScorerConfig, folder: Path, *, resume: bool = False, console: Console | None = None) -> Path:
    """Train a scorer by PPO, or go on with a run; see `training.train.train_config`."""
    console = console or Console(stderr=True)
    torch.set_num_threads(config.run.threads)
    settings = config.ppo
    with ScorerRun(config, folder, resume, console) as run, ThreadPoolExecutor(config.run.workers) as players:
        policy, clone, critic = ScorerNet(), ScorerNet(), make_value_module()
        policy_optimizer = torch.optim.Adam(policy.parameters(), lr=settings.learning_rate, eps=1e-5, fused=True)
        critic_optimizer = torch.optim.Adam(critic.parameters(), lr=settings.critic_rate, eps=1e-5, fused=True)
        first = int(run.start.meta.get("updates", 0))
        decisions = run.start.decisions
        if run.start.meta:
            policy.set_weights(run.start.arrays["scorer"])
            clone.set_weights(run.start.arrays["clone"])
            set_value_weights(critic, run.start.arrays["critic"])
            set_optimizer_arrays(policy_optimizer, run.start.named("policy_optimizer."))
            set_optimizer_arrays(critic_optimizer, run.start.named("critic_optimizer."))
        else:
            _fit_clone(run, clone, config)
            policy.set_weights(clone.weights())
            set_value_weights(critic, value_for(run.rules))
            run.measure(0, policy.weights())

        def keep(updates: int) -> None:
            arrays = {"scorer": policy.weights(), "clone": clone.weights(), "critic": value_weights(critic)}
            for name, optimizer in (("policy", policy_optimizer), ("critic", critic_optimizer)):
                arrays |= {f"{name}_optimizer.{key}": array for key, array in optimizer_arrays(optimizer).items()}
            run.save(decisions, arrays, {"updates": updates})

        if not run.start.meta:
            keep(0)
        past = policy.weights()
        ahead: list[Future[Rollout]] = []
        with Stage("learning", settings.updates, first, console, "updates", decisions) as stage:
            for update in range(first, settings.updates):
                futures = ahead or _play(run, players, config, update, policy.weights(), past, value_weights(critic))
                rollout = Rollout.join([future.result() for future in futures])
                done = update + 1
                pause = done % config.run.checkpoint_every == 0 or done == settings.updates
                ahead = (
                    [] if pause else _play(run, players, config, done, policy.weights(), past, value_weights(critic))
                )
                left = 1 - update / settings.updates
                for optimizer, rate in (
                    (policy_optimizer, settings.learning_rate),
                    (critic_optimizer, settings.critic_rate),
                ):
                    for group in optimizer.param_groups:
                        group["lr"] = rate * left
                generator = np.random.default_rng(derive_seed(config.run.seed, update))
                values = learn_policy(
                    policy, clone, policy_optimizer, rollout, config, update, generator
                ) | learn_critic(critic, critic_optimizer, rollout, config, generator)
                decisions += len(rollout.decisions)
                run.log("updated", decisions, values)
                stage.update(done, {"entropy": values["entropy"], "moved": values["moved"]}, decisions)
                if done % config.evaluation.every == 0 or done == settings.updates:
                    run.measure(decisions, policy.weights())
                if pause:
                    keep(done)
                    past = policy.weights()
        run.finish()
    return folder


def learn_policy(
    policy: ScorerNet,
    clone: ScorerNet,
    optimizer: torch.optim.Optimizer,
    rollout: Rollout,
    config: ScorerConfig,
    update: int,
    generator: np.random.Generator,
) -> dict[str, float]:
    """The policy's passes over a batch, in place; the means of what the loss is made of."""
    settings = config.ppo
    batches = Batches(rollout.decisions, rollout.scores)
    scale = max(float(rollout.advantages.std()), 1e-6)
    left = 1 - update / settings.updates
    keep_to_clone = settings.keep_to_clone * 0.5 ** (update / settings.clone_half_life)
    sums = np.zeros(len(Losses._fields))
    steps = 0
    for _ in range(settings.epochs):
        for chosen in _minibatches(len(rollout.decisions), settings.minibatch, generator):
            batch = batches.take(chosen)
            losses = ppo_losses(
                batch.scores(policy),
                batch,
                clone_scores(clone, batch),
                torch.from_numpy(rollout.chosen[chosen]),
                torch.from_numpy(rollout.advantages[chosen]),
                scale,
                settings.clip,
            )
            loss = losses.policy - settings.entropy * left * losses.entropy + keep_to_clone * losses.from_clone
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(policy.parameters(), settings.max_grad_norm)
            optimizer.step()
            sums += [part.item() for part in losses]
            steps += 1
    return dict(zip(Losses._fields, (sums / steps).tolist(), strict=True))


def learn_critic(
    critic: nn.Sequential,
    optimizer: torch.optim.Optimizer,
    rollout: Rollout,
    config: ScorerConfig,
    generator: np.random.Generator,
) -> dict[str, float]:
    """The critic's pass over a batch, in place: the points that the rest of each round paid all four seats."""
    errors = []
    for chosen in _minibatches(len(rollout.decisions), config.ppo.minibatch, generator):
        values = critic(torch.from_numpy(rollout.critic_inputs[chosen]))
        values = values - values.mean(dim=1, keepdim=True)
        loss = (values - torch.from_numpy(rollout.to_come[chosen])).square().mean()
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        errors.append(loss.item())
    return {"explained": 1 - float(np.mean(errors)) / float(rollout.to_come.var())}


def masked_log_softmax(scores: Scores) -> torch.Tensor:
    """Log-probabilities `(B, C)` of the candidates there are; 0 where there is none."""
    return torch.where(scores.there, scores.padded.log_softmax(dim=1), 0.0)


def clone_scores(clone: ScorerNet, batch: Batch) -> Scores:
    """The clone's scores, which are not learned."""
    with torch.no_grad():
        return batch.scores(clone)


def ppo_losses(
    scores: Scores,
    batch: Batch,
    clone: Scores,
    chosen: torch.Tensor,
    advantages: torch.Tensor,
    scale: float,
    clip: float,
) -> Losses:
    """The parts of the loss.

    Args:
        scores: of the policy as it is.
        batch: the decisions; `batch.extra` are the scores of the policy that played, `batch.labels` the points after
            each candidate where all were tried, else NaN.
        clone: the clone's scores.
        chosen: `(B,)` places of the moves made.
        advantages: `(B,)` of them, in points.
        scale: what advantages are divided by.
        clip: how far the ratio of new and old probability may move.
    """
    there = scores.there
    log_probs = masked_log_softmax(scores)
    old = masked_log_softmax(Scores(torch.where(there, batch.extra, -torch.inf), there))
    ratio = (log_probs - old).exp()
    made = torch.zeros_like(old).scatter(1, chosen[:, None], 1.0)
    old_probs = torch.where(there, old.exp(), 0.0)
    tried = ~batch.labels[:, :1].isnan()
    points = torch.where(there & tried, batch.labels, 0.0)
    by_label = points - (old_probs * points).sum(dim=1, keepdim=True)
    # Where all candidates were tried, each counts by the chance that it had; elsewhere the move made counts alone.
    share = torch.where(tried, old_probs, made)
    worth = torch.where(tried, by_label, advantages[:, None]) / scale
    gain = torch.minimum(ratio * worth, ratio.clamp(1 - clip, 1 + clip) * worth)
    probs = torch.where(there, log_probs.exp(), 0.0)
    return Losses(
        policy=-(share * gain).sum(dim=1).mean(),
        entropy=-(probs * log_probs).sum(dim=1).mean(),
        from_clone=(probs * (log_probs - masked_log_softmax(clone))).sum(dim=1).mean(),
        moved=(old_probs * (old - log_probs)).sum(dim=1).mean(),
    )


def _minibatches(size: int, minibatch: int, generator: np.random.Generator) -> list[npt.NDArray[np.int64]]:
    """All indices in a random order, in parts of about `minibatch`."""
    return np.array_split(generator.permutation(size), max(1, round(size / minibatch)))


def _play(
    run: ScorerRun,
    players: ThreadPoolExecutor,
    config: ScorerConfig,
    update: int,
    weights: Floats,
    past: Floats,
    critic: Floats,
) -> list[Future[Rollout]]:
    """The rounds of an update, begun on other threads, in parts that do not depend on their number."""
    settings = config.ppo
    seed = derive_seed(derive_seed(config.run.seed, _PLAY_STREAM), update)
    return [
        players.submit(
            play_rollout,
            run.rules,
            run.rule,
            weights,
            past,
            critic,
            value_for(run.rules),
            derive_seed(seed, part),
            -(-settings.rounds // _PARTS),
            learners=settings.learners,
            past_selves=settings.past_selves,
            all_actions=settings.all_actions,
            own_turns=config.branching.own_turns,
            margin=config.choice.margin,
            gamma=settings.gamma,
            gae_lambda=settings.gae_lambda,
        )
        for part in range(_PARTS)
    ]


def _fit_clone(run: ScorerRun, clone: ScorerNet, config: ScorerConfig) -> None:
    """The soft clone of the rule, where PPO begins."""
    settings = config.clone
    seed = derive_seed(config.run.seed, _CLONE_STREAM)
    torch.manual_seed(seed % 2**63)
    clone.set_weights(ScorerNet().weights())
    lessons = rated_decisions(run.rules, run.rule, seed, settings.decisions, config.choice.margin)
    with Stage("cloning the rule", settings.epochs * len(lessons), 0, run.console) as stage:

        def report(done: int, loss: float) -> None:
            stage.update(done, {"loss": loss})
            run.log("cloned", done, {"loss": loss})

        fit_scorer(
            clone,
            lessons,
            soft_label_loss(settings.softness),
            seed=seed,
            epochs=settings.epochs,
            minibatch=settings.minibatch,
            learning_rate=settings.learning_rate,
            report=report,
        )
