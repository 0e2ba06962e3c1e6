"""The newest events of many rounds as numbers, for networks that read what happened."""

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel
from okey_env.engine.events import HIDDEN_TILE, unpack_event
from okey_env.engine.observe import observe_events
from okey_env.engine.state import LOG_SIZE
from okey_env.tiles import NUM_KINDS


@kernel
def recent_events(
    games: npt.NDArray[np.record],
    seats: npt.NDArray[np.int64],
    events: npt.NDArray[np.int8],
    lengths: npt.NDArray[np.int64],
) -> None:
    """Fill the newest events of `(N,)` games, oldest first, as one seat of each may know them.

    Args:
        games: the rounds.
        seats: `(N,)` the observers.
        events: `(N, L, 3)` to fill from the left with seat, event and kind; 53 where the kind is hidden.
        lengths: `(N,)` to fill: how many events were written; 0 if the rules show only the tops of the heaps.
    """
    seen = np.zeros(LOG_SIZE, np.uint16)
    for i in range(len(games)):
        count = observe_events(games[i], seats[i], seen)
        first = max(count - events.shape[1], 0)
        for place in range(count - first):
            event, actor, kind = unpack_event(seen[first + place])
            events[i, place, 0] = actor
            events[i, place, 1] = event
            events[i, place, 2] = NUM_KINDS if kind == HIDDEN_TILE else kind
        lengths[i] = count - first
