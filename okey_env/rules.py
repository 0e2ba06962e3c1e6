"""The rules of Okey as this package plays them: every switch, two presets, and the rule sheet.

Two published rule pages are the sources. **G** is the French page of the online game GameLake, played by
the preset `gamelake`; **K** is a Turkish site's *Okey Oyunu Kuralları*, played by the preset `klasik`.
Paragraphs carry numbers (`R4.2`) that docstrings, comments and tests cite; `Rules.describe` prints them all
for one set of rules, each marked *said* where its source states it and *chosen* where the source is silent
and common practice decides.

Not here: Okey 101, in which melds go on the table during the round. That is another game.
"""

import dataclasses
import textwrap
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

START_POINTS_RANGE = (5, 21)
MAX_THROWS_RANGE = (1, 250)
"""The upper end keeps the log of a round, at most two events a throw, within its 512 places."""


@dataclasses.dataclass(frozen=True)
class Rules:
    """Every switch of the rules; the defaults are the preset `gamelake`.

    Raises:
        ValueError: a switch is outside its range; the message names the switch, the value and the range.

    >>> Rules(max_throws=0)
    Traceback (most recent call last):
        ...
    ValueError: max_throws=0 is out of range: expected a whole number from 1 to 250
    """

    run_13_1: bool = True
    """R4.1: a 1 may follow a 13 in a run (12-13-1); nothing ever follows that 1."""
    combine: Literal["product", "max"] = "product"
    """R6.5: seven pairs and the okey together cost both doublings (`product`) or one (`max`)."""
    false_joker_as_okey: bool = False
    """R6.3: finishing with a false joker costs as much as finishing with the okey."""
    indicator_points: int = 1
    """R6.6: points that each other player loses when the indicator's twin is shown; 0: there is no showing."""
    indicator_window: Literal["first_turn", "before_draw"] = "first_turn"
    """R7.1: show during the whole first turn, so that its drawn tile counts, or only before drawing."""
    stock_end: Literal["void_after_throw", "next_may_take"] = "void_after_throw"
    """R5.4: the throw after the last draw ends the round, or the next player may still take it to finish."""
    max_throws: int = 200
    """R5.6: throws after which a round is void, reported as truncation."""
    color_double: bool = False
    """R6.9: a red or black indicator doubles the points of the finish."""
    void_points: int = 0
    """R6.9: points that every player loses in a void round."""
    discard_visibility: Literal["history", "top_only"] = "history"
    """R3.4: observations show all throws and takes, or only the tile on top of each heap."""
    start_points: int = 20
    """R8.1: points of each player at the start of a match."""
    winners: int = 1
    """R8.3: how many players win a match."""
    teams: bool = False
    """R8.4: seats 0 and 2 play against seats 1 and 3."""
    rotation: Literal["right", "winner"] = "right"
    """R2.2: in a match the start moves one seat to the right each round, or goes to the winner."""

    def __post_init__(self) -> None:
        ranges = {
            "indicator_points": (0, 10),
            "max_throws": MAX_THROWS_RANGE,
            "void_points": (0, 10),
            "start_points": START_POINTS_RANGE,
            "winners": (1, 2),
        }
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name in ranges:
                low, high = ranges[field.name]
                if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                    raise ValueError(
                        f"{field.name}={value!r} is out of range: expected a whole number from {low} to {high}"
                    )
            elif field.name in _CHOICES:
                if value not in _CHOICES[field.name]:
                    choices = " or ".join(map(repr, _CHOICES[field.name]))
                    raise ValueError(f"{field.name}={value!r} is not a choice: expected {choices}")
            elif not isinstance(value, bool):
                raise ValueError(f"{field.name}={value!r} is not a switch value: expected True or False")

    @classmethod
    def preset(cls, name: str, **switches: Any) -> "Rules":
        """The preset of that name, with some switches set otherwise.

        >>> Rules.preset("klasik", max_throws=100).name
        'klasik, max_throws=100'
        """
        if name not in PRESETS:
            raise ValueError(f"{name!r} is not a preset: expected {' or '.join(map(repr, PRESETS))}")
        known = {field.name for field in dataclasses.fields(cls)}
        for switch in switches:
            if switch not in known:
                raise ValueError(f"{switch!r} is not a switch of the rules: expected one of {', '.join(sorted(known))}")
        return dataclasses.replace(PRESETS[name], **switches)

    @property
    def preset_name(self) -> str:
        """The preset nearest to these rules."""
        return min(PRESETS, key=lambda name: len(self.differences(PRESETS[name])))

    @property
    def name(self) -> str:
        """The nearest preset and what differs from it."""
        differences = self.differences(PRESETS[self.preset_name])
        return ", ".join([self.preset_name, *(f"{switch}={value}" for switch, value in differences.items())])

    def differences(self, other: "Rules") -> dict[str, Any]:
        """The switches set otherwise than in `other`, with their values here."""
        mine = dataclasses.asdict(self)
        return {switch: value for switch, value in mine.items() if value != getattr(other, switch)}

    def describe(self) -> str:
        """The rule sheet: every paragraph as these rules play it, in words, with the switches named.

        >>> print(Rules.preset("klasik").describe().splitlines()[0])
        Okey, rules: klasik
        """
        lines = [f"Okey, rules: {self.name}"]
        for title, paragraphs in _sheet(self):
            lines += ["", title]
            for paragraph in paragraphs:
                where = f"{paragraph.origin}; switch {paragraph.switch}" if paragraph.switch else paragraph.origin
                text = f"{paragraph.text} [{where}]"
                lines.append(
                    textwrap.fill(text, 100, initial_indent=f"{paragraph.number:<5} ", subsequent_indent=" " * 6)
                )
        return "\n".join(lines)


