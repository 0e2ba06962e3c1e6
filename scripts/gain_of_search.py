"""What `search` gains over the scorer whose moves it tries: `scripts/gain_of_search.py --rounds 500`.

Whole rounds would have to be very many, so moves are compared. Rounds of the scorer against itself are played; where
`search` would throw another tile, both throws are tried in the true position, with the stock dealt again several
times: played on by the rule to the mover's third next turn, and valued there and before by the network that sees all
racks. What the moves of one seat gain in a round is added up. But for what the network misjudges, that is what whole
rounds of one `search` against three of the scorer would show, with a fraction of their scatter.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

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
    """Play, try, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
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
    first = np.zeros(1, np.int64)
    labels = np.zeros(2, np.float32)
    gains = np.zeros((options.rounds, NUM_SEATS))
    changed, moves, thinking = 0, 0, 0.0
    for number in range(options.rounds):
        games["seed"][0] = derive_seed(options.seed, number)
        deal_in(games, 0, NO_SEAT)
        while games["ending"][0] == NOT_ENDED:
            observe_at(games, first, seen)
            move = int(scorer.act_batch(seen)[0])
            if games["phase"][0] == PHASE_THROW:
                began = time.process_time()
                other = int(search.act_batch(seen)[0])
                thinking += time.process_time() - began
                moves += 1
                if other != move:
                    changed += 1
                    seat = int(games["turn"][0])
                    for shuffle in range(options.shuffles):
                        games[1] = games[0]
                        seed = np.uint64(derive_seed(derive_seed(options.seed, moves), shuffle))
                        deal_stock_again(games[1], seed)
                        tried = np.array([move, other])
                        label_candidates(games[1:], tried, rollouts, seed, labels)
                        gains[number, seat] += float(labels[1] - labels[0]) / options.shuffles
            act_in(games, 0, move)
        if (number + 1) % 50 == 0 or number + 1 == options.rounds:
            gain = clustered_interval(gains[: number + 1])
            print(
                f"{number + 1} rounds: {gain.mean:+.4f} ± {gain.margin:.4f} points a round, "
                f"{changed / (number + 1) / NUM_SEATS:.2f} moves of a seat changed, "
                f"{1000 * thinking / moves:.1f} ms a throw",
                flush=True,
            )


if __name__ == "__main__":
    main()
