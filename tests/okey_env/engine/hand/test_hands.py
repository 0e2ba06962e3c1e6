"""The public analysis of racks: batches and single racks alike, and what it says of wrong ones."""

from typing import Any

import numpy as np
import pytest

from okey_env import hands, tiles
from okey_env.engine import hand
from tests.hand_oracle import FAMILIES

RACK = hands.parse("R1 R2 R3 R4  B5 B6 B7  K9 Y9 R9  Y1 Y2 Y3  *  K12", okey="Y5")


def test_a_batch_says_what_its_racks_say() -> None:
    generator = np.random.default_rng(0)
    batch = np.array([FAMILIES["near"](generator, 15, True) for _ in range(10)])
    found = hands.analyse(batch)
    melds, pairs = np.asarray(hands.melds_distance(batch)), np.asarray(hands.pairs_distance(batch))
    for i, rack in enumerate(batch):
        one = hands.analyse(rack)
        assert one.distance == hands.melds_distance(rack) == melds[i]
        assert one.pairs_distance == hands.pairs_distance(rack) == pairs[i]
        assert (hands.throw_distances(rack) == hands.throw_distances(batch)[i]).all()
        assert (one.keeps == found.keeps[i]).all()
        assert (one.useful_after == found.useful_after[i]).all()
        for by in ("any", "melds", "pairs"):
            assert (hands.finishing_kinds(rack, by) == hands.finishing_kinds(batch, by)[i]).all()


def test_an_empty_batch_has_no_answers() -> None:
    none = np.zeros((0, 53), dtype=np.uint8)
    assert hands.finishing_kinds(none).shape == (0, 53)
    assert hands.analyse(none).useful_after.shape == (0, 53, 53)
    assert hands.arrange(none) == []


def test_other_whole_numbers_will_do() -> None:
    assert hands.melds_distance(RACK.astype(np.int64)) == hands.melds_distance(RACK) == 0


def changed(kind: int, count: int) -> Any:
    counts = RACK.astype(np.int64)
    counts[kind] = count
    return counts


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (changed(0, 3), r"kind 0 \(R1\) has a count of 3: expected 0, 1 or 2"),
        (changed(52, 4), r"kind 52 \(wild tile\) has a count of 4: expected 0, 1 or 2"),
        (changed(51, -1), r"kind 51 \(Y13\) has a count of -1: expected 0, 1 or 2"),
        (changed(51, 1), "the rack has 16 tiles: expected 14 or 15"),
        (np.array([RACK, changed(51, 1)]), "rack 1 has 16 tiles: expected 14 or 15"),
        (np.array([RACK, changed(51, 9)]), r"rack 1: kind 51 \(Y13\) has a count of 9"),
        (RACK[:52], r"counts are an array \(52,\): expected an array \(53,\) or \(N, 53\)"),
        (RACK.tolist(), r"counts are a list: expected an array"),
        (RACK.astype(np.float32), "counts have dtype float32: expected uint8"),
    ],
)
def test_wrong_racks_are_named(counts: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        hands.melds_distance(counts)


def test_wrong_sizes_and_words_are_named() -> None:
    fourteen = changed(52, 0)
    with pytest.raises(ValueError, match="the rack has 14 tiles: expected 15"):
        hands.finishing_kinds(fourteen)
    with pytest.raises(ValueError, match="the rack has 14 tiles: expected 15"):
        hands.throw_distances(fourteen)
    with pytest.raises(ValueError, match="the rack has 15 tiles: expected 14"):
        hands.useful_kinds(RACK)
    with pytest.raises(ValueError, match="by='runs' is not a choice: expected 'any', 'melds' or 'pairs'"):
        hands.finishing_kinds(RACK, by="runs")  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    ("text", "run_13_1", "melds"),
    [
        # One tile and two wild ones; the groups give up no more than they must.
        ("R1 B1 K1 Y1 R5 B5 K5 F R9 B9 K9 Y9 * *", True, 4),
        ("R12 R13 R1 B5 B6 B7 K9 Y9 R9 Y1 Y2 Y3 * *", True, 4),
        ("R1 R2 R3 R4 R5 B1 B2 B3 B4 B5 K9 Y9 R9 B9", True, 3),
        ("R12 R13 * B5 B6 B7 K9 Y9 R9 Y1 Y2 Y3 Y4 B8", False, 4),
    ],
)
def test_finished_racks_lie_in_melds(text: str, run_13_1: bool, melds: int) -> None:
    found = hands.arrange(hands.parse(text, "Y5"), run_13_1=run_13_1)
    assert isinstance(found, hands.Arrangement)
    assert len(found.melds) == melds
    assert not found.parts
    assert not found.left_over.any()


def test_words_and_counts_are_inverse() -> None:
    for kind in range(53):
        counts = np.zeros(53, dtype=np.uint8)
        counts[kind] = 1
        once, twice, wilds = hand.hand_of_counts(counts)
        assert (int(once), int(twice), wilds) == ((0, 0, 1) if kind == 52 else (1 << int(hand.BIT_OF_KIND[kind]), 0, 0))
        back = np.zeros(53, dtype=np.uint8)
        hand.counts_of_set(np.uint64(1 << int(hand.BIT_OF_KIND[kind])), back)
        assert (back == counts).all()
        assert hand.KIND_OF_BIT[hand.BIT_OF_KIND[kind]] == kind


def test_cover_at_least_is_a_question_about_cover() -> None:
    once, twice, _ = hand.hand_of_counts(RACK)
    once, twice = np.uint64(once), np.uint64(twice)
    covered = hand.cover(once, twice, True)
    assert [hand.cover_at_least(once, twice, True, tiles) for tiles in range(16)] == [
        tiles <= covered for tiles in range(16)
    ]


def test_a_kind_whose_copies_are_all_in_the_rack_is_never_useful() -> None:
    """Neither a third wild tile nor a third false joker can come, and no second tile of the indicator's face."""
    okey, indicator = "Y5", "Y4"
    rack = hands.parse("R1 R2 R3 | B5 B6 B7 | K9 Y9 R9 | Y1 B3 K12 | * *", okey)
    assert hands.melds_distance(rack) > 0
    assert not hands.useful_kinds(rack)[52]
    assert not hands.analyse(rack).useful[52]
    jokers = hands.parse("F F Y6 Y7 | B5 B6 B7 | K9 Y9 R9 | R1 R2 R3 | K12", okey)
    assert hands.useful_kinds(jokers)[52]
    assert not hands.useful_kinds(jokers)[tiles.parse_face(okey)]
    twin = tiles.parse_face(indicator)
    waits = hands.parse("Y4 B4 R9 R10 R11 K1 K2 K3 B7 B8 B9 B10 B11 R4", okey)
    # a group and a run that both want a Y4
    both = hands.parse("R4 B4 | Y2 Y3 Y4 | K1 K2 K3 K4 | R9 R10 R11 R12 | B13", okey)
    assert hands.useful_kinds(both)[twin]
    assert not hands.useful_kinds(both, indicator=indicator)[twin]
    batch = np.stack([both, waits, both])
    without = hands.useful_kinds(batch, indicator=twin)
    assert not without[:, twin].any()
    others = np.delete(np.arange(53), twin)
    assert (without[:, others] == hands.useful_kinds(batch)[:, others]).all()
    found = hands.analyse(batch, indicator=indicator)
    assert not found.useful[:, twin].any()
    assert not found.useful_after[:, :, twin].any()
    assert (hands.useful_kinds(jokers, indicator=indicator) == hands.useful_kinds(jokers)).all()  # none is in the rack
