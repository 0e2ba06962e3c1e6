"""A bot for okey as a program, in Python and its standard library alone.

    okey evaluate "cmd:python3 bot.py" random

It reads one JSON message a line and answers on stdout; docs/protocol.md has every field. The rule: finish when that is
possible, take a throw that makes a rack better, and throw the tile that fits least. Notes for people go to stderr.
"""

import json
import sys
from typing import Any

WILD = 52  # kinds 0 to 51 are colour * 13 + number - 1
DRAW, TAKE, THROW, FINISH = 0, 1, 3, 56


def worth(rack: list[int], kind: int) -> int:
    """How well one tile of a rack fits to the others: what lies near it in runs, and what has its number."""
    if kind == WILD:
        return 1000
    colour, number = divmod(kind, 13)
    kinds = set(rack)
    total = 0
    for step, value in ((1, 4), (2, 2)):
        for near in (number - step, number + step):
            if near == 13 and step == 1:
                near = 0  # a 1 may follow a 13
            if 0 <= near < 13 and colour * 13 + near in kinds:
                total += value
    for other in range(4):
        if other != colour and other * 13 + number in kinds:
            total += 4
    return total - (3 if rack.count(kind) > 1 else 0)  # a twin is of no use in melds


def choose(seen: dict[str, Any]) -> int:
    """One of the legal actions."""
    legal: list[int] = seen["legal_actions"]
    rack: list[int] = seen["rack"]
    points = dict(seen["finish_points"])
    finishes = [action for action in legal if action >= FINISH]
    if finishes:
        return max(finishes, key=lambda action: points[action - FINISH])
    throws = [action for action in legal if action >= THROW]
    if throws:
        return min(throws, key=lambda action: worth(rack, action - THROW))
    if TAKE in legal and (DRAW not in legal or worth([*rack, seen["offer"]], seen["offer"]) >= 8):
        return TAKE
    return DRAW if DRAW in legal else legal[0]


def main() -> None:
    """Answer messages until `end` or the end of the input."""
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            reply = {"type": "ready", "version": 1, "name": "python-example", "batch": 64}
        elif message["type"] == "act":
            actions = [choose(seen) for seen in message["observations"]]
            reply = {"type": "actions", "id": message["id"], "actions": actions}
        elif message["type"] == "end":
            return
        else:
            continue  # reset: this bot draws nothing by chance; and types that do not exist yet
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
