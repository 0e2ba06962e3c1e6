"""Matches (R8): beside the reference twin, alone and in batches, through every environment."""

import copy
import pickle
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo import test as pettingzoo_test

import okey_env
from okey_env import Deal, Observation, OkeyEnv, OkeyVectorEnv, Round, SelfPlay, derive_seed
from okey_env.engine._jit import JIT_IS_OFF
from okey_env.engine.match import MATCH_REWARD_NAMES, MAX_ROUNDS
from okey_env.engine.state import rules_of
from okey_env.interfaces import EPISODES
from okey_env.match import Match
from okey_env.rewards import MATCH_REWARDS, placement
from okey_env.rules import Rules
from okey_env.tiles import NUM_KINDS
from tests.lockstep import choose, compare, random_rules
from tests.reference import GAMELAKE, ReferenceMatch, ReferenceRound

official: Any = pettingzoo_test  # as untyped as it is

# R5 finishes with melds; the okey is Y5
FINISHED = "R1 R2 R3 R4 | B4 B5 B6 | K7 K8 K9 | Y10 Y11 Y12 Y13 | R5"


def finishing(seat: int) -> Deal:
    """A deal in which the seat begins and can finish with R5, for 2 points."""
    racks: list[str | None] = [None] * 4
    racks[seat] = FINISHED
    return Deal(indicator="Y4", racks=racks)


# --- beside the twin ------------------------------------------------------------------------------------


def twin_of(round: Round, rules: Any) -> ReferenceRound:
    """A twin with the deal of a round that has not begun."""
    fields = round.fields
    racks = [[kind for kind in range(NUM_KINDS) for _ in range(rack[kind])] for rack in round.racks.tolist()]
    queues = bool(fields["draw_queues"][0])
    return ReferenceRound(rules, round.indicator, racks, fields["stock"][0].tolist(), round.turn, queues)


def play_beside_twin(seed: int) -> Counter[str]:
    """One match of both, compared after every round; what happened in it."""
    rng = random.Random(seed)
    rules = {**GAMELAKE, **random_rules(rng)}
    rules |= {"teams": rng.random() < 0.3, "winners": rng.choice((1, 2)), "rotation": rng.choice(("right", "winner"))}
    rules |= {"start_points": rng.choice((5, 6, 8, 12, 21)), "void_points": rng.choice((0, 0, 1))}
    switches = {name: value for name, value in rules.items() if name in Rules.__dataclass_fields__}
    match = Match(switches, seed=seed, draw_queues=rng.random() < 0.3)
    reference = ReferenceMatch(rules, match.round.turn)
    skill = rng.choice((0.9, 1.0))
    seen: Counter[str] = Counter()
    while True:
        round = match.round
        twin = twin_of(round, rules)
        game = {"games": round.games, **round.fields}
        while not round.over:
            action = choose(game, round.legal_actions(), skill, rng)
            twin.step(action)
            match.apply(action)
        compare(game, twin)
        reference.end_round(twin.lost, twin.winner)
        seen[round.ending] += 1
        assert match.rounds_played == reference.rounds
        assert match.over == (reference.over or reference.rounds == MAX_ROUNDS)
        assert list(match.scores) == (reference.scores * 2 if match.rules.teams else reference.scores)
        assert list(match.winners) == reference.winners()
        assert list(match.shares) == reference.shares()
        assert placement(round) == pytest.approx(scaled(reference.shares()))
        if match.over:
            seen["cut off" if match.truncated else "over"] += 1
            seen["shared"] += any(0 < share < 1 for share in match.shares)
            seen["teams"] += match.rules.teams
            return seen
        match.next_round()
        assert match.round is round
        assert round.fields["starter"][0] == reference.starter
        assert list(round.scores) == list(match.scores)


def scaled(shares: list[Fraction]) -> list[float]:
    """What `placement` pays: 1 for a whole win, 0 in all."""
    mean = sum(shares) / 4
    return [float((share - mean) / (1 - mean)) for share in shares]


