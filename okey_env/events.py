"""The events of a round as arrays, for networks that read what happened and when.

An event is three numbers: the seat that did it, counted from the observer; its number in `EVENTS`; and the kind of the
tile, or `HIDDEN` where another seat drew from the stock. `SelfPlay.events`, `OkeyVectorEnv.events` and
`Observation.event_array` give them, and `tokens` makes one number of each, as an embedding wants.
"""

import numpy as np
import numpy.typing as npt

from okey_env.checks import shown
from okey_env.engine.events import EVENTS, HIDDEN_TILE, unpack_events
from okey_env.engine.history import recent_events
from okey_env.engine.state import LOG_SIZE
from okey_env.tiles import NUM_KINDS, NUM_SEATS

COLUMNS = ("seat", "event", "kind")
"""What the three numbers of an event are."""
HIDDEN = NUM_KINDS
"""The kind of a tile that the observer has not seen."""
PADDING = -1
"""All three numbers of an entry after the last event."""
MAX_EVENTS = LOG_SIZE
"""The most events that can be asked for; a round has fewer."""
NUM_TOKENS = 1 + NUM_SEATS * len(EVENTS) * (NUM_KINDS + 1)
"""The number of different tokens: 0 for padding, and one for each seat, event and kind."""


def tokens(events: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """One number for each event: `(…)` int64 from 0 (padding) to `NUM_TOKENS` - 1 for `(…, 3)` events.

    Raises:
        ValueError: the last axis does not have the three numbers of an event.

    >>> tokens(np.array([[0, 0, 53], [3, 4, 53], [-1, -1, -1]], np.int8))
    array([  54, 1080,    0])
    """
    array = np.asarray(events)
    if array.dtype.kind != "i" or array.ndim == 0 or array.shape[-1] != len(COLUMNS):
        raise ValueError(f"events={shown(events)}: expected whole numbers (…, {len(COLUMNS)}), as `events` gives them")
    seats, numbers, kinds = np.moveaxis(array.astype(np.int64), -1, 0)
    return np.where(seats < 0, 0, 1 + kinds + (NUM_KINDS + 1) * (numbers + len(EVENTS) * seats))


def recent(
    games: npt.NDArray[np.record], seats: npt.NDArray[np.int64], last: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64]]:
    """The newest events of `(N,)` games as one seat of each knows them: `(N, last, 3)`, and their numbers `(N,)`."""
    events = np.full((len(games), last, len(COLUMNS)), PADDING, np.int8)
    lengths = np.zeros(len(games), np.int64)
    recent_events(games, seats, events, lengths)
    return events, lengths


def as_array(entries: npt.NDArray[np.uint16], last: int | None) -> npt.NDArray[np.int8]:
    """The entries of an observation as `(last, 3)` events, or all of them as `(n, 3)`."""
    numbers, seats, kinds = unpack_events(entries if last is None else entries[-last:])
    events = np.full((len(kinds) if last is None else last, len(COLUMNS)), PADDING, np.int8)
    events[: len(kinds)] = np.stack([seats, numbers, np.where(kinds == HIDDEN_TILE, HIDDEN, kinds)], axis=1)
    return events
