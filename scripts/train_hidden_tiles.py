"""Fit the network of `agents/hidden_tiles.py` to self-play of `expert` under both presets.

scripts/train_hidden_tiles.py [POSITIONS] [SEED]
"""

import sys
from pathlib import Path

import numpy as np

from agents.evaluate.workers import num_cores
from agents.expert_bot import WEIGHTS
from agents.learned.hidden_fit import fit_hidden_tiles
from okey_env.rules import PRESETS

FILE = Path(__file__).resolve().parents[1] / "agents" / "hidden_tiles.npz"


def main(num_positions: str = "2_000_000", seed: str = "1") -> None:
    """Fit, and write the weights."""
    weights, _ = fit_hidden_tiles(list(PRESETS), WEIGHTS, int(seed), int(num_positions), workers=num_cores())
    np.savez(FILE, allow_pickle=False, weights=weights)
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
