"""Measures how a bot scores on a task: its mean reward in an episode, with a 95 % interval clustered by deal.

Each deal is played with the learner in each of the four seats. Tasks of points in rounds that are dealt at random are
played by the arena, where each seat draws from its own quarter of the stock and a bot that misbehaves is survived.
The other tasks are played in `OkeyVectorEnv`, so that the score is the reward of the environment by construction.

Deals are played in blocks, and the result of a block depends on the task, the bot, the seed and the block alone, so the
numbers are the same for any number of processes.
"""

import dataclasses
import functools
import pickle

import numpy as np
import numpy.typing as npt

from okey_agents.evaluate.chunks import ChunkPlayer, Setup, chunks_of
from okey_agents.evaluate.guard.processes import pack, process_pool
from okey_agents.evaluate.guard.workers import num_cores
from okey_agents.evaluate.report import bot_report, warn_of_failures
from okey_agents.evaluate.runner import ChunkRunner
from okey_agents.evaluate.statistics import Interval, clustered_interval
from okey_env.bots import BotSpec, choose_for, make_bot
from okey_env.checks import MAX_DEALS, MAX_WORKERS, seed_number, whole_number
from okey_env.round import derive_seed
from okey_env.rules import as_rules
from okey_env.tasks import Task
from okey_env.tasks import task as task_of
from okey_env.tiles import NUM_SEATS
from okey_env.vector import OkeyVectorEnv

BLOCK = 100
"""Deals that are played side by side in an environment."""

_BOT_STREAM = 2**63  # the index under the seed from which the learner's seeds derive; blocks count up from 0


@dataclasses.dataclass(frozen=True)
class Measured:
    """The score of a bot on a task."""

    task: str
    bot: str
    """The name of the bot."""
    means: npt.NDArray[np.float64]
    """`(D,)` the reward in an episode of each deal, averaged over the seats."""
    failures: str
    """What the bot did wrong in the arena, in words; empty if nothing."""

    @property
    def score(self) -> Interval:
        """The mean with its interval."""
        return clustered_interval(self.means[:, None])


def measure(task: Task | str, bot: BotSpec, deals: int = 1_000, seed: int = 0, workers: int | None = 1) -> Measured:
    """Play a bot at the learning seat of a task.

    Args:
        task: the task or its id.
        bot: any bot that `okey_env.bots.make_bot` knows.
        deals: how many; each is played with the bot in each seat, or in the learning seat of the task if it has one.
        seed: determines deals and bots.
        workers: processes, 1: this one; for several, the bot must be one that can be sent to another process.

    Raises:
        ValueError: a number is out of its range, there is no such task, or the bot cannot be found or sent.
        BotFailureError: the bot failed at every one of its moves in the arena.

    Warns:
        BotWarning: the bot failed at some of its moves in the arena.
    """
    task = task if isinstance(task, Task) else task_of(task)
    deals, seed = whole_number("deals", deals, 2, MAX_DEALS, note=", since an interval needs 2"), seed_number(seed)
    if workers is not None:
        workers = whole_number("workers", workers, 1, MAX_WORKERS, ", or None")
    if task.plays_arena and task.learning_seat is None:
        return _in_arena(task, bot, deals, seed, workers)
    blocks = [(task, seed, first, min(BLOCK, deals - first)) for first in range(0, deals, BLOCK)]
    name = make_bot(bot).name
    if workers == 1 or len(blocks) == 1:
        return Measured(task.id, name, np.concatenate([_play(bot, *block) for block in blocks]), "")
    with process_pool(workers or num_cores()) as pool:
        means = list(pool.map(functools.partial(_play_packed, pack(bot)), blocks))
    return Measured(task.id, name, np.concatenate(means), "")


def _in_arena(task: Task, bot: BotSpec, deals: int, seed: int, workers: int | None) -> Measured:
    player = ChunkPlayer(Setup((bot, task.opponents), as_rules(task.rules), seed))
    results = list(ChunkRunner(player, chunks_of((0, 1, 1, 1), deals), workers).results())
    means = np.concatenate([one.outcomes["points"][..., 0].mean(axis=1) for one in results])
    name = player.bots[0].name
    report = bot_report(player.names[0], [one.logs[0] for one in results])
    warn_of_failures([report])
    return Measured(task.id, name, means, report.failures)


def _play_packed(bot: bytes, block: tuple[Task, int, int, int]) -> npt.NDArray[np.float64]:
    """`_play` in another process."""
    return _play(pickle.loads(bot), *block)


def _play(spec: BotSpec, task: Task, seed: int, first: int, deals: int) -> npt.NDArray[np.float64]:
    """`(deals,)` the reward in an episode of each deal of the block that begins with deal `first`."""
    bot, own = make_bot(spec), derive_seed(seed, first // BLOCK)
    seats = range(NUM_SEATS) if task.learning_seat is None else (task.learning_seat,)
    rewards = np.zeros((len(seats), deals))
    for row, seat in enumerate(seats):
        # the encoder matters to networks in training only: a bot is given the observation itself
        changes = {**task.environment, "learning_seat": seat, "encoder": "tiles_raw"}
        env = OkeyVectorEnv(deals, seed=own, copy=False, **changes)
        bot.reset(derive_seed(seed, _BOT_STREAM + first // BLOCK))
        env.reset()
        goes_on = np.ones(deals, np.bool_)
        while goes_on.any():
            actions = env.masks.argmax(axis=1).astype(np.int64)  # in games whose first episode is over
            playing = np.flatnonzero(goes_on)
            actions[playing] = choose_for(bot, env.games, playing, env.records[playing])
            _, paid, terminated, truncated, _ = env.step(actions)
            rewards[row, playing] += paid[playing]
            goes_on &= ~(terminated | truncated)
    means: npt.NDArray[np.float64] = rewards.mean(axis=0)
    return means
