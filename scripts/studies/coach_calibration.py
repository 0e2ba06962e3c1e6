"""Fit the constants of the coach's prior: the points that one rating unit is worth, and the spread around them.

    .venv/bin/python scripts/studies/coach_calibration.py 100

`expert` plays rounds against itself. At some decisions with several good moves, all of these moves are tried in sampled
worlds. SLOPE is the regression of the measured differences to the first move on the differences of the ratings,
weighted by their certainty. DOUBT is the spread around it that the noise of the trials does not explain. The script
also prints the bias of the coach: the mean of the points it expected of the played moves, less the points that the
round paid.

Result: docs/experiments/rule_bots.md, "The constants of the coach".
"""

import argparse

import numpy as np

from okey_agents.bots.rated import ExpertBot, rate_batch
from okey_agents.coach.advice import CANDIDATES, MARGIN, try_moves
from okey_agents.thinking.rule_weights import EXPERT
from okey_env.actions import NUM_ACTIONS, SHOW
from okey_env.round import Round

_WORLDS = 400
_SHARE = 0.2  # of the decisions are measured


def main() -> None:
    """Play, try the moves, and print the constants."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", type=int)
    rounds = parser.parse_args().rounds
    bot, found, biases = ExpertBot(), [], []
    rng = np.random.default_rng(1)
    for number in range(rounds):
        round = Round("gamelake", seed=1, number=number)
        expected = []  # seat and points
        while not round.over:
            seen = round.observe(round.turn)
            ratings = np.empty((1, NUM_ACTIONS), np.float32)
            rate_batch(seen.records, EXPERT, ratings)
            legal = sorted(seen.legal_actions, key=lambda action: -ratings[0, action])
            moves = [move for move in legal if ratings[0, move] >= ratings[0, legal[0]] - MARGIN][:CANDIDATES]
            if len(moves) > 1 and moves[0] != SHOW and rng.random() < _SHARE:
                trials = try_moves(seen, moves, _WORLDS, number)
                gains = trials[1:] - trials[0]
                behind = ratings[0, moves[1:]] - ratings[0, moves[0]]
                found += list(zip(behind, gains.mean(axis=1), gains.var(axis=1, ddof=1) / _WORLDS, strict=True))
                expected.append((round.turn, trials[0].mean()))
            round.apply(bot.act(seen))
        if expected:
            biases.append(np.mean([points - (round.won[seat] - round.lost[seat]) for seat, points in expected]))
    behind, gains, noise = np.array(found).T
    slope = doubt = 0.1
    for _ in range(20):
        weights = 1 / (doubt**2 + noise)
        slope = float((weights * behind * gains).sum() / (weights * behind**2).sum())
        rest = (gains - slope * behind) ** 2 - noise
        doubt = float(np.sqrt(max(1e-6, (weights**2 * rest).sum() / (weights**2).sum())))
    error = np.std(biases, ddof=1) / np.sqrt(len(biases))
    print(f"{len(biases)} rounds: expected points less points paid {np.mean(biases):+.3f} ± {1.96 * error:.3f}")
    print(f"{len(behind)} differences, noise {np.sqrt(noise.mean()):.3f}: SLOPE = {slope:.4f}, DOUBT = {doubt:.3f}")


if __name__ == "__main__":
    main()
