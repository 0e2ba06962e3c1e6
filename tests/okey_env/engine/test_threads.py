"""Threads of games beside threads and forks of Python: nothing ends the process."""

import os
import subprocess
import sys

import pytest

from tests.places import ROOT

FORK = """
import os
from okey_env import SelfPlay
def play():
    games = SelfPlay(8, num_threads=2, seed=1)
    games.reset()
    for _ in range(5):
        games.step(games.masks.argmax(axis=1))
play()
child = os.fork()
if child == 0:
    SelfPlay(4, seed=1).reset()  # one thread is fine
    try:
        play()
    except RuntimeError as error:
        print(error, flush=True)
        os._exit(0)
    os._exit(1)
play()  # and the parent goes on
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

TWO = """
import threading
from okey_env import SelfPlay
ends = []
def play():
    games = SelfPlay(64, num_threads=2, seed=1)
    games.reset()
    for _ in range(300):
        games.step(games.masks.argmax(axis=1))
    ends.append(int(games.masks.sum()))
threads = [threading.Thread(target=play) for _ in range(2)]
[one.start() for one in threads]
[one.join() for one in threads]
print(len(ends), len(set(ends)))
"""


def said_by(code: str, **settings: str) -> str:
    path = os.pathsep.join((str(ROOT), str(ROOT / "agents")))
    environment = {**os.environ, "PYTHONPATH": path, **settings}
    ran = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.heavy
@pytest.mark.skipif(not hasattr(os, "fork") or os.cpu_count() == 1, reason="needs fork and two cores")
def test_a_fork_after_threads_is_told_instead_of_killed() -> None:
    sentence, status = said_by(FORK).splitlines()
    assert sentence.startswith(
        "num_threads=2 in a process that was forked from one whose games had used threads: start"
    )
    assert status == "0"


@pytest.mark.heavy
@pytest.mark.skipif(os.cpu_count() == 1, reason="needs two cores")
@pytest.mark.parametrize("layer", ["workqueue", "omp"])
def test_two_threads_of_python_may_play_on_threads(layer: str) -> None:
    assert said_by(TWO, NUMBA_THREADING_LAYER=layer) == "2 1\n"
