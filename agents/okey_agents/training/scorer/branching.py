"""Counterfactual branching: the recipe in generations, each of labels and a scorer fitted to them.

Generation 1 labels decisions of the rule's self-play (`branch`), fits a scorer to the differences between their
candidates, and plays the best one inside the rule's margin. Each later generation labels decisions of the self-play of
the scorer before it, which plays on as well where a candidate is tried, and that scorer goes on learning from them:
policy iteration.

A chunk of labels depends on the run's seed, its number and the scorer that played, and the fit on the labels, so a
run that is stopped anywhere goes on from the chunks that are on disk and ends with the same weights.
"""

from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console

from okey_agents.thinking.scorer.choose import NO_SCORER, Policy
from okey_agents.thinking.value import value_for
from okey_agents.training.checkpoint import Checkpoint, load_checkpoint, set_aside, write_checkpoint
from okey_agents.training.config import ScorerConfig
from okey_agents.training.progress import Stage
from okey_agents.training.scorer.decisions import Decisions, Notebook
from okey_agents.training.scorer.labels import note_branches
from okey_agents.training.scorer.net import ScorerNet, difference_loss, fit_scorer
from okey_agents.training.scorer.rollout import for_rollouts
from okey_agents.training.scorer.run import ScorerRun
from okey_env.round import derive_seed
from okey_env.rules import Rules

Floats = npt.NDArray[np.float32]

LABELS = "labels"
"""The folder of the chunks."""
_LABEL_STREAM = 2**61
"""The index under the run's seed from which rounds to label are dealt."""


def train_branching(
    config: ScorerConfig, folder: Path, *, resume: bool = False, console: Console | None = None
) -> Path:
    """Train a scorer by branching, or go on with a run; see `training.train.train_config`."""
    console = console or Console(stderr=True)
    torch.set_num_threads(config.run.threads)
    settings = config.branching
    with ScorerRun(config, folder, resume, console) as run:
        first = int(run.start.meta.get("generation", 0))
        weights = np.asarray(run.start.arrays.get("scorer", NO_SCORER), np.float32)
        if not run.start.meta:
            run.save(0, {"scorer": weights}, {"generation": 0})
        total = run.start.decisions
        for number in range(first + 1, len(settings.decisions) + 1):
            decisions = _labels(run, number, config, weights)
            for part in settings.curve if number == 1 else ():
                if part < len(decisions):
                    run.measure(part, _fit(run, number, decisions.first(part), weights, config), keep=False)
            weights = _fit(run, number, decisions, weights, config)
            total += len(decisions)
            run.measure(total, weights)
            run.save(total, {"scorer": weights}, {"generation": number})
        run.finish()
    return folder


def label(
    rules: Rules,
    plays: Policy,
    seed: int,
    num_decisions: int,
    *,
    others: Policy | None = None,
    own_turns: int = 2,
    share: float = 1.0,
) -> Decisions:
    """Decisions of a policy, each candidate labelled with the points that the mover may expect after it.

    In the copies the policy plays on, its rule without the look two draws ahead. For the other seats so do the others,
    if there are any; in self-play it is the rule, which takes a fraction of the time.

    Args:
        rules: of the game.
        plays: the policy; its `margin` says among which moves, also if it is a rule.
        seed: settles all of it.
        num_decisions: at least so many; the last round is played to its end.
        others: has the three other seats; None: the policy has all four.
        own_turns: as in `BranchingConfig`, as is the next.
        share: see there.
    """
    book = Notebook(rules, num_decisions, 2)
    count = note_branches(
        book.games,
        plays,
        others or plays,
        others is not None,
        for_rollouts(plays),
        for_rollouts(others or Policy(plays.rule)),
        np.uint64(seed),
        num_decisions,
        round(256 * share),
        own_turns,
        value_for(rules),
        book.tables,
        book.features,
        book.counts,
        book.labels,
    )
    return book.decisions(count)


def _labels(run: ScorerRun, number: int, config: ScorerConfig, weights: Floats) -> Decisions:
    """All labels of a generation: chunks on disk are read, the others made and written."""
    settings = config.branching
    total = settings.decisions[number - 1]
    num_chunks = -(-total // settings.chunk)
    folder = run.folder / LABELS
    folder.mkdir(exist_ok=True)
    stream = derive_seed(config.run.seed, _LABEL_STREAM + number)
    plays = Policy(run.rule, weights, np.float32(config.choice.margin), np.float32(config.choice.bonus))

    def chunk(place: int) -> Decisions:
        path = folder / f"{number:02d}-{place:05d}.labels"
        if path.is_file():
            try:
                return _read(path)
            except ValueError as error:
                run.console.print(f"labelled again: {error}", style="yellow", highlight=False, soft_wrap=True)
                set_aside(path)
        size = min(settings.chunk, total - place * settings.chunk)
        decisions = label(
            run.rules,
            plays,
            derive_seed(stream, place),
            size,
            own_turns=settings.own_turns,
            share=settings.share,
        )
        _write(path, decisions)
        return decisions

    chunks: dict[int, Decisions] = {}
    with Stage(f"labelling, generation {number}", total, 0, run.console) as stage:
        if num_chunks:
            chunks[0] = chunk(0)  # alone, so that kernels are loaded once
        with ThreadPoolExecutor(config.run.workers) as executor:
            futures = {executor.submit(chunk, place): place for place in range(1, num_chunks)}
            for future in as_completed(futures):
                chunks[futures[future]] = future.result()
                stage.update(sum(map(len, chunks.values())), {})
    return Decisions.join([chunks[place] for place in range(num_chunks)])


def _fit(run: ScorerRun, number: int, decisions: Decisions, before: Floats, config: ScorerConfig) -> Floats:
    """A scorer fitted to the labels of a generation: a fresh one, or that of the generation before."""
    settings = config.branching
    torch.manual_seed(derive_seed(config.run.seed, number) % 2**63)
    net = ScorerNet()
    epochs, learning_rate = settings.epochs, settings.learning_rate
    if len(before):
        net.set_weights(before)
        epochs, learning_rate = settings.later_epochs, settings.later_rate
    with Stage(f"fitting, generation {number}", epochs * len(decisions), 0, run.console) as stage:

        def report(done: int, loss: float) -> None:
            stage.update(done, {"loss": loss})
            run.log("fitted", len(decisions), {"generation": number, "pass": done / len(decisions), "loss": loss})

        fit_scorer(
            net,
            decisions,
            difference_loss,
            seed=derive_seed(config.run.seed, number),
            epochs=epochs,
            minibatch=settings.minibatch,
            learning_rate=learning_rate,
            weight_decay=settings.weight_decay,
            report=report,
        )
    return net.weights()


def _write(path: Path, decisions: Decisions) -> None:
    arrays = {name: getattr(decisions, name) for name in ("tables", "features", "counts", "labels")}
    write_checkpoint(path, Checkpoint(len(decisions), arrays, {}))


def _read(path: Path) -> Decisions:
    return Decisions(**load_checkpoint(path).arrays)
