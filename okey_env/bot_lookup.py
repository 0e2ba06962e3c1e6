"""How a bot is named in text, and how it is found: installed bots, files, modules, folders, networks and programs.

The order in which a text is read:

1. `cmd:./my_bot --level 3`: a program that speaks the protocol of `docs/protocol.md`.
2. The name of an installed bot: an entry point of the group `okey_env.bots`. `./greedy` is the folder or file
   of that name.
3. `my_bot.py` and `my_bot.py:Name`: a Python file, and a class, function or object in it.
4. `policy.onnx`: a network with a manifest beside it.
5. A folder: an exported bot if it has a `bot.json`, otherwise the code in its `bot.py`. `./folder:Name` names
   an object in that `bot.py`.
6. `module:Name`: an object in a module that can be imported, from the current folder too.

Exported folders, networks and programs are read by entry points of the group `okey_env.bot_loaders`, because this
package contains no bots.
"""

import contextlib
import difflib
import functools
import importlib
import importlib.util
import inspect
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import EntryPoint, distributions, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

from okey_env import bot_files
from okey_env.checks import shown

BOTS_GROUP = "okey_env.bots"
"""The entry-point group of bots by name."""
LOADERS_GROUP = "okey_env.bot_loaders"
"""The entry-point group of loaders, which give a bot: `folder` and `onnx` of a path, `command` of a command line."""
BOT_FILE = "bot.json"
"""The file that every folder of an exported bot has."""
CODE_FILE = "bot.py"
"""The file that every folder with the code of a bot has."""
ONNX_FILE = "policy.onnx"
"""The network as ONNX in the folder of an exported bot; alone, it makes a folder a bot."""
COMMAND = "cmd:"
"""What the name of a program begins with."""
PAGE = "docs/write_a_bot.md"
"""The page that says how a bot is written and named."""

_OURS = "okey-env"  # the distribution whose names no other package can take
_SHOWN = 300  # characters of an error that are shown


class Written(NamedTuple):
    """A bot's name, read."""

    kind: Literal["command", "installed", "file", "onnx", "folder", "module"]
    place: str
    """The command line, the installed name, the path or the module."""
    item: str = ""
    """The class, function or object in the file or module; empty: the only one."""


class Found(NamedTuple):
    """What a bot's name stands for."""

    thing: Any
    """A bot, or a function from an observation to an action."""
    name: str
    """The name of the bot in reports, if it has none of its own."""


def read_name(spec: str | Path) -> Written:
    """Read a bot's name without loading the bot.

    Raises:
        ValueError: nothing has that name; the message says what was tried.

    >>> read_name("cmd:./my_bot --level 3").kind, read_name("my_bot.py:Careful").item
    ('command', 'Careful')
    """
    text = os.fspath(spec)
    if not text.strip():
        raise ValueError(_unknown(text))
    if isinstance(spec, str):
        if text.startswith(COMMAND):
            return Written("command", text.removeprefix(COMMAND).strip())
        if _claims(text):
            return Written("installed", text)
    place, item = text, ""
    before, colon, after = text.rpartition(":")
    if colon and all(part.isidentifier() for part in after.split(".")):
        place, item = before, after
    path = Path(place)
    if path.suffix == ".py" and not path.is_dir():
        return Written("file", place, item)
    if path.suffix == ".onnx" and not item and not path.is_dir():
        return Written("onnx", place)
    is_module = bool(item) and all(part.isidentifier() for part in place.split("."))
    if path.is_dir() and not is_module:
        return Written("file", str(path / CODE_FILE), item) if item else Written("folder", place)
    if is_module:
        return Written("module", place, item)
    raise ValueError(_unknown(spec))


def find(spec: str | Path) -> Found:
    """Load what a bot's name stands for.

    Raises:
        ValueError: nothing has that name, or it cannot be loaded; the message names the bot and the reason.
    """
    written = read_name(spec)
    path = Path(written.place)
    match written.kind:
        case "command":
            return Found(_loader("command")(written.place), written.place)
        case "installed":
            claim = _claim(written.place)
            with _loading(f"the bot {written.place!r} of {_origin(claim)}"):
                return Found(_made(claim.load()), written.place)
        case "onnx":
            return Found(_loader("onnx")(path), path.stem)
        case "folder":
            if (path / BOT_FILE).is_file():
                return Found(_loader("folder")(path), path.name)
            if (path / ONNX_FILE).is_file() and not (path / CODE_FILE).is_file():
                return Found(_loader("onnx")(path / ONNX_FILE), path.name)
            if not (path / CODE_FILE).is_file():
                raise ValueError(
                    f"the folder {written.place!r} holds no bot: there is no {BOT_FILE} in it (an exported bot), no "
                    f"{CODE_FILE} (code) and no {ONNX_FILE} (a network); see {PAGE}"
                )
            return _in_file(path / CODE_FILE, "", path.resolve().name)
        case "file":
            return _in_file(path, written.item, path.stem)
    with _loading(f"the bot {written.place}:{written.item}"):
        _look_here_too()
        return Found(_made(_item(importlib.import_module(written.place), written.item)), written.item)


