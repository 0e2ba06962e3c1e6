"""Play at random under random rules, and check what must always hold: `scripts/fuzz.py --steps 100000000`.

- The 105 tiles beside the indicator are each in exactly one place.
- The mask is what `is_legal` says of each of the 109 actions.
- The points of a round that ends sum to zero, apart from what everybody loses in a void round.
- On a share of the positions: `Round` refuses each illegal action with a sentence and takes each legal one, and a seat
  sees the same when the tiles that it cannot see are dealt again.

- Every 20th block plays matches: one game of a batch is what a `Match` of its seed is, byte by byte, in every step; the
  rewards of a step sum to zero; and the batch says that the match is over when it is.

Each block of games has rules, starts and moves that follow from its number. With `--state FILE` the counts are kept now
and then, and a fuzzer that was stopped goes on; counts of another commit are not added to. It ends at the first fault
with the number of the block, which `--block` plays again.
"""

import argparse
import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from okey_agents.bots.greedy import GreedyBot
from okey_agents.provenance import commit, provenance
from okey_env import Match, Round, SelfPlay
from okey_env.actions import FINISH, NUM_ACTIONS
from okey_env.engine._jit import kernel
from okey_env.engine.batch import deal_all, observe_at
from okey_env.engine.hand.bits import as_int
from okey_env.engine.observe import look
from okey_env.engine.random import below, derive_seed
from okey_env.engine.resample import resample_all
from okey_env.engine.starts import start_range
from okey_env.engine.state import ENDED_BY_FINISH, GAME, NO_TILE, NOT_ENDED, OBSERVATION, new_games, rules_of
from okey_env.engine.turn import apply, is_legal
from okey_env.files import write_whole
from okey_env.interfaces import starts_of
from okey_env.rules import as_rules
from okey_env.tiles import NUM_KINDS, NUM_SEATS, NUM_STOCK
from tests.lockstep import random_rules

SOUND, TILES, MASK, POINTS = 0, 1, 2, 3
FAULTS = {TILES: "a tile is not in exactly one place", MASK: "the mask is not what is legal", POINTS: "points are lost"}
STARTS = {"deal": 3, "distance-1": 2, "distance-2": 1, "short-2": 1}
GREEDY = GreedyBot()
MOVES = 60
"""Actions of each game between two looks at it from outside."""


