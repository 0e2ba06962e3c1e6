"""The encoder `flat_offer`: what `flat` says, and what a take is worth by the checked way to the same answers."""

import itertools
import random

import numpy as np
import numpy.typing as npt
import pytest

from okey_env import Observation, Round, as_encoder, hands
from okey_env.actions import TAKE
from okey_env.tiles import WILD


def _seen_when_drawing(seed: int) -> list[Observation]:
    """What the seat to move sees before each of its draws in a round that is played by chance."""
    round = Round(seed=seed)
    chance = random.Random(seed)
    seen = []
    while not round.over:
        observation = round.observe(round.turn)
        if observation.rack.sum() == 14:
            seen.append(observation)
        round.apply(chance.choice(observation.legal_actions))
    return seen


def _most_useful(rack: npt.NDArray[np.uint8], unseen: npt.NDArray[np.uint8]) -> int:
    """Unseen tiles that help, after the best throw if there are 15."""
    found = hands.analyse(rack)
    if rack.sum() == 14:
        return int((found.useful * unseen).sum())
    return max(int((found.useful_after[kind] * unseen).sum()) for kind in np.flatnonzero(found.keeps))


def test_a_take_is_worth_what_hand_analysis_says() -> None:
    encoder = as_encoder("flat_offer")
    gains, offers = set(), set()
    for seen in itertools.chain.from_iterable(map(_seen_when_drawing, range(6))):
        pieces = encoder.split(encoder.encode(seen))
        if TAKE not in seen.legal_actions:
            assert not pieces["useful_taken"].any()
            assert not pieces["gain_taken"].any()
            continue
        assert seen.offer is not None
        with_offer = seen.rack.copy()
        with_offer[seen.offer] += 1
        most = _most_useful(with_offer, seen.unseen)
        gain = most - _most_useful(seen.rack, seen.unseen)
        gains.add(gain)
        offers.add(seen.offer)
        assert pieces["useful_taken"][0] == pytest.approx(min(1, most / 40))
        assert pieces["gain_taken"] == pytest.approx([max(-1, min(1, gain / 8)), max(-1, min(1, gain / 32))])
    assert len(gains) > 10
    assert WILD in offers


def test_the_rest_is_flat() -> None:
    flat, more = as_encoder("flat"), as_encoder("flat_offer")
    assert more.pieces[: len(flat.pieces)] == flat.pieces
    round = Round(seed=3)
    while not round.over:
        for seat in range(4):
            seen = round.observe(seat)
            np.testing.assert_array_equal(more.encode(seen)[: flat.size], flat.encode(seen))
            if seat != round.turn or seen.rack.sum() == 15:
                assert not more.encode(seen)[flat.size :].any()
        round.apply(round.observe(round.turn).legal_actions[0])
