"""Paragraphs of the rule sheet, one test each; `test_cases` plays the disputed hands.

The indicator is Y4 unless a test says otherwise, so the okey is Y5 and a false joker plays as Y5. The last tests check
that code, twin and tests cite every paragraph, and no other.
"""

import ast
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okey_env import Deal, Round, Rules, hands
from okey_env.actions import DRAW, FINISH, SHOW, TAKE, THROW, from_text
from okey_env.match import Match
from okey_env.tiles import NUM_KINDS, WILD, kind_text, parse_face
from tests.places import ROOT

OKEY = "Y5"
MELDS = "R1 R2 R3 R4 | B4 B5 B6 | K7 K8 K9 | Y10 Y11 Y12 Y13"
FAR = "R1 R3 R7 R9 R11 B2 B6 B8 B10 B12 K1 K4 K7 K13 Y9"  # no meld, no pair
TWIN = "Y4 R2 R4 R6 R8 R10 R12 B1 B3 B5 B7 K9 K11 K13 Y1"


def begun(rack: str, rules: Any = "gamelake", *, indicator: str = "Y4", others: Any = (None, None, None)) -> Round:
    """A round in which seat 0 begins with these 15 tiles."""
    return Round(rules, seed=1, deal=Deal(indicator=indicator, racks=(rack, *others), starter=0))


def after(round: Round, *actions: str) -> Round:
    """The round after some actions."""
    for action in actions:
        round.apply(action)
    return round


def finishes(text: str, by: Any = "any") -> list[str]:
    """The tiles with which 15 tiles can finish."""
    found = hands.finishing_kinds(hands.parse(text, okey=OKEY), by=by)
    return [kind_text(int(kind), OKEY) for kind in np.flatnonzero(found)]


# --- tiles and deal ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_a_round_has_105_tiles_of_53_kinds(seed: int) -> None:
    """R1.1 less the indicator (R1.2): two of each kind and one of the indicator's face (R1.6), dealt as R2.1 says."""
    round = Round(seed=seed)
    stock = np.bincount(round.fields["stock"][0], minlength=NUM_KINDS)
    expected = np.full(NUM_KINDS, 2)
    expected[round.indicator] = 1
    np.testing.assert_array_equal(round.racks.sum(axis=0) + stock, expected)
    assert [int(rack.sum()) for rack in round.racks] == [15 if seat == round.turn else 14 for seat in range(4)]
    assert round.stock_left == stock.sum() == 48


def test_a_wild_tile_is_any_face() -> None:
    """R1.3: its own face, and a face both of whose copies are elsewhere (here R3)."""
    assert finishes("Y4 * Y6 | R1 R2 R3 R4 | B4 B5 B6 | K7 K8 K9 K10 | K1") == ["K1"]
    assert "K1" in finishes("R1 R2 * | R2 R3 R4 | R3 B3 K3 | B7 B8 B9 B10 B11 | K1")


def test_the_first_starter_is_random() -> None:
    """R2.2: in 40 rounds each seat begins once at least (one seat is missing in 1 of 25,000 such samples)."""
    assert {Round(seed=seed).turn for seed in range(40)} == {0, 1, 2, 3}


# --- turn -------------------------------------------------------------------------------------------------------


def test_any_tile_may_be_thrown() -> None:
    """R3.3: every kind of the rack, the wild one and the tile just taken included."""
    round = begun(FAR.replace("Y9", "*"))
    throws = [action - THROW for action in round.legal_actions() if THROW <= action < FINISH]
    assert throws == list(np.flatnonzero(round.racks[0]))
    assert WILD in throws
    after(round, "throw *", "take", "throw *")
    assert (round.turn, round.offer) == (2, WILD)


def test_throws_and_takes_are_public_and_racks_are_not() -> None:
    """R3.4: the others see what was thrown and taken, and of a drawn tile only that it was drawn."""
    round = after(begun(FAR), "throw R1", "take")
    assert [(event.event, event.seat, event.kind) for event in round.observe(2).events] == [
        ("throw", 2, parse_face("R1")),
        ("take", 3, parse_face("R1")),
    ]
    assert round.observe(2).known[3].sum() == 1
    round = after(begun(FAR), "throw R1", "draw")
    assert round.observe(2).events[-1].kind is None
    assert round.observe(1).events[-1].kind is not None
    assert round.observe(2).known.sum() == 0


