"""Arguments that several verbs share: numbers, rules, switches of the rules, and settings as text."""

import argparse
import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from okey_env.checks import positive_number, real_number, seed_number, whole_number
from okey_env.rules import PRESETS, Rules

if TYPE_CHECKING:
    from okey_agents.evaluate.runner import Elsewhere

Number = TypeVar("Number", int, float)


def whole(low: int, high: int | None = None) -> Callable[[str], int]:
    """The `type` of an argument that is a whole number in a range, both ends included.

    >>> whole(0, 65_535)("80")
    80
    """
    return lambda text: _checked(text, int, lambda value: whole_number("", value, low, high))


def real(low: float = -math.inf, high: float = math.inf) -> Callable[[str], float]:
    """The `type` of an argument that is a real number in a range, both ends included."""
    return lambda text: _checked(text, float, lambda value: real_number("", value, low, high))


def positive() -> Callable[[str], float]:
    """The `type` of an argument that is a real number above 0."""
    return lambda text: _checked(text, float, lambda value: positive_number("", value))


def seed(text: str) -> int:
    """The `type` of an argument that is a seed."""
    return _checked(text, int, lambda value: seed_number(value, ""))


def _checked(text: str, read: Callable[[str], Any], check: Callable[[Any], Number]) -> Number:
    """The number in a text; argparse prints the message after the name of the argument."""
    try:
        value = read(text)
    except ValueError:
        value = text
    try:
        return check(value)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("=")) from None


Arguments: TypeAlias = "argparse.ArgumentParser | argparse._ArgumentGroup"
"""What arguments can be added to: a parser, or a group of its arguments."""


def add_rules(parser: Arguments) -> None:
    """Add `--rules` and `--set`."""
    parser.add_argument("--rules", default="gamelake", metavar="PRESET", help=f"{' or '.join(PRESETS)} (%(default)s)")
    add_switches(parser)


def add_switches(parser: Arguments) -> None:
    """Add `--set` for switches of the rules."""
    parser.add_argument(
        "--set",
        dest="switches",
        action="append",
        default=[],
        metavar="SWITCH=VALUE",
        help="set a switch of the rules, like stock_end=next_may_take; may be repeated",
    )


def rules_of(preset: str, switches: Sequence[str]) -> Rules:
    """The rules of a preset with some switches set.

    Args:
        preset: its name.
        switches: texts `switch=value`.

    Raises:
        ValueError: the preset or a switch is unknown, or a value is out of its range.

    >>> rules_of("klasik", ["max_throws=90", "teams=true"]).name
    'klasik, max_throws=90, teams=True'
    """
    return Rules.preset(preset, **{name: _value(name, text) for name, text in pairs(switches).items()})


def pairs(settings: Sequence[str], option: str = "--set", like: str = "stock_end=next_may_take") -> dict[str, str]:
    """Texts `name=value` as a dictionary.

    Args:
        settings: the texts.
        option: the option that they were given with, for the message.
        like: an example of a setting, for the message.

    Raises:
        ValueError: a text has no name or no `=`.
    """
    found = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name:
            raise ValueError(f"{option} {setting}: expected a name and a value, like {like}")
        found[name.strip()] = text.strip()
    return found


def _value(switch: str, text: str) -> Any:
    """The text as the type of the switch: true or false, a whole number, or a word. `Rules` checks the value."""
    default = getattr(Rules(), switch, None)
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text.lower(), text)
    try:
        return int(text) if isinstance(default, int) else text
    except ValueError:
        return text


def add_ray(parser: Arguments) -> None:
    """Add `--ray` and `--ray-address`."""
    parser.add_argument("--ray", action="store_true", help="play on a Ray cluster that is started on this machine")
    parser.add_argument(
        "--ray-address", metavar="ADDRESS", help="play on the Ray cluster at this address (auto, or ray://HOST:10001)"
    )


@contextlib.contextmanager
def elsewhere_of(arguments: argparse.Namespace) -> Iterator["Elsewhere | None"]:
    """What plays the deals if `--ray` or `--ray-address` is given; otherwise None."""
    if not (arguments.ray or arguments.ray_address):
        yield None
        return
    from okey_agents.cluster.on_ray import RayCluster

    with RayCluster(arguments.ray_address, arguments.workers) as cluster:
        yield cluster
