"""The encoders `tiles_raw` and `tiles`: their pieces by the checked way, and the 48 symmetries."""

import random
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from okey_env import Observation, Round, as_encoder, hands
from okey_env.actions import THROW
from okey_env.encoders.encoder import starts_of
from okey_env.encoders.tiles import AFTER, DISTANCES
from okey_env.engine.hand import BIT_OF_KIND
from okey_env.symmetries import SYMMETRIES, turn_actions, turn_masks, turn_observations
from okey_env.tiles import NUM_KINDS

ENCODERS = ("tiles_raw", "tiles")


@cache
def seen_in_play(seeds: range) -> tuple[Observation, ...]:
    """What the seat to move sees at every third decision of rounds in which all throw by the distance."""
    found = []
    for seed in seeds:
        round = Round(seed=seed)
        chance = random.Random(seed)
        while not round.over:
            observation = round.observe(round.turn)
            if chance.random() < 1 / 3:
                found.append(observation)
            round.apply(sensible(observation, chance))
    return tuple(found)


def sensible(observation: Observation, chance: random.Random) -> int:
    """A legal action that keeps the distance small, so that all distances are met."""
    legal = observation.legal_actions
    if observation.phase == "draw":
        return chance.choice(legal)
    found = hands.analyse(observation.rack)
    keeping = [action for action in legal if action - THROW in np.flatnonzero(found.keeps)]
    return chance.choice(keeping or legal)


@pytest.mark.parametrize("name", ENCODERS)
def test_values_keep_to_the_space(name: str) -> None:
    encoder = as_encoder(name)
    for observation in seen_in_play(range(8)):
        array = encoder.encode(observation)
        assert np.isfinite(array).all()
        assert np.abs(array).max() <= encoder.high


def test_planes_are_what_the_observation_says() -> None:
    raw = as_encoder("tiles_raw")
    for observation in seen_in_play(range(4)):
        planes, facts = raw.as_planes(raw.encode(observation))
        assert planes.shape == (NUM_KINDS, raw.num_planes)
        assert planes[:, 0].tolist() == (observation.rack / 2).tolist()
        assert planes[:, 1].tolist() == (observation.unseen / 2).tolist()
        assert planes[:, 2:6].T.tolist() == (observation.heaps / 2).tolist()
        assert planes[:, 9:12].T.tolist() == observation.taken[1:].astype(float).tolist()
        assert len(facts) == raw.size - raw.num_planes * NUM_KINDS


def test_the_exact_planes_are_what_hand_analysis_says() -> None:
    tiles = as_encoder("tiles")
    compared = 0
    for observation in seen_in_play(range(6)):
        pieces = tiles.split(tiles.encode(observation))
        found = hands.analyse(observation.rack)
        assert pieces["melds_distance"].argmax() == min(found.distance, DISTANCES - 1)
        assert pieces["pairs_distance"].argmax() == min(found.pairs_distance, DISTANCES - 1)
        if observation.rack.sum() == 15:
            helping = found.useful_after.astype(int) @ observation.unseen.astype(int)
            assert (pieces["keeps"] == found.keeps).all()
            assert pieces["useful_after"] == pytest.approx(np.where(found.keeps, helping / 64, 0))
            assert (pieces["finish"] > 0).tolist() == hands.finishing_kinds(observation.rack).tolist()
            compared += 1
    assert compared > 20


