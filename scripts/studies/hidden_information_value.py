"""Measure what hidden information would be worth to the candidate scorer.

    .venv/bin/python scripts/studies/hidden_information_value.py --decisions 1000000

Scorers are fitted to the same labels of `expert`'s self-play. Each one also sees another piece of what no bot may see.
On held-out labels, the gain is the label of the chosen candidate less that of the rule's choice, in thousandths of a
point a decision. The gain of a piece is an upper bound for what a prediction of that piece from the open tiles can add.

Result: docs/experiments/limits.md, "What knowing hidden tiles would be worth".
"""

import argparse
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import torch

from okey_agents.evaluate.statistics import clustered_interval
from okey_agents.thinking.position import Position, position_in, set_of_counts, twice_of_counts
from okey_agents.thinking.rating import best_of, rate_position
from okey_agents.thinking.rule_weights import EXPERT
from okey_agents.thinking.scorer.choose import Policy
from okey_agents.thinking.scorer.context import MAX_CANDIDATES
from okey_agents.thinking.scorer.features import pick_candidates, unseen_tiles
from okey_agents.thinking.value import STOCK_SIZE, count_stock
from okey_agents.training.optimizers import FitSettings
from okey_agents.training.scorer.branching import BranchingConfig, label
from okey_agents.training.scorer.decisions import Decisions
from okey_agents.training.scorer.net import Batches, ScorerNet, difference_loss, fit_scorer
from okey_agents.training.sections import ChoiceConfig
from okey_env.actions import DRAW, FINISH, NUM_ACTIONS, SHOW, TAKE, THROW
from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal_round
from okey_env.engine.hand import KIND_OF_BIT, analyse, distance_and_useful, kind_set, lowest_bit
from okey_env.engine.hand.bits import as_int
from okey_env.engine.hand.draws import TileSet, tiles_of
from okey_env.engine.random import derive_seed
from okey_env.engine.state import NOT_ENDED, new_games
from okey_env.engine.turn import apply
from okey_env.rules import as_rules
from okey_env.tiles import NUM_KINDS, NUM_SEATS, WILD

Floats = npt.NDArray[np.float32]
Halves = npt.NDArray[np.float16]

NEEDED, NEEDED_AT_1, NEEDED_AT_2, IN_STOCK, PART_OF_STOCK, WITH_LEFT, NUM_OF_CANDIDATE = range(7)
"""Columns of a candidate. Whether the thrown tile shortens the distance of the right-hand neighbour; the same if that
distance is 1; if it is 2. Of the tiles that are useful after the move, wild tiles left out: how many lie in the stock,
their share of the stock, and how many the left neighbour holds."""
NUM_OF_CONTEXT = 4 * (NUM_SEATS - 1)
"""Columns of a decision: the distance of each other seat, from the right on, one-hot: 1, 2, 3, and 4 or more."""
PIECES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "nothing": ((), ()),
    "how far the others are": (tuple(range(NUM_OF_CONTEXT)), ()),
    "whether the right-hand neighbour needs the tile thrown": ((), (NEEDED,)),
    "the same, and at what distance": ((), (NEEDED, NEEDED_AT_1, NEEDED_AT_2)),
    "where the useful tiles lie": ((), (IN_STOCK, PART_OF_STOCK, WITH_LEFT)),
    "all of it": (tuple(range(NUM_OF_CONTEXT)), tuple(range(NUM_OF_CANDIDATE))),
}
"""What each scorer also sees: columns of the decision, columns of a candidate."""
MARGIN = 20.0
"""In rating units, as in the agents that ship."""
CHUNK = 20_000
"""Decisions of one task."""
HELD_OUT = 0.3
"""Share of the chunks that no scorer is fitted to."""