@pytest.mark.heavy
def test_matches_agree_with_the_twin() -> None:
    seen = sum((play_beside_twin(seed) for seed in range(4 if JIT_IS_OFF else 20)), Counter())
    if not JIT_IS_OFF:
        assert min(seen[what] for what in ("finish", "void", "over", "shared", "teams")) > 0, seen


@pytest.mark.slow
def test_thousands_of_matches_agree_with_the_twin() -> None:
    seen = sum((play_beside_twin(seed) for seed in range(1_000, 3_000)), Counter())
    print(dict(seen))
    assert min(seen[what] for what in ("finish", "void", "over", "shared", "teams")) > 100, seen


# --- one match ------------------------------------------------------------------------------------------


def finish_from(points: tuple[int, ...], rules: Any, seat: int = 0) -> Match:
    match = Match(rules, seed=1, deal=finishing(seat), points=points)
    match.apply("finish R5")
    return match


def test_points_below_0_are_kept_and_the_best_score_wins() -> None:
    """R8.2, and R8.3 with one winner."""
    match = finish_from((9, 2, 4, 1), "gamelake")
    assert (match.scores, match.over, match.winners) == ((9, 0, 2, -1), True, (0,))
    assert [tuple(row) for row in match.standings] == [(1, (0,), 9), (2, (2,), 2), (3, (1,), 0), (4, (3,), -1)]


def test_equal_scores_share_a_place_and_a_win() -> None:
    """R8.3: with two winners, and with one."""
    match = finish_from((7, 12, 9, 1), "klasik")
    assert match.scores == (7, 10, 7, -1)
    assert match.shares == (Fraction(1, 2), Fraction(1), Fraction(1, 2), Fraction(0))
    assert [row.rank for row in match.standings] == [1, 2, 2, 4]
    assert placement(match.round) == [0.0, 1.0, 0.0, -1.0]
    alone = finish_from((5, 7, 7, 1), "gamelake")
    assert alone.winners == (0, 1, 2)
    assert placement(alone.round) == pytest.approx([1 / 9, 1 / 9, 1 / 9, -1 / 3])


def test_a_team_has_one_score() -> None:
    """R8.4."""
    rules = {"preset": "klasik", "teams": True, "start_points": 5}
    match = finish_from((5, 2, 5, 2), rules)
    assert (match.scores, match.winners) == ((5, 0, 5, 0), (0, 2))
    assert [tuple(row) for row in match.standings] == [(1, (0, 2), 5), (2, (1, 3), 0)]
    assert placement(match.round) == [1.0, -1.0, 1.0, -1.0]


def test_a_shown_indicator_counts_at_once_but_the_match_goes_on_to_the_end_of_the_round() -> None:
    rack = "Y4 R2 R4 R6 R8 R10 R12 B1 B3 B5 B7 K9 K11 K13 Y1"
    match = Match(seed=1, deal=Deal(indicator="Y4", racks=(rack, None, None, None)), points=(1, 1, 1, 1))
    match.apply("show")
    assert (match.scores, match.over, match.winners) == ((1, 0, 0, 0), False, ())
    assert match.round.observe(1).scores == (1, 1, 1, 1)


def test_start_moves_to_the_right_or_to_the_winner() -> None:
    """R2.2."""
    for rotation, starter in (("right", 3), ("winner", 2)):
        match = Match({"rotation": rotation}, seed=1, deal=finishing(2))
        match.apply("finish R5")
        match.next_round()
        assert match.round.turn == starter
        assert match.round.observe(2).scores == (20, 18, 18, 18)  # counted from the observer
        assert [round.winner for round in match.earlier] == [2]


def test_next_round_only_between_rounds() -> None:
    match = Match(seed=1)
    before = match.save()
    with pytest.raises(ValueError, match="the round is not over"):
        match.next_round()
    assert match.save() == before
    with pytest.raises(ValueError, match="the match is over after 1 rounds"):
        finish_from((5, 2, 5, 5), "gamelake").next_round()


