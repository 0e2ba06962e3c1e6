"""A wrong configuration is refused before anything starts, by the full name of the key."""

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from okey_agents.training.flat.imitation import ImitationConfig
from okey_agents.training.flat.maskable_ppo import MaskablePpoConfig
from okey_agents.training.recipes import RECIPES, config_from_dict, differences, load_config
from okey_agents.training.schema import section_name
from okey_agents.training.sections import EnvConfig, EvaluationConfig, GameConfig, NetworkConfig
from tests.places import ROOT


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"pppo": {}}, "pppo is not a section"),
        (
            {"maskable_ppo": {"epoks": 3}},
            "maskable_ppo.epoks is not a key of the configuration: expected one of decisions, steps",
        ),
        ({"maskable_ppo": 3}, "maskable_ppo=3 is not a section"),
        (
            {"maskable_ppo": {"epochs": 0}},
            "maskable_ppo.epochs=0 is out of range: expected 1 to 100",
        ),
        ({"maskable_ppo": {"epochs": 2.0}}, "maskable_ppo.epochs=2.0 is not a whole number"),
        ({"maskable_ppo": {"epochs": True}}, "maskable_ppo.epochs=True is not a whole number"),
        (
            {"maskable_ppo": {"gamma": 1.5}},
            "maskable_ppo.gamma=1.5 is out of range: expected 0 to 1",
        ),
        ({"maskable_ppo": {"gamma": float("nan")}}, "maskable_ppo.gamma=nan is not a finite number"),
        ({"maskable_ppo": {"gamma": "1"}}, "maskable_ppo.gamma='1' is not a finite number"),
        ({"env": {"reward": "money"}}, "env.reward='money' is not a choice: expected 'points' or 'zero_sum'"),
        ({"env": {"reward": "win+luck"}}, "env.reward: reward='win.luck' has the term 'luck': expected 'distance' or"),
        ({"game": {"rules": "ankara"}}, "game.rules='ankara' are no rules: 'ankara' is not a preset"),
        ({"game": {"rules": {"max_throws": 0}}}, "game.rules=.* max_throws=0 is out of range"),
        ({"game": {"rules": 7}}, "game.rules=7 are no rules"),
        ({"env": {"encoder": ""}}, "env.encoder='' is not a name"),
        ({"network": {"trunk": 256}}, "network.trunk=256 is not a list"),
        ({"network": {"trunk": [256, 0]}}, r"network.trunk\[1\]=0 is out of range"),
        ({"opponents": {"seats": ["greedy", "random"]}}, "opponents.seats=.* expected 1 name or 3"),
        ({"opponents": {"seats": "greedy"}}, "opponents.seats='greedy' is not a list"),
        ({"run": {"tensorboard": 1}}, "run.tensorboard=1 is not a switch value: expected True or False"),
        ({"run": {"seed": -1}}, "run.seed=-1 is out of range"),
        (
            {"run": {"recipe": "magic"}},
            "run.recipe='magic' is not a choice: expected .*'imitation' or 'maskable_ppo'",
        ),
        ({"run": {"recipe": "branching"}, "network": {}}, "network is not a section of the configuration"),
        ({"run": {"recipe": "scorer_ppo"}, "scorer_ppo": {"updates": -1}}, "scorer_ppo.updates=-1 is out of range"),
        ({"run": {"recipe": "branching"}, "branching": {"decisions": [0]}}, r"branching.decisions\[0\]=0 is out of"),
        ({"run": {"recipe": "branching"}, "game": {"rules": "ankara"}}, "game.rules='ankara' are no rules"),
        (
            {"maskable_ppo": {"steps": 2, "minibatch": 1024}},
            "maskable_ppo.minibatch=1024 is out of range: expected at most .* 512",
        ),
    ],
)
def test_a_wrong_value_is_refused_by_name(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        config_from_dict(data)


def test_a_file_names_what_differs_and_the_command_line_overrides_it(tmp_path: Path) -> None:
    path = tmp_path / "some.toml"
    path.write_text("[maskable_ppo]\nepochs = 3\n[game.rules]\npreset = 'klasik'\nmax_throws = 90\n")
    config = load_config(
        path,
        {
            "maskable_ppo.steps": "16",
            "env.reward": "win",
            "network.trunk": "[8, 8]",
            "evaluation.against": "['greedy']",
        },
    )
    ppo = config[MaskablePpoConfig]
    assert (ppo.epochs, ppo.steps, config[EnvConfig].reward) == (3, 16, "win")
    assert config[GameConfig].rules == {"preset": "klasik", "max_throws": 90}
    assert config[NetworkConfig].trunk == (8, 8)
    assert config[EvaluationConfig].against == ("greedy",)
    assert config[ImitationConfig] == ImitationConfig()


@pytest.mark.parametrize("name", ["epochs", "maskable_ppo.", "maskable_ppo.epoks"])
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
    config = config_from_dict({"network": {"policy": [4]}, "game": {"rules": {"preset": "klasik"}}})
    assert config_from_dict(config.to_dict()) == config
    other = config.replace(dataclasses.replace(config[MaskablePpoConfig], epochs=7))
    assert differences(other, config) == {"maskable_ppo.epochs": (7, 2)}


def test_shipped_configurations_are_right() -> None:
    paths = sorted((ROOT / "training_configs").glob("*.toml"))
    assert paths
    for path in paths:
        load_config(path)


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_default_is_in_its_range(recipe: str) -> None:
    data: dict[str, Any] = {"run": {"recipe": recipe}}
    if recipe == "imitation":
        data["imitation"] = {"decisions": 1}  # 0, the default, is for `maskable_ppo`
    config = config_from_dict(data)
    assert config_from_dict(config.to_dict()) == config


def test_a_section_name_has_one_meaning() -> None:
    classes = {cls for recipe in RECIPES.values() for cls in recipe.sections}
    assert len({section_name(cls) for cls in classes}) == len(classes)


def test_a_configuration_is_read_without_torch() -> None:
    code = (
        "import sys; from okey_agents.training.recipes import config_from_dict; config_from_dict({}); "
        "sys.exit(bool({'torch', 'stable_baselines3', 'sb3_contrib'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
