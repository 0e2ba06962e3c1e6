"""Hands that went wrong once, or nearly, written out with what is true of them. The okey is Y5."""

import numpy as np
import numpy.typing as npt
import pytest

from okey_env import hands
from okey_env.engine import hand
from okey_env.tiles import NUM_KINDS, WILD, kind_text, parse_rack


def words(text: str) -> tuple[np.uint64, np.uint64, int]:
    once, twice, wilds = hand.hand_of_counts(parse_rack(text, "Y5"))
    return np.uint64(once), np.uint64(twice), wilds


def names(marks: npt.NDArray[np.bool_]) -> str:
    """The kinds that are marked as text, in their order."""
    return " ".join(kind_text(int(kind), "Y5") for kind in np.flatnonzero(marks))


@pytest.mark.parametrize(
    ("text", "run_13_1", "distance"),
    [
        # Three groups of four and two wild tiles: 4 + 4 + 3 and 1 + 2 wild. The largest melds first leave 2 wild alone.
        ("R1 B1 K1 Y1 R5 B5 K5 F R9 B9 K9 Y9 * *", True, 0),
        # A run of four gives a tile up to a group.
        ("R1 R2 R3 R4 B4 K4 B6 B7 B8 K9 K10 K11 Y12 *", True, 1),
        ("R1 R2 R3 R4 B4 K4 B6 B7 B8 K9 K10 K11 K12 Y1", True, 1),
        ("R1 R2 R3 R4 B4 K4 B6 B7 B8 K9 K10 K11 K12 K13", True, 0),
        # The 1 after the 13, and the 1 before the 2, but not both with one tile, and nothing after it.
        ("R12 R13 R1 B5 B6 B7 K9 Y9 R9 Y1 Y2 Y3 Y4 B8", True, 0),
        ("R12 R13 R1 B5 B6 B7 K9 Y9 R9 Y1 Y2 Y3 Y4 B8", False, 1),
        ("R12 R13 R1 R2 R3 B5 B6 B7 K9 Y9 R9 Y1 Y2 Y3", True, 2),
        ("R12 R13 R1 R1 R2 R3 B5 B6 B7 K9 Y9 R9 B9 B8", True, 0),
        ("R13 R1 R2 B5 B6 B7 K9 Y9 R9 Y1 Y2 Y3 Y4 B8", True, 1),
        # A whole colour and the 1 again: a run of fourteen.
        ("R1 R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13", True, 0),
        ("R1 R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13", False, 1),
        # A 1 serves once: in 12-13-1 or in a group of 1s.
        ("R12 R13 R1 B1 K1 B5 B6 B7 K9 Y9 R9 Y2 Y3 Y4", True, 2),
        # 5 + 5 + 4, which four slots cannot hold.
        ("R1 R2 R3 R4 R5 B1 B2 B3 B4 B5 K9 Y9 R9 B9", True, 0),
        ("R1 R2 R3 R4 R5 B1 B2 B3 B4 B5 K9 Y9 R9 K2", True, 1),
        # A group never repeats a colour.
        ("R1 R1 B1 B5 B6 B7 K9 Y9 R9 Y1 Y2 Y3 Y4 B8", True, 1),
        # A wild tile as a third copy of R3, both of which lie in other melds.
        ("R1 R2 R3 R3 B3 K3 R4 * R2 B6 B7 B8 B9 B10", True, 0),
        # A false joker is the okey's face.
        ("F Y6 Y7 R1 R2 R3 B5 B6 B7 K9 Y9 R9 B9 B8", True, 0),
        # Far from everything.
        ("R1 R1 R5 R5 R9 R9 B3 B3 B7 B7 B11 B11 * *", True, 7),
    ],
)
def test_melds_distance(text: str, run_13_1: bool, distance: int) -> None:
    hand_words = words(text)
    assert hand.melds_distance(*hand_words, run_13_1) == distance
    assert hand.is_finished_melds(*hand_words, run_13_1) == (distance == 0)


