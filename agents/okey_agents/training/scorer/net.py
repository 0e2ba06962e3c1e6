"""The candidate scorer in torch: the network, its losses over decisions, and fitting it to labels."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from okey_agents.thinking.scorer.context import MAX_CANDIDATES, NUM_CONTEXT
from okey_agents.thinking.scorer.features import NUM_FEATURES
from okey_agents.thinking.scorer.network import SHAPES, WIDE
from okey_agents.training.optimizers import FitSettings
from okey_agents.training.parts_net import PartsNet
from okey_agents.training.scorer.decisions import Decisions

Floats = npt.NDArray[np.float32]
Loss = Callable[["Scores", torch.Tensor, torch.Tensor], torch.Tensor]


class Scores(NamedTuple):
    """Scores of a batch of `B` decisions."""

    padded: torch.Tensor
    """`(B, C)`; -inf where a decision has no such candidate."""
    there: torch.Tensor
    """`(B, C)` bool: whether a decision has that candidate."""


class ScorerNet(PartsNet):
    """The network of `thinking.scorer.network`.

    The last layer begins at 0, so that a fresh network leaves every choice to the rule.

    Args:
        num_context: features of the context; another number is for experiments, and no kernel runs such a network.
        num_features: features of a candidate; likewise.
    """

    def __init__(self, num_context: int = NUM_CONTEXT, num_features: int = NUM_FEATURES) -> None:
        super().__init__({**SHAPES, "table": (num_context, WIDE), "candidate": (num_features, WIDE)})
        first = num_context + num_features
        for name, inputs in (("table", first), ("candidate", first), ("hidden", WIDE)):
            bound = inputs**-0.5
            nn.init.uniform_(self.parts[name], -bound, bound)

    def forward(self, contexts: torch.Tensor, features: torch.Tensor, owners: torch.Tensor) -> torch.Tensor:
        """The scores `(M,)` of candidates.

        Args:
            contexts: `(B, T)` features of the decisions.
            features: `(M, F)` features of the candidates.
            owners: `(M,)` the index of each candidate's decision.
        """
        parts = self.parts
        shared = torch.addmm(parts["bias_1"], contexts, parts["table"])
        wide = torch.relu(torch.mm(features, parts["candidate"]) + shared.index_select(0, owners))
        narrow = torch.relu(torch.addmm(parts["bias_2"], wide, parts["hidden"]))
        scores: torch.Tensor = torch.mv(narrow, parts["out"]) + parts["bias_3"]
        return scores


class Batch(NamedTuple):
    """`B` decisions as tensors, with `M` candidates in all and room for `C` at each."""

    contexts: torch.Tensor
    """`(B, T)`."""
    features: torch.Tensor
    """`(M, F)`."""
    owners: torch.Tensor
    """`(M,)` the index of each candidate's decision."""
    slots: torch.Tensor
    """`(M,)` the index of each candidate in a flattened `(B, C)`."""
    labels: torch.Tensor
    """`(B, C)`; 0 where a decision has no such candidate."""
    extra: torch.Tensor
    """`(B, C)` the second number of each candidate, see `Batches`; 0 where there is none."""

    def scores(self, net: ScorerNet) -> Scores:
        """The scores of all candidates."""
        flat = net(self.contexts, self.features, self.owners)
        padded = flat.new_full((self.labels.numel(),), -torch.inf).index_put((self.slots,), flat)
        there = torch.zeros(self.labels.numel(), dtype=torch.bool)
        there[self.slots] = True
        return Scores(padded.view_as(self.labels), there.view_as(self.labels))


