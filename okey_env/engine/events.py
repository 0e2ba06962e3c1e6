"""The events of a round in the log of a game: two bytes each."""

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel
from okey_env.tiles import NUM_SEATS

EVENT_DRAW = 0
EVENT_TAKE = 1
EVENT_SHOW = 2
EVENT_THROW = 3
EVENT_FINISH = 4
EVENTS = ("draw", "take", "show", "throw", "finish")
"""The names of the events, by number."""
HIDDEN_TILE = 63
"""Stands for the kind in an observation where another seat drew from the stock."""
_KINDS = 64
"""A power of two above the number of kinds."""


@kernel
def pack_event(event: int, seat: int, kind: int) -> int:
    """The entry of the log for an event: kind + 64 * (seat + 4 * event).

    >>> pack_event(EVENT_THROW, 2, 7)
    903
    """
    return int(kind) + _KINDS * (int(seat) + NUM_SEATS * int(event))


@kernel
def unpack_event(entry: int | np.uint16) -> tuple[int, int, int]:
    """The event, the seat and the kind of an entry of the log.

    >>> unpack_event(903)
    (3, 2, 7)
    """
    number = int(entry)
    return number // (_KINDS * NUM_SEATS), number // _KINDS % NUM_SEATS, number % _KINDS


def unpack_events(entries: npt.NDArray[np.uint16]) -> tuple[npt.NDArray[np.int64], ...]:
    """The events, the seats and the kinds of `(n,)` entries of the log: three arrays `(n,)`."""
    numbers = entries.astype(np.int64)
    return numbers // (_KINDS * NUM_SEATS), numbers // _KINDS % NUM_SEATS, numbers % _KINDS
