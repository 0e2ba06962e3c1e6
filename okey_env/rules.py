"""The rules of Okey as this package plays them: all switches and two presets.

Two published rule pages are the sources. **G** is the French page of the online game GameLake, played by
the preset `gamelake`; **K** is a Turkish site's *Okey Oyunu Kuralları*, played by the preset `klasik`.
Paragraphs carry numbers (`R4.2`) that docstrings, comments and tests cite. `okey_env.rule_sheet` has their text, and
`Rules.describe` prints them for one set of rules.

A switch is one field of `Rules`, declared by `_switch`. `SWITCHES` lists all of them. The record that kernels read, the
rule sheet and the form for rules on the web page are made from this list.

Okey 101, in which melds are laid on the table during the round, is another game and is not part of this package.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from okey_env.checks import choice, is_one_of, shown, whole_number, yes_or_no

START_POINTS_RANGE = (5, 21)
MAX_THROWS_RANGE = (1, 250)
"""With the upper end, the log of a round, at most two events a throw, fits into its 512 entries."""


class Switch(NamedTuple):
    """A switch of the rules: its values, and how a game record stores them."""

    name: str
    """The field of `Rules`."""
    paragraph: str
    """The number of the paragraph that it changes."""
    byte: str
    """The field of the RULES record. It holds the index of the value in `choices`, or the number itself."""
    choices: tuple[Any, ...]
    """All values in the order of their bytes; empty for a number."""
    between: tuple[int, int]
    """The least and the greatest number; not used for choices."""
    said_by: tuple[str, ...]
    """The presets whose source states the value that the preset has."""

    def check(self, value: Any) -> Any:
        """The value as the switch has it: a `bool`, a `str` or an `int`.

        Raises:
            ValueError: the switch cannot have the value; the message names the switch, the value and what was expected.
        """
        if self.choices == (False, True):
            return yes_or_no(self.name, value)
        if self.choices:
            return choice(self.name, value, self.choices)
        return whole_number(self.name, value, *self.between)

    def to_byte(self, value: Any) -> int:
        """The byte that stores a value."""
        return self.choices.index(value) if self.choices else int(value)

    def of_byte(self, byte: int) -> Any:
        """The value that a byte stores."""
        return self.choices[byte] if self.choices else byte


def _switch(
    default: Any,
    paragraph: str,
    *,
    byte: str = "",
    choices: tuple[Any, ...] = (False, True),
    between: tuple[int, int] | None = None,
    said_by: tuple[str, ...] = (),
) -> Any:
    """A field of `Rules`: its default, which is the value in `gamelake`, and the other fields of its `Switch`."""
    if between is not None:
        choices = ()
    return dataclasses.field(default=default, metadata={"switch": (paragraph, byte, choices, between, said_by)})


@dataclasses.dataclass(frozen=True)
class Rules:
    """Every switch of the rules; the defaults are the preset `gamelake`.

    Raises:
        ValueError: a switch is outside its range; the message names the switch, the value and the range.

    >>> Rules(max_throws=0)
    Traceback (most recent call last):
        ...
    ValueError: max_throws=0 is out of range: expected 1 to 250
    """

    run_13_1: bool = _switch(True, "R4.1", said_by=("gamelake",))
    """A 1 may follow a 13 in a run (12-13-1); nothing ever follows that 1."""
    combine: Literal["product", "max"] = _switch(
        "product", "R6.5", byte="combine_product", choices=("max", "product"), said_by=("gamelake", "klasik")
    )
    """Seven pairs and the okey together cost both doublings (`product`) or one (`max`)."""
    false_joker_as_okey: bool = _switch(False, "R6.3", said_by=("klasik",))
    """Finishing with a false joker costs as much as finishing with the okey."""
    indicator_points: int = _switch(1, "R6.6", between=(0, 10), said_by=("gamelake",))
    """Points that each other player loses when the indicator's twin is shown; 0: it cannot be shown."""
    indicator_window: Literal["first_turn", "before_draw"] = _switch(
        "first_turn", "R7.1", byte="show_before_draw", choices=("first_turn", "before_draw")
    )
    """When the twin may be shown: in the whole first turn, so that its drawn tile counts, or only before drawing."""
    stock_end: Literal["void_after_throw", "next_may_take"] = _switch(
        "void_after_throw", "R5.4", byte="next_may_take", choices=("void_after_throw", "next_may_take")
    )
    """Whether the throw after the last draw ends the round, or the next player may still take it to finish."""
    max_throws: int = _switch(200, "R5.6", between=MAX_THROWS_RANGE)
    """Throws after which a round is void; this end is a truncation."""
    colour_double: bool = _switch(False, "R6.9")
    """A red or black indicator doubles the points of the finish."""
    void_points: int = _switch(0, "R5.5", between=(0, 10), said_by=("gamelake", "klasik"))
    """Points that every player loses in a void round."""
    throw_visibility: Literal["history", "top_only"] = _switch(
        "history", "R3.4", byte="top_only", choices=("history", "top_only")
    )
    """Observations show all throws and takes, or only the tile on top of each heap."""
    teams: bool = _switch(False, "R8.4", said_by=("gamelake", "klasik"))
    """Seats 0 and 2 play against seats 1 and 3."""
    winners: int = _switch(1, "R8.3", between=(1, 2), said_by=("gamelake", "klasik"))
    """How many players win a match."""
    start_points: int = _switch(20, "R8.1", between=START_POINTS_RANGE)
    """Points of each player at the start of a match."""
    rotation: Literal["right", "winner"] = _switch("right", "R2.2", byte="winner_starts", choices=("right", "winner"))
    """In a match the start moves one seat to the right each round, or goes to the winner."""

    def __post_init__(self) -> None:
        for switch in SWITCHES:
            object.__setattr__(self, switch.name, switch.check(getattr(self, switch.name)))

    @classmethod
    def preset(cls, name: str, /, **switches: Any) -> "Rules":
        """The preset of this name, with some switches changed.

        Raises:
            ValueError: there is no such preset or switch, or a value is out of its range.

        >>> Rules.preset("klasik", max_throws=100).name
        'klasik, max_throws=100'
        """
        if not is_one_of(name, PRESETS):
            raise ValueError(f"{shown(name)} is not a preset: expected {' or '.join(map(repr, PRESETS))}")
        _check_switches(switches)
        return dataclasses.replace(PRESETS[name], **switches)

    @property
    def preset_name(self) -> str:
        """The name of the preset with the fewest differences from these rules."""
        return min(PRESETS, key=lambda name: len(self.differences(PRESETS[name])))

    @property
    def name(self) -> str:
        """The nearest preset and the switches that differ from it, like `klasik, max_throws=100`."""
        differences = self.differences(PRESETS[self.preset_name])
        return ", ".join([self.preset_name, *(f"{switch}={value}" for switch, value in differences.items())])

    def differences(self, other: "Rules") -> dict[str, Any]:
        """The switches whose values differ from those in `other`, with their values in these rules."""
        values = {switch.name: getattr(self, switch.name) for switch in SWITCHES}
        return {name: value for name, value in values.items() if value != getattr(other, name)}

    def describe(self) -> str:
        """The rule sheet: every paragraph as these rules play it, in words, with the switches named.

        >>> print(Rules.preset("klasik").describe().splitlines()[0])
        Okey, rules: klasik
        """
        from okey_env.rule_sheet import describe  # rule_sheet imports this module

        return describe(self)


