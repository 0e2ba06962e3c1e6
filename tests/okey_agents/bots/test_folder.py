"""A bot folder: what is exported plays as it was trained, and what is damaged or foreign is refused."""

import io
import json
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from okey_agents.bots import shipped
from okey_agents.bots.flat import FlatBot
from okey_agents.bots.folder import checksum, load_bot
from okey_agents.training.checkpoint import checkpoints, load_checkpoint
from okey_agents.training.export import export, export_network
from okey_agents.training.flat.policy import make_policy, set_policy_arrays
from okey_agents.training.schema import Config
from okey_agents.training.sections import NetworkConfig
from okey_env.bots import BatchBot, make_bot
from okey_env.round import Round
from okey_env.vector import SelfPlay
from tests.okey_agents.training.observed import shaken

Arrays = dict[str, Any]


@pytest.fixture
def folder(tiny_bot: Path, tmp_path: Path) -> Path:
    """A copy of the exported bot to spoil."""
    copy = tmp_path / "bot"
    shutil.copytree(tiny_bot, copy)
    return copy


def _manifest(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    path = folder / "bot.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))


def _weights(folder: Path, change: Callable[[Arrays], Any], *, allow_pickle: bool = False) -> None:
    """Change the arrays, and the checksum so that it fits them."""
    with np.load(folder / "weights.npz") as loaded:
        arrays = dict(loaded)
    change(arrays)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=allow_pickle, **arrays)
    (folder / "weights.npz").write_bytes(buffer.getvalue())
    _manifest(folder, lambda manifest: manifest["weights"].update(blake2b=checksum(buffer.getvalue())))


def _positions(seed: int, steps: int) -> SelfPlay:
    table = SelfPlay(64, seed=seed)
    table.reset()
    generator = np.random.default_rng(seed)
    for _ in range(steps):
        table.step((table.masks * generator.random(table.masks.shape)).argmax(axis=1))
    return table


def test_the_bot_plays_as_the_trained_policy_and_as_its_onnx_file(
    tiny_run: Path, tiny_bot: Path, tiny_config: Config
) -> None:
    bot = load_bot(tiny_bot)
    assert isinstance(bot, FlatBot)
    policy = make_policy(bot.encoder.size, 109, tiny_config[NetworkConfig])
    set_policy_arrays(policy, load_checkpoint(checkpoints(tiny_run / "checkpoints")[0]).named("policy."))
    session = onnxruntime.InferenceSession(tiny_bot / "policy.onnx", providers=["CPUExecutionProvider"])
    for steps in (0, 1, 30):
        table = _positions(3, steps)
        by_bot = bot.act_batch(table.records)
        by_torch = policy.predict(table.observations, deterministic=True, action_masks=table.masks)[0]
        by_onnx = session.run(["action"], {"observation": table.observations, "action_mask": table.masks})[0]
        np.testing.assert_array_equal(by_bot, by_torch)
        np.testing.assert_array_equal(by_bot, by_onnx)


def test_the_bot_is_a_legal_player_over_whole_rounds_alone_and_in_a_batch(tiny_bot: Path) -> None:
    bot = make_bot(tiny_bot)
    assert isinstance(bot, BatchBot)
    for preset in ("gamelake", "klasik"):
        round = Round(preset, seed=11)
        while not round.over:
            observation = round.observe(round.turn)
            action = bot.act(observation)
            assert action in observation.legal_actions
            assert bot.act_batch(observation.records).tolist() == [action]
            round.apply(action)


def test_the_manifest_says_where_the_bot_comes_from(tiny_bot: Path, tiny_config: Config) -> None:
    manifest = load_bot(tiny_bot).manifest
    assert manifest["config"] == tiny_config.to_dict()
    assert manifest["training"]["decisions"] == 256
    assert {"commit", "date", "seed", "versions"} <= manifest["training"].keys()
    assert manifest["scores"][0]["against"] == "random"
    assert manifest["rules"] == "gamelake"