def test_a_match_without_finishes_is_cut_off() -> None:
    match = Match({"max_throws": 1, "indicator_points": 0}, seed=1)
    rounds = 0
    while True:
        match.apply(match.round.legal_actions()[0])
        rounds += match.round.over
        if match.over:
            break
        if match.round.over:
            match.next_round()
    assert (rounds, match.rounds_played, match.truncated, match.winners) == (MAX_ROUNDS, MAX_ROUNDS, True, ())
    assert placement(match.round) == [0.0] * 4


@pytest.mark.parametrize(
    ("points", "rules", "message"),
    [
        ((2, 9, 4), {}, r"points=\(2, 9, 4\): expected 4 whole numbers from 1 to 21"),
        ((0, 9, 4, 2), {}, "expected 4 whole numbers from 1 to 21"),
        ((2, 9, 4, 22), {}, "expected 4 whole numbers from 1 to 21"),
        ((2, 9, 4, 2.5), {}, "expected 4 whole numbers from 1 to 21"),
        (7, {}, "points=7: expected 4 whole numbers from 1 to 21"),
        ((2, 9, 4, 9), {"teams": True}, "expected the same for seats 0 and 2"),
    ],
)
def test_impossible_points_are_refused(points: Any, rules: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Match(rules, seed=1, points=points)
    env: Any = okey_env.raw_env(rules, episode="match")
    with pytest.raises(ValueError, match=message):
        env.reset(seed=1, options={"points": points})


def test_saved_and_copied_matches_go_on_identically() -> None:
    def play(match: Match, rng: random.Random) -> list[bytes]:
        saved = []
        for _ in range(3_000):
            if match.round.over:
                match.next_round()
            match.apply(rng.choice(match.round.legal_actions()))
            saved.append(match.save())
        return saved

    match = Match({"preset": "klasik", "max_throws": 30}, seed=3)
    play(match, random.Random(1))
    restored = Match(seed=0)
    restored.restore(match.save())
    assert (restored.rules, restored.scores, restored.number) == (match.rules, match.scores, match.number)
    twins = [restored, copy.deepcopy(match), pickle.loads(pickle.dumps(match))]
    assert [len(twin.earlier) for twin in twins] == [0, len(match.earlier), len(match.earlier)]
    assert len(match.earlier) > 10
    expected = play(match, random.Random(2))
    for twin in twins:
        assert play(twin, random.Random(2)) == expected


# --- environments ---------------------------------------------------------------------------------------


def play_env(env: Any, seed: int) -> dict[str, list[float]]:
    """Sensible play of the rest of an episode: all that each agent is paid, asked or not."""
    rng = random.Random(seed)
    paid: dict[str, list[float]] = {agent: [] for agent in env.possible_agents}
    for agent in env.agent_iter():
        _, reward, termination, truncation, _ = env.last()
        paid[agent].append(reward)
        round = env.unwrapped.round
        game = {"games": round.games, **round.fields}
        over = termination or truncation
        env.step(None if over else choose(game, round.legal_actions(), 1.0, rng))
    return paid


@pytest.mark.heavy
@pytest.mark.parametrize("reward", MATCH_REWARDS)
@pytest.mark.parametrize("rules", ["gamelake", {"preset": "klasik", "teams": True}], ids=["gamelake", "teams"])
def test_pettingzoo_contract(reward: str, rules: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def make() -> Any:
        return okey_env.env(rules, reward=reward, episode="match")

    official.api_test(make(), num_cycles=200)
    official.seed_test(make, num_cycles=200)
    capsys.readouterr()


def test_is_registered() -> None:
    env: Any = pettingzoo.make("aec", "okey/match-v0", rules="klasik", reward="placement")
    env.reset(seed=1)
    assert str(env.unwrapped) == "okey_match_v0"
    assert env.unwrapped.match.scores == (20, 20, 20, 20)
    single: Any = gymnasium.make("okey/Match-v0", opponents="random")
    assert single.unwrapped.match is not None
    many: Any = gymnasium.make_vec("okey/Match-v0", num_envs=2, opponents="random", reward="placement")
    assert many.reset(seed=1)[0]["action_mask"].shape == (2, 109)


@pytest.mark.parametrize("rules", [{"start_points": 5}, {"preset": "klasik", "start_points": 7, "void_points": 1}])
def test_aec_pays_a_whole_match(rules: Any) -> None:
    for reward in ("points", "placement", "zero_sum"):
        env: Any = okey_env.env(rules, reward=reward, episode="match")
        env.reset(seed=5)
        match = env.unwrapped.match
        infos = env.unwrapped.infos
        paid = play_env(env, 1)
        assert match.over
        assert match.rounds_played > 1
        total = [sum(paid[agent]) for agent in env.possible_agents]
        start = env.unwrapped.rules.start_points
        if reward == "points":
            assert total == [score - start for score in match.scores]
        elif reward == "placement":
            assert total == pytest.approx(placement(match.round))
            assert sorted(total)[-1] > 0
        else:
            assert sum(total) == pytest.approx(0)
        assert infos != env.unwrapped.infos


def test_aec_says_how_rounds_end_and_goes_on() -> None:
    env: Any = okey_env.raw_env(reward="points", episode="match")
    env.reset(seed=1, options={"deal": finishing(2), "points": (9, 3, 5, 4)})
    assert env.observe("player_1")["observation"] is not None
    assert env.observation_of("player_1").scores == (3, 5, 4, 9)
    env.step(okey_env.actions.from_text("finish R5", "Y5"))
    assert env.rewards == {"player_0": -2.0, "player_1": -2.0, "player_2": 0.0, "player_3": -2.0}
    told = [(info["ending"], info["winner"], info["rounds"], info["won"]) for info in env.infos.values()]
    assert told == [(1, 2, 1, 0)] * 4
    assert [info["points"] for info in env.infos.values()] == [7, 1, 5, 2]
    assert not any(env.terminations.values())
    assert env.agent_selection == "player_3"
    assert env.observation_of("player_3").scores == (2, 7, 1, 5)
    assert env.state()[-4:].tolist() == [7, 1, 5, 2]
    env.match.round.deal(1, finishing(3), points=(7, 1, 5, 2))
    env._begin()
    env.step(okey_env.actions.from_text("finish R5", "Y5"))
    assert all(env.terminations.values())
    assert [info["won"] for info in env.infos.values()] == [1, 0, 0, 0]
    assert [info["placement"] for info in env.infos.values()] == [1, 4, 2, 3]
    assert [info["points"] for info in env.infos.values()] == [5, -1, 3, 2]
    env.reset()
    assert env.match.scores == (20, 20, 20, 20)
    assert (env.match.number, env.match.earlier) == (1, [])


def test_aec_saved_in_mid_match_goes_on_identically() -> None:
    first: Any = okey_env.raw_env({"max_throws": 20}, episode="match")
    first.reset(seed=3)
    rng = random.Random(3)

    def step(env: Any, action: int) -> tuple[Any, ...]:
        env.step(action)
        return env.save(), env.rewards, env.agent_selection, env.terminations

    for _ in range(600):
        first.step(int(rng.choice(np.flatnonzero(first.observe(first.agent_selection)["action_mask"]))))
    assert first.match.rounds_played > 5
    second: Any = okey_env.raw_env({"max_throws": 20}, episode="match")
    second.restore(first.save())
    third = copy.deepcopy(first)
    for _ in range(600):
        action = int(rng.choice(np.flatnonzero(first.observe(first.agent_selection)["action_mask"])))
        expected = step(first, action)
        assert step(second, action) == expected
        assert step(third, action) == expected
    first.reset()
    second.reset()
    assert first.save() == second.save()


def test_a_match_saved_between_rounds_goes_on_with_the_next() -> None:
    match = Match(seed=1, deal=finishing(2))
    match.apply("finish R5")
    env: Any = okey_env.raw_env(episode="match")
    env.restore(match.save())
    match.next_round()
    assert env.save() == match.save()
    assert env.agent_selection == "player_3"


def sensible(observation: Observation) -> int:
    return observation.legal_actions[-1]


@pytest.mark.parametrize("reward", MATCH_REWARDS)
def test_gymnasium_contract(reward: str) -> None:
    check_env(OkeyEnv(opponents="greedy", reward=reward, episode="match"), skip_render_check=True)


@pytest.mark.parametrize("reward", MATCH_REWARDS)
def test_learning_seat_is_paid_what_the_match_pays(reward: str) -> None:
    env = OkeyEnv({"start_points": 5}, reward=reward, opponents="greedy", episode="match")
    greedy = okey_env.make_bot("greedy")
    ends = Counter[str]()
    for seed in range(4):
        env.reset(seed=seed)
        seat, match = env.seat, env.match
        assert match is not None
        earned, over = 0.0, False
        while not over:
            _, pay, terminated, truncated, info = env.step(greedy.act(env.round.observe(seat)))
            earned += pay
            over = terminated or truncated
        rounds = [*match.earlier, match.round]
        assert earned == pytest.approx(sum(MATCH_REWARDS[reward](round)[seat] for round in rounds))
        assert (info["won"], info["points"]) == (seat in match.winners, match.scores[seat])
        assert (info["rounds"], info["winner"]) == (match.rounds_played, match.round.winner)
        assert info["placement"] == next(row.rank for row in match.standings if seat in row.seats)
        ends["won" if info["won"] else "lost"] += 1
    assert len(ends) == 2
    env.reset()
    assert env.seat == 1  # one place on in the next match
    assert env.match is not None
    assert env.match.number == 1


def choose_for_all(masks: Any, step: int) -> Any:
    actions = np.empty(len(masks), np.int64)
    for i, mask in enumerate(masks):
        legal = np.flatnonzero(mask)
        actions[i] = legal[(step * 7 + int(legal.sum())) % len(legal)] if step % 5 else legal[-1]
    return actions


def contents(games: Any, i: int) -> dict[str, Any]:
    """All that a game holds, but for what earlier rounds left in places that this one has not come to."""
    held = {name: games[name][i].tolist() for name in games.dtype.names if name not in ("log", "pile", "rules")}
    held["rules"] = rules_of(games[i])
    held["log"] = games["log"][i, : held["num_events"]].tolist()
    held["pile"] = [games["pile"][i, seat, :height].tolist() for seat, height in enumerate(held["pile_height"])]
    return held


@pytest.mark.parametrize("reward", MATCH_REWARD_NAMES)
@pytest.mark.parametrize(
    "rules",
    [
        {"start_points": 5, "void_points": 1, "max_throws": 12},
        {"preset": "klasik", "teams": True, "start_points": 5, "void_points": 2, "max_throws": 9, "rotation": "winner"},
    ],
)
def test_each_game_of_a_batch_is_the_match_it_would_be_alone(rules: Any, reward: str) -> None:
    games = SelfPlay(5, rules, encoder=None, seed=11, reward=reward, episode="match")
    points = (5, 3, 5, 3)
    games.reset(options={"points": points})
    alone = [Match(rules, seed=derive_seed(11, i), points=points) for i in range(5)]
    total = MATCH_REWARDS[reward]
    paid = [total(match.round) for match in alone]
    ended = 0
    for step in range(600):
        for i, match in enumerate(alone):
            assert contents(games.games, i) == contents(match.round.games, 0)
        actions = choose_for_all(games.masks, step)
        games.step(actions)
        for i, match in enumerate(alone):
            match.apply(int(actions[i]))
            due = total(match.round)
            assert games.rewards[i].tolist() == pytest.approx([a - b for a, b in zip(due, paid[i], strict=True)])
            assert bool(games.terminated[i]) == match.over
            paid[i] = due if not match.round.over else [0.0] * 4
            if match.over:
                ended += 1
                alone[i] = Match(rules, seed=derive_seed(11, i), number=match.number + 1)
            elif match.round.over:
                match.next_round()
    assert ended > 5


def test_threads_and_batch_size_change_nothing() -> None:
    def run(num_games: int, num_threads: int) -> list[bytes]:
        rules = {"start_points": 5, "void_points": 2, "max_throws": 12}
        games = SelfPlay(num_games, rules, None, 3, "placement", "match", num_threads=num_threads)
        games.reset()
        seen = []
        for step in range(250):
            games.step(choose_for_all(games.masks, step))
            seen += [games.records[:5].tobytes(), games.rewards[:5].tobytes(), games.terminated[:5].tobytes()]
        return seen

    one = run(5, 1)
    assert run(5, 2) == one
    assert run(16, 2) == one


@pytest.mark.parametrize("reward", ["zero_sum", "placement"])
def test_each_game_of_the_vector_env_is_the_single_env(reward: str) -> None:
    """The same deals, the same seat and the same bots give the same matches, one after the other."""
    rules = {"start_points": 5, "void_points": 1}
    many = OkeyVectorEnv(3, rules, opponents="greedy", reward=reward, episode="match")
    options = {"points": (5, 4, 3, 2)}
    seen, _ = many.reset(seed=4, options=options)
    alone = []
    for i in range(3):
        env = OkeyEnv(rules, opponents="greedy", reward=reward, episode="match", learning_seat=i)
        env.reset(seed=derive_seed(4, i), options=options)
        for bot in env._opponents:
            bot.reset(4)  # in the batch the bots are reset with the seed of the batch
        env._number = -1  # the first match once more
        first, _ = env.reset(options=options)
        assert env.match is not None
        assert env.match.number == 0
        assert seen["observation"][i].tobytes() == first["observation"].tobytes()
        alone.append(env)
    matches = 0
    for step in range(500):
        actions = choose_for_all(seen["action_mask"], step)
        seen, rewards, terminated, truncated, infos = many.step(actions)
        for i, env in enumerate(alone):
            told, reward_alone, over, cut, _ = env.step(int(actions[i]))
            assert (rewards[i], terminated[i], truncated[i]) == (pytest.approx(reward_alone), over, cut)
            if over or cut:
                matches += 1
                assert infos["final_obs"][i]["observation"].tobytes() == told["observation"].tobytes()
                env._learning_seat = (i + env._number + 1) % 4
                told, _ = env.reset()
            assert seen["observation"][i].tobytes() == told["observation"].tobytes()
    assert matches > 6


def test_arguments_are_checked() -> None:
    makers: list[Any] = [okey_env.raw_env, OkeyEnv, OkeyVectorEnv, lambda **given: SelfPlay(2, **given)]
    for maker in makers:
        with pytest.raises(ValueError, match="episode='game' is not a choice: expected 'round' or 'match'"):
            maker(episode="game")
        with pytest.raises(ValueError, match="reward='placement' is"):
            maker(reward="placement")
        for episode in EPISODES:
            env = maker(episode=episode)
            with pytest.raises(ValueError, match="reset option 'point' is not known: did you mean 'points'"):
                env.reset(options={"point": (1, 2, 3, 4)})


def test_every_environment_starts_from_a_chosen_deal_and_score() -> None:
    start: Any = {"deal": finishing(1), "points": (2, 9, 4, 11)}
    for episode in EPISODES:
        aec: Any = okey_env.raw_env(episode=episode)
        single = OkeyEnv(opponents=sensible, learning_seat=1, episode=episode)
        many = OkeyVectorEnv(2, opponents=sensible, learning_seat=1, episode=episode)
        batch = SelfPlay(2, episode=episode)
        for env in (aec, single, many):
            env.reset(seed=1, options=start)
        batch.reset(1, start)
        for records in (
            aec.observation_of("player_1").records,
            single.round.observe(1).records,
            many.records,
            batch.records,
        ):
            assert records["scores"][0].tolist() == [9, 4, 11, 2]
            assert records["finish_melds"][0] != 0
