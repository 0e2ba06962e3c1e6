"""Fit the value network of each preset, or of one, to self-play of `expert`, and put it into `agents/value.npz`.

scripts/train_value.py [ROUNDS] [SEED] [PRESET]
"""

import sys
from pathlib import Path

import numpy as np

from agents.evaluate.workers import num_cores
from agents.expert_bot import WEIGHTS
from agents.learned.value_fit import fit_value
from okey_env.rules import PRESETS

FILE = Path(__file__).resolve().parents[1] / "agents" / "value.npz"


def main(num_rounds: str = "400_000", seed: str = "1", *presets: str) -> None:
    """Fit the networks one after the other; those of other presets stay as they are."""
    with np.load(FILE, allow_pickle=False) as file:
        networks = dict(file)
    for preset in presets or PRESETS:
        print(preset)
        networks[preset], _ = fit_value(preset, WEIGHTS, int(seed), int(num_rounds), workers=num_cores())
    np.savez(FILE, allow_pickle=False, **networks)
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
