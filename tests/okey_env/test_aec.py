"""The AEC environment keeps PettingZoo's contract, for every preset, reward and encoder."""

import copy
import pickle
import random
import time
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo import test as pettingzoo_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

import okey_env
from okey_env import Deal, Round, Rules
from okey_env.encoders import ENCODERS
from okey_env.rewards import REWARDS
from okey_env.rules import PRESETS

official: Any = pettingzoo_test  # as untyped as it is
make: Any = okey_env.env  # the wrapped environment, whose types are PettingZoo's

COMBINATIONS: list[dict[str, Any]] = [
    {"rules": rules, "reward": reward, "encoder": encoder}
    for rules in PRESETS
    for reward in REWARDS
    for encoder in ENCODERS
]
CURRICULA: list[dict[str, Any]] = [
    {"reward": "zero_sum+distance", "start": {"deal": 1, "distance-1": 1, "short-2": 1}},
    {"reward": "win+0.5*potential", "start": "distance-2"},
    {"reward": "placement+distance", "start": "short-3", "episode": "match"},
]

# R5 finishes with melds; the okey is Y5
FINISHED = "R1 R2 R3 R4 | B4 B5 B6 | K7 K8 K9 | Y10 Y11 Y12 Y13 | R5"


def play(env: Any, seed: int) -> list[tuple[Any, ...]]:
    """Random legal play of what is left of a round: every agent's turn with what it was told."""
    rng = random.Random(seed)
    told = []
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        told.append((agent, observation["observation"].tobytes(), reward, termination, truncation, info))
        legal = np.flatnonzero(observation["action_mask"])
        env.step(None if termination or truncation else int(rng.choice(legal)))
    return told


@pytest.mark.heavy
@pytest.mark.parametrize("arguments", [*COMBINATIONS, *CURRICULA], ids=lambda c: "-".join(map(str, c.values())))
def test_pettingzoo_contract(arguments: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    official.api_test(make(**arguments), num_cycles=200)
    official.seed_test(lambda: make(**arguments), num_cycles=200)
    official.render_test(lambda render_mode: make(**arguments, render_mode=render_mode))
    official.parallel_api_test(turn_based_aec_to_parallel(make(**arguments)), num_cycles=200)
    capsys.readouterr()


def test_performance_benchmark_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """PettingZoo's own benchmark plays five seconds by the clock; a fast clock makes it a tenth of one."""
    real = time.time
    start = real()
    monkeypatch.setattr(time, "time", lambda: start + (real() - start) * 50)
    official.performance_benchmark(make())
    assert "turns per second" in capsys.readouterr().out


def test_is_registered() -> None:
    env: Any = pettingzoo.make("aec", "okey/round-v0", rules="klasik")
    env.reset(seed=1)
    assert env.unwrapped.rules == PRESETS["klasik"]
    assert env.possible_agents == ["player_0", "player_1", "player_2", "player_3"]
    short: Any = pettingzoo.make("aec", "okey/round-v0", max_cycles=2)
    short.reset(seed=1)
    assert short.unwrapped.rules.max_throws == 8


@pytest.mark.parametrize("arguments", COMBINATIONS, ids=lambda c: "-".join(c.values()))
def test_reset_leaves_the_settings_as_they_were(arguments: dict[str, Any]) -> None:
    env = okey_env.raw_env(**arguments)
    before = (env.rules, env.encoder, env._total, env.observation_space("player_0"))
    for seed in (1, None, 2):
        env.reset(seed=seed)
        play(env, 1)
        assert (env.rules, env.encoder, env._total, env.observation_space("player_0")) == before
        assert env.round.rules == PRESETS[arguments["rules"]]


def test_resets_without_a_seed_go_on_from_the_last_one() -> None:
    first, second = okey_env.raw_env(), okey_env.raw_env()
    rounds = []
    for env in (first, second):
        env.reset(seed=9)
        saved = [env.round.save()]
        for _ in range(3):
            env.reset()
            saved.append(env.round.save())
        rounds.append(saved)
    assert rounds[0] == rounds[1]
    assert len(set(rounds[0])) == 4


@pytest.mark.parametrize("maker", [okey_env.env, okey_env.raw_env])
@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"]
)
def test_copy_in_mid_round_goes_on_identically(maker: Any, copied: Any) -> None:
    env = maker(rules="klasik")
    env.reset(seed=4)
    rng = random.Random(4)
    for _ in range(25):
        observation, *_ = env.last()
        env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    twin = copied(env)
    assert play(twin, 7) == play(env, 7)
    env.reset()
    twin.reset()
    assert play(twin, 8) == play(env, 8)


