"""How good the racks of imagined worlds are, beside real ones: `scripts/calibrate_belief.py --rounds 300`.

Games of equal bots are stopped now and then, and the hidden tiles dealt again as the seat to move sees them: evenly
(`okey_env.engine.resample`) and as `search` does it (`thinking.worlds`). By how often the owner of a rack has thrown, a
table gives the mean distance and number of useful unseen tiles of the others' racks, real, even and believed, and how
well the worlds foretell which kinds a rack holds: the logarithmic loss for each kind and rack, less is better.
"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from okey_agents.thinking.worlds import sample_worlds
from okey_env import Round, hands, make_bot
from okey_env.engine.resample import resample_all
from okey_env.engine.state import GAME, OBSERVATION
from okey_env.observation import Observation
from okey_env.tiles import NUM_KINDS

WORLDS = 40
LAST_ROW = 9
SAMPLERS = {"even": resample_all, "belief": sample_worlds}


def main() -> None:
    """Play, measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--rules", default="gamelake")
    parser.add_argument("--bot", default="efficient")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows: dict[int, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
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


def measure(round: Round, seen: Observation, seed: int, rows: dict[int, dict[str, list[Any]]]) -> None:
    """Add what the worlds of one position are like."""
    records: npt.NDArray[Any] = np.array(seen.records, OBSERVATION)
    worlds: npt.NDArray[Any] = np.zeros(WORLDS, GAME)
    racks = {"real": round.fields["rack"][:, :, :NUM_KINDS]}
    for name, sample in SAMPLERS.items():
        sample(records, 0, 0, np.uint64(seed), worlds)
        racks[name] = worlds["rack"][:, :, :NUM_KINDS].copy()
    for step in (1, 2, 3):
        other = (seen.seat + step) % 4
        throws = (round.fields["throws"].item() + 3 - (other - round.fields["starter"].item()) % 4) // 4
        row = rows[min(throws, LAST_ROW)]
        for name, of_all in racks.items():
            found = hands.analyse(np.ascontiguousarray(of_all[:, other]))
            row[name + " distance"].append(np.mean(found.distance))
            row[name + " useful"].append(np.mean(found.useful @ seen.unseen.astype(int)))
        hidden = seen.unseen > 0
        held = racks["real"][0, other, hidden] > seen.known[step, hidden]
        for name in SAMPLERS:
            often = (racks[name][:, other][:, hidden] > seen.known[step, hidden]).mean(axis=0)
            chance = (often * WORLDS + 1.5) / (WORLDS + 6)  # no world of forty is no proof
            row[name + " loss"].append(-np.log(np.where(held, chance, 1 - chance)).mean())


def print_table(rows: dict[int, dict[str, list[Any]]]) -> None:
    """The means by number of throws."""
    columns = [f"{name} {what}" for what in ("distance", "useful") for name in ("real", *SAMPLERS)]
    columns += [f"{name} loss" for name in SAMPLERS]
    print("| throws | racks | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 2) + "|")
    for throws, row in sorted(rows.items()):
        means = [f"{np.mean(row[column]):.{3 if 'loss' in column else 2}f}" for column in columns]
        print(f"| {throws}{'+' if throws == LAST_ROW else ''} | {len(row[columns[0]])} | " + " | ".join(means) + " |")
    every = {name: np.concatenate([np.array(row[name + " loss"]) for row in rows.values()]) for name in SAMPLERS}
    print(", ".join(f"{name}: mean loss {np.mean(losses):.4f}" for name, losses in every.items()))


if __name__ == "__main__":
    main()
