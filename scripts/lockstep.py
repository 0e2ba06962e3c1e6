"""Step the engine beside the reference twin for a long time, on all cores: `scripts/lockstep.py --rounds 100000`.

Stops at the first disagreement with the seed that shows it. Rounds and endings are counted, since rounds that
never finish would prove little.
"""

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.lockstep import play

FIRST_SEED = 1_000_000  # beyond the seeds of the tests
CHUNK = 200


def play_chunk(first: int) -> tuple[Counter[str], int]:
    """Play `CHUNK` rounds from a seed on: how they ended, and how many steps they took."""
    results = [play(seed) for seed in range(first, first + CHUNK)]
    return Counter(ending for ending, _ in results), sum(steps for _, steps in results)


def main() -> None:
    """Play, and print one line a minute."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    firsts = range(FIRST_SEED, FIRST_SEED + options.rounds, CHUNK)
    endings: Counter[str] = Counter()
    steps, said = 0, time.monotonic()
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        for chunk_endings, chunk_steps in pool.imap_unordered(play_chunk, firsts):
            endings += chunk_endings
            steps += chunk_steps
            if time.monotonic() - said > 60:
                said = time.monotonic()
                print(f"{endings.total():,} rounds agree", flush=True)
    print(f"{endings.total():,} rounds and {steps:,} steps agree")
    for ending, count in endings.most_common():
        print(f"  {ending:20} {count:8,}")


if __name__ == "__main__":
    main()
