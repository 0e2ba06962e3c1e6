"""Disputed hands: what players and programmers of Okey have argued about, each with its verdict in both presets.

The letters and numbers name the cases. Unless a case says otherwise the indicator is Y4, so the okey is Y5 and a
false joker plays as Y5.
"""

import random
from typing import Any

import pytest

import okey_env
from okey_env import Deal, Round, hands
from okey_env.actions import DRAW, SHOW, TAKE, from_text, to_text
from okey_env.rules import PRESETS
from okey_env.tiles import face_text, okey_of, parse_face
from tests.reference import ReferenceMatch
from tests.reference.switches import KLASIK

OKEY = "Y5"
# Melds that complete a hand of 14 and cannot help or be helped by what is tried beside them.
FILLERS = {3: "B4 B5 B6 B7 | K4 K5 K6 K7 | Y9 Y10 Y11", 4: "B4 B5 B6 | K4 K5 K6 | Y9 Y10 Y11 Y12"}
FULL = "R1 R2 R3 R4 | B4 B5 B6 | K7 K8 K9 | Y10 Y11 Y12 Y13"  # C3: 14 natural tiles, all melds
PAIRS = "R2 R2 R9 R9 B3 B3 B11 B11 K6 K6 K13 K13 Y8 Y8"  # seven natural pairs, and no meld


def finishes(text: str, okey: str = OKEY, **switches: Any) -> list[str]:
    """The tiles with which 15 tiles can finish, as text."""
    by = switches.pop("by", "any")
    found = hands.finishing_kinds(hands.parse(text, okey=okey), by=by, **switches)
    return [okey_env.tiles.kind_text(int(kind), okey) for kind in found.nonzero()[0]]


def is_meld(text: str, okey: str = OKEY) -> bool:
    """Whether three or four tiles are one meld: beside full melds, a lone K1 is then what is left to lay down."""
    number = len(text.split())
    return "K1" in finishes(f"{text} {FILLERS[number]} K1", okey)


def stand_ins(text: str, okey: str) -> list[str]:
    """What the wild tiles of a finished hand stand for."""
    arrangement = hands.arrange(hands.parse(text, okey=okey))
    assert isinstance(arrangement, hands.Arrangement)
    return [
        face_text(face) for meld in arrangement.melds for face, wild in zip(meld.faces, meld.wild, strict=True) if wild
    ]


def round_with(
    rack: str, rules: Any = "gamelake", *, indicator: str = "Y4", others: Any = (None, None, None), **deal: Any
) -> Round:
    """A round in which seat 0 begins with these 15 tiles."""
    return Round(rules, seed=1, deal=Deal(indicator=indicator, racks=(rack, *others), starter=0, **deal))


def points_lost(rack: str, action: str, rules: Any) -> list[int]:
    """What each seat has lost once seat 0 has done this with its 15 tiles."""
    round = round_with(rack, rules)
    round.apply(action)
    return list(round.lost)


# --- runs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "tiles", "valid"),
    [
        ("A1", "R12 R13 R1", True),
        ("A2", "R11 R12 R13 R1", True),
        ("A3", "R1 R2 R3", True),
        ("A4", "R13 R1 R2 R3", False),
        ("A5", "R13 R1 R2", False),
        ("A6", "R13 * R2", False),
        ("A7", "* R13 R1", True),
        ("A8", "R13 * R1", True),
        ("A9", "R12 * R1", True),
        ("B1", "R8 B8 K8 B8", False),
        ("B2", "R8 B8 Y8", True),
        ("B3", "R8 B8 K8 Y8", True),
        ("B4", "R8 B8 K8 *", True),
        ("B5", "R4 F R6", False),
        ("B6", "Y4 F Y6", True),
    ],
)
def test_one_meld(case: str, tiles: str, valid: bool) -> None:
    """Runs (R4.1), groups (R4.2), and in both the wild tile and the false joker."""
    del case
    assert is_meld(tiles) == valid


def test_a4_is_not_a_run_of_four_but_three_of_it_are() -> None:
    """A4: R13 R1 R2 R3 is no meld; R1 R2 R3 are, so the R13 is what must go."""
    assert finishes(f"R13 R1 R2 R3 {FILLERS[3]}") == ["R13"]


def test_a8_the_wild_tile_is_the_12() -> None:
    assert stand_ins(f"R13 * R1 {FILLERS[3]}", OKEY) == ["R12"]


def test_a11_all_of_one_colour_and_a_1_above() -> None:
    hand = "R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 R1 K4"
    assert "K4" in finishes(hand)
    assert finishes(hand, run_13_1=False) == []


# --- groups ---------------------------------------------------------------------------------------------


def test_b5_a_false_joker_is_not_wild() -> None:
    """B5: R8 F R10 is no run when the okey is Y5 (R1.4)."""
    assert not is_meld("R8 F R10")
    assert is_meld("R8 * R10")


