"""Counterfactual branching: the recipe in generations, each of labels and of a scorer fitted to them.

Generation 1 labels decisions of the rule's self-play (`labels`), fits a scorer to the differences between their
candidates, and plays the best one inside the rule's margin. Each later generation labels decisions of the self-play of
the scorer before it, which also plays on in the copies of the game, and that scorer goes on learning from them: policy
iteration.

A chunk of labels depends on the run's seed, its number and the scorer that played, and the fit depends on the labels.
So a run that is stopped anywhere goes on from the chunks on disk and ends with the same weights.
"""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import numpy.typing as npt
from rich.console import Console

from okey_agents.thinking.scorer.choose import NO_SCORER, Policy
from okey_agents.training.checkpoint import Checkpoint, load_checkpoint, set_aside, write_checkpoint
from okey_agents.training.progress import ProgressStage
from okey_agents.training.schema import Between, Config, Positive, Rate, Section, Share
from okey_agents.training.scorer.decisions import Decisions, new_buffer
from okey_agents.training.scorer.labels import collect_self_play, label_settings
from okey_agents.training.sections import ChoiceConfig, RunConfig
from okey_env.engine.state import new_games
from okey_env.round import derive_seed
from okey_env.rules import Rules

if TYPE_CHECKING:
    from okey_agents.training.scorer.run import ScorerRun

Floats = npt.NDArray[np.float32]

LABELS = "labels"
"""The folder of the chunks, inside that of the run."""
_LABEL_STREAM = 2**61
"""The index under the run's seed from which the seeds of labelled rounds are derived."""
_ARRAYS = {"tables": "contexts", "features": "features", "counts": "counts", "labels": "labels"}
"""The attributes of `Decisions`, by the name of the array in a file of labels."""


@dataclasses.dataclass(frozen=True)
class BranchingConfig(Section):
    """Counterfactual branching: every candidate is tried in the true hidden state."""

    decisions: tuple[Positive, ...] = (1_000_000,)
    """Labelled decisions of each generation. The first is labelled in the rule's self-play, each later one in that of
    the scorer before it, which goes on learning from them."""
    curve: tuple[Positive, ...] = ()
    """Numbers of decisions of the first generation with which a scorer is fitted and measured too: a learning curve.
    It has no influence on the result."""
    own_turns: Annotated[int, Between(1, 30)] = 2
    """The position is valued at so many next turns of the mover; the mean counts."""
    share: Annotated[float, Between(0.004, 1.0)] = 1.0
    """Probability that a decision is labelled; less means more different rounds."""
    chunk: Annotated[int, Between(1, 1_000_000)] = 50_000
    """Decisions that are labelled and saved together; a crash costs no more than these."""
    epochs: Annotated[int, Between(1, 1000)] = 5
    """Passes over the decisions of the first generation."""
    later_epochs: Annotated[int, Between(1, 1000)] = 2
    """Passes over the decisions of a later generation."""
    minibatch: Positive = 1024
    """Decisions in one step of the optimiser."""
    learning_rate: Rate = 2e-3
    """Step size at the beginning of the first generation; it falls to 0."""
    later_rate: Rate = 5e-4
    """Step size at the beginning of a later generation."""
    weight_decay: Share = 1e-3
    """Weight decay of AdamW."""


def train_branching(config: Config, folder: Path, resume: bool, console: Console) -> None:
    """Train a scorer by branching in the folder of a run, or resume the run."""
    from okey_agents.training.scorer.run import ScorerRun

    settings = config[BranchingConfig]
    with ScorerRun(config, folder, resume, console) as run:
        first = int(run.start.meta.get("generation", 0))
        weights = np.asarray(run.start.arrays.get("scorer", NO_SCORER), np.float32)
        if not run.start.meta:
            run.save(0, {"scorer": weights}, {"generation": 0})
        total = run.start.decisions
        for number in range(first + 1, len(settings.decisions) + 1):
            decisions = _labels(run, number, weights)
            for part in settings.curve if number == 1 else ():
                if part < len(decisions):
                    run.measure(part, _fit(run, number, decisions.first(part), weights), keep=False)
            weights = _fit(run, number, decisions, weights)
            total += len(decisions)
            run.measure(total, weights)
            run.save(total, {"scorer": weights}, {"generation": number})
        run.finish()


