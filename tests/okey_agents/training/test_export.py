"""Bot folders of networks in torch: every form gives the same scores, and the same weights the same bytes."""

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

import okey_agents.bots.shipped
from okey_agents.bots.flat import FlatBot
from okey_agents.bots.folder import load_bot
from okey_agents.bots.network import Network
from okey_agents.training import export as exporting
from okey_agents.training.export import export_network
from okey_agents.training.networks import make_network
from okey_agents.training.networks.plain import scores_on_arrays, with_one_atom
from okey_agents.training.onnx_models import relu_model
from okey_env.bots import make_bot
from tests.okey_agents.training.observed import ALL, observed, shaken


@pytest.mark.heavy
@pytest.mark.parametrize(("name", "encoder"), ALL)
@pytest.mark.parametrize("half", [False, True])
def test_torch_onnx_and_the_loaded_bot_agree(name: str, encoder: str, half: bool, tmp_path: Path) -> None:
    network = shaken(name, encoder)
    folder = export_network(network, tmp_path / "bot", half=half)
    bot = load_bot(folder)
    assert isinstance(bot, FlatBot)
    observations, masks = observed(encoder)
    with torch.no_grad():
        rounded = with_one_atom(network, half=half)
        by_torch = rounded(torch.from_numpy(observations))[0].numpy()
        unrounded = network(torch.from_numpy(observations))[0].numpy()
    session = onnxruntime.InferenceSession(folder / "policy.onnx", providers=["CPUExecutionProvider"])
    logits, actions = session.run(None, {"observation": observations, "action_mask": masks})
    allowed = masks != 0
    for scores in (logits, bot.network(observations)):
        np.testing.assert_allclose(scores[allowed], by_torch[allowed], rtol=1e-4, atol=2e-4)
    assert (np.abs(by_torch - unrounded)[allowed].max() > 1e-3) == half
    assert (logits[~allowed] == np.float32(-1e8)).all()
    np.testing.assert_array_equal(actions, logits.argmax(axis=1))
    alone = session.run(["logits"], {"observation": observations[:1], "action_mask": masks[:1]})[0]
    np.testing.assert_allclose(alone, logits[:1], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["kinds", "mlp", "transformer"])
def test_the_same_weights_give_the_same_bytes(name: str, tmp_path: Path) -> None:
    network = shaken(name, "tiles_raw")
    one, other = (export_network(network, tmp_path / folder) for folder in ("one", "other"))
    assert (one / "policy.onnx").read_bytes() == (other / "policy.onnx").read_bytes()
    with np.load(one / "weights.npz") as arrays, np.load(other / "weights.npz") as again:
        assert arrays.files == again.files
        for array in arrays.files:
            np.testing.assert_array_equal(arrays[array], again[array])


@pytest.mark.parametrize("name", ["kinds", "mlp", "transformer"])
def test_the_graph_is_onnx_of_any_number_of_rows(name: str, tmp_path: Path) -> None:
    network = shaken(name, "tiles_raw", atoms=3)
    model = onnx.load(export_network(network, tmp_path / "bot") / "policy.onnx")
    onnx.checker.check_model(model, full_check=True)
    size = network.encoder.size

    def shapes(values: object) -> dict[str, list[object]]:
        return {
            value.name: [axis.dim_param or axis.dim_value for axis in value.type.tensor_type.shape.dim]
            for value in values  # type: ignore[attr-defined]
        }

    assert shapes(model.graph.input) == {"observation": ["N", size], "action_mask": ["N", 109]}
    assert shapes(model.graph.output) == {"logits": ["N", 109], "action": ["N"]}
    assert [(entry.domain, entry.version) for entry in model.opset_import] == [("", 17)]


@pytest.mark.parametrize("name", ["flat-gamelake", "flat-klasik"])
def test_the_graph_of_a_bot_that_ships_is_still_the_same(name: str) -> None:
    bot = make_bot(name)
    assert isinstance(bot, FlatBot)
    assert isinstance(bot.network, Network)
    shipped = Path(str(okey_agents.bots.shipped.__file__)).parent / name / "policy.onnx"
    assert relu_model(bot.network, half=True) == shipped.read_bytes()


def test_the_manifest_says_what_the_bot_is(tmp_path: Path) -> None:
    network = shaken("transformer", "tiles_raw", width=12, heads=3, layers=1)
    folder = export_network(network, tmp_path / "bot", name="mine", rules="klasik", origin={"training": {"seed": 4}})
    manifest = json.loads((folder / "bot.json").read_text())
    assert manifest["name"] == load_bot(folder).name == "mine"
    assert manifest["network"] == {"kind": "transformer", "width": 12, "heads": 3, "layers": 1}
    assert manifest["encoder"] == {"name": "tiles_raw", "version": 1}
    assert (manifest["rules"], manifest["training"]) == ("klasik", {"seed": 4})
    again = json.loads((export_network(network, folder) / "bot.json").read_text())
    assert (again["name"], again["rules"]) == ("bot", "gamelake")
    assert {"commit", "date", "versions"} <= again["training"].keys()


def test_a_network_whose_forms_disagree_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = make_network("kinds", shaken("kinds", "tiles_raw").encoder)
    other = shaken("kinds", "tiles_raw")
    monkeypatch.setattr(exporting, "scores_on_arrays", lambda network: scores_on_arrays(other))
    with pytest.raises(RuntimeError, match=r"the exported arrays and torch differ by .* nothing was exported"):
        export_network(network, tmp_path / "bot")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_no_bot_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "chapter_1.txt").write_text("Okey …")
    with pytest.raises(ValueError, match="holds something that is not a bot"):
        export_network(shaken("mlp", "flat"), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["chapter_1.txt"]