@kernel
def helps_after(position: Position, action: int, after: npt.NDArray[np.uint64]) -> int:
    """The set of kinds that are useful after a draw, after a take and the best throw, or after a throw.

    `after` `(53,)` is to work in.
    """
    once, twice, wilds = position.once, position.twice, int(position.wilds)
    if action == DRAW:
        found = np.empty(1, np.uint64)
        _, useful = distance_and_useful(once, twice, wilds, position.run_13_1, found)
        return as_int(useful)
    if action == TAKE:
        if position.offer == WILD:
            wilds += 1
        else:
            tile = kind_set(position.offer)
            once, twice = once | tile, twice | (once & tile)
    _, keep, _ = analyse(once, twice, wilds, position.run_13_1, after)
    if action != TAKE:
        return as_int(after[action - THROW])
    best, most = 0, -1
    kinds = as_int(keep)
    while kinds:
        helps = as_int(after[KIND_OF_BIT[lowest_bit(kinds)]])
        kinds &= kinds - 1
        total = tiles_of(helps, unseen_tiles(position))
        if total > most:
            best, most = helps, total
    return best


@kernel
def collect_hidden(
    game: np.record,
    actions: npt.NDArray[np.int64],
    count: int,
    after: npt.NDArray[np.uint64],
    context: Floats,
    rows: Floats,
) -> None:
    """Collect the hidden information of one decision.

    Args:
        game: stands before the decision.
        actions: candidates.
        count: how many.
        after: `(53,)` to work in.
        context: `(NUM_OF_CONTEXT,)` of 0, to fill.
        rows: `(C, NUM_OF_CANDIDATE)` of 0, to fill.
    """
    position = position_in(game)
    found = np.empty(1, np.uint64)
    distance_of_right, useful_to_right = 0, 0
    for step in range(NUM_SEATS - 1, 0, -1):
        seat = (int(game.turn) + step) % NUM_SEATS
        wilds = int(game.rack[seat, WILD])
        distance, useful = distance_and_useful(
            game.once[seat], game.twice[seat], wilds, game.rules.run_13_1 != 0, found
        )
        context[4 * (step - 1) + min(max(distance, 1), 4) - 1] = 1
        distance_of_right, useful_to_right = distance, as_int(useful)
    left = (int(game.turn) + NUM_SEATS - 1) % NUM_SEATS
    stock = np.zeros(STOCK_SIZE, np.uint8)
    count_stock(game, stock)
    in_stock = TileSet(set_of_counts(stock), twice_of_counts(stock))
    left_rack = TileSet(as_int(game.once[left]), as_int(game.twice[left]))
    for i in range(count):
        action, row = actions[i], rows[i]
        if action == SHOW or action >= FINISH:
            continue
        if action >= THROW:
            row[NEEDED] = (useful_to_right & as_int(kind_set(action - THROW))) != 0
            row[NEEDED_AT_1] = row[NEEDED] * (distance_of_right == 1)
            row[NEEDED_AT_2] = row[NEEDED] * (distance_of_right == 2)
        helps = helps_after(position, action, after)
        there = np.float32(tiles_of(helps, in_stock))
        row[IN_STOCK] = there / np.float32(8)
        row[PART_OF_STOCK] = np.float32(4) * there / np.float32(max(1, int(game.stock_left)))
        row[WITH_LEFT] = np.float32(tiles_of(helps, left_rack)) / np.float32(2)


@kernel
def collect_all(
    games: npt.NDArray[np.record],
    policy: Policy,
    seed: np.uint64,
    counts: npt.NDArray[np.int64],
    contexts: Floats,
    features: Floats,
) -> bool:
    """Play the rounds again that `label` has labelled, and collect the hidden information of their decisions.

    Args:
        games: `(1,)` with draw queues; played in.
        policy: the rule that played them.
        seed: of the labels.
        counts: `(N,)` of the labels.
        contexts: `(N, NUM_OF_CONTEXT)` of 0, to fill.
        features: `(M, NUM_OF_CANDIDATE)` of 0, to fill.

    Returns:
        Whether the decisions were the same as those of the labels.
    """
    game = games[0]
    ratings = np.empty(NUM_ACTIONS, np.float32)
    actions = np.empty(MAX_CANDIDATES, np.int64)
    after = np.empty(NUM_KINDS, np.uint64)
    row, first, number = 0, 0, 0
    while row < len(counts):
        deal_round(game, seed, number)
        number += 1
        while game.ending == NOT_ENDED:
            position = position_in(game)
            rate_position(position, policy.rule, ratings)
            count = pick_candidates(ratings, policy.margin, actions)
            if count > 1:
                if row == len(counts) or counts[row] != count:
                    return False
                collect_hidden(game, actions, count, after, contexts[row], features[first : first + count])
                row += 1
                first += count
            apply(game, best_of(ratings, position, seed))
    return True


