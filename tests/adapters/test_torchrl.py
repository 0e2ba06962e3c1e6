"""TorchRL on okey-env: `make adapters` runs this file."""

import runpy
from pathlib import Path

import torch
from torchrl.envs.utils import check_env_specs

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "torchrl_ppo.py"


def test_its_check_of_specs_passes() -> None:
    check_env_specs(runpy.run_path(str(EXAMPLE))["for_torchrl"]())


def test_a_rollout_of_a_masked_policy_is_legal() -> None:
    example = runpy.run_path(str(EXAMPLE))
    with torch.no_grad():
        rollout = example["for_torchrl"]().rollout(100, example["make_policy"](), break_when_any_done=False)
    assert rollout["action_mask"].gather(-1, rollout["action"][:, None]).all()


def test_ppo_learns_in_30_cpu_seconds_to_win_every_second_round() -> None:
    example = runpy.run_path(str(EXAMPLE))
    network, decisions = example["learn"](seconds=30.0)
    won = example["score"](network, 500)
    print(f"PPO: {decisions} decisions, {won:.1%} won")
    assert won > 0.5  # a random player wins less than 1 %
