"""Play for long in one process, and see whether its memory stays flat: `scripts/soak.py --rounds 1000000`.

Rounds are played in `SelfPlay` (85 of 100), `OkeyVectorEnv` (10) and the AEC environment (5), with encoders, autoreset
and all ends; matches by bots at tables of the web server, which somebody watches. Memory is what the process has
resident. It is flat if it grows by less than 5 % or 20 MB from a quarter of the way on; otherwise the script ends with
status 1.
"""

import argparse
import asyncio
import itertools
import json
import logging
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import okey_env
from okey_agents.provenance import commit
from okey_agents.table.web.table_server import Limits, TableServer
from okey_env.bots import BatchBot
from tests.okey_agents.table.wire_fuzzer import Browser

PAGE = 4096 / 2**20
FLAT = 1.05, 20.0
"""The most growth after a quarter: as a factor, and in megabytes."""


def resident() -> float:
    """Megabytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE


def greedy() -> BatchBot:
    """A quick bot that finishes rounds."""
    bot = okey_env.make_bot("greedy", seed=1)
    assert isinstance(bot, BatchBot)
    return bot


def self_play(rounds: int) -> Iterator[int]:
    """Rounds of four seats; gives how many have ended."""
    games, bot, ended = okey_env.SelfPlay(256, encoder="flat", seed=1), greedy(), 0
    games.reset()
    while ended < rounds:
        games.step(bot.act_batch(games.records))
        games.events(16)
        ended += int((games.terminated | games.truncated).sum())
        yield ended


def vector(rounds: int) -> Iterator[int]:
    """Rounds of one seat against opponents that are drawn anew."""
    env, bot, ended = okey_env.OkeyVectorEnv(64, opponents={"greedy": 1, "random": 1}, seed=2), greedy(), 0
    env.reset()
    for step in itertools.count():
        if ended >= rounds:
            return
        if step % 1000 == 999:
            env.set_opponents({"greedy": 1.0 + step % 3, "random": 1.0})
        _, _, terminated, truncated, _ = env.step(bot.act_batch(env.records))
        ended += int((terminated | truncated).sum())
        yield ended


def aec(rounds: int) -> Iterator[int]:
    """Rounds in PettingZoo's loop."""
    env, rng = okey_env.env(rules={"max_throws": 60}, start={"distance-1": 1, "deal": 1}), np.random.default_rng(3)
    for ended in range(rounds):
        env.reset(seed=ended)
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated or observation is None:
                env.step(None)
            else:
                env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        yield ended + 1


def tables(matches: int) -> Iterator[int]:
    """Matches of four bots at eight tables of a server, which one person each watches."""
    with asyncio.Runner() as runner:
        limits = Limits(messages_per_second=1e6, burst=10**6)
        server = TableServer(limits=limits, new_seed=itertools.count(1).__next__, worlds=0)
        told: Counter[str] = Counter()
        watchers: list[Browser] = []

        async def begin() -> None:
            await server.open()
            await server.ready.wait()
            for _ in range(8):
                watchers.append(Browser(server, "192.0.2.1", logging.error, told))
                watchers[-1].say(json.dumps({"type": "create", "name": "", "settings": SETTINGS}))

        async def play(seconds: float) -> int:
            stop, over = time.monotonic() + seconds, 0
            while time.monotonic() < stop:
                await asyncio.sleep(0.001)
                for watcher in watchers:
                    if watcher.view and watcher.settled and watcher.view["stage"] in ("round_over", "match_over"):
                        over += watcher.view["stage"] == "match_over"
                        watcher.view["stage"] = "asked"
                        watcher.say('{"type":"ready"}')
            return over

        runner.run(begin())
        ended = 0
        while ended < matches:
            ended += runner.run(play(1.0))
            yield ended
        for watcher in watchers:
            watcher.close()
        runner.run(server.close())


SETTINGS = {"pace": "instant", "seats": ["greedy", "random", "greedy", "random"]}


def soak(name: str, games: Iterator[int], wanted: int) -> bool:
    """Play, look at the memory a hundred times, and say whether it was flat."""
    sizes: list[float] = []
    began, ended = time.process_time(), 0
    for ended in games:
        if ended >= wanted * (len(sizes) + 1) / 100:
            sizes.append(resident())
    quarter, last = max(sizes[: len(sizes) // 4 + 1]), max(sizes[-5:])
    flat = last < max(quarter * FLAT[0], quarter + FLAT[1])
    print(
        f"{name}: {ended:,} in {time.process_time() - began:.0f} CPU s; {quarter:.0f} MB in the first quarter, "
        f"{last:.0f} MB at the end: {'flat' if flat else 'it grows'}",
        flush=True,
    )
    return flat


def main() -> int:
    """Soak all of them; 1 if one grows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1_000_000)
    parser.add_argument("--matches", type=int, default=2_000)
    arguments = parser.parse_args()
    print(f"commit {commit()}")
    many, some, few = (arguments.rounds * share // 100 for share in (85, 10, 5))
    flat = [
        soak("rounds of SelfPlay", self_play(many), many),
        soak("rounds of OkeyVectorEnv", vector(some), some),
        soak("rounds of the AEC environment", aec(few), few),
        soak("matches at tables", tables(arguments.matches), arguments.matches),
    ]
    return 0 if all(flat) else 1


if __name__ == "__main__":
    sys.exit(main())
