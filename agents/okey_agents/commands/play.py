"""`okey play`: opens a table in the browser or in the terminal."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from okey_agents.commands._arguments import add_rules, rules_of, seed, whole
from okey_env.rules import START_POINTS_RANGE

HELP = "play in the browser, or here with --terminal"
PORT = 8765


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument(
        "--port", type=whole(0, 65_535), default=PORT, help="port of the page; 0: any free one (%(default)s)"
    )
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
    terminal.add_argument(
        "--points", type=whole(*START_POINTS_RANGE), default=None, help="points at the start of the match, 5 to 21"
    )
    terminal.add_argument("--seed", type=seed, default=None, help="settles deals and bots (by default random)")


def run(arguments: argparse.Namespace) -> int:
    """Open the table, and return when it is closed."""
    if arguments.terminal:
        from okey_agents.table.terminal import play

        switches = [
            *arguments.switches,
            *([f"start_points={arguments.points}"] if arguments.points is not None else []),
        ]
        return play(rules_of(arguments.rules, switches), arguments.against, arguments.seed)

    from okey_agents.table.web.run import CannotListenError, serve

    data = arguments.data if arguments.data is not None else _data_folder()
    names = [_host(name) for name in arguments.allow_host]
    try:
        serve(arguments.host, arguments.port, data, _bots(arguments.bot), names, browser=not arguments.no_browser)
    except CannotListenError as error:
        print(f"okey: {error}", file=sys.stderr)
        return 2
    return 0


def _bots(given: Sequence[str]) -> dict[str, str]:
    """The bots that are offered, by name: the last part of a path, or the text that was given.

    Raises:
        ValueError: another bot, or a person, has this name.
    """
    from okey_agents.table.web.settings import PERSON
    from okey_env.bots import bot_names

    bots: dict[str, str] = {}
    for bot in given:
        name = _offered_as(bot)
        if name in (*bots, *bot_names(), PERSON):
            raise ValueError(f"--bot {bot}: the name {name!r} is taken: rename the file or folder")
        bots[name] = bot
    return bots


def _host(name: str) -> str:
    if not name or set(name) & set("/:@ "):
        raise ValueError(f"--allow-host {name!r}: expected the name of a host alone, like okey.example")
    return name


def _offered_as(bot: str) -> str:
    """The name under which a bot is offered: the last part of its path, or the text that was given."""
    from okey_env.bots import read_name

    written = read_name(bot)
    if written.kind == "folder":
        return Path(written.place).resolve().name
    if written.kind in ("file", "onnx"):
        return written.item or Path(written.place).stem
    return bot


def _data_folder() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return Path(base or Path.home() / ".local" / "share") / "okey-env"
    except RuntimeError:
        raise ValueError("there is no home folder to keep tables in: name a folder with --data") from None
