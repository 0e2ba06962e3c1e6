"""`okey benchmark`: trains algorithms on tasks under one budget, and ranks them."""

import argparse
from pathlib import Path

from okey_agents.commands._arguments import whole
from okey_env.checks import MAX_WORKERS

HELP = "train algorithms on tasks with the same budget, and rank them with intervals"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("suite", metavar="SUITE", help="smoke, evening, table or parts, or a TOML file")
    parser.add_argument(
        "--into",
        type=Path,
        metavar="FOLDER",
        help="folder for results and report, in which a stopped benchmark goes on (runs/benchmark-SUITE)",
    )
    parser.add_argument(
        "--workers", type=whole(1, MAX_WORKERS), metavar="N", help="runs side by side (by default one for each core)"
    )
    parser.add_argument(
        "--only",
        metavar="ALGORITHM,…",
        help="run only these algorithms of the suite; a file my_algo.py is run beside them",
    )
    parser.add_argument("--report", action="store_true", help="write the report of what is done, and run nothing")


def run(arguments: argparse.Namespace) -> int:
    """Run what is not done yet, and write the report."""
    from okey_agents.benchmark.report import write_report
    from okey_agents.benchmark.runner import run_suite
    from okey_agents.benchmark.suite import read_suite

    suite = read_suite(arguments.suite)
    folder = arguments.into or Path("runs") / f"benchmark-{suite.name}"
    failed = 0
    if not arguments.report:
        chosen = suite.only(arguments.only.split(",")) if arguments.only else suite
        failed = run_suite(chosen, folder, arguments.workers, tell=lambda said: print(said, flush=True))
    page = write_report(folder, suite)
    print(f"the report is in {page}")
    return 1 if failed else 0
