"""Measure what `search` gains over the candidate scorer whose moves it searches.

    .venv/bin/python scripts/studies/search_gain.py --rounds 250

To measure whole rounds would take very many of them, so single moves are compared. The scorer plays against itself.
Where `search` would throw another tile, both throws are tried in the true position, with the stock shuffled several
times: the rule plays on to the mover's third next turn, and the value network, which sees all racks, values the
position there and at the two turns before. The gains of one seat in a round are added up. Apart from the errors of the
value network, the sum is what one `search` against three of the scorer would gain in whole rounds, with far less
variance.

Result: docs/experiments/search.md, "What search gains over its scorer".
"""

import argparse
import time

import numpy as np

from okey_agents.bots.search import SearchBot
from okey_agents.bots.shipped import shipped_scorer
from okey_agents.evaluate.statistics import clustered_interval
from okey_agents.thinking.rollout import RolloutSettings, deal_stock_again, for_rollouts
from okey_agents.thinking.rule_weights import EXPERT
from okey_agents.thinking.scorer.choose import Policy
from okey_agents.thinking.value import load_value
from okey_agents.training.scorer.labels import label_candidates
from okey_env.engine.batch import act_in, deal_in, observe_at
from okey_env.engine.state import NO_SEAT, NOT_ENDED, OBSERVATION, PHASE_THROW, new_games
from okey_env.round import derive_seed
from okey_env.rules import Rules
from okey_env.tiles import NUM_SEATS

OWN_TURNS = 3


def main() -> None:
    """Play, compare the throws, and print the gain so far after every 50 rounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--rules", default="gamelake")
    parser.add_argument("--rollouts", type=int, default=400)
    parser.add_argument("--shuffles", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    scorer = shipped_scorer(options.rules)
    search = SearchBot(options.seed, rollouts=options.rollouts, scorer=scorer)
    rule = for_rollouts(Policy(EXPERT))
    rollouts = RolloutSettings(rule, rule, OWN_TURNS, load_value(options.rules))
    games = new_games(Rules.preset(options.rules), 3, draw_queues=True)
    seen = np.zeros(1, OBSERVATION)
    indices = np.zeros(1, np.int64)
    labels = np.zeros(2, np.float32)
    gains = np.zeros((options.rounds, NUM_SEATS))
    changed, searched, seconds = 0, 0, 0.0
    for number in range(options.rounds):
        games["seed"][0] = derive_seed(options.seed, number)
        deal_in(games, 0, NO_SEAT)
        while games["ending"][0] == NOT_ENDED:
            observe_at(games, indices, seen)
            move = int(scorer.act_batch(seen)[0])
            if games["phase"][0] == PHASE_THROW:
                began = time.process_time()
                other = int(search.act_batch(seen)[0])
                seconds += time.process_time() - began
                searched += 1
                if other != move:
                    changed += 1
                    seat = int(games["turn"][0])
                    for shuffle in range(options.shuffles):
                        games[1] = games[0]
                        seed = np.uint64(derive_seed(derive_seed(options.seed, searched), shuffle))
                        deal_stock_again(games[1], seed)
                        throws = np.array([move, other])
                        label_candidates(games[1:], throws, rollouts, seed, labels)
                        gains[number, seat] += float(labels[1] - labels[0]) / options.shuffles
            act_in(games, 0, move)
        if (number + 1) % 50 == 0 or number + 1 == options.rounds:
            gain = clustered_interval(gains[: number + 1])
            print(
                f"{number + 1} rounds: {gain.mean:+.4f} ± {gain.margin:.4f} points a round, "
                f"{changed / (number + 1) / NUM_SEATS:.2f} moves of a seat changed, "
                f"{1000 * seconds / searched:.1f} ms a throw",
                flush=True,
            )


if __name__ == "__main__":
    main()
