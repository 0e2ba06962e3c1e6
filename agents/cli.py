"""The command `okey`: train, export, evaluate, bots, rules, bench.

A mistake of the user's ends in one sentence on stderr and exit status 1. With `OKEY_TRACEBACK=1` the traceback is
shown instead. Modules are imported when their command runs, so that `okey rules` does not wait for a compiler.
"""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import tyro

from okey_env.rules import PRESETS, Rules, as_rules

_TRAINING_PACKAGES = ("torch", "stable_baselines3", "sb3_contrib", "tensorboard", "onnx", "onnxscript", "onnxruntime")

Switches = Annotated[tuple[str, ...], tyro.conf.arg(name="set", metavar="SWITCH=VALUE"), tyro.conf.UseAppendAction]
"""Rules otherwise than the preset has them; may be given several times."""
Settings = Annotated[tuple[str, ...], tyro.conf.arg(name="set", metavar="KEY=VALUE"), tyro.conf.UseAppendAction]
"""Keys of a configuration otherwise than its file has them; may be given several times."""
BotName = Annotated[str, tyro.conf.arg(metavar="BOT"), tyro.conf.Positional]
BotNames = Annotated[tuple[str, ...], tyro.conf.arg(metavar="BOT [BOT BOT]"), tyro.conf.Positional]


def train(
    config: tyro.conf.Positional[Path],
    run: Path | None = None,
    resume: bool = False,
    settings: Settings = (),
) -> None:
    """Train an agent as a configuration says.

    Args:
        config: the TOML file, like training_configs/smoke.toml.
        run: folder for checkpoints and logs.
        resume: go on from the last checkpoint of that folder.
        settings: a key of the configuration set otherwise, like ppo.learning_rate=1e-4; may be repeated.
    """
    from .learned.train import train as train_agent

    _say(f"trained: {train_agent(config, run, resume, overrides=_pairs(settings))}")


def export(run: tyro.conf.Positional[Path], folder: tyro.conf.Positional[Path]) -> None:
    """Export a trained agent as a bot that plays without the trainer.

    Args:
        run: folder of the training.
        folder: folder to write the bot to.
    """
    from .learned.export import export as export_bot

    _say(f"exported: {export_bot(run, folder)}")


def evaluate(
    challenger: BotName,
    opponents: BotNames,
    deals: int = 1_000,
    rules: str = "gamelake",
    switches: Switches = (),
    seed: int = 0,
    workers: int | None = None,
    json: Path | None = None,
) -> None:
    """Measure a bot against others: the same deals in every seat, 95 % intervals.

    Args:
        challenger: a bot's name (see `okey bots`) or the folder of an exported bot.
        opponents: one, for the three other seats, or three.
        deals: how many; each is four rounds, the challenger in every seat.
        rules: preset of the rules.
        switches: a switch of the rules set otherwise, like stock_end=next_may_take; may be repeated.
        seed: settles deals and bots; the same seed gives the same numbers.
        workers: processes; by default as many as pay.
        json: file to write all numbers to.
    """
    from rich.console import Console

    from .evaluate.arena import evaluate as run_evaluation

    if json is not None and not json.parent.is_dir():  # before the work, not after it
        raise ValueError(f"--json: there is no folder {str(json.parent)!r}")
    table = _rules(rules, switches)
    report = run_evaluation(challenger, opponents, deals, table, seed, workers, progress=True)
    if json is not None:
        report.write_json(json)
    report.print(Console())


def bots() -> None:
    """List the bots that are installed."""
    from rich.console import Console
    from rich.table import Table

    from okey_env.bots import bot_names, make_bot

    table = Table("name", "what it is")
    for name in bot_names():
        try:
            what = (type(make_bot(name)).__doc__ or "").strip().partition("\n")[0]
        except ValueError as error:
            what = f"[red]{error}[/red]"
        table.add_row(name, what)
    Console().print(table)


def rules(preset: tyro.conf.Positional[str] = "gamelake", switches: Switches = ()) -> None:
    """Print the rule sheet of a preset.

    Args:
        preset: gamelake or klasik.
        switches: a switch of the rules set otherwise, like stock_end=next_may_take; may be repeated.
    """
    _say(_rules(preset, switches).describe())


def bench(json: Path | None = None, quick: bool = False) -> None:
    """Measure the speed of the engine, the environments and the hand solver.

    Args:
        json: file to write all numbers to.
        quick: a tenth of the time, for a first look.
    """
    from .bench import run

    run(json, seconds=0.1 if quick else 1.0)


_COMMANDS: dict[str, Callable[..., Any]] = {
    "train": train,
    "export": export,
    "evaluate": evaluate,
    "bots": bots,
    "rules": rules,
    "bench": bench,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; `arguments` stand in for those of the process."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        _say(f"okey-env {metadata.version('okey-env')}")
        return
    try:
        tyro.extras.subcommand_cli_from_dict(_COMMANDS, prog="okey", args=given or ["--help"])
    except KeyboardInterrupt:
        sys.exit(130)  # as shells say it
    except (ValueError, OSError, ModuleNotFoundError) as error:
        sentence = _sentence(given[0], error)
        if sentence is None or os.environ.get("OKEY_TRACEBACK"):
            raise
        print(f"okey: {sentence}", file=sys.stderr)
        sys.exit(1)


def _sentence(command: str, error: Exception) -> str | None:
    """What the user is told; None: it is our mistake, and the traceback says more."""
    if isinstance(error, ModuleNotFoundError):
        if (error.name or "").partition(".")[0] not in _TRAINING_PACKAGES:
            return None
        return f"`okey {command}` needs {error.name}, which is not installed: pip install 'okey-env[train]'"
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _rules(preset: str, switches: Sequence[str]) -> Rules:
    """The rules of a preset with switches set as text."""
    if preset not in PRESETS:
        raise ValueError(f"{preset!r} is not a preset: expected {' or '.join(map(repr, PRESETS))}")
    return as_rules({"preset": preset, **{name: _value(name, text) for name, text in _pairs(switches).items()}})


def _pairs(settings: Sequence[str]) -> dict[str, str]:
    """Texts `name=value` as a dictionary."""
    pairs = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name:
            raise ValueError(f"--set {setting}: expected a name and a value, like stock_end=next_may_take")
        pairs[name.strip()] = text.strip()
    return pairs


def _value(switch: str, text: str) -> Any:
    """The value of a switch as its default has it: true or false, a whole number, or a word; Rules checks it."""
    default = getattr(Rules(), switch, None)
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text.lower(), text)
    try:
        return int(text) if isinstance(default, int) else text
    except ValueError:
        return text


def _say(text: str) -> None:
    print(text)