_CHOICES: dict[str, tuple[str, ...]] = {
    "combine": ("product", "max"),
    "indicator_window": ("first_turn", "before_draw"),
    "stock_end": ("void_after_throw", "next_may_take"),
    "discard_visibility": ("history", "top_only"),
    "rotation": ("right", "winner"),
}

PRESETS: dict[str, Rules] = {
    "gamelake": Rules(),
    "klasik": Rules(combine="max", false_joker_as_okey=True, indicator_points=0, winners=2),
}
"""The presets by name."""


def as_rules(rules: "str | Rules | Mapping[str, Any]") -> Rules:
    """Rules from a preset's name, from `Rules`, or from a mapping `{"preset": …, switch: value, …}`.

    Raises:
        ValueError: no such preset or switch, or a value out of its range.
        TypeError: something else was given.

    >>> as_rules({"preset": "klasik", "stock_end": "next_may_take"}).name
    'klasik, stock_end=next_may_take'
    """
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str):
        return Rules.preset(rules)
    if isinstance(rules, Mapping):
        switches = dict(rules)
        return Rules.preset(switches.pop("preset", "gamelake"), **switches)
    raise TypeError(f"rules={rules!r}: expected a preset's name, Rules or a mapping of switches")


class _Paragraph(NamedTuple):
    number: str
    origin: str  # "said" or "chosen", where the text stands as a default of ours
    text: str
    switch: str = ""


