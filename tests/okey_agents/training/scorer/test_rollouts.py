"""The stock dealt again: the same tiles in another order, and nothing else."""

import numpy as np

from okey_agents.thinking.rollout import deal_stock_again
from okey_env import Rules
from okey_env.engine.batch import act_in, deal_in
from okey_env.engine.state import NO_SEAT, PHASE_DRAW, new_games


def test_only_the_order_of_tiles_to_come_changes() -> None:
    games = new_games(Rules(), 3, draw_queues=True)
    games["seed"] = 5
    deal_in(games, 0, NO_SEAT)
    while games["phase"][0] != PHASE_DRAW:
        act_in(games, 0, 3 + int(np.flatnonzero(games["rack"][0, games["turn"][0]])[0]))
    act_in(games, 0, 0)  # one tile is drawn
    games[1] = games[2] = games[0]
    deal_stock_again(games[1], np.uint64(7))
    deal_stock_again(games[2], np.uint64(7))
    assert games[1].tobytes() == games[2].tobytes()
    before, after = games["stock"][0].copy(), games["stock"][1].copy()
    assert (before != after).any()
    assert sorted(before) == sorted(after)
    to_come = np.concatenate(
        [np.arange(*ends) for ends in zip(games["queue_next"][0], games["queue_end"][0], strict=True)]
    )
    assert len(to_come) == games["stock_left"][0]
    drawn = np.setdiff1d(np.arange(len(before)), to_come)
    assert (before[drawn] == after[drawn]).all()
    games["stock"][1] = before
    assert games[0].tobytes() == games[1].tobytes()
