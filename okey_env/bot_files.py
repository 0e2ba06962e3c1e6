"""Python files from anywhere as modules: bots in files that are not installed.

The file `/home/a/my_bot.py` becomes the module `okey_env.bot_files.my_bot_<its path in hexadecimal>`. The name says
where the file is, so any process can import the module by its name alone: objects of its classes can be pickled and
sent to workers. A file never replaces another module, whatever it is called. A file that was edited is loaded anew.

The folder of the file is put at the end of `sys.path`, so the file can import helpers that lie beside it, but a helper
called `random.py` hides nothing.
"""

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, ModuleType

__path__: list[str] = []  # makes this module a package, so that its submodules are looked for by `_Finder`

_sources: dict[str, bytes] = {}  # the source of each module that was loaded from a file, by the module's name
_folders: list[str] = []  # the folders that were put on `sys.path`


def module_of(path: Path) -> ModuleType:
    """The module of a Python file.

    Args:
        path: the file; a relative path counts from the current folder.

    Raises:
        ValueError: there is no such file.
        BaseException: whatever the file raises when it is run.
    """
    path = path.resolve()
    if not path.is_file():
        raise ValueError(f"there is no file {str(path)!r}")
    name = f"{__name__}.{path.stem if path.stem.isidentifier() else 'file'}_{os.fsencode(path).hex()}"
    if name in sys.modules and _sources.get(name) != path.read_bytes():
        del sys.modules[name]
    return importlib.import_module(name)


def path_of(module: str) -> Path | None:
    """The file of a module by the module's name; None: it is not a module of this kind.

    >>> path_of("okey_env.bot_files.my_bot_2f746d702f6d795f626f742e7079").as_posix()
    '/tmp/my_bot.py'
    """
    parent, _, name = module.rpartition(".")
    if parent != __name__:
        return None
    try:
        return Path(os.fsdecode(bytes.fromhex(name.rpartition("_")[2])))
    except ValueError:
        return None


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles the file each time: a cache beside it could be older than a quick edit, and would litter the folder."""

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_data(self.path)
        _sources[fullname] = source
        code: CodeType = self.source_to_code(source, self.path)
        return code

    def exec_module(self, module: ModuleType) -> None:
        with _beside(Path(self.path).parent):
            super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        file = path_of(fullname)
        if file is None:
            return None
        return importlib.util.spec_from_file_location(fullname, file, loader=_Loader(fullname, str(file)))


@contextlib.contextmanager
def _beside(folder: Path) -> Iterator[None]:
    """Let a file import what lies in its folder, and not what another bot's folder has under the same name."""
    own = str(folder)
    others = [other for other in _folders if other != own]
    strangers = {
        name: module
        for name, module in list(sys.modules.items())
        if str(Path(getattr(module, "__file__", None) or "/").parent) in others and path_of(name) is None
    }
    for name in strangers:
        del sys.modules[name]
    if own not in sys.path:
        sys.path.append(own)
        _folders.append(own)
    if own in _folders:  # before the folders of other bots
        sys.path[:] = [place for place in sys.path if place not in _folders] + [own, *others]
    try:
        yield
    finally:
        for name, module in strangers.items():
            sys.modules.setdefault(name, module)


sys.meta_path.append(_Finder())
