"""Check the error rates of the sequential test on deals as they are played.

    python scripts/check_sprt.py expert efficient 1000

Plays deals of two bots, shifts their means so that a hypothesis is exactly true, and draws experiments from them, the
deals with replacement, a look after each chunk as in the arena.
"""

import sys

import numpy as np
import numpy.typing as npt

from okey_agents.evaluate.chunks import CHUNK, ChunkPlayer, Setup, chunks_of
from okey_agents.evaluate.sprt import Sprt
from okey_env.bots import BotSpec
from okey_env.rules import Rules

_DEALS = 4_000
_TEST = Sprt(0.0, 0.05)


def main(challenger: BotSpec, opponent: BotSpec, experiments: int) -> None:
    """Play, simulate at both hypotheses and between them, and print how often each was accepted."""
    player = ChunkPlayer(Setup((challenger, opponent), Rules(), seed=1))
    outcomes = np.concatenate([player.play(chunk).outcomes for chunk in chunks_of((0, 1, 1, 1), _DEALS)])
    means = outcomes["points"][..., 0].mean(axis=1)
    values, counts = np.unique(means, return_counts=True)
    needed = (2 * 1.645 * means.std() / (_TEST.high - _TEST.low)) ** 2
    print(f"{_DEALS} deals, standard deviation {means.std():.3f}; a test of fixed length needs {needed:,.0f} deals")
    chance = np.random.default_rng(1)
    for true in (_TEST.low, (_TEST.low + _TEST.high) / 2, _TEST.high):
        ended = [_experiment(values - means.mean() + true, counts / _DEALS, chance) for _ in range(experiments)]
        high = np.mean([decision == "high" for decision, _ in ended])
        deals = np.array([deals for _, deals in ended])
        print(
            f"mean {true:+.3f}: accepts high in {high:.1%} of {experiments}, deals {deals.mean():,.0f} in the mean, "
            f"{np.quantile(deals, 0.95):,.0f} at most in 95 %",
            flush=True,
        )


def _experiment(
    values: npt.NDArray[np.float64], shares: npt.NDArray[np.float64], chance: np.random.Generator
) -> tuple[str, int]:
    counts, deals = np.zeros(len(values)), 0
    while True:
        counts += chance.multinomial(CHUNK, shares)
        deals += CHUNK
        decision = _TEST.decide(_TEST.log_ratio_of_counts(values, counts))
        if decision is not None:
            return decision, deals


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
