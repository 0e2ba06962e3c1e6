"""Check the hand solver against its oracle on many hands; stops at the first that disagrees.

For each family of hands: the cover against the plain oracle of `tests/hand_oracle.py`, and the one-pass analysis and
the finishing kinds against their definitions through the cover. Hands alternate between 14 and 15 tiles and between
the two values of `run_13_1`.

    python scripts/check_solver.py --hands 100000
    python scripts/check_solver.py --hands 2000 --families near wrap --processes 1
"""

import argparse
import multiprocessing
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from okey_env import hands
from okey_env.engine import hand
from okey_env.tiles import rack_text
from tests import hand_oracle

Array = np.ndarray[Any, Any]
CHUNK = 500


def main() -> int:
    """Check all families; 1 if a hand disagrees."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hands", type=int, default=100_000, help="hands per family")
    parser.add_argument("--families", nargs="+", choices=hand_oracle.FAMILIES, default=list(hand_oracle.FAMILIES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    arguments = parser.parse_args()

    print("| family | hands | finished | seconds | result |")
    print("|---|---|---|---|---|")
    with multiprocessing.get_context("spawn").Pool(arguments.processes) as pool:
        for family in arguments.families:
            begin = time.perf_counter()
            chunks = [(family, arguments.seed, chunk) for chunk in range(-(-arguments.hands // CHUNK))]
            finished = 0
            for num_finished, complaint in pool.imap_unordered(check_chunk, chunks):
                finished += num_finished
                if complaint:
                    print(f"| {family} | | | | DISAGREES |\n\n{complaint}")
                    return 1
            seconds = time.perf_counter() - begin
            print(f"| {family} | {len(chunks) * CHUNK} | {finished} | {seconds:.0f} | agrees |", flush=True)
    return 0


def check_chunk(task: tuple[str, int, int]) -> tuple[int, str]:
    """Check `CHUNK` hands; how many were finished, and what is wrong with the first that is wrong, else nothing."""
    family, seed, chunk = task
    generator = np.random.default_rng([seed, list(hand_oracle.FAMILIES).index(family), chunk])
    finished = 0
    for i in range(CHUNK):
        size, run_13_1 = 14 + i % 2, bool(i // 2 % 2)
        counts = hand_oracle.FAMILIES[family](generator, size, run_13_1)
        complaint, is_finished = check_hand(counts, run_13_1)
        finished += is_finished
        if complaint:
            return finished, f"{rack_text(counts, 'R1')} (okey R1) run_13_1={run_13_1}: {complaint}"
    return finished, ""


def check_hand(counts: Array, run_13_1: bool) -> tuple[str, bool]:
    """What is wrong with the solver's answers for this hand, else nothing; and whether the hand is finished."""
    once, twice, wilds = hand.hand_of_counts(counts)
    once, twice = np.uint64(once), np.uint64(twice)
    covered = hand_oracle.most_covered(counts, run_13_1)
    distance = max(0, 14 - wilds - covered)
    complaint = ""
    if hand.cover(once, twice, run_13_1) != covered:
        complaint = f"the cover is {covered}"
    elif hand.pairs_distance(once, twice, wilds) != hand_oracle.pairs_distance(counts):
        complaint = f"the pairs distance is {hand_oracle.pairs_distance(counts)}"
    elif counts.sum() == 14 and hand.is_finished_melds(once, twice, wilds, run_13_1) != (distance == 0):
        complaint = f"the hand is {distance} tiles from a finish"
    return complaint or check_throws(counts, run_13_1, distance), distance == 0


def check_throws(counts: Array, run_13_1: bool, distance: int) -> str:
    """The same for all that is said about throwing and drawing, by trying it."""
    found = hands.analyse(counts, run_13_1=run_13_1)
    held = np.flatnonzero(counts)
    left = np.repeat(counts[None], len(held), axis=0)
    left[np.arange(len(held)), held] -= 1
    after = distances_of(left, run_13_1)
    if np.flatnonzero(found.keeps).tolist() != held[after == distance].tolist():
        return f"the kinds that can go without loss are {held[after == distance]}"

    can_come = (counts < 2) | (np.arange(53) == 52)
    right = useful_of(counts[None], can_come, run_13_1, distance)[0]
    if (found.useful != right).any():
        return f"the useful kinds are {np.flatnonzero(right)}"
    right_after = np.zeros((53, 53), np.uint8)
    if distance > 0:
        kept = after == distance
        right_after[held[kept]] = useful_of(left[kept], can_come, run_13_1, distance)
    if (found.useful_after != right_after).any():
        thrown = int(np.flatnonzero((found.useful_after != right_after).any(axis=1))[0])
        return f"the useful kinds after kind {thrown} is thrown are {np.flatnonzero(right_after[thrown])}"

    if counts.sum() == 15:
        finishing = np.zeros((2, 1, 53), np.uint8)
        hand.finishing_of_batch(counts[None], run_13_1, finishing[0], finishing[1])
        if np.flatnonzero(finishing[0, 0]).tolist() != held[after == 0].tolist():
            return f"the finishing kinds are {held[after == 0]}"
        pairs = [kind for kind in held if hand_oracle.is_seven_pairs(hand_oracle.after_throw(counts, int(kind)))]
        if np.flatnonzero(finishing[1, 0]).tolist() != pairs:
            return f"the finishing kinds by pairs are {pairs}"
    return ""


def distances_of(batch: Array, run_13_1: bool) -> Array:
    """Melds distances of any number of tiles."""
    melds = np.empty(len(batch), np.int8)
    hand.melds_of_batch(batch, run_13_1, melds)
    return melds


def useful_of(batch: Array, can_come: Array, run_13_1: bool, distance: int) -> Array:
    """For each hand and kind, whether its coming makes the distance smaller than `distance`, `[N, 53]`."""
    drawn = (batch[:, None, :] + np.eye(53, dtype=np.uint8)).reshape(-1, 53)
    shorter = distances_of(drawn, run_13_1).reshape(len(batch), 53) < distance
    return (shorter & can_come).astype(np.uint8)


if __name__ == "__main__":
    sys.exit(main())
