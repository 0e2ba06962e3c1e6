"""What the environments share: starts and opponents with weights, drawn by seed and number, changed during training."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import okey_env
from okey_env import Bot, Deal, Observation, OkeyEnv, OkeyVectorEnv, SelfPlay, derive_seed, make_bot
from okey_env.interfaces import STARTS, starts_of
from okey_env.rewards import distances

MIXTURE = {"deal": 1.0, "distance-1": 1.0, "distance-2": 1.0, "short-4": 1.0}


class Named:
    """A bot that plays one of its legal actions, by its place among them."""

    def __init__(self, name: str, index: int = 0) -> None:
        self.name, self.index = name, index
        self.seeds: list[int] = []

    def reset(self, seed: int) -> None:
        self.seeds.append(seed)

    def act(self, observation: Observation) -> int:
        return observation.legal_actions[self.index]


def first_actions(masks: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    actions: npt.NDArray[np.int64] = masks.argmax(axis=1)
    return actions


# --- starts -------------------------------------------------------------------------------------------------


def test_every_environment_deals_the_same_start() -> None:
    games = SelfPlay(12, encoder=None, seed=9, start=MIXTURE)
    games.reset()
    assert len(set(games.games["stock_left"])) == 2
    many = OkeyVectorEnv(12, seed=9, start=MIXTURE, opponents="random", learning_seat=0)
    many.reset()
    for i in range(12):
        aec: Any = okey_env.raw_env(start=MIXTURE)
        aec.reset(seed=derive_seed(9, i))
        assert aec.save() == games.save(i)
        starter = int(games.games["starter"][i])
        one = OkeyEnv(start=MIXTURE, opponents="random", learning_seat=starter)
        one.reset(seed=derive_seed(9, i))
        assert one.save() == games.save(i)
        for name in ("stock", "set_aside", "okey"):
            assert many.games[name][i].tolist() == games.games[name][i].tolist()


@pytest.mark.parametrize("episode", ["round", "match"])
def test_later_rounds_are_drawn_by_their_number(episode: str) -> None:
    """Each deal of a batch is what an environment deals that is set to that seed and number."""
    rules = {"max_throws": 4, "void_points": 3, "start_points": 7}
    games = SelfPlay(3, rules, encoder=None, seed=2, start=MIXTURE, episode=episode)
    games.reset()
    aec: Any = okey_env.raw_env(rules, start=MIXTURE, episode=episode)
    aec.reset(seed=derive_seed(2, 1))
    kinds = set()
    for _ in range(100):
        assert games.save(1) == aec.save()
        kinds.add((int(games.games["set_aside"][1]), tuple(distances(games.clone(1)).tolist())))
        actions = first_actions(games.masks)
        games.step(actions)
        aec.step(int(actions[1]))
        if not aec.agents or all(aec.terminations.values()) or all(aec.truncations.values()):
            aec.reset()
    assert len({aside for aside, _ in kinds}) == 2


def test_a_new_start_counts_from_the_next_deal_on() -> None:
    games = SelfPlay(4, {"max_throws": 4}, encoder=None, seed=1)
    env = OkeyVectorEnv(4, {"max_throws": 4}, seed=1, opponents=Named("first"))
    games.reset()
    observation, _ = env.reset()
    before = games.games["rack"].copy()
    games.set_start("distance-1")
    env.set_start({"distance-1": 3})
    assert games.games["rack"].tolist() == before.tolist()
    dealt = 0
    for _ in range(20):
        games.step(first_actions(games.masks))
        for i in np.flatnonzero(games.terminated | games.truncated):
            assert distances(games.clone(int(i))).tolist() == [1, 1, 1, 1]
            dealt += 1
        observation, _, ended, cut, _ = env.step(first_actions(observation["action_mask"]))
        for i in np.flatnonzero(ended | cut):
            assert (env.games["set_aside"][i], env.games["round_number"][i] > 0) == (0, True)
            games.restore(0, SelfPlay.save(env, int(i)))  # type: ignore[arg-type]  # it only reads `games`
            learner = int(env._seats[i])
            assert distances(games.clone(0))[learner] == 1  # it has not moved since the deal
    assert dealt > 5


def test_a_chosen_deal_precedes_the_start() -> None:
    rack = "R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 F *"
    options = {"deal": Deal(indicator="Y4", racks=(None, rack, None, None))}
    games = SelfPlay(2, encoder=None, seed=1, start="distance-4")
    games.reset(options=options)
    assert (distances(games.clone(0))[1], distances(games.clone(1))[1]) == (0, 0)
    aec: Any = okey_env.raw_env(start="short-1")
    aec.reset(seed=1, options=options)
    assert aec.round.stock_left == 48
    aec.reset()
    assert aec.round.stock_left == 4


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (
            "distance-0",
            "start='distance-0' is not a start: expected 'deal', 'distance-1' to 'distance-4', 'short-1' to",
        ),
        ("distance-5", "start='distance-5' is not a start"),
        ("short-12", "start='short-12' is not a start"),
        (4, "start=4 is not a start"),
        ({"deal": 1, "near": 1}, "start='near' is not a start"),
        ({"deal": -1}, r"start=\{'deal': -1\} has the weight -1 for 'deal': expected 0 or more"),
        ({"deal": "1"}, "has the weight '1' for 'deal': expected 0 or more"),
        ({"deal": float("nan")}, "has the weight nan for 'deal'"),
        ({"deal": 0}, r"start=\{'deal': 0\} has no weight above 0: expected one at least"),
        ({}, r"start=\{\} has no weight above 0"),
    ],
)
def test_a_wrong_start_is_refused_in_one_sentence(start: Any, message: str) -> None:
    makers: list[Callable[..., Any]] = [
        okey_env.raw_env,
        okey_env.env,
        OkeyEnv,
        OkeyVectorEnv,
        lambda start: SelfPlay(1, start=start),
        SelfPlay(1).set_start,
        OkeyVectorEnv(1).set_start,
    ]
    for make in makers:
        with pytest.raises(ValueError, match=message):
            make(start=start)


def test_the_table_of_starts() -> None:
    assert starts_of("short-4").tolist() == [[1.0, STARTS["short-4"]]]
    table = starts_of({"deal": 1, "short-2": 0, "distance-3": 1, "distance-1": 2})
    assert table.tolist() == [[0.25, STARTS["deal"]], [0.5, STARTS["distance-3"]], [1.0, STARTS["distance-1"]]]


# --- opponents with weights -----------------------------------------------------------------------------------


def test_an_episode_has_one_level_and_levels_have_their_weights() -> None:
    """Five standard errors of the share of a level among 2,000 episodes."""
    weak, strong = Named("weak"), Named("strong", -1)
    env = OkeyEnv({"max_throws": 4}, opponents={weak: 1.0, strong: 3.0}, learning_seat=0)
    levels = Counter[str]()
    for seed in range(2_000):
        env.reset(seed=seed)
        names = set(env._players("learner")[1:])
        assert len(names) == 1
        levels[names.pop()] += 1
    assert abs(levels["strong"] / 2_000 - 0.75) < 5 * np.sqrt(0.75 * 0.25 / 2_000)
    assert env.record().players[0] == "learner"


def test_the_batch_draws_the_levels_that_single_environments_draw() -> None:
    levels = {Named("weak"): 1.0, Named("strong", -1): 1.0}
    many = OkeyVectorEnv(40, {"max_throws": 8}, opponents=levels, learning_seat=1, seed=6)
    few = OkeyVectorEnv(3, {"max_throws": 8}, opponents=levels, learning_seat=1, seed=6)
    for env in (many, few):
        env.reset()
    numbers = many.games["round_number"].tolist()
    seen = Counter[str]()
    for i in range(40):
        one = OkeyEnv({"max_throws": 8}, opponents=levels, learning_seat=1)
        one.reset(seed=derive_seed(6, i))
        assert numbers[i] == 0
        names = [many._bots[number].name for number in many._seated[i]]
        assert [bot.name for bot in one._opponents] == names
        assert one.round.fields["rack"].tolist() == many.games["rack"][i : i + 1].tolist()  # and they play the same
        seen[names[0]] += 1
    assert min(seen["weak"], seen["strong"]) > 5
    observation, fewer = many._observation(), few._observation()
    for _ in range(30):
        observation, rewards, *_ = many.step(first_actions(observation["action_mask"]))
        fewer, some, *_ = few.step(first_actions(fewer["action_mask"]))
        assert observation["observation"][:3].tobytes() == fewer["observation"].tobytes()
        assert rewards[:3].tolist() == some.tolist()


def test_new_opponents_play_from_the_next_episode_on() -> None:
    weak, strong, third = Named("weak"), Named("strong", -1), Named("third", 1)
    env = OkeyVectorEnv(8, {"max_throws": 12}, opponents={weak: 1.0, strong: 1.0}, learning_seat=0, seed=3)

    def seated() -> list[str]:
        return [env._bots[number].name for number in env._seated[:, 0]]

    observation, _ = env.reset()
    before = seated()
    assert set(before) == {"weak", "strong"}
    env.set_opponents({third: 1.0, strong: 0.0})
    assert seated() == before
    assert third.seeds == [3]
    over = np.zeros(8, bool)
    for _ in range(40):
        observation, _, ended, cut, _ = env.step(first_actions(observation["action_mask"]))
        over |= ended | cut
        assert seated() == ["third" if done else old for done, old in zip(over, before, strict=True)]
    assert over.all()
    env.set_opponents([weak, strong, third])
    assert [bot.name for bot in env._bots] == ["weak", "strong", "third"]
    env.reset()
    assert env._seated.tolist() == [[0, 1, 2]] * 8
    assert third.seeds[-1] == derive_seed(3, 2**62 + 1)


def test_a_name_is_made_into_a_bot_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def counting(spec: Any) -> Bot:
        made.append(spec)
        return make_bot(spec)

    monkeypatch.setattr("okey_env.interfaces.make_bot", counting)
    env = OkeyVectorEnv(4, opponents={"random": 1.0, "greedy": 1.0}, seed=1)
    observation, _ = env.reset()
    for step in range(10):
        env.set_opponents({"random": 1.0, "greedy": float(step)})
        observation, *_ = env.step(first_actions(observation["action_mask"]))
        assert len(env._bots) <= 2
    assert made == ["random", "greedy"]


@pytest.mark.parametrize(
    ("opponents", "message"),
    [
        ({"random": -1}, r"opponents=\{'random': -1\} has the weight -1 for 'random': expected 0 or more"),
        ({"random": 0}, "has no weight above 0"),
        ({"nobody": 1}, "there is no bot 'nobody'"),
        (["random", "random"], "expected one bot, or three: right, opposite, left of the learner, or a mapping"),
    ],
)
def test_wrong_opponents_are_refused_and_change_nothing(opponents: Any, message: str) -> None:
    env = OkeyVectorEnv(2, opponents="random", seed=1)
    env.reset()
    bots, seats = list(env._bots), env._seated.tolist()
    for make in (env.set_opponents, OkeyEnv, OkeyVectorEnv):
        with pytest.raises(ValueError, match=message):
            make(opponents=opponents)
    assert (env._bots, env._seated.tolist()) == (bots, seats)
