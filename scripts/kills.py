"""Kill -9 training, evaluation and the table again and again: `scripts/kills.py --kills 20`.

- **Training**, each recipe, small: killed before a random touch of its folder or within a random write of a file, and
  resumed, until it was killed so often. Each run ends with the bytes of the last checkpoint of one never stopped.
- **Evaluation** with `--state` and two processes: killed after a random time. Its numbers are those of one that was
  never stopped.
- **The table**: killed while somebody plays, and started again on the same folder. The seat comes back by its token,
  the table has at least the moves that were told a second before, and the match goes on from there.

It ends at the first thing that is lost.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from okey_agents.provenance import commit
from okey_agents.table.web.changes import changed
from okey_agents.training.checkpoint import checkpoints
from okey_agents.training.runs import CHECKPOINTS
from tests.okey_agents.conftest import TINY, TINY_BRANCHING, TINY_SCORER_PPO
from tests.okey_agents.table.test_wire import Wire
from tests.okey_agents.training.test_kill import LOADED, as_toml, tried

ROOT = Path(__file__).resolve().parent.parent
COMMAND = (sys.executable, "-c", "import sys; from okey_agents.cli import main; sys.exit(main())")
_QUIET = {"evaluation": {"against": ["random"], "deals": 2}}
RECIPES: dict[str, dict[str, Any]] = {
    "maskable_ppo": TINY,
    "branching": TINY_BRANCHING,
    "scorer_ppo": TINY_SCORER_PPO,
    "imitation": {
        "network": {"trunk": [], "policy": [16]},
        "imitation": {"decisions": 1536, "minibatch": 128},
        "checkpoints": {"every": 512},
        "run": {"recipe": "imitation", "tensorboard": False},
        **_QUIET,
    },
    "monte_carlo": {
        "env": {"num_envs": 8},
        "network": {"trunk": [16]},
        "monte_carlo": {"decisions": 8192, "steps": 256, "minibatch": 128},
        "checkpoints": {"every": 2048},
        "run": {"recipe": "monte_carlo", "tensorboard": False},
        **_QUIET,
    },
    "ppo": {
        "env": {"num_envs": 16, "encoder": "tiles", "reward": "zero_sum+distance"},
        "policy": {"width": 16},
        "ppo": {"decisions": 1024, "steps": 32, "minibatch": 128, "sources": 1024},
        "checkpoints": {"every": 512},
        "run": {"recipe": "ppo", "tensorboard": False},
        **_QUIET,
    },
}


class LostError(AssertionError):
    """Something that a kill must not cost."""


# --- training ------------------------------------------------------------------------------------------------


def train(processes: ForkServerContext, config: Path, folder: Path, kind: str, number: int) -> bool:
    """Begin a run or go on with it; whether it was killed before its end."""
    exitcode, said = tried(processes, config, folder, kind, number)
    if exitcode not in (0, -signal.SIGKILL):
        raise LostError(f"a run could not go on: {said[-2000:]}")
    return exitcode != 0


def kill_training(recipe: str, kills: int, folder: Path) -> int:
    """Kill runs of a recipe so many times; how many runs that took."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(list(LOADED))
    rng, config = random.Random(recipe), folder / f"{recipe}.toml"
    config.write_text(as_toml(RECIPES[recipe]), encoding="utf-8")
    train(processes, config, folder / f"{recipe}-whole", "touch", 10**9)
    expected = checkpoints(folder / f"{recipe}-whole" / CHECKPOINTS)[0].read_bytes()
    killed, runs = 0, 0
    while killed < kills:
        runs += 1
        run, going = folder / f"{recipe}-{runs}", True
        while going:
            kind = rng.choice(("touch", "touch", "write"))
            number = 10**9 if killed >= kills else rng.randint(1, 40 if kind == "touch" else 8)
            going = train(processes, config, run, kind, number)
            killed += going
        if checkpoints(run / CHECKPOINTS)[0].read_bytes() != expected:
            raise LostError(f"{recipe}: run {runs} ends with other weights")
    return runs


# --- evaluation ----------------------------------------------------------------------------------------------


