"""Evaluations on a Ray cluster of two nodes on this machine, whose workers and nodes are killed: `make adapters`."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster

from okey_agents.cluster.on_ray import RayCluster
from okey_agents.evaluate.arena import evaluate
from okey_agents.evaluate.ladder import play_ladder

DEALS = 12_000
NODE = {"num_cpus": 1, "object_store_memory": 80_000_000}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Two nodes with a core each."""
    nodes = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    nodes.add_node(**NODE)
    try:
        yield nodes
    finally:
        ray.shutdown()
        nodes.shutdown()


def workers() -> list[int]:
    """The processes of this package's actors."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            title = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        if title.startswith(b"ray::_Worker"):
            found.append(int(entry.name))
    return found


class Killer(threading.Thread):
    """Does something terrible now and then until it is told to stop."""

    def __init__(self, terrible: Callable[[], bool], every: float, times: int) -> None:
        super().__init__()
        self._terrible, self._every, self._left = terrible, every, times
        self.stop, self.done = threading.Event(), 0

    def run(self) -> None:
        while self._left and not self.stop.wait(self._every):
            if self._terrible():
                self.done, self._left = self.done + 1, self._left - 1

    def __enter__(self) -> "Killer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.join()


def kill_a_worker() -> bool:
    """Kill one of the actors, whatever it is doing."""
    found = workers()
    if found:
        os.kill(found[int(time.time() * 1000) % len(found)], signal.SIGKILL)
    return bool(found)


def outcome(**options: Any) -> Any:
    return evaluate("efficient", "greedy", deals=DEALS, seed=4, **options).outcome()


@pytest.fixture(scope="module")
def expected() -> Any:
    """On this machine, without Ray."""
    return outcome(workers=1)


def test_the_numbers_are_those_of_one_machine(cluster: Cluster, expected: Any, tmp_path: Path) -> None:
    with RayCluster(cluster.address) as there:
        assert outcome(elsewhere=there, state=tmp_path / "state") == expected
        names = ["random", "greedy", "efficient"]
        away = play_ladder(names, deals=200, seed=2, elsewhere=there)
    here = play_ladder(names, deals=200, seed=2, workers=1)
    assert away.points == here.points
    assert [rung.rating for rung in away.rungs] == [rung.rating for rung in here.rungs]
    assert outcome(workers=1, state=tmp_path / "state") == expected


def test_workers_may_die_at_every_stage(cluster: Cluster, expected: Any) -> None:
    with RayCluster(cluster.address) as there, Killer(kill_a_worker, 2.5, 6) as killer:
        assert outcome(elsewhere=there) == expected
    assert killer.done >= 2


def test_a_node_may_go(cluster: Cluster, expected: Any) -> None:
    node = cluster.add_node(**NODE)

    def goes() -> bool:
        if len(workers()) < 3:
            return False
        node.all_processes["raylet"][0].process.kill()  # its workers end by themselves
        return True

    with RayCluster(cluster.address) as there, Killer(goes, 1.5, 1) as killer:
        assert outcome(elsewhere=there) == expected
    assert killer.done == 1


def test_a_bot_that_ends_its_process_costs_its_move_and_not_the_worker(tmp_path: Path) -> None:
    bot = tmp_path / "rude.py"
    bot.write_text(
        "import os, signal\n"
        "def act(seen):\n"
        "    if seen.stock_left == 30 and seen.rack[7]:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return seen.legal_actions[-1]\n",
        encoding="utf-8",
    )
    with pytest.warns(UserWarning, match="rude"):
        here = evaluate(str(bot), "greedy", deals=8, seed=1, workers=2)
    with RayCluster(workers=1) as there, pytest.warns(UserWarning, match="rude"):
        away = evaluate(str(bot), "greedy", deals=8, seed=1, elsewhere=there)
    assert away.challenger.stalled == here.challenger.stalled > 0
    assert away.outcome() == here.outcome()


def test_no_cluster_at_an_address_is_said_in_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"no Ray cluster at 127.0.0.1:1: "), RayCluster("127.0.0.1:1"):
        pass