def test_a_take_is_told_like_a_throw() -> None:
    """The piece of a take says what the best throw after it leaves."""
    tiles, at = as_encoder("tiles"), starts_of(AFTER)
    compared = 0
    for observation in seen_in_play(range(10)):
        pieces = tiles.split(tiles.encode(observation))
        if observation.phase != "draw" or observation.offer is None:
            assert pieces["take"].sum() == 0
            continue
        rack = observation.rack.copy()
        if rack[observation.offer] == 2:
            continue
        rack[observation.offer] += 1
        found = hands.analyse(rack)
        helping = np.where(found.keeps, found.useful_after.astype(int) @ observation.unseen.astype(int), -1)
        distance = min(found.distance, DISTANCES - 1)
        assert pieces["take"][at["distance"] : at["distance"] + DISTANCES].argmax() == distance
        if found.distance > 0:
            assert pieces["take"][at["useful_at"] + distance] == pytest.approx(helping.max() / 64)
        stays = hands.analyse(observation.rack)
        if stays.distance > 0 and pieces["draw"][at["may"]]:
            count = (stays.useful * observation.unseen).sum()
            assert pieces["draw"][at["useful_at"] + min(stays.distance, DISTANCES - 1)] == pytest.approx(count / 64)
        compared += 1
    assert compared > 20


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("symmetry", [1, 7, 23, 24, 30, 47])
def test_a_turned_rack_is_encoded_as_the_turned_array(name: str, symmetry: int) -> None:
    """Every field of an observation turned tile by tile gives the array that `turn_observations` gives."""
    encoder = as_encoder(name)
    for observation in seen_in_play(range(3)):
        records = turn_records(observation, symmetry)
        turned = np.zeros((1, encoder.size), np.float32)
        encoder.fill_batch(records, turned)
        expected = turn_observations(encoder.encode(observation)[None], symmetry, encoder)
        for piece, place in encoder.slices():
            assert np.allclose(turned[0, place], expected[0, place], rtol=1e-6, atol=1e-12), piece.name


def turn_records(observation: Observation, symmetry: int) -> npt.NDArray[np.record]:
    """The record of an observation with each tile replaced by what the symmetry makes of it."""
    kinds = SYMMETRIES[symmetry]
    records = observation.records.copy()
    for field in ("rack", "unseen", "heap", "known"):
        source = observation.records[field][0]
        records[field][0][..., kinds] = source[..., :NUM_KINDS]
    for field in ("indicator", "okey"):
        records[field][0] = kinds[observation.records[field][0]]
    if observation.offer is not None:
        records["offer"][0] = kinds[observation.offer]
    for field in ("once", "twice", "finish_melds", "finish_pairs", "taken"):
        words = np.atleast_1d(observation.records[field][0])
        turned = [
            sum(
                1 << int(BIT_OF_KIND[kinds[kind]])
                for kind in range(NUM_KINDS)
                if int(word) >> int(BIT_OF_KIND[kind]) & 1
            )
            for word in words
        ]
        records[field][0] = turned if field == "taken" else turned[0]
    return records


def test_the_symmetries_are_48_permutations_that_leave_the_solver_as_it_is() -> None:
    assert len({tuple(row) for row in SYMMETRIES.tolist()}) == 48
    chance = np.random.default_rng(1)
    tiles = np.repeat(np.arange(NUM_KINDS), 2)
    racks = np.array(
        [np.bincount(chance.choice(tiles, 14, replace=False), minlength=NUM_KINDS) for _ in range(200)], np.uint8
    )
    for kinds in SYMMETRIES:
        assert sorted(kinds.tolist()) == list(range(NUM_KINDS))
        turned = np.empty_like(racks)
        turned[:, kinds] = racks
        assert np.array_equal(hands.melds_distance(turned), hands.melds_distance(racks))
        useful = hands.useful_kinds(racks)
        assert (hands.useful_kinds(turned)[:, kinds] == useful).all()


def test_another_reflection_is_no_symmetry() -> None:
    """The test above can fail: n to 14 - n changes what runs are."""
    kinds = np.array([*(13 * (kind // 13) + 12 - kind % 13 for kind in range(52)), 52])
    chance = np.random.default_rng(1)
    tiles = np.repeat(np.arange(NUM_KINDS), 2)
    racks = np.array(
        [np.bincount(chance.choice(tiles, 14, replace=False), minlength=NUM_KINDS) for _ in range(400)], np.uint8
    )
    turned = np.empty_like(racks)
    turned[:, kinds] = racks
    assert not np.array_equal(hands.melds_distance(turned), hands.melds_distance(racks))


def test_masks_and_actions_turn_together() -> None:
    for observation in seen_in_play(range(2)):
        for symmetry in (5, 29, 40):
            mask = turn_masks(observation.action_mask[None], symmetry)[0]
            legal = turn_actions(np.array(observation.legal_actions), symmetry)
            assert np.flatnonzero(mask).tolist() == sorted(legal.tolist())


def test_only_planes_can_be_turned() -> None:
    with pytest.raises(ValueError, match="the encoder 'flat' has no planes: expected one like 'tiles'"):
        turn_observations(np.zeros((1, 796), np.float32), 1, as_encoder("flat"))