def _sheet(rules: Rules) -> list[tuple[str, list[_Paragraph]]]:
    """The rule sheet: titles with their paragraphs, worded for these rules."""
    p = _Paragraph
    preset = rules.preset_name
    is_g = preset == "gamelake"

    def origin(switch: str, said_in: tuple[str, ...]) -> str:
        """Whether the value of a switch is what the preset's source says, our choice, or a house rule."""
        if getattr(rules, switch) != getattr(PRESETS[preset], switch):
            return "chosen, differs from the preset"
        return "said" if preset in said_in else "chosen"

    both = ("gamelake", "klasik")
    points = {"ordinary": 2, "okey": 4, "pairs": 4, "both": 8 if rules.combine == "product" else 4}
    tiles = [
        p("R1.1", "said", "106 tiles: the numbers 1 to 13 in four colours, two copies of each, and two false jokers."),
        p("R1.2", "said", "After the deal one tile is turned up, the indicator; it never comes into play."),
        p(
            "R1.3",
            "said",
            "The okey is the tile of the indicator's colour one number higher; after 13 comes 1. Both its copies are "
            "wild: each may stand for any tile.",
        ),
        p("", "chosen", "Its own face included, and a face both of whose copies are elsewhere."),
        p("R1.4", "said", "A false joker is not wild: it is an ordinary tile with the okey's colour and number."),
        p("R1.5", "chosen", "A false joker turned up as indicator goes back and another tile is turned."),
    ]
    deal = [
        p("R2.1", "said", "14 tiles each, 15 to the starter; 48 tiles lie in the stock."),
        p(
            "R2.2",
            origin("rotation", ()),
            "The first starter is random; then the start "
            + ("moves one seat to the right each round." if rules.rotation == "right" else "goes to the winner."),
            "rotation",
        ),
        p("R2.3", "said", "Play goes to the right, counter-clockwise: each player throws to the right-hand neighbour."),
    ]
    turn = [
        p("R3.1", "said", "The starter's first turn has no draw: throw one of the 15 tiles, or finish."),
        p(
            "R3.2",
            "said",
            "Any other turn: draw the top of the stock, or take the tile that the left neighbour has just thrown, "
            "and only that one; then throw a tile to the right, or finish.",
        ),
        p("R3.3", "chosen", "Any tile may be thrown: the one just taken, and a wild tile too, which stays wild."),
        p("R3.4", "said", "Nothing is laid down before the finish; racks are hidden; throws and takes are public."),
        p(
            "",
            origin("discard_visibility", ()),
            "Observations show "
            + (
                "all throws and takes of the round."
                if rules.discard_visibility == "history"
                else "only the tile on top of each heap of throws."
            ),
            "discard_visibility",
        ),
    ]
    wrap = (
        "1 may follow 13 (12-13-1); nothing follows that 1 (13-1-2 is not a run)."
        if rules.run_13_1
        else "1 never follows 13."
    )
    melds = [
        p("R4.1", "said", "Run: three or more consecutive numbers of one colour."),
        p("", origin("run_13_1", ("gamelake",)), wrap, "run_13_1"),
        p("R4.2", "said", "Group: three or four tiles of one number, all of different colours."),
        p("R4.3", "said" if not is_g else "chosen", "A run is as long as the colour allows; the order is free."),
        p(
            "R4.4",
            "chosen",
            "Pairs: seven pairs of identical tiles. A wild tile pairs with anything, two wild tiles are a pair, two "
            "false jokers are a pair. Pairs and melds are never mixed.",
        ),
        p("R4.5", "said", "Each tile serves in one meld. A wild tile never repeats a colour in a group."),
    ]
    stock_end = (
        "The round is void right after the throw that follows the last draw."
        if rules.stock_end == "void_after_throw"
        else "The next player may still take that throw, if it finishes with it; else the round is void."
    )
    finish = [
        p(
            "R5.1",
            "said",
            "A player with 15 tiles may lay one face down on the stock if the other 14 are all melds, or seven pairs: "
            "the round is won.",
        ),
        p("", "chosen", "The starter may do so with the 15 tiles dealt."),
        p("R5.2", "said", "Finishing is optional, and the player chooses the tile; the choice changes the points."),
        p("R5.3", "said" if not is_g else "chosen", "A wrong claim is refused and costs nothing (here it is masked)."),
        p("R5.4", origin("stock_end", ()), f"The drawer of the last tile may finish with it. {stock_end}", "stock_end"),
        p(
            "R5.5",
            origin("void_points", both),
            "A void round costs nobody anything."
            if rules.void_points == 0
            else f"In a void round everybody loses {rules.void_points}.",
            "void_points",
        ),
        p("R5.6", "chosen", f"After {rules.max_throws} throws the round is void (a truncation).", "max_throws"),
    ]
    false_joker = points["okey" if rules.false_joker_as_okey else "ordinary"]
    loses = "Each player of the other team loses" if rules.teams else "Each other player loses"
    scores = [
        p("R6.1", "said", f"{loses} {points['ordinary']} on an ordinary finish,"),
        p("R6.2", "said", f"{points['okey']} when the finishing tile is the okey,"),
        p(
            "R6.3",
            origin("false_joker_as_okey", ("klasik",)),
            f"{false_joker} when it is a false joker,",
            "false_joker_as_okey",
        ),
        p("R6.4", "said", f"{points['pairs']} on seven pairs,"),
        p("R6.5", origin("combine", both), f"{points['both']} on seven pairs and the okey.", "combine"),
        p(
            "R6.6",
            origin("indicator_points", ("gamelake",)),
            f"{loses} {rules.indicator_points} when the indicator's twin is shown."
            if rules.indicator_points
            else "Showing the indicator's twin brings nothing.",
            "indicator_points",
        ),
        p("R6.7", "chosen", "If the 14 tiles are both melds and pairs, the better score counts."),
        p("R6.8", "said", "Wild tiles kept in a rack, or used inside the winning rack, change nothing."),
    ]
    if rules.color_double:
        scores.append(p("R6.9", "chosen", "A red or black indicator doubles the points of the finish.", "color_double"))
    window = (
        "in its own first turn, before its first throw; the tile drawn in that turn counts"
        if rules.indicator_window == "first_turn"
        else "in its own first turn, before drawing"
    )
    showing = [
        p(
            "R7.1",
            origin("indicator_window", ()),
            f"Who holds the indicator's twin (never a false joker) may show it {window}. Later is too late.",
            "indicator_window",
        ),
        p(
            "R7.2",
            "chosen",
            "It stays in the rack, at most once a round, and its points stand even if the round is void.",
        ),
        p("R7.3", "chosen", "Everyone now knows one tile of that rack, until it is thrown."),
    ]
    match = [
        p(
            "R8.1",
            origin("start_points", ()),
            f"Everyone starts a match with {rules.start_points} points.",
            "start_points",
        ),
        p("R8.2", "said", "The match ends when somebody has 0 points or less, looked at after each round."),
        p(
            "R8.3",
            origin("winners", both),
            "The best score wins. Ties share." if rules.winners == 1 else "The two best scores win. Ties share.",
            "winners",
        ),
    ]
    if rules.teams:
        match.append(
            p(
                "R8.4",
                "said",
                "Seats 0 and 2 play against seats 1 and 3; each team has one score, and when a player wins, the other "
                "team loses the points.",
                "teams",
            )
        )
    return [
        ("Tiles", tiles),
        ("Deal", deal),
        ("Turn", turn),
        ("Melds", melds),
        ("Finish", finish),
        ("Points", scores),
        *([("Showing the indicator", showing)] if rules.indicator_points else []),
        ("Match", match),
    ]
