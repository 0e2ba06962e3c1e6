"""The rule sheet: every numbered paragraph of the rules, in words that follow the switches.

`describe` prints the sheet for one set of rules, and `markdown` the page `docs/rules.md` with all settings of all
switches. Both come from `SHEET`, so that each paragraph is written once.
"""

import dataclasses
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from okey_env.rules import PRESETS, SWITCHES, Rules, Switch

BOTH = ("gamelake", "klasik")
_SOURCES = {"gamelake": "G", "klasik": "K"}
_SWITCHES = {switch.name: switch for switch in SWITCHES}

Text = str | Callable[[Rules], str]


@dataclasses.dataclass(frozen=True)
class Paragraph:
    """A paragraph of the rules, or a part of one; the parts with the same number follow one another."""

    number: str
    """Such as `R4.2`."""
    text: Text
    """The words, or a function from the rules to the words."""
    said_by: tuple[str, ...] = ()
    """The presets whose source states the paragraph. If there is a switch, `SWITCHES` has this instead."""
    switch: str = ""
    """The switch on which the words depend; empty if there is none."""
    only_if: Callable[[Rules], bool] = lambda rules: True
    """Whether the paragraph is part of the sheet of given rules."""

    def words(self, rules: Rules) -> str:
        """The text for given rules."""
        return self.text if isinstance(self.text, str) else self.text(rules)

    def origin(self, rules: Rules) -> str:
        """Who decided it: `said` (the source of the preset) or `chosen` (common practice, or these rules)."""
        preset = rules.preset_name
        if self.switch:
            if getattr(rules, self.switch) != getattr(PRESETS[preset], self.switch):
                return "chosen, differs from the preset"
            return "said" if preset in _SWITCHES[self.switch].said_by else "chosen"
        return "said" if preset in self.said_by else "chosen"


def _losers(rules: Rules) -> str:
    return "each player of the other team" if rules.teams else "each other player"


def _teams(rules: Rules) -> bool:
    return rules.teams


def _shows(rules: Rules) -> bool:
    return rules.indicator_points > 0


_P = Paragraph

