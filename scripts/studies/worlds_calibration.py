"""Measure how much the racks in sampled worlds (determinizations) look like real racks.

    .venv/bin/python scripts/studies/worlds_calibration.py --rounds 400 --seed 3

Four equal bots play. At some draws the hidden tiles are sampled again from what the seat to move sees: `uniform`, where
every arrangement is as likely (`okey_env.resample`), and `developed`, where the racks have played as real ones have
(`okey_agents/thinking/worlds.py`). For each number of throws that the owner of a rack has made, the table has the mean
distance of the rack and its mean number of useful unseen tiles, real and sampled, and the logarithmic loss with which
the worlds predict the kinds that the rack holds, for each kind and rack. A smaller loss is better.

Result: docs/experiments/search.md, "Racks in sampled worlds beside real racks".
"""

import argparse
from collections import defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.worlds import sample_worlds
from okey_env import Round, hands, make_bot
from okey_env.engine.resample import resample_all
from okey_env.engine.state import GAME, OBSERVATION
from okey_env.observation import Observation
from okey_env.tiles import NUM_KINDS

WORLDS = 40
LAST_ROW = 9
"""Throws in the last row of the table, and more."""
SAMPLERS = {"uniform": resample_all, "developed": sample_worlds}

Rows = dict[int, dict[str, list[Any]]]
"""By number of throws and by column: one value for each rack."""


def main() -> None:
    """Play, measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--rules", default="gamelake", help="preset (%(default)s)")
    parser.add_argument("--bot", default="efficient", help="plays all four seats (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows: Rows = defaultdict(lambda: defaultdict(list))
    rng = np.random.default_rng(options.seed)
    bot = make_bot(options.bot, seed=options.seed)
    for number in range(options.rounds):
        round = Round(options.rules, seed=options.seed, number=number)
        while not round.over:
            seen = round.observe(round.turn)
            if round.phase == "draw" and rng.random() < 0.1:
                measure(round, seen, int(rng.integers(2**63)), rows)
            round.apply(bot.act(seen))
    print_table(rows)


def measure(round: Round, seen: Observation, seed: int, rows: Rows) -> None:
    """Add the values of the three other racks of one position to `rows`."""
    records: npt.NDArray[Any] = np.array(seen.records, OBSERVATION)
    worlds: npt.NDArray[Any] = np.zeros(WORLDS, GAME)
    racks = {"real": round.fields["rack"][:, :, :NUM_KINDS]}
    for name, sample in SAMPLERS.items():
        sample(records, 0, 0, np.uint64(seed), worlds)
        racks[name] = worlds["rack"][:, :, :NUM_KINDS].copy()
    for step in (1, 2, 3):
        seat = (seen.seat + step) % 4
        throws = (round.fields["throws"].item() + 3 - (seat - round.fields["starter"].item()) % 4) // 4
        row = rows[min(throws, LAST_ROW)]
        for name, of_seats in racks.items():
            found = hands.analyse(np.ascontiguousarray(of_seats[:, seat]))
            row[name + " distance"].append(np.mean(found.distance))
            row[name + " useful"].append(np.mean(found.useful @ seen.unseen.astype(int)))
        hidden = seen.unseen > 0
        held = racks["real"][0, seat, hidden] > seen.known[step, hidden]
        for name in SAMPLERS:
            share = (racks[name][:, seat][:, hidden] > seen.known[step, hidden]).mean(axis=0)
            probability = (share * WORLDS + 1.5) / (WORLDS + 6)  # a kind in none of 40 worlds is not impossible
            row[name + " loss"].append(-np.log(np.where(held, probability, 1 - probability)).mean())


def print_table(rows: Rows) -> None:
    """Print the means for each number of throws, and the losses of all racks together."""
    columns = [f"{name} {what}" for what in ("distance", "useful") for name in ("real", *SAMPLERS)]
    columns += [f"{name} loss" for name in SAMPLERS]
    print("| throws | racks | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 2) + "|")
    for throws, row in sorted(rows.items()):
        means = [f"{np.mean(row[column]):.{3 if 'loss' in column else 2}f}" for column in columns]
        print(f"| {throws}{'+' if throws == LAST_ROW else ''} | {len(row[columns[0]])} | " + " | ".join(means) + " |")
    losses = {name: np.concatenate([np.array(row[name + " loss"]) for row in rows.values()]) for name in SAMPLERS}
    print(", ".join(f"{name}: mean loss {np.mean(values):.4f}" for name, values in losses.items()))


if __name__ == "__main__":
    main()
