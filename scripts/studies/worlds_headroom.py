"""Measure what a single move could still gain over the candidate scorer, by trying the candidates in sampled worlds.

    .venv/bin/python scripts/studies/worlds_headroom.py --decisions 3000 --worlds 512

`expert` plays against itself. At some decisions each candidate of the scorer is tried in the true position, as in its
training, and in worlds (determinizations) that agree with what the mover sees, the same worlds for all candidates.
Three things are printed, as gains over the choice of `expert` in thousandths of a point a decision:

- *scorer*: the scorer's choice, valued in all worlds;
- *worlds*: the best candidate by one half of the worlds, shrunk towards the scores by the best factor (*trust*), valued
  in the other half. This is the gain that searching that many worlds promises;
- *true*: the share of the difference between worlds and scores that the true position confirms. 1: the worlds are
  right; 0: the difference comes from how the worlds are sampled, and no search in them can gain it.

With `--know-racks` the worlds are the true position with its stock in another order. This is the gain of a player who
sees all racks: an upper bound for any bot.

Result: docs/experiments/limits.md, "What a search in sampled worlds could still find".
"""

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.bots.shipped import shipped_scorer
from okey_agents.evaluate.statistics import clustered_interval
from okey_agents.thinking.position import position_in
from okey_agents.thinking.rating import choose_in_position
from okey_agents.thinking.rollout import RolloutSettings, deal_stock_again, for_rollouts
from okey_agents.thinking.rule_weights import EXPERT
from okey_agents.thinking.scorer.choose import Policy, score_candidates
from okey_agents.thinking.scorer.context import MAX_CANDIDATES
from okey_agents.thinking.value import value_for
from okey_agents.thinking.worlds import sample_world
from okey_agents.training.scorer.labels import label_candidates
from okey_env.actions import TAKE
from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal_round
from okey_env.engine.observe import observe
from okey_env.engine.random import below, derive_seed
from okey_env.engine.state import NOT_ENDED, OBSERVATION, new_games
from okey_env.engine.turn import apply
from okey_env.rules import as_rules

Floats = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

OWN_TURNS = 2
SAMPLED = 26
"""Decisions that are measured, of 256."""
CHUNK = 100
"""Decisions of one task."""


class Trials(NamedTuple):
    """Decisions, and what each candidate was worth."""

    actions: npt.NDArray[np.int64]
    """`(N, C)` candidates; the first is the rule's choice."""
    counts: npt.NDArray[np.int64]
    """`(N,)` candidates of each decision."""
    scores: Floats
    """`(N, C)` points by the scorer; the first includes the bonus of the rule's choice."""
    truth: Floats
    """`(N, C)` points in the true position."""
    halves: Floats
    """`(N, 2, C)` mean points in each half of the worlds."""


class Setup(NamedTuple):
    """What stays the same for all decisions."""

    scorer: Policy
    rollouts: RolloutSettings
    worlds: int
    """For each decision; an even number."""
    know_racks: bool
    """The worlds differ from the true position in the order of the stock alone."""


