"""Tianshou on okey-env: `make adapters` runs this file."""

import runpy
from pathlib import Path

from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv

import okey_env

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "tianshou_dqn.py"


def test_a_whole_round_of_four_seats_goes_through_its_wrapper() -> None:
    env = PettingZooEnv(okey_env.env(rules={"max_throws": 12}))
    observation, _ = env.reset(seed=1)
    ended, seats = False, set()
    while not ended:
        seats.add(observation["agent_id"])
        observation, rewards, terminated, truncated, _ = env.step(observation["mask"].index(True))
        ended = terminated or truncated
    assert len(seats) == len(rewards) == 4


def test_its_collector_takes_the_infos_of_whole_episodes_and_acts_legally() -> None:
    example = runpy.run_path(str(EXAMPLE))
    envs = DummyVectorEnv([example["for_tianshou"]] * 2)
    buffer = VectorReplayBuffer(2_000, 2)
    collector = Collector[CollectStats](example["make_algorithm"](), envs, buffer, exploration_noise=True)
    collector.reset()
    assert collector.collect(n_episode=6).n_collected_episodes == 6
    batch = buffer[:]
    assert batch.obs.mask[range(len(batch)), batch.act].all()


def test_dqn_learns_in_30_cpu_seconds_to_win_every_second_round() -> None:
    example = runpy.run_path(str(EXAMPLE))
    learned, decisions = example["learn"](seconds=30.0)
    won = example["score"](learned.policy.model, 500)
    print(f"DQN: {decisions} decisions, {won:.1%} won")
    assert won > 0.5  # a random player wins less than 1 %
