"""What a single move could still gain: `scripts/gain_left.py --decisions 3000 --worlds 256`.

Decisions of `expert` against itself. Each of the scorer's candidates is tried in the true position, as in its training,
and in worlds that agree with what the mover has seen (`worlds`), the same worlds for all. Three things are told,
in thousandths of a point a decision, as gains over the choice of `expert`:

- *scorer*: its choice, valued in all worlds;
- *worlds*: the best by one half of the worlds, drawn towards the scores as far as pays, valued in the other half. So
  much has who has thought in so many worlds;
- *true*: how much of what worlds hold against the scores holds in the true position too. 1: worlds are right; 0: it is
  the fault of the belief, and nothing can be gained by it.

With `--know-racks` the worlds are the true position with its stock in another order: what is gained then has who knows
all racks, more than any bot can.
"""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from okey_agents.bots.shipped import shipped_scorer
from okey_agents.evaluate.statistics import clustered_interval
from okey_agents.thinking.position import position_in
from okey_agents.thinking.rating import choose_in_position
from okey_agents.thinking.rollout import RolloutSettings, deal_stock_again, for_rollouts
from okey_agents.thinking.rule_weights import EXPERT
from okey_agents.thinking.scorer.choose import Policy, score_candidates
from okey_agents.thinking.scorer.features import MAX_CANDIDATES
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
Places = npt.NDArray[np.int64]

OWN_TURNS = 2
SHARE = 26
"""Of 256 decisions, how many are looked at."""
CHUNK = 100


class Tried(NamedTuple):
    """Decisions and what was found at each."""

    actions: npt.NDArray[np.int64]
    """`(N, C)` candidates, the rule's choice first."""
    counts: npt.NDArray[np.int64]
    """`(N,)`."""
    scores: Floats
    """`(N, C)` points, the bonus of the rule's choice in."""
    truth: Floats
    """`(N, C)` points in the true position."""
    halves: Floats
    """`(N, 2, C)` mean points in each half of the worlds."""


@kernel
def try_decisions(
    games: npt.NDArray[np.record],
    seen: npt.NDArray[np.record],
    scorer: Policy,
    seed: np.uint64,
    worlds: int,
    know_racks: bool,
    rollouts: RolloutSettings,
    tried: Tried,
) -> None:
    """Play rounds 0, 1, … of a seed by the rule, and fill `tried`; `games` `(3,)` with draw queues are played in."""
    game = games[0]
    labels = np.empty(MAX_CANDIDATES, np.float32)
    noted, number = 0, 0
    while noted < len(tried.counts):
        deal_round(game, seed, number)
        number += 1
        step = 0
        while game.ending == NOT_ENDED:
            step += 1
            position = position_in(game)
            chance = derive_seed(game.seed, np.uint64(step))
            if noted < len(tried.counts) and below(chance, 256) < SHARE:
                actions, scores = tried.actions[noted], tried.scores[noted]
                count = score_candidates(position, scorer, actions, scores)
                if count > 1:
                    tried.counts[noted] = count
                    games[1] = game
                    truth = tried.truth[noted]
                    label_candidates(games[1:], actions[:count], rollouts, chance, truth)
                    observe(game, game.turn, seen[0])
                    for world in range(worlds):
                        world_seed = derive_seed(chance, np.uint64(world))
                        if know_racks:
                            games[1] = game
                            deal_stock_again(games[1], world_seed)
                        else:
                            sample_world(seen[0], 1, world_seed, games[1])
                        label_candidates(games[1:], actions[:count], rollouts, world_seed, labels)
                        for place in range(count):
                            tried.halves[noted, world % 2, place] += labels[place] / np.float32(worlds // 2)
                    noted += 1
            apply(game, choose_in_position(position, scorer.rule, seed))


def main() -> None:
    """Try, and print."""
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
    bot = shipped_scorer(options.rules)
    scorer = bot.policy
    rule = for_rollouts(Policy(EXPERT))
    rollouts = RolloutSettings(rule, rule, OWN_TURNS, value_for(rules))

    def chunk(number: int) -> Tried:
        games, seen = new_games(rules, 3, draw_queues=True), np.zeros(1, OBSERVATION)
        seed = np.uint64(derive_seed(np.uint64(options.seed), np.uint64(number)))
        tried = Tried(
            np.zeros((CHUNK, MAX_CANDIDATES), np.int64),
            np.zeros(CHUNK, np.int64),
            np.zeros((CHUNK, MAX_CANDIDATES), np.float32),
            np.zeros((CHUNK, MAX_CANDIDATES), np.float32),
            np.zeros((CHUNK, 2, MAX_CANDIDATES), np.float32),
        )
        know = options.know_racks
        try_decisions(games, seen, scorer, seed, options.worlds, know, rollouts, tried)
        return tried

    began = time.process_time()
    with ThreadPoolExecutor(options.workers) as executor:
        chunks = list(executor.map(chunk, range(-(-options.decisions // CHUNK))))
    tried = Tried._make(np.concatenate(parts) for parts in zip(*chunks, strict=True))
    seconds = time.process_time() - began
    print(f"{len(tried.counts):,} decisions, {options.worlds} worlds, {rules.name}, {seconds:,.0f} CPU seconds")
    drawing = tried.actions[:, 0] <= TAKE
    for name, chosen in (("all", np.ones_like(drawing)), ("draw or take", drawing), ("throw or finish", ~drawing)):
        tell(name, Tried._make(part[chosen] for part in tried))


def tell(name: str, tried: Tried) -> None:
    """Print a line about some decisions."""
    places = np.arange(MAX_CANDIDATES)
    there = places < tried.counts[:, None]

    def centred(points: Floats) -> Numbers:
        mean = np.where(there, points, 0.0).sum(axis=1, keepdims=True) / tried.counts[:, None]
        return np.where(there, points - mean, 0.0)

    def best(points: Numbers) -> Places:
        choice: Places = np.where(there, points, -np.inf).argmax(axis=1)
        return choice

    def gain(choice: Places, points: Numbers) -> Numbers:
        return 1000 * (points[np.arange(len(points)), choice] - points[:, 0])

    scores, truth = centred(tried.scores), centred(tried.truth)
    one, two = centred(tried.halves[:, 0]), centred(tried.halves[:, 1])
    against_one, against_two = one - scores, two - scores
    shared = float((against_one * against_two).sum())
    trust = max(0.0, 2 * shared / float((against_one**2 + against_two**2).sum()))
    by_scorer = gain(best(scores), (one + two) / 2)
    by_worlds = (gain(best(scores + trust * against_one), two) + gain(best(scores + trust * against_two), one)) / 2
    more = by_worlds - by_scorer
    against = (against_one + against_two) / 2
    slope = float((against * (truth - scores)).sum() / (against**2).sum())
    error = float(np.sqrt(((against * (truth - scores - slope * against)).sum(axis=1) ** 2).sum()) / (against**2).sum())
    print(
        f"{name}: {len(scores):,} decisions; scorer {_interval(by_scorer)}, worlds {_interval(by_worlds)}, "
        f"more by {_interval(more)} (trust {trust:.2f}); true {slope:.2f} ± {1.96 * error:.2f}"
    )


def _interval(values: Numbers) -> str:
    interval = clustered_interval(values[:, None])
    return f"{interval.mean:.1f} ± {interval.margin:.1f}"


if __name__ == "__main__":
    main()
