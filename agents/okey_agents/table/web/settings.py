"""The settings of a table: rules, rack check, pace, and who sits where."""

import dataclasses
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
RACK_CHECKS = ("free", "as_laid")
RULE_BOTS = ("expert", "efficient", "greedy", "cover", "random", "hard", "medium", "easy")
"""Bots that are ready as soon as the server is, if they are installed: they share their kernels."""
_MAX_NAME = 20
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
            "seats": list(self.seats),
        }

    @classmethod
    def read(cls, given: Mapping[str, Any], bots: Collection[str]) -> "Settings":
        """The settings in a message; what is missing there has its default. `bots` are those that can be chosen.

        Raises:
            Refused: a setting is unknown or has a wrong value; the sentence says which.
        """
        known = {"preset", "switches", "rack_check", "pace", "seats"}
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
        seats = given.get("seats", [PERSON, *[next(iter(bots))] * (NUM_SEATS - 1)])
        if not isinstance(seats, list) or len(seats) != NUM_SEATS:
            raise _bad(f"seats={short(seats)}: expected a list of {NUM_SEATS}")
        first, second, third, fourth = (_choice("seats", who, (PERSON, *bots)) for who in seats)
        return cls(rules, rack_check, pace, (first, second, third, fourth))


def strongest(bots: Collection[str]) -> str:
    """The strongest of some bots: it plays where nobody has chosen one."""
    return next((name for name in _STRENGTH if name in bots), next(iter(bots)))


def player_name(given: Any) -> str:
    """A player's name as it is shown: one line of at most 20 characters, `?` if nothing is left.

    Raises:
        Refused: the name is not a text.
    """
    if not isinstance(given, str):
        raise _bad(f"name={short(given)}: expected a text")
    shown = " ".join("".join(sign if sign.isprintable() else " " for sign in given).split())[:_MAX_NAME].strip()
    return shown or "?"


def _choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise _bad(f"{name}={short(value)} is not a choice: expected {' or '.join(map(repr, choices))}")
    return str(value)


def _bad(text: str) -> Refused:
    return Refused("bad_settings", text)
