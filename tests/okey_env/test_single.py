"""The Gymnasium environment of one learning seat."""

import copy
import pickle
import random

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import okey_env
from okey_env import Deal, Observation, OkeyEnv
from okey_env.rules import PRESETS


def first(observation: Observation) -> int:
    return observation.legal_actions[0]


def never_finishes(observation: Observation) -> int:
    return next(action for action in observation.legal_actions if action < 56)


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("opponents", ["greedy", ["random", "greedy", first]])
def test_gymnasium_contract(rules: str, opponents: object) -> None:
    env = gymnasium.make("okey/Round-v0", rules=rules, opponents=opponents, disable_env_checker=True)
    check_env(env.unwrapped)


@pytest.mark.parametrize("episode", ["round", "match"])
def test_gymnasium_contract_with_a_curriculum(episode: str) -> None:
    start = {"deal": 1.0, "distance-1": 1.0, "short-3": 1.0}
    env = OkeyEnv(reward="zero_sum+distance", start=start, opponents={"random": 1.0, "greedy": 2.0}, episode=episode)
    check_env(env, skip_render_check=True)


def play(env: OkeyEnv, seed: int) -> list[tuple[bytes, float, bool]]:
    rng = random.Random(seed)
    told = []
    over = False
    while not over:
        action = int(rng.choice(np.flatnonzero(env.action_masks())))
        observation, reward, terminated, truncated, _ = env.step(action)
        over = terminated or truncated
        told.append((observation["observation"].tobytes(), reward, over))
    return told


def test_learning_seat_rotates_or_stays() -> None:
    env = OkeyEnv(opponents=first)
    seats = []
    env.reset(seed=1)
    for _ in range(8):
        seats.append(env.seat)
        play(env, 1)
        env.reset()
    assert seats == [0, 1, 2, 3, 0, 1, 2, 3]
    fixed = OkeyEnv(opponents=first, learning_seat=2)
    for seed in range(3):
        fixed.reset(seed=seed)
        assert fixed.seat == fixed.round.turn == 2


def test_same_seed_same_episode_and_copies_go_on() -> None:
    told = []
    for _ in range(2):
        env = OkeyEnv(opponents="random")
        env.reset(seed=5)
        told.append(play(env, 3))
    assert told[0] == told[1]
    env = OkeyEnv(opponents="random")
    env.reset(seed=6)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert play(twin, 2) == play(copy.deepcopy(env), 2)


def test_illegal_action_loses_or_raises() -> None:
    env = OkeyEnv(opponents=first)
    env.reset(seed=1)
    illegal = int(np.flatnonzero(~env.action_masks())[0])
    before = env.round.save()
    _, reward, terminated, _, info = env.step(illegal)
    assert (reward, terminated) == (-9.0, True)
    assert "may not" in env.illegal
    assert (info["ending"], info["won"], info["placement"], info["length"]) == (4, 0, 4, 1)
    assert env.round.save() == before
    strict = OkeyEnv(opponents=first, on_illegal="raise")
    strict.reset(seed=1)
    with pytest.raises(ValueError, match="may not"):
        strict.step(illegal)


def for_ever(env: OkeyEnv) -> None:
    env.reset(seed=1)
    while True:
        if env.step(int(np.flatnonzero(env.action_masks())[-1]))[2]:
            env.reset()


def test_an_episode_that_ended_illegally_stays_ended_and_pays_once(monkeypatch: pytest.MonkeyPatch) -> None:
    env = OkeyEnv(opponents=first)
    env.reset(seed=4)
    env.step(int(np.flatnonzero(~env.action_masks())[0]))
    assert_stays_ended(env)
    observation, _ = env.reset()
    _, _, terminated, truncated, _ = env.step(int(observation["action_mask"].argmax()))
    assert (terminated, truncated) == (False, False)


def test_an_episode_that_was_played_to_its_end_stays_ended() -> None:
    env = OkeyEnv(opponents="greedy")
    env.reset(seed=4)
    play(env, 4)
    assert_stays_ended(env)
    saved = env.save()
    if env.round.turn == env.seat:
        env.restore(saved)
        assert_stays_ended(env)


def assert_stays_ended(env: OkeyEnv) -> None:
    before = env.round.save()
    for action in (int(env.action_masks().argmax()), -1, 0):
        with pytest.warns(UserWarning, match="the episode is over and pays nothing more"):
            _, reward, terminated, truncated, _ = env.step(action)
        assert (reward, terminated or truncated) == (0.0, True)
    assert env.round.save() == before


def test_opponent_that_acts_illegally_is_named() -> None:
    def cheat(observation: Observation) -> int:
        return 108

    env = OkeyEnv(opponents=["greedy", cheat, "greedy"], learning_seat=0)
    with pytest.raises(ValueError, match="the bot 'cheat' acts illegally: seat 2 may not"):
        for_ever(env)


def test_starts_from_a_chosen_position_and_pays_the_winner() -> None:
    rack = "R1 R2 R3 R4 | B4 B5 B6 | K7 K8 K9 | Y10 Y11 Y12 Y13 | R5"
    env = OkeyEnv(opponents=never_finishes, learning_seat=0)
    env.reset(seed=1, options={"deal": Deal(indicator="Y4", racks=(rack, None, None, None))})
    _, reward, terminated, truncated, info = env.step(okey_env.actions.from_text("finish R5", "Y5"))
    assert (reward, terminated, truncated, info["won"]) == (6.0, True, False, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"opponents": ["greedy", "greedy"]}, "expected one bot, or three"),
        ({"opponents": "gready"}, "did you mean 'greedy'"),
        ({"learning_seat": 4}, "learning_seat=4 is not a seat: expected 0 to 3"),
        ({"on_illegal": "ignore"}, "on_illegal='ignore' is not a choice: expected 'lose' or 'raise'"),
    ],
)
def test_arguments_are_checked(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OkeyEnv(**arguments)  # type: ignore[arg-type]  # wrong on purpose
