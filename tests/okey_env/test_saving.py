"""A game as bytes goes in and out of everything that plays, and foreign bytes are refused."""

import hashlib
import random
from typing import Any

import numpy as np
import pytest

import okey_env
from okey_env import OkeyEnv, Round, SelfPlay


def play(round: Round, seed: int, moves: int = 1000) -> bytes:
    rng = random.Random(seed)
    for _ in range(moves):
        if round.over:
            break
        round.apply(rng.choice(round.legal_actions()))
    return round.save()


@pytest.mark.parametrize("rules", ["gamelake", {"preset": "klasik", "teams": True, "winners": 1, "start_points": 7}])
def test_a_restored_round_goes_on_identically(rules: Any) -> None:
    round = Round(rules, seed=5)
    saved = play(round, 1, 30)
    other = Round(seed=0)
    other.restore(saved)
    assert other.rules == round.rules
    assert play(other, 2) == play(round, 2)


def test_the_same_bytes_go_through_every_environment() -> None:
    round = Round(seed=5)
    saved = play(round, 1, 20)
    aec: Any = okey_env.raw_env()
    aec.restore(saved)
    assert aec.agent_selection == f"player_{round.turn}"
    assert aec.save() == saved
    games = SelfPlay(3, seed=1)
    games.reset()
    games.restore(1, saved)
    assert games.save(1) == games.clone(1).save() == saved
    assert games.seats[1] == round.turn
    assert games.masks[1].tolist() == round.action_mask().tolist()
    single = OkeyEnv(opponents="random", learning_seat=round.turn)
    single.reset(seed=1)
    seen = single.restore(saved)
    assert seen["action_mask"].tolist() == round.action_mask().tolist()
    assert single.save() == saved


def test_an_environment_goes_on_from_restored_bytes() -> None:
    first: Any = okey_env.raw_env()
    first.reset(seed=3)
    rng = random.Random(3)
    for _ in range(15):
        first.step(int(rng.choice(np.flatnonzero(first.last()[0]["action_mask"]))))
    second: Any = okey_env.raw_env()
    second.restore(first.save())
    while first.agents and not first.terminations[first.agent_selection]:
        action = int(rng.choice(np.flatnonzero(first.last()[0]["action_mask"])))
        first.step(action)
        second.step(action)
        assert second.save() == first.save()
        assert second.rewards == first.rewards
        assert second.terminations == first.terminations
    over: Any = okey_env.raw_env()
    over.restore(first.save())
    assert all(over.terminations.values())
    first.reset()
    second.reset()
    assert second.save() == first.save()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda saved: b"", "not a saved game"),
        (lambda saved: b"PK\x03\x04" + saved, "not a saved game"),
        (lambda saved: saved.replace(b"game 1", b"game 9"), "not a saved game"),
        (lambda saved: saved[:-1], "a damaged saved game: expected .* bytes"),
        (lambda saved: saved + b"0", "a damaged saved game: expected .* bytes"),
        (lambda saved: saved[:-1] + bytes([saved[-1] ^ 1]), "checksum does not match"),
    ],
)
def test_foreign_and_damaged_bytes_are_refused(damage: Any, message: str) -> None:
    saved = damage(Round(seed=1).save())
    aec: Any = okey_env.raw_env()
    aec.reset(seed=2)
    games = SelfPlay(2, seed=1)
    games.reset()
    round = Round(seed=3)
    before = (aec.save(), games.save(0), round.save())
    for restore in (aec.restore, round.restore, lambda saved: games.restore(0, saved)):
        with pytest.raises(ValueError, match=message):
            restore(saved)
    assert (aec.save(), games.save(0), round.save()) == before


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("turn", 4, "turn=4: expected 0 to 3"),
        ("phase", 3, "phase=3: expected 0 to 2"),
        ("rack", 200, "rack=200: expected 0 to 2"),
        ("stock", 53, "its stock has a tile that does not exist"),
        ("num_events", 600, "num_events=600: expected 0 to 512"),
        ("pile_height", 65, "pile_height=65: expected 0 to 64"),
        ("okey", 51, "its okey does not follow from its indicator"),
        ("once", 7, "a rack is stored in two forms that differ"),
        ("stock", 0, "a tile is in it more often than it exists"),
    ],
)
def test_bytes_with_a_right_checksum_that_are_no_game_are_refused(field: str, value: int, message: str) -> None:
    """Kernels check nothing, so such a game would be read and written beyond its arrays."""
    other = Round("gamelake", seed=1)
    other.fields[field][:] = value
    with pytest.raises(ValueError, match=f"^a damaged saved game: {message}$"):
        Round(seed=3).restore(other.save())


def test_random_bytes_with_a_right_checksum_never_reach_a_kernel() -> None:
    rng = np.random.default_rng(1)
    saved = Round("gamelake", seed=1).save()
    head = len(b"okey-env game 1\n")
    for _ in range(300):
        body = bytearray(saved[head + 8 :])
        for place in rng.integers(len(body), size=rng.integers(1, 40)):
            body[place] = rng.integers(256)
        forged = saved[:head] + hashlib.blake2b(bytes(body), digest_size=8).digest() + bytes(body)
        round = Round(seed=2)
        before = round.save()
        try:
            round.restore(forged)
        except ValueError:
            assert round.save() == before
        else:
            assert round.observe(0).action_mask.shape == (109,)


def test_a_game_of_other_rules_is_refused_where_the_rules_are_fixed() -> None:
    saved = Round("klasik", seed=1).save()
    aec: Any = okey_env.raw_env()
    with pytest.raises(ValueError, match="the saved game plays klasik: expected gamelake"):
        aec.restore(saved)


def test_what_was_paid_before_is_not_paid_again() -> None:
    games = SelfPlay(1, seed=1, reward="zero_sum")
    games.reset()
    round = Round(seed=1)
    round.fields["lost"][0] = [0, 1, 1, 1]
    round.fields["won"][0] = [3, 0, 0, 0]
    games.restore(0, round.save())
    games.step([int(games.masks[0][:56].argmax())])
    assert games.rewards[0].tolist() == [0, 0, 0, 0]


def test_a_game_saves_as_the_same_bytes_whatever_was_played_before_in_its_place() -> None:
    used, fresh = Round("gamelake", seed=5), Round("gamelake", seed=5, number=1)
    while not used.over:
        used.apply(used.legal_actions()[0])
    used.deal(5, number=1)
    assert used.save() == fresh.save()