# --- melds ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "beside"),
    [
        ("R5 R6 R7 R8 R9", "B4 B5 B6 | K4 K5 K6 | Y9 Y10 Y11"),
        ("R3 R4 R5 R6 R7 R8 R9 R10", "B4 B5 B6 | K4 K5 K6"),
        ("R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12", "B4 B5 B6"),
        ("R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 R1", ""),
    ],
)
def test_a_run_is_as_long_as_the_colour_allows(run: str, beside: str) -> None:
    """R4.3: with a gap before its last tile the hand is no finish."""
    assert "K13" in finishes(f"{run} {beside} K13")
    *first, _, last = run.split()
    assert finishes(f"{' '.join(first)} {last} {beside} K11 K13") == []


@pytest.mark.parametrize(
    ("group", "valid"),
    [("R2 B2 Y2", True), ("R2 B2 K2 Y2", True), ("R2 R2 B2", False), ("R2 R2 B2 Y2", False), ("R2 B2 Y3", False)],
)
def test_a_group_is_one_number_in_different_colours(group: str, valid: bool) -> None:
    """R4.2: three or four tiles, beside melds that they do not touch."""
    beside = {3: "B4 B5 B6 B7 | K4 K5 K6 K7", 4: "B4 B5 B6 | K4 K5 K6 K7"}[len(group.split())]
    assert finishes(f"{group} | {beside} | Y9 Y10 Y11 | K12") == (["K12"] if valid else [])


def test_each_tile_serves_in_one_meld() -> None:
    """R4.5: one R3 does not end a run and belong to a group as well, two do. Two wild tiles may lie in one meld."""
    beside = "B7 B8 B9 | K7 K8 K9 K10 | Y1"
    assert "Y1" in finishes(f"R1 R2 R3 | R3 B3 K3 Y3 | {beside}")
    assert finishes(f"R1 R2 R3 | B3 Y3 | Y12 Y7 | {beside}") == []
    assert "Y1" in finishes(f"R13 * * | R1 R2 R3 R4 | {beside}")


def test_pairs_and_melds_are_never_mixed() -> None:
    """R4.4: four pairs and two runs are nothing."""
    mixed = "R1 R1 B3 B3 K5 K5 Y7 Y7 | R11 R12 R13 | B9 B10 B11 | K1"
    assert finishes(mixed) == []


# --- finish -----------------------------------------------------------------------------------------------------


def test_a_finish_lays_one_tile_and_leaves_14_that_are_all_melds() -> None:
    """R5.1: the starter may do so with the tiles dealt."""
    round = begun(f"{MELDS} R8")
    assert [action for action in round.legal_actions() if action >= FINISH] == [
        from_text(f"finish {tile}", OKEY) for tile in finishes(f"{MELDS} R8")
    ]
    after(round, "finish R8")
    assert (round.over, round.ending, round.winner, int(round.racks[0].sum())) == (True, "finish", 0, 14)


def test_a_wrong_claim_is_refused_and_costs_nothing() -> None:
    """R5.3: the mask has none, and who claims all the same has lost nothing and is still to move."""
    round = begun(f"{MELDS[:-3]} B13 R8")  # Y13 is missing, and K13, R8 do not help
    before = round.save()
    assert not any(action >= FINISH for action in round.legal_actions())
    for tile in ("B13", "R8", "R1"):
        with pytest.raises(ValueError, match=f"seat 0 may not finish {tile}"):
            round.apply(f"finish {tile}")
    assert round.save() == before


def to_the_last_throw(rules: Any) -> Round:
    """Seat 1 waits with 14 tiles that are all melds, and everybody throws what they drew until the stock is empty."""
    round = begun(FAR.replace("K4", "Y6"), rules, others=(MELDS, None, None))
    round.apply("throw Y6")
    while round.stock_left:
        round.apply(DRAW)
        drawn = round.observe(round.turn).events[-1].kind
        assert drawn is not None
        round.apply(THROW + drawn)
    return round


def test_the_round_ends_with_the_throw_after_the_last_draw() -> None:
    """R5.4: or, with the other switch, the next player may still take that throw, if it finishes with it."""
    round = to_the_last_throw("gamelake")
    assert (round.ending, round.turn) == ("void", 0)
    for last, ending in (("finish", "finish"), ("throw", "void")):
        round = to_the_last_throw({"stock_end": "next_may_take"})
        offer = kind_text(int(str(round.offer)), OKEY)
        assert (round.turn, round.legal_actions()) == (1, [TAKE])
        after(round, "take", f"{last} {offer}")
        assert (round.ending, round.over) == (ending, True)


