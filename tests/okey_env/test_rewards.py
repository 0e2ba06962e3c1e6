"""Rewards: what an illegal action costs is never less than the worst that a legal episode can cost."""

import itertools
from typing import Any

import numpy as np
import pytest

from okey_env import Deal, OkeyEnv, OkeyVectorEnv, Round, Rules, env
from okey_env.actions import SHOW, to_text
from okey_env.rewards import illegal_reward, soon, worst_loss
from okey_env.rules import PRESETS

RULES = [
    *PRESETS.values(),
    Rules(combine="max", void_points=10),
    Rules(colour_double=True, indicator_points=10, void_points=3),
    Rules(combine="max", colour_double=True, void_points=10, teams=True),
]


def dearest_finish(rules: Rules) -> Round:
    """Seat 0 shows the twin of a red indicator, and finishes seven pairs on a wild tile."""
    rack = "R1 * R9 R9 R4 R4 B5 B5 B7 B7 K9 K9 Y1 Y1 *"
    round = Round(rules, seed=1, deal=Deal(indicator="R1", racks=(rack, None, None, None), starter=0))
    if SHOW in round.legal_actions():
        round.apply(SHOW)
    round.apply("finish *")
    return round


@pytest.mark.parametrize("rules", RULES)
def test_no_legal_end_of_a_round_costs_more_than_the_price_of_an_illegal_action(rules: Rules) -> None:
    assert dearest_finish(rules).lost[1] <= worst_loss(rules)
    assert rules.void_points + rules.indicator_points <= worst_loss(rules)


def test_the_price_is_reached() -> None:
    """It is the worst that can happen, and not just some large number."""
    for rules in RULES[:2]:
        assert dearest_finish(rules).lost[1] == worst_loss(rules)
    assert worst_loss(Rules(combine="max", void_points=10)) == 11


@pytest.mark.parametrize(("rules", "episode"), list(itertools.product(RULES, ("round", "match"))))
def test_every_environment_asks_the_same_price(rules: Rules, episode: str) -> None:
    price = illegal_reward("points", rules, matches=episode == "match")
    common: dict[str, Any] = {"rules": rules, "reward": "points", "episode": episode}
    aec = env(**common)
    aec.reset(seed=1)
    agent = aec.agent_selection
    aec.step(1)  # nothing is on offer to the starter
    assert aec.rewards[agent] == price
    one = OkeyEnv(opponents="random", **common)
    one.reset(seed=1)
    assert one.step(int(np.flatnonzero(~one.action_masks())[0]))[1] == price
    many = OkeyVectorEnv(2, opponents="random", **common)
    observation, _ = many.reset(seed=1)
    illegal = (observation["action_mask"] == 0).argmax(axis=1)
    assert many.step(illegal)[1].tolist() == [price, price]


def test_a_lost_match_costs_no_more_than_leaving_it_illegally() -> None:
    """Seat 1 loses 20 of its 21 points, and then the dearest round."""
    rules = Rules(start_points=21)
    assert -illegal_reward("zero_sum", rules, matches=True) >= 20 + dearest_finish(rules).lost[1]


@pytest.mark.parametrize("teams", [False, True])
def test_soon_pays_the_share_of_the_throws_left(teams: bool) -> None:
    """The starter finishes at once; in a second round seat 1 finishes after the first throw of four."""
    rack = "R1 * R9 R9 R4 R4 B5 B5 B7 B7 K9 K9 Y1 Y1 *"
    rules = Rules(max_throws=3, teams=teams)
    round = Round(rules, seed=1, deal=Deal(indicator="R1", racks=(rack, None, None, None), starter=0))
    assert soon(round) == [0, 0, 0, 0]
    round.apply("finish *")
    assert soon(round) == [1, 0, 1 if teams else 0, 0]
    almost = "R9 R9 R4 R4 B5 B5 B7 B7 K9 K9 Y1 Y1 R3 R3"
    later = Round(rules, seed=1, deal=Deal(indicator="R1", racks=(None, almost, None, None), starter=0))
    later.apply(later.legal_actions()[-1])
    later.apply("draw")
    later.apply(next(action for action in later.legal_actions() if to_text(action, later.okey).startswith("finish")))
    assert later.winner == 1
    assert soon(later) == [0, 0.75, 0, 0.75 if teams else 0]


def test_soon_pays_nothing_if_nobody_finishes() -> None:
    round = Round(Rules(max_throws=1), seed=1)
    round.apply(round.legal_actions()[-1])
    assert round.over
    assert soon(round) == [0, 0, 0, 0]


def test_an_illegal_action_costs_more_than_the_worst_of_soon() -> None:
    assert illegal_reward("soon", Rules()) == -1.0