def main() -> None:
    """Label, fit, and print the gain of each piece."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=1_000_000)
    parser.add_argument("--rules", default="gamelake")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rules = as_rules(options.rules)
    policy = Policy(EXPERT, margin=np.float32(MARGIN))

    def chunk(number: int) -> tuple[Decisions, Halves, Halves]:
        seed = np.uint64(derive_seed(np.uint64(options.seed), np.uint64(number)))
        decisions = label(rules, policy, int(seed), CHUNK)
        contexts = np.zeros((len(decisions), NUM_OF_CONTEXT), np.float32)
        features = np.zeros((len(decisions.labels), NUM_OF_CANDIDATE), np.float32)
        if not collect_all(new_games(rules, 1, draw_queues=True), policy, seed, decisions.counts, contexts, features):
            raise RuntimeError(f"chunk {number}: the rounds that were played again differ from the labelled ones")
        return decisions, contexts.astype(np.float16), features.astype(np.float16)

    with ThreadPoolExecutor(options.workers) as executor:
        chunks = list(executor.map(chunk, range(-(-options.decisions // CHUNK))))
    held = max(1, round(HELD_OUT * len(chunks)))
    seconds = time.process_time()
    print(f"{len(chunks)} chunks of {CHUNK:,} decisions, {held} held out, {rules.name}, {seconds:,.0f} CPU seconds")
    without: Floats | None = None
    for name, columns in PIECES.items():
        test, learned = _with(chunks[:held], *columns), _with(chunks[held:], *columns)
        gains = _gains_of(_fit(learned, options.seed), test)
        without = gains if without is None else without
        print(f"{name}: {_interval(gains)}, more by {_interval(gains - without)}", flush=True)


def _with(
    chunks: list[tuple[Decisions, Halves, Halves]], of_context: tuple[int, ...], of_candidate: tuple[int, ...]
) -> Decisions:
    """The decisions of some chunks with these columns beside the ordinary features."""
    return Decisions.join(
        [
            Decisions(
                np.concatenate([decisions.contexts, contexts[:, of_context]], axis=1),
                np.concatenate([decisions.features, features[:, of_candidate]], axis=1),
                decisions.counts,
                decisions.labels,
            )
            for decisions, contexts, features in chunks
        ]
    )


def _fit(decisions: Decisions, seed: int) -> ScorerNet:
    """A scorer fitted as the recipe `branching` fits it."""
    recipe = BranchingConfig()
    torch.manual_seed(seed)
    net = ScorerNet(decisions.contexts.shape[1], decisions.features.shape[1])
    settings = FitSettings(recipe.epochs, recipe.minibatch, recipe.learning_rate, recipe.weight_decay)
    fit_scorer(net, decisions, difference_loss, settings, seed)
    return net


def _gains_of(net: ScorerNet, decisions: Decisions) -> Floats:
    """`(N,)` label of the scorer's choice less that of the rule's choice."""
    bonus = ChoiceConfig().bonus
    gains = []
    with torch.no_grad():
        for batch in Batches(decisions).in_order():
            scores = batch.scores(net).padded
            scores[:, 0] += bonus
            chosen = batch.labels.gather(1, scores.argmax(dim=1, keepdim=True))[:, 0]
            gains.append((chosen - batch.labels[:, 0]).numpy())
    return np.concatenate(gains)


def _interval(gains: Floats) -> str:
    interval = clustered_interval(1000 * gains[:, None])
    return f"{interval.mean:.1f} ± {interval.margin:.1f}"


if __name__ == "__main__":
    main()
