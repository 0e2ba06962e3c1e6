"""`okey bots`: lists the bots that are installed."""

import argparse

HELP = "list the bots that are installed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare nothing: the verb has no arguments."""


def run(arguments: argparse.Namespace) -> int:
    """Print each bot's name and the first line of the docstring of its entry point."""
    from importlib.metadata import entry_points

    from rich.table import Table
    from rich.text import Text

    from okey_agents.console import PlainConsole
    from okey_env.bots import BOTS_GROUP, make_bot

    grid = Table("name", "what it is")
    for name, entry in sorted((entry.name, entry) for entry in entry_points(group=BOTS_GROUP)):
        try:
            make_bot(name)
            what = Text((entry.load().__doc__ or "").strip().partition("\n")[0])
        except ValueError as error:
            what = Text(str(error), style="red")
        grid.add_row(name, what)
    PlainConsole().print(grid)
    return 0