def object_named(text: str) -> Any:
    """The object of `file.py:Name` or `module:Name`, for other things than bots.

    Raises:
        ValueError: the text is of another form, or the object cannot be loaded.

    >>> object_named("math:pi")
    3.141592653589793
    """
    place, colon, item = text.rpartition(":")
    if not colon or not all(part.isidentifier() for part in item.split(".")):
        raise ValueError(f"{text!r} names nothing: expected file.py:Name or module:Name")
    path = Path(place)
    with _loading(repr(text), path):
        if path.suffix == ".py":
            return _item(bot_files.module_of(path), item)
        _look_here_too()
        return _item(importlib.import_module(place), item)


def installed_object(group: str, name: str) -> Any:
    """What the entry point of a name in a group loads; None if there is none.

    Raises:
        ValueError: it cannot be loaded.
    """
    for entry in _entries(group):
        if entry.name == name:
            with _loading(f"{name!r} of {_origin(entry)}"):
                return entry.load()
    return None


def files_of(spec: str | Path) -> list[Path]:
    """The files that a bot is read from, so that a change of the bot can be noticed.

    Returns:
        All files of a folder; the file; the network and its manifest; for a program, those of its words that are
        files. Empty for installed bots.

    Raises:
        ValueError: nothing has that name.
    """
    written = read_name(spec)
    path = Path(written.place)
    found: Iterable[Path]
    match written.kind:
        case "folder":
            found = (file for file in path.rglob("*") if "__pycache__" not in file.parts)
        case "file":
            found = [path]
        case "onnx":
            found = [path, path.with_suffix(".json"), path.with_name(BOT_FILE)]
        case "command":
            found = map(Path, shlex.split(written.place))
        case "module":
            _look_here_too()
            module = None
            with contextlib.suppress(Exception):  # it imports the packages around the module
                module = importlib.util.find_spec(written.place)
            found = [Path(module.origin)] if module is not None and module.origin else []
        case _:
            found = []
    return sorted(file for file in found if file.is_file())


def bot_names() -> list[str]:
    """The names of all installed bots, in order; whether they can be loaded is not tried."""
    return sorted({entry.name for entry in _entries(BOTS_GROUP)})


def broken_bots() -> dict[str, str]:
    """The installed bots that cannot be made, by name, with one line each that says why.

    Each bot is made once to find out. A package whose entry points cannot be read stands under its own name.
    """
    broken = dict(_unreadable())
    for name in bot_names():
        try:
            check_bot(find(name).thing)
        except (ValueError, TypeError) as error:
            broken[name] = str(error)
        else:
            strangers = [entry for entry in _claims(name) if entry.value != _claim(name).value]
            for entry in strangers:
                broken[f"{name} of {_distribution(entry)}"] = (
                    f"{_OURS} has a bot of that name: {_distribution(entry)} has to give its bot another name, and "
                    f"meanwhile {entry.value} names it"
                )
    return broken


def docstring_of(name: str) -> str:
    """What the class or function of an installed bot says about itself; empty if it says nothing."""
    with contextlib.suppress(Exception):
        return (_claim(name).load().__doc__ or "").strip()
    return ""


def check_bot(thing: Any) -> None:
    """Check that something can be asked for moves: `act` and `reset` take one argument.

    Raises:
        TypeError: it cannot; the message says what was expected.
    """
    act, reset = getattr(thing, "act", None), getattr(thing, "reset", None)
    if inspect.iscoroutinefunction(act) or inspect.iscoroutinefunction(thing):
        raise TypeError("it is asynchronous: expected a function that returns the action itself")
    if callable(act):
        if not takes(act, 1):
            raise TypeError(f"its act{_signature(act)} cannot be called as act(observation)")
        if reset is not None and not (callable(reset) and takes(reset, 1)):
            raise TypeError(f"its reset{_signature(reset)} cannot be called as reset(seed)")
    elif isinstance(thing, type) or not callable(thing):
        raise TypeError(f"{shown(thing)} is not a bot: expected an object with act(observation), or a function")
    elif not takes(thing, 1):
        raise TypeError(f"its signature is {_signature(thing)}: expected a function that takes the observation")


