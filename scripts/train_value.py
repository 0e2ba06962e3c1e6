"""Fit the value networks of both presets to self-play of `expert`, and write `agents/value.npz`.

scripts/train_value.py [ROUNDS] [SEED]
"""

import sys
from pathlib import Path

import numpy as np

from agents.expert_bot import WEIGHTS
from agents.learned.value_fit import fit_value
from okey_env.rules import PRESETS

FILE = Path(__file__).resolve().parents[1] / "agents" / "value.npz"


def main(num_rounds: int = 80_000, seed: int = 1) -> None:
    """Fit one network for each preset, one after the other."""
    networks = {}
    for preset in PRESETS:
        print(preset)
        networks[preset], _ = fit_value(preset, WEIGHTS, seed, num_rounds)
    np.savez(FILE, allow_pickle=False, **networks)
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
