"""Find the constants of the coach's prior: what a score unit is worth in points, and how far off that is.

Rounds of `expert` are played; at some decisions with several moves worth a thought these are all tried. The slope is
the regression of the measured differences to the first move on the differences of the ratings, weighted by how certain
they are; the doubt is what the scatter around it has beyond the noise of the trials. Beside that it prints how far the
points that the coach expects of the move that was played are from what came of the round, in the mean.

    python scripts/fit_coach.py 100
"""

import sys

import numpy as np

from okey_agents.bots.rated import ExpertBot, rate_batch
from okey_agents.coach.advice import CANDIDATES, MARGIN, try_moves
from okey_agents.thinking.rule_weights import EXPERT
from okey_env.actions import NUM_ACTIONS, SHOW
from okey_env.round import Round

_WORLDS = 400
_SHARE = 0.2  # of decisions that are looked at


def main(rounds: int) -> None:
    """Play, try, and print the constants."""
    bot, found, biases = ExpertBot(), [], []
    chance = np.random.default_rng(1)
    for number in range(rounds):
        round = Round("gamelake", seed=1, number=number)
        expected = []  # seat and points
        while not round.over:
            seen = round.observe(round.turn)
            ratings = np.empty((1, NUM_ACTIONS), np.float32)
            rate_batch(seen.records, EXPERT, ratings)
            legal = sorted(seen.legal_actions, key=lambda action: -ratings[0, action])
            moves = [move for move in legal if ratings[0, move] >= ratings[0, legal[0]] - MARGIN][:CANDIDATES]
            if len(moves) > 1 and moves[0] != SHOW and chance.random() < _SHARE:
                trials = try_moves(seen, moves, _WORLDS, number)
                ahead = trials[1:] - trials[0]
                off = ratings[0, moves[1:]] - ratings[0, moves[0]]
                found += list(zip(off, ahead.mean(axis=1), ahead.var(axis=1, ddof=1) / _WORLDS, strict=True))
                expected.append((round.turn, trials[0].mean()))
            round.apply(bot.act(seen))
        if expected:
            biases.append(np.mean([points - (round.won[seat] - round.lost[seat]) for seat, points in expected]))
    off, ahead, noise = np.array(found).T
    slope = doubt = 0.1
    for _ in range(20):
        weights = 1 / (doubt**2 + noise)
        slope = float((weights * off * ahead).sum() / (weights * off**2).sum())
        rest = (ahead - slope * off) ** 2 - noise
        doubt = float(np.sqrt(max(1e-6, (weights**2 * rest).sum() / (weights**2).sum())))
    error = np.std(biases, ddof=1) / np.sqrt(len(biases))
    print(f"{len(biases)} rounds: expected less what came of them {np.mean(biases):+.3f} ± {1.96 * error:.3f}")
    print(f"{len(off)} differences, noise {np.sqrt(noise.mean()):.3f}: SLOPE = {slope:.4f}, DOUBT = {doubt:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