def test_b7_a_false_joker_has_the_okeys_face() -> None:
    """B7: with the okey Y8, R8 B8 F * is a group; F is its Y8, so a wild tile in it is another colour (R4.5)."""
    assert is_meld("R8 B8 F *", okey="Y8")
    assert finishes("R8 B8 F F | R1 R2 R3 | B11 B12 B13 | K1 K2 K3 K4 | Y13", okey="Y8") == []  # no second Y8 in it
    assert stand_ins("R8 F * | R1 R2 R3 | B11 B12 B13 | K1 K2 K3 K4 K5", "Y8")[0] in ("B8", "K8")


# --- whole hands, finishing, choice ---------------------------------------------------------------------


def test_c1_the_longest_run_first_is_not_the_best_cover() -> None:
    """C1: of R3 … R7 B6 K6 only R7 is left over, with R6 in the group; with the longest run two would be."""
    assert finishes("R3 R4 R5 R6 R7 B6 K6 | Y8 Y9 Y10 Y11 | K10 K11 K12 K13") == ["R7"]


def test_c2_two_copies_of_one_tile_in_two_melds() -> None:
    hand = "Y1 Y2 Y3 | Y9 Y10 Y11 | R1 B1 K1 Y1 | R12 B12 K12 Y12 | R5"
    assert "R5" in finishes(hand)


def test_c3_every_tile_finishes_and_the_choice_counts() -> None:
    hand = f"{FULL} *"
    assert len(finishes(hand)) == 15
    assert points_lost(hand, "finish *", "gamelake") == [0, 4, 4, 4]
    assert points_lost(hand, "finish R4", "gamelake") == [0, 2, 2, 2]


def test_c5_finishing_with_a_false_joker() -> None:
    assert points_lost(f"{FULL} F", "finish F", "gamelake") == [0, 2, 2, 2]
    assert points_lost(f"{FULL} F", "finish F", "klasik") == [0, 4, 4, 4]


def test_c8_finishing_is_optional() -> None:
    """C8: R5.2."""
    round = round_with(f"{FULL} R8")
    assert from_text("finish R8", OKEY) in round.legal_actions()
    round.apply("throw R8")
    assert (round.over, round.turn, round.lost) == (False, 1, (0, 0, 0, 0))


# --- seven pairs ----------------------------------------------------------------------------------------


def test_d1_seven_pairs_and_the_okey() -> None:
    hand = f"{PAIRS} *"
    assert len(finishes(hand, by="pairs")) == 8  # the okey, or one of any pair: the okey is its twin
    assert points_lost(hand, "finish *", "gamelake") == [0, 8, 8, 8]
    assert points_lost(hand, "finish *", "klasik") == [0, 4, 4, 4]
    for rules in PRESETS:
        assert points_lost(hand, "finish R2", rules) == [0, 4, 4, 4]


def test_d3_a_wild_tile_makes_the_seventh_pair() -> None:
    """D3: R4.4."""
    assert "K9" in finishes("R2 R2 R9 R9 B3 B3 B11 B11 K6 K6 K13 K13 R3 * K9", by="pairs")


def test_d4_two_false_jokers_are_a_pair() -> None:
    """D4: R4.4."""
    assert "K9" in finishes("R2 R2 R9 R9 B3 B3 B11 B11 K6 K6 K13 K13 F F K9", by="pairs")


def test_d6_a_false_joker_pairs_only_with_its_face() -> None:
    six = "R2 R2 R9 R9 B3 B3 B11 B11 K6 K6 K13 K13"
    assert finishes(f"{six} F R3 K9", by="pairs") == []
    assert "K9" in finishes(f"{six} F * K9", by="pairs")


# --- piles, draws, end of a round -----------------------------------------------------------------------


def play_on(round: Round, choose: Any) -> None:
    while not round.over:
        round.apply(choose(round.legal_actions()))


@pytest.mark.parametrize("rules", PRESETS)
def test_e1_the_round_is_void_with_the_throw_after_the_last_draw(rules: str) -> None:
    for seed in range(5):
        round = Round(rules, seed=seed)
        rng = random.Random(seed)
        while not round.over:
            assert not (round.phase == "draw" and round.stock_left == 0)
            legal = [action for action in round.legal_actions() if action < 56]
            round.apply(DRAW if DRAW in legal else rng.choice(legal))
        assert (round.ending, round.stock_left) == ("void", 0)
        assert round.lost == (0, 0, 0, 0)


def test_e3_taking_for_ever_ends_at_max_throws() -> None:
    """E3: R5.6."""
    round = Round("gamelake", seed=2)
    while not round.over:
        legal = [action for action in round.legal_actions() if action < 56 and action != SHOW]
        round.apply(TAKE if TAKE in legal else legal[0])
    assert (round.ending, round.stock_left, int(round.fields["throws"][0])) == ("truncated", 48, 200)


def test_e6_a_thrown_wild_tile_may_be_taken_and_is_still_wild() -> None:
    round = round_with("R1 R3 R5 R7 R9 R11 R13 B2 B4 B6 B8 B10 B12 K1 *")
    held = int(round.racks[1][okey_env.tiles.WILD])
    round.apply("throw *")
    round.apply("take")
    assert round.racks[1][okey_env.tiles.WILD] == held + 1
    assert to_text(from_text("throw *", OKEY), OKEY) == "throw *"


