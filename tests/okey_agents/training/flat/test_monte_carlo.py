"""Deep Monte Carlo: it learns what actions pay, stopping it changes nothing, and what it exports plays."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest
import torch

from okey_agents.bots.flat import FlatBot
from okey_agents.bots.folder import load_bot
from okey_agents.training.checkpoint import Arrays, checkpoints, load_checkpoint
from okey_agents.training.export import export
from okey_agents.training.flat import monte_carlo as module
from okey_agents.training.flat.batches import Batch, collect
from okey_agents.training.flat.policy import make_policy, scores_of, set_policy_arrays
from okey_agents.training.recipes import config_from_dict
from okey_agents.training.schema import Config
from okey_agents.training.sections import NetworkConfig
from okey_agents.training.train import train_config
from okey_env import Round
from okey_env.vector import SelfPlay


def _config(**monte_carlo: Any) -> Config:
    """Four batches of 2,048 decisions, a checkpoint after each."""
    return config_from_dict(
        {
            "env": {"num_envs": 8},
            "network": {"trunk": [16]},
            "monte_carlo": {"decisions": 8192, "steps": 256, "minibatch": 128, **monte_carlo},
            "evaluation": {"against": ["random"], "deals": 2, "every": 4096},
            "checkpoints": {"every": 2048},
            "run": {"recipe": "monte_carlo", "tensorboard": False},
        }
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    return train_config(_config(), tmp_path_factory.mktemp("runs") / "monte_carlo")


def _weights(run: Path) -> Arrays:
    return load_checkpoint(checkpoints(run / "checkpoints")[0]).arrays


def _lines(run: Path, event: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    return [line for line in lines if line["event"] == event]


def test_a_run_leaves_checkpoints_a_log_and_a_curve_of_measurements(finished: Path) -> None:
    assert [path.stem for path in checkpoints(finished / "checkpoints")] == [
        "000000008192",
        "000000006144",
        "000000004096",
    ]
    assert [line["decisions"] for line in _lines(finished, "learned")] == [2048, 4096, 6144, 8192]
    assert [line["decisions"] for line in _lines(finished, "evaluated")] == [0, 4096, 8192]


@pytest.mark.parametrize("batches", [0, 2])
def test_a_run_that_was_stopped_and_taken_up_ends_with_the_same_weights(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batches: int
) -> None:
    left = batches

    def dying(*arguments: Any) -> Batch:
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        return collect(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(module, "collect", dying)
        with pytest.raises(KeyboardInterrupt):
            train_config(_config(), tmp_path / "run")
    assert load_checkpoint(checkpoints(tmp_path / "run" / "checkpoints")[0]).decisions == 2048 * batches
    weights = _weights(train_config(_config(), tmp_path / "run", resume=True))
    expected = _weights(finished)
    assert weights.keys() == expected.keys()
    for name, array in weights.items():
        np.testing.assert_array_equal(array, expected[name], err_msg=name)


def test_an_output_becomes_what_its_action_paid_and_unfinished_rounds_are_left_out() -> None:
    """Two actions that are always played from the same position, one pays 6 points and the other costs 2."""
    config = _config(epochs=60)
    torch.manual_seed(1)
    policy = make_policy(4, 109, config[NetworkConfig])
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    actions = np.tile([7, 9, 9], 100)
    returns = np.tile(np.array([6, -2, np.nan], np.float32), 100)
    observations = np.ones((300, 4), np.float32)
    batch = Batch(observations, np.ones((300, 109), np.int8), actions, returns)
    values = module._learn(policy, optimizer, batch, config, torch.Generator().manual_seed(1))
    with torch.no_grad():
        outputs = scores_of(policy, torch.ones(1, 4))[0].numpy()
    assert outputs[[7, 9]] == pytest.approx([6 / 6, -2 / 6], abs=0.02)
    assert values["variance"] == pytest.approx((4 / 6) ** 2, rel=0.01)


def test_what_it_exports_plays_the_highest_output_of_the_legal_ones(finished: Path, tmp_path: Path) -> None:
    bot = load_bot(export(finished, tmp_path / "bot"))
    assert isinstance(bot, FlatBot)
    policy = make_policy(bot.encoder.size, 109, _config()[NetworkConfig])
    set_policy_arrays(policy, load_checkpoint(checkpoints(finished / "checkpoints")[0]).named("policy."))
    session = onnxruntime.InferenceSession(tmp_path / "bot" / "policy.onnx", providers=["CPUExecutionProvider"])
    games = SelfPlay(32, seed=4)
    games.reset()
    for _ in range(20):
        actions = bot.act_batch(games.records)
        with torch.no_grad():
            outputs = scores_of(policy, torch.from_numpy(games.observations)).numpy()
        np.testing.assert_array_equal(actions, np.where(games.masks == 1, outputs, -np.inf).argmax(axis=1))
        by_onnx = session.run(["action"], {"observation": games.observations, "action_mask": games.masks})[0]
        np.testing.assert_array_equal(actions, by_onnx)
        games.step(actions)
    round = Round(seed=2)
    while not round.over:
        round.apply(bot.act(round.observe(round.turn)))


def test_rounds_are_played_by_chance_alone_where_epsilon_is_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first decision of 8 rounds, asked 512 times: each legal action about as often as any other."""
    chosen: list[npt.NDArray[np.int64]] = []
    masks = np.zeros((8, 109), np.int8)

    def watching(choose: Any, games: SelfPlay, num_steps: int) -> Batch:
        games.reset(seed=1)
        masks[:] = games.masks
        chosen.extend(choose(games) for _ in range(512))
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "collect", watching)
    with pytest.raises(KeyboardInterrupt):
        train_config(_config(epsilon=1.0, learners=4), tmp_path / "run")
    actions = np.array(chosen)
    for game in range(8):
        legal = np.flatnonzero(masks[game])
        counts = np.bincount(actions[:, game], minlength=109)
        assert counts.sum() == counts[legal].sum() == 512
        expected = 512 / len(legal)
        chi_squared = ((counts[legal] - expected) ** 2 / expected).sum()
        assert chi_squared < len(legal) - 1 + 5 * np.sqrt(2 * (len(legal) - 1)) + 10  # less than once in 100,000
