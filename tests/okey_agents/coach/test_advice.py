"""The coach: the right move first in clear positions, true facts, every reason in words, and always the same advice."""

import json
from typing import Any

import numpy as np
import pytest

from okey_agents.bots.rated import ExpertBot
from okey_agents.coach import advice as coach
from okey_agents.coach.advice import Advice, Reason, advise, try_moves
from okey_env import Deal, hands
from okey_env.actions import DRAW, SHOW, TAKE, from_text, is_throw, tile_of, to_text
from okey_env.observation import Observation
from okey_env.round import Round


def position(rack: str, rules: Any = "gamelake", indicator: str = "Y4") -> Round:
    """Seat 0 begins with these 15 tiles."""
    return Round(rules, seed=1, deal=Deal(indicator=indicator, racks=(rack, None, None, None)))


def reasons(advice: Advice) -> dict[str, dict[str, Any]]:
    return {reason.code: dict(reason.numbers) for reason in advice.reasons}


def by_text(round: Round, found: list[Advice]) -> dict[str, Advice]:
    return {to_text(advice.action, round.okey): advice for advice in found}


def positions(rules: str, number: int) -> list[Observation]:
    """What the seat to move saw at every decision of a round of `expert`."""
    round, bot, seen = Round(rules, seed=3, number=number), ExpertBot(1), []
    while not round.over:
        seen.append(round.observe(round.turn))
        round.apply(bot.act(seen[-1]))
    return seen


def test_a_finish_comes_first_the_dearest_before_all() -> None:
    round = position("R1 R2 R3 R4  B4 B5 B6  K7 K8 K9  Y10 Y11 Y12 Y13  *")
    found = advise(round.observe(0), worlds=20)
    assert to_text(found[0].action, round.okey) == "finish *"
    assert reasons(found[0])["finish"] == {"points": 4}
    moves = by_text(round, found)
    assert reasons(moves["finish R4"])["dearer"] == {"points": 4}
    assert "wait" in reasons(moves["throw R4"])
    assert "complete" in reasons(moves["throw R4"])


def test_showing_the_twin_comes_first() -> None:
    round = position("Y4 R1 R2 R7 B4 B9 K1 K3 K5 K12 Y8 Y10 Y12 B12 R11")
    found = advise(round.observe(0), worlds=20)
    assert found[0].action == SHOW
    assert reasons(found[0])["show"] == {"points": 1}


def test_the_facts_of_a_throw() -> None:
    """One tile from a finish once B13 or K2 is thrown: 13 tiles lie in melds, and one more in any of them will do."""
    round = position("R1 R2 R3 R4  B4 B5 B6  K7 K8 K9  Y10 Y11 Y12  B13  K2")
    moves = by_text(round, advise(round.observe(0), worlds=0))
    best = reasons(moves["throw B13"])
    assert best["melds"] == {"distance": 1, "before": 1}
    kinds = {round.kind(tile) for tile in ("R5", "B3", "B7", "K6", "K10", "Y9", "Y13", "*")}
    assert kinds <= set(best["useful"]["kinds"])
    assert best["useful"]["tiles"] == int(round.observe(0).unseen[list(best["useful"]["kinds"])].sum())
    assert reasons(moves["throw R2"])["melds"] == {"distance": 2, "before": 1}
    assert 0 < best["danger"]["chance"] < 1


def test_a_take_that_finishes_says_so() -> None:
    rack = "R1 R2 R3 R4  B4 B5 B6  K7 K8 K9  Y10 Y11 Y12  B13"
    deal = Deal(indicator="Y4", racks=("Y13 R10 B1 B2 B8 B11 K1 K2 K4 K12 Y1 Y2 Y7 Y9 R6", rack, None, None))
    round = Round("gamelake", seed=1, deal=deal)
    round.apply("throw Y13")
    found = advise(round.observe(1), worlds=50)
    assert found[0].action == TAKE
    assert "can_finish" in reasons(found[0])
    assert "draw" in reasons(by_text(round, found)["draw"])


@pytest.mark.parametrize("rules", ["gamelake", "klasik"])
def test_every_position_gets_advice_in_words(rules: str) -> None:
    for seen in positions(rules, 1):
        found = advise(seen, worlds=0)
        assert sorted(advice.action for advice in found) == seen.legal_actions
        for advice in found:
            assert advice.reasons
            assert advice.text(seen.okey).startswith(to_text(advice.action, seen.okey))
            assert json.loads(json.dumps(advice.to_dict()))["action"] == advice.action


def test_the_distance_after_a_throw_is_the_exact_one() -> None:
    for seen in positions("gamelake", 2):
        for advice in advise(seen, worlds=0):
            told = reasons(advice)
            if is_throw(advice.action) and "melds" in told:
                rack = seen.rack.copy()
                rack[tile_of(advice.action)] -= 1
                assert told["melds"]["distance"] == hands.melds_distance(rack)


def test_the_same_seed_gives_the_same_advice() -> None:
    seen = positions("gamelake", 1)[6]
    assert advise(seen, worlds=30, seed=5) == advise(seen, worlds=30, seed=5)
    assert advise(seen, worlds=30, seed=5) != advise(seen, worlds=30, seed=6)


def test_trials_tell_a_good_throw_from_a_bad_one() -> None:
    """To break a complete run one tile from a finish costs far more than five standard errors."""
    round = position("R1 R2 R3 R4  B4 B5 B6  K7 K8 K9  Y10 Y11 Y12  B13  K2")
    moves = [from_text("throw B13", round.okey), from_text("throw K8", round.okey)]
    good, bad = try_moves(round.observe(0), moves, 200, seed=1)
    ahead = good - bad
    assert ahead.mean() > 5 * ahead.std() / np.sqrt(200)


def test_points_come_with_an_interval_and_a_difference_to_the_first() -> None:
    seen = next(seen for seen in positions("gamelake", 1) if seen.phase == "draw" and len(seen.legal_actions) == 2)
    found = {advice.action: advice for advice in advise(seen, worlds=40)}
    for action in (DRAW, TAKE):
        points = found[action].points
        assert points is not None
        assert points.low < points.mean < points.high
    told = [reasons(advice) for advice in advise(seen, worlds=40)]
    assert "behind" not in told[0]
    assert told[1]["behind"]["low"] < told[1]["behind"]["points"] < told[1]["behind"]["high"]
    assert told[0]["expected"]["worlds"] == 40


def test_noisy_trials_do_not_overrule_the_ratings() -> None:
    chance = np.random.default_rng(1)
    ratings = np.array([30.0, 0.0])
    noisy = np.stack([np.zeros(10), chance.normal(0.5, 20, 10)])
    assert coach._standing(noisy, ratings)[1] < 0
    clear = np.stack([np.zeros(1_000), chance.normal(0.5, 1, 1_000)])
    assert coach._standing(clear, ratings)[1] > 0


def test_all_codes_are_listed_and_have_words() -> None:
    listed = {line.split("`")[1] for line in (Reason.__doc__ or "").splitlines() if line.strip().startswith("| `")}
    assert listed == set(coach._SENTENCES)


@pytest.mark.parametrize("worlds", [1, -1])
def test_what_cannot_be_advised_is_said(worlds: int) -> None:
    round = Round("gamelake", seed=1)
    with pytest.raises(ValueError, match=f"worlds={worlds} is out of range"):
        advise(round.observe(round.turn), worlds=worlds)
    with pytest.raises(ValueError, match="is not to move"):
        advise(round.observe((round.turn + 1) % 4))