def takes(function: Callable[..., Any], count: int) -> bool:
    """Whether a function can be called with so many positional arguments; True if that cannot be told.

    >>> takes(lambda observation: 0, 1), takes(lambda: 0, 1)
    (True, False)
    """
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return True
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


# --- objects in files and modules -----------------------------------------------------------------------------------


def _in_file(path: Path, item: str, name: str) -> Found:
    named = f"{path}:{item}" if item else str(path)
    if not path.is_file():
        raise ValueError(f"there is no file {str(path)!r} with a bot in it; see {PAGE}")
    with _loading(f"the bot {named!r}", path):
        module = bot_files.module_of(path)
        thing = _made(_item(module, item) if item else _only_bot(module, path))
        check_bot(thing)
    return Found(thing, item or name)


def _look_here_too() -> None:
    """Let modules be found in the current folder, after everything that is installed."""
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))


def _item(module: ModuleType, item: str) -> Any:
    thing: Any = module
    for part in item.split("."):
        if not hasattr(thing, part):
            names = [name for name in vars(module) if _looks_like_bot(module, name)]
            raise ValueError(f"there is no {item!r} in it" + (f": expected {' or '.join(names)}" if names else ""))
        thing = getattr(thing, part)
    return thing


def _only_bot(module: ModuleType, path: Path) -> Any:
    """The bot of a file: `bot` if something has that name, otherwise the only class with `act` or function `act`."""
    if "bot" in vars(module):
        return module.bot
    names = [name for name in vars(module) if _looks_like_bot(module, name)]
    if len(names) == 1:
        return getattr(module, names[0])
    if names:
        raise ValueError(f"it has {len(names)} bots: name one of {', '.join(f'{path.name}:{name}' for name in names)}")
    functions = [name for name, value in vars(module).items() if inspect.isfunction(value) and name[0] != "_"]
    hint = f" ({path.name}:{functions[0]} would name a function in it)" if functions else ""
    raise ValueError(
        f"there is no bot in it: expected a class with act(self, observation) or a function act(observation){hint}; "
        f"see {PAGE}"
    )


def _looks_like_bot(module: ModuleType, name: str) -> bool:
    """Whether a name of a module is a class with `act` or the function `act`, defined there."""
    value = vars(module)[name]
    if name[0] == "_" or getattr(value, "__module__", None) != module.__name__:
        return False
    if inspect.isclass(value):
        return callable(getattr(value, "act", None)) and not inspect.isabstract(value)
    return name == "act" and inspect.isfunction(value)


def _made(thing: Any) -> Any:
    """The bot that a class, a function without arguments, a function of the observation, or a bot gives."""
    if isinstance(thing, type):
        if not takes(thing, 0):
            raise TypeError(
                f"{thing.__name__}{_signature(thing)} cannot be made without arguments: give each a default value"
            )
        return thing()
    if inspect.isroutine(thing) and takes(thing, 0) and getattr(thing, "__name__", "") != "act":
        return thing()
    if isinstance(thing, ModuleType):
        raise TypeError(f"the module {thing.__name__} is not a bot: name a class or a function in it, as module:Name")
    return thing


# --- entry points ---------------------------------------------------------------------------------------------------


def _entries(group: str) -> list[EntryPoint]:
    """All entry points of a group, without those of packages whose entry points cannot be read."""
    try:
        return list(entry_points(group=group))
    except Exception:  # one package with a broken file is enough
        return _entries_one_by_one(group, tuple(sys.path))


@functools.lru_cache(maxsize=4)
def _entries_one_by_one(group: str, path: tuple[str, ...]) -> list[EntryPoint]:
    """The entry points of a group, each package read by itself; kept, because this is slow."""
    found: list[EntryPoint] = []
    for distribution in _first_of_each():
        with contextlib.suppress(Exception):
            found += distribution.entry_points.select(group=group)
    return found


def _first_of_each() -> Iterator[Any]:
    """Each installed distribution once: the one that is imported."""
    seen: set[str] = set()
    for distribution in distributions():
        with contextlib.suppress(Exception):
            name = str(distribution.name).lower()
            if name not in seen:
                seen.add(name)
                yield distribution


def _unreadable() -> Iterator[tuple[str, str]]:
    """The packages whose entry points cannot be read, each with the reason."""
    try:
        entry_points(group=BOTS_GROUP)
    except Exception:
        for distribution in _first_of_each():
            try:
                distribution.entry_points.select(group=BOTS_GROUP)
            except Exception as error:
                yield f"({distribution.name})", f"the entry points of {distribution.name} cannot be read: {said(error)}"