SWITCHES: tuple[Switch, ...] = tuple(
    Switch(field.name, paragraph, byte or field.name, choices, between or (0, len(choices) - 1), said_by)
    for field in dataclasses.fields(Rules)
    for paragraph, byte, choices, between, said_by in [field.metadata["switch"]]
)
"""All switches, in the order of the bytes in a game record."""

PRESETS: dict[str, Rules] = {
    "gamelake": Rules(),
    "klasik": Rules(combine="max", false_joker_as_okey=True, indicator_points=0, winners=2),
}
"""The presets by name."""

_EARLIER_NAMES = {"color_double": "colour_double", "discard_visibility": "throw_visibility"}
"""Names of switches in files that version 0.1 wrote, with their names now."""


def as_rules(rules: "str | Rules | Mapping[str, Any]") -> Rules:
    """Rules from a preset's name, from `Rules`, or from a mapping `{"preset": …, switch: value, …}`.

    Raises:
        ValueError: there is no such preset or switch, or a value is out of its range.
        TypeError: `rules` is of another type.

    >>> as_rules({"preset": "klasik", "stock_end": "next_may_take"}).name
    'klasik, stock_end=next_may_take'
    """
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str):
        return Rules.preset(rules)
    if isinstance(rules, Mapping):
        _check_switches(rules, "preset", *_EARLIER_NAMES)
        switches = {_EARLIER_NAMES.get(name, name): value for name, value in rules.items()}
        return Rules.preset(switches.pop("preset", "gamelake"), **switches)
    raise TypeError(f"rules={shown(rules)}: expected a preset's name, Rules or a mapping of switches")


def _check_switches(given: Mapping[Any, Any], *others: str) -> None:
    known = [*(switch.name for switch in SWITCHES), *others]
    for name in given:
        if not is_one_of(name, known):
            names = ", ".join(sorted(switch.name for switch in SWITCHES))
            raise ValueError(f"{shown(name)} is not a switch of the rules: expected one of {names}")
