"""Fit the value network of each preset, or of one, to self-play of `expert`, and put it into `thinking/value.npz`.

scripts/train_value.py [ROUNDS] [SEED] [PRESET]
"""

import sys
from pathlib import Path

import numpy as np

from okey_agents.evaluate.guard.workers import num_cores
from okey_agents.thinking.rule_weights import EXPERT
from okey_agents.training.fits.value import fit_value
from okey_env.rules import PRESETS

FILE = Path(__file__).resolve().parents[1] / "agents/okey_agents/thinking/value.npz"


def main(num_rounds: str = "400_000", seed: str = "1", *presets: str) -> None:
    """Fit the networks one after the other; those of other presets stay as they are."""
    with np.load(FILE, allow_pickle=False) as file:
        networks = dict(file)
    for preset in presets or PRESETS:
        print(preset)
        networks[preset], _ = fit_value(preset, EXPERT, int(seed), int(num_rounds), workers=num_cores())
    np.savez(FILE, allow_pickle=False, **networks)
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