def _claims(name: str) -> list[EntryPoint]:
    """The entry points with the name of a bot."""
    return [entry for entry in _entries(BOTS_GROUP) if entry.name == name]


def _claim(name: str) -> EntryPoint:
    """The one entry point of a name: ours, or the only one; those that load the same object count as one."""
    claims = _claims(name)
    ours = [entry for entry in claims if _distribution(entry).lower() == _OURS]
    if not ours and len({entry.value for entry in claims}) > 1:
        both = " and ".join(f"{_distribution(entry)} ({entry.value})" for entry in claims)
        raise ValueError(f"the bot name {name!r} is claimed by {both}: uninstall one, or name one as module:Name")
    return (ours or claims)[0]


def _loader(name: str) -> Callable[[Any], Any]:
    """The loader of a name, whose errors are one sentence."""
    loaders = [entry for entry in _entries(LOADERS_GROUP) if entry.name == name]
    loaders.sort(key=lambda entry: _distribution(entry).lower() != _OURS)  # ours first
    if not loaders:
        raise ValueError(
            f"nothing installed can load it: there is no entry point {name!r} of the group {LOADERS_GROUP}"
        )
    with _loading(f"the loader {name!r} of {_origin(loaders[0])}"):
        load: Callable[[Any], Any] = loaders[0].load()

    def loaded(place: Any) -> Any:
        with _loading(f"the bot {str(place)!r}", plain=True):
            try:
                return load(place)
            except ModuleNotFoundError as error:
                raise ValueError(f"it needs {error.name}, which is not installed") from error

    return loaded


def _origin(entry: EntryPoint) -> str:
    return f"{_distribution(entry)} ({entry.value})"


def _distribution(entry: EntryPoint) -> str:
    try:
        return entry.dist.name if entry.dist is not None else "a package without a name"
    except Exception:
        return "a package without a name"


# --- errors ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _loading(what: str, file: Path | None = None, *, plain: bool = False) -> Iterator[None]:
    """Turn whatever loading raises, `SystemExit` included, into a ValueError of one line.

    Args:
        what: what is loaded.
        file: the file whose line is named.
        plain: a ValueError has a sentence as its text, whoever raised it.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        is_sentence = type(error) is ValueError and (plain or _raised_here(error))
        if is_sentence and "cannot be loaded" in str(error):
            raise
        is_sentence = is_sentence or (type(error) is TypeError and _raised_here(error))
        reason = str(error) if is_sentence else said(error, file)
        raise ValueError(f"{what} cannot be loaded: {reason}") from error


def _raised_here(error: BaseException) -> bool:
    """Whether this package raised the error, so that its text is a sentence already."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and Path(frames[-1].filename).parent == Path(__file__).parent


def said(error: BaseException, file: Path | None = None) -> str:
    """An exception in one line: its type, its text, and the line of a file where it was raised.

    >>> said(KeyError("B9"))
    "KeyError: 'B9'"
    """
    try:
        text = " ".join(str(error).split())
    except BaseException:
        text = "(its text raises an error of its own)"
    if isinstance(error, SyntaxError) or file is None:
        place = ""
    else:
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if Path(frame.filename).resolve() == file.resolve()
        ]
        place = f" ({file.name}, line {lines[-1]})" if lines else ""
    return f"{type(error).__name__}: {text[:_SHOWN]}{place}" if text else f"{type(error).__name__}{place}"


def _unknown(spec: str | Path) -> str:
    text = os.fspath(spec)
    names = bot_names()
    file = Path(text).with_suffix(".py") if Path(text).name not in ("", ".", "..") else Path(text)
    if file.is_file():
        return f"there is no bot {text!r}; did you mean the file {str(file)!r}?"
    if Path(text).is_file():
        command = text if os.sep in text else f".{os.sep}{text}"
        return f"the file {text!r} is neither Python (.py) nor a network (.onnx): a program is named {COMMAND}{command}"
    if isinstance(spec, Path) or os.sep in text or "/" in text:
        return f"there is no folder {text!r}, and no file: see {PAGE} for the ways to name a bot"
    if not names:
        return f"there is no bot {text!r}: no installed package offers any (is okey-env itself installed?)"
    near = difflib.get_close_matches(text, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    return (
        f"there is no bot {text!r}, and no such file or folder: known bots are {', '.join(names)}{hint} "
        f"A file, a module:Name or a program can be named too: see {PAGE}"
    )


def _signature(function: Any) -> str:
    try:
        return str(inspect.signature(function))
    except (ValueError, TypeError):
        return " (which is no function)"
