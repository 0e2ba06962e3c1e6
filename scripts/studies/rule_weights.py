"""Measure what the weights of the rules `efficient` and `expert` should be, and check them on fresh deals.

    .venv/bin/python scripts/studies/rule_weights.py odds                   the regressions of thinking/tile_odds.py
    .venv/bin/python scripts/studies/rule_weights.py throws --rows 300000   what each feature of a throw is worth
    .venv/bin/python scripts/studies/rule_weights.py takes --rows 100000    when an offered tile is worth taking
    .venv/bin/python scripts/studies/rule_weights.py check --seed 100       the rules on the deals of that seed

`throws` and `takes` try moves in rounds of `expert` against itself (`okey_agents.training.fits.rule_weights`). They
regress the points to the end of the round on the differences between the moves of one decision, for each distance to a
finish. Weights are in score units: the price of a feature divided by the price of one unseen useful tile. Nothing is
written. A person reads the tables, puts round numbers into the rules, and `check` decides on deals that no table has
seen. The same seed gives the same table.

Result: docs/experiments/rule_bots.md, "Prices of tiles, and the weights made from them".
"""

import argparse
import time

import numpy as np
import numpy.typing as npt

from okey_agents.evaluate.statistics import clustered_interval
from okey_agents.thinking.neighbours import NUM_RELATIONS
from okey_agents.thinking.rule_weights import EFFICIENT, EXPERT, RuleWeights
from okey_agents.thinking.scorer.choose import Policy, play_duels
from okey_agents.thinking.tile_odds import NUM_SETS
from okey_agents.training.fits.rule_weights import (
    THROW_FEATURES,
    ClueSamples,
    TakeSamples,
    ThrowSamples,
    collect_clues,
    try_takes,
    try_throws,
)
from okey_env.engine.state import new_games
from okey_env.rules import Rules

Numbers = npt.NDArray[np.float64]

GROUPS = (("1", 1, 1), ("2", 2, 2), ("3", 3, 3), ("4 and more", 4, 14))
FLAT = (7.0, 7.0, 7.0, 7.0)
"""The best price of a draw if the price is the same at all distances."""
SHARE = 0.3
"""Share of the decisions in which moves are tried."""


