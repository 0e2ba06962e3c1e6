"""The deal: all tiles there, every tile as likely in every place, the same seed the same deal (R1, R2)."""

import numpy as np
import pytest

from okey_env import Deal, Round, Rules
from okey_env.engine._jit import JIT_IS_OFF
from okey_env.engine.batch import deal_all
from okey_env.engine.state import NO_SEAT, new_games
from okey_env.tiles import NUM_KINDS, WILD, face_text, okey_of, parse_face, parse_rack, total_counts


def dealt(rounds: int, seed: int = 0) -> np.ndarray:
    games = new_games(Rules(), rounds)
    deal_all(games, np.arange(seed, seed + rounds, dtype=np.uint64))
    return games


def test_every_deal_has_all_tiles_once() -> None:
    games = dealt(2_000)
    for game in games:
        stock = np.bincount(game["stock"], minlength=NUM_KINDS)
        racks = game["rack"][:, :NUM_KINDS].sum(axis=0)
        assert (stock + racks == total_counts(int(game["indicator"]))).all()
        assert game["okey"] == okey_of(int(game["indicator"]))
        sizes = game["rack"].sum(axis=1)
        assert sizes[game["starter"]] == 15
        assert sizes.sum() == 57


def test_words_say_the_same_as_counts() -> None:
    for game in dealt(200):
        for seat in range(4):
            for kind in range(52):
                bit = np.uint64(4 * (kind % 13) + kind // 13)
                copies = (game["once"][seat] >> bit & 1) + (game["twice"][seat] >> bit & 1)
                assert copies == game["rack"][seat, kind]


def test_indicator_starter_and_tiles_are_uniform() -> None:
    """Chi-square with the error rate of one in a million for each of the four tests, on fixed seeds."""
    rounds = 500 if JIT_IS_OFF else 20_000
    games = dealt(rounds, seed=5)
    assert _chi_square(np.bincount(games["indicator"], minlength=52)) < 126.0  # 51 degrees of freedom
    assert _chi_square(np.bincount(games["starter"], minlength=4)) < 31.0  # 3
    # a wild tile: 106 places, of which 57 are racks, 48 the stock and 1 turned up: there never
    in_racks = games["rack"][:, :, WILD].sum() / (2 * rounds)
    expected = 57 / 105  # to within the false joker's rule, which shifts it by less than 0.001
    assert abs(in_racks - expected) < 4.9 * np.sqrt(expected * (1 - expected) / (2 * rounds)) + 0.001
    first_drawn = np.bincount(games["stock"][:, 0], minlength=NUM_KINDS)
    assert _chi_square(first_drawn) < 128.0  # 52; the okey's and the indicator's faces even out over rounds


def _chi_square(counts: np.ndarray) -> float:
    expected = counts.sum() / len(counts)
    return float(((counts - expected) ** 2 / expected).sum())


def test_false_joker_is_never_the_indicator_and_stays_in_play() -> None:
    """E5: turned up it goes back, and another tile is turned (R1.5)."""
    for game in dealt(2_000, seed=99):
        face = int(game["okey"])
        in_play = np.count_nonzero(game["stock"] == face) + int(game["rack"][:, face].sum())
        assert in_play == 2  # of the okey's face, as tiles play, there are only the false jokers


def test_same_seed_same_round_and_other_seed_another() -> None:
    assert Round(seed=3).save() == Round(seed=3).save()
    assert Round(seed=3).save() != Round(seed=4).save()
    assert Round(seed=3, number=1).save() != Round(seed=3).save()


def test_chosen_position_is_dealt_and_the_rest_by_the_seed() -> None:
    rack = "R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 F *"
    deal = Deal(indicator="Y4", racks=(None, rack, None, None), stock="B1 B2 * K3")
    first, second = Round(seed=1, deal=deal), Round(seed=2, deal=deal)
    for round in (first, second):
        assert round.turn == 1  # the seat with 15 tiles begins
        assert (round.racks[1] == parse_rack(rack, "Y5")).all()
        assert [round.kind(tile) for tile in ("B1", "B2", "*", "K3")] == round.fields["stock"][0, :4].tolist()
    assert (first.racks[0] != second.racks[0]).any()
    assert Round(seed=1, deal=deal).save() == first.save()


def test_open_indicator_is_one_that_the_named_tiles_leave() -> None:
    rack = "R5 R5 R6 R6 R7 R7 R8 R8 R9 R9 R10 R10 R11 *"
    for seed in range(40):
        round = Round(seed=seed, deal=Deal(racks=(rack, None, None, None)))
        assert (round.racks[0] == parse_rack(rack, round.okey)).all()
        assert face_text(round.indicator) not in rack.split()[:12]


@pytest.mark.parametrize(
    ("deal", "message"),
    [
        (
            {"indicator": "Y4", "racks": ("R5 R5 R5 R1 R2 R3 R4 R6 R7 R8 R9 R10 R11 R12", None, None, None)},
            "R5 is dealt 3",
        ),
        (
            {"indicator": "Y4", "racks": ("R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13", None, None, None)},
            "has 13 tiles",
        ),
        (
            {"indicator": "R1", "racks": ("R1 R1 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 K1", None, None, None)},
            "the indicator",
        ),
        (
            {"indicator": "Y4", "racks": ("F F F R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 K1", None, None, None)},
            "F is dealt 3",
        ),
        (
            {"indicator": "Y4", "racks": ("* * Y5 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 K1", None, None, None)},
            r"\* is dealt 3",
        ),
        ({"indicator": "F"}, "'F' is not a face"),
        ({"indicator": "Y14"}, "'Y14' is not a face"),
        ({"racks": ("R1 Q2", None, None, None)}, "has 2 tiles"),
        ({"racks": (None, None, None)}, "expected 4 racks"),
        ({"starter": 4}, "starter=4 is not a seat: expected 0 to 3"),
        ({"indicator": "Y4", "stock": "R1 R1 R1"}, "R1 is dealt 3"),
        ({"indicator": "Y4", "stock": "R1 X"}, "'X' is not a tile"),
    ],
)
def test_impossible_deal_is_refused_by_name(deal: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Deal(**deal)  # type: ignore[arg-type]  # as a user would write it, wrong on purpose


def test_starter_can_be_chosen_by_the_kernel() -> None:
    games = dealt(50)
    assert set(games["starter"]) == {0, 1, 2, 3}
    assert NO_SEAT == 255
    assert parse_face("R1") == 0
