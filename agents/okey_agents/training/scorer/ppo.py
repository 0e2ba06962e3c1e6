"""Self-play PPO for the candidate scorer (Schulman and others, 2017), from a soft clone of the rule.

The policy, the rule and a past self play all four seats of every game; the policy's decisions are collected
(`self_play`), with advantages from an asymmetric critic, which sees all racks. The critic is the value network, which
goes on learning. Rewards are not shaped by distance: a potential that the critic can see cancels out of the advantages.
Samples are not augmented by the symmetries of the tiles: the features are the same under all of them.

The next batch is played on other threads, by the policy as it was, while the update learns from this one. At each
checkpoint the two wait for each other, so a run resumed there goes on as if it had never stopped.
"""

from __future__ import annotations

import dataclasses
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import numpy.typing as npt
from rich.console import Console

from okey_agents.thinking.rollout import RolloutSettings, for_rollouts
from okey_agents.thinking.scorer.choose import Policy
from okey_agents.thinking.value import value_for
from okey_agents.training.progress import ProgressStage
from okey_agents.training.schema import Between, Config, Count, Positive, Rate, Section, Share
from okey_agents.training.scorer.self_play import SelfPlayBatch, SelfPlaySettings, play_batch
from okey_agents.training.scorer.soft_clone import SoftCloneConfig, rated_decisions
from okey_agents.training.sections import ChoiceConfig, DuelConfig, RunConfig
from okey_env.round import derive_seed

if TYPE_CHECKING:
    from okey_agents.training.scorer.net import ScorerNet
    from okey_agents.training.scorer.run import ScorerRun

Floats = npt.NDArray[np.float32]

_PARTS = 8
"""A batch is played in so many parts; the number settles the deals, so it does not depend on `run.workers`."""
_CLONE_STREAM = 2**60
_PLAY_STREAM = 2**60 + 1
"""The indices under the run's seed from which the seeds of the rule's rounds and of self-play are derived."""


@dataclasses.dataclass(frozen=True)
class ScorerPpoConfig(Section):
    """Self-play PPO from the soft clone; the critic sees all racks and begins as the value network."""

    updates: Count = 400
    """Batches of rounds that are played and learned from."""
    checkpoint_every: Positive = 20
    """Updates between two checkpoints."""
    rounds: Positive = 1500
    """Rounds of a batch."""
    learners: Share = 0.6
    """Probability that a seat learns."""
    past_selves: Share = 0.0
    """Probability that another seat is played by the policy of the checkpoint before; the rule plays the rest."""
    minibatch: Positive = 6000
    """Decisions in one step of the optimiser."""
    epochs: Annotated[int, Between(1, 100)] = 2
    """Passes over a batch."""
    learning_rate: Rate = 4e-4
    """Step size of the policy at the beginning; it falls to 0."""
    critic_rate: Rate = 2e-4
    """Step size of the critic at the beginning; it falls to 0."""
    gamma: Share = 1.0
    """Discount from one decision of a seat to its next."""
    gae_lambda: Share = 0.95
    """Decay of the advantage estimate."""
    clip: Annotated[float, Between(0.001, 10.0)] = 0.2
    """How far the ratio of new and old probability may move from 1."""
    entropy: Annotated[float, Between(0.0, 10.0)] = 0.003
    """Weight of the policy's entropy at the beginning; it falls to 0 with the step size."""
    keep_to_clone: Annotated[float, Between(0.0, 100.0)] = 0.05
    """Weight of the KL divergence from the clone at the beginning."""
    clone_half_life: Positive = 60
    """Updates in which that weight halves."""
    all_actions: Share = 0.0
    """Probability that all candidates of a decision are tried, as in `branching`; its labels then replace the
    advantage."""
    own_turns: Annotated[int, Between(1, 30)] = 2
    """If all candidates are tried, the position is valued at so many next turns of the mover; the mean counts."""
    max_grad_norm: Annotated[float, Between(0.001, 1000.0)] = 0.5
    """Longer gradients are cut to this norm."""