def label(
    rules: Rules,
    policy: Policy,
    seed: int,
    num_decisions: int,
    *,
    opponent: Policy | None = None,
    own_turns: int = 2,
    share: float = 1.0,
) -> Decisions:
    """Decisions of a policy, each candidate labelled with the points that the mover may expect after it.

    In the copies of the game the policy plays on for the mover, its rule without the look two draws ahead. The opponent
    plays on for the other seats in the same way; in self-play it is the policy's rule, which takes a fraction of the
    time.

    Args:
        rules: of the game.
        policy: makes the decisions; its `margin` says which moves are candidates, even if it is a rule.
        seed: deals and decides everything.
        num_decisions: at least so many; the last round is played to its end.
        opponent: has the three other seats; None: the policy has all four.
        own_turns: the position is valued at so many next turns of the mover.
        share: probability that a decision is labelled.
    """
    buffer = new_buffer(num_decisions)
    count = collect_self_play(
        new_games(rules, 2, draw_queues=True),
        label_settings(rules, policy, opponent or Policy(policy.rule), own_turns, share),
        opponent or policy,
        opponent is not None,
        np.uint64(seed),
        num_decisions,
        buffer,
    )
    return buffer.decisions(count)


def _labels(run: ScorerRun, number: int, weights: Floats) -> Decisions:
    """All labels of a generation: chunks on disk are read, the others are labelled and written."""
    settings, choice = run.config[BranchingConfig], run.config[ChoiceConfig]
    total = settings.decisions[number - 1]
    num_chunks = -(-total // settings.chunk)
    folder = run.folder / LABELS
    folder.mkdir(exist_ok=True)
    stream = derive_seed(run.config[RunConfig].seed, _LABEL_STREAM + number)
    policy = Policy(run.rule, weights, np.float32(choice.margin), np.float32(choice.bonus))

    def chunk(index: int) -> Decisions:
        path = folder / f"{number:02d}-{index:05d}.labels"
        if path.is_file():
            try:
                return _read(path)
            except ValueError as error:
                run.console.print(f"labelled again: {error}", style="yellow", highlight=False, soft_wrap=True)
                set_aside(path)
        size = min(settings.chunk, total - index * settings.chunk)
        seed = derive_seed(stream, index)
        decisions = label(run.rules, policy, seed, size, own_turns=settings.own_turns, share=settings.share)
        _write(path, decisions)
        return decisions

    chunks: dict[int, Decisions] = {}
    with ProgressStage(f"labelling, generation {number}", total, 0, run.console) as stage:
        if num_chunks:
            chunks[0] = chunk(0)  # alone, so that kernels are loaded once
        with ThreadPoolExecutor(run.config[RunConfig].workers) as executor:
            futures = {executor.submit(chunk, index): index for index in range(1, num_chunks)}
            for future in as_completed(futures):
                chunks[futures[future]] = future.result()
                stage.update(sum(map(len, chunks.values())), {})
    return Decisions.join([chunks[index] for index in range(num_chunks)])


def _fit(run: ScorerRun, number: int, decisions: Decisions, before: Floats) -> Floats:
    """A scorer fitted to the labels of a generation: a fresh one, or that of the generation before."""
    import torch

    from okey_agents.training.optimizers import FitSettings
    from okey_agents.training.scorer.net import ScorerNet, difference_loss, fit_scorer

    settings = run.config[BranchingConfig]
    seed = derive_seed(run.config[RunConfig].seed, number)
    torch.manual_seed(seed % 2**63)
    net = ScorerNet()
    epochs, learning_rate = settings.epochs, settings.learning_rate
    if len(before):
        net.set_weights(before)
        epochs, learning_rate = settings.later_epochs, settings.later_rate
    with ProgressStage(f"fitting, generation {number}", epochs * len(decisions), 0, run.console) as stage:

        def report(done: int, loss: float) -> None:
            stage.update(done, {"loss": loss})
            run.log("fitted", len(decisions), {"generation": number, "pass": done / len(decisions), "loss": loss})

        fit = FitSettings(epochs, settings.minibatch, learning_rate, settings.weight_decay)
        fit_scorer(net, decisions, difference_loss, fit, seed, report)
    return net.weights()


def _write(path: Path, decisions: Decisions) -> None:
    arrays = {name: getattr(decisions, attribute) for name, attribute in _ARRAYS.items()}
    write_checkpoint(path, Checkpoint(len(decisions), arrays, {}))


def _read(path: Path) -> Decisions:
    arrays = load_checkpoint(path).arrays
    return Decisions(**{attribute: arrays[name] for name, attribute in _ARRAYS.items()})