SHEET: tuple[tuple[str, tuple[Paragraph, ...]], ...] = (
    (
        "Tiles",
        (
            _P(
                "R1.1",
                "There are 106 tiles: the numbers 1 to 13 in four colours, two copies of each, and two false jokers "
                "(sahte okey).",
                BOTH,
            ),
            _P(
                "R1.2",
                "After the deal one tile is turned up, the indicator (gösterge). It never comes into play.",
                ("gamelake",),
            ),
            _P(
                "R1.3",
                "The okey is the tile of the indicator's colour one number higher; after 13 comes 1. Both its copies "
                "are wild: each may stand for any tile.",
                BOTH,
            ),
            _P("R1.3", "It may stand for its own face too, and for a face both of whose copies are elsewhere."),
            _P("R1.4", "A false joker is not wild: it is an ordinary tile with the okey's colour and number.", BOTH),
            _P("R1.5", "A false joker turned up as indicator goes back, and another tile is turned."),
            _P(
                "R1.6",
                "As tiles play, a round has 52 faces twice, less one copy of the indicator's face, and 2 wild tiles: "
                "53 kinds. Everything here counts tiles as they play; physical names are for text and pictures.",
                BOTH,
            ),
        ),
    ),
    (
        "Deal",
        (
            _P("R2.1", "Each player gets 14 tiles, the starter 15; 48 tiles lie in the stock.", BOTH),
            _P(
                "R2.2",
                lambda rules: (
                    "The first starter is random; then the start "
                    + (
                        "moves one seat to the right each round."
                        if rules.rotation == "right"
                        else "goes to the winner."
                    )
                ),
                switch="rotation",
            ),
            _P(
                "R2.3",
                "Play goes to the right, counter-clockwise. Seats are numbered in playing order: seat s throws to seat "
                "s + 1, its right-hand neighbour.",
                BOTH,
            ),
        ),
    ),
    (
        "Turn",
        (
            _P(
                "R3.1",
                "The starter's first turn has no draw: the starter throws one of the 15 tiles, or finishes.",
                ("gamelake",),
            ),
            _P(
                "R3.2",
                "In any other turn the player draws the top of the stock, or takes the tile that the left neighbour "
                "has just thrown, and only that one; then the player throws a tile to the right, or finishes.",
                BOTH,
            ),
            _P("R3.3", "Any tile may be thrown: the one just taken, and a wild tile too, which stays wild."),
            _P("R3.4", "Nothing is laid down before the finish. Racks are hidden; throws and takes are public.", BOTH),
            _P(
                "R3.4",
                lambda rules: (
                    "Observations show "
                    + (
                        "all throws and takes of the round."
                        if rules.throw_visibility == "history"
                        else "only the tile on top of each heap of throws."
                    )
                ),
                switch="throw_visibility",
            ),
        ),
    ),
    (
        "Melds",
        (
            _P("R4.1", "A run (seri) is three or more consecutive numbers of one colour.", BOTH),
            _P(
                "R4.1",
                lambda rules: (
                    "1 may follow 13 (12-13-1); nothing follows that 1 (13-1-2 is not a run)."
                    if rules.run_13_1
                    else "1 never follows 13."
                ),
                switch="run_13_1",
            ),
            _P("R4.2", "A group (per) is three or four tiles of one number, all of different colours.", BOTH),
            _P("R4.3", "A run is as long as the colour allows; the order of writing is free.", ("klasik",)),
            _P(
                "R4.4",
                "Pairs (çift) are seven pairs of identical tiles. A wild tile pairs with anything, two wild tiles are "
                "a pair, and two false jokers are a pair. Pairs and melds are never mixed.",
            ),
            _P(
                "R4.5",
                "Each tile serves in one meld. Two wild tiles may serve in one meld; a wild tile never repeats a "
                "colour in a group.",
                BOTH,
            ),
        ),
    ),
    (
        "Finish",
        (
            _P(
                "R5.1",
                "A player with 15 tiles may lay one face down on the stock if the other 14 are all melds, or seven "
                "pairs. That wins the round.",
                BOTH,
            ),
            _P("R5.1", "The starter may do so with the 15 tiles dealt."),
            _P("R5.2", "Finishing is optional, and the player chooses the tile; the choice changes the points.", BOTH),
            _P("R5.3", "A wrong claim is refused and costs nothing; in the environments it is masked.", ("klasik",)),
            _P("R5.4", "The drawer of the last tile of the stock may finish with it.", ("gamelake",)),
            _P(
                "R5.4",
                lambda rules: (
                    "Otherwise the round is void right after the throw that follows the last draw."
                    if rules.stock_end == "void_after_throw"
                    else "Otherwise the next player may still take the throw that follows the last draw, if that "
                    "finishes; else the round is void."
                ),
                switch="stock_end",
            ),
            _P(
                "R5.5",
                lambda rules: (
                    "A void round costs nobody anything."
                    if rules.void_points == 0
                    else f"In a void round everybody loses {rules.void_points}."
                ),
                switch="void_points",
            ),
            _P(
                "R5.6",
                lambda rules: (
                    f"Takes never shrink the stock, so after {rules.max_throws} throws the round is void: a "
                    "truncation, where R5.4 is a termination. A throw that meets both ends the round by R5.4."
                ),
                switch="max_throws",
            ),
        ),
    ),
    (
        "Points",
        (
            _P("R6.1", lambda rules: f"An ordinary finish costs {_losers(rules)} 2.", BOTH),
            _P("R6.2", "A finish with the okey as the finishing tile costs 4.", BOTH),
            _P(
                "R6.3",
                lambda rules: f"A finish with a false joker costs {4 if rules.false_joker_as_okey else 2}.",
                switch="false_joker_as_okey",
            ),
            _P("R6.4", "Seven pairs cost 4.", BOTH),
            _P(
                "R6.5",
                lambda rules: f"Seven pairs and the okey together cost {8 if rules.combine == 'product' else 4}.",
                switch="combine",
            ),
            _P(
                "R6.6",
                lambda rules: (
                    f"Showing the indicator's twin costs {_losers(rules)} {rules.indicator_points}."
                    if rules.indicator_points
                    else "Showing the indicator's twin brings nothing."
                ),
                switch="indicator_points",
            ),
            _P("R6.7", "If the 14 tiles are both melds and pairs, the better score counts."),
            _P("R6.8", "Wild tiles kept in a rack, or used inside the winning rack, change nothing.", BOTH),
            _P(
                "R6.9",
                "A red or black indicator doubles the points of the finish, not those of a shown twin.",
                switch="colour_double",
                only_if=lambda rules: rules.colour_double,
            ),
        ),
    ),
    (
        "Showing the indicator",
        (
            _P(
                "R7.1",
                lambda rules: (
                    "Who holds the indicator's twin (never a false joker) may show it in its own first turn, "
                    + (
                        "before its first throw; the tile drawn in that turn counts. Later is too late."
                        if rules.indicator_window == "first_turn"
                        else "before drawing. Later is too late."
                    )
                ),
                switch="indicator_window",
                only_if=_shows,
            ),
            _P(
                "R7.2",
                "The twin stays in the rack. Showing it is optional and happens at most once a round; its points stand "
                "even if the round is void.",
                only_if=_shows,
            ),
            _P("R7.3", "Everyone now knows one tile of that rack, until it is thrown.", only_if=_shows),
        ),
    ),
    (
        "Match",
        (
            _P(
                "R8.1",
                lambda rules: f"Everyone starts a match with {rules.start_points} points.",
                switch="start_points",
            ),
            _P(
                "R8.2",
                "The match ends when somebody has 0 points or less after a round. Points below 0 are kept.",
                BOTH,
            ),
            _P("R8.2", "A match is cut off after 256 rounds, and then nobody wins."),
            _P(
                "R8.3",
                lambda rules: (
                    "The best score wins. Ties share." if rules.winners == 1 else "The two best scores win. Ties share."
                ),
                switch="winners",
            ),
            _P(
                "R8.4",
                "Seats 0 and 2 play against seats 1 and 3. Each team has one score. When a player wins, the other team "
                "loses the points; the partner of the winner loses nothing.",
                switch="teams",
                only_if=_teams,
            ),
            _P(
                "R8.5",
                "At the table, a bot replaces a player who leaves. The player may come back to the same seat and rack.",
                ("klasik",),
            ),
        ),
    ),
    (
        "At the table",
        (
            _P(
                "R9.1",
                "The setting rack_check of a table says how a claim is judged. free: any order, the program finds the "
                "melds. as_laid: the fourteen tiles must lie as melds, in either direction, with gaps. The "
                "environments know no order of a rack.",
                ("klasik",),
            ),
        ),
    ),
)
"""The sections of the sheet: titles with their paragraphs."""