@kernel
def tiles_are_right(game: np.record, found: npt.NDArray[np.int64]) -> bool:
    """Whether each tile is in one place: two of a kind in racks, heaps, the stock or laid; one of the indicator's."""
    found[:] = 0
    for seat in range(NUM_SEATS):
        for kind in range(NUM_KINDS):
            found[kind] += np.int64(game.rack[seat, kind]) + np.int64(game.heap[seat, kind])
    if game.draw_queues == 0:
        for place in range(NUM_STOCK - game.stock_left, NUM_STOCK):
            found[game.stock[place]] += 1
        for place in range(game.set_aside):
            found[game.stock[place]] += 1
    else:
        quarter = NUM_STOCK // NUM_SEATS
        for seat in range(NUM_SEATS):
            for place in range(game.queue_next[seat], game.queue_end[seat]):
                found[game.stock[place]] += 1
            for place in range(game.set_aside // NUM_SEATS):
                found[game.stock[seat * quarter + place]] += 1
    if game.finish_kind != NO_TILE:
        found[game.finish_kind] += 1
    wrong = 0
    for kind in range(NUM_KINDS):
        wrong += found[kind] != 2 - (kind == game.indicator)
    return wrong == 0


@kernel
def fault_of(game: np.record, seen: np.record, mask: npt.NDArray[np.int8], found: npt.NDArray[np.int64]) -> int:
    """What is wrong with a game, whose mask is filled."""
    if not tiles_are_right(game, found):
        return TILES
    look(game, game.turn, seen, mask)
    if game.ending == NOT_ENDED:
        for action in range(NUM_ACTIONS):
            if (mask[action] != 0) != is_legal(game, action):
                return MASK
        return SOUND
    balance = 0
    for seat in range(NUM_SEATS):
        balance += as_int(game.won[seat]) - as_int(game.lost[seat])
    void = 0 if game.ending == ENDED_BY_FINISH else NUM_SEATS * np.int64(game.rules.void_points)
    return SOUND if balance + void == 0 else POINTS


@kernel
def play(
    games: npt.NDArray[np.record],
    records: npt.NDArray[np.record],
    seed: np.uint64,
    moves: int,
    counts: npt.NDArray[np.int64],
) -> int:
    """Play so many random actions in each game, and check it before each; returns the first fault.

    Args:
        games: `(N,)` of GAME; those that are over stay so.
        records: `(1,)` of OBSERVATION, to work in.
        seed: of the moves.
        moves: in each game.
        counts: `(2,)`, to which checked positions and ended rounds are added.
    """
    mask, found = np.zeros(NUM_ACTIONS, np.int8), np.zeros(NUM_KINDS, np.int64)
    for i in range(len(games)):
        state = derive_seed(seed, np.uint64(i))
        for step in range(moves):
            if games[i].ending != NOT_ENDED:
                break
            fault = fault_of(games[i], records[0], mask, found)
            if fault != SOUND:
                return fault
            legal = 0
            for action in range(NUM_ACTIONS):
                legal += mask[action]
            chosen = below(derive_seed(state, np.uint64(2 * step)), legal)
            wins = below(derive_seed(state, np.uint64(2 * step + 1)), 2) == 0
            played = -1
            for action in range(NUM_ACTIONS):
                if mask[action] != 0:
                    if chosen == 0 and played < 0:
                        played = action
                    chosen -= 1
                    if action >= FINISH and wins:
                        played = action
            apply(games[i], played)
            counts[0] += 1
            if games[i].ending != NOT_ENDED:
                counts[1] += 1
                fault = fault_of(games[i], records[0], mask, found)
                if fault != SOUND:
                    return fault
    return SOUND


def look_from_outside(games: npt.NDArray[Any], i: int, seed: int) -> str:
    """What is wrong with game i by `Round` and by hidden tiles dealt again; empty if nothing is."""
    round = Round(rules_of(games[i]), seed=0)
    round.games[0] = games[i]
    legal = set(round.legal_actions())
    for action in range(-1, NUM_ACTIONS + 2):
        before = round.save()
        try:
            round.apply(action)
            taken = True
        except ValueError as error:
            taken = False
            if not str(error) or round.save() != before:
                return f"action {action} is refused without a sentence, or changes the round"
        if taken != (action in legal):
            return f"action {action} is {'taken' if taken else 'refused'}, and the mask says otherwise"
        round.restore(before)
    seat = int(games["turn"][i])
    seen, again = np.zeros(1, OBSERVATION), np.zeros(3, OBSERVATION)
    observe_at(games[i : i + 1], np.zeros(1, np.int64), seen)
    worlds = np.zeros(3, GAME)
    if not resample_all(seen, 0, int(games["draw_queues"][i]), np.uint64(seed), worlds):
        return "no world agrees with what the seat sees"
    observe_at(worlds, np.arange(3), again)
    return "" if all(again[j].tobytes() == seen[0].tobytes() for j in range(3)) else f"seat {seat} sees hidden tiles"


def fuzz_block(number: int, counts: Counter[str]) -> str:
    """Play the games of a block; returns what is wrong, empty if nothing is."""
    rng = random.Random(number)
    rules = as_rules(random_rules(rng))
    games = new_games(rules, rng.choice((1, 3, 64, 200)), draw_queues=rng.random() < 0.33)
    deal_all(games, np.array([rng.getrandbits(63) for _ in games], np.uint64))
    start_range(games, starts_of(STARTS), 0, len(games))
    tally, records = np.zeros(2, np.int64), np.zeros(1, OBSERVATION)
    fault = ""
    while not fault and (games["ending"] == NOT_ENDED).any():
        fault = FAULTS.get(play(games, records, np.uint64(rng.getrandbits(63)), MOVES, tally), "")
        going = np.flatnonzero(games["ending"] == NOT_ENDED)
        if not fault and going.size:
            fault = look_from_outside(games, int(rng.choice(going)), rng.getrandbits(63))
            counts["positions seen from outside"] += 1
    counts["steps"] += int(tally[0])
    counts["rounds"] += int(tally[1])
    counts["rounds finished"] += int((games["ending"] == ENDED_BY_FINISH).sum())
    counts["blocks"] += 1
    return fault


def fuzz_matches(number: int, counts: Counter[str]) -> str:
    """Play a batch of matches, one of them also as a `Match`; returns what is wrong, empty if nothing is."""
    rng = random.Random(number)
    rules = as_rules({**random_rules(rng), "start_points": rng.choice((5, 6, 8))})
    seed, size = rng.getrandbits(63), rng.choice((1, 3, 16))
    reward = rng.choice(("placement", "zero_sum", "points"))
    games = SelfPlay(size, rules, encoder=None, seed=seed, reward=reward, episode="match")
    games.reset()
    watched, generator = rng.randrange(size), np.random.default_rng(number)
    match = Match(rules, seed=int(derive_seed(np.uint64(seed), np.uint64(watched))))
    mask, found, seen = np.zeros(NUM_ACTIONS, np.int8), np.zeros(NUM_KINDS, np.int64), np.zeros(1, OBSERVATION)
    counts["blocks"] += 1
    while not match.over:
        if games.save(watched) != match.round.save():
            return f"game {watched} of {size} is not the match of its seed"
        if fault := fault_of(games.games[watched], seen[0], mask, found):
            return FAULTS[fault]
        actions = GREEDY.act_batch(games.records)
        at_random = np.where(games.masks == 1, generator.random(games.masks.shape), -1).argmax(axis=1)
        actions = np.where(generator.random(size) < 0.2, at_random, actions)
        games.step(actions)
        match.apply(int(actions[watched]))
        counts["steps of matches"] += 1
        if reward != "points" and abs(games.rewards.sum(axis=1)).max() > 1e-4:
            return f"the rewards of {reward} do not sum to zero"
        if bool(games.terminated[watched] | games.truncated[watched]) != match.over:
            return "the batch and the match do not end together"
        if match.round.over and not match.over:
            match.next_round()
    counts["matches"] += 1
    return ""


def main() -> None:
    """Fuzz, and keep what was done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=10_000_000, help="steps in all, those of the state included")
    parser.add_argument("--state", type=Path, help="file that keeps the counts, and from which it goes on")
    parser.add_argument("--block", type=int, help="play this block alone, which has shown a fault")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    if options.state is not None and options.state.exists():
        kept = json.loads(options.state.read_text(encoding="utf-8"))
        if kept["made"]["commit"] == commit():
            counts.update(kept["counts"])
        else:
            print(f"{options.state} is of commit {kept['made']['commit']}: beginning anew", flush=True)
    while counts["steps"] < options.steps:
        number = counts["blocks"] if options.block is None else options.block
        fault = (fuzz_matches if number % 20 == 19 else fuzz_block)(number, counts)
        if fault:
            sys.exit(f"commit {commit()}, scripts/fuzz.py --block {number}: {fault}")
        if options.block is not None:
            break
        if options.state is not None and (counts["blocks"] % 200 == 0 or counts["steps"] >= options.steps):
            write_whole(options.state, json.dumps({"counts": counts, "made": provenance()}, indent=1) + "\n")
    print(", ".join(f"{count:,} {what}" for what, count in counts.items()))


if __name__ == "__main__":
    main()
