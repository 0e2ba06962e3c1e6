"""The command `okey`: finds the verb among `commands`, reads its arguments and runs it.

A command line that cannot be read ends with exit status 2. Any other mistake of the user ends with one sentence on
stderr and exit status 1; with `OKEY_TRACEBACK=1` a traceback is shown instead. A verb's module is imported only when it
is asked for, so that `okey rules` does not wait for the compiler.
"""

import argparse
import difflib
import importlib
import os
import pkgutil
import sys
import warnings
from collections.abc import Sequence
from importlib import metadata
from typing import NoReturn, Protocol, cast

from okey_agents import commands
from okey_agents.console import plain_streams, printable
from okey_agents.errors import BotFailureError, BotWarning

_TRAINING_PACKAGES = ("torch", "stable_baselines3", "sb3_contrib", "tensorboard", "onnx", "onnxscript", "onnxruntime")


class _Verb(Protocol):
    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace) -> int: ...


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line.

    Args:
        arguments: the words after `okey`; None: those of this process.

    Raises:
        SystemExit: the exit status is not 0, or help was asked for.
    """
    plain_streams()
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        _main(given)
        if sys.stdout is not None:
            sys.stdout.flush()  # here, so that a closed pipe is noticed before Python ends
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)  # as shells report a pipe whose reader has gone: `okey bots | head -1`


def _main(given: Sequence[str]) -> None:
    if not given or given[0] in ("-h", "--help"):
        print(_overview())
        return
    if given == ["--version"]:
        print(f"okey-env {metadata.version('okey-env')}")
        return
    verb, *rest = given
    if verb not in _verbs():
        near = difflib.get_close_matches(verb, _verbs(), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f": expected {', '.join(_verbs())}"
        print(f"okey: there is no verb {verb!r}{hint}", file=sys.stderr)
        sys.exit(2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BotWarning)  # what is printed says it
            status = _run(verb, rest)
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        sys.exit(130)  # as shells report an interrupt
    except (ValueError, OSError, ModuleNotFoundError, BotFailureError) as error:
        sentence = _sentence(verb, error)
        if sentence is None or os.environ.get("OKEY_TRACEBACK"):
            raise
        print(f"okey: {printable(sentence)}", file=sys.stderr)
        sys.exit(1)
    if status:
        sys.exit(status)


class _Parser(argparse.ArgumentParser):
    """Says in one sentence what is wrong with a command line, without the whole usage before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} ({self.prog} --help says more)\n")


def _run(name: str, arguments: Sequence[str]) -> int:
    verb = _import(name)
    parser = _Parser(prog=f"okey {name}", description=f"{verb.HELP[0].upper()}{verb.HELP[1:]}.")
    verb.add_arguments(parser)
    return verb.run(parser.parse_intermixed_args(arguments))  # allows options anywhere among the names


def _verbs() -> list[str]:
    """The names of the verbs, which are those of their files: `new_bot.py` is `okey new-bot`."""
    return sorted(
        module.name.replace("_", "-") for module in pkgutil.iter_modules(commands.__path__) if module.name[0] != "_"
    )


def _import(name: str) -> _Verb:
    return cast(_Verb, importlib.import_module(f"{commands.__name__}.{name.replace('-', '_')}"))


def _overview() -> str:
    """The text of `okey --help`."""
    width = max(map(len, _verbs()))
    lines = [f"  {name:{width}}  {_import(name).HELP}" for name in _verbs()]
    return "\n".join(["usage: okey VERB …   (okey VERB --help says more; okey --version)", "", *lines])


def _sentence(command: str, error: Exception) -> str | None:
    """The sentence for the user; None: the error is a bug, for which the traceback is shown."""
    if isinstance(error, ModuleNotFoundError):
        if (error.name or "").partition(".")[0] not in _TRAINING_PACKAGES:
            return None
        return f"`okey {command}` needs {error.name}, which is not installed: pip install 'okey-env[train]'"
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)
