"""What is settled when a table is set up: rules, rack check, pace, who sits where."""

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

from okey_agents.table.web.refusal import Refused
from okey_env.rules import PRESETS, Rules, as_rules
from okey_env.tiles import NUM_SEATS

PERSON = "person"
"""Who is to sit there when it is no bot."""
PACES = {"slow": 1.2, "normal": 0.7, "fast": 0.25, "instant": 0.0}
"""Seconds that a bot waits before each of its moves, so that people can follow."""
RACK_CHECKS = ("free", "as_laid")
_MAX_NAME = 20


@dataclasses.dataclass(frozen=True)
class Settings:
    """A table before anybody sits at it."""

    rules: Rules = dataclasses.field(default_factory=Rules)
    rack_check: str = "free"
    """R9.1: `free`: the program finds the melds; `as_laid`: they must lie on the rack with gaps between them."""
    pace: str = "normal"
    seats: tuple[str, str, str, str] = (PERSON, "greedy", "greedy", "greedy")
    """For each seat a bot's name or `person`; who sets up the table takes the first person's seat, or watches."""

    def to_json(self) -> dict[str, Any]:
        """As a message has it; the inverse of `read`."""
        preset = self.rules.preset_name
        return {
            "preset": preset,
            "switches": self.rules.differences(PRESETS[preset]),
            "rack_check": self.rack_check,
            "pace": self.pace,
            "seats": list(self.seats),
        }

    @classmethod
    def read(cls, given: Mapping[str, Any], bots: Collection[str]) -> "Settings":
        """Settings from a message.

        Raises:
            Refused: something in it is not to be had; the sentence says what.
        """
        known = {"preset", "switches", "rack_check", "pace", "seats"}
        if unknown := sorted(set(given) - known):
            raise _bad(f"a table has no setting {unknown[0]!r}: expected {', '.join(sorted(known))}")
        switches = given.get("switches", {})
        if not isinstance(switches, dict):
            raise _bad(f"switches={switches!r}: expected a mapping of switches of the rules")
        try:
            rules = as_rules({"preset": given.get("preset", "gamelake"), **switches})
        except (ValueError, TypeError) as error:
            raise _bad(str(error)) from None
        rack_check = _choice("rack_check", given.get("rack_check", "free"), RACK_CHECKS)
        pace = _choice("pace", given.get("pace", "normal"), tuple(PACES))
        seats = given.get("seats", [PERSON, *[next(iter(bots))] * (NUM_SEATS - 1)])
        if not isinstance(seats, list) or len(seats) != NUM_SEATS:
            raise _bad(f"seats={seats!r}: expected a list of {NUM_SEATS}")
        first, second, third, fourth = (_choice("seats", who, (PERSON, *bots)) for who in seats)
        return cls(rules, rack_check, pace, (first, second, third, fourth))


def player_name(given: Any) -> str:
    """A name as it is shown: one line, not too long.

    Raises:
        Refused: it is no text.
    """
    if not isinstance(given, str):
        raise _bad(f"name={given!r}: expected a text")
    shown = " ".join("".join(sign if sign.isprintable() else " " for sign in given).split())[:_MAX_NAME].strip()
    return shown or "?"


def _choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise _bad(f"{name}={value!r} is not a choice: expected {' or '.join(map(repr, choices))}")
    return str(value)


def _bad(text: str) -> Refused:
    return Refused("bad_settings", text)
