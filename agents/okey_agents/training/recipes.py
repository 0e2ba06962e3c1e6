"""The recipes by which a bot learns, and the configuration of a run, read from a TOML file.

`run.recipe` names a recipe; the recipe says which sections the file may have. A file names what differs from the
defaults; the command line may override single keys, written `section.key`. An unknown key or a value out of range stops
the run before it starts, with the full name of the key, its value and what was expected. The configuration as resolved
is saved with the run.

A new algorithm needs three things: a module with its section class and its entry, a line in `RECIPES`, and a file in
`training_configs/`. Reading a configuration does not import torch, so the module imports torch inside its functions.
"""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from okey_agents.training.flat.imitation import ImitationConfig, train_imitation
from okey_agents.training.flat.maskable_ppo import MaskablePpoConfig, train_maskable_ppo
from okey_agents.training.flat.monte_carlo import MonteCarloConfig, train_monte_carlo
from okey_agents.training.ppo.recipe import PpoConfig, train_ppo
from okey_agents.training.schema import Config, Section, override_value, read_sections
from okey_agents.training.scorer.branching import BranchingConfig, train_branching
from okey_agents.training.scorer.ppo import ScorerPpoConfig, train_scorer_ppo
from okey_agents.training.scorer.soft_clone import SoftCloneConfig
from okey_agents.training.sections import (
    CheckpointsConfig,
    ChoiceConfig,
    DuelConfig,
    EnvConfig,
    EvaluationConfig,
    GameConfig,
    NetworkConfig,
    OpponentsConfig,
    PolicyConfig,
    RunConfig,
)
from okey_env.checks import is_one_of, shown


class Recipe(NamedTuple):
    """One way to learn."""

    sections: tuple[type[Section], ...]
    """The sections of its configuration."""
    train: Callable[[Config, Path, bool, Console], None]
    """Trains in the folder of a run; the third argument says whether to resume from its newest checkpoint."""


FLAT = (GameConfig, EnvConfig, NetworkConfig, EvaluationConfig, CheckpointsConfig, RunConfig)
"""The sections of a policy over all actions."""
SCORER = (GameConfig, ChoiceConfig, DuelConfig, RunConfig)
"""The sections of the candidate scorer."""

RECIPES: dict[str, Recipe] = {
    "imitation": Recipe((*FLAT, ImitationConfig), train_imitation),
    "maskable_ppo": Recipe((*FLAT, OpponentsConfig, ImitationConfig, MaskablePpoConfig), train_maskable_ppo),
    "monte_carlo": Recipe((*FLAT, OpponentsConfig, MonteCarloConfig), train_monte_carlo),
    "ppo": Recipe(
        (GameConfig, EnvConfig, PolicyConfig, EvaluationConfig, CheckpointsConfig, RunConfig, PpoConfig), train_ppo
    ),
    "branching": Recipe((*SCORER, BranchingConfig), train_branching),
    "scorer_ppo": Recipe((*SCORER, SoftCloneConfig, ScorerPpoConfig), train_scorer_ppo),
}


def config_from_dict(data: Mapping[str, Any]) -> Config:
    """A configuration from tables of keys, by section.

    Raises:
        ValueError: a key is unknown, or a value is not what it should be.

    >>> config_from_dict({"maskable_ppo": {"epochs": 0}})
    Traceback (most recent call last):
        ...
    ValueError: maskable_ppo.epochs=0 is out of range: expected 1 to 100
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"{shown(data)} is not a configuration: expected tables of keys")
    run = data.get("run")
    recipe = run.get("recipe", RunConfig.recipe) if isinstance(run, Mapping) else RunConfig.recipe
    if not is_one_of(recipe, RECIPES):
        raise ValueError(f"run.recipe={shown(recipe)} is not a choice: expected {' or '.join(map(repr, RECIPES))}")
    return read_sections(RECIPES[recipe].sections, data)


def load_config(path: Path, overrides: Mapping[str, str] | None = None) -> Config:
    """Read a TOML file and override single keys.

    Args:
        path: the file.
        overrides: values by `section.key`, written as in TOML; quotes around text may be left out.

    Raises:
        ValueError: the file is not TOML, a key is unknown, or a value is not what it should be.
        FileNotFoundError: there is no such file.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a TOML file: {error}") from None
    for name, text in (overrides or {}).items():
        section, _, key = name.partition(".")
        if not key:
            raise ValueError(f"{name!r} is not a key of the configuration: expected section.key, like run.seed")
        keys = data.setdefault(section, {})
        if not isinstance(keys, dict):
            raise ValueError(f"{section}={shown(keys)} is not a section: expected a table of keys")
        keys[key] = override_value(text)
    try:
        return config_from_dict(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def differences(one: Config, other: Config) -> dict[str, tuple[Any, Any]]:
    """The keys in which two configurations differ, by full name, with both values; None where one has no such key."""
    found = {}
    mine, theirs = one.to_dict(), other.to_dict()
    for section, keys in mine.items():
        for key, value in keys.items():
            before = theirs.get(section, {}).get(key)
            if value != before:
                found[f"{section}.{key}"] = (value, before)
    return found
