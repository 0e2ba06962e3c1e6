"""`okey play`: opens a table in the browser or in the terminal."""

import argparse
import os
from pathlib import Path

from okey_agents.commands._arguments import add_rules, rules_of

HELP = "play in the browser, or here with --terminal"
PORT = 8765


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("--port", type=int, default=PORT, help="port of the page; 0: any free one (%(default)s)")
    parser.add_argument("--no-browser", action="store_true", help="print the address of the page, but do not open it")
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on; with 0.0.0.0 other machines can connect (%(default)s)",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name under which browsers may connect, in addition to addresses; may be repeated",
    )
    parser.add_argument(
        "--bot",
        action="append",
        default=[],
        metavar="BOT",
        help="a bot to offer as a player, by file, folder, module:Name or cmd:program; may be repeated",
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=None,
        metavar="FOLDER",
        help="folder for tables and records (by default in the user's data folder)",
    )
    parser.add_argument("--terminal", action="store_true", help="play in this terminal, in text")
    terminal = parser.add_argument_group("with --terminal")
    add_rules(terminal)
    terminal.add_argument(
        "--against",
        nargs=3,
        default=None,
        metavar="BOT",
        help="the bots: right, opposite, left (by default the strongest)",
    )
    terminal.add_argument("--points", type=int, default=None, help="points at the start of the match, 5 to 21")
    terminal.add_argument("--seed", type=int, default=None, help="settles deals and bots (by default random)")


def run(arguments: argparse.Namespace) -> int:
    """Open the table, and return when it is closed."""
    bots = {_offered_as(bot): bot for bot in arguments.bot}
    if arguments.terminal:
        from okey_agents.table.terminal import play

        switches = [
            *arguments.switches,
            *([f"start_points={arguments.points}"] if arguments.points is not None else []),
        ]
        return play(rules_of(arguments.rules, switches), arguments.against, arguments.seed)

    from okey_agents.table.web.run import serve

    data = arguments.data if arguments.data is not None else _data_folder()
    serve(arguments.host, arguments.port, data, bots, arguments.allow_host, browser=not arguments.no_browser)
    return 0


def _offered_as(bot: str) -> str:
    """The name under which a bot is offered: the last part of its path, or the text that was given."""
    from okey_env.bots import read_name

    written = read_name(bot)
    if written.kind in ("file", "onnx", "folder"):
        return written.item or Path(written.place).resolve().stem
    return bot


def _data_folder() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".local" / "share"
    return Path(base) / "okey-env"
