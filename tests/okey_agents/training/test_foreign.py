"""Networks from other trainers as folders: torch modules and ONNX files, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from okey_agents.cli import main
from okey_agents.evaluate.arena import evaluate
from okey_agents.training.foreign import export_foreign, export_module, export_onnx
from okey_agents.training.networks import make_network
from okey_env import PolicyBot, SelfPlay, as_encoder, make_bot

SIZE = as_encoder("flat").size


class Net(torch.nn.Module):
    """As others write them: layers, a skip, dropout, and a value beside the scores."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(SIZE, 32), torch.nn.Linear(32, 32)
        self.dropout, self.scores, self.value = torch.nn.Dropout(0.5), torch.nn.Linear(32, 109), torch.nn.Linear(32, 1)

    def forward(self, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = torch.relu(self.first(seen))
        hidden = self.dropout(hidden + torch.tanh(self.second(hidden)))
        return self.scores(hidden), self.value(hidden)[:, 0]


SOURCE = f"""
import torch

def network():
    torch.manual_seed(5)
    return torch.nn.Sequential(torch.nn.Linear({SIZE}, 16), torch.nn.ReLU(), torch.nn.Linear(16, 109))

narrow = torch.nn.Linear({SIZE}, 7)
number = 5
"""


def net() -> Net:
    torch.manual_seed(3)
    return Net()


@pytest.mark.heavy
def test_a_module_plays_from_its_folder_what_it_plays_in_torch(tmp_path: Path) -> None:
    module = net()
    folder = export_module(module, tmp_path / "mine", "flat")
    module.eval()
    bot = make_bot(str(folder))
    in_torch = PolicyBot("flat", lambda seen, masks: module(torch.from_numpy(seen))[0])
    games = SelfPlay(64, encoder=None, seed=3)
    games.reset()
    same = []
    for _ in range(20):
        actions = bot.act_batch(games.records)  # type: ignore[attr-defined] # it has it
        same.append(np.mean(actions == in_torch.act_batch(games.records)))
        games.step(actions)
    assert np.mean(same) > 0.99  # sums in another order: nearly equal scores may change places
    assert bot.name == "mine"
    assert evaluate(str(folder), "random", deals=2, seed=1, workers=1).rounds == 8
    again = export_module(module, folder, "flat", name="other")
    assert make_bot(str(again)).name == "other"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine"]


@pytest.mark.heavy
def test_the_command_takes_a_file_with_weights_and_an_onnx_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, weights = tmp_path / "nets.py", tmp_path / "weights.pt"
    source.write_text(SOURCE, encoding="utf-8")
    other = torch.nn.Sequential(torch.nn.Linear(SIZE, 16), torch.nn.ReLU(), torch.nn.Linear(16, 109))
    torch.save(other.state_dict(), weights)
    common = [f"{source}:network", "--encoder", "flat"]
    main(["export", *common[:1], str(tmp_path / "plain"), *common[1:]])
    main(["export", *common[:1], str(tmp_path / "set"), *common[1:], "--weights", str(weights)])
    assert "exported: " in capsys.readouterr().out
    observations = np.random.default_rng(1).random((5, SIZE), np.float32)
    with torch.no_grad():
        expected = other(torch.from_numpy(observations)).numpy()
    bots: list[Any] = [make_bot(str(tmp_path / name)) for name in ("set", "plain")]
    np.testing.assert_allclose(bots[0].network(observations), expected, rtol=1e-3, atol=1e-4)
    assert not np.allclose(bots[1].network(observations), expected, rtol=1e-3, atol=1e-4)
    copied = export_foreign(str(tmp_path / "set" / "policy.onnx"), tmp_path / "copied", "flat")
    bot: Any = make_bot(str(copied))
    np.testing.assert_array_equal(bot.network(observations), bots[0].network(observations))
    assert json.loads((copied / "policy.json").read_text(encoding="utf-8"))["exported"]["file"] == "policy.onnx"


def test_a_network_of_ours_becomes_the_folder_that_it_always_becomes(tmp_path: Path) -> None:
    folder = export_module(make_network("mlp", as_encoder("flat"), widths=(4,)), tmp_path / "ours", "flat")
    assert (folder / "bot.json").is_file()


class Wrong(torch.nn.Module):
    """Gives what it was made with."""

    def __init__(self, given: Any) -> None:
        super().__init__()
        self.given = given

    def forward(self, seen: torch.Tensor) -> Any:
        return self.given(seen)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda seen: seen[:, :7], r"gives \(1024, 7\) for observations \(1024, 796\): expected scores \(1024, 109\)"),
        (lambda seen: "no", "gives str for observations"),
        (lambda seen: seen @ torch.zeros(3, 109), "cannot be called with float32"),
        (lambda seen: seen[:, :109] * (2 if seen.sum() > 3 else 1), "cannot be written as ONNX"),
    ],
)
def test_a_module_that_does_not_fit_is_refused(given: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=said):
        export_module(Wrong(given), tmp_path / "bot", "flat")
    assert not list(tmp_path.iterdir())


def test_what_does_not_agree_is_not_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("okey_agents.training.foreign._by_torch", lambda scores, seen: np.full((1024, 109), 7.0))
    with pytest.raises(RuntimeError, match=r"onnxruntime and torch differ by .* in a score: nothing was exported"):
        export_module(net(), tmp_path / "bot", "flat")
    assert not list(tmp_path.iterdir())


def test_wrong_names_and_folders_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "nets.py"
    source.write_text(SOURCE, encoding="utf-8")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").touch()
    (tmp_path / "bad.onnx").write_bytes(b"no")
    (tmp_path / "bad.pt").write_bytes(b"no")
    for what, folder, encoder, weights, said in (
        (f"{source}:number", "bot", "flat", None, "is 5: expected a torch module"),
        (f"{source}:absent", "bot", "flat", None, "absent"),
        (f"{source}:narrow", "bot", "flat", None, r"gives \(1024, 7\)"),
        (f"{source}:network", "bot", "flatt", None, "encoder='flatt' is not an encoder"),
        (f"{source}:network", "full", "flat", None, "holds something that is not a bot"),
        (f"{source}:network", "bot", "flat", tmp_path / "bad.pt", "bad.pt does not fit"),
        (str(tmp_path / "none.onnx"), "bot", "flat", None, "there is no file"),
        (str(tmp_path / "bad.onnx"), "bot", "flat", None, "is not a network that onnxruntime can run"),
        (str(tmp_path / "bad.onnx"), "bot", "flat", tmp_path / "bad.pt", "an ONNX file has its weights"),
    ):
        with pytest.raises(ValueError, match=said):
            export_foreign(what, tmp_path / folder, encoder, weights)
    with pytest.raises(ValueError, match="is a file: choose another name"):
        export_onnx(tmp_path / "bad.onnx", source, "flat")
    assert not (tmp_path / "bot").exists()


def test_weights_without_an_encoder_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["export", "runs/none", "bot", "--name", "x"])
    assert "expected --encoder with them" in capsys.readouterr().err