@pytest.mark.parametrize("void_points", [0, 3])
def test_a_void_round_costs_everybody_the_same(void_points: int) -> None:
    """R5.5: nothing, unless the switch says otherwise."""
    round = to_the_last_throw({"void_points": void_points})
    assert round.lost == (void_points,) * 4
    assert round.won == (0,) * 4


# --- points -----------------------------------------------------------------------------------------------------

PAIRS = "R2 R2 R9 R9 B3 B3 B11 B11 K6 K6 K13 K13 Y8 Y8"
BOTH = "R1 R2 R3 | R1 R2 R3 | B7 B8 B9 B10 | B7 B8 B9 B10"


@pytest.mark.parametrize(
    ("paragraph", "rack", "laid", "gamelake", "klasik"),
    [
        ("R6.1", f"{MELDS} K2", "K2", 2, 2),
        ("R6.2", f"{MELDS} *", "*", 4, 4),
        ("R6.3", f"{MELDS} F", "F", 2, 4),
        ("R6.4", f"{PAIRS} K2", "K2", 4, 4),
        ("R6.5", f"{PAIRS} *", "*", 8, 4),
        ("R6.7", f"{BOTH} K2", "K2", 4, 4),  # as melds it would be 2
        ("R6.7", f"{BOTH} *", "*", 8, 4),  # as melds it would be 4
        ("R6.8", f"{MELDS[:-3]} * K2", "K2", 2, 2),  # a wild tile in the winning rack
        ("R6.8", f"{PAIRS[:-3]} * K2", "K2", 4, 4),
    ],
)
def test_points_of_a_finish(paragraph: str, rack: str, laid: str, gamelake: int, klasik: int) -> None:
    del paragraph
    for rules, points in (("gamelake", gamelake), ("klasik", klasik)):
        round = after(begun(rack, rules), f"finish {laid}")
        assert round.lost == (0, points, points, points)
        assert round.won == (3 * points, 0, 0, 0)


def test_wild_tiles_of_the_losers_change_nothing() -> None:
    """R6.8."""
    other = "* * R6 R8 B1 B3 B8 B10 K1 K3 K11 K13 Y2 Y7"
    assert after(begun(f"{MELDS} K2", others=(other, None, None)), "finish K2").lost == (0, 2, 2, 2)


def test_a_shown_twin_costs_the_others_its_points_at_once() -> None:
    """R6.6: as many as the switch says; with 0 there is no showing."""
    assert after(begun(TWIN), "show").lost == (0, 1, 1, 1)
    assert after(begun(TWIN, {"indicator_points": 4}), "show").lost == (0, 4, 4, 4)
    assert SHOW not in begun(TWIN, {"indicator_points": 0}).legal_actions()


@pytest.mark.parametrize(("indicator", "points"), [("R11", 4), ("K11", 4), ("B11", 2), ("Y11", 2)])
def test_red_and_black_double_where_the_switch_is_on(indicator: str, points: int) -> None:
    """R6.9: the points of the finish, and not those of a shown twin."""
    doubling = Rules(colour_double=True)
    rack = f"R1 R2 R3 R4 | B4 B5 B6 | K7 K8 K9 | Y1 Y2 Y3 Y4 | {indicator}"
    round = after(begun(rack, doubling, indicator=indicator), "show")
    assert round.lost == (0, 1, 1, 1)
    assert after(round, f"finish {indicator}").lost == (0, 1 + points, 1 + points, 1 + points)
    assert after(begun(rack, indicator=indicator), f"finish {indicator}").lost == (0, 2, 2, 2)


# --- showing the indicator --------------------------------------------------------------------------------------


def test_the_window_of_a_show() -> None:
    """R7.1: the first turn before its first throw, with the drawn tile or without; the starter draws nothing."""
    for window, late in (("first_turn", True), ("before_draw", False)):
        rules = {"indicator_window": window}
        round = after(begun(FAR, rules, others=(f"{TWIN[:-3]}", None, None)), "throw R1")
        assert SHOW in round.legal_actions()
        assert (SHOW in after(round, "draw").legal_actions()) == late
        assert SHOW in begun(TWIN, rules).legal_actions()


