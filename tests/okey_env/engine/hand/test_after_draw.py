"""What is useful after one more tile is what the analysis of the hand with that tile says."""

import numpy as np
import numpy.typing as npt
import pytest

from okey_env.engine._jit import JIT_IS_OFF, kernel
from okey_env.engine.hand import KIND_OF_BIT, analyse, hand_of_counts, lowest_bit, useful_of_cover
from okey_env.engine.hand.after_draw import prepare_after_draw, throws_after_draw, useful_after_draw
from okey_env.engine.hand.bits import FACES, as_int
from okey_env.tiles import NUM_KINDS, WILD

NUM_HANDS = 60 if JIT_IS_OFF else 12_000


@kernel
def count_differences(hands: npt.NDArray[np.uint8], run_13_1: bool, seen: npt.NDArray[np.int64]) -> int:
    """Ask for every tile that may come to each of `(N, 53)` hands; `seen` counts by distance what was asked."""
    found = np.empty(1, np.uint64)
    after = np.empty(NUM_KINDS, np.uint64)
    then = np.empty(NUM_KINDS, np.uint64)
    wrong = 0
    for i in range(len(hands)):
        once, twice, wilds = hand_of_counts(hands[i])
        distance, _, useful_word = analyse(once, twice, wilds, run_13_1, after)
        if distance == 0:
            continue
        useful = as_int(useful_word) & FACES
        covered = 14 - wilds - distance
        drawing = prepare_after_draw(once, twice, covered, useful, run_13_1)
        kinds = FACES & ~as_int(twice)
        while kinds:
            bit = lowest_bit(kinds)
            kinds &= kinds - 1
            helps = useful >> bit & 1
            tile = np.uint64(1 << bit)
            expected = useful_of_cover(once | tile, twice | once & tile, covered + helps, run_13_1, found)
            wrong += useful_after_draw(drawing, bit) != as_int(expected) & FACES
            seen[distance, helps] += 1
            if helps and distance > 1:
                _, keep, _ = analyse(once | tile, twice | once & tile, wilds, run_13_1, then)
                wrong += throws_after_draw(drawing, bit, after) != as_int(keep) & FACES
                throws = as_int(keep) & FACES
                while throws:
                    kind = KIND_OF_BIT[lowest_bit(throws)]
                    throws &= throws - 1
                    wrong += as_int(after[kind]) & FACES != as_int(then[kind]) & FACES
    return wrong


def hands_near_melds(generator: np.random.Generator, number: int) -> npt.NDArray[np.uint8]:
    """Hands `(number, 53)` of 14 tiles, each drawn from fewer faces than the last, so that all distances are met."""
    hands = np.zeros((number, NUM_KINDS), np.uint8)
    for hand in hands:
        colours, numbers = int(generator.integers(1, 5)), int(generator.integers(4, 14))
        first = int(generator.integers(0, 14 - numbers))
        faces = [13 * colour + first + number for colour in range(colours) for number in range(numbers)]
        tiles = faces * 2 + [WILD] * 2
        if len(tiles) < 18:  # few faces leave few tiles: some others lie among them
            tiles += generator.permutation(52)[: 18 - len(tiles)].tolist()
        left = 14
        for kind in generator.permutation(tiles).tolist():
            if left and hand[kind] < 2:
                hand[kind] += 1
                left -= 1
    whole: npt.NDArray[np.uint8] = hands[hands.sum(axis=1) == 14]
    return whole


@pytest.fixture(scope="module")
def hands() -> npt.NDArray[np.uint8]:
    return hands_near_melds(np.random.default_rng(6), NUM_HANDS)


@pytest.mark.heavy
@pytest.mark.parametrize("run_13_1", [True, False])
def test_every_tile_that_may_come(hands: npt.NDArray[np.uint8], run_13_1: bool) -> None:
    seen = np.zeros((15, 2), np.int64)
    assert count_differences(hands, run_13_1, seen) == 0
    assert (seen[1:6] > 0).all()
