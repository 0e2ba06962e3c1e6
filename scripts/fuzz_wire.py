"""Talk to the tables at random, well and badly, and check what must hold: `scripts/fuzz_wire.py --messages 100000`.

`tests/okey_agents/table/wire_fuzzer.py` says what is sent and what is checked. Each block is a server of its own and
follows from its number. With `--state FILE` the counts are kept after each block, and a fuzzer that was stopped goes
on; counts of another commit are not added to. It ends at the first fault, with the last messages.
"""

import argparse
import asyncio
import gc
import json
import resource
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from okey_agents.provenance import provenance
from okey_env.files import write_whole
from tests.okey_agents.table.wire_fuzzer import Block, FaultError

BLOCK = 2_000
"""Messages to one server."""
MOST_GROWTH = 30.0
"""Megabytes by which the process may grow from the third block on."""


def main() -> int:
    """Run blocks until enough messages were sent; 1 after a fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first block")
    parser.add_argument("--state", type=Path, help="keep the counts in this file, and go on from it")
    arguments = parser.parse_args()
    commit = provenance()["commit"]
    state: dict[str, Any] = {"commit": commit, "block": arguments.first, "counts": {}, "told": {}}
    if arguments.state and arguments.state.exists():
        kept = json.loads(arguments.state.read_text(encoding="utf-8"))
        if kept["commit"] == commit:
            state = kept
        else:
            print(f"{arguments.state} is of commit {kept['commit']}: beginning anew")
    counts, told = Counter(state["counts"]), Counter(state["told"])
    sizes: list[float] = []
    while counts["messages"] < arguments.messages:
        block = Block(state["block"])
        try:
            asyncio.run(block.run(BLOCK))
        except FaultError as fault:
            print(f"block {state['block']} at commit {commit}: {fault}")
            return 1
        counts, told = counts + block.counts, told + block.told
        del block
        gc.collect()
        sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        state |= {"block": state["block"] + 1, "counts": counts, "told": told}
        if arguments.state:
            write_whole(arguments.state, json.dumps(state))
        print(f"{counts['messages']:,} messages, {sizes[-1]:.0f} MB", flush=True)
    print(f"commit {commit}; sent and looked at: {dict(counts)}; answers: {dict(sorted(told.items()))}")
    if len(sizes) > 3 and sizes[-1] - sizes[2] > MOST_GROWTH:
        print(f"the process has grown from {sizes[2]:.0f} to {sizes[-1]:.0f} MB")
        return 1
    print("nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
