"""`okey evaluate`: measure a bot against others."""

import argparse
from pathlib import Path

from okey_agents.commands._arguments import add_rules, rules_of

HELP = "measure a bot against others: the same deals in every seat, 95 % intervals"

_DEALS = 1_000
_MOST_DEALS = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("challenger", metavar="CHALLENGER", help="a bot's name (see `okey bots`) or the folder of one")
    parser.add_argument("opponents", nargs="*", metavar="OPPONENT", help="one, for the three other seats, or three")
    parser.add_argument(
        "--deals", type=int, metavar="N", help=f"each is four rounds ({_DEALS:,}; with --sprt at most {_MOST_DEALS:,})"
    )
    add_rules(parser)
    parser.add_argument("--seed", type=int, default=0, help="settles deals and bots; the same seed, the same numbers")
    parser.add_argument("--workers", type=int, metavar="N", help="processes; by default as many as pay")
    parser.add_argument(
        "--sprt",
        nargs=2,
        type=float,
        metavar=("LOW", "HIGH"),
        help="stop as soon as a sequential test with error rates of 5 %% tells a mean of at most LOW points a round "
        "from one of at least HIGH; 0 is a bot that plays like its opponents",
    )
    parser.add_argument(
        "--state", type=Path, metavar="FILE", help="keep the evaluation in this file, and go on from what is in it"
    )
    parser.add_argument(
        "--move-limit", type=float, default=10.0, metavar="SECONDS", help="a slower move is replaced (%(default)g)"
    )
    parser.add_argument(
        "--records",
        type=Path,
        metavar="FOLDER",
        help="write each round as a record, for `okey replay` and `okey review`",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="file to write all numbers to")


def run(arguments: argparse.Namespace) -> int:
    """Evaluate, write the report and print it."""
    from rich.console import Console

    from okey_agents.evaluate.arena import Options, evaluate
    from okey_agents.evaluate.sprt import Sprt

    for option in ("json", "state"):
        file = getattr(arguments, option)
        if file is not None and not file.parent.is_dir():  # before the work, not after it
            raise ValueError(f"--{option}: there is no folder {str(file.parent)!r}")
    report = evaluate(
        arguments.challenger,
        tuple(arguments.opponents),
        arguments.deals if arguments.deals is not None else (_MOST_DEALS if arguments.sprt else _DEALS),
        rules_of(arguments.rules, arguments.switches),
        arguments.seed,
        arguments.workers,
        sprt=Sprt(*arguments.sprt) if arguments.sprt else None,
        options=Options(arguments.move_limit, arguments.state, arguments.records, progress=True),
    )
    if arguments.json is not None:
        report.write_json(arguments.json)
    report.print(Console())
    return 0
