"""What a bot is, as a short text that is the same in every process: for state files, which must not mix up two bots.

A bot of this package is its name, since the header of a state file has the commit. Any other is its name with a digest
of what it does: the files of a folder, the code, defaults and captured values of a function, the methods and attributes
of a class or an object. Two functions of one name that do different things differ.
"""

import contextlib
import hashlib
import inspect
import os
import sysconfig
import types
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np

from okey_env.bots import BOTS_GROUP, BotSpec, files_of

_OURS = ("okey_env", "okey_agents")
_DEEPEST = 30
_PLAIN = (str, bytes, int, float, complex, bool, type(None), type(Ellipsis))


def identity_of(spec: BotSpec) -> str:
    """What tells a bot from others.

    Raises:
        ValueError: something in the bot has no content that can be read, so two of its kind cannot be told apart.
    """
    if isinstance(spec, str | Path):
        return _of_name(spec)
    name = getattr(spec, "__qualname__", None) or type(spec).__qualname__
    if _is_ours(spec) and isinstance(spec, type | types.FunctionType):
        return f"{spec.__module__}.{name}"
    try:
        return f"{name} {_digest(_parts(spec, ()))}"
    except _UnreadableError as error:
        raise ValueError(
            f"the bot {name!r} holds {error}, whose content cannot be read: give a name, folder, class or function"
        ) from None


class _UnreadableError(Exception):
    """Something has no content that can be read."""


def _of_name(spec: str | Path) -> str:
    files = files_of(spec)
    if files:
        path = Path(spec)
        whole = path.is_dir()
        names = [file.relative_to(path).as_posix() if whole else file.name for file in files]
        parts = (f"{name} ".encode() + file.read_bytes() for name, file in zip(names, files, strict=True))
        return f"{path.name if whole else spec} {_digest(parts)}"
    entries = list(entry_points(group=BOTS_GROUP, name=str(spec))) if isinstance(spec, str) else []
    if entries and entries[0].value.split(".", 1)[0].split(":", 1)[0] not in _OURS:
        return f"{spec} {_digest(_parts(entries[0].load(), ()))}"
    return str(spec)


