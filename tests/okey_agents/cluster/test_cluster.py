"""Chunks at workers that die, bots that travel with their files, and Ray that nobody imports without being asked."""

import random
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Hashable, Sequence
from pathlib import Path

import numpy as np
import pytest

from okey_agents.bots.greedy import GreedyBot
from okey_agents.cluster.crew import MOST_BEGINNERS, MOST_TRIES, LostWorkerError, play_by_crew
from okey_agents.cluster.luggage import packed_for_away, unpacked
from okey_agents.cluster.on_ray import RayCluster
from okey_agents.evaluate.arena import evaluate
from okey_agents.evaluate.chunks import Chunk, ChunkPlayer, ChunkResult, Setup, chunks_of
from okey_agents.evaluate.guard.workers import ChunkProcess
from okey_env.rules import Rules
from tests.places import ROOT

SETUP = Setup(("greedy", "random"), Rules(), 3)
CHUNKS = chunks_of((0, 1, 1, 1), 1_200)


class Mortal:
    """Workers in this process that die at random: before they are ready, or with a chunk."""

    def __init__(self, seed: int, mortality: float) -> None:
        self._rng, self._mortality = random.Random(seed), mortality
        self._player = ChunkPlayer(SETUP)
        self._hired = 0
        self.lost = 0
        self._events: list[tuple[Hashable, Chunk | None]] = []

    def hire(self) -> Hashable:
        self._hired += 1
        self._events.append((self._hired, None))
        return self._hired

    def give(self, worker: Hashable, chunk: Chunk) -> None:
        self._events.append((worker, chunk))

    def wait(self, seconds: float) -> Sequence[tuple[Hashable, ChunkResult | Exception | None]]:
        if not self._events:
            return []
        worker, chunk = self._events.pop(self._rng.randrange(len(self._events)))
        if self._rng.random() < self._mortality:
            self.lost += 1
            return [(worker, LostWorkerError("killed"))]
        return [(worker, self._player.play(chunk) if chunk is not None else None)]


def same(found: Sequence[ChunkResult], expected: Sequence[ChunkResult]) -> bool:
    return len(found) == len(expected) and all(
        np.array_equal(one.outcomes, other.outcomes) for one, other in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [1, 3, 12])
def test_the_results_are_the_same_whoever_dies(seed: int, size: int) -> None:
    expected = list(map(ChunkPlayer(SETUP).play, CHUNKS))
    crew = Mortal(seed, 0.25)
    assert same(list(play_by_crew(crew, CHUNKS, size)), expected)
    assert crew.lost > 0


def test_a_chunk_that_loses_every_worker_is_given_up_in_a_sentence() -> None:
    class Poisoned(Mortal):
        def wait(self, seconds: float) -> Sequence[tuple[Hashable, ChunkResult | Exception | None]]:
            worker, chunk = self._events.pop(0)
            if chunk is not None and chunk.first == 200:
                return [(worker, LostWorkerError("out of memory"))]
            return [(worker, self._player.play(chunk) if chunk is not None else None)]

    with pytest.raises(RuntimeError, match=f"{MOST_TRIES} workers were lost with the deals from 200 on; .* out of mem"):
        list(play_by_crew(Poisoned(1, 0), CHUNKS, 2))
    with pytest.raises(RuntimeError, match=f"{MOST_BEGINNERS} workers were lost before they were ready"):
        list(play_by_crew(Mortal(1, 1.0), CHUNKS, 2))


def test_what_the_setup_raises_there_is_raised_here() -> None:
    class Broken(Mortal):
        def wait(self, seconds: float) -> Sequence[tuple[Hashable, ChunkResult | Exception | None]]:
            return [(self._events.pop(0)[0], ValueError("no such bot there"))]

    with pytest.raises(ValueError, match="no such bot there"):
        list(play_by_crew(Broken(1, 0), CHUNKS, 2))


def test_nobody_waits_for_ever() -> None:
    class Silent(Mortal):
        def wait(self, seconds: float) -> Sequence[tuple[Hashable, ChunkResult | Exception | None]]:
            return []

    with pytest.raises(RuntimeError, match="no worker was ready for 0 seconds"):
        list(play_by_crew(Silent(1, 0), CHUNKS, 2, patience=0.0))


