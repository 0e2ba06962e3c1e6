"""Rules: presets as their sources have them, switches checked, the sheet says what is played."""

import dataclasses

import pytest

from okey_env import Rules
from okey_env.engine.state import RULES, new_games, rules_of
from okey_env.rules import PRESETS, SWITCHES, as_rules
from tests.reference import GAMELAKE, KLASIK


@pytest.mark.parametrize(("name", "reference"), [("gamelake", GAMELAKE), ("klasik", KLASIK)])
def test_presets_are_those_of_the_reference(name: str, reference: dict[str, object]) -> None:
    rules = dataclasses.asdict(Rules.preset(name))
    for switch, value in reference.items():
        if switch in rules:
            assert rules[switch] == value, switch


@pytest.mark.parametrize(
    ("switch", "value", "message"),
    [
        ("max_throws", 0, "max_throws=0 is out of range: expected 1 to 250"),
        ("max_throws", 251, "max_throws=251"),
        ("max_throws", 10.5, "max_throws=10.5"),
        ("start_points", 4, "start_points=4 is out of range: expected 5 to 21"),
        ("winners", 3, "winners=3"),
        ("indicator_points", True, "indicator_points=True"),
        ("combine", "sum", "combine='sum' is not a choice: expected 'max' or 'product'"),
        ("run_13_1", 1, "run_13_1=1 is not a switch value: expected True or False"),
        ("stock_end", "never", "stock_end='never'"),
    ],
)
def test_switch_out_of_range_is_named(switch: str, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        Rules.preset("gamelake", **{switch: value})


def test_rules_come_from_a_name_a_mapping_or_themselves() -> None:
    assert as_rules("klasik") == PRESETS["klasik"]
    assert as_rules({"preset": "klasik", "teams": True}) == dataclasses.replace(PRESETS["klasik"], teams=True)
    assert as_rules(PRESETS["gamelake"]) is PRESETS["gamelake"]
    with pytest.raises(ValueError, match="'okey101' is not a preset: expected 'gamelake' or 'klasik'"):
        as_rules("okey101")
    with pytest.raises(ValueError, match="'jokers' is not a switch"):
        as_rules({"jokers": 3})
    with pytest.raises(TypeError, match="expected a preset's name"):
        as_rules(5)  # type: ignore[arg-type]  # wrong on purpose


def test_sheet_follows_the_switches() -> None:
    sheet = Rules.preset("klasik").describe()
    assert "[chosen; switch max_throws]" in sheet
    assert "R6.3  A finish with a false joker costs 4. [said; switch false_joker_as_okey]" in sheet
    assert "\nShowing the indicator\n" not in sheet
    changed = Rules.preset("klasik", void_points=2, run_13_1=False, teams=True).describe()
    assert "In a void round everybody loses 2." in changed
    assert "1 never follows 13." in changed
    assert "R8.4" in changed
    for rules in (*PRESETS.values(), Rules(colour_double=True)):
        for number in ("R1.3", "R2.2", "R3.2", "R4.4", "R5.4", "R6.5", "R8.3"):
            assert number in rules.describe()


def test_every_switch_is_in_the_sheet_and_in_the_record() -> None:
    for switch in SWITCHES:
        assert switch.byte in (RULES.names or ())
        values = switch.choices or switch.between
        sheets = set()
        for value in values:
            rules = Rules(**{switch.name: value})
            assert rules_of(new_games(rules, 1)[0]) == rules
            sheets.add(rules.describe().split("\n", 1)[1])  # the first line is the name
        assert len(sheets) == len(values), f"the sheet says the same for all values of {switch.name}"
        assert any(f"switch {switch.name}]" in " ".join(sheet.split()) for sheet in sheets)


def test_switches_of_version_0_1_are_read() -> None:
    assert as_rules({"color_double": True, "discard_visibility": "top_only"}) == Rules(
        colour_double=True, throw_visibility="top_only"
    )


def test_rules_survive_the_way_into_a_game_and_back() -> None:
    every = Rules(
        run_13_1=False,
        combine="max",
        false_joker_as_okey=True,
        indicator_points=3,
        indicator_window="before_draw",
        stock_end="next_may_take",
        max_throws=250,
        colour_double=True,
        void_points=10,
        throw_visibility="top_only",
        start_points=21,
        winners=2,
        teams=True,
        rotation="winner",
    )
    for rules in (every, *PRESETS.values()):
        assert rules_of(new_games(rules, 1)[0]) == rules
