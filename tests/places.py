"""The folders of the repository, and scripts as modules, for the tests of what is in them."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"


def load_script(name: str) -> ModuleType:
    """Import a script as the module `NAME_script` without running its `main`.

    Args:
        name: of the file below `scripts/`, without `.py`: `"curves"`, `"studies/search_gain"`.
    """
    spec = importlib.util.spec_from_file_location(f"{Path(name).name}_script", SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # kernels look their module up there
    spec.loader.exec_module(module)
    return module