def test_exporting_again_replaces_the_bot_but_nothing_else(tiny_run: Path, folder: Path, tmp_path: Path) -> None:
    (folder / "weights.npz").write_bytes(b"")
    assert export(tiny_run, folder) == folder
    load_bot(folder)
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter_1.txt").write_text("Okey …")
    with pytest.raises(ValueError, match="holds something that is not a bot"):
        export(tiny_run, other)
    with pytest.raises(ValueError, match="holds no run"):
        export(other, tmp_path / "new")


REFUSED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no folder": (shutil.rmtree, "holds no bot"),
    "no manifest": (lambda folder: (folder / "bot.json").unlink(), "holds no bot: there is no bot.json"),
    "not JSON": (lambda folder: (folder / "bot.json").write_text("{"), "bot.json is not JSON"),
    "not text": (lambda folder: (folder / "bot.json").write_bytes(b"\xff\x00"), "bot.json is not JSON"),
    "deep JSON": (lambda folder: (folder / "bot.json").write_text("[" * 200_000), "bot.json is not JSON"),
    "no object": (lambda folder: (folder / "bot.json").write_text("[]"), "does not say format 'okey-env bot'"),
    "foreign": (lambda folder: _manifest(folder, lambda m: m.update(format="chess")), "does not say format"),
    "newer": (lambda folder: _manifest(folder, lambda m: m.update(format_version=99)), "its format version is 99"),
    "nameless": (lambda folder: _manifest(folder, lambda m: m.pop("name")), "gives it no name"),
    "no encoder": (lambda folder: _manifest(folder, lambda m: m.pop("encoder")), "has no 'encoder'"),
    "unknown encoder": (lambda folder: _manifest(folder, lambda m: m["encoder"].update(name="sphere")), "'sphere'"),
    "encoder version": (
        lambda folder: _manifest(folder, lambda m: m["encoder"].update(version=77)),
        "the encoder 'flat' is here in version [0-9]+, but version 77 is needed",
    ),
    "action table": (
        lambda folder: _manifest(folder, lambda m: m.update(actions_version=77)),
        "needs version 77 of the action table",
    ),
    "network kind": (
        lambda folder: _manifest(folder, lambda m: m["network"].update(kind="tree")),
        "network is of the unknown kind 'tree'",
    ),
    "negative size": (
        lambda folder: _manifest(folder, lambda m: m["network"]["sizes"].insert(1, -5)),
        "network has impossible sizes",
    ),
    "other inputs": (
        lambda folder: _manifest(folder, lambda m: m["network"]["sizes"].__setitem__(0, 3)),
        r"network goes from \[3\] to \[109\]",
    ),
    "no weights": (lambda folder: (folder / "weights.npz").unlink(), "there is no weights.npz"),
    "cut weights": (
        lambda folder: (folder / "weights.npz").write_bytes((folder / "weights.npz").read_bytes()[:-9]),
        "weights.npz is damaged: its checksum",
    ),
    "much larger": (
        lambda folder: (folder / "weights.npz").write_bytes(bytes(10_000_000)),
        "weights.npz is larger than",
    ),
    "no archive": (lambda folder: _spoil_with_checksum(folder, b"something else"), "weights.npz cannot be read"),
    "unpacks to more": (
        lambda folder: _spoil_with_checksum(folder, _bomb()),
        "weights.npz cannot be read: it unpacks to more",
    ),
    "pickled": (
        lambda folder: _weights(folder, lambda a: a.update(bias_0=np.array([print], object)), allow_pickle=True),
        "weights.npz cannot be read: Object arrays cannot be loaded",
    ),
    "missing array": (lambda folder: _weights(folder, lambda a: a.pop("bias_0")), "it holds the arrays"),
    "other shape": (
        lambda folder: _weights(folder, lambda a: a.update(bias_0=a["bias_0"][:-1])),
        r"bias_0 is float32 \(15,\): expected float32 \(16,\)",
    ),
    "other type": (
        lambda folder: _weights(folder, lambda a: a.update(bias_0=a["bias_0"].astype(np.int32))),
        "bias_0 is int32",
    ),
    "not finite": (
        lambda folder: _weights(folder, lambda a: a["weights_1"].__setitem__((0, 0), np.nan)),
        "weights_1 holds values that are not finite",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_damaged_or_foreign_folder_is_refused_in_one_sentence(folder: Path, case: str) -> None:
    spoil, message = REFUSED[case]
    spoil(folder)
    with pytest.raises(ValueError, match=message) as refused:
        load_bot(folder)
    assert str(folder) in str(refused.value)
    assert "\n" not in str(refused.value)


SIZES: dict[str, dict[str, Any]] = {
    "kinds": {"width": 16, "pooled": 12},
    "transformer": {"width": 12, "heads": 3, "layers": 2},
}


@pytest.fixture(scope="session")
def network_bots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A bot of each network that is no stack of dense layers."""
    folder = tmp_path_factory.mktemp("networks")
    return {name: export_network(shaken(name, "tiles", **sizes), folder / name) for name, sizes in SIZES.items()}


def _told(key: str, value: Any) -> Callable[[Path], Any]:
    """Sets a size of the network in the manifest."""
    return lambda folder: _manifest(folder, lambda m: m["network"].update({key: value}))


def _other_encoder(name: str) -> Callable[[Path], Any]:
    return lambda folder: _manifest(folder, lambda m: m["encoder"].update(name=name))


REFUSED_NETWORKS: dict[str, tuple[str, Callable[[Path], Any], str]] = {
    "no width": ("kinds", lambda folder: _manifest(folder, lambda m: m["network"].pop("width")), "has no 'width'"),
    "width is text": ("kinds", _told("width", "16"), "has 'width' = '16': expected a whole number"),
    "width is true": ("kinds", _told("width", True), "the impossible width True: expected 8 to 16384"),
    "too narrow for messages": ("kinds", _told("width", 7), "the impossible width 7: expected 8 to 16384"),
    "nothing pooled": ("kinds", _told("pooled", 0), "the impossible pooled 0: expected 1 to 16384"),
    "huge": ("kinds", _told("pooled", 10**9), "the impossible pooled 1000000000: expected 1 to 16384"),
    "other width": ("kinds", _told("width", 17), r"expected float32 \(17,"),
    "smaller than its weights": ("kinds", _told("pooled", 8), r"is float32 \(12,.*expected float32 \(8,"),
    "no planes": ("kinds", _other_encoder("flat"), "the encoder 'flat' has no planes"),
    "other planes": ("kinds", _other_encoder("tiles_raw"), "it unpacks to more than a network of its sizes"),
    "other kind": ("kinds", _told("kind", "relu"), "has no 'sizes': expected a list"),
    "not of a kind": ("kinds", _told("kind", ["kinds"]), r"is of the unknown kind \['kinds'\]"),
    "missing array": ("kinds", lambda folder: _weights(folder, lambda a: a.pop("pool.bias")), "it holds the arrays"),
    "other shape": (
        "kinds",
        lambda folder: _weights(folder, lambda a: a.update({"lay.weight": a["lay.weight"].T})),
        r"lay.weight is float32 \(16, 2\): expected float32 \(2, 16\)",
    ),
    "not finite": (
        "kinds",
        lambda folder: _weights(folder, lambda a: a["kind.weight"].__setitem__((3, 1), np.inf)),
        "kind.weight holds values that are not finite",
    ),
    "heads that do not divide": ("transformer", _told("heads", 5), "width=12 is not a multiple of heads=5"),
    "no heads": ("transformer", _told("heads", 0), "the impossible heads 0: expected 1 to"),
    "other heads": (
        "transformer",
        _told("heads", 2),
        r"blocks.0.bias is float32 \(3, 11\): expected float32 \(2, 11\)",
    ),
    "more layers": ("transformer", _told("layers", 3), "it holds the arrays"),
    "endless layers": ("transformer", _told("layers", 10**6), "the impossible layers 1000000: expected 1 to 32"),
    "no planes to attend to": ("transformer", _other_encoder("flat_offer"), "the encoder 'flat_offer' has no planes"),
    "weights of two bytes": (
        "transformer",
        lambda folder: _weights(folder, lambda a: a.update({"norm.bias": a["norm.bias"].astype(np.float16)})),
        "norm.bias is float16",
    ),
    "cut weights": (
        "transformer",
        lambda folder: (folder / "weights.npz").write_bytes((folder / "weights.npz").read_bytes()[:-9]),
        "weights.npz is damaged: its checksum",
    ),
}


@pytest.mark.parametrize("case", REFUSED_NETWORKS)
def test_a_damaged_network_is_refused_in_one_sentence(network_bots: dict[str, Path], tmp_path: Path, case: str) -> None:
    kind, spoil, message = REFUSED_NETWORKS[case]
    folder = tmp_path / "bot"
    shutil.copytree(network_bots[kind], folder)
    load_bot(folder)
    spoil(folder)
    with pytest.raises(ValueError, match=message) as refused:
        load_bot(folder)
    assert str(folder) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", SIZES)
def test_a_network_is_a_legal_player_over_whole_rounds_alone_and_in_a_batch(
    network_bots: dict[str, Path], kind: str
) -> None:
    bot = make_bot(network_bots[kind])
    assert isinstance(bot, BatchBot)
    for preset in ("gamelake", "klasik"):
        round = Round(preset, seed=12)
        seen, actions = [], []
        while not round.over:
            observation = round.observe(round.turn)
            actions.append(bot.act(observation))
            seen.append(observation.records.copy())
            assert actions[-1] in observation.legal_actions
            round.apply(actions[-1])
        assert bot.act_batch(np.concatenate(seen)).tolist() == actions


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["relu", *SIZES])
def test_playing_loads_neither_torch_nor_onnx(tiny_bot: Path, network_bots: dict[str, Path], kind: str) -> None:
    code = (
        "import sys\n"
        "from okey_env.bots import make_bot\n"
        "from okey_env.round import Round\n"
        f"bot = make_bot({str(network_bots.get(kind, tiny_bot))!r})\n"
        "round = Round(seed=1)\n"
        "round.apply(bot.act(round.observe(round.turn)))\n"
        "print([name for name in ('torch', 'onnx', 'onnxruntime', 'stable_baselines3') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def _spoil_with_checksum(folder: Path, data: bytes) -> None:
    (folder / "weights.npz").write_bytes(data)
    _manifest(folder, lambda manifest: manifest["weights"].update(blake2b=checksum(data)))


def _bomb() -> bytes:
    """An archive that is small and unpacks to 40 MB."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, bias_0=np.zeros(10_000_000, np.float32))
    return buffer.getvalue()


def test_an_onnx_file_plays_with_a_manifest_beside_it(tmp_path: Path) -> None:
    source = Path(shipped.__file__).parent / "zero-gamelake"
    records = np.concatenate([Round("gamelake", seed=seed).observe(0).records for seed in range(5)])
    expected = load_bot(source).act_batch(records).tolist()
    network = make_bot(str(source / "policy.onnx"))  # the manifest of an exported folder
    assert isinstance(network, BatchBot)
    assert network.act_batch(records).tolist() == expected
    model = tmp_path / "mine.onnx"
    model.write_bytes((source / "policy.onnx").read_bytes())
    cases = [
        (None, r"there is no mine\.json beside mine\.onnx"),
        ("[]", r"mine\.json is not an object"),
        ("{}", r"its manifest has no encoder"),
        ('{"encoder": {"name": "tiles", "version": 99}}', r"version 99 is needed"),
        ('{"encoder": {"name": "flat", "version": 1}}', r"mine\.onnx cannot be run on float32"),
        (
            '{"encoder": {"name": "tiles", "version": 1}, "input": "x"}',
            r"its input is 'x': expected one of 'observation'",
        ),
        ('{"encoder": {"name": "tiles", "version": 1}, "output": "action"}', r"gives \(2,\) for two observations"),
    ]
    for manifest, reason in cases:
        if manifest is not None:
            model.with_suffix(".json").write_text(manifest, encoding="utf-8")
        with pytest.raises(ValueError, match=r"mine\.onnx' cannot be loaded: .*" + reason):
            make_bot(model)
    model.with_suffix(".json").write_text('{"encoder": {"name": "tiles", "version": 1}, "name": "me"}', "utf-8")
    again = pickle.loads(pickle.dumps(make_bot(model)))
    assert (again.name, again.act_batch(records).tolist()) == ("me", expected)