def okey(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """A command in a process group of its own, so that a kill takes all of it."""
    path = os.pathsep.join((str(ROOT), str(ROOT / "agents")))
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.Popen([*COMMAND, *arguments], env=environment, start_new_session=True, **options)


def kill(process: subprocess.Popen[bytes], *, all_of_it: bool) -> None:
    """Kill -9 the process, or its whole group."""
    with contextlib.suppress(ProcessLookupError):
        (os.killpg if all_of_it else os.kill)(process.pid, signal.SIGKILL)
    process.wait()


def outcome_of(file: Path) -> dict[str, Any]:
    """The numbers of a report without times."""
    report = json.loads(file.read_text(encoding="utf-8"))
    report = {key: value for key, value in report.items() if key not in ("seconds", "made", "workers")}
    for bot in (report["challenger"], *report["opponents"]):
        del bot["ms_a_move"]
    return report


def kill_evaluation(kills: int, folder: Path) -> int:
    """Kill an evaluation so many times; how many evaluations that took."""
    rng, what = random.Random(7), ("evaluate", "expert", "greedy", "--deals", "1500", "--seed", "3", "--workers", "2")
    okey(*what, "--json", str(folder / "whole.json"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).wait()
    killed, evaluations = 0, 0
    while killed < kills:
        evaluations += 1
        state, report = folder / f"state-{evaluations}", folder / f"report-{evaluations}.json"
        while not report.exists():
            process = okey(
                *what, "--state", str(state), "--json", str(report), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            try:
                _, said = process.communicate(timeout=None if killed >= kills else rng.uniform(0.5, 6))
            except subprocess.TimeoutExpired:
                kill(process, all_of_it=rng.random() < 0.5)
                killed += 1
                continue
            if process.returncode:
                raise LostError(f"an evaluation could not go on: {said.decode()[-2000:]}")
        if outcome_of(report) != outcome_of(folder / "whole.json"):
            raise LostError(f"evaluation {evaluations} has other numbers: {report}")
    return evaluations


# --- the table -----------------------------------------------------------------------------------------------


class Table:
    """A player at a table of three bots, over the wire."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/"
        self.token = ""
        self.view: dict[str, Any] = {}
        self.told: list[tuple[float, int, int]] = []
        """When which round and move were told."""

    def connect(self) -> None:
        """Sit down at a new table, or come back by the token."""
        until = time.monotonic() + 120
        while True:
            try:
                self.wire = Wire(self.url)
                self.wire.greet()
                break
            except (ConnectionError, EOFError, OSError):
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)
        if self.token:
            self.wire.say("sit", token=self.token)
        else:
            settings = {"pace": "instant", "seats": ["person", "greedy", "greedy", "greedy"]}
            self.wire.say("create", name="A", settings=settings)
        while not self.view or self.view.get("stale"):
            self._hear()

    def _hear(self) -> None:
        _, data = self.wire.hear()
        message = json.loads(data)
        match message["type"]:
            case "seated":
                self.token = message["token"]
            case "view":
                self.view = message
            case "change" if not self.view.get("stale"):
                self.view = changed(self.view, message)
            case "error":
                raise LostError(f"the table says {message['text']!r}")
        if self.view and not self.view.get("stale"):
            self.told.append((time.monotonic(), *self.where))

    @property
    def where(self) -> tuple[int, int]:
        """The round, and the moves of the match."""
        return self.view["match"]["round"], self.view["moves"]

    def play(self, seconds: float) -> None:
        """Draw and throw for so long."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(0.06)  # the table takes 20 messages a second
            before = self.where
            round = self.view["round"]
            if self.view["stage"] in ("round_over", "match_over"):
                self.wire.say("ready")
            elif round["turn"] == self.view["you"]:
                tiles = [tile for tile in round["rack"] if tile]
                action = "draw" if round["may"]["draw"] else "take" if round["may"]["take"] else f"throw {tiles[-1]}"
                self.wire.say("act", action=action, at=self.view["moves"])
            while self.where == before:
                self._hear()


def kill_table(kills: int, folder: Path) -> int:
    """Kill a server so many times while somebody plays; how many moves were played."""
    rng, moves = random.Random(5), 0
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    player = Table(port)
    for _ in range(kills):
        with contextlib.closing(serve(port, folder)) as servers:
            process = next(servers)
            player.connect()
            if player.told[:-1]:
                _check_kept(player)
            player.told.clear()
            player.play(rng.uniform(1.2, 4))
            kill(process, all_of_it=True)
            moves += len(player.told)
            player.view["stale"] = True
    return moves


def serve(port: int, folder: Path) -> Generator[subprocess.Popen[bytes]]:
    """A server that is ended at the end."""
    arguments = ("play", "--no-browser", "--port", str(port), "--data", str(folder / "data"))
    with (folder / "server.txt").open("ab") as log:
        process = okey(*arguments, stdout=log, stderr=log)
        try:
            yield process
        finally:
            kill(process, all_of_it=True)


def _check_kept(player: Table) -> None:
    """What was told a second before the kill is there, unless another match has begun since."""
    *before, _ = player.told
    died = before[-1][0]
    sure = max((told[1:] for told in before if told[0] < died - 1.0), default=(0, 0))
    if player.where < sure:
        raise LostError(f"the table is back at round and move {player.where}, and {sure} was told a second before")


def main() -> int:
    """Kill all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20, help="of each")
    parser.add_argument("--only", nargs="+", choices=[*RECIPES, "evaluation", "table"], help="these alone")
    arguments = parser.parse_args()
    print(f"commit {commit()}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what in arguments.only or [*RECIPES, "evaluation", "table"]:
            began = time.monotonic()
            if what == "evaluation":
                done = f"{kill_evaluation(arguments.kills, folder)} evaluations"
            elif what == "table":
                done = f"{kill_table(arguments.kills, folder)} moves"
            else:
                done = f"{kill_training(what, arguments.kills, folder)} runs"
            seconds = time.monotonic() - began
            print(f"{what}: {arguments.kills} kills in {done}, {seconds:.0f} s: nothing lost", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