def paragraphs() -> Iterator[Paragraph]:
    """All paragraphs in order, including those that only some rules have."""
    for _, section in SHEET:
        yield from section


def describe(rules: Rules) -> str:
    """The sheet of given rules as text, each paragraph with its origin and its switch."""
    lines = [f"Okey, rules: {rules.name}"]
    for title, section in SHEET:
        played = [paragraph for paragraph in section if paragraph.only_if(rules)]
        if played:
            lines += ["", title]
        before = ""
        for paragraph in played:
            number = "" if paragraph.number == before else paragraph.number
            before = paragraph.number
            switch = f"; switch {paragraph.switch}" if paragraph.switch else ""
            text = f"{paragraph.words(rules)} [{paragraph.origin(rules)}{switch}]"
            lines.append(textwrap.fill(text, 100, initial_indent=f"{number:<5} ", subsequent_indent=" " * 6))
    return "\n".join(lines)


def markdown() -> str:
    """The sheet as Markdown, with the text of every value of every switch."""
    lines: list[str] = []
    for title, section in SHEET:
        lines += ["", f"## {section[0].number[:2]} {title}", ""]
        for paragraph in section:
            text = paragraph.words(_switched(paragraph.switch)) if paragraph.switch else paragraph.words(Rules())
            lines.append(_item(f"**{paragraph.number}** {text} {_who(paragraph)}"))
            if paragraph.switch:
                lines += [textwrap.indent(line, "  ") for line in _other_values(paragraph)]
    return "\n".join(lines) + "\n"


def _switched(switch: str, **more: Any) -> Rules:
    """The rules for the first text of a paragraph: `gamelake`, but with the switch on if it is off in both presets."""
    off = all(getattr(preset, switch) is False for preset in PRESETS.values())
    return Rules.preset("gamelake", **({switch: True} if off else {}), **more)


def _who(paragraph: Paragraph) -> str:
    """The sources of a paragraph, or the values of its switch, as Markdown."""
    if paragraph.switch:
        switch = _SWITCHES[paragraph.switch]
        values = {name: getattr(rules, switch.name) for name, rules in PRESETS.items()}
        if len(set(values.values())) == 1:
            values = {"both presets": next(iter(values.values()))}
        settings = ", ".join(f"{name} `{value}`" for name, value in values.items())
        return f"Switch `{switch.name}`: {_values(switch)}; {settings}."
    sources = " and ".join(_SOURCES[preset] for preset in paragraph.said_by)
    return f"*Said by {sources}.*" if sources else "*Chosen.*"


def _values(switch: Switch) -> str:
    if switch.choices:
        return ", ".join(f"`{choice}`" for choice in switch.choices)
    return f"{switch.between[0]} to {switch.between[1]}"


def _other_values(paragraph: Paragraph) -> list[str]:
    """The texts of a paragraph for the other values of its switch, as Markdown items; equal texts come once."""
    switch = _SWITCHES[paragraph.switch]
    first = _switched(switch.name)
    values = switch.choices or (*range(*switch.between), switch.between[1])
    lines, seen = [], {paragraph.words(first)}
    for value in values if switch.choices or switch.between[1] <= 2 else (0,):
        try:
            other = dataclasses.replace(first, **{switch.name: value})
        except ValueError:  # a number whose range does not begin at 0
            continue
        text = paragraph.words(other)
        if text not in seen and paragraph.only_if(other):
            seen.add(text)
            lines.append(_item(f"`{value}`: {text}"))
    return lines


def _item(text: str) -> str:
    return textwrap.fill(text, 118, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
