"""The soft clone: a scorer that does what the rule does, and knows by how much.

Its labels are the rule's whole judgement, softmax of 0.4 times the ratings, and not only its choice: two moves that
the rule holds for equal should stay equal.
"""

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.position import position_in
from okey_agents.thinking.rating import best_of, rate_position
from okey_agents.thinking.rule_weights import RuleWeights
from okey_agents.thinking.scorer.features import MAX_CANDIDATES, fill_features, pick_candidates
from okey_agents.training.scorer.decisions import MOST_OF_A_ROUND, Decisions, Notebook
from okey_env.actions import NUM_ACTIONS
from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal_round
from okey_env.engine.state import NOT_ENDED
from okey_env.engine.turn import apply
from okey_env.rules import Rules
from okey_env.tiles import NUM_KINDS

Floats = npt.NDArray[np.float32]

SOFTNESS = 0.4
"""What ratings are multiplied by before the softmax."""


@kernel
def note_ratings(
    games: npt.NDArray[np.record],
    rule: RuleWeights,
    seed: np.uint64,
    room: int,
    margin: np.float32,
    tables: Floats,
    features: Floats,
    counts: npt.NDArray[np.int64],
    labels: Floats,
) -> int:
    """Let the rule play rounds 0, 1, … of a seed, and note its decisions with their ratings, until `room` are noted.

    Returns:
        How many were noted; the last round is played to its end, so they may be more than `room`.
    """
    game = games[0]
    ratings = np.empty(NUM_ACTIONS, np.float32)
    actions = np.empty(MAX_CANDIDATES, np.int64)
    after = np.empty(NUM_KINDS, np.uint64)
    noted, rows, number = 0, 0, 0
    while noted < room:
        deal_round(game, seed, number)
        number += 1
        while game.ending == NOT_ENDED:
            position = position_in(game)
            rate_position(position, rule, ratings)
            count = pick_candidates(ratings, margin, actions)
            if count > 1:
                fill_features(position, ratings, actions, count, after, tables[noted], features[rows : rows + count])
                for place in range(count):
                    labels[rows + place] = ratings[actions[place]]
                counts[noted] = count
                noted += 1
                rows += count
            apply(game, best_of(ratings, position, seed))
    return noted


def rated_decisions(rules: Rules, rule: RuleWeights, seed: int, num_decisions: int, margin: float) -> Decisions:
    """Decisions of rule self-play with the rule's ratings as labels."""
    book = Notebook(rules, num_decisions, 1)
    count = note_ratings(
        book.games,
        rule,
        np.uint64(seed),
        num_decisions,
        np.float32(margin),
        book.tables,
        book.features,
        book.counts,
        book.labels,
    )
    assert count <= num_decisions + MOST_OF_A_ROUND
    return book.decisions(count)
