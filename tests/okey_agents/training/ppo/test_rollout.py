"""Rollouts: drawing legal actions, what the critic sees, and advantages against the formula written out."""

import numpy as np
import pytest

from okey_agents.training.games import Floats, FourSeats, OneSeat
from okey_agents.training.ppo.rollout import Rollout, Sight, draw_legal
from okey_env import OkeyVectorEnv, SelfPlay, as_encoder
from okey_env.encoders import tiles
from okey_env.tiles import NUM_KINDS, NUM_SEATS

ENCODER = as_encoder("tiles")


def _games(num_games: int = 8, reward: str = "zero_sum") -> FourSeats:
    games = FourSeats(SelfPlay(num_games, encoder=ENCODER, reward=reward))
    games.reset(5)
    return games


def _even(observations: Floats) -> Floats:
    return np.zeros((len(observations), 109), np.float32)


def test_actions_are_drawn_by_the_softmax_of_legal_scores() -> None:
    scores = np.tile(np.linspace(0, 3, 109, dtype=np.float32), (40_000, 1))
    masks = np.zeros((40_000, 109), np.int8)
    masks[:, [3, 50, 108]] = 1
    actions, log_probs = np.empty(40_000, np.int64), np.empty(40_000, np.float32)
    draw_legal(scores, masks, np.random.default_rng(1).random(40_000), actions, log_probs)
    legal = scores[0, [3, 50, 108]].astype(np.float64)
    wanted = np.exp(legal) / np.exp(legal).sum()
    for action, chance in zip([3, 50, 108], wanted, strict=True):
        assert np.mean(actions == action) == pytest.approx(chance, abs=0.01)
        np.testing.assert_allclose(log_probs[actions == action], np.log(chance), rtol=1e-5)


def test_the_last_chance_below_one_draws_the_last_legal_action() -> None:
    actions, log_probs = np.empty(1, np.int64), np.empty(1, np.float32)
    masks = np.ones((1, 109), np.int8)
    masks[0, 108] = 0
    draw_legal(np.zeros((1, 109), np.float32), masks, np.array([np.nextafter(1, 0)]), actions, log_probs)
    assert actions[0] == 107


def _by_formula(
    rewards: Floats, ended: np.ndarray, players: np.ndarray, values: Floats, gamma: float, decay: float
) -> tuple[np.ndarray, np.ndarray]:
    """Advantages as a sum of discounted errors, for each step and player on its own; values by player."""
    steps, games, num_players = rewards.shape
    advantages = np.zeros(rewards.shape)
    for game in range(games):
        for player in range(num_players):
            for step in range(steps):
                total, weight = 0.0, 1.0
                for later in range(step, steps):
                    follows = 0.0 if ended[later, game] else values[later + 1, game, player]
                    error = rewards[later, game, player] + gamma * follows - values[later, game, player]
                    total += weight * error
                    if ended[later, game]:
                        break
                    weight *= gamma * decay
                advantages[step, game, player] = total
    return advantages, advantages + values[:-1]


@pytest.mark.parametrize("num_players", [1, 4])
def test_advantages_are_those_of_the_formula(num_players: int) -> None:
    draw = np.random.default_rng(3)
    steps, num_games = 25, 6
    players = draw.integers(0, num_players, (steps + 1, num_games))
    rewards = draw.normal(size=(steps, num_games, num_players)).astype(np.float32)
    ended = draw.random((steps, num_games)) < 0.1
    by_player = draw.normal(size=(steps + 1, num_games, num_players)).astype(np.float32)
    order = (players[..., None] + np.arange(num_players)) % num_players
    one = SelfPlay(num_games, encoder=ENCODER) if num_players == 4 else None
    games = FourSeats(one) if one else OneSeat(OkeyVectorEnv(num_games, encoder=ENCODER))
    rollout = Rollout.empty(steps, games, Sight(games))
    rollout.rewards[:], rollout.ended[:] = rewards, ended
    rollout.players[:], rollout.last_players[:] = players[:-1], players[-1]
    advantages, returns = rollout.estimate(np.take_along_axis(by_player, order, 2), 0.9, 0.8)
    wanted, wanted_returns = _by_formula(rewards, ended, players, by_player, 0.9, 0.8)
    np.testing.assert_allclose(advantages, np.take_along_axis(wanted, order[:-1], 2)[..., 0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(returns, np.take_along_axis(wanted_returns, order[:-1], 2), rtol=1e-4, atol=1e-5)


def test_the_critic_sees_the_last_facts_of_each_seat_the_mover_first() -> None:
    games = _games(4)
    sight = Sight(games)
    start = NUM_KINDS * ENCODER.num_planes
    facts = ENCODER.size - start
    seen = np.zeros((4, NUM_SEATS, facts), np.float32)
    for _ in range(30):
        seen[np.arange(4), games.players] = games.observations[:, start:]
        found = sight.look(games).reshape(4, NUM_SEATS, facts)
        for game in range(4):
            for turn in range(NUM_SEATS):
                seat = (games.players[game] + turn) % NUM_SEATS
                np.testing.assert_array_equal(found[game, turn], seen[game, seat])
        games.step(games.masks.argmax(axis=1))
    sight.forget(np.array([True, False, False, False]))
    found = sight.look(games).reshape(4, NUM_SEATS, facts)
    assert not found[0, 1:].any()
    assert found[1, 1:].any()
    assert tiles.TABLE[0].name == "phase"  # the facts begin where the planes end


def test_a_rollout_goes_on_where_the_last_one_ended() -> None:
    one, two = _games(), _games()
    long, first, second = (Rollout.empty(steps, one, Sight(one)) for steps in (80, 40, 40))
    sight, generator = Sight(one), np.random.default_rng(7)
    long.play(one, sight, _even, generator)
    sight, generator = Sight(two), np.random.default_rng(7)
    first.play(two, sight, _even, generator)
    second.play(two, sight, _even, generator)
    for name in ("observations", "masks", "actions", "log_probs", "players", "rewards", "ended"):
        both = np.concatenate((getattr(first, name), getattr(second, name)))
        np.testing.assert_array_equal(both, getattr(long, name), err_msg=name)
    np.testing.assert_array_equal(first.sights[-1], long.sights[40])
    np.testing.assert_array_equal(second.sights, long.sights[40:])


def test_one_seat_pays_what_its_environment_pays() -> None:
    env = OkeyVectorEnv(16, encoder=ENCODER, opponents="greedy", seed=1)
    games = OneSeat(OkeyVectorEnv(16, encoder=ENCODER, opponents="greedy"))
    games.reset(1)
    observations, _ = env.reset(seed=1)
    ended = 0
    for _ in range(60):
        np.testing.assert_array_equal(games.observations, observations["observation"])
        actions = games.masks.argmax(axis=1)
        observations, rewards, terminated, truncated, _ = env.step(actions)
        paid, over = games.step(actions)
        np.testing.assert_array_equal(paid[:, 0], rewards.astype(np.float32))
        np.testing.assert_array_equal(over, terminated | truncated)
        ended += int(over.sum())
    assert ended > 10
