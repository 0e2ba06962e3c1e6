"""Tasks: settings of the environments with an id, from a minute of learning to a whole match, and scores of bots.

The score of a bot on a task is its mean reward in an episode, measured as the task says. Scores are compared across
tasks after `Task.normalised`: 0 is the bot `random`, 1 the bot `expert`.

| id | what is asked |
|---|---|
| `okey/Finish-v0` | finish soon, from racks at distance 2 |
| `okey/Race-v0` | finish before the time runs out, from an ordinary deal |
| `okey/Round-v0` | win points in a round against three `greedy` |
| `okey/RoundExpert-v0` | the same against three `expert` |
| `okey/SelfPlay-v0` | learn from games against oneself; scored against three `greedy` |
| `okey/RoundRaw-v0` | `okey/Round-v0` with an encoder that works nothing out |
| `okey/Match-v0` | win a match against three `greedy` |

`gymnasium.make` and `gymnasium.make_vec` know these ids, except `okey/SelfPlay-v0`, which `pettingzoo.make` knows.
"""

import dataclasses
import difflib
import functools
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from okey_env.checks import choice, is_one_of, real_number, seat_number, shown, yes_or_no
from okey_env.rules import as_rules

if TYPE_CHECKING:
    from okey_env.vector import OkeyVectorEnv, SelfPlay

SCORES_FILE = Path(__file__).with_name("task_scores.json")
"""The measured scores of `REFERENCES`, with commit and command. `okey tasks BOT … --into FILE` writes it."""
REFERENCES: Mapping[str, str] = MappingProxyType(
    {name: name for name in ("random", "greedy", "efficient", "expert")} | {"learned": "learned-gamelake"}
)
"""Bots whose scores are kept, by the name of the score."""


class Score(NamedTuple):
    """A mean reward in an episode, and half the width of its 95 % interval, clustered by deal."""

    mean: float
    margin: float


@dataclasses.dataclass(frozen=True)
class Task:
    """One setting of the environments, and how it is scored.

    The fields from `rules` to `learning_seat` are keywords of `OkeyEnv` and `OkeyVectorEnv`.

    >>> task("okey/Round-v0").opponents
    'greedy'
    """

    id: str
    about: str
    """What is asked, in a sentence."""
    rules: str | Mapping[str, Any] = "gamelake"
    encoder: str = "tiles"
    reward: str = "zero_sum"
    opponents: str = "greedy"
    """The bot in the three other seats. In a task of self-play it sits there for the score only."""
    start: str | None = None
    """How racks are dealt; None: at random."""
    episode: str = "round"
    learning_seat: int | None = None
    """The seat that learns; None: the next one with each episode."""
    only_self_play: bool = False
    """Whether no bot takes part in training: all four seats are the learner's."""

    def __post_init__(self) -> None:
        """Check the fields that environments would refuse only when they are made.

        Raises:
            ValueError, TypeError: a field is not what it should be.
        """
        for name in ("id", "about", "encoder", "reward"):
            text: Any = getattr(self, name)
            if not isinstance(text, str) or not text:
                raise ValueError(f"{name}={shown(text)} is not a name: expected text")
        as_rules(self.rules)
        choice("episode", self.episode, ("round", "match"))
        yes_or_no("only_self_play", self.only_self_play)
        if self.learning_seat is not None:
            seat_number(self.learning_seat, "learning_seat", ", or None to rotate")

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def game(self) -> dict[str, Any]:
        """The keywords that the environments share, those of `SelfPlay` and of PettingZoo included."""
        keywords = {"rules": self.rules, "encoder": self.encoder, "reward": self.reward, "episode": self.episode}
        if isinstance(self.rules, Mapping):
            keywords["rules"] = dict(self.rules)
        return keywords if self.start is None else {**keywords, "start": self.start}

    @property
    def environment(self) -> dict[str, Any]:
        """The keywords of `OkeyEnv` and `OkeyVectorEnv`."""
        return {**self.game, "opponents": self.opponents, "learning_seat": self.learning_seat}

    @property
    def reward_unit(self) -> float:
        """The size of a usual reward, by which a network may divide: 6 points for an ordinary finish, or 1."""
        return 6.0 if self.reward.startswith(("zero_sum", "points")) else 1.0

    @property
    def plays_arena(self) -> bool:
        """Whether the score is that of the arena: points in rounds that are dealt at random."""
        return self.episode == "round" and self.start is None and self.reward == "zero_sum"

    def make_vec(self, num_envs: int, seed: int | None = None, **changes: Any) -> "OkeyVectorEnv":
        """Many games of the task with one learning seat each.

        Args:
            num_envs: how many.
            seed: determines all deals and bots; None: a random one.
            changes: other keywords of `OkeyVectorEnv`, such as a reward with a shaping term or another encoder. The
                score stays that of the task.

        Raises:
            ValueError: the task is of self-play only.
        """
        from okey_env.vector import OkeyVectorEnv

        if self.only_self_play:
            raise ValueError(f"{self.id} has no bot in training: expected self_play() instead of make_vec()")
        return OkeyVectorEnv(num_envs, seed=seed, **{**self.environment, **changes})

    def self_play(self, num_games: int, seed: int | None = None, **changes: Any) -> "SelfPlay":
        """Many games of the task in which the learner has all four seats.

        Args:
            num_games: how many.
            seed: determines all deals; None: a random one.
            changes: other keywords of `SelfPlay`.
        """
        from okey_env.vector import SelfPlay

        return SelfPlay(num_games, seed=seed, **{**self.game, **changes})

    @property
    def scores(self) -> Mapping[str, Score]:
        """The measured score of each bot of `REFERENCES`.

        Raises:
            ValueError: no scores are kept for this task.
        """
        kept = _kept()
        if self.id not in kept:
            raise ValueError(
                f"{self.id} has no measured scores in {SCORES_FILE.name}: expected those of `okey tasks BOT … --into`"
            )
        return kept[self.id]

    @property
    def random(self) -> float:
        """The score of the bot `random`."""
        return self.scores["random"].mean

    @property
    def greedy(self) -> float:
        """The score of the bot `greedy`."""
        return self.scores["greedy"].mean

    @property
    def efficient(self) -> float:
        """The score of the bot `efficient`."""
        return self.scores["efficient"].mean

    @property
    def expert(self) -> float:
        """The score of the bot `expert`."""
        return self.scores["expert"].mean

    @property
    def learned(self) -> float:
        """The score of the bot `learned-gamelake`."""
        return self.scores["learned"].mean

    def normalised(self, score: float) -> float:
        """A score as a share of the way from `random` (0) to `expert` (1)."""
        return (real_number("score", score) - self.random) / (self.expert - self.random)


