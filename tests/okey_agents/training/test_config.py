"""A wrong configuration is refused before anything starts, by the full name of the key."""

import dataclasses
import typing
from pathlib import Path
from typing import Any

import pytest

from okey_agents.training.config import ScorerConfig, TrainConfig, config_from_dict, differences, load_config
from tests.places import ROOT


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"pppo": {}}, "pppo is not a section"),
        ({"ppo": {"epoks": 3}}, "ppo.epoks is not a key of the configuration: expected one of decisions, steps"),
        ({"ppo": 3}, "ppo = 3 is not a section"),
        ({"ppo": {"epochs": 0}}, "ppo.epochs = 0 is out of range: expected a whole number from 1 to 100"),
        ({"ppo": {"epochs": 2.0}}, "ppo.epochs = 2.0 is out of range: expected a whole number"),
        ({"ppo": {"epochs": True}}, "ppo.epochs = True is out of range: expected a whole number"),
        ({"ppo": {"gamma": 1.5}}, "ppo.gamma = 1.5 is out of range: expected a number from 0.0 to 1.0"),
        ({"ppo": {"gamma": float("nan")}}, "ppo.gamma = nan is out of range"),
        ({"ppo": {"gamma": "1"}}, "ppo.gamma = '1' is out of range"),
        ({"env": {"reward": "money"}}, "env.reward = 'money' is not a choice: expected 'points' or 'zero_sum'"),
        ({"env": {"rules": "ankara"}}, "env.rules = 'ankara' are no rules: 'ankara' is not a preset"),
        ({"env": {"rules": {"max_throws": 0}}}, "env.rules = .* max_throws=0 is out of range"),
        ({"env": {"rules": 7}}, "env.rules = 7 are no rules"),
        ({"env": {"encoder": ""}}, "env.encoder = '' is not a name"),
        ({"network": {"trunk": 256}}, "network.trunk = 256 is not a list"),
        ({"network": {"trunk": [256, 0]}}, r"network.trunk\[1\] = 0 is out of range"),
        ({"opponents": {"seats": ["greedy", "random"]}}, "opponents.seats = .* expected 1 name or 3"),
        ({"opponents": {"seats": "greedy"}}, "opponents.seats = 'greedy' is not a list"),
        ({"run": {"tensorboard": 1}}, "run.tensorboard = 1 is not a switch value: expected true or false"),
        ({"run": {"seed": -1}}, "run.seed = -1 is out of range"),
        ({"run": {"recipe": "magic"}}, "run.recipe = 'magic' is not a choice: expected 'maskable_ppo' or 'clone' or"),
        ({"run": {"recipe": "branching"}, "network": {}}, "network is not a section of the configuration"),
        ({"run": {"recipe": "ppo"}, "ppo": {"updates": -1}}, "ppo.updates = -1 is out of range"),
        ({"run": {"recipe": "branching"}, "branching": {"decisions": [0]}}, r"branching.decisions\[0\] = 0 is out of"),
        ({"run": {"recipe": "branching"}, "env": {"rules": "ankara"}}, "env.rules = 'ankara' are no rules"),
        ({"ppo": {"steps": 2, "minibatch": 1024}}, "ppo.minibatch = 1024 is out of range: expected at most .* 512"),
    ],
)
def test_a_wrong_value_is_refused_by_name(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        config_from_dict(data)


def test_a_file_names_what_differs_and_the_command_line_overrides_it(tmp_path: Path) -> None:
    path = tmp_path / "some.toml"
    path.write_text("[ppo]\nepochs = 3\n[env.rules]\npreset = 'klasik'\nmax_throws = 90\n")
    config = load_config(
        path, {"ppo.steps": "16", "env.reward": "win", "network.trunk": "[8, 8]", "evaluation.against": "['greedy']"}
    )
    assert isinstance(config, TrainConfig)
    assert (config.ppo.epochs, config.ppo.steps, config.env.reward) == (3, 16, "win")
    assert config.env.rules == {"preset": "klasik", "max_throws": 90}
    assert config.network.trunk == (8, 8)
    assert config.evaluation.against == ("greedy",)
    assert config.clone == TrainConfig().clone


@pytest.mark.parametrize("name", ["epochs", "ppo.", "ppo.epoks"])
def test_an_override_of_no_key_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "some.toml"
    path.write_text("")
    with pytest.raises(ValueError, match=r"is not a (key|section)"):
        load_config(path, {name: "1"})


def test_a_file_that_is_no_toml_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "some.toml"
    path.write_text("ppo: {}")
    with pytest.raises(ValueError, match=r"some\.toml is not a TOML file"):
        load_config(path)


def test_a_configuration_survives_being_written_down() -> None:
    config = config_from_dict({"network": {"policy": [4]}, "env": {"rules": {"preset": "klasik"}}})
    assert config_from_dict(config.to_dict()) == config
    assert isinstance(config, TrainConfig)
    other = dataclasses.replace(config, ppo=dataclasses.replace(config.ppo, epochs=7))
    assert differences(other, config) == {"ppo.epochs": (7, 2)}


def test_shipped_configurations_are_right() -> None:
    paths = sorted((ROOT / "training_configs").glob("*.toml"))
    assert paths
    for path in paths:
        load_config(path)


def test_every_default_is_in_its_range() -> None:
    for config in (TrainConfig(), ScorerConfig()):
        for section in typing.get_type_hints(type(config)).values():
            assert dataclasses.is_dataclass(section)
        assert config_from_dict(config.to_dict()) == config