def main() -> None:
    """Read the command line, and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("odds", "throws", "takes", "check"))
    parser.add_argument("--rules", default="gamelake", help="preset (default: gamelake)")
    parser.add_argument("--rows", type=int, default=200_000, help="moves tried, or tiles seen (default: 200,000)")
    parser.add_argument("--deals", type=int, default=10_000, help="deals of a check, four rounds each")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same table")
    arguments = parser.parse_args()
    rules, seed = Rules.preset(arguments.rules), np.uint64(arguments.seed)
    began = time.perf_counter()
    if arguments.what == "odds":
        print_odds(rules, arguments.rows, seed)
    elif arguments.what == "throws":
        print_throws(rules, arguments.rows, seed)
    elif arguments.what == "takes":
        print_takes(rules, arguments.rows, seed)
    else:
        check("expert v efficient", EXPERT, EFFICIENT, rules, arguments.deals, seed)
        for name, weights in without_each(EXPERT).items():
            check(f"expert without {name} v expert", weights, EXPERT, rules, arguments.deals, seed)
    print(f"{time.perf_counter() - began:.0f} s")


# --- trying moves -------------------------------------------------------------------------------------------------


def print_throws(rules: Rules, rows: int, seed: np.uint64) -> None:
    """Print what each feature of a throw is worth in points, and in useful tiles."""
    decisions, distances = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    features, points = np.zeros((rows, len(THROW_FEATURES))), np.zeros(rows)
    games = new_games(rules, 2, draw_queues=True)
    filled = try_throws(games, EXPERT, seed, SHARE, ThrowSamples(decisions, distances, features, points))
    for name, low, high in GROUPS:
        rows_of = np.flatnonzero((distances[:filled] >= low) & (distances[:filled] <= high))
        _, number = np.unique(decisions[rows_of], return_inverse=True)
        prices, errors = regress(
            within(features[rows_of], number), within(points[rows_of][:, None], number)[:, 0], int(number.max()) + 1
        )
        print(f"distance {name}: {len(rows_of)} throws; points ± 1.96 standard errors, and in useful tiles")
        for column, (feature, price, error) in enumerate(zip(THROW_FEATURES, prices, errors, strict=True)):
            if not features[rows_of, column].any():
                continue  # a spare false joker, under rules where finishing with it is not worth more
            print(f"  {feature:<14} {price:+.4f} ± {1.96 * error:.4f}  {price / prices[0]:+.2f}")


def print_takes(rules: Rules, rows: int, seed: np.uint64) -> None:
    """Print the gain in useful tiles from which an offered tile is worth more than a draw."""
    distances, nearer = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    gains, points = np.zeros(rows), np.zeros(rows)
    games = new_games(rules, 2, draw_queues=True)
    try_takes(games, EXPERT, seed, SHARE, TakeSamples(distances, nearer, gains, points))
    for useful in (0, 1):
        for name, low, high in GROUPS:
            chosen = (nearer == useful) & (distances >= low) & (distances <= high)
            if chosen.sum() < 100:
                continue
            line = np.stack([np.ones(int(chosen.sum())), gains[chosen]], axis=1)
            (constant, slope), errors = regress(line, points[chosen], 0)
            print(
                f"{'nearer' if useful else 'not nearer'}, distance {name}: {chosen.sum()} tries; "
                f"{constant:+.3f} ± {1.96 * errors[0]:.3f} and {slope:+.4f} ± {1.96 * errors[1]:.4f} a useful tile: "
                f"worth it from {-constant / slope:+.1f} on"
            )


def within(values: Numbers, number: npt.NDArray[np.int64]) -> Numbers:
    """`(N, F)` values less the mean of their decision; `number` `(N,)` says which decision a row belongs to."""
    sums = np.stack([np.bincount(number, column) for column in values.T], axis=1)
    centred: Numbers = values - (sums / np.bincount(number)[:, None])[number]
    return centred


def regress(features: Numbers, values: Numbers, lost: int) -> tuple[Numbers, Numbers]:
    """Least squares: coefficients and their standard errors.

    `lost` is the number of degrees of freedom that means have used before.
    """
    square = features.T @ features + 1e-9 * np.eye(features.shape[1])
    coefficients = np.linalg.solve(square, features.T @ values)
    left = values - features @ coefficients
    freedom = max(1, len(values) - lost - features.shape[1])
    errors: Numbers = np.sqrt(np.diag(np.linalg.inv(square)) * (left @ left) / freedom)
    return np.asarray(coefficients, np.float64), errors


# --- odds of hidden tiles -----------------------------------------------------------------------------------------


def print_odds(rules: Rules, rows: int, seed: np.uint64) -> None:
    """Print the two tables in hundredths, as thinking/tile_odds.py has them."""
    thrown, helped = np.zeros((rows, NUM_SETS + 1, NUM_RELATIONS)), np.zeros(rows)
    unseen, came, copies = np.zeros((3 * rows, NUM_SETS + 1, NUM_RELATIONS)), np.zeros(3 * rows), np.zeros(3 * rows)
    collect_clues(new_games(rules, 1), EFFICIENT, seed, ClueSamples(thrown, helped, unseen, came, copies))
    faces = unseen.reshape(3 * rows, -1)
    weighted = faces * copies[:, None]
    table = np.linalg.solve(weighted.T @ faces + 1e-6 * np.eye(faces.shape[1]), weighted.T @ came)
    print(f"COMING, mean {np.average(came, weights=copies):.2f}")
    print(np.rint(100 * table.reshape(NUM_SETS + 1, NUM_RELATIONS)).astype(int))
    print(f"NEEDED, mean {helped.mean():.3f}")
    odds = logistic(thrown.reshape(rows, -1), helped)
    print(np.rint(100 * odds.reshape(NUM_SETS + 1, NUM_RELATIONS)).astype(int))


def logistic(features: Numbers, outcomes: Numbers) -> Numbers:
    """The coefficients of a logistic regression, by Newton's method."""
    coefficients = np.zeros(features.shape[1])
    for _ in range(10):
        chances = 1 / (1 + np.exp(-features @ coefficients))
        curvature = (features * (chances * (1 - chances))[:, None]).T @ features + 1e-3 * np.eye(len(coefficients))
        coefficients += np.linalg.solve(curvature, features.T @ (outcomes - chances))
    return coefficients


# --- fresh deals --------------------------------------------------------------------------------------------------


def without_each(weights: RuleWeights) -> dict[str, RuleWeights]:
    """For each part of the rule, the weights without it."""
    plain = EFFICIENT
    without = {
        "a price of takes by distance": weights._replace(wait=FLAT, wait_useful=FLAT),
        "a spare false joker": weights._replace(spare_joker=plain.spare_joker),
        "two draws ahead": weights._replace(ahead=plain.ahead),
        "waiting for a dearer finish": weights._replace(risk=1_000.0),
    }
    groups = {
        "what comes": ("coming",),
        "shape": ("one_away", "two_away", "same_number"),
        "danger": ("needed",),
        "twins": ("twin",),
    }
    for name, fields in groups.items():
        first, second, third, far = (throw._replace(**dict.fromkeys(fields, 0.0)) for throw in weights.throws)
        without[name] = weights._replace(throws=(first, second, third, far))
    return without


def check(name: str, challenger: RuleWeights, opponent: RuleWeights, rules: Rules, deals: int, seed: np.uint64) -> None:
    """Print the points a round of one challenger against three of the opponent."""
    points, wins = np.zeros((deals, 4), np.int64), np.zeros((deals, 4), np.int64)
    began = time.process_time()
    games = new_games(rules, 1, draw_queues=True)
    play_duels(games, Policy(challenger), Policy(opponent), seed, 0, points, wins)
    rate = points.size / (time.process_time() - began)
    interval = clustered_interval(points)
    print(
        f"{name}, {rules.name}: {interval.mean:+.4f} ± {interval.margin:.4f} points a round, "
        f"{100 * np.mean(wins):.2f} % won, {points.size} rounds, {rate:,.0f} a CPU second",
        flush=True,
    )


if __name__ == "__main__":
    main()
