"""Measure what the draws and takes of a bot cost, and which takes it leaves.

    .venv/bin/python scripts/studies/draws_and_takes.py zero-gamelake 2500

The bot plays its own games, and each offer is counted by the bot's distance and by how many more tiles would be useful
after the take; beside the share of takes stands that of `expert` in the same positions. Then the bot and `expert` share
a seat against three `expert`: one decides about drawing and taking, the other about the rest.

Result: docs/experiments/from_nothing.md, "Drawing and taking by regression".
"""

import sys
from collections.abc import Callable

import numpy as np

from okey_agents.evaluate.arena import evaluate
from okey_env import Observation, SelfPlay, as_encoder, make_bot
from okey_env.actions import DRAW, TAKE
from okey_env.bots import Bot, choose_for

GAMES, STEPS = 1024, 200
DISTANCES = 6  # entries of the distance in the pieces `draw` and `take`
GAINS = ((-1, 0.5), (0.5, 4.5), (4.5, 8.5), (8.5, 99))


def mixed(first: Bot, then: Bot) -> Callable[[Observation], int]:
    """One bot for drawing and taking, another for the rest."""
    return lambda seen: (first if seen.legal_actions[0] <= TAKE else then).act(seen)


def hybrids(name: str, deals: int) -> None:
    """Points a round against three `expert` of a bot with the draws and takes, or all else, of `expert`."""
    bot, expert = make_bot(name, 0), make_bot("expert", 0)
    sides = {"its draws, expert's throws": mixed(bot, expert), "expert's draws, its throws": mixed(expert, bot)}
    for words, side in sides.items():
        points = evaluate(side, "expert", deals=deals, seed=2, workers=1).points
        print(f"{words}: {points.mean:+.3f} ± {points.margin:.3f}")


def takes(name: str) -> None:
    """The share of takes by distance and by how many more tiles are useful after the take than before."""
    bot, expert = make_bot(name, 0), make_bot("expert", 1)
    encoder = as_encoder("tiles")
    at = {piece.name: where for piece, where in encoder.slices()}
    games = SelfPlay(GAMES, encoder=encoder, seed=9)
    games.reset()
    rows = []
    for _ in range(STEPS):
        records, masks = games.records, games.masks
        moves = bot.act_batch(records)  # type: ignore[attr-defined]
        both = (masks[:, DRAW] != 0) & (masks[:, TAKE] != 0)
        seen = games.observations[both]
        now, after = seen[:, at["draw"]], seen[:, at["take"]]
        distance = seen[:, at["melds_distance"]].argmax(axis=1)
        useful = np.arange(len(seen)), 1 + DISTANCES + distance
        same = after[:, 1 : 1 + DISTANCES].argmax(axis=1) == distance
        gain = np.where(same, 64 * (after[useful] - now[useful]), -100)
        hers = choose_for(expert, games.games, np.arange(GAMES), records)
        rows.append(np.stack([distance, gain, moves[both] == TAKE, hers[both] == TAKE], axis=1))
        games.step(moves)
    found = np.concatenate(rows)
    for distance in (1, 2, 3, 4):
        for low, high in GAINS:
            some = found[(found[:, 0] == distance) & (found[:, 1] > low) & (found[:, 1] <= high)]
            print(f"distance {distance}, gain {low} to {high}: {len(some):6} takes {some[:, 2].mean():.3f} "
                  f"expert {some[:, 3].mean():.3f}")  # fmt: skip


if __name__ == "__main__":
    takes(sys.argv[1])
    hybrids(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2500)