class Batches:
    """Batches of some decisions.

    Args:
        decisions: all decisions.
        extra: `(M,)` a second number for each candidate, beside its label.
    """

    def __init__(self, decisions: Decisions, extra: Floats | None = None) -> None:
        self._extra = extra
        self._decisions = decisions
        self._starts = np.cumsum(decisions.counts) - decisions.counts

    def take(self, chosen: npt.NDArray[np.int64]) -> Batch:
        """The decisions at `(B,)` indices."""
        counts = self._decisions.counts[chosen]
        ends = np.cumsum(counts)
        within = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
        rows = np.repeat(self._starts[chosen], counts) + within
        owners = np.repeat(np.arange(len(chosen)), counts)
        slots = owners * MAX_CANDIDATES + within
        labels, extra = np.zeros((2, len(chosen) * MAX_CANDIDATES), np.float32)
        labels[slots] = self._decisions.labels[rows]
        if self._extra is not None:
            extra[slots] = self._extra[rows]
        return Batch(
            torch.from_numpy(self._decisions.contexts[chosen].astype(np.float32)),
            torch.from_numpy(self._decisions.features[rows].astype(np.float32)),
            torch.from_numpy(owners),
            torch.from_numpy(slots),
            torch.from_numpy(labels.reshape(len(chosen), MAX_CANDIDATES)),
            torch.from_numpy(extra.reshape(len(chosen), MAX_CANDIDATES)),
        )

    def in_order(self, size: int = 8192) -> Iterator[Batch]:
        """All decisions in their order, `size` at a time."""
        for start in range(0, len(self._decisions), size):
            yield self.take(np.arange(start, min(start + size, len(self._decisions))))

    def shuffled(self, size: int, generator: np.random.Generator) -> Iterator[Batch]:
        """All decisions in a random order, in batches of `size`; an incomplete last batch is left out."""
        order = generator.permutation(len(self._decisions))
        for start in range(0, max(1, len(order) - size + 1), size):
            yield self.take(order[start : start + size])


def soft_label_loss(softness: float) -> Loss:
    """The cross-entropy of the scores' softmax with that of the labels times `softness`."""

    def loss(scores: Scores, labels: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
        wanted = torch.where(there, softness * labels, -torch.inf).softmax(dim=1)
        log_probs = torch.where(there, scores.padded.log_softmax(dim=1), 0.0)
        return -(wanted * log_probs).sum(dim=1).mean()

    return loss


def difference_loss(scores: Scores, labels: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
    """The mean squared error of scores and labels, each less its mean over the candidates of a decision."""
    share = there / there.sum(dim=1, keepdim=True)
    values = torch.where(there, scores.padded, 0.0)
    errors = torch.where(there, values - labels, 0.0)
    errors = errors - (errors * share).sum(dim=1, keepdim=True)
    return (errors.square() * share).sum(dim=1).mean()


def fit_scorer(
    net: ScorerNet,
    decisions: Decisions,
    loss: Loss,
    settings: FitSettings,
    seed: int,
    report: Callable[[int, float], None] = lambda done, value: None,
) -> float:
    """Fit a network to labelled decisions, in place, by AdamW.

    Args:
        net: the network.
        decisions: with their labels.
        loss: the loss to minimise.
        settings: passes and step sizes.
        seed: settles the order.
        report: is called after each pass with the decisions done and the mean loss.

    Returns:
        The mean loss of the last pass.
    """
    batches = Batches(decisions)
    generator = np.random.default_rng(seed)
    epochs, minibatch, learning_rate, weight_decay = settings
    optimizer = torch.optim.AdamW(net.parameters(), lr=learning_rate, weight_decay=weight_decay, fused=True)
    total = epochs * max(1, len(decisions) // minibatch)
    step, mean = 0, 0.0
    for epoch in range(epochs):
        losses = []
        for batch in batches.shuffled(minibatch, generator):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate * (1 - step / total)
            scores = batch.scores(net)
            value = loss(scores, batch.labels, scores.there)
            optimizer.zero_grad()
            torch.autograd.backward(value)
            optimizer.step()
            losses.append(value.item())
            step += 1
        mean = float(np.mean(losses))
        report((epoch + 1) * len(decisions), mean)
    return mean


def agreement(net: ScorerNet, decisions: Decisions) -> float:
    """The share of decisions in which a candidate with the highest label has the highest score."""
    same = 0
    with torch.no_grad():
        for batch in Batches(decisions).in_order():
            scores = batch.scores(net)
            labels = torch.where(scores.there, batch.labels, -torch.inf)
            best = scores.padded.argmax(dim=1, keepdim=True)
            same += int((labels.gather(1, best) == labels.max(dim=1, keepdim=True).values).sum())
    return same / len(decisions)
