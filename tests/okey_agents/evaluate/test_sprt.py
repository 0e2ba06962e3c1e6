"""The sequential test: it errs no more often than it says, and stops early."""

import numpy as np
import pytest

from okey_agents.bots.greedy import GreedyBot
from okey_agents.bots.random import RandomBot
from okey_agents.evaluate.arena import evaluate
from okey_agents.evaluate.sprt import Sprt

EXPERIMENTS = 400
LOOK = 20


def decision_and_deals(test: Sprt, mean: float, chance: np.random.Generator) -> tuple[str, int]:
    """One experiment: deals of four rounds, each +6 or -2 points, with this mean."""
    wins = np.zeros(5)
    values = -2 + 8 * np.arange(5) / 4
    for looks in range(1, 1_000):
        wins += np.bincount(chance.binomial(4, (mean + 2) / 8, LOOK), minlength=5)
        decision = test.decide(test.log_ratio_of_counts(values, wins))
        if decision is not None:
            return decision, looks * LOOK
    raise AssertionError("no decision in 20,000 deals")


@pytest.mark.heavy
@pytest.mark.parametrize(("mean", "right"), [(0.0, "low"), (0.4, "high")])
def test_errors_are_as_rare_as_stated(mean: float, right: str) -> None:
    """At exactly one of the hypotheses: of 400 experiments 5 % err; 38 would happen once in 7,000 such tests."""
    chance = np.random.default_rng(1)
    ended = [decision_and_deals(Sprt(0.0, 0.4), mean, chance) for _ in range(EXPERIMENTS)]
    errors = sum(decision != right for decision, _ in ended)
    assert errors < 38
    assert errors > 0  # at a true rate of 2 % or more, none would happen once in 3,000 tests
    fixed = (2 * 1.645 * np.sqrt(3) / 0.4) ** 2  # deals that a test of fixed length with these errors needs
    assert np.mean([deals for _, deals in ended]) < fixed


def test_it_is_the_likelihood_ratio() -> None:
    """Two values: the distribution with a given mean is settled by it, and the ratio can be written down."""
    test = Sprt(0.0, 0.2)
    low, high = 0.5, 0.6  # the chance of +1 that gives the means 0 and 0.2
    expected = 70 * np.log(high / low) + 30 * np.log((1 - high) / (1 - low))
    found = test.log_ratio(np.array([1.0] * 70 + [-1.0] * 30))
    assert found == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize(("value", "decision"), [(0.0, "low"), (-2.0, "low"), (0.5, "high"), (6.0, "high")])
def test_deals_that_all_come_out_alike_decide(value: float, decision: str) -> None:
    test = Sprt(0.0, 0.5)
    assert test.decide(test.log_ratio(np.full(100, value))) == decision


@pytest.mark.parametrize(
    ("arguments", "message"), [((0.1, 0.1), "the lower first"), ((0, 1, 0.5), "alpha=0.5: expected an error")]
)
def test_what_cannot_be_tested_is_said(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sprt(*arguments)


def test_an_evaluation_stops_as_soon_as_it_is_settled() -> None:
    one = evaluate(GreedyBot, RandomBot, deals=1_000, workers=1, sprt=Sprt(0, 1))
    assert one.test is not None
    assert one.test.decision == "high"
    assert one.deals == 100
    assert "at least +1" in str(one.test)
    equal = evaluate(RandomBot, RandomBot, deals=1_000, workers=1, sprt=Sprt(0, 1))
    assert equal.test is not None
    assert equal.test.decision == "low"
    short = evaluate(GreedyBot, RandomBot, deals=10, workers=1, sprt=Sprt(4.9, 4.91))
    assert "undecided" in str(short.test)


@pytest.mark.heavy
def test_an_early_stop_is_the_same_for_any_number_of_processes() -> None:
    sprt = Sprt(4.5, 5.0)
    one = evaluate(GreedyBot, RandomBot, deals=2_000, seed=2, workers=1, sprt=sprt)
    assert 100 < one.deals < 2_000
    assert one.outcome() == evaluate(GreedyBot, RandomBot, deals=2_000, seed=2, workers=2, sprt=sprt).outcome()
