"""`okey tasks`: lists the tasks with the scores of known bots, and measures bots on them."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from okey_agents.commands._arguments import seed, whole
from okey_env.checks import MAX_DEALS, MAX_WORKERS

HELP = "list the tasks of the benchmark, or measure how bots score on them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument(
        "bots", nargs="*", metavar="BOT", help="bots to measure (by default none: the tasks are listed)"
    )
    parser.add_argument("--only", metavar="TASK,…", help="on these tasks only")
    parser.add_argument(
        "--deals", type=whole(2, MAX_DEALS), default=1_000, metavar="N", help="each played in every seat (%(default)s)"
    )
    parser.add_argument("--seed", type=seed, default=0, help="settles deals and bots")
    parser.add_argument("--workers", type=whole(1, MAX_WORKERS), default=1, metavar="N", help="processes (%(default)s)")
    parser.add_argument("--into", type=Path, metavar="FILE", help="JSON file to which the scores are added")


def run(arguments: argparse.Namespace) -> int:
    """List or measure."""
    from okey_agents.provenance import provenance
    from okey_env.files import check_writable
    from okey_env.tasks import REFERENCES, TASKS, task

    if arguments.into is not None:
        check_writable(arguments.into, "--into")
    tasks = [task(id) for id in arguments.only.split(",")] if arguments.only else list(TASKS.values())
    made = provenance()  # before the file is written, which changes a checkout that holds it
    print("Reward in an episode, with 95 % intervals by deal:")
    for one in tasks:
        print(f"\n{one.id}  {one.about}", flush=True)
        for bot in arguments.bots or REFERENCES:
            mean, margin = _measured(arguments, one.id, bot, made) if arguments.bots else one.scores[bot]
            print(f"  {bot:18} {mean:+.3f} ± {margin:.3f}".replace("-0.000", "+0.000"), flush=True)
    return 0


def _measured(arguments: argparse.Namespace, id: str, bot: str, made: Mapping[str, Any]) -> tuple[float, float]:
    """Measure a bot on a task, and add its score to the file if there is one."""
    from okey_agents.evaluate.measure import measure

    measured = measure(id, bot, arguments.deals, arguments.seed, arguments.workers)
    if measured.failures:
        print(f"  {bot} failed: {measured.failures}")
    found = measured.score
    mean, margin = round(found.mean, 4), round(found.margin, 4)
    if arguments.into is not None:
        _add(
            arguments.into, id, bot, [mean, margin], {**made, "how": f"{arguments.deals} deals, seed {arguments.seed}"}
        )
    return mean, margin


def _add(path: Path, id: str, bot: str, score: list[float], made: Mapping[str, Any]) -> None:
    from okey_env.files import write_whole
    from okey_env.tasks import REFERENCES

    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    names = {real: name for name, real in REFERENCES.items()}
    data.setdefault("scores", {}).setdefault(id, {})[names.get(bot, bot)] = score
    data.setdefault("made", {})[id] = {name: made[name] for name in ("date", "commit", "command", "machine", "how")}
    write_whole(path, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
