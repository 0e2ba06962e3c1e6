"""`okey bench`: measures speed on this machine."""

import argparse
from pathlib import Path

HELP = "measure the speed of the engine, the environments and the hand solver"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("--json", type=Path, metavar="FILE", help="file to write all numbers to")
    parser.add_argument("--quick", action="store_true", help="take a tenth of the time; the numbers are rougher")


def run(arguments: argparse.Namespace) -> int:
    """Run the benchmark, and print and write its numbers."""
    from okey_agents.bench import run as run_benchmark

    run_benchmark(arguments.json, seconds=0.1 if arguments.quick else 1.0)
    return 0
