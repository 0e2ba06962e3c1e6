"""Bots: the interface, how a bot is found by name, and how many games ask one bot for their moves.

A bot is a program that plays from what its seat may know. Its whole interface is `act(observation) -> action`.
The action depends only on the seed and the observation, and the bot keeps nothing between moves. So a bot gives the
same move in the same position, whatever was played before, in one game or in a thousand games side by side.

The name of a bot is the name of an entry point of the group `okey_env.bots`: a callable without arguments, usually a
class, that gives a bot. So this package contains no bots itself, and any installed package can add some. A folder with
an exported bot is read by the entry point `folder` of the group `okey_env.bot_loaders`.
"""

import difflib
import operator
import os
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from okey_env.checks import seed_number, shown
from okey_env.observation import Observation

BOTS_GROUP = "okey_env.bots"
"""The entry-point group of bots by name."""
LOADERS_GROUP = "okey_env.bot_loaders"
"""The entry-point group of loaders of exported bots; its entry point `folder` takes a path and gives a bot."""
BOT_FILE = "bot.json"
"""The file that every folder of an exported bot has."""


@runtime_checkable
class Bot(Protocol):
    """A program that plays."""

    name: str
    """The name of the bot in reports."""

    def reset(self, seed: int) -> None:
        """Set the seed of all random choices in later moves."""

    def act(self, observation: Observation) -> int:
        """Choose one of `observation.legal_actions`; it is called only if the observer is to move."""


@runtime_checkable
class BatchBot(Bot, Protocol):
    """A bot that can also play many games at once; its moves are the same as one at a time."""

    def act_batch(self, records: npt.NDArray[np.record]) -> npt.NDArray[np.int64]:
        """Choose an action for each of `(N,)` OBSERVATION records; the observer is to move in all: `(N,)` actions."""


class Acting(Protocol):
    """The least interface from which `make_bot` can make a bot."""

    def act(self, observation: Observation) -> int:
        """Choose one of `observation.legal_actions`."""


BotSpec: TypeAlias = str | Path | Acting | type[Acting] | Callable[[Observation], int]
"""The types from which `make_bot` makes a bot."""


def make_bot(spec: BotSpec, seed: int | None = None) -> Bot:
    """A bot from a name, a folder, a class, an object with `act`, or a function `observation -> action`.

    Args:
        spec: one of `bot_names()`; the folder of an exported bot; a class of bots, made without arguments; an
            object with `act`, which is returned itself if it is a `Bot`; a plain function.
        seed: the seed with which the bot is reset; None: the bot is not reset.

    Raises:
        ValueError: no bot has that name, the folder holds no bot, or the bot cannot be loaded; or the seed is none.
        TypeError: `spec` is of another type.

    >>> from okey_env.round import Round
    >>> round = Round("gamelake", seed=7)
    >>> lowest = make_bot(lambda observation: observation.legal_actions[0])
    >>> lowest.act(round.observe(round.turn)) == round.legal_actions()[0]
    True
    """
    bot = _find(spec)
    if seed is not None:
        bot.reset(seed_number(seed))
    return bot


def bot_names() -> list[str]:
    """The names of all installed bots, in order."""
    return sorted({entry.name for entry in entry_points(group=BOTS_GROUP)})


def choose_for(
    bot: Bot,
    games: npt.NDArray[np.record],
    indices: npt.NDArray[np.int64],
    records: npt.NDArray[np.record],
) -> npt.NDArray[np.int64]:
    """The moves of one bot in some games of a batch, in all of which it is to move.

    The bot is asked once for all games if it has `act_batch`, else once for each game.

    Args:
        bot: the bot.
        games: `(N,)` of GAME.
        indices: `(M,)` the indices of the games in which the bot moves.
        records: `(M,)` of OBSERVATION: what the seat to move sees in each of these games.

    Returns:
        `(M,)` actions, as the bot gave them: whether they are legal is not checked.

    Raises:
        TypeError, ValueError: the bot did not give one whole number for each game. Exceptions of the bot itself are
            not caught.
    """
    act_batch = getattr(bot, "act_batch", None)  # the method of BatchBot; isinstance() of a protocol is much slower
    if act_batch is not None:
        actions = np.asarray(act_batch(records)).astype(np.int64, casting="same_kind", copy=False)
        if actions.shape != (len(indices),):
            raise ValueError(f"{bot.name} gave actions of shape {actions.shape} for {len(indices)} games")
        return actions
    return np.array([choose_one(bot, games, int(i)) for i in indices], np.int64)


