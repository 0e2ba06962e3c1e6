"""PPO's losses for the candidate scorer, and the passes of policy and critic over a batch of self-play."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from okey_agents.training.scorer.net import Batch, Batches, ScorerNet, Scores
from okey_agents.training.scorer.self_play import SelfPlayBatch

if TYPE_CHECKING:
    from okey_agents.training.scorer.ppo import ScorerPpoConfig


class Losses(NamedTuple):
    """The parts of PPO's loss for a batch."""

    policy: torch.Tensor
    entropy: torch.Tensor
    from_clone: torch.Tensor
    """KL divergence from the clone."""
    moved: torch.Tensor
    """KL divergence from the policy that played, estimated on the batch."""


def learn_policy(
    policy: ScorerNet,
    clone: ScorerNet,
    optimizer: torch.optim.Optimizer,
    played: SelfPlayBatch,
    settings: "ScorerPpoConfig",
    update: int,
    generator: np.random.Generator,
) -> dict[str, float]:
    """The policy's passes over a batch, in place.

    Args:
        policy: learns.
        clone: the soft clone, which the policy stays near.
        optimizer: of the policy.
        played: the batch.
        settings: weights of the losses and sizes of the steps.
        update: the number of the update, from 0.
        generator: settles the order of the decisions.

    Returns:
        The mean of each part of the loss over all steps.
    """
    batches = Batches(played.decisions, played.scores)
    scale = max(float(played.advantages.std()), 1e-6)
    left = 1 - update / settings.updates
    keep_to_clone = settings.keep_to_clone * 0.5 ** (update / settings.clone_half_life)
    sums = np.zeros(len(Losses._fields))
    steps = 0
    for _ in range(settings.epochs):
        for chosen in _minibatches(len(played.decisions), settings.minibatch, generator):
            batch = batches.take(chosen)
            losses = ppo_losses(
                batch.scores(policy),
                batch,
                clone_scores(clone, batch),
                torch.from_numpy(played.chosen[chosen]),
                torch.from_numpy(played.advantages[chosen]),
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
    played: SelfPlayBatch,
    minibatch: int,
    generator: np.random.Generator,
) -> dict[str, float]:
    """The critic's pass over a batch, in place: it learns the points that the rest of each round paid all four seats.

    Returns:
        The explained variance of these points.
    """
    errors = []
    for chosen in _minibatches(len(played.decisions), minibatch, generator):
        values = critic(torch.from_numpy(played.critic_inputs[chosen]))
        values = values - values.mean(dim=1, keepdim=True)
        loss = (values - torch.from_numpy(played.to_come[chosen])).square().mean()
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        errors.append(loss.item())
    return {"explained": 1 - float(np.mean(errors)) / float(played.to_come.var())}


def masked_log_softmax(scores: Scores) -> torch.Tensor:
    """Log-probabilities `(B, C)` of the candidates; 0 where a decision has no such candidate."""
    return torch.where(scores.there, scores.padded.log_softmax(dim=1), 0.0)


def clone_scores(clone: ScorerNet, batch: Batch) -> Scores:
    """The clone's scores, without gradients."""
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
            each candidate if all were tried, else NaN.
        clone: the clone's scores.
        chosen: `(B,)` indices of the moves made.
        advantages: `(B,)` of these moves, in points.
        scale: what advantages are divided by.
        clip: how far the ratio of new and old probability may move from 1.
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
    # If all candidates were tried, each is weighted by its old probability; otherwise only the move made counts.
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
