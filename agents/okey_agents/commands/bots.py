"""`okey bots`: lists the bots that are installed, and those that are broken."""

import argparse

HELP = "list the bots that are installed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare nothing: the verb has no arguments."""


def run(arguments: argparse.Namespace) -> int:
    """Print each bot's name and the first line of its docstring, or why it is broken."""
    from rich.table import Table
    from rich.text import Text

    from okey_agents.console import PlainConsole, one_line
    from okey_env.bots import bot_names, broken_bots, docstring_of

    broken = broken_bots()
    grid = Table("name", "what it is")
    for name in sorted({*bot_names(), *broken}):
        if name in broken:
            grid.add_row(one_line(name), Text(one_line(f"broken: {broken[name]}"), style="red"))
        else:
            grid.add_row(one_line(name), one_line(docstring_of(name).partition("\n")[0]))
    PlainConsole().print(grid)
    return 0
