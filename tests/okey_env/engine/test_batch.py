"""The doors for plain Python and the loops over games do what one game at a time does."""

import numpy as np
import pytest

from okey_env import Deal, Round, Rules, derive_seed
from okey_env.actions import FINISH, NUM_ACTIONS
from okey_env.engine.batch import act_in, apply_at, legal_at, look_at_seats
from okey_env.engine.match import (
    GOES_ON,
    MATCH_REWARD_NAMES,
    TRUNCATED,
    Purses,
    earn_all,
    next_episodes_at,
    settle_at,
)
from okey_env.engine.parallel import Payouts, Views, advance_parallel, advance_range, deal_range, look_range
from okey_env.engine.state import NOT_ENDED, OBSERVATION, new_games
from okey_env.engine.totals import Terms
from okey_env.tiles import NUM_SEATS

POINTS = MATCH_REWARD_NAMES.index("points")


class Batch:
    """Games dealt from a seed, with all the arrays that the loops fill."""

    def __init__(self, num_games: int, rules: Rules | None = None) -> None:
        self.games = new_games(rules or Rules(), num_games)
        deal_range(self.games, np.uint64(7), 0, num_games)
        self.records = np.zeros(num_games, OBSERVATION)
        self.masks = np.zeros((num_games, NUM_ACTIONS), np.int8)
        self.seats = np.zeros(num_games, np.int64)
        self.paid = np.zeros((num_games, NUM_SEATS), np.float32)
        self.rewards = np.zeros((num_games, NUM_SEATS), np.float32)
        self.ended = np.zeros((2, num_games), np.bool_)
        self.distances = np.zeros((num_games, NUM_SEATS), np.int8)
        self.dense = np.zeros((num_games, NUM_SEATS), np.float32)
        self.views = Views(self.records, self.masks, self.seats)
        look_range(self.games, self.views, 0, num_games)

    def choose(self, step: int) -> np.ndarray:
        """A legal action of each game."""
        return np.array([np.flatnonzero(mask)[step * 7 % mask.sum()] for mask in self.masks])

    def advance(self, actions: np.ndarray, parts: int) -> None:
        terms = Terms(matches=False, reward=POINTS)
        payouts = Payouts(self.paid, self.rewards, self.ended[0], self.ended[1], self.distances, self.dense)
        if parts == 1:
            advance_range(self.games, actions, terms, payouts, 0, len(self.games))
            look_range(self.games, self.views, 0, len(self.games))
        else:
            advance_parallel(self.games, actions, terms, payouts, self.views, parts)

    def all_bytes(self) -> list[bytes]:
        arrays = (self.games, self.records, self.masks, self.seats, self.paid, self.rewards, self.ended)
        return [array.tobytes() for array in arrays]


def test_stretches_on_threads_are_the_loop() -> None:
    one, two = Batch(5), Batch(5)
    for step in range(120):
        actions = one.choose(step)
        one.advance(actions, 1)
        two.advance(actions, 2)
        assert two.all_bytes() == one.all_bytes()
    assert (one.games["round_number"] > 0).any()


def test_actions_at_some_games_leave_the_others_alone() -> None:
    batch = Batch(4)
    before = batch.games.copy()
    actions = batch.choose(1)
    assert not act_in(batch.games, 2, NUM_ACTIONS)
    assert batch.games.tobytes() == before.tobytes()
    some = np.array([3, 1])
    apply_at(batch.games, some, actions[some])
    for i in range(4):
        alone = before[i : i + 1].copy()
        if i in some:
            assert act_in(alone, 0, int(actions[i]))
        assert batch.games[i : i + 1].tobytes() == alone.tobytes()


def test_legal_is_what_the_mask_says_and_a_seat_sees_what_its_round_shows() -> None:
    batch = Batch(3)
    every = np.arange(3)
    for action in range(-1, NUM_ACTIONS + 1):
        legal = np.zeros(3, np.bool_)
        legal_at(batch.games, every, np.full(3, action), legal)
        expected = batch.masks[:, action] == 1 if 0 <= action < NUM_ACTIONS else np.zeros(3, np.bool_)
        assert legal.tolist() == expected.tolist()
    seats = np.array([2, 0, 3])
    look_at_seats(batch.games, seats, batch.records, batch.masks)
    for i, seat in enumerate(seats.tolist()):
        round = Round(seed=derive_seed(7, i))
        assert batch.records[i].tobytes() == round.observe(seat).records.tobytes()
        assert batch.masks[i].any() == (seat == round.turn)


def test_finishes_are_in_the_mask_of_what_is_seen() -> None:
    rack = "R1 R2 R3 R4 R5  B4 B5 B6  K7 K8 K9  Y10 Y11 Y12  K1"
    round = Round(seed=1, deal=Deal(indicator="B1", racks=(rack, None, None, None), starter=0))
    records, masks = np.zeros(1, OBSERVATION), np.zeros((1, NUM_ACTIONS), np.int8)
    look_at_seats(round.games, np.array([0]), records, masks)
    assert masks[0].tolist() == round.action_mask().tolist()
    assert np.flatnonzero(masks[0, FINISH:]).tolist() == [round.kind("K1")]


@pytest.mark.parametrize("matches", [False, True])
def test_a_seat_is_paid_once_for_a_round(matches: bool) -> None:
    batch = Batch(6, Rules(max_throws=20, void_points=1))
    every, seats = np.arange(6), np.array([0, 1, 2, 3, 0, 1])
    earned, status = np.zeros(6), np.zeros(6, np.uint8)
    purses = Purses(seats, np.zeros(6, np.float32), earned, status, batch.distances, batch.dense)
    terms = Terms(matches, POINTS)
    for step in range(60):
        going = np.flatnonzero(batch.games["ending"] == NOT_ENDED)
        look_at_seats(batch.games, batch.games["turn"].astype(np.int64), batch.records, batch.masks)
        actions = np.array([np.flatnonzero(batch.masks[i])[step * 7 % batch.masks[i].sum()] for i in going], np.int64)
        apply_at(batch.games, going, actions)
        earn_all(batch.games, terms, purses)
    ended = batch.games.copy()
    assert (ended["ending"] != NOT_ENDED).all()  # cut off after 20 throws
    assert ended["lost"].any()
    for _ in range(2):  # the second time there is nothing left to pay
        settle_at(batch.games, every, terms, purses)
    assert earned.tolist() == [-float(lost[seat]) for lost, seat in zip(ended["lost"], seats, strict=True)]
    assert (status == (GOES_ON if matches else TRUNCATED)).all()
    if matches:
        assert (batch.games["ending"] == NOT_ENDED).all()
        assert batch.games["scores"].tolist() == (ended["scores"] - ended["lost"]).tolist()
    else:
        assert batch.games.tobytes() == ended.tobytes()
        next_episodes_at(batch.games, every, terms)
        assert (batch.games["ending"] == NOT_ENDED).all()