def test_a_shown_twin_stays_in_the_rack_and_is_shown_once_and_paid_in_a_void_round() -> None:
    """R7.2."""
    round = begun(TWIN, {"max_throws": 1})
    assert THROW + parse_face("R2") in round.legal_actions()  # nobody must show
    after(round, "show")
    assert round.racks[0][parse_face("Y4")] == 1
    assert SHOW not in round.legal_actions()
    after(round, "throw R2")
    assert (round.over, round.winner, round.lost) == (True, None, (0, 1, 1, 1))


def test_everyone_knows_a_shown_twin_until_it_is_thrown() -> None:
    """R7.3."""
    round = begun(TWIN)
    twin = parse_face("Y4")
    assert round.observe(2).known[2][twin] == 0
    after(round, "show")
    assert [round.observe(seat).known[(0 - seat) % 4][twin] for seat in range(4)] == [1] * 4
    assert round.observe(2).unseen[twin] == 0
    after(round, "throw Y4")
    assert [round.observe(seat).known[(0 - seat) % 4][twin] for seat in range(4)] == [0] * 4


# --- match ------------------------------------------------------------------------------------------------------


def test_everyone_starts_a_match_with_the_same_points() -> None:
    """R8.1."""
    assert Match(seed=1).scores == (20,) * 4
    assert Match({"start_points": 5}, seed=1).scores == (5,) * 4


# --- citations --------------------------------------------------------------------------------------------------

CITATION = re.compile(r"\bR\d+\.\d+\b")
AT_THE_TABLE = {"R8.5", "R9.1"}
"""Paragraphs that no environment plays, but the table where people sit."""
OFF_THE_SHEET = {"R1.6", *AT_THE_TABLE}
"""Paragraphs that are on the page of the rules whether a sheet prints them or not."""


def cited(paths: Iterable[Path]) -> set[str]:
    """The paragraphs that files cite."""
    return {number for path in paths for number in CITATION.findall(path.read_text(encoding="utf-8"))}


def cited_in_tests() -> set[str]:
    """The paragraphs that test functions cite: in a docstring, a comment, or a case."""
    found = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        if path.name == "test_rules.py":  # its numbers are those of printed sheets
            continue
        source = path.read_text(encoding="utf-8")
        lines = source.splitlines()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                found |= set(CITATION.findall("\n".join(lines[first - 1 : node.end_lineno])))
    return found


@pytest.fixture(scope="module")
def paragraphs() -> set[str]:
    """All paragraphs: what the sheet prints when every switch is on, and what no sheet prints."""
    return set(CITATION.findall(Rules(teams=True, colour_double=True).describe())) | OFF_THE_SHEET


def test_every_paragraph_is_cited_where_it_is_played(paragraphs: set[str]) -> None:
    engine = cited(path for path in (ROOT / "okey_env").rglob("*.py") if path.name != "rules.py")
    table = cited((ROOT / "agents" / "okey_agents" / "table").rglob("*.py"))
    assert sorted(paragraphs - AT_THE_TABLE - engine) == []
    assert sorted(AT_THE_TABLE - table) == []


def test_every_paragraph_is_cited_in_the_twin(paragraphs: set[str]) -> None:
    sources = (ROOT / "tests" / "reference").glob("*.py")
    twin = cited(path for path in sources if not path.name.startswith("test_"))
    assert sorted(paragraphs - AT_THE_TABLE - twin) == []


def test_every_paragraph_is_cited_in_a_test(paragraphs: set[str]) -> None:
    assert sorted(paragraphs - cited_in_tests()) == []


def test_nothing_cites_a_paragraph_that_does_not_exist(paragraphs: set[str]) -> None:
    folders = [ROOT / name for name in ("okey_env", "agents", "tests", "scripts", "docs", "training_configs")]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".md", ".js", ".html")]
    wrong = {str(path.relative_to(ROOT)): sorted(cited([path]) - paragraphs) for path in [*files, *ROOT.glob("*.md")]}
    assert {path: numbers for path, numbers in wrong.items() if numbers} == {}


def test_the_page_of_the_rules_has_every_paragraph(paragraphs: set[str]) -> None:
    assert sorted(paragraphs - cited([ROOT / "docs" / "rules.md"])) == []
