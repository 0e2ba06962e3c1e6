"""Arguments that several verbs share: the rules, and settings as text."""

import argparse
from collections.abc import Sequence
from typing import Any

from okey_env.rules import PRESETS, Rules, as_rules


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add `--rules` and `--set`."""
    parser.add_argument("--rules", default="gamelake", metavar="PRESET", help=f"{' or '.join(PRESETS)} (%(default)s)")
    add_switches(parser)


def add_switches(parser: argparse.ArgumentParser) -> None:
    """Add `--set` for switches of the rules."""
    parser.add_argument(
        "--set",
        dest="switches",
        action="append",
        default=[],
        metavar="SWITCH=VALUE",
        help="a switch of the rules set otherwise, like stock_end=next_may_take; may be repeated",
    )


def rules_of(preset: str, switches: Sequence[str]) -> Rules:
    """The rules of a preset with switches set as text.

    Raises:
        ValueError: the preset or a switch is unknown, or a value is out of its range.

    >>> rules_of("klasik", ["max_throws=90", "teams=true"]).name
    'klasik, max_throws=90, teams=True'
    """
    if preset not in PRESETS:
        raise ValueError(f"{preset!r} is not a preset: expected {' or '.join(map(repr, PRESETS))}")
    return as_rules({"preset": preset, **{name: _value(name, text) for name, text in pairs(switches).items()}})


def pairs(settings: Sequence[str], option: str = "--set", like: str = "stock_end=next_may_take") -> dict[str, str]:
    """Texts `name=value` as a dictionary.

    Args:
        settings: the texts.
        option: where they were given.
        like: an example of one.

    Raises:
        ValueError: one of them has no name or no `=`.
    """
    found = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name:
            raise ValueError(f"{option} {setting}: expected a name and a value, like {like}")
        found[name.strip()] = text.strip()
    return found


def _value(switch: str, text: str) -> Any:
    """The value of a switch as its default has it: true or false, a whole number, or a word; Rules checks it."""
    default = getattr(Rules(), switch, None)
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text.lower(), text)
    try:
        return int(text) if isinstance(default, int) else text
    except ValueError:
        return text
