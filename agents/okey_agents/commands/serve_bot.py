"""`okey serve-bot`: makes one of our bots a program that speaks the protocol."""

import argparse

HELP = "let a bot speak the protocol for other languages on stdin and stdout"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("bot", metavar="BOT", help="a bot's name, file or folder (see docs/write_a_bot.md)")


def run(arguments: argparse.Namespace) -> int:
    """Answer messages until `end` or the end of stdin."""
    from okey_agents.protocol.serve import serve_stdin

    serve_stdin(arguments.bot)
    return 0