def _digest(parts: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()[:16]


def _is_ours(thing: Any) -> bool:
    return str(getattr(thing, "__module__", "")).split(".", 1)[0] in _OURS


def _parts(thing: Any, above: tuple[int, ...]) -> Iterator[bytes]:
    """What a thing is made of, depth first; `above` are the things that hold it, so that a circle ends."""
    yield type(thing).__qualname__.encode()
    if id(thing) in above or len(above) > _DEEPEST:
        return
    inside = (*above, id(thing))
    if isinstance(thing, _PLAIN):
        yield repr(thing).encode()
    elif isinstance(thing, types.ModuleType):
        yield from _of_module(thing)
    elif isinstance(thing, types.CodeType):
        yield thing.co_code
        yield from _all((thing.co_names, thing.co_varnames[: thing.co_argcount], thing.co_consts), inside)
    elif isinstance(thing, types.FunctionType):
        yield from _of_function(thing, inside)
    elif isinstance(thing, types.MethodType):
        yield from _all((thing.__func__, thing.__self__), inside)
    elif isinstance(thing, types.BuiltinFunctionType | types.WrapperDescriptorType | types.MethodDescriptorType):
        yield f"{thing.__module__ if hasattr(thing, '__module__') else ''}.{thing.__qualname__}".encode()
    elif isinstance(thing, type):
        yield from _of_class(thing, inside)
    elif isinstance(thing, property | staticmethod | classmethod):
        inner = (thing.fget, thing.fset) if isinstance(thing, property) else (thing.__func__,)
        yield from _all(inner, inside)
    elif isinstance(thing, np.ndarray | np.generic):
        array = np.asarray(thing)
        yield f"{array.dtype} {array.shape}".encode()
        yield from _all(array.tolist(), inside) if array.dtype.hasobject else iter((array.tobytes(),))
    elif isinstance(thing, Mapping):
        yield from _sorted(thing.items(), inside)
    elif isinstance(thing, set | frozenset):
        yield from _sorted(thing, inside)
    elif isinstance(thing, list | tuple):
        yield from _all(thing, inside)
    elif isinstance(thing, np.random.Generator):
        return  # where it stands is settled by the reset
    elif isinstance(thing, Path):
        yield str(thing).encode()
    else:
        yield from _of_object(thing, inside)


def _all(things: Any, above: tuple[int, ...]) -> Iterator[bytes]:
    for thing in things:
        yield from _parts(thing, above)


def _sorted(things: Any, above: tuple[int, ...]) -> Iterator[bytes]:
    """Things whose order means nothing, in the order of their digests."""
    yield from sorted(_digest(_parts(thing, above)).encode() for thing in things)


def _of_function(function: Any, above: tuple[int, ...]) -> Iterator[bytes]:
    if _is_ours(function):
        yield f"{function.__module__}.{function.__qualname__}".encode()
        return
    yield from _parts(function.__code__, above)
    yield from _all((function.__defaults__, function.__kwdefaults__), above)
    for cell in function.__closure__ or ():
        yield from _parts(_content(cell), above)
    for name in _names(function.__code__):
        if name in function.__globals__:
            yield name.encode()
            yield from _parts(function.__globals__[name], above)


def _names(code: types.CodeType) -> list[str]:
    """The global names that a function and the functions inside it may read."""
    inner = [name for const in code.co_consts if isinstance(const, types.CodeType) for name in _names(const)]
    return sorted({*code.co_names, *inner})


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return None


def _of_module(module: types.ModuleType) -> Iterator[bytes]:
    """A module: its name, and its text if the user wrote it, since a function of it may be what the bot plays by."""
    yield module.__name__.encode()
    file = getattr(module, "__file__", None)
    if file and not _is_installed(file) and module.__name__.split(".", 1)[0] not in _OURS:
        with contextlib.suppress(OSError):
            yield Path(file).read_bytes()


def _is_installed(file: str) -> bool:
    folders = (sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib"))
    return "site-packages" in Path(file).parts or any(file.startswith(f"{folder}{os.sep}") for folder in folders)


def _of_class(kind: type, above: tuple[int, ...]) -> Iterator[bytes]:
    yield f"{kind.__module__}.{kind.__qualname__}".encode()
    if _is_ours(kind) or kind.__module__ == "builtins" or not _is_own(kind):
        return
    yield from _all(kind.__bases__, above)
    for name, value in sorted(vars(kind).items()):
        if name not in ("__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__", "__static_attributes__"):
            yield name.encode()
            yield from _parts(value, above)


def _is_own(kind: Callable[..., Any]) -> bool:
    """Whether a class was written in Python by the user, and not installed: an installed one is its name."""
    try:
        file = inspect.getsourcefile(kind)
    except (TypeError, OSError):
        return getattr(kind, "__module__", "") == "__main__"
    return file is None or "site-packages" not in Path(file).parts


def _of_object(thing: Any, above: tuple[int, ...]) -> Iterator[bytes]:
    """An object: its class and its attributes; tensors and the like by the array that they give."""
    if type(thing).__module__.startswith("torch"):
        array = getattr(thing, "detach", None)
        if array is not None:
            yield from _parts(thing.detach().cpu().numpy(), above)
            return
    yield from _parts(type(thing), above)
    if _is_ours(type(thing)):  # it has room to work in, which changes with every move
        yield from _all((getattr(thing, "name", None), getattr(thing, "manifest", None)), above)
        return
    state = {**getattr(thing, "__dict__", {})}
    for kind in type(thing).__mro__:
        slots = vars(kind).get("__slots__", ())
        state |= {
            name: getattr(thing, name)
            for name in ([slots] if isinstance(slots, str) else slots)
            if hasattr(thing, name)
        }
    if not state:
        try:
            reduced = thing.__reduce_ex__(4)
        except Exception:
            raise _UnreadableError(f"a {type(thing).__qualname__}") from None
        yield from _all(reduced if isinstance(reduced, tuple) else (reduced,), above)
        return
    yield from _parts(state, above)
