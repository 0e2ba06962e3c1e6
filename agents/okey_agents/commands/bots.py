"""`okey bots`: lists the bots that are installed."""

import argparse

HELP = "list the bots that are installed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare nothing: the verb has no arguments."""


def run(arguments: argparse.Namespace) -> int:
    """Print each bot's name and the first line of its docstring."""
    from rich.console import Console
    from rich.table import Table

    from okey_env.bots import bot_names, make_bot

    grid = Table("name", "what it is")
    for name in bot_names():
        try:
            what = (type(make_bot(name)).__doc__ or "").strip().partition("\n")[0]
        except ValueError as error:
            what = f"[red]{error}[/red]"
        grid.add_row(name, what)
    Console().print(grid)
    return 0
