"""A checkpoint is whole or refused, whatever happened while it was written."""

from pathlib import Path

import numpy as np
import pytest

from okey_agents.training.checkpoint import (
    Checkpoint,
    checkpoints,
    load_checkpoint,
    newest_good,
    save_checkpoint,
    set_aside,
)


def _checkpoint(decisions: int) -> Checkpoint:
    return Checkpoint(decisions, {"policy.a": np.full((2, 3), decisions, np.float32)}, {"updates": decisions // 10})


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    path = save_checkpoint(tmp_path / "new", _checkpoint(50), keep=1)
    loaded = load_checkpoint(path)
    assert (loaded.decisions, loaded.meta) == (50, {"updates": 5})
    np.testing.assert_array_equal(loaded.named("policy.")["a"], np.full((2, 3), 50, np.float32))


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    for decisions in (100, 900, 1000, 20_000):
        save_checkpoint(tmp_path, _checkpoint(decisions), keep=2)
    assert [load_checkpoint(path).decisions for path in checkpoints(tmp_path)] == [20_000, 1000]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
def test_a_cut_file_is_refused_by_name_and_the_one_before_is_used(tmp_path: Path, share: float) -> None:
    save_checkpoint(tmp_path, _checkpoint(1), keep=3)
    path = save_checkpoint(tmp_path, _checkpoint(2), keep=3)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ValueError, match=path.name):
        load_checkpoint(path)
    found, damages = newest_good(tmp_path)
    assert found is not None
    assert found.decisions == 1
    assert list(damages) == [path]
    assert path.name in damages[path]
    set_aside(path)
    assert newest_good(tmp_path)[1] == {}


def test_any_changed_byte_is_noticed(tmp_path: Path) -> None:
    path = save_checkpoint(tmp_path, _checkpoint(3), keep=1)
    data = path.read_bytes()
    for place in range(0, len(data), 7):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(ValueError, match=path.name):
            load_checkpoint(path)


def test_a_folder_without_a_whole_checkpoint_gives_none(tmp_path: Path) -> None:
    assert newest_good(tmp_path) == (None, {})
    (tmp_path / "000000000001.ckpt").write_bytes(b"something else")
    found, damages = newest_good(tmp_path)
    assert found is None
    assert "is not a checkpoint of this version" in next(iter(damages.values()))


def test_dying_while_writing_leaves_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_checkpoint(tmp_path, _checkpoint(1), keep=1)

    def die(descriptor: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("okey_env.files.os.fsync", die)
        with pytest.raises(KeyboardInterrupt):
            save_checkpoint(tmp_path, _checkpoint(2), keep=1)
    assert [path.name for path in checkpoints(tmp_path)] == ["000000000001.ckpt"]
    save_checkpoint(tmp_path, _checkpoint(3), keep=1)
    assert [path.name for path in tmp_path.iterdir()] == ["000000000003.ckpt"]  # and what was left lying is gone
