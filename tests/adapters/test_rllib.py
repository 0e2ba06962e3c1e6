"""RLlib on okey-env: `make adapters` runs this file."""

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "rllib_ppo.py"


@pytest.fixture(scope="module")
def example() -> Iterator[dict[str, Any]]:
    ray.init(num_cpus=1, include_dashboard=False, object_store_memory=200_000_000)
    yield runpy.run_path(str(EXAMPLE))
    ray.shutdown()


def test_one_policy_for_each_seat_trains_all_four(example: dict[str, Any]) -> None:
    algorithm = example["configuration"](separate=True, seed=1).build_algo()
    modules = [f"player_{seat}" for seat in range(4)]
    before = [algorithm.get_module(module).get_state() for module in modules]
    learned = algorithm.train()["learners"]
    assert set(modules) <= set(learned)
    for module, old in zip(modules, before, strict=True):
        new = algorithm.get_module(module).get_state()
        assert any((new[name] != old[name]).any() for name in old)
    algorithm.stop()


def test_a_shared_policy_learns_in_40_cpu_seconds_to_win_more_than_random_players_do(example: dict[str, Any]) -> None:
    algorithm, decisions = example["learn"](seconds=40.0)
    won = example["score"](algorithm, "shared", 500)
    print(f"PPO: {decisions} decisions, {won:.1%} won")
    algorithm.stop()
    assert won > 0.05  # a random player wins less than 1 %
