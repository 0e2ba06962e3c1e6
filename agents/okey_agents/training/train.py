"""Training: a bot learns from a configuration, in the folder of a run from which it can be resumed.

`run.recipe` of the configuration names the algorithm; `training.recipes` lists them. What a run does after a checkpoint
depends on nothing but the configuration and what the checkpoint holds, so a run that was stopped and resumed ends with
the same weights as one that was not.
"""

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from okey_agents.console import PlainConsole
from okey_agents.training.recipes import RECIPES, load_config
from okey_agents.training.schema import Config
from okey_agents.training.sections import RunConfig
from okey_env.files import alone_with


def train(
    config: Path, run: Path | None = None, resume: bool = False, overrides: Mapping[str, str] | None = None
) -> Path:
    """Train a bot, or resume a run.

    Args:
        config: a TOML file like those in `training_configs/`.
        run: the folder of the run; None: `runs/` and the name of the file.
        resume: go on from the newest whole checkpoint of the folder.
        overrides: values of single keys, by `section.key`.

    Returns:
        The folder of the run.

    Raises:
        ValueError: the configuration is wrong, or does not fit the folder.
    """
    settings = load_config(config, overrides)
    folder = run if run is not None else Path("runs") / config.stem
    return train_config(settings, folder, resume=resume)


def train_config(config: Config, folder: Path, *, resume: bool = False, console: Console | None = None) -> Path:
    """Train a bot by a configuration at hand, or resume its run.

    Args:
        config: the configuration.
        folder: the folder of the run.
        resume: go on from the newest whole checkpoint of the folder.
        console: where progress is shown; None: stderr.

    Returns:
        The folder of the run.

    Raises:
        ValueError: the configuration does not fit the folder.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with alone_with(folder, "training"):
        RECIPES[config[RunConfig].recipe].train(config, folder, resume, console or PlainConsole(stderr=True))
    return folder
