"""Measure what draw queues, duplicate deals and a control variate take off the interval of an evaluation.

    .venv/bin/python scripts/studies/variance_reduction.py expert efficient 40000

Four designs are played with equal numbers of rounds. A line has the challenger's mean points; the standard error times
the root of the number of rounds, which is the scatter of one round if rounds were independent; and how many rounds of
the plain design one round is worth. The control variate is the luck of the deal: how much nearer to a finish the
challenger's dealt rack is than the others', who starts, how near all racks are and how uneven. Its weights are fitted
on one seed and applied to another.

Result: docs/experiments/evaluation.md, "Draw queues, duplicate deals and a control variate".
"""

import argparse

import numpy as np
import numpy.typing as npt

from okey_agents.evaluate.chunks import ChunkPlayer, Setup, chunks_of
from okey_env.engine.batch import deal_all
from okey_env.engine.state import new_games
from okey_env.hands import melds_distance
from okey_env.round import derive_seed
from okey_env.rules import Rules
from okey_env.tiles import NUM_KINDS, NUM_SEATS

_FIT_SEED, _SEED = 1, 2


def main() -> None:
    """Play all designs and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("challenger")
    parser.add_argument("opponent")
    parser.add_argument("rounds", type=int, help="of each design")
    options = parser.parse_args()
    bots, rounds = (options.challenger, options.opponent), options.rounds
    plain = 0.0
    for queues in (False, True):
        for every_seat in (False, True):
            points = points_of(bots, rounds, _SEED, queues, every_seat).mean(axis=1)
            scatter = points.std(ddof=1) / np.sqrt(len(points)) * np.sqrt(rounds)
            fitted = points_of(bots, rounds, _FIT_SEED, queues, every_seat).mean(axis=1)
            luck = luck_of(len(points), _FIT_SEED, every_seat)
            weights = np.linalg.lstsq(luck - luck.mean(axis=0), fitted - fitted.mean(), rcond=None)[0]
            fresh = luck_of(len(points), _SEED, every_seat)
            rest = points - (fresh - luck.mean(axis=0)) @ weights
            controlled = rest.std(ddof=1) / np.sqrt(len(points)) * np.sqrt(rounds)
            plain = plain or scatter
            print(
                f"queues {queues!s:5} every seat {every_seat!s:5} mean {points.mean():+.3f} "
                f"± {1.96 * scatter / np.sqrt(rounds):.3f} a round {scatter:.3f} worth {(plain / scatter) ** 2:.2f} "
                f"with control variate {controlled:.3f} worth {(plain / controlled) ** 2:.2f}",
                flush=True,
            )


def points_of(bots: tuple[str, str], rounds: int, seed: int, queues: bool, every_seat: bool) -> npt.NDArray[np.float64]:
    """The challenger's points, `(deals, seatings)`."""
    player = ChunkPlayer(Setup(bots, Rules(), seed, queues=queues, every_seat=every_seat))
    deals = rounds // NUM_SEATS if every_seat else rounds
    played = [player.play(chunk).outcomes for chunk in chunks_of((0, 1, 1, 1), deals)]
    return np.concatenate(played)["points"][..., 0].astype(np.float64)


def luck_of(deals: int, seed: int, every_seat: bool) -> npt.NDArray[np.float64]:
    """The control variates by deal, `(deals, 4)`, means over the seatings: nearer, starts, all near, uneven."""
    games = new_games(Rules(), deals, draw_queues=True)
    deal_all(games, np.array([derive_seed(seed, deal) for deal in range(deals)], np.uint64))
    racks = games["rack"][..., :NUM_KINDS].reshape(-1, NUM_KINDS)
    distances = np.asarray(melds_distance(racks), np.float64).reshape(deals, NUM_SEATS)
    seats = np.arange(NUM_SEATS)[None] if every_seat else (np.arange(deals) % NUM_SEATS)[:, None]
    own = np.take_along_axis(distances, np.broadcast_to(seats, (deals, seats.shape[1])), axis=1)
    nearer = (distances.sum(axis=1, keepdims=True) - own) / (NUM_SEATS - 1) - own
    starts = (games["starter"][:, None] == seats) - 1 / NUM_SEATS
    return np.stack([nearer.mean(axis=1), starts.mean(axis=1), distances.mean(axis=1), distances.std(axis=1)], axis=1)


if __name__ == "__main__":
    main()
