"""`okey bots`: the bots that are installed."""

import argparse

HELP = "list the bots that are installed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are none."""


def run(arguments: argparse.Namespace) -> int:
    """Print a table of names and first lines."""
    from rich.console import Console
    from rich.table import Table

    from okey_env.bots import bot_names, make_bot

    table = Table("name", "what it is")
    for name in bot_names():
        try:
            what = (type(make_bot(name)).__doc__ or "").strip().partition("\n")[0]
        except ValueError as error:
            what = f"[red]{error}[/red]"
        table.add_row(name, what)
    Console().print(table)
    return 0
