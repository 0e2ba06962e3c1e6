"""What is particular about how kernels are compiled and kept."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import numpy.typing as npt
import pytest
from numba.core.errors import NumbaError

from okey_env import SelfPlay
from okey_env.engine import _jit
from okey_env.engine._jit import kernel
from okey_env.engine.random import mix
from okey_env.engine.words import scratch

# a kernel that compiles in no time, in a module that needs no other
CALL = "import numpy as np; from okey_env.engine.random import mix; print(mix(np.uint64(1)))"


def run(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CALL], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


@pytest.mark.heavy
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_compiling_is_announced_once_and_kept_for_the_next_process(tmp_path: Path) -> None:
    kept = {"NUMBA_CACHE_DIR": str(tmp_path)}
    first = run(kept)
    assert first.returncode == 0, first.stderr
    assert first.stderr.splitlines() == ["okey-env: compiling kernels (once; kept on disk for next time) ..."]
    second = run(kept)
    assert (second.returncode, second.stderr, second.stdout) == (0, "", first.stdout)


def test_nowhere_to_write_is_no_reason_to_fail(tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("not a folder")
    done = run({"NUMBA_CACHE_DIR": str(blocked), "HOME": str(blocked), "XDG_CACHE_HOME": str(blocked)})
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == mix(np.uint64(1))


@kernel(borrows=True)
def sum_of_new(size: int) -> float:
    return float(np.ones(size).sum())


@kernel(borrows=True)
def sum_of_part(rows: npt.NDArray[np.int64], i: int) -> int:
    squares = scratch(3)
    for place, number in enumerate(rows[i]):
        squares[place] = number * number
    return int(squares.sum())


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_a_kernel_that_makes_an_array_cannot_borrow() -> None:
    with pytest.raises(NumbaError, match="Only accept returning of array passed into the function"):
        sum_of_new(3)


def test_a_borrowing_kernel_has_parts_of_arrays_and_a_scratch_of_its_own() -> None:
    rows = np.arange(6).reshape(2, 3)
    assert [sum_of_part(rows, i) for i in (0, 1, 0)] == [5, 50, 5]


BASE = """
from okey_env import SelfPlay
from okey_env.engine import _jit
from okey_env.engine._jit import kernel

@kernel
def twice(number):
    return 2 * number
"""
ABOVE = """
from {below}.base import twice
from okey_env import SelfPlay
from okey_env.engine import _jit
from okey_env.engine._jit import kernel

@kernel
def four_times(number):
    return twice(twice(number))
"""
CONSTANTS = """
from pathlib import Path
import numba
import numpy as np
from okey_env import SelfPlay
from okey_env.engine import _jit
from okey_env.engine._jit import kernel

NUMBERS = np.load(Path(__file__).with_suffix(".npz"))["numbers"]

@kernel
def total(factor):
    return factor * NUMBERS.sum()
"""


@pytest.mark.heavy
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
@pytest.mark.parametrize("below", ["high", "okey_agents"])
def test_an_edit_is_noticed_in_what_stands_on_it_and_compiles_nothing_else(below: str, tmp_path: Path) -> None:
    """In its own package, and in ours: here a package that happens to be called `okey_agents`."""
    for package in {"high", below}:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("")
    base, above, other = tmp_path / below / "base.py", tmp_path / "high" / "above.py", tmp_path / below / "other.py"
    base.write_text(BASE)
    above.write_text(ABOVE.format(below=below))
    other.write_text("NUMBER = 1")
    code = "from high.above import four_times; print(four_times(3), sum(four_times.stats.cache_misses.values()))"

    def answer() -> list[str]:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": str(tmp_path)}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path)
        return done.stdout.split()

    assert answer() == ["12", "1"]
    other.write_text("NUMBER = 2")
    assert answer() == ["12", "0"]
    base.write_text(BASE.replace("2 * number", "3 * number"))
    assert answer() == ["27", "1"]


@pytest.mark.heavy
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_arrays_beside_a_module_are_part_of_it(tmp_path: Path) -> None:
    """A kernel keeps the arrays that its module read as constants: new ones compile it anew."""
    (tmp_path / "high").mkdir()
    (tmp_path / "high" / "__init__.py").write_text("")
    (tmp_path / "high" / "sums.py").write_text(CONSTANTS)
    code = "from high.sums import total; print(total(2), sum(total.stats.cache_misses.values()))"

    def answer(*numbers: int) -> list[str]:
        np.savez(tmp_path / "high" / "sums.npz", numbers=np.array(numbers))
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": str(tmp_path)}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path)
        return done.stdout.split()

    assert answer(1, 2) == ["6", "1"]
    assert answer(1, 2) == ["6", "0"]
    assert answer(1, 4) == ["10", "1"]


def test_threads_of_the_process_are_as_many_as_before() -> None:
    """A batch on two threads leaves the setting of other users of numba alone."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        games = SelfPlay(8, seed=1, num_threads=min(2, os.cpu_count() or 1))
        games.reset()
        games.step(games.masks.argmax(axis=1))
        assert numba.get_num_threads() == 1
    finally:
        numba.set_num_threads(before)


def test_old_kernels_that_another_process_removes_do_not_cost_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = tmp_path / "okey-env"
    for name in ("one", "two"):
        (kernels / name).mkdir(parents=True)
        os.utime(kernels / name, (0, 0))
    folders = list(kernels.iterdir())

    def remove_all(folder: Path, ignore_errors: bool) -> None:
        for path in folders:
            path.rmdir()

    monkeypatch.setattr("shutil.rmtree", remove_all)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert _jit._cache_folder.__wrapped__("okey_env.engine.random") is not None
    assert not any(folder.exists() for folder in folders)


@pytest.mark.heavy
@pytest.mark.parametrize("damage", ["empty", "cut", "garbage", "one bit", "a folder"])
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_damaged_cache_is_compiled_anew(damage: str, suffix: str, tmp_path: Path) -> None:
    settings = {"NUMBA_CACHE_DIR": str(tmp_path)}
    first = run(settings)
    kept = sorted((tmp_path / "okey-env").rglob(f"*{suffix}"))
    assert kept
    for path in kept:
        data = bytearray(path.read_bytes())
        if damage == "a folder":
            path.unlink()
            path.mkdir()
            continue
        if damage == "one bit":
            data[len(data) // 2] ^= 4
        cut = bytes(data[: len(data) // 2])
        path.write_bytes({"empty": b"", "cut": cut, "garbage": b"nonsense" * 40}.get(damage, bytes(data)))
    again = run(settings)
    assert (again.returncode, again.stdout) == (0, first.stdout), again.stderr
    assert len(again.stderr.splitlines()) <= 1
    third = run(settings)
    assert (third.returncode, third.stdout, third.stderr) == (0, first.stdout, "")


@pytest.mark.heavy
def test_without_a_home_nothing_is_kept_and_it_says_so_once() -> None:
    """A user that the system does not know, without HOME: `Path.home` has no answer."""
    homeless = "from pathlib import Path\ndef home(): raise RuntimeError\nPath.home = home\n" + CALL
    environment = {
        name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    }
    ran = subprocess.run([sys.executable, "-c", homeless], capture_output=True, text=True, check=False, env=environment)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == "okey-env: compiling kernels (kept nowhere: no cache can be written) ...\n"
