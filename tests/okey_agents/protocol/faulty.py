"""A program with one fault, for the tests of the protocol: `python faulty.py FAULT`. Without a fault it plays well."""

import json
import os
import subprocess
import sys
import time
from typing import Any


def main(fault: str) -> None:
    count = 0
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            ready: dict[str, Any] = {"type": "ready", "version": 1, "name": "faulty", "batch": 4}
            if fault == "version":
                ready["version"] = 2
            if fault == "silent-start":
                time.sleep(60)
            if fault == "leaves-child":
                subprocess.Popen(["sleep", "30"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=2)
            say("Hello, I am a bot" if fault == "noise" else json.dumps(ready))
        elif kind == "act":
            count += 1
            say_actions(fault, message, count)
        elif kind == "end" and fault != "ignores-end":
            return
        elif kind not in ("reset", "end") and fault == "strict-types":
            raise ValueError(f"unknown type {kind}")
    if fault == "ignores-eof":
        time.sleep(60)


def say_actions(fault: str, message: dict[str, Any], count: int) -> None:
    seen = message["observations"]
    if fault == "strict-fields" and "x_new" in message:
        raise ValueError("unknown field")
    actions: list[Any] = [position["legal_actions"][-1 if fault == "moody" and count % 2 else 0] for position in seen]
    number = message["id"]
    if fault == "illegal" and count % 3 == 0:
        actions = [1000 for _ in seen]
    if fault == "float":
        actions = [float(action) for action in actions]
    if fault == "too-few":
        actions = actions[1:]
    if fault == "wrong-id":
        number += 1
    if (fault == "slow" and count == 3) or fault == "silent":
        time.sleep(60)
    if fault == "dies" and count == 3:
        print("my last words", file=sys.stderr)
        os._exit(7)
    if fault == "stderr":
        sys.stderr.write("x" * 100_000 + "\n")
    if fault == "stdout":
        say("x" * 3_000_000)
    if fault == "bytes":
        sys.stdout.flush()
        os.write(1, b"\xff\xfe\n")
    if fault == "wants":
        say(json.dumps({"type": "show_racks", "id": number}))
    if fault == "no-newline":
        sys.stdout.write(json.dumps({"type": "actions", "id": number, "actions": actions}))
        sys.stdout.flush()
        return
    if fault == "says-error":
        say(json.dumps({"type": "error", "id": number, "message": "I have no idea"}))
        return
    say(json.dumps({"type": "actions", "id": number, "actions": actions}))
    if fault == "twice":
        say(json.dumps({"type": "actions", "id": number, "actions": actions}))


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
