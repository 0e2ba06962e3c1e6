"""Rewards: the dense terms, the same in every environment; and the price of an illegal action.

The price is never less than the worst that a legal episode can cost.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import okey_env
from okey_env import Deal, Match, Observation, OkeyEnv, OkeyVectorEnv, Round, Rules, SelfPlay, derive_seed, env, hands
from okey_env.actions import DRAW, FINISH, SHOW, TAKE, THROW, to_text
from okey_env.resample import worlds
from okey_env.rewards import (
    MOST_TILES,
    RewardName,
    as_reward,
    distances,
    illegal_reward,
    nearer,
    parse_reward,
    soon,
    worst_loss,
)
from okey_env.rules import PRESETS
from okey_env.saving import to_bytes
from tests import hand_oracle

RULES = [
    *PRESETS.values(),
    Rules(combine="max", void_points=10),
    Rules(colour_double=True, indicator_points=10, void_points=3),
    Rules(combine="max", colour_double=True, void_points=10, teams=True),
]


def dearest_finish(rules: Rules) -> Round:
    """Seat 0 shows the twin of a red indicator, and finishes seven pairs on a wild tile."""
    rack = "R1 * R9 R9 R4 R4 B5 B5 B7 B7 K9 K9 Y1 Y1 *"
    round = Round(rules, seed=1, deal=Deal(indicator="R1", racks=(rack, None, None, None), starter=0))
    if SHOW in round.legal_actions():
        round.apply(SHOW)
    round.apply("finish *")
    return round


@pytest.mark.parametrize("rules", RULES)
def test_no_legal_end_of_a_round_costs_more_than_the_price_of_an_illegal_action(rules: Rules) -> None:
    assert dearest_finish(rules).lost[1] <= worst_loss(rules)
    assert rules.void_points + rules.indicator_points <= worst_loss(rules)


def test_the_price_is_reached() -> None:
    """It is the worst that can happen, and not just some large number."""
    for rules in RULES[:2]:
        assert dearest_finish(rules).lost[1] == worst_loss(rules)
    assert worst_loss(Rules(combine="max", void_points=10)) == 11


@pytest.mark.parametrize("reward", ["points", "points+distance", "win+0.5*potential"])
@pytest.mark.parametrize(("rules", "episode"), list(itertools.product(RULES, ("round", "match"))))
def test_every_environment_asks_the_same_price(rules: Rules, episode: str, reward: str) -> None:
    price = illegal_reward(reward, rules, matches=episode == "match")
    common: dict[str, Any] = {"rules": rules, "reward": reward, "episode": episode}
    aec = env(**common)
    aec.reset(seed=1)
    agent = aec.agent_selection
    aec.step(1)  # nothing is on offer to the starter
    assert aec.rewards[agent] == price
    one = OkeyEnv(opponents="random", **common)
    one.reset(seed=1)
    assert one.step(int(np.flatnonzero(~one.action_masks())[0]))[1] == price
    many = OkeyVectorEnv(2, opponents="random", **common)
    observation, _ = many.reset(seed=1)
    illegal = (observation["action_mask"] == 0).argmax(axis=1)
    assert many.step(illegal)[1].tolist() == [price, price]


def test_a_lost_match_costs_no_more_than_leaving_it_illegally() -> None:
    """Seat 1 loses 20 of its 21 points, and then the dearest round."""
    rules = Rules(start_points=21)
    assert -illegal_reward("zero_sum", rules, matches=True) >= 20 + dearest_finish(rules).lost[1]


@pytest.mark.parametrize("teams", [False, True])
def test_soon_pays_the_share_of_the_throws_left(teams: bool) -> None:
    """The starter finishes at once; in a second round seat 1 finishes after the first throw of four."""
    rack = "R1 * R9 R9 R4 R4 B5 B5 B7 B7 K9 K9 Y1 Y1 *"
    rules = Rules(max_throws=3, teams=teams)
    round = Round(rules, seed=1, deal=Deal(indicator="R1", racks=(rack, None, None, None), starter=0))
    assert soon(round) == [0, 0, 0, 0]
    round.apply("finish *")
    assert soon(round) == [1, 0, 1 if teams else 0, 0]
    almost = "R9 R9 R4 R4 B5 B5 B7 B7 K9 K9 Y1 Y1 R3 R3"
    later = Round(rules, seed=1, deal=Deal(indicator="R1", racks=(None, almost, None, None), starter=0))
    later.apply(later.legal_actions()[-1])
    later.apply("draw")
    later.apply(next(action for action in later.legal_actions() if to_text(action, later.okey).startswith("finish")))
    assert later.winner == 1
    assert soon(later) == [0, 0.75, 0, 0.75 if teams else 0]


def test_soon_pays_nothing_if_nobody_finishes() -> None:
    round = Round(Rules(max_throws=1), seed=1)
    round.apply(round.legal_actions()[-1])
    assert round.over
    assert soon(round) == [0, 0, 0, 0]


def test_an_illegal_action_costs_more_than_the_worst_of_soon() -> None:
    assert illegal_reward("soon", Rules()) == -1.0


# --- dense terms --------------------------------------------------------------------------------------------

# A rack of 15 whose best throw is K12. It is one tile from a finish: B8 completes B6 B7. The okey is Y5.
NEAR = "R1 R2 R3 R4 | K7 K8 K9 | Y10 Y11 Y12 Y13 | B6 B7 | K12 | B1"
DENSE = ["zero_sum+distance", "points+0.5*distance", "win+4*potential", "zero_sum+potential"]


def policy(seen: Observation) -> int:
    """Plays on from what it sees: finishes if it can, takes one throw in three, throws well half of the time."""
    legal = seen.legal_actions
    number = int(seen.rack @ np.arange(1, 54)) + 7 * seen.throws
    if legal[-1] >= FINISH:
        return legal[-1]
    if seen.phase == "draw":
        return TAKE if TAKE in legal and (number % 3 == 0 or DRAW not in legal) else DRAW
    throws = [action for action in legal if action >= THROW]
    if number % 2:
        after = hands.throw_distances(np.ascontiguousarray(seen.rack))
        best = [action for action in throws if after[action - THROW] == after[after >= 0].min()]
        return best[number % len(best)]
    return throws[number % len(throws)]


def policies(batch: SelfPlay | OkeyVectorEnv) -> npt.NDArray[np.int64]:
    """The move of the policy in every game."""
    games = batch.games
    return np.array([policy(Observation.of(games, i, int(games["turn"][i]))) for i in range(len(games))])


def test_values_on_a_known_rack() -> None:
    """The winner of a round is paid for the tile that came, loses nothing by its throw, and keeps what it has."""
    deal = Deal(indicator="Y4", racks=(NEAR, None, None, None), stock="B13 B13 Y1 B8")
    for reward, kept in (("zero_sum+distance", 2.0), ("zero_sum+3*distance", 3.0), ("zero_sum+potential", 0.0)):
        aec: Any = okey_env.raw_env(reward=reward)
        aec.reset(seed=1, options={"deal": deal})
        assert distances(aec.round)[0] == 1
        further = okey_env.raw_env(reward=reward)
        further.restore(aec.save())
        further.step(okey_env.actions.from_text("throw R1", "Y5"))  # R2 R3 R4 is one tile shorter
        assert further.rewards["player_0"] == -parse_reward(reward).weight
        aec.step(okey_env.actions.from_text("throw K12", "Y5"))
        assert aec.rewards["player_0"] == 0
        for _ in range(3):
            aec.step(DRAW)
            aec.step(aec.round.legal_actions()[0])
        aec.step(DRAW)
        weight = parse_reward(reward).weight
        assert aec.rewards == {"player_0": weight, "player_1": 0, "player_2": 0, "player_3": 0}
        aec.step(aec.round.legal_actions()[-1])
        assert aec.round.winner == 0
        others = weight * nearer(aec.round)[1] if kept else 0.0
        returns = as_reward(reward)(aec.round)
        assert returns[:2] == [6 + kept, -2 + others]
        assert aec.rewards["player_0"] == 6 + kept - weight


@pytest.mark.parametrize("reward", [*DENSE, "placement+distance"])
@pytest.mark.parametrize("start", ["deal", "distance-1"])
@pytest.mark.parametrize("episode", ["round", "match"])
def test_kernels_pay_what_the_plain_function_says(reward: str, start: str, episode: str) -> None:
    """Exactly, since these weights and all totals but thirds have short binary fractions."""
    if reward.startswith("placement") and episode == "round":
        return
    rules = {"max_throws": 30, "void_points": 1, "start_points": 5}
    games = SelfPlay(3, rules, encoder=None, seed=11, reward=reward, start=start, episode=episode)
    games.reset()
    total = as_reward(reward, matches=episode == "match")
    paid = [total(games.clone(i)) for i in range(3)]
    assert paid == [[0.0] * 4] * 3
    summed = np.zeros((3, 4))
    rounds = 0
    for _ in range(400):
        actions = policies(games)
        after = [games.clone(i) for i in range(3)]
        games.step(actions)
        for i, round in enumerate(after):
            racks = round.racks
            mover = round.turn
            round.apply(int(actions[i]))
            due = total(round)
            change = [new - old for new, old in zip(due, paid[i], strict=True)]
            if reward.startswith(("win", "placement")):
                assert games.rewards[i].tolist() == pytest.approx(change, abs=1e-5)
            else:
                assert games.rewards[i].tolist() == change
            summed[i] += games.rewards[i]
            paid[i] = due
            others = [seat for seat in range(4) if seat != mover]
            assert (round.racks[others] == racks[others]).all()
            if round.over:
                base, tiles = np.array(as_reward(parse_reward(reward).base, matches=True)(round)), nearer(round)
                weight = parse_reward(reward).weight if "distance" in reward else 0.0
                assert summed[i] == pytest.approx(base + weight * tiles, abs=1e-5)
                if reward.startswith("zero_sum"):  # what becomes of the sum of the four
                    assert summed[i].sum() == weight * tiles.sum()
                summed[i], paid[i] = 0, [0.0] * 4
                rounds += 1
    assert rounds > 5


def test_the_plain_function_measures_racks_as_the_oracle_does() -> None:
    round = Round("klasik", seed=4)
    dealt = round.racks
    for _ in range(41):
        round.apply(policy(round.observe(round.turn)))
    assert round.dealt_racks.tolist() == dealt.tolist()
    run_13_1 = round.rules.run_13_1
    expected = [
        hand_oracle.melds_distance(before, run_13_1) - hand_oracle.melds_distance(now, run_13_1)
        for before, now in zip(dealt, round.racks, strict=True)
    ]
    assert nearer(round).tolist() == expected
    assert any(expected)
    world = Round()
    world.restore(to_bytes(worlds(round.observe(0), 1), 0))
    with pytest.raises(ValueError, match="hide tiles, as in a world: expected a round that was dealt"):
        nearer(world)


@pytest.mark.parametrize("reward", ["zero_sum", "zero_sum+distance", "points+0.25*potential", "win+distance"])
@pytest.mark.parametrize("episode", ["round", "match"])
def test_all_four_environments_pay_the_same_for_the_same_game(reward: str, episode: str) -> None:
    rules = {"start_points": 5, "void_points": 1, "max_throws": 60}
    start = {"deal": 1.0, "distance-1": 2.0, "short-4": 1.0}
    common: dict[str, Any] = {"rules": rules, "reward": reward, "episode": episode, "start": start}
    for game in range(4):
        seed = derive_seed(21, game)
        games = SelfPlay(game + 1, encoder=None, seed=21, **common)
        games.reset()
        aec: Any = okey_env.raw_env(**common)
        aec.reset(seed=seed)
        told: list[tuple[int, list[float]]] = []  # who moved, and what each seat was paid
        over = False
        while not over:
            assert aec.save() == games.save(game)
            actions = policies(games)
            told.append((int(games.seats[game]), []))
            games.step(actions)
            aec.step(int(actions[game]))
            told[-1][1].extend(games.rewards[game].tolist())
            assert list(aec.rewards.values()) == pytest.approx(told[-1][1], abs=1e-5)
            over = bool(games.terminated[game] or games.truncated[game])
            assert over == all(map(any, zip(aec.terminations.values(), aec.truncations.values(), strict=True)))
        for seat in range(4):
            expected = between_decisions(told, seat)
            if not expected:
                continue  # the episode ended before the seat was to move
            one = OkeyEnv(opponents=policy, learning_seat=seat, **common)
            one.reset(seed=seed)
            done, paid = False, []
            while not done:
                _, reward_now, terminated, truncated, _ = one.step(policy(one.round.observe(seat)))
                paid.append(reward_now)
                done = terminated or truncated
            assert paid == pytest.approx(expected, abs=1e-5)
            many = OkeyVectorEnv(game + 1, opponents=policy, learning_seat=seat, **common)
            many.reset(seed=21)
            done, paid = False, []
            while not done:
                _, rewards, ended, cut, _ = many.step(policies(many))
                paid.append(rewards[game])
                done = bool(ended[game] or cut[game])
            assert paid == pytest.approx(expected, abs=1e-5)


def between_decisions(told: list[tuple[int, list[float]]], seat: int) -> list[float]:
    """The rewards of one seat, added up from each of its decisions to the next."""
    paid: list[float] = []
    for mover, rewards in told:
        if mover == seat:
            paid.append(0.0)
        if paid:
            paid[-1] += rewards[seat]
    return paid


def annealed(make: Callable[[], Any], rewards_of: Callable[[Any], npt.NDArray[Any]]) -> None:
    """The weight falls during play; each reward is as if its weight had always been there."""
    weights = [2.0, 2.0, 0.5, 8.0, 0.0, 1.0]
    steady = {}
    for weight in set(weights):
        games = make()
        games.distance_weight = weight
        steady[weight] = np.array([rewards_of(games) for _ in range(120)])
    games = make()
    for step in range(120):
        games.distance_weight = weights[step // 20]
        assert games.distance_weight == weights[step // 20]
        assert rewards_of(games).tolist() == steady[weights[step // 20]][step].tolist()


def test_a_new_weight_counts_from_the_next_change_on_and_pays_nothing_itself() -> None:
    def make() -> SelfPlay:
        games = SelfPlay(4, {"max_throws": 40}, encoder=None, seed=2, reward="zero_sum+distance")
        games.reset()
        return games

    def step_of(games: SelfPlay) -> npt.NDArray[Any]:
        games.step(policies(games))
        return games.rewards.copy()

    annealed(make, step_of)

    def make_env() -> OkeyVectorEnv:
        env = OkeyVectorEnv(4, {"max_throws": 40}, seed=2, opponents=policy, reward="zero_sum+distance")
        env.reset()
        return env

    def step_of_env(env: OkeyVectorEnv) -> npt.NDArray[Any]:
        return env.step(policies(env))[1]

    annealed(make_env, step_of_env)


def test_a_potential_that_is_annealed_is_paid_back_exactly() -> None:
    games = SelfPlay(4, {"max_throws": 40}, encoder=None, seed=2, reward="zero_sum+potential", start="distance-2")
    games.reset()
    summed = np.zeros((4, 4))
    ends = 0
    for step in range(400):
        games.distance_weight = 4.0 if step < 50 else 0.25 * (step % 7)
        rounds = [games.clone(i) for i in range(4)]
        actions = policies(games)
        games.step(actions)
        summed += games.rewards
        for i in np.flatnonzero(games.terminated | games.truncated):
            rounds[i].apply(int(actions[i]))
            assert summed[i].tolist() == as_reward("zero_sum")(rounds[i])
            summed[i] = 0
            ends += 1
    assert ends > 5


@pytest.mark.parametrize("reward", ["zero_sum+distance", "zero_sum+potential"])
def test_a_restored_game_goes_on_paying_as_if_it_had_been_played_there(reward: str) -> None:
    first = SelfPlay(1, {"max_throws": 40}, encoder=None, seed=2, reward=reward)
    first.reset()
    second = SelfPlay(3, {"max_throws": 40}, encoder=None, seed=5, reward=reward)
    second.reset()
    for step in range(90):
        if step == 30:
            second.restore(1, first.save(0))
        first.step(policies(first))
        second.step(policies(second))
        if step >= 30:
            assert second.rewards[1].tolist() == first.rewards[0].tolist()


def test_the_greatest_distance_is_ten() -> None:
    """No rack of any family is further away, and this one is as far: no two of its tiles meet in a meld."""
    rack = hands.parse("R1 R1 R7 R7 B2 B2 B8 B8 K3 K3 K9 K9 Y4 Y4", okey="Y7")
    generator = np.random.default_rng(1)
    furthest = max(
        hand_oracle.melds_distance(make(generator, 14, True))
        for make in hand_oracle.FAMILIES.values()
        for _ in range(20)
    )
    assert hands.melds_distance(rack) == MOST_TILES
    assert furthest <= MOST_TILES


@pytest.mark.parametrize("reward", ["zero_sum+distance", "zero_sum+4*potential", "win+distance"])
def test_no_legal_play_earns_less_than_the_price_from_any_decision_on(reward: str) -> None:
    price = illegal_reward(reward, Rules())
    total = as_reward(reward)
    for seed in range(10):
        round = Round(seed=seed)
        totals = [total(round)]
        while not round.over:  # throws that spoil the rack
            throws = [action for action in round.legal_actions() if action < FINISH]
            round.apply(throws[seed % len(throws)] if round.phase == "throw" else throws[0])
            totals.append(total(round))
        for before in totals:
            assert (np.array(totals[-1]) - np.array(before)).min() >= price


def test_the_price_follows_a_larger_weight_and_keeps_to_the_largest() -> None:
    env = OkeyVectorEnv(1, reward="zero_sum+distance", opponents=policy, seed=1)
    for weight, largest in ((1.0, 2.0), (5.0, 5.0), (0.0, 5.0)):
        env.distance_weight = weight
        observation, _ = env.reset(seed=1)
        illegal = (observation["action_mask"] == 0).argmax(axis=1)
        assert env.step(illegal)[1][0] == illegal_reward(f"zero_sum+{largest}*distance", env.rules)


# --- names --------------------------------------------------------------------------------------------------


def test_names_are_read() -> None:
    assert parse_reward("zero_sum") == RewardName("zero_sum", "", 0.0)
    assert parse_reward("zero_sum+distance") == RewardName("zero_sum", "distance", 2.0)
    assert parse_reward("win+0.5*potential") == RewardName("win", "potential", 0.5)


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        ("zero_sum+distnce", "reward='zero_sum.distnce' has the term 'distnce': expected 'distance' or 'potential'"),
        ("zero_sum+", "has the term '': expected 'distance' or 'potential'"),
        ("zero_sum+distance+potential", "has the term 'distance.potential': expected"),
        ("zero_sum+two*distance", "has the weight 'two': expected a number of points from 0 to 1e\\+06"),
        ("zero_sum+-1*distance", "has the weight '-1': expected"),
        ("zero_sum+nan*potential", "has the weight 'nan': expected"),
        ("zero_sum+*distance", "has the weight '': expected"),
        ("zerosum+distance", "reward='zerosum.distance' is not a reward"),
        ("placement+distance", "reward='placement.distance' is"),
        (None, "reward=None is not a reward"),
    ],
)
def test_a_wrong_name_is_refused_in_one_sentence(reward: Any, message: str) -> None:
    makers: list[Callable[..., Any]] = [
        okey_env.raw_env,
        OkeyEnv,
        OkeyVectorEnv,
        lambda reward: SelfPlay(1, reward=reward),
    ]
    for make in makers:
        with pytest.raises(ValueError, match=message):
            make(reward=reward)


def test_a_wrong_weight_is_refused() -> None:
    plain, dense = SelfPlay(1), OkeyVectorEnv(1, reward="win+distance", opponents=policy)
    assert plain.distance_weight == 0
    with pytest.raises(ValueError, match=r"reward='zero_sum' has no dense term to weigh: expected a reward like"):
        plain.distance_weight = 1.0
    for weight in (-1, float("nan"), "2"):
        with pytest.raises(ValueError, match=r"distance_weight=.*: expected 0 to 1e\+06 points for each tile"):
            dense.distance_weight = weight  # type: ignore[assignment]  # wrong on purpose
    assert dense.distance_weight == 2


def test_a_match_deals_its_starts_again_in_every_round() -> None:
    aec: Any = okey_env.raw_env(episode="match", start="distance-1", reward="zero_sum+distance")
    aec.reset(seed=3)
    match: Match = aec.match
    for _ in range(3):
        assert distances(match.round).tolist() == [1, 1, 1, 1]
        played = len(match.earlier)
        while len(match.earlier) == played:
            aec.step(policy(aec.observation_of(aec.agent_selection)))