def finish(
    reward: Any, rules: Any = "gamelake", racks: str = FINISHED, action: str = "finish R5"
) -> dict[str, list[float]]:
    """Everything each agent is ever paid when the starter finishes at once."""
    env = make(rules=rules, reward=reward)
    env.reset(seed=1, options={"deal": Deal(indicator="Y4", racks=(racks, None, None, None))})
    paid: dict[str, list[float]] = {agent: [] for agent in env.agents}
    for agent in env.agent_iter():
        observation, amount, termination, truncation, _ = env.last()
        paid[agent].append(amount)
        done = termination or truncation
        env.step(None if done else okey_env.actions.from_text(action, "Y5"))
        assert observation["action_mask"].any() != done
    return paid


@pytest.mark.parametrize(
    ("reward", "winner", "others"),
    [("points", 0.0, -2.0), ("zero_sum", 6.0, -2.0), ("win", 1.0, -1 / 3)],
)
def test_every_seat_receives_its_final_reward_exactly_once(reward: str, winner: float, others: float) -> None:
    """G8: the finishing player's last reward too."""
    paid = finish(reward)
    assert sum(paid["player_0"]) == winner
    for agent in ("player_1", "player_2", "player_3"):
        assert paid[agent] == [pytest.approx(others)]


def test_reward_of_teams() -> None:
    paid = finish("zero_sum", rules={"teams": True})
    assert [sum(paid[agent]) for agent in sorted(paid)] == [2.0, -2.0, 2.0, -2.0]
    paid = finish("win", rules={"teams": True})
    assert [sum(paid[agent]) for agent in sorted(paid)] == [1.0, -1.0, 1.0, -1.0]


def test_reward_function_of_ones_own() -> None:
    def longer_is_worse(round: Round) -> list[float]:
        return [-float(round.fields["throws"][0])] * 4

    env = make(reward=longer_is_worse, rules={"max_throws": 10})
    env.reset(seed=1)
    total = dict.fromkeys(env.agents, 0.0)
    rng = random.Random(1)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        total[agent] += reward
        legal = [action for action in np.flatnonzero(observation["action_mask"]) if action < 56]
        env.step(None if termination or truncation else int(rng.choice(legal)))
    assert set(total.values()) == {-10.0}


def test_shown_indicator_is_paid_at_once() -> None:
    env = okey_env.raw_env(reward="zero_sum")
    rack = "Y4 R2 R4 R6 R8 R10 R12 B1 B3 B5 B7 K9 K11 K13 Y1"
    env.reset(seed=1, options={"deal": Deal(indicator="Y4", racks=(rack, None, None, None))})
    env.step(okey_env.actions.SHOW)
    assert env.rewards == {"player_0": 3.0, "player_1": -1.0, "player_2": -1.0, "player_3": -1.0}
    assert env.agent_selection == "player_0"
    env.step(okey_env.actions.from_text("throw R2", "Y5"))
    assert set(env.rewards.values()) == {0.0}
    assert env.last()[1] == -1.0  # player_1 had not been asked since


