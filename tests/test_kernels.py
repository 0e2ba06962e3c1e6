"""What is particular about how kernels are compiled and kept."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from okey_env import derive_seed

CALL = "import okey_env; print(okey_env.derive_seed(1, 2))"  # a kernel that compiles in no time


def run(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CALL], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_compiling_is_announced_once_and_kept_for_the_next_process(tmp_path: Path) -> None:
    kept = {"NUMBA_CACHE_DIR": str(tmp_path)}
    first = run(kept)
    assert first.returncode == 0, first.stderr
    assert first.stderr.splitlines() == ["okey-env: compiling kernels (once; kept on disk for next time) …"]
    second = run(kept)
    assert (second.returncode, second.stderr, second.stdout) == (0, "", first.stdout)


def test_nowhere_to_write_is_no_reason_to_fail(tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("not a folder")
    done = run({"NUMBA_CACHE_DIR": str(blocked), "HOME": str(blocked), "XDG_CACHE_HOME": str(blocked)})
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == derive_seed(1, 2)