def choose_one(bot: Bot, games: npt.NDArray[np.record], i: int) -> int:
    """The move of a bot in game i, in which it is to move; whether the move is legal is not checked."""
    return operator.index(bot.act(Observation.of(games, i, int(games["turn"][i]))))


class _ActingBot:
    """A full bot made from a function, or from an object that has only `act`."""

    def __init__(self, name: str, act: Callable[[Observation], int], reset: Callable[[int], object] | None) -> None:
        self.name = name
        self._act = act
        self._reset = reset

    def reset(self, seed: int) -> None:
        """Pass the seed to the object, if it has a method `reset`."""
        if self._reset is not None:
            self._reset(seed)

    def act(self, observation: Observation) -> int:
        """Call the function."""
        return self._act(observation)


def _find(spec: Any) -> Bot:
    if isinstance(spec, str | Path):
        return _find_written(spec)
    if isinstance(spec, type):
        return _as_bot(spec(), spec.__name__)
    return _as_bot(spec, getattr(spec, "__name__", type(spec).__name__))


def _as_bot(thing: Any, name: str) -> Bot:
    if isinstance(thing, Bot):
        return thing
    if callable(getattr(thing, "act", None)):
        return _ActingBot(str(getattr(thing, "name", name)), thing.act, getattr(thing, "reset", None))
    if callable(thing):
        return _ActingBot(name, thing, None)
    raise TypeError(f"{shown(thing)} is not a bot: expected a name, a folder, an object with act(), or a function")


def _find_written(spec: str | Path) -> Bot:
    if isinstance(spec, str):
        named = entry_points(group=BOTS_GROUP, name=spec)
        if named:
            return _as_bot(_load(_only(list(named), f"the bot name {spec!r}"))(), spec)
    folder = Path(spec)
    if not folder.is_dir():
        looks_like_path = isinstance(spec, Path) or os.sep in spec or "/" in spec
        raise ValueError(f"there is no folder {str(folder)!r}" if looks_like_path else _unknown(str(spec)))
    if not (folder / BOT_FILE).is_file():
        raise ValueError(f"the folder {str(folder)!r} holds no bot: there is no {BOT_FILE} in it")
    loaders = list(entry_points(group=LOADERS_GROUP, name="folder"))
    if not loaders:
        raise ValueError(
            f"nothing installed can load the bot in {str(folder)!r}: no {LOADERS_GROUP} entry point 'folder'"
        )
    return _as_bot(_load(_only(loaders, "reading bots from folders"))(folder), folder.name)


def _unknown(name: str) -> str:
    names = bot_names()
    if not names:
        return f"there is no bot {name!r}: no installed package offers any (is okey-env itself installed?)"
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"there is no bot {name!r}, and no such folder: known bots are {', '.join(names)}{hint}"


def _only(entries: list[EntryPoint], what: str) -> EntryPoint:
    """The only entry point in a list; several entry points that load the same object count as one."""
    if len({entry.value for entry in entries}) > 1:
        claims = " and ".join(f"{_distribution(entry)} ({entry.value})" for entry in entries)
        raise ValueError(f"{what} is claimed by {claims}: uninstall one, or give the bot itself")
    return entries[0]


def _load(entry: EntryPoint) -> Callable[..., Any]:
    try:
        loaded: Callable[..., Any] = entry.load()
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"{entry.name!r} of {_distribution(entry)} ({entry.value}) cannot be loaded: {error}"
        ) from error
    return loaded


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "a package without a name"