@kernel
def try_decisions(
    games: npt.NDArray[np.record], seen: npt.NDArray[np.record], setup: Setup, seed: np.uint64, trials: Trials
) -> None:
    """Play rounds 0, 1, … of a seed by the rule, and try the candidates of some decisions.

    Args:
        games: `(3,)` with draw queues, to work in.
        seen: `(1,)` of OBSERVATION, to work in.
        setup: the policies and the worlds.
        seed: decides deals, decisions, worlds and ties.
        trials: filled.
    """
    game, scorer = games[0], setup.scorer
    labels = np.empty(MAX_CANDIDATES, np.float32)
    row, number = 0, 0
    while row < len(trials.counts):
        deal_round(game, seed, number)
        number += 1
        step = 0
        while game.ending == NOT_ENDED:
            step += 1
            position = position_in(game)
            decision_seed = derive_seed(game.seed, np.uint64(step))
            if row < len(trials.counts) and below(decision_seed, 256) < SAMPLED:
                actions, scores = trials.actions[row], trials.scores[row]
                count = score_candidates(position, scorer, actions, scores)
                if count > 1:
                    trials.counts[row] = count
                    games[1] = game
                    label_candidates(games[1:], actions[:count], setup.rollouts, decision_seed, trials.truth[row])
                    observe(game, game.turn, seen[0])
                    for world in range(setup.worlds):
                        world_seed = derive_seed(decision_seed, np.uint64(world))
                        if setup.know_racks:
                            games[1] = game
                            deal_stock_again(games[1], world_seed)
                        else:
                            sample_world(seen[0], 1, world_seed, games[1])
                        label_candidates(games[1:], actions[:count], setup.rollouts, world_seed, labels)
                        for i in range(count):
                            trials.halves[row, world % 2, i] += labels[i] / np.float32(setup.worlds // 2)
                    row += 1
            apply(game, choose_in_position(position, scorer.rule, seed))


def main() -> None:
    """Try the candidates, and print a line for each kind of decision."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=3000, help="rounded up to whole hundreds")
    parser.add_argument("--worlds", type=int, default=256)
    parser.add_argument("--rules", default="gamelake")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--know-racks", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.worlds < 2 or options.worlds % 2:
        parser.error(f"--worlds {options.worlds}: expected an even number, so that there are two halves")
    rules = as_rules(options.rules)
    scorer = shipped_scorer(options.rules).policy
    rule = for_rollouts(Policy(EXPERT))
    rollouts = RolloutSettings(rule, rule, OWN_TURNS, value_for(rules))
    setup = Setup(scorer, rollouts, options.worlds, options.know_racks)

    def chunk(number: int) -> Trials:
        games, seen = new_games(rules, 3, draw_queues=True), np.zeros(1, OBSERVATION)
        seed = np.uint64(derive_seed(np.uint64(options.seed), np.uint64(number)))
        trials = Trials(
            np.zeros((CHUNK, MAX_CANDIDATES), np.int64),
            np.zeros(CHUNK, np.int64),
            np.zeros((CHUNK, MAX_CANDIDATES), np.float32),
            np.zeros((CHUNK, MAX_CANDIDATES), np.float32),
            np.zeros((CHUNK, 2, MAX_CANDIDATES), np.float32),
        )
        try_decisions(games, seen, setup, seed, trials)
        return trials

    began = time.process_time()
    with ThreadPoolExecutor(options.workers) as executor:
        chunks = list(executor.map(chunk, range(-(-options.decisions // CHUNK))))
    trials = Trials._make(np.concatenate(parts) for parts in zip(*chunks, strict=True))
    seconds = time.process_time() - began
    print(f"{len(trials.counts):,} decisions, {options.worlds} worlds, {rules.name}, {seconds:,.0f} CPU seconds")
    drawing = trials.actions[:, 0] <= TAKE
    for name, chosen in (("all", np.ones_like(drawing)), ("draw or take", drawing), ("throw or finish", ~drawing)):
        print_gains(name, Trials._make(part[chosen] for part in trials))


def print_gains(name: str, trials: Trials) -> None:
    """Print the gains at some decisions."""
    columns = np.arange(MAX_CANDIDATES)
    there = columns < trials.counts[:, None]

    def centred(points: Floats) -> Numbers:
        mean = np.where(there, points, 0.0).sum(axis=1, keepdims=True) / trials.counts[:, None]
        return np.where(there, points - mean, 0.0)

    def best(points: Numbers) -> Indices:
        choice: Indices = np.where(there, points, -np.inf).argmax(axis=1)
        return choice

    def gain(choice: Indices, points: Numbers) -> Numbers:
        return 1000 * (points[np.arange(len(points)), choice] - points[:, 0])

    scores, truth = centred(trials.scores), centred(trials.truth)
    one, two = centred(trials.halves[:, 0]), centred(trials.halves[:, 1])
    against_one, against_two = one - scores, two - scores
    shared = float((against_one * against_two).sum())
    trust = max(0.0, 2 * shared / float((against_one**2 + against_two**2).sum()))
    by_scorer = gain(best(scores), (one + two) / 2)
    by_worlds = (gain(best(scores + trust * against_one), two) + gain(best(scores + trust * against_two), one)) / 2
    added = by_worlds - by_scorer
    against = (against_one + against_two) / 2
    slope = float((against * (truth - scores)).sum() / (against**2).sum())
    error = float(np.sqrt(((against * (truth - scores - slope * against)).sum(axis=1) ** 2).sum()) / (against**2).sum())
    print(
        f"{name}: {len(scores):,} decisions; scorer {_interval(by_scorer)}, worlds {_interval(by_worlds)}, "
        f"more by {_interval(added)} (trust {trust:.2f}); true {slope:.2f} ± {1.96 * error:.2f}"
    )


def _interval(values: Numbers) -> str:
    interval = clustered_interval(values[:, None])
    return f"{interval.mean:.1f} ± {interval.margin:.1f}"


if __name__ == "__main__":
    main()