def test_a_chunk_may_take_longer_than_anybody_waits_for_a_worker() -> None:
    class Slow(Mortal):
        waited = 0

        def wait(self, seconds: float) -> Sequence[tuple[Hashable, ChunkResult | Exception | None]]:
            self.waited += 1
            thinking = all(chunk is not None for _, chunk in self._events) and self.waited % 5
            return [] if thinking else super().wait(seconds)

    assert same(
        list(play_by_crew(Slow(1, 0), CHUNKS[:2], 1, patience=0.0)), list(map(ChunkPlayer(SETUP).play, CHUNKS[:2]))
    )


@pytest.mark.heavy
def test_an_evaluation_and_its_state_go_elsewhere_with_the_same_numbers(tmp_path: Path) -> None:
    class Away:
        workers = 3

        def play(self, setup: Setup, chunks: Sequence[Chunk]) -> Generator[ChunkResult]:
            asked.extend(chunks)
            with ChunkProcess(unpacked(packed_for_away(setup), tmp_path / "away")) as process:
                left = deque(chunks)
                while left:
                    yield process.play(left.popleft())

    asked: list[Chunk] = []
    bot = tmp_path / "taker.py"
    bot.write_text("class Taker:\n    def act(self, seen):\n        return seen.legal_actions[-1]\n", encoding="utf-8")
    here = evaluate(str(bot), "greedy", deals=220, seed=4, workers=1)
    state = tmp_path / "state"
    away = evaluate(str(bot), "greedy", deals=220, seed=4, state=state, elsewhere=Away())
    assert away.outcome() == here.outcome()
    assert away.workers == 3
    assert len(asked) == 3
    assert evaluate(str(bot), "greedy", deals=220, seed=4, state=state, workers=1).outcome() == here.outcome()


def test_bots_travel_with_what_lies_in_their_files(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "folder" / "deeper").mkdir(parents=True)
    (home / "one.py").write_text("class A:\n    def act(self, seen):\n        return seen.legal_actions[0]\n")
    (home / "folder" / "bot.py").write_text("from deeper.part import choose as act\n")
    (home / "folder" / "deeper" / "part.py").write_text("def choose(seen):\n    return seen.legal_actions[-1]\n")
    (home / "elsewhere.txt").write_text("what the folder links to")
    (home / "folder" / "link.txt").symlink_to(home / "elsewhere.txt")
    data = packed_for_away(Setup((f"{home / 'one.py'}:A", str(home / "folder"), "greedy", GreedyBot), Rules(), 1))
    for file in sorted(home.rglob("*"), reverse=True):
        if file.is_file():
            file.unlink()
    setup = unpacked(data, tmp_path / "away")
    assert str(setup.specs[0]).endswith("one.py:A")
    assert [Path(str(spec)).is_relative_to(tmp_path / "away") for spec in setup.specs[:2]] == [True, True]
    assert (Path(str(setup.specs[1])) / "deeper" / "part.py").is_file()
    assert (Path(str(setup.specs[1])) / "link.txt").read_text() == "what the folder links to"
    assert setup.specs[2:] == ("greedy", GreedyBot)
    assert ChunkPlayer(Setup(setup.specs[:1], Rules(), 1)).names == ["A"]


def test_what_cannot_travel_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"records=.*would be written on other machines"):
        packed_for_away(Setup(("greedy",), Rules(), 1, records=tmp_path))
    lock = __import__("threading").Lock()

    class Held:
        def __init__(self) -> None:
            self.lock = lock

        def act(self, seen: object) -> int:
            return 0

    with pytest.raises(ValueError, match="Ray needs bots that another machine can make"):
        packed_for_away(Setup((Held(),), Rules(), 1))


def test_ray_is_imported_only_if_it_is_asked_for_and_named_if_it_is_missing() -> None:
    code = (
        "import sys, okey_env, okey_agents.cli, okey_agents.cluster.on_ray, okey_agents.evaluate.arena\n"
        "assert not any(name == 'ray' or name.startswith('ray.') for name in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, env={"PYTHONPATH": f"{ROOT}:{ROOT / 'agents'}"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "ray", None)
        with pytest.raises(ValueError, match=r"Ray is not installed: pip install 'okey-env\[ray\]'"), RayCluster():
            pass
