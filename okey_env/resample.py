"""Determinizations (*worlds*): games with random hidden tiles that agree with all that one seat knows.

A world is made from an `Observation` alone, so it holds no information that the seat does not have.
"""

import numpy as np
import numpy.typing as npt

from okey_env.checks import seed_number, shown, whole_number, yes_or_no
from okey_env.engine.events import EVENTS, HIDDEN_TILE, pack_event
from okey_env.engine.resample import resample_all
from okey_env.engine.state import GAME
from okey_env.observation import Observation
from okey_env.tiles import NUM_SEATS

MAX_WORLDS = 2**22
"""The most worlds of one call, whose records fill 8 GB."""


def worlds(
    observation: Observation, number: int, seed: int = 0, *, draw_queues: bool = False
) -> npt.NDArray[np.record]:
    """Deal the hidden tiles again, at random: each world that agrees with the observation has the same probability.

    The observer sees the same in every world, including the order of past events. The tiles that others drew stay
    unknown in the log of a world; under `throw_visibility="top_only"` the log is empty.

    Args:
        observation: what one seat knows of a round that is not over.
        number: the number of worlds, 1 or more.
        seed: determines the worlds.
        draw_queues: each seat draws from its own part of the stock. Players see no difference.

    Returns:
        `(number,)` of GAME.

    Raises:
        ValueError: the round is over, a number is out of its range, or a very long search found no world. The last can
            happen only if another seat must be able to finish (R5.4).

    >>> from okey_env.round import Round
    >>> from okey_env.saving import to_bytes
    >>> round = Round("gamelake", seed=7)
    >>> games = worlds(round.observe(2), 3, seed=1)
    >>> other = Round()
    >>> other.restore(to_bytes(games, 0))
    >>> other.observe(2) == round.observe(2), other.observe(1) == round.observe(1)
    (True, False)
    """
    if not isinstance(observation, Observation):
        raise ValueError(f"observation={shown(observation)}: expected an okey_env.Observation")
    if observation.ending:
        raise ValueError(f"the round is over ({observation.ending}): expected a round that is not over")
    queues = int(yes_or_no("draw_queues", draw_queues))
    word = np.uint64(seed_number(seed))
    games = np.zeros(whole_number("number", number, 1, MAX_WORLDS), GAME)
    if not resample_all(observation.records, 0, queues, word, games):
        raise ValueError("no world was found in which the seat to move can finish with the tile on offer (R5.4)")
    _write_past(observation, games)
    return games


def _write_past(observation: Observation, games: npt.NDArray[np.record]) -> None:
    """Write the log and the order of the heaps as far as the observer has seen them."""
    heaps: list[list[int]] = [[] for _ in range(NUM_SEATS)]
    entries = []
    for step, event, kind in observation.events:
        seat = (step + observation.seat) % NUM_SEATS
        entries.append(pack_event(EVENTS.index(event), seat, HIDDEN_TILE if kind is None else kind))
        if event == "throw" and kind is not None:
            heaps[seat].append(kind)
        elif event == "take":
            heaps[seat - 1].pop()
    games["num_events"] = len(entries)
    games["log"][:, : len(entries)] = entries
    for seat, heap in enumerate(heaps):
        if entries:
            games["pile"][:, seat, : len(heap)] = heap
