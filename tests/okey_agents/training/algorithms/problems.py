"""Small problems for algorithms: stand-ins for tasks and budgets, and a game of two decisions that is soon learned."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from okey_env import OkeyVectorEnv, SelfPlay
from okey_env.actions import NUM_ACTIONS


class Task:
    """Rounds against a bot, or in self-play if there is none."""

    encoder = "tiles"
    reward = "zero_sum"
    reward_unit = 6.0

    def __init__(self, opponents: str | None = "greedy", **game: Any) -> None:
        self.opponents = opponents
        self._game = {"encoder": "tiles", **game}
        self.only_self_play = opponents is None

    def make_vec(self, num_envs: int, seed: int, **changes: Any) -> OkeyVectorEnv:
        assert self.opponents is not None, "a task of self-play has no bot"
        return OkeyVectorEnv(num_envs, seed=seed, opponents=self.opponents, **{**self._game, **changes})

    def self_play(self, num_games: int, seed: int, **changes: Any) -> SelfPlay:
        return SelfPlay(num_games, seed=seed, **{**self._game, **changes})


class Decisions:
    """A budget of decisions that notes what it was told."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.told = list[int]()
        self.bots = list[Any]()

    @property
    def share(self) -> float:
        return min(1.0, self.told[-1] / self.limit) if self.told else 0.0

    def goes_on(self, decisions: int, make_bot: Callable[[], Any]) -> bool:
        self.told.append(decisions)
        self.bots.append(make_bot())
        return decisions < self.limit


class Recall:
    """Two decisions each; the first has to repeat the number 0 to 3 that is shown, and is paid 6 after the second.

    Actions 0 to 3 are legal. It has what the algorithms use of `OkeyVectorEnv`.
    """

    def __init__(self, num_envs: int, seed: int) -> None:
        self.num_envs = num_envs
        self.encoder = SimpleNamespace(name="shown", size=5, num_planes=0)
        self._rng = np.random.default_rng(seed)
        self.masks = np.zeros((num_envs, NUM_ACTIONS), np.int8)
        self.masks[:, :4] = 1
        self.games = self.records = np.zeros(num_envs)

    def reset(self, seed: int) -> None:
        self._second = np.zeros(self.num_envs, np.bool_)
        self._right = np.zeros(self.num_envs, np.bool_)
        self._show()

    def step(self, actions: Any) -> Any:
        assert (actions < 4).all(), "an illegal action"
        over = self._second.copy()
        rewards = np.where(over & self._right, 6.0, 0.0)
        self._right = np.where(over, False, actions == self.observations[:, :4].argmax(1))
        self._second = ~over
        self._show()
        return None, rewards, over, np.zeros_like(over), {}

    def _show(self) -> None:
        self.observations = np.eye(5, dtype=np.float32)[self._rng.integers(0, 4, self.num_envs)]
        self.observations[:, 4] = self._second


class RecallTask:
    """The task of `Recall`."""

    reward = "recall"
    reward_unit = 6.0
    only_self_play = False

    def make_vec(self, num_envs: int, seed: int) -> Recall:
        return Recall(num_envs, seed)
