"""`okey rules`: prints the rule sheet of a preset."""

import argparse

from okey_agents.commands._arguments import add_switches, rules_of

HELP = "print the rule sheet of a preset"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("preset", nargs="?", default="gamelake", help="gamelake or klasik (gamelake)")
    add_switches(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the sheet."""
    print(rules_of(arguments.preset, arguments.switches).describe())
    return 0