def test_e9_each_seat_has_its_own_heap_and_takes_from_the_left_only() -> None:
    """E9: throws go to the right (R2.3), and only the last of the left neighbour is to be had (R3.2)."""
    round = Round("gamelake", seed=3)
    thrown = round.legal_actions()[0] - okey_env.actions.THROW
    thrower = round.turn
    round.apply(okey_env.actions.THROW + thrown)
    assert round.turn == (thrower + 1) % 4
    assert round.offer == thrown
    round.apply(DRAW)
    assert TAKE not in round.legal_actions()
    second = [action for action in round.legal_actions() if 3 <= action < 56][-1]
    round.apply(second)
    assert round.offer == second - okey_env.actions.THROW
    assert round.heaps[thrower][thrown] == 1
    assert round.heaps[(thrower + 1) % 4].sum() == 1


def test_e10_the_starter_has_15_tiles_and_does_not_draw() -> None:
    """E10: R3.1."""
    round = Round("gamelake", seed=4)
    assert DRAW not in round.legal_actions()
    assert TAKE not in round.legal_actions()
    with pytest.raises(ValueError, match="it has 15 tiles and must throw or finish"):
        round.apply("draw")
    assert from_text("finish R8", OKEY) in round_with(f"{FULL} R8").legal_actions()


def test_e11_after_13_comes_1() -> None:
    assert face_text(okey_of(parse_face("K13"))) == "K1"
    assert hands.parse("K1 F", okey="K1").tolist() == hands.parse("* F", okey="K1").tolist()


# --- indicator and scores -------------------------------------------------------------------------------

TWIN = "Y4 R2 R4 R6 R8 R10 R12 B1 B3 B5 B7 K9 K11 K13 Y1"


def test_f1_showing_the_twin_in_the_first_turn() -> None:
    assert points_lost(TWIN, "show", "gamelake") == [0, 1, 1, 1]
    with pytest.raises(ValueError, match="these rules give nothing for the indicator's twin"):
        round_with(TWIN, "klasik").apply("show")


def test_f2_too_late_not_held_or_a_false_joker() -> None:
    late = round_with(TWIN)
    late.apply("throw R2")
    while late.turn != 0:
        late.apply("draw" if late.phase == "draw" else next(a for a in late.legal_actions() if 3 <= a < 56))
    with pytest.raises(ValueError, match="its first turn is past"):
        late.apply("show")
    for tile in ("Y1", "F"):  # another tile, or the false joker, is not the twin
        other = round_with(TWIN.replace("Y4", "Y9").replace("Y1", tile))
        before = other.save()
        with pytest.raises(ValueError, match="no Y4 is in its rack"):
            other.apply("show")
        assert other.save() == before


def test_f6_the_losers_lose() -> None:
    """F6: eight points fewer for each loser, and 24 for the winner in zero-sum points."""
    env = okey_env.raw_env(reward="zero_sum")
    env.reset(seed=1, options={"deal": Deal(indicator="Y4", racks=(f"{PAIRS} *", None, None, None))})
    env.step(from_text("finish *", OKEY))
    assert list(env.rewards.values()) == [24.0, -8.0, -8.0, -8.0]


def test_f8_the_best_score_wins_the_match_with_points_below_zero_kept() -> None:
    """F8: 2, 9, 4, 11, and the last wins with seven pairs; so says the reference, on which the match will stand."""
    match = ReferenceMatch({**KLASIK, "winners": 1}, starter=0)
    match.scores[:] = [2, 9, 4, 11]
    match.end_round([4, 4, 4, 0], 3)
    assert match.scores == [-2, 5, 0, 11]
    assert match.over
    assert match.winners() == [3]


# --- bots, environment (G8 is in test_aec.py, G10 in test_bots.py) -----------------------------------------


def test_g2_the_mask_is_the_legal_moves_and_there_is_always_one() -> None:
    """G2: one rule oracle: what the mask allows is done, what it does not is refused, and no turn ever stalls."""
    for seed in range(3):
        round = Round("gamelake", seed=seed)
        rng = random.Random(seed)
        while not round.over:
            legal = round.legal_actions()
            assert legal
            before = round.save()
            for action in set(range(109)) - set(legal):
                with pytest.raises(ValueError, match="may not"):
                    round.apply(action)
            assert round.save() == before
            round.apply(rng.choice(legal))


def test_g6_rounds_of_random_players_are_nearly_all_void() -> None:
    void = 0
    for seed in range(100):
        round = Round("gamelake", seed=seed)
        rng = random.Random(seed)
        play_on(round, rng.choice)
        void += round.ending == "void"
        if round.winner is None:
            assert round.lost == round.lost[:1] * 4 or 1 in round.lost  # nothing but a shown indicator
    assert void >= 90
