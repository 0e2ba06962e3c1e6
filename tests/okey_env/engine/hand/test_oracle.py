"""The solver beside the oracles, family by family, and under the symmetries of the melds."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from okey_env import hands
from okey_env.engine import hand
from okey_env.engine._jit import JIT_IS_OFF
from tests import hand_oracle
from tests.hand_oracle import FAMILIES

Array = np.ndarray[Any, Any]


def batch_of(family: str, size: int, run_13_1: bool, num_hands: int, seed: int = 0) -> Array:
    """Hands of a family; a few only when nothing is compiled."""
    if JIT_IS_OFF:
        num_hands = max(1, num_hands // 40)
    generator = np.random.default_rng([sorted(FAMILIES).index(family), size, run_13_1, seed])
    return np.array([FAMILIES[family](generator, size, run_13_1) for _ in range(num_hands)])


@pytest.mark.parametrize("run_13_1", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_distances_are_the_oracle_s(family: str, run_13_1: bool) -> None:
    for size in (14, 15):
        batch = batch_of(family, size, run_13_1, 80)
        expected = [hand_oracle.melds_distance(counts, run_13_1) for counts in batch]
        assert list(np.asarray(hands.melds_distance(batch, run_13_1=run_13_1))) == expected
        assert list(np.asarray(hands.pairs_distance(batch))) == [hand_oracle.pairs_distance(counts) for counts in batch]


@pytest.mark.parametrize("run_13_1", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_an_integer_program_agrees(family: str, run_13_1: bool) -> None:
    for counts in batch_of(family, 14, run_13_1, 5, seed=1):
        covered = hand_oracle.most_covered_by_program(counts, run_13_1)
        assert hands.melds_distance(counts, run_13_1=run_13_1) == max(0, 14 - int(counts[52]) - covered)


@pytest.mark.parametrize("run_13_1", [True, False])
@pytest.mark.parametrize("family", ["near", "wrap", "pairs", "wilds"])
def test_finishing_kinds_are_those_that_leave_a_winning_rack(family: str, run_13_1: bool) -> None:
    batch = batch_of(family, 15, run_13_1, 60)
    by_melds = hands.finishing_kinds(batch, by="melds", run_13_1=run_13_1)
    by_pairs = hands.finishing_kinds(batch, by="pairs", run_13_1=run_13_1)
    for counts, melds, pairs in zip(batch, by_melds, by_pairs, strict=True):
        for kind in range(53):
            left = hand_oracle.after_throw(counts, kind) if counts[kind] else None
            assert melds[kind] == (left is not None and hand_oracle.melds_distance(left, run_13_1) == 0)
            assert pairs[kind] == (left is not None and hand_oracle.is_seven_pairs(left))


@pytest.mark.parametrize("run_13_1", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_analysis_says_what_distances_say(family: str, run_13_1: bool) -> None:
    """Throw each kind, then draw each kind, and look at the distance: all that the one pass claims to know."""
    for size in (14, 15):
        batch = batch_of(family, size, run_13_1, 40, seed=2)
        found = hands.analyse(batch, run_13_1=run_13_1)
        if size == 14:  # these have a search of their own
            assert hands.useful_kinds(batch, run_13_1=run_13_1).tolist() == found.useful.tolist()
        for i, counts in enumerate(batch):
            expected = analysis_by_definition(counts, run_13_1)
            assert found.throw_distances[i].tolist() == expected[0].tolist()
            assert found.useful[i].tolist() == expected[1].tolist()
            assert found.useful_after[i].tolist() == expected[2].tolist()


def analysis_by_definition(counts: Array, run_13_1: bool) -> tuple[Array, Array, Array]:
    """Distances after each throw, useful kinds, and useful kinds after each throw that costs nothing."""
    distance = distances_of(counts[None], run_13_1)[0]
    throws = np.full(53, -1)
    useful_after = np.zeros((53, 53), dtype=np.bool_)
    for thrown in np.flatnonzero(counts):
        left = hand_oracle.after_throw(counts, int(thrown))
        throws[thrown] = distances_of(left[None], run_13_1)[0]
        if throws[thrown] == distance > 0:
            useful_after[thrown] = useful_by_definition(left, run_13_1, distance)
    return throws, useful_by_definition(counts, run_13_1, distance), useful_after


def useful_by_definition(counts: Array, run_13_1: bool, distance: int) -> Array:
    drawn = counts + np.eye(53, dtype=np.uint8)
    shorter: Array = np.logical_and(distances_of(drawn, run_13_1) < distance, counts < 2)  # there is no third
    return shorter


def distances_of(batch: Array, run_13_1: bool) -> Array:
    """Melds distances of any number of tiles; impossible counts give anything."""
    melds = np.empty(len(batch), dtype=np.int8)
    hand.melds_of_batch(batch, run_13_1, melds)
    return melds


@st.composite
def racks(draw: st.DrawFn) -> Array:
    family = draw(st.sampled_from(sorted(FAMILIES)))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    return FAMILIES[family](generator, 15, True)


@settings(max_examples=5 if JIT_IS_OFF else 300)
@given(racks(), st.permutations(range(4)), st.booleans())
def test_colours_and_reflection_change_nothing(counts: Array, colours: list[int], reflected: bool) -> None:
    """The 48 symmetries: any permutation of the colours, and n -> 15 - n for 2 to 13 with the 1 fixed."""
    kinds = image_of_kinds(colours, reflected)
    image = np.empty_like(counts)
    image[kinds] = counts
    found, found_image = hands.analyse(counts), hands.analyse(image)
    assert found.distance == found_image.distance
    assert found.pairs_distance == found_image.pairs_distance
    assert found.throw_distances.tolist() == found_image.throw_distances[kinds].tolist()
    assert found.useful.tolist() == found_image.useful[kinds].tolist()
    assert found.useful_after.tolist() == found_image.useful_after[np.ix_(kinds, kinds)].tolist()
    assert hands.finishing_kinds(counts).tolist() == hands.finishing_kinds(image)[kinds].tolist()


def image_of_kinds(colours: list[int], reflected: bool) -> Array:
    """For each kind the kind to which the symmetry takes it."""
    numbers = [1] + [15 - number if reflected else number for number in range(2, 14)]
    faces = [colours[colour] * 13 + numbers[number] - 1 for colour in range(4) for number in range(13)]
    return np.array([*faces, 52])


def test_the_melds_have_these_symmetries_and_the_13_1_2_does_not() -> None:
    melds = {frozenset(meld) for meld in hand_oracle.all_melds(True, longest=5)}
    for colours in itertools.permutations(range(4)):
        for reflected in (False, True):
            kinds = image_of_kinds(list(colours), reflected)
            assert {frozenset(int(kinds[face]) for face in meld) for meld in melds} == melds
    assert frozenset((12, 0, 1)) not in melds


@pytest.mark.parametrize("run_13_1", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_arrangements_are_legal_and_best(family: str, run_13_1: bool) -> None:
    legal = {tuple(sorted(meld)) for meld in hand_oracle.all_melds(run_13_1, longest=14)}
    for size in (14, 15):
        batch = batch_of(family, size, run_13_1, 60, seed=3)
        distances = np.asarray(hands.melds_distance(batch, run_13_1=run_13_1))
        arrangements = hands.arrange(batch, run_13_1=run_13_1)
        assert isinstance(arrangements, list)
        for counts, distance, found in zip(batch, distances, arrangements, strict=True):
            laid = [kind for row in (*found.melds, *found.parts) for kind in row.kinds]
            again = np.bincount(laid, minlength=53) + found.left_over.astype(np.int64)
            assert again.tolist() == counts.tolist()  # every tile lies once
            assert all(tuple(sorted(meld.faces)) in legal for meld in found.melds)
            assert not any(any(part.wild) for part in found.parts)
            if distance == 0:
                assert not found.parts
                assert found.left_over.sum() == size - 14
