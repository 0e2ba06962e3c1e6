"""A run: what it leaves behind, and that stopping it changes nothing."""

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from okey_agents.training.checkpoint import Arrays, checkpoints, load_checkpoint
from okey_agents.training.flat import sb3_model
from okey_agents.training.flat.maskable_ppo import MaskablePpoConfig
from okey_agents.training.recipes import config_from_dict
from okey_agents.training.runs import read_config
from okey_agents.training.schema import Config
from okey_agents.training.sections import EvaluationConfig, RunConfig
from okey_agents.training.train import train, train_config


class Stopped(Exception):  # noqa: N818 (it stands for a kill, not for an error)
    pass


def _weights(run: Path) -> Arrays:
    return load_checkpoint(checkpoints(run / "checkpoints")[0]).arrays


def _assert_same(one: Arrays, other: Arrays) -> None:
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)


def _events(run: Path) -> list[str]:
    return [json.loads(line)["event"] for line in (run / "log.jsonl").read_text().splitlines()]


def _stopped_run(config: Config, folder: Path, monkeypatch: pytest.MonkeyPatch, rollouts: int) -> None:
    """A run that dies at the end of one of its rollouts."""

    class Dying(sb3_model.CheckpointCallback):
        seen = 0

        def _on_rollout_end(self) -> None:
            self.seen += 1
            if self.seen == rollouts:
                raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(sb3_model, "CheckpointCallback", Dying)
        with pytest.raises(Stopped):
            train_config(config, folder)


def test_a_run_leaves_its_configuration_log_checkpoints_and_measurement(tiny_run: Path, tiny_config: Config) -> None:
    assert read_config(tiny_run) == tiny_config
    assert [path.name for path in checkpoints(tiny_run / "checkpoints")] == [
        "000000000256.ckpt",
        "000000000192.ckpt",
        "000000000128.ckpt",
    ]
    events = _events(tiny_run)
    assert events[0] == "started"
    assert events.count("rollout") == 4
    assert events[-1] == "finished"
    measured = json.loads((tiny_run / "evaluation.json").read_text())
    assert measured["decisions"] == 256
    assert measured["scores"][0]["against"] == "random"
    assert measured["scores"][0]["points"].keys() == {"mean", "low", "high"}


def test_the_same_seed_gives_the_same_weights(tiny_run: Path, tiny_config: Config, tmp_path: Path) -> None:
    quiet = tiny_config.replace(dataclasses.replace(tiny_config[EvaluationConfig], deals=0))
    _assert_same(_weights(train_config(quiet, tmp_path / "again")), _weights(tiny_run))  # measuring changes nothing
    other = quiet.replace(dataclasses.replace(quiet[RunConfig], seed=2))
    weights = _weights(train_config(other, tmp_path / "other"))
    assert (weights["policy.action_net.weight"] != _weights(tiny_run)["policy.action_net.weight"]).any()


@pytest.mark.parametrize("rollouts", [1, 3])
def test_a_run_that_was_stopped_and_taken_up_ends_with_the_same_weights(
    tiny_run: Path, tiny_config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rollouts: int
) -> None:
    folder = tmp_path / "run"
    _stopped_run(tiny_config, folder, monkeypatch, rollouts)
    assert load_checkpoint(checkpoints(folder / "checkpoints")[0]).decisions == 64 * (rollouts - 1)
    train_config(tiny_config, folder, resume=True)
    _assert_same(_weights(folder), _weights(tiny_run))
    assert "resumed" in _events(folder)


def test_a_damaged_checkpoint_is_passed_over_by_name(
    tiny_run: Path, tiny_config: Config, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(tiny_run, folder)
    newest = checkpoints(folder / "checkpoints")[0]
    newest.write_bytes(newest.read_bytes()[:-1])
    train_config(tiny_config, folder, resume=True)
    assert newest.name in capsys.readouterr().err
    assert sum(path.suffix == ".damaged" for path in newest.parent.iterdir()) == 1
    _assert_same(_weights(folder), _weights(tiny_run))


def test_a_run_without_a_whole_checkpoint_is_refused(tiny_run: Path, tiny_config: Config, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(tiny_run, folder)
    for path in checkpoints(folder / "checkpoints"):
        path.write_bytes(b"")
    with pytest.raises(ValueError, match="none of its 3 checkpoints is whole"):
        train_config(tiny_config, folder, resume=True)


def test_a_finished_run_has_nothing_left_to_do(tiny_run: Path, tiny_config: Config) -> None:
    before = _weights(tiny_run)
    train_config(tiny_config, tiny_run, resume=True)
    _assert_same(_weights(tiny_run), before)


def test_a_run_does_not_go_on_with_another_configuration(tiny_run: Path, tiny_config: Config) -> None:
    other = tiny_config.replace(dataclasses.replace(tiny_config[MaskablePpoConfig], gamma=0.5))
    with pytest.raises(ValueError, match=r"maskable_ppo.gamma = 0.5, but the run in .* began with 1.0"):
        train_config(other, tiny_run, resume=True)


def test_a_run_of_an_earlier_version_is_refused(tiny_run: Path, tiny_config: Config, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(tiny_run, folder)
    (folder / "config.json").write_text('{"env": {"rules": "gamelake"}, "run": {"recipe": "clone"}}')
    with pytest.raises(ValueError, match=r"config\.json: the run was begun by an earlier version of okey-env"):
        train_config(tiny_config, folder, resume=True)


def test_a_flat_policy_is_evaluated_by_any_number_of_processes(
    tiny_run: Path, tiny_config: Config, tmp_path: Path
) -> None:
    two = tiny_config.replace(dataclasses.replace(tiny_config[RunConfig], workers=2))
    shutil.copytree(tiny_run, tmp_path / "run")
    (tmp_path / "run" / "evaluation.json").unlink()
    train_config(two, tmp_path / "run", resume=True)
    one, other = (json.loads((run / "evaluation.json").read_text()) for run in (tiny_run, tmp_path / "run"))
    assert one == other


def test_a_folder_in_use_is_not_written_over(tiny_run: Path, tiny_config: Config, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not empty"):
        train_config(tiny_config, tiny_run)
    with pytest.raises(ValueError, match="holds no run"):
        train_config(tiny_config, tmp_path, resume=True)


@pytest.mark.heavy
def test_imitation_comes_first_and_learns(tmp_path: Path) -> None:
    path = tmp_path / "imitation_first.toml"
    path.write_text(
        "[imitation]\ndecisions = 60_000\nepochs = 1\nminibatch = 256\nlearning_rate = 3e-3\n[network]\ntrunk = [32]\n"
        "[env]\nnum_envs = 8\n[maskable_ppo]\ndecisions = 0\nsteps = 8\nminibatch = 32\n[evaluation]\ndeals = 0\n"
    )
    run = train(path, tmp_path / "run", overrides={"run.seed": "5"})
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    losses = [line["imitation"] for line in lines if line["event"] == "imitated"]
    assert len(losses) == 2
    assert losses[1] < losses[0]
    assert read_config(run) == config_from_dict(read_config(run).to_dict())
    assert (run / "tensorboard").is_dir()