def train_scorer_ppo(config: Config, folder: Path, resume: bool, console: Console) -> None:
    """Train a scorer by self-play PPO in the folder of a run, or resume the run."""
    import torch

    from okey_agents.training.fits.value import make_value_module, set_value_weights, value_weights
    from okey_agents.training.optimizers import optimizer_arrays, set_optimizer_arrays
    from okey_agents.training.scorer.net import ScorerNet
    from okey_agents.training.scorer.ppo_losses import learn_critic, learn_policy
    from okey_agents.training.scorer.run import ScorerRun

    settings, seed = config[ScorerPpoConfig], config[RunConfig].seed
    workers = config[RunConfig].workers
    with ScorerRun(config, folder, resume, console) as run, ThreadPoolExecutor(workers) as players:
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
            _fit_clone(run, clone)
            policy.set_weights(clone.weights())
            set_value_weights(critic, value_for(run.rules))
            run.measure(0, policy.weights())

        def save(updates: int) -> None:
            arrays = {"scorer": policy.weights(), "clone": clone.weights(), "critic": value_weights(critic)}
            for name, optimizer in (("policy", policy_optimizer), ("critic", critic_optimizer)):
                arrays |= {f"{name}_optimizer.{key}": array for key, array in optimizer_arrays(optimizer).items()}
            run.save(decisions, arrays, {"updates": updates})

        def play(update: int) -> list[Future[SelfPlayBatch]]:
            return _play(run, players, update, _self_play(run, policy.weights(), past, value_weights(critic)))

        if not run.start.meta:
            save(0)
        past = policy.weights()
        following: list[Future[SelfPlayBatch]] = []
        with ProgressStage("learning", settings.updates, first, console, "updates", decisions) as stage:
            for update in range(first, settings.updates):
                parts = following or play(update)
                played = SelfPlayBatch.join([part.result() for part in parts])
                done = update + 1
                pause = done % settings.checkpoint_every == 0 or done == settings.updates
                following = [] if pause else play(done)
                left = 1 - update / settings.updates
                for optimizer, rate in (
                    (policy_optimizer, settings.learning_rate),
                    (critic_optimizer, settings.critic_rate),
                ):
                    for group in optimizer.param_groups:
                        group["lr"] = rate * left
                generator = np.random.default_rng(derive_seed(seed, update))
                values = learn_policy(policy, clone, policy_optimizer, played, settings, update, generator)
                values |= learn_critic(critic, critic_optimizer, played, settings.minibatch, generator)
                decisions += len(played.decisions)
                run.log("updated", decisions, values)
                stage.update(done, {"entropy": values["entropy"], "moved": values["moved"]}, decisions)
                if done % config[DuelConfig].every == 0 or done == settings.updates:
                    run.measure(decisions, policy.weights())
                if pause:
                    save(done)
                    past = policy.weights()
        run.finish()


def _self_play(run: ScorerRun, weights: Floats, past: Floats, critic: Floats) -> SelfPlaySettings:
    """Who plays the next batch, by the weights of the policy, of its past self and of the critic."""
    settings = run.config[ScorerPpoConfig]
    margin = np.float32(run.config[ChoiceConfig].margin)
    rule = Policy(run.rule)
    in_rollouts = for_rollouts(rule)
    return SelfPlaySettings(
        policy=Policy(run.rule, weights, margin),
        past_self=Policy(run.rule, past, margin),
        opponent=rule,
        critic=critic,
        learners=settings.learners,
        past_selves=settings.past_selves,
        all_actions=settings.all_actions,
        rollouts=RolloutSettings(in_rollouts, in_rollouts, settings.own_turns, value_for(run.rules)),
        gamma=np.float32(settings.gamma),
        gae_lambda=np.float32(settings.gae_lambda),
    )


def _play(
    run: ScorerRun, players: ThreadPoolExecutor, update: int, settings: SelfPlaySettings
) -> list[Future[SelfPlayBatch]]:
    """Begin to play the rounds of an update on other threads, in parts that do not depend on the number of threads."""
    seed = derive_seed(derive_seed(run.config[RunConfig].seed, _PLAY_STREAM), update)
    rounds = -(-run.config[ScorerPpoConfig].rounds // _PARTS)
    return [players.submit(play_batch, run.rules, settings, derive_seed(seed, part), rounds) for part in range(_PARTS)]


def _fit_clone(run: ScorerRun, clone: ScorerNet) -> None:
    """Fit the soft clone of the rule, in place."""
    import torch

    from okey_agents.training.optimizers import FitSettings
    from okey_agents.training.scorer.net import ScorerNet, fit_scorer, soft_label_loss

    settings = run.config[SoftCloneConfig]
    seed = derive_seed(run.config[RunConfig].seed, _CLONE_STREAM)
    torch.manual_seed(seed % 2**63)
    clone.set_weights(ScorerNet().weights())
    rule = Policy(run.rule, margin=np.float32(run.config[ChoiceConfig].margin))
    lessons = rated_decisions(run.rules, rule, seed, settings.decisions)
    with ProgressStage("cloning the rule", settings.epochs * len(lessons), 0, run.console) as stage:

        def report(done: int, loss: float) -> None:
            stage.update(done, {"loss": loss})
            run.log("cloned", done, {"loss": loss})

        fit = FitSettings(settings.epochs, settings.minibatch, settings.learning_rate)
        fit_scorer(clone, lessons, soft_label_loss(settings.softness), fit, seed, report)