@pytest.mark.parametrize(
    ("text", "melds", "pairs"),
    [
        ("R1 R2 R3 R4 B5 B6 B7 K9 Y9 R9 Y1 Y2 Y3 K12 B13", "", ""),
        ("R1 R2 R3 B5 B6 B7 B8 K9 Y9 R9 Y1 Y2 Y3 Y4 K12", "K12", ""),
        # Fifteen tiles in melds: only an end that leaves a meld behind may go, and five melds of three have none.
        ("R1 R2 R3 B5 B6 B7 K9 Y9 R9 Y1 Y2 Y3 K11 K12 K13", "", ""),
        ("R1 R2 R3 R4 B5 B6 B7 B8 K9 Y9 R9 B9 Y1 Y2 Y3", "R1 R4 R9 B5 B8 B9 K9 Y9", ""),
        # The wild tile itself: fourteen natural tiles are melds.
        ("R1 R2 R3 R4 B5 B6 B7 B8 K9 Y9 R9 Y1 Y2 Y3 *", "R1 R2 R3 R4 R9 B5 B6 B7 B8 K9 Y1 Y2 Y3 Y9 *", ""),
        # The wild tile of two: the other is enough.
        ("R1 R2 R3 R4 B5 B6 B7 B8 K9 Y9 R9 Y1 Y2 * *", "R1 R2 R3 R4 R9 B5 B6 B7 B8 K9 Y1 Y2 Y9 *", ""),
        # Pairs: only the single may go; with a wild tile also a paired one.
        ("R1 R1 R3 R3 B5 B5 B7 B7 K9 K9 Y1 Y1 Y13 Y13 K6", "", "K6"),
        ("R1 R1 R3 R3 B5 B5 B7 B7 K9 K9 Y1 Y1 Y13 K6 *", "", "K6 Y13"),
        ("R1 R1 R3 R3 B5 B5 B7 B7 K9 K9 Y1 Y1 Y13 Y13 *", "", "R1 R3 B5 B7 K9 Y1 Y13 *"),
        ("R1 R1 R3 R3 B5 B5 B7 B7 K9 K9 Y1 Y1 K6 * *", "", "R1 R3 B5 B7 K6 K9 Y1 *"),
        ("R1 R1 R3 R3 B5 B5 B7 B7 K9 K9 Y13 K6 R8 * *", "", "R8 K6 Y13"),
    ],
)
def test_finishing_kinds(text: str, melds: str, pairs: str) -> None:
    rack = parse_rack(text, "Y5")
    assert names(hands.finishing_kinds(rack, "melds")) == melds
    assert names(hands.finishing_kinds(rack, "pairs")) == pairs


@pytest.mark.parametrize(
    ("text", "distance", "useful"),
    [
        # A face held once is useful again: a second R3 or R4 splits the run of six into two melds of seven tiles.
        ("R1 R2 R3 R4 R5 R6 B5 B6 B7 K9 Y9 R9 B9 Y13", 1, "R3 R4 R7 B4 B8 *"),
        # A face held twice is not: there is no third.
        ("R1 R1 R2 R2 R3 R3 B5 B6 B7 B8 K9 Y9 R9 K12", 1, "R4 B4 B9 *"),
    ],
)
def test_useful_kinds_by_definition(text: str, distance: int, useful: str) -> None:
    found = hands.analyse(parse_rack(text, "Y5"))
    assert found.distance == distance
    assert names(found.useful) == useful


@pytest.mark.parametrize(
    ("text", "comes"),
    [
        ("R1 R2 R3 R4 B5 B6 B7 K9 Y9 R9 Y1 Y2 Y11 K13", True),
        ("R1 R2 R3 R4 B5 B6 B7 K9 Y9 R9 Y1 Y2 K13 *", True),
        ("R1 R2 R3 R4 B5 B6 B7 K9 Y9 R9 Y1 K13 * *", False),
    ],
)
def test_a_third_wild_tile_is_not_useful(text: str, comes: bool) -> None:
    """As for a face held twice: there is no third."""
    rack = parse_rack(text, "Y5")
    assert hands.melds_distance(rack) in (1, 2)
    assert hands.useful_kinds(rack)[WILD] == comes
    assert hands.analyse(rack).useful[WILD] == comes
    for kind in range(NUM_KINDS):  # with 15 tiles, after each throw that keeps the distance
        if kind != WILD and rack[kind] < 2:
            more = rack.copy()
            more[kind] += 1
            found = hands.analyse(more)
            if found.distance > 0:
                assert found.useful_after[found.keeps][:, WILD].all() == comes


@pytest.mark.parametrize(
    ("text", "distance"),
    [
        ("R1 R1 R3 R3 B5 B5 B7 B7 K9 K9 Y1 Y1 Y13 Y13", 0),
        ("R1 R1 R3 R3 B5 B5 B7 B7 K9 K9 Y1 Y1 * *", 0),  # two wild tiles are a pair
        ("R1 R1 R3 R3 B5 B5 B7 B7 K9 K9 Y1 Y13 * *", 0),  # or one for each single
        ("R1 R1 R3 R3 B5 B5 B7 B7 K9 K9 Y1 Y13 Y12 Y11", 2),
        ("R1 R1 R3 R3 B5 B5 B7 B7 K9 K9 F F Y1 Y12 Y11", 1),  # fifteen tiles; two false jokers are a pair
        ("R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 B1", 7),
    ],
)
def test_pairs_distance(text: str, distance: int) -> None:
    assert hand.pairs_distance(*words(text)) == distance
