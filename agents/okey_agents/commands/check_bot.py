"""`okey check-bot`: finds what is wrong with a program that speaks the protocol."""

import argparse

from okey_agents.commands._arguments import add_rules, rules_of

HELP = "put a program that speaks the protocol through rounds and traps, and say what is wrong with it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("bot", metavar="cmd:COMMAND", help='the program, like "cmd:./my_bot --level 3"')
    parser.add_argument("--rounds", type=int, default=8, metavar="N", help="rounds to play in each seat (%(default)s)")
    parser.add_argument(
        "--move-limit", type=float, default=2.0, metavar="SECONDS", help="a slower move is a fault (%(default)g)"
    )
    add_rules(parser)
    parser.add_argument("--seed", type=int, default=0, help="settles deals and traps")


def run(arguments: argparse.Namespace) -> int:
    """Check the program, and print its faults."""
    from okey_agents.protocol.check import check

    if not arguments.bot.startswith("cmd:"):
        raise ValueError(f"{arguments.bot!r} is not a program: expected cmd: and a command line, like cmd:./my_bot")
    if arguments.rounds < 1 or not arguments.move_limit > 0:
        raise ValueError("--rounds and --move-limit: expected numbers above 0")
    report = check(
        arguments.bot.removeprefix("cmd:"),
        rules_of(arguments.rules, arguments.switches),
        rounds=arguments.rounds,
        move_limit=arguments.move_limit,
        seed=arguments.seed,
    )
    print(report.text())
    return 1 if report.faults else 0
