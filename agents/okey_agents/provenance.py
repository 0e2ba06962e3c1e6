"""Where a number comes from: commit, versions and command line, which every report contains."""

import datetime
import platform
import shlex
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = ("okey-env", "numpy", "numba", "gymnasium", "pettingzoo")
_ROOT = Path(__file__).resolve().parents[2]  # of the checkout, where it is one: agents/okey_agents/ lies in it


def provenance() -> dict[str, Any]:
    """Date, commit, versions, command line and processor, as plain data."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "versions": versions(),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "machine": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str | None]:
    """The versions of Python and of the packages that results may depend on; None: not installed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def commit() -> str | None:
    """The commit of the checkout that holds this package, with a final `+` if files differ; None: no checkout."""
    top = _git("rev-parse", "--show-toplevel")
    head = _git("rev-parse", "HEAD")
    if top is None or head is None or Path(top).resolve() != _ROOT:  # installed, perhaps inside another checkout
        return None
    return head + ("+" if _git("status", "--porcelain") else "")


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(_ROOT), *arguments], capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
