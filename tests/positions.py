"""Positions to try bots in: rules in all their shapes, and rounds of a bot against itself."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from okey_env.engine.batch import apply_at, deal_all, observe_at
from okey_env.engine.state import NOT_ENDED, OBSERVATION, new_games
from okey_env.rules import as_rules

RULES: tuple[Any, ...] = (
    "gamelake",
    "klasik",
    {"stock_end": "next_may_take", "indicator_window": "before_draw", "run_13_1": False},
    {"preset": "klasik", "throw_visibility": "top_only", "indicator_points": 2, "max_throws": 30},
    {"teams": True, "colour_double": True, "combine": "max"},
)


def positions(bot: Any, rules: Any, num_games: int) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[np.int64], Any]]:
    """Rounds side by side: games, which of them go on, and what their movers see."""
    games = new_games(as_rules(rules), num_games)
    deal_all(games, np.arange(num_games).astype(np.uint64))
    records: npt.NDArray[Any] = np.zeros(num_games, OBSERVATION)
    while (going := np.flatnonzero(games["ending"] == NOT_ENDED)).size:
        observe_at(games, going, records[: going.size])
        yield games, going, records[: going.size]
        apply_at(games, going, bot.act_batch(records[: going.size]))
