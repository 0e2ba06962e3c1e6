"""The counts after one draw are what the hand analysis says of every hand that one draw can make."""

import numpy as np
import numpy.typing as npt
import pytest

from okey_agents.bots.rated import ExpertBot
from okey_agents.thinking.position import own_hand, position_of
from okey_env import Round, hands
from okey_env.engine._jit import kernel
from okey_env.engine.hand import analyse
from okey_env.engine.hand.bits import as_int
from okey_env.engine.hand.draws import AfterDrawCounts, TileSet, count_after_draw
from okey_env.engine.state import OBSERVATION
from okey_env.tiles import NUM_KINDS, WILD


@kernel
def counts_of(records: npt.NDArray[np.record]) -> AfterDrawCounts:
    """What one draw among the unseen tiles makes of the observer's 14 tiles."""
    position = position_of(records[0])
    after = np.empty(NUM_KINDS, np.uint64)
    hand, run_13_1 = own_hand(position), position.run_13_1
    distance, _, useful = analyse(hand.once, hand.twice, hand.wilds, run_13_1, after)
    unseen = TileSet(position.unseen, position.unseen_twice)
    return count_after_draw(hand, run_13_1, distance, as_int(useful), unseen)


def counted(rack: npt.NDArray[np.uint8], unseen: npt.NDArray[np.uint8]) -> tuple[float, float]:
    """The same, hand by hand."""
    distance = int(hands.melds_distance(rack))
    useful = hands.useful_kinds(rack)
    faces = [kind for kind in range(NUM_KINDS) if kind != WILD and unseen[kind]]
    now = sum(int(unseen[kind]) for kind in faces if useful[kind])
    then, helping, gained = 0, 0, 0
    for kind in faces:
        if useful[kind] if distance == 1 else distance > 2 and not useful[kind]:
            continue
        drawn = rack.copy()
        drawn[kind] += 1
        best = hands.analyse(drawn).useful
        ways = sum(int(unseen[other]) for other in faces if best[other])
        if useful[kind]:
            then += int(unseen[kind]) * ways
            helping += int(unseen[kind])
        else:
            gained += int(unseen[kind]) * max(0, ways - now)
    return then / max(helping, 1), gained


@pytest.mark.parametrize("rules", ["gamelake", "klasik"])
def test_every_hand_that_a_draw_can_make_is_counted(rules: str) -> None:
    distances = set()
    bot = ExpertBot(1)
    for seed in range(40):
        round = Round(rules, seed=seed)
        for _ in range(seed % 50):
            if not round.over:
                round.apply(bot.act(round.observe(round.turn)))
        if round.over or round.phase != "draw":
            continue
        seen = round.observe(round.turn)
        if (distance := int(hands.melds_distance(seen.rack))) == 0:
            continue
        distances.add(distance)
        counts = counts_of(np.array(seen.records, OBSERVATION))
        assert (counts.next_useful, counts.opened_up) == pytest.approx(counted(seen.rack, seen.unseen))
    assert distances >= {1, 2, 3, 4}
