"""Training: a bot learns from a configuration, in a run folder that it can be taken up again from.

`run.recipe` of the configuration says how. A flat policy learns by `maskable_ppo` (the module `sb3_train`), `clone` or
`deep_monte_carlo` (`monte_carlo`), the candidate scorer by `branching` or `ppo`.
What a run does after any checkpoint depends on nothing but the configuration and what the checkpoint holds, so a run
that was stopped and taken up again ends with the same weights as one that was not.
"""

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from okey_agents.training.config import AnyConfig, TrainConfig, load_config


def train(
    config: Path, run: Path | None = None, resume: bool = False, overrides: Mapping[str, str] | None = None
) -> Path:
    """Train a bot, or go on with a run.

    Args:
        config: a TOML file, see `training_configs/`.
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


def train_config(config: AnyConfig, folder: Path, *, resume: bool = False, console: Console | None = None) -> Path:
    """`train` for a configuration at hand.

    Args:
        config: the configuration.
        folder: the folder of the run.
        resume: go on from the newest whole checkpoint of the folder.
        console: where progress is shown; None: stderr.
    """
    if isinstance(config, TrainConfig):
        return _train_flat(config, folder, resume, console)
    if config.run.recipe == "branching":
        from okey_agents.training.scorer.branching import train_branching

        return train_branching(config, folder, resume=resume, console=console)
    from okey_agents.training.scorer.ppo import train_ppo

    return train_ppo(config, folder, resume=resume, console=console)


def _train_flat(config: TrainConfig, folder: Path, resume: bool, console: Console | None) -> Path:
    """`train_config` for a flat policy; Stable-Baselines3 takes seconds to import."""
    if config.run.recipe == "clone":
        from okey_agents.training.flat.imitation import train_clone

        return train_clone(config, folder, resume=resume, console=console)
    if config.run.recipe == "deep_monte_carlo":
        from okey_agents.training.flat.monte_carlo import train_monte_carlo

        return train_monte_carlo(config, folder, resume=resume, console=console)
    from okey_agents.training.flat.maskable_ppo import train_flat

    return train_flat(config, folder, resume=resume, console=console)
