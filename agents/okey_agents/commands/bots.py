"""`okey bots`: lists the bots that are installed, and those that are broken."""

import argparse

HELP = "list the bots that are installed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare nothing: the verb has no arguments."""


def run(arguments: argparse.Namespace) -> int:
    """Print each bot's name and the first line of its docstring, or why it is broken."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from okey_env.bots import bot_names, broken_bots, docstring_of

    broken = broken_bots()
    grid = Table("name", "what it is")
    for name in sorted({*bot_names(), *broken}):
        if name in broken:
            grid.add_row(Text(name), Text(f"broken: {broken[name]}", style="red"))
        else:
            grid.add_row(Text(name), Text(docstring_of(name).partition("\n")[0]))
    Console().print(grid)
    return 0
