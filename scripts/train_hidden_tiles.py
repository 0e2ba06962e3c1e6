"""Fit the network of `thinking/hidden_tiles.py` to self-play of `expert` under both presets.

scripts/train_hidden_tiles.py [POSITIONS] [SEED]
"""

import sys
from pathlib import Path

import numpy as np

from okey_agents.evaluate.guard.workers import num_cores
from okey_agents.thinking.rule_weights import EXPERT
from okey_agents.training.fits.hidden_tiles import fit_hidden_tiles
from okey_env.rules import PRESETS

FILE = Path(__file__).resolve().parents[1] / "agents/okey_agents/thinking/hidden_tiles.npz"


def main(num_positions: str = "2_000_000", seed: str = "1") -> None:
    """Fit, and write the weights."""
    weights, _ = fit_hidden_tiles(list(PRESETS), EXPERT, int(seed), int(num_positions), workers=num_cores())
    np.savez(FILE, allow_pickle=False, weights=weights)
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
