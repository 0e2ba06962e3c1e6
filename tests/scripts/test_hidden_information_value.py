"""The hidden information that the study collects agrees with the public hand functions."""

from types import ModuleType

import numpy as np
import pytest

from okey_agents.bots.rated import ExpertBot
from okey_agents.thinking.rule_weights import EXPERT
from okey_agents.thinking.scorer.choose import Policy
from okey_agents.training.scorer.branching import label
from okey_env import Rules, hands
from okey_env.actions import DRAW, FINISH, NUM_ACTIONS, THROW
from okey_env.engine.batch import act_in, deal_in, observe_at
from okey_env.engine.state import NO_SEAT, NOT_ENDED, OBSERVATION, new_games
from okey_env.engine.turn import is_legal
from okey_env.tiles import NUM_KINDS, NUM_SEATS, WILD
from tests.places import load_script


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("studies/hidden_information_value")


def test_what_is_hidden(script: ModuleType) -> None:
    bot = ExpertBot(1)
    seen = np.zeros(1, OBSERVATION)
    first = np.zeros(1, np.int64)
    after = np.empty(NUM_KINDS, np.uint64)
    needed = 0
    for seed in range(6):
        games = new_games(Rules(), 1, draw_queues=True)
        games["seed"] = seed
        deal_in(games, 0, NO_SEAT)
        while games["ending"][0] == NOT_ENDED:
            actions = np.array([a for a in range(NUM_ACTIONS) if is_legal(games[0], a) and a < FINISH], np.int64)
            context = np.zeros(script.NUM_OF_CONTEXT, np.float32)
            rows = np.zeros((len(actions), script.NUM_OF_CANDIDATE), np.float32)
            script.collect_hidden(games[0], actions, len(actions), after, context, rows)
            mover = int(games["turn"][0])
            racks = [games["rack"][0, (mover + step) % NUM_SEATS, :NUM_KINDS] for step in range(NUM_SEATS)]
            for step in range(1, NUM_SEATS):
                near = min(max(int(hands.melds_distance(racks[step])), 1), 4)
                assert context[4 * (step - 1) : 4 * step].tolist() == [float(near == d) for d in range(1, 5)]
            stock = 2 - games["rack"][0, :, :NUM_KINDS].sum(axis=0) - games["heap"][0, :, :NUM_KINDS].sum(axis=0)
            stock[games["indicator"][0]] -= 1
            useful_to_right = hands.useful_kinds(racks[1])
            for action, row in zip(actions, rows, strict=True):
                if action >= THROW:
                    rest = racks[0].copy()
                    rest[action - THROW] -= 1
                    assert row[script.NEEDED] == useful_to_right[action - THROW]
                    needed += int(row[script.NEEDED])
                elif action == DRAW:
                    rest = racks[0]
                else:
                    continue
                if hands.melds_distance(racks[0]) > 0:  # a complete hand is not asked what would help it
                    kept = hands.melds_distance(rest) == hands.melds_distance(racks[0])
                    useful = hands.useful_kinds(rest) if kept else np.zeros(NUM_KINDS, bool)
                    assert row[script.IN_STOCK] == pytest.approx(stock[useful].sum() / 8)
                    assert row[script.WITH_LEFT] == pytest.approx(racks[3][:WILD][useful[:WILD]].sum() / 2)
            observe_at(games, first, seen)
            act_in(games, 0, int(bot.act_batch(seen)[0]))
    assert needed > 50


def test_rounds_are_played_again(script: ModuleType) -> None:
    policy = Policy(EXPERT, margin=np.float32(script.MARGIN))
    decisions = label(Rules(), policy, 7, 200)
    contexts = np.zeros((len(decisions), script.NUM_OF_CONTEXT), np.float32)
    features = np.zeros((len(decisions.labels), script.NUM_OF_CANDIDATE), np.float32)
    games = new_games(Rules(), 1, draw_queues=True)
    assert script.collect_all(games, policy, np.uint64(7), decisions.counts, contexts, features)
    assert (contexts.sum(axis=1) == NUM_SEATS - 1).all()
    throws, takes = decisions.features[:, 2] > 0, decisions.features[:, 1] > 0
    assert features[throws, script.NEEDED].any()
    assert not features[takes, script.NEEDED].any()
    assert not script.collect_all(games, policy, np.uint64(8), decisions.counts, contexts, features)