def test_void_round_terminates_and_max_throws_truncates() -> None:
    for rules, truncated in ((Rules(), False), (Rules(max_throws=6), True)):
        env = okey_env.raw_env(rules=rules)
        env.reset(seed=3)
        while not (env.terminations["player_0"] or env.truncations["player_0"]):
            mask = env.observe(env.agent_selection)["action_mask"]
            env.step(int(np.flatnonzero(mask[:56])[0]))
        assert set(env.truncations.values()) == {truncated}
        assert set(env.terminations.values()) == {not truncated}
        assert all(type(flag) is bool for flag in (*env.terminations.values(), *env.truncations.values()))
        assert all(type(reward) is float for reward in env.rewards.values())
        info = env.infos["player_2"]
        assert (info["ending"], info["winner"], info["won"]) == (3 if truncated else 2, -1, 0)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (0, "seat 0 may not draw: it has 15 tiles and must throw or finish"),
        (1, "seat 0 may not take: it has 15 tiles"),
        (2, "seat 0 may not show: no Y4 is in its rack"),
        (109, "action 109 is not in the action table: expected 0 to 108"),
        (-1, "action -1 is not in the action table"),
        ("throw K13", "seat 0 may not throw K13: no K13 is in its rack"),
        ("finish B4", "seat 0 may not finish B4: the other 14 tiles are neither all melds nor seven pairs"),
    ],
)
def test_raw_env_says_why_an_action_is_illegal_and_changes_nothing(action: int | str, message: str) -> None:
    env = okey_env.raw_env()
    env.reset(seed=1, options={"deal": Deal(indicator="Y4", racks=(FINISHED, None, None, None))})
    before = env.round.save()
    with pytest.raises(ValueError, match=message):
        env.step(okey_env.actions.from_text(action, "Y5") if isinstance(action, str) else action)
    assert env.round.save() == before


def test_env_ends_the_round_on_an_illegal_action(capsys: pytest.CaptureFixture[str]) -> None:
    env = make()
    env.reset(seed=1)
    env.step(0)
    assert all(env.terminations.values())
    assert (
        env.unwrapped.rewards["player_0" if env.unwrapped.round.turn == 0 else f"player_{env.unwrapped.round.turn}"]
        == -9.0
    )
    capsys.readouterr()


def test_mask_is_of_the_agent_to_move_only() -> None:
    env = okey_env.raw_env()
    env.reset(seed=2)
    for agent in env.agents:
        mask = env.observe(agent)["action_mask"]
        assert mask.any() == (agent == env.agent_selection)
        assert mask.dtype == np.int8
    assert env.observe("player_0")["observation"] is not env.observe("player_0")["observation"]


def test_state_is_the_whole_table() -> None:
    env = okey_env.raw_env()
    env.reset(seed=2)
    state = env.state()
    assert env.state_space.contains(state)
    assert (state[:212].reshape(4, 53) == env.round.racks).all()
    first = int(state[424])
    env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"][:56])[0]))
    env.step(okey_env.actions.DRAW)
    drawer = int(env.agent_selection[-1])
    assert env.round.racks[drawer].sum() == 15
    assert env.state()[424] != 255
    assert env.state()[424 + 47] == 255  # 47 tiles left
    assert first == env.round.fields["log"][0, 1] % 64


def test_options_and_arguments_are_checked() -> None:
    env = okey_env.raw_env()
    with pytest.raises(ValueError, match="did you mean 'deal'"):
        env.reset(options={"deals": None})
    with pytest.raises(ValueError, match=r"expected an okey_env\.Deal"):
        env.reset(options={"deal": "R1"})
    with pytest.raises(ValueError, match="'flatter' is not an encoder: expected 'flat'"):
        okey_env.raw_env(encoder="flatter")
    with pytest.raises(ValueError, match="'winning' is not a reward: expected 'points', 'zero_sum', 'win'"):
        okey_env.raw_env(reward="winning")
    with pytest.raises(ValueError, match="render_mode='svg'"):
        okey_env.raw_env(render_mode="svg")


def test_text_of_the_table() -> None:
    env = okey_env.raw_env(render_mode="ansi")
    env.reset(seed=1, options={"deal": Deal(indicator="Y4", racks=(FINISHED, None, None, None))})
    text = env.render()
    assert text is not None
    assert "> seat 0   +0   R1 R2 R3 R4 R5 B4 B5 B6 K7 K8 K9 Y10 Y11 Y12 Y13" in text
    env.step(okey_env.actions.from_text("finish R5", "Y5"))
    assert "seat 0 finishes with melds, laying R5" in str(env.render())
