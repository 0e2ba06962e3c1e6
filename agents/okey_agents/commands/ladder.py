"""`okey ladder`: plays all bots against each other and rates each."""

import argparse
from pathlib import Path

from okey_agents.commands._arguments import add_ray, add_rules, elsewhere_of, pairs, rules_of, seed, whole
from okey_env.checks import MAX_DEALS, MAX_WORKERS

HELP = "play bots against each other: a rating of each, and the points of one against three"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("bots", nargs="*", metavar="BOT", help="two or more (by default all that are installed)")
    parser.add_argument(
        "--deals",
        type=whole(2, MAX_DEALS),
        default=500,
        metavar="N",
        help="deals that each lineup plays, four rounds each (%(default)s)",
    )
    parser.add_argument(
        "--fewer",
        action="append",
        default=[],
        metavar="BOT=N",
        help="let lineups with a slow bot play fewer deals; may be repeated",
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
    add_ray(parser)
    parser.add_argument(
        "--state", type=Path, metavar="FILE", help="keep the ladder in this file, and continue from it if it exists"
    )
    parser.add_argument(
        "--into", type=Path, metavar="FOLDER", help="folder to write ladder.md, ladder.svg and ladder.json to"
    )


def run(arguments: argparse.Namespace) -> int:
    """Play the ladder, and write and print it."""
    from okey_agents.console import PlainConsole
    from okey_agents.evaluate.ladder import play_ladder
    from okey_agents.evaluate.ladder_page import NUMBERS, PAGE, PICTURE, print_ladder, write_page
    from okey_env.files import check_writable

    if arguments.into is not None:  # said before the work, not after it
        if not arguments.into.is_dir():
            raise ValueError(f"--into: there is no folder {str(arguments.into)!r}")
        for name in (PAGE, PICTURE, NUMBERS):
            check_writable(arguments.into / name, "--into")
    if arguments.state is not None:
        check_writable(arguments.state, "--state")
    with elsewhere_of(arguments) as elsewhere:
        ladder = play_ladder(
            arguments.bots or installed(),
            arguments.deals,
            rules_of(arguments.rules, arguments.switches),
            arguments.seed,
            arguments.workers,
            fewer={name: _whole(name, text) for name, text in pairs(arguments.fewer, "--fewer", "search=100").items()},
            state=arguments.state,
            progress=True,
            elsewhere=elsewhere,
        )
    print_ladder(ladder, PlainConsole())  # first: it is not lost if the files cannot be written after all
    if arguments.into is not None:
        write_page(ladder, arguments.into)
    return 0


def installed() -> list[str]:
    """The names of all installed bots, one name for each: `easy` is left out, since it is `greedy`.

    A bot that is broken is named on stderr and left out.

    >>> names = installed()
    >>> "greedy" in names, "easy" in names
    (True, False)
    """
    import sys

    from okey_env.bots import bot_names, broken_bots, make_bot

    chosen: dict[str, str] = {}
    broken = broken_bots()
    for name, why in broken.items():
        print(f"okey: the ladder leaves out {name}: {why}", file=sys.stderr)
    for name in bot_names():
        if name in broken:
            continue
        own = make_bot(name).name
        if name == own or own not in chosen:
            chosen[own] = name
    return sorted(chosen.values())


def _whole(name: str, text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"--fewer {name}={text}: expected a bot and a whole number of deals, like search=100")
    return int(text)