_TEN_TURNS = {"preset": "gamelake", "max_throws": 40}

TASKS: Mapping[str, Task] = MappingProxyType(
    {
        task.id: task
        for task in (
            Task(
                "okey/Finish-v0",
                "Finish soon, from racks that are two tiles away from it, while nobody else tries to.",
                rules=_TEN_TURNS,
                reward="soon",
                opponents="random",
                start="distance-2",
            ),
            Task(
                "okey/Race-v0",
                "Finish within ten turns, from an ordinary deal, while nobody else tries to.",
                rules=_TEN_TURNS,
                reward="win",
                opponents="random",
            ),
            Task("okey/Round-v0", "Win points in a round against three `greedy`."),
            Task("okey/RoundExpert-v0", "Win points in a round against three `expert`.", opponents="expert"),
            Task(
                "okey/SelfPlay-v0",
                "Learn from games against oneself alone, and win points in a round against three `greedy`.",
                only_self_play=True,
            ),
            Task(
                "okey/RoundRaw-v0",
                "Win points in a round against three `greedy`, from what a seat sees, with nothing worked out.",
                encoder="tiles_raw",
            ),
            Task(
                "okey/Match-v0",
                "Win a match against three `greedy`.",
                reward="placement",
                episode="match",
            ),
        )
    }
)
"""The tasks by id."""


def task(id: str) -> Task:
    """The task of an id.

    Raises:
        ValueError: no task has that id.
    """
    if not is_one_of(id, TASKS):
        near = difflib.get_close_matches(str(id)[:100], TASKS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"there is no task {shown(id)}: expected one of {', '.join(TASKS)}{hint}")
    return TASKS[id]


@functools.cache
def _kept() -> Mapping[str, Mapping[str, Score]]:
    """The scores that are kept, by the task's id and the bot."""
    tasks = json.loads(SCORES_FILE.read_text(encoding="utf-8"))["scores"]
    return {id: {bot: Score(*score) for bot, score in scores.items()} for id, scores in tasks.items()}
