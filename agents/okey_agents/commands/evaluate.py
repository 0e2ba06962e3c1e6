"""`okey evaluate`: measures a bot against others."""

import argparse
from pathlib import Path

from okey_agents.commands._arguments import add_ray, add_rules, elsewhere_of, positive, real, rules_of, seed, whole
from okey_env.checks import MAX_DEALS, MAX_WORKERS

HELP = "measure a bot against others: the same deals in every seat, 95 % intervals"

_DEALS = 1_000
_MOST_DEALS = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("challenger", metavar="CHALLENGER", help="a bot's name (see `okey bots`) or the folder of one")
    parser.add_argument(
        "opponents",
        nargs="*",
        metavar="OPPONENT",
        help="one, for all three other seats, or three: right, opposite, left",
    )
    parser.add_argument(
        "--deals",
        type=whole(2, MAX_DEALS),
        metavar="N",
        help=f"deals to play, four rounds each ({_DEALS:,}; with --sprt at most {_MOST_DEALS:,})",
    )
    add_rules(parser)
    parser.add_argument(
        "--seed", type=seed, default=0, help="settles deals and bots; the same seed gives the same numbers"
    )
    parser.add_argument(
        "--workers",
        type=whole(1, MAX_WORKERS),
        metavar="N",
        help="processes (by default one for each core, or one if that is quicker)",
    )
    parser.add_argument(
        "--sprt",
        nargs=2,
        type=real(),
        metavar=("LOW", "HIGH"),
        help="stop as soon as a sequential test (SPRT, error rates 5 %%) decides whether the mean is at most LOW or at "
        "least HIGH points a round; a bot that plays like its opponents has mean 0",
    )
    add_ray(parser)
    parser.add_argument(
        "--state", type=Path, metavar="FILE", help="keep the evaluation in this file, and continue from it if it exists"
    )
    parser.add_argument(
        "--move-limit",
        type=positive(),
        default=10.0,
        metavar="SECONDS",
        help="replace a move that takes longer (%(default)g)",
    )
    parser.add_argument(
        "--records",
        type=Path,
        metavar="FOLDER",
        help="folder to write a record of each round to, for `okey replay` and `okey review`",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="file to write all numbers to")


def run(arguments: argparse.Namespace) -> int:
    """Evaluate, and write and print the report."""
    from okey_agents.console import PlainConsole
    from okey_agents.evaluate.arena import evaluate
    from okey_agents.evaluate.sprt import Sprt
    from okey_env.files import check_writable

    for option in ("json", "state"):
        file = getattr(arguments, option)
        if file is not None:  # said before the work, not after it
            check_writable(file, f"--{option}")
    with elsewhere_of(arguments) as elsewhere:
        report = evaluate(
            arguments.challenger,
            tuple(arguments.opponents),
            arguments.deals if arguments.deals is not None else (_MOST_DEALS if arguments.sprt else _DEALS),
            rules_of(arguments.rules, arguments.switches),
            arguments.seed,
            arguments.workers,
            sprt=Sprt(*arguments.sprt) if arguments.sprt else None,
            move_limit=arguments.move_limit,
            state=arguments.state,
            records=arguments.records,
            progress=True,
            elsewhere=elsewhere,
        )
    report.print(PlainConsole())  # first: it is not lost if the file cannot be written after all
    if arguments.json is not None:
        report.write_json(arguments.json)
    return 0
