"""Measure the error rates of the sequential test (`okey evaluate --sprt`) on deals of two real bots.

    .venv/bin/python scripts/studies/sequential_test_errors.py expert efficient 1000

Deals of the two bots are played once. Their means are then shifted so that a hypothesis is exactly true, and
experiments are drawn from them: deals with replacement, and the test decides after each chunk, as in the arena. Three
lines say how often the higher hypothesis was accepted, and after how many deals the test stopped.

Result: docs/experiments/evaluation.md, "Error rates of the sequential test".
"""

import argparse

import numpy as np
import numpy.typing as npt

from okey_agents.evaluate.chunks import CHUNK, ChunkPlayer, Setup, chunks_of
from okey_agents.evaluate.sprt import Sprt
from okey_env.rules import Rules

_DEALS = 4_000
_TEST = Sprt(0.0, 0.05)


def main() -> None:
    """Play, draw the experiments, and print how often each hypothesis was accepted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("challenger")
    parser.add_argument("opponent")
    parser.add_argument("experiments", type=int)
    options = parser.parse_args()
    player = ChunkPlayer(Setup((options.challenger, options.opponent), Rules(), seed=1))
    outcomes = np.concatenate([player.play(chunk).outcomes for chunk in chunks_of((0, 1, 1, 1), _DEALS)])
    means = outcomes["points"][..., 0].mean(axis=1)
    values, counts = np.unique(means, return_counts=True)
    fixed = (2 * 1.645 * means.std() / (_TEST.high - _TEST.low)) ** 2
    print(f"{_DEALS} deals, standard deviation {means.std():.3f}; a test of fixed length needs {fixed:,.0f} deals")
    rng = np.random.default_rng(1)
    for true in (_TEST.low, (_TEST.low + _TEST.high) / 2, _TEST.high):
        shifted = values - means.mean() + true
        ended = [_experiment(shifted, counts / _DEALS, rng) for _ in range(options.experiments)]
        high = np.mean([decision == "high" for decision, _ in ended])
        deals = np.array([deals for _, deals in ended])
        print(
            f"mean {true:+.3f}: accepts the higher in {high:.1%} of {options.experiments}; stops after "
            f"{deals.mean():,.0f} deals on average, within {np.quantile(deals, 0.95):,.0f} in 95 %",
            flush=True,
        )


def _experiment(
    values: npt.NDArray[np.float64], probabilities: npt.NDArray[np.float64], rng: np.random.Generator
) -> tuple[str, int]:
    """One run of the test on deals drawn from `values`: its decision, and after how many deals."""
    counts, deals = np.zeros(len(values)), 0
    while True:
        counts += rng.multinomial(CHUNK, probabilities)
        deals += CHUNK
        decision = _TEST.decide(_TEST.log_ratio_of_counts(values, counts))
        if decision is not None:
            return decision, deals


if __name__ == "__main__":
    main()
