"""Events as arrays: the same in a batch as in an observation, nothing hidden in them, and a token for each."""

from typing import Any

import numpy as np
import pytest

from okey_env import Observation, OkeyVectorEnv, SelfPlay, events, worlds
from okey_env.engine.events import EVENTS


def played(steps: int, **options: Any) -> SelfPlay:
    games = SelfPlay(20, encoder=None, seed=3, **options)
    games.reset()
    rng = np.random.default_rng(5)
    for _ in range(steps):
        games.step(np.where(games.masks == 1, rng.random(games.masks.shape), -1).argmax(axis=1))
    return games


@pytest.mark.parametrize("last", [1, 7, 64, 512])
@pytest.mark.parametrize("steps", [0, 5, 90])
def test_a_batch_has_what_each_observation_has(steps: int, last: int) -> None:
    games = played(steps)
    found, lengths = games.events(last)
    assert found.shape == (20, last, 3)
    assert found.dtype == np.int8
    for i in range(20):
        seen = Observation.of(games.games, i, int(games.seats[i]))
        np.testing.assert_array_equal(found[i], seen.event_array(last))
        everything = seen.event_array()
        assert lengths[i] == min(len(everything), last)
        np.testing.assert_array_equal(found[i, : lengths[i]], everything[len(everything) - lengths[i] :])
        assert (found[i, lengths[i] :] == events.PADDING).all()


def test_the_numbers_are_the_events_in_words() -> None:
    games = played(60)
    seen = Observation.of(games.games, 4, 2)
    assert len(seen.events) > 30
    for words, (seat, event, kind) in zip(seen.events, seen.event_array().tolist(), strict=True):
        assert (words.seat, words.event) == (seat, EVENTS[event])
        assert words.kind == (None if kind == events.HIDDEN else kind)
    drawn = seen.event_array()[seen.event_array()[:, 1] == EVENTS.index("draw")]
    np.testing.assert_array_equal(drawn[:, 2] == events.HIDDEN, drawn[:, 0] != 0)


def test_they_do_not_change_when_the_hidden_tiles_are_dealt_again() -> None:
    games = played(70)
    before, lengths = games.events()
    racks = games.games["rack"].copy()
    for i in range(20):
        games.games[i] = worlds(Observation.of(games.games, i, int(games.seats[i])), 1, seed=i)[0]
    assert (games.games["rack"] != racks).any()
    again, same_lengths = games.events()
    np.testing.assert_array_equal(again, before)
    np.testing.assert_array_equal(same_lengths, lengths)


def test_a_learning_seat_has_its_own_view() -> None:
    env = OkeyVectorEnv(6, opponents="random", seed=2, learning_seat=1)
    seen, _ = env.reset()
    for _ in range(9):
        seen, *_ = env.step(seen["action_mask"].argmax(axis=1))
    found, lengths = env.events(100)
    for i in range(6):
        np.testing.assert_array_equal(found[i], Observation.of(env.games, i, 1).event_array(100))
    assert lengths.min() > 0


def test_there_are_none_where_only_the_tops_of_the_heaps_are_seen() -> None:
    games = played(40, rules={"throw_visibility": "top_only"})
    found, lengths = games.events()
    assert not lengths.any()
    assert (found == events.PADDING).all()


def test_each_event_has_a_token_of_its_own() -> None:
    every = [(seat, event, kind) for seat in range(4) for event in range(5) for kind in range(54)]
    numbers = events.tokens(np.array(every, np.int8))
    assert sorted(numbers.tolist()) == list(range(1, events.NUM_TOKENS))
    found, lengths = played(50).events(80)
    of_games = events.tokens(found)
    assert of_games.shape == (20, 80)
    np.testing.assert_array_equal((of_games > 0).sum(axis=1), lengths)


@pytest.mark.parametrize("last", [0, 513, 1.5, "all", True, None])
def test_a_wrong_number_of_events_is_refused(last: Any) -> None:
    with pytest.raises(ValueError, match="last="):
        played(0).events(last)


@pytest.mark.parametrize("given", [np.zeros((4, 3)), np.zeros((4, 2), np.int8), np.int8(3), [[0, 0, "x"]]])
def test_what_is_no_array_of_events_has_no_tokens(given: Any) -> None:
    with pytest.raises(ValueError, match="events="):
        events.tokens(given)
