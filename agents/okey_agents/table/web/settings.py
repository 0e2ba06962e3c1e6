"""The settings of a table: rules, rack check, pace, and who sits where."""

import dataclasses
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any

from okey_agents.table.web.message import short
from okey_agents.table.web.refusal import Refused
from okey_env.rules import PRESETS, SWITCHES, Rules, as_rules
from okey_env.tiles import NUM_SEATS

PERSON = "person"
"""Stands for a person where a seat could also be given to a bot."""
PACES = {"slow": 1.2, "normal": 0.7, "fast": 0.25, "instant": 0.0}
"""Seconds that a bot waits before each of its moves, so that people can follow."""
CLOCKS = (0, 15, 30, 60)
"""Seconds of a person's turn. After them the bank runs, and when that is empty, a bot plays the turn. 0: no clock."""
RACK_CHECKS = ("free", "as_laid")
RULE_BOTS = ("expert", "efficient", "greedy", "cover", "random", "hard", "medium", "easy")
"""Bots that are ready as soon as the server is, if they are installed: they share their kernels."""
_MAX_NAME = 20
_JOINERS = "\u200c\u200d"
_STRENGTH = ("expert", "efficient", "greedy")


def rules_form() -> dict[str, Any]:
    """What the page needs to ask for rules: the presets, and each switch with its choices or its range."""
    return {
        "presets": {name: dataclasses.asdict(rules) for name, rules in PRESETS.items()},
        "switches": [
            {"name": switch.name, "choices": switch.choices, "between": switch.between} for switch in SWITCHES
        ],
    }


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings of a table, fixed when it is set up."""

    rules: Rules = dataclasses.field(default_factory=Rules)
    rack_check: str = "free"
    """R9.1. `free`: the server finds the melds; `as_laid`: they must lie on the rack with gaps between them."""
    pace: str = "normal"
    clock: int = 0
    seats: tuple[str, str, str, str] = (PERSON, "greedy", "greedy", "greedy")
    """For each seat a bot's name or `PERSON`. Who sets up the table takes the first person's seat, or watches."""

    def to_json(self) -> dict[str, Any]:
        """The settings as plain data, as in messages; the inverse of `read`."""
        preset = self.rules.preset_name
        return {
            "preset": preset,
            "switches": self.rules.differences(PRESETS[preset]),
            "rack_check": self.rack_check,
            "pace": self.pace,
            "clock": self.clock,
            "seats": list(self.seats),
        }

    @classmethod
    def read(cls, given: Mapping[str, Any], bots: Collection[str]) -> "Settings":
        """The settings in a message; what is missing there has its default. `bots` are those that can be chosen.

        Raises:
            Refused: a setting is unknown or has a wrong value; the sentence says which.
        """
        known = {"preset", "switches", "rack_check", "pace", "clock", "seats"}
        if unknown := sorted(set(given) - known):
            raise _bad(f"a table has no setting {short(unknown[0])}: expected {', '.join(sorted(known))}")
        switches = given.get("switches", {})
        if not isinstance(switches, dict):
            raise _bad(f"switches={short(switches)}: expected a mapping of switches of the rules")
        preset = _choice("preset", given.get("preset", "gamelake"), tuple(PRESETS))
        try:
            if "preset" in switches:
                raise ValueError("preset is not a switch of the rules: expected it beside them")
            rules = as_rules({"preset": preset, **switches})
        except (ValueError, TypeError) as error:
            raise _bad(str(error)[:300]) from None
        rack_check = _choice("rack_check", given.get("rack_check", "free"), RACK_CHECKS)
        pace = _choice("pace", given.get("pace", "normal"), tuple(PACES))
        clock = given.get("clock", 0)
        if type(clock) is not int or clock not in CLOCKS:
            raise _bad(f"clock={short(clock)} is not a choice: expected {' or '.join(map(str, CLOCKS))}")
        seats = given.get("seats", [PERSON, *[next(iter(bots))] * (NUM_SEATS - 1)])
        if not isinstance(seats, list) or len(seats) != NUM_SEATS:
            raise _bad(f"seats={short(seats)}: expected a list of {NUM_SEATS}")
        first, second, third, fourth = (_choice("seats", who, (PERSON, *bots)) for who in seats)
        return cls(rules, rack_check, pace, clock, (first, second, third, fourth))


def strongest(bots: Collection[str]) -> str:
    """The strongest of some bots: it plays where nobody has chosen one."""
    return next((name for name in _STRENGTH if name in bots), next(iter(bots)))


def player_name(given: Any) -> str:
    r"""A player's name as it is shown: one line of at most 20 characters, empty if nothing is left.

    Signs that join others stay between them, so that an emoji of several signs stays one.

    Raises:
        Refused: the name is not a text.

    >>> player_name(" Can \n 👩\u200d🚀"), player_name("\u200d")
    ('Can 👩\u200d🚀', '')
    """
    if not isinstance(given, str):
        raise _bad(f"name={short(given)}: expected a text")
    line = "".join(sign if sign.isprintable() or sign in _JOINERS else " " for sign in given)
    words = (word.strip(_JOINERS) for word in line.split())
    shown = " ".join(word for word in words if word)
    end = len(shown[:_MAX_NAME])
    while 0 < end < len(shown) and _belongs(shown[end - 1], shown[end]):
        end -= 1  # a cut within an emoji, or between a letter and its accent, would show another sign
    return shown[:end].strip()


def _belongs(before: str, sign: str) -> bool:
    """Whether a sign is one with the sign before it."""
    tone = "\U0001f3fb" <= sign <= "\U0001f3ff"
    return before in _JOINERS or sign in _JOINERS or tone or unicodedata.category(sign) in ("Mn", "Me")


def _choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise _bad(f"{name}={short(value)} is not a choice: expected {' or '.join(map(repr, choices))}")
    return str(value)


def _bad(text: str) -> Refused:
    return Refused("bad_settings", text)
