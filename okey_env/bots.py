"""Bots: the interface, how a bot is found by name, and how many games ask one bot for their moves.

A bot is a program that plays from what its seat may know. Its whole interface is `act(observation) -> action`.
The action depends only on the seed and the observation, and the bot keeps nothing between moves. So a bot gives the
same move in the same position, whatever was played before, in one game or in a thousand games side by side.

A bot can be named by text: an installed bot, a Python file, a module, a folder, a network or a program;
`okey_env.bot_lookup` has the ways and their order. This package contains no bots itself, and any
installed package can add some.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from okey_env.bot_lookup import (
    BOT_FILE,
    BOTS_GROUP,
    bot_names,
    broken_bots,
    check_bot,
    docstring_of,
    files_of,
    find,
    read_name,
)
from okey_env.checks import index_of, seed_number, shown
from okey_env.observation import Observation


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
    """A bot from a name, a class, an object with `act`, or a function `observation -> action`.

    Args:
        spec: one of `bot_names()`; `my_bot.py`, `my_bot.py:Name` or `module:Name`; a folder with an exported bot or
            with code; `policy.onnx`; `cmd:./program --option` (see `okey_env.bot_lookup` for their order); a class of
            bots, made without arguments; an object with `act`, which is returned itself if it is a `Bot`; a plain
            function.
        seed: the seed with which the bot is reset; None: the bot is not reset.

    Raises:
        ValueError: no bot has that name, or the bot cannot be loaded, and the message says why; or the seed is none.
        TypeError: `spec` is of another type, or cannot be called as a bot.

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
    """The move of a bot in game i, in which it is to move; whether the move is legal is not checked.

    Raises:
        TypeError: the reply is not a whole number.
    """
    reply = bot.act(Observation.of(games, i, int(games["turn"][i])))
    action = index_of(reply)
    if action is None:
        raise TypeError(f"reply {shown(reply)}: expected an action, a whole number from 0 to 108")
    return action


class _ActingBot:
    """A full bot made from a function, or from an object that has only `act`."""

    def __init__(
        self,
        name: str,
        act: Callable[[Observation], int],
        reset: Callable[[int], object] | None,
        act_batch: Callable[[npt.NDArray[np.record]], npt.NDArray[np.int64]] | None,
    ) -> None:
        self.name = name
        self._act = act
        self._reset = reset
        if act_batch is not None:
            self.act_batch = act_batch

    def reset(self, seed: int) -> None:
        """Pass the seed to the object, if it has a method `reset`."""
        if self._reset is not None:
            self._reset(seed)

    def act(self, observation: Observation) -> int:
        """Call the function."""
        return self._act(observation)


def _find(spec: Any) -> Bot:
    if isinstance(spec, str | Path):
        found = find(spec)
        try:
            return _as_bot(found.thing, found.name)
        except TypeError as error:
            raise ValueError(f"the bot {str(spec)!r} cannot be loaded: {error}") from error
    if isinstance(spec, type):
        return _as_bot(spec(), spec.__name__)
    return _as_bot(spec, getattr(spec, "__name__", type(spec).__name__))


def _as_bot(thing: Any, name: str) -> Bot:
    check_bot(thing)
    if isinstance(thing, Bot) and isinstance(thing.name, str):
        return thing
    if callable(getattr(thing, "act", None)):
        own = getattr(thing, "name", name)
        name = own if isinstance(own, str) and own else name
        return _ActingBot(name, thing.act, getattr(thing, "reset", None), getattr(thing, "act_batch", None))
    return _ActingBot(name, thing, None, None)


__all__ = [
    "BOTS_GROUP",
    "BOT_FILE",
    "Acting",
    "BatchBot",
    "Bot",
    "BotSpec",
    "bot_names",
    "broken_bots",
    "choose_for",
    "choose_one",
    "docstring_of",
    "files_of",
    "make_bot",
    "read_name",
]
