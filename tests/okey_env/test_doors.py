"""What comes in is checked at every door: every public function and constructor, with every kind of wrong value.

`DOORS` names each argument that takes a number, a name or a record, with the kinds of values that it takes. Every value
of the other kinds must be refused with one sentence that names what was given. A public name of `okey_env` that has no
door here fails `test_every_public_name_has_a_door`.
"""

import functools
import inspect
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import okey_env
from okey_env import (
    Deal,
    Match,
    Observation,
    OkeyEnv,
    OkeyVectorEnv,
    Record,
    RecordWriter,
    Round,
    Rules,
    SelfPlay,
    actions,
    hands,
    rewards,
    symmetries,
    tiles,
)
from okey_env.encoders import as_encoder
from okey_env.interfaces import starts_of
from okey_env.picture import table_picture
from okey_env.render import Renderer
from okey_env.resample import worlds
from okey_env.rules import as_rules
from okey_env.saving import from_bytes
from okey_env.tiles import parse_rack

NAN, INF = float("nan"), float("inf")


class Odd:
    """A thing that nothing here is."""

    def __repr__(self) -> str:
        return "\n".join("odd" * 100)


KINDS: dict[str, list[Any]] = {
    "whole": [1, np.int64(1), np.uint8(1), np.array(1)],
    "float": [0.5, 1.5, 2.0, np.float64(3.0), np.float32(0.5)],
    "large": [2**63, np.uint64(2**63)],
    "huge": [-1, -(2**63), 2**64, 2**70, 10**400, np.int8(-1)],
    "not finite": [NAN, INF, -INF, np.float32("nan")],
    "bool": [True, False, np.True_],
    "text": ["", "3", "x", "round ", "\ud800", "a\nb", "x" * 5000],
    "none": [None],
    "other": [
        1j,
        b"3",
        [],
        [1],
        (),
        {},
        {1: 2},
        {"a": NAN},
        Odd(),
        Odd,
        np.array([1]),
        np.zeros((4, 4)),
        np.array("x"),
    ],
}
"""Values by kind; `large` numbers are seeds, `huge` numbers are out of every range."""
KIND_NAMES = tuple(KINDS)


@functools.cache
def round_of() -> Round:
    return Round("gamelake", seed=1)


@functools.cache
def games() -> Any:
    batch = SelfPlay(2, encoder=None, seed=1)
    batch.reset()
    return batch


@functools.cache
def many() -> Any:
    env = OkeyVectorEnv(2, opponents="random", seed=1, encoder="tiles_raw")
    env.reset()
    return env


@functools.cache
def single() -> OkeyEnv:
    env = OkeyEnv(opponents="random", encoder="tiles_raw", on_illegal="raise")
    env.reset(seed=1)
    return env


@functools.cache
def aec() -> Any:
    env = okey_env.raw_env(encoder="tiles_raw")
    env.reset(seed=1)
    return env


@functools.cache
def record() -> Record:
    return Record.of(Round(seed=1))


@functools.cache
def task() -> okey_env.Task:
    return okey_env.task("okey/Round-v0")


def seen() -> Observation:
    return round_of().observe(round_of().turn)


def short(round: Round) -> list[float]:
    return [0.0, 0.0, 0.0]


def in_match() -> OkeyVectorEnv:
    return OkeyVectorEnv(1, episode="match", opponents="random")


Door = Callable[[Any], Any]
ANY_OF: dict[str, tuple[str, Door]] = {
    # the kinds that are right, and what is done with a value of another kind
    "Round(rules)": ("", lambda value: _rules(value) or Round(value)),
    "Round(seed)": ("whole large none", lambda value: Round(seed=value)),
    "Round(deal)": ("none", lambda value: Round(seed=1, deal=value)),
    "Round(number)": ("whole large", lambda value: Round(seed=1, number=value)),
    "Round(points)": ("none", lambda value: Round(seed=1, points=value)),
    "Round(draw_queues)": ("bool", lambda value: Round(seed=1, draw_queues=value)),
    "Round.deal(seed)": ("whole large", lambda value: Round(seed=1).deal(value)),
    "Round.apply(action)": ("", lambda value: round_of().apply(value)),
    "Round.observe(seat)": ("whole", lambda value: round_of().observe(value)),
    "Round.why_illegal(action)": ("whole large huge", lambda value: round_of().why_illegal(value)),
    "Round.restore(saved)": ("", lambda value: round_of().restore(value)),
    "Round.kind(tile)": ("", lambda value: round_of().kind(value)),
    "Match(rules)": ("", lambda value: _rules(value) or Match(value)),
    "Match(seed)": ("whole large none", lambda value: Match(seed=value)),
    "Match(deal)": ("none", lambda value: Match(seed=1, deal=value)),
    "Match(points)": ("none", lambda value: Match(seed=1, points=value)),
    "Match(number)": ("whole", lambda value: Match(seed=1, number=value)),
    "Match(draw_queues)": ("bool", lambda value: Match(seed=1, draw_queues=value)),
    "Match.apply(action)": ("", lambda value: Match(seed=1).apply(value)),
    "Match.restore(saved)": ("", lambda value: Match(seed=1).restore(value)),
    "derive_seed(seed)": ("whole large", lambda value: okey_env.derive_seed(value, 1)),
    "derive_seed(index)": ("whole large", lambda value: okey_env.derive_seed(1, value)),
    "Deal(indicator)": ("none", lambda value: Deal(indicator=value)),
    "Deal(racks)": ("", lambda value: Deal(racks=value)),
    "Deal(racks[0])": ("none", lambda value: Deal(racks=(value, None, None, None))),
    "Deal(stock)": ("none", lambda value: _no_tiles(value) or Deal(stock=value)),
    "Deal(starter)": ("whole none", lambda value: Deal(starter=value)),
    "Rules(max_throws)": ("whole", lambda value: Rules(max_throws=value)),
    "Rules(teams)": ("bool", lambda value: Rules(teams=value)),
    "Rules(combine)": ("", lambda value: Rules(combine=value)),
    "Rules.preset(name)": ("", lambda value: Rules.preset(value)),
    "Rules.preset(switches)": ("", lambda value: Rules.preset("klasik", **{str(value): 1})),
    "as_rules": ("", lambda value: _rules(value) or as_rules(value)),
    "as_rules(mapping)": ("", lambda value: as_rules({"preset": value})),
    "as_rules(keys)": ("", lambda value: as_rules({_key(value): 1})),
    "SelfPlay(num_games)": ("whole", lambda value: SelfPlay(value, encoder=None)),
    "SelfPlay(rules)": ("", lambda value: _rules(value) or SelfPlay(1, value, encoder=None)),
    "SelfPlay(encoder)": ("none", lambda value: SelfPlay(1, encoder=value)),
    "SelfPlay(seed)": ("whole large none", lambda value: SelfPlay(1, encoder=None, seed=value)),
    "SelfPlay(reward)": ("", lambda value: _call(value) or SelfPlay(1, encoder=None, reward=value)),
    "SelfPlay(episode)": ("", lambda value: SelfPlay(1, encoder=None, episode=value)),
    "SelfPlay(start)": ("", lambda value: SelfPlay(1, encoder=None, start=value)),
    "SelfPlay(num_threads)": ("whole", lambda value: SelfPlay(1, encoder=None, num_threads=value)),
    "SelfPlay.reset(seed)": ("whole large none", lambda value: games().reset(seed=value)),
    "SelfPlay.reset(options)": ("none", lambda value: _options(value) or games().reset(options=value)),
    "SelfPlay.step(actions)": ("", lambda value: games().step(value)),
    "SelfPlay.step(actions[0])": ("", lambda value: games().step([value, 108])),
    "SelfPlay.events": ("whole", lambda value: games().events(value)),
    "SelfPlay.distance_weight": ("", lambda value: setattr(games(), "distance_weight", value)),
    "SelfPlay.set_start": ("", lambda value: games().set_start(value)),
    "SelfPlay.save": ("whole", lambda value: games().save(value)),
    "SelfPlay.clone": ("whole", lambda value: games().clone(value)),
    "SelfPlay.restore(i)": ("whole", lambda value: games().restore(value, round_of().save())),
    "SelfPlay.restore(saved)": ("", lambda value: games().restore(0, value)),
    "OkeyVectorEnv(num_envs)": ("whole", lambda value: OkeyVectorEnv(value, opponents="random")),
    "OkeyVectorEnv(encoder)": ("", lambda value: OkeyVectorEnv(1, encoder=value)),
    "OkeyVectorEnv(reward)": ("", lambda value: _call(value) or OkeyVectorEnv(1, reward=value)),
    "OkeyVectorEnv(opponents)": ("", lambda value: _bot(value) or OkeyVectorEnv(1, opponents=value)),
    "OkeyVectorEnv(learning_seat)": ("whole none", lambda value: OkeyVectorEnv(1, learning_seat=value)),
    "OkeyVectorEnv(seed)": ("whole large none", lambda value: OkeyVectorEnv(1, opponents="random", seed=value)),
    "OkeyVectorEnv(copy)": ("bool", lambda value: OkeyVectorEnv(1, opponents="random", copy=value)),
    "OkeyVectorEnv(episode)": ("", lambda value: OkeyVectorEnv(1, episode=value)),
    "OkeyVectorEnv(render_mode)": ("none", lambda value: OkeyVectorEnv(1, render_mode=value)),
    "OkeyVectorEnv(start)": ("", lambda value: OkeyVectorEnv(1, start=value)),
    "OkeyVectorEnv(autoreset_mode)": ("", lambda value: OkeyVectorEnv(1, autoreset_mode=value)),
    "OkeyVectorEnv.reset(seed)": ("whole large none", lambda value: many().reset(seed=value)),
    "OkeyVectorEnv.reset(seeds)": ("whole large none", lambda value: many().reset(seed=[value, 1])),
    "OkeyVectorEnv.step(actions)": ("", lambda value: many().step(value)),
    "OkeyVectorEnv.set_opponents": ("", lambda value: _bot(value) or many().set_opponents(value)),
    "OkeyVectorEnv.set_opponents(weight)": (
        "whole float",
        lambda value: _weight(value) or many().set_opponents({"random": value}),
    ),
    "OkeyVectorEnv.set_start(weight)": (
        "whole float",
        lambda value: _weight(value) or many().set_start({"deal": value}),
    ),
    "OkeyVectorEnv.distance_weight": ("", lambda value: setattr(many(), "distance_weight", value)),
    "OkeyEnv(rules)": ("", lambda value: _rules(value) or OkeyEnv(value)),
    "OkeyEnv(encoder)": ("", lambda value: OkeyEnv(encoder=value)),
    "OkeyEnv(reward)": ("", lambda value: _call(value) or OkeyEnv(reward=value, opponents="random")),
    "OkeyEnv(learning_seat)": ("whole none", lambda value: OkeyEnv(opponents="random", learning_seat=value)),
    "OkeyEnv(on_illegal)": ("", lambda value: OkeyEnv(opponents="random", on_illegal=value)),
    "OkeyEnv(render_mode)": ("none", lambda value: OkeyEnv(opponents="random", render_mode=value)),
    "OkeyEnv(episode)": ("", lambda value: OkeyEnv(opponents="random", episode=value)),
    "OkeyEnv(start)": ("", lambda value: OkeyEnv(opponents="random", start=value)),
    "OkeyEnv.reset(seed)": ("whole large none", lambda value: single().reset(seed=value)),
    "OkeyEnv.reset(options)": ("none", lambda value: _options(value) or single().reset(options=value)),
    "OkeyEnv.reset(points)": ("none", lambda value: single().reset(options={"points": value})),
    "OkeyEnv.reset(deal)": ("none", lambda value: single().reset(options={"deal": value})),
    "OkeyEnv.step(action)": ("whole", lambda value: single().step(value)),
    "OkeyEnv.restore(saved)": ("", lambda value: single().restore(value)),
    "raw_env(rules)": ("", lambda value: _rules(value) or okey_env.raw_env(value)),
    "raw_env(encoder)": ("", lambda value: okey_env.raw_env(encoder=value)),
    "raw_env(reward)": ("", lambda value: _call(value) or okey_env.raw_env(reward=value)),
    "raw_env(render_mode)": ("none", lambda value: okey_env.raw_env(render_mode=value)),
    "raw_env(max_cycles)": ("whole none", lambda value: okey_env.raw_env(max_cycles=value)),
    "raw_env(episode)": ("", lambda value: okey_env.raw_env(episode=value)),
    "raw_env(start)": ("", lambda value: okey_env.raw_env(start=value)),
    "env(start)": ("", lambda value: okey_env.env(start=value)),
    "env.reset(seed)": ("whole large none", lambda value: okey_env.env().reset(seed=value)),
    "raw_env.reset(seed)": ("whole large none", lambda value: aec().reset(seed=value)),
    "raw_env.step(action)": ("whole", lambda value: aec().step(value)),
    "raw_env.observe(agent)": ("", lambda value: aec().observe(value)),
    "raw_env.observation_of(agent)": ("", lambda value: aec().observation_of(value)),
    "raw_env.action_space(agent)": ("", lambda value: aec().action_space(value)),
    "raw_env.observation_space(agent)": ("", lambda value: aec().observation_space(value)),
    "raw_env.restore(saved)": ("", lambda value: aec().restore(value)),
    "make_bot(spec)": ("", lambda value: _bot(value) or okey_env.make_bot(value)),
    "make_bot(seed)": ("whole large none", lambda value: okey_env.make_bot("random", seed=value)),
    "as_encoder": ("", lambda value: as_encoder(value)),
    "as_encoder(version)": ("none", lambda value: as_encoder("tiles_raw", 7 if _is_one(value) else value)),
    "Encoder.encode": ("", lambda value: as_encoder("tiles_raw").encode(value)),
    "task": ("", lambda value: okey_env.task(value)),
    "Task(id)": ("text", lambda value: okey_env.Task(value, "about")),
    "Task(reward)": ("text", lambda value: okey_env.Task("id", "about", reward=value)),
    "Task(episode)": ("", lambda value: okey_env.Task("id", "about", episode=value)),
    "Task(rules)": ("", lambda value: _rules(value) or okey_env.Task("id", "about", rules=value)),
    "Task(learning_seat)": ("whole none", lambda value: okey_env.Task("id", "about", learning_seat=value)),
    "Task(only_self_play)": ("bool", lambda value: okey_env.Task("id", "about", only_self_play=value)),
    "Task.make_vec(num_envs)": ("whole", lambda value: task().make_vec(value)),
    "Task.self_play(seed)": ("whole large none", lambda value: task().self_play(1, seed=value, encoder=None)),
    "Task.normalised": ("whole float large huge", lambda value: task().normalised(value)),
    "Observation(records)": ("", lambda value: Observation(value, np.zeros(0, np.uint16))),
    "Observation.of(seat)": ("whole", lambda value: Observation.of(round_of().games, 0, value)),
    "Observation.of(i)": ("", lambda value: Observation.of(round_of().games, value, 0)),
    "masks_of": ("", lambda value: okey_env.masks_of(value)),
    "Observation.event_array": ("whole none", lambda value: seen().event_array(value)),
    "events.tokens": ("", lambda value: okey_env.events.tokens(value)),
    "PolicyBot(encoder)": ("", lambda value: okey_env.PolicyBot(value, max)),
    "PolicyBot(policy)": ("", lambda value: _call(value) or okey_env.PolicyBot("flat", value)),
    "PolicyBot(name)": ("text none", lambda value: okey_env.PolicyBot("flat", max, value)),
    "worlds(observation)": ("", lambda value: worlds(value, 1)),
    "worlds(number)": ("whole", lambda value: worlds(seen(), value)),
    "worlds(seed)": ("whole large", lambda value: worlds(seen(), 1, value)),
    "worlds(draw_queues)": ("bool", lambda value: worlds(seen(), 1, 0, draw_queues=value)),
    "from_bytes": ("", lambda value: from_bytes(value)),
    "Record(players)": ("none", lambda value: Record.of(round_of(), value)),
    "Record.at": ("", lambda value: record().at(9 if _is_one(value) else value)),
    "Renderer(mode)": ("none", lambda value: Renderer(value)),
    "table_picture(height)": ("", lambda value: table_picture(round_of(), height=value)),
    "table_picture(players)": ("none", lambda value: table_picture(round_of(), value)),
    "starts_of": ("", lambda value: starts_of(value)),
    "hands.melds_distance": ("", lambda value: hands.melds_distance(value)),
    "hands.pairs_distance": ("", lambda value: hands.pairs_distance(value)),
    "hands.finishing_kinds": ("", lambda value: hands.finishing_kinds(value)),
    "hands.useful_kinds": ("", lambda value: hands.useful_kinds(value)),
    "hands.analyse": ("", lambda value: hands.analyse(value)),
    "hands.analyse(sizes)": ("", lambda value: hands.analyse(_rack(), sizes=value)),
    "hands.useful_kinds(indicator)": ("whole none", lambda value: hands.useful_kinds(_rack(), indicator=value)),
    "hands.arrange": ("", lambda value: hands.arrange(value)),
    "hands(run_13_1)": ("bool", lambda value: hands.melds_distance(_rack(), run_13_1=value)),
    "hands.parse(text)": ("", lambda value: _no_tiles(value) or hands.parse(value, "Y5")),
    "hands.parse(okey)": ("whole", lambda value: hands.parse("R1", value)),
    "actions.to_text(action)": ("whole", lambda value: actions.to_text(value, "Y5")),
    "actions.from_text": ("", lambda value: actions.from_text(value, "Y5")),
    "actions.tile_of": ("whole large huge", lambda value: actions.tile_of(value)),
    "actions.is_throw": ("whole large huge", lambda value: actions.is_throw(value)),
    "actions.is_finish": ("whole large huge", lambda value: actions.is_finish(value)),
    "tiles.parse_face": ("", lambda value: tiles.parse_face(value)),
    "tiles.face_text": ("whole", lambda value: tiles.face_text(value)),
    "tiles.kind_text": ("whole", lambda value: tiles.kind_text(value, "Y5")),
    "tiles.okey_of": ("whole", lambda value: tiles.okey_of(value)),
    "tiles.total_counts": ("whole", lambda value: tiles.total_counts(value)),
    "rewards.parse_reward": ("text", lambda value: rewards.parse_reward(value)),
    "rewards.as_reward": ("", lambda value: _call(value) or rewards.as_reward(value)),
    "rewards.check_weight": ("whole float", lambda value: rewards.check_weight(value, "win+distance")),
    "symmetries.turn_actions": ("", lambda value: _action(value) or symmetries.turn_actions(value, 0)),
    "symmetries(symmetry)": ("whole", lambda value: symmetries.turn_actions(np.array([1]), value)),
}


def _refuse() -> Any:
    raise ValueError("left out: this value is right here")


def _call(value: Any) -> Any:
    """Leave a value out where it is right: something callable, or a case that holds."""
    if callable(value) or value is True:
        _refuse()


def _bot(value: Any) -> Any:
    """A class is asked for a bot; the message of its own constructor is its own."""
    _call(value)
    if isinstance(value, str) and len(value) > 1000:  # a path
        _refuse()


def _is_one(value: Any) -> bool:
    return (
        isinstance(value, int | np.integer | np.ndarray)
        and np.ndim(value) == 0
        and np.asarray(value).dtype.kind in "iu"
    )


def _no_tiles(value: Any) -> Any:
    """No tiles are tiles too."""
    if value == "":
        _refuse()


def _action(value: Any) -> Any:
    """An array of actions is right here."""
    array = np.asarray(value)
    if array.dtype.kind in "iu" and array.size and 0 <= array.min() <= array.max() <= 108:
        _refuse()


def _rules(value: Any) -> Any:
    """No switch at all is the preset itself."""
    if isinstance(value, dict) and not value:
        _refuse()


def _options(value: Any) -> Any:
    """Unknown options are ignored, as Gymnasium and PettingZoo require."""
    if isinstance(value, dict):
        _refuse()


def _weight(value: Any) -> Any:
    """A large number is a weight."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and 1 < value < 10**300:
        _refuse()


def _key(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return "no switch"
    return value


def _rack() -> Any:
    return parse_rack("R1 R2 R3 R4 | B4 B5 B6 | K7 K8 K9 | Y10 Y11 Y12 Y13", "Y5")


def wrong_values() -> Iterator[Any]:
    for name, (right, _) in ANY_OF.items():
        for kind, values in KINDS.items():
            if kind not in right.split():
                yield pytest.param(name, values, id=f"{name}-{kind}")


@pytest.mark.parametrize(("door", "values"), list(wrong_values()))
def test_a_wrong_value_is_refused_in_one_sentence(door: str, values: list[Any]) -> None:
    pass_through = ANY_OF[door][1]
    for value in values:
        with pytest.raises((ValueError, TypeError, IndexError)) as refused:
            pass_through(value)
        sentence = str(refused.value)
        assert sentence, (door, value)
        assert "\n" not in sentence, sentence
        assert len(sentence) < 1500, sentence
        sentence.encode()  # no lone surrogate, which could not be printed
        if not isinstance(refused.value, ValueError):
            assert door in ("as_rules", "Record.at") or "rules" in door or "bot" in door or "opponents" in door, (
                sentence
            )


@pytest.mark.parametrize("door", [name for name, (right, _) in ANY_OF.items() if "whole" in right.split()])
def test_whole_numbers_of_every_type_mean_the_same(door: str) -> None:
    """Numbers of numpy work wherever an int does."""
    for value in KINDS["whole"]:
        if door in ("OkeyEnv.step(action)", "raw_env.step(action)"):
            value = value * 0 + 108  # finish with the okey, which is not legal here either
            with pytest.raises(ValueError, match="may not finish"):
                ANY_OF[door][1](value)
        else:
            ANY_OF[door][1](value)


def test_every_public_name_has_a_door() -> None:
    doors = " ".join(ANY_OF)
    no_arguments = {"Bot", "TASKS", "bot_names"}
    checked_elsewhere = {"RecordWriter", "Encoder"}  # tests of records and encoders
    for name in set(okey_env.__all__) - no_arguments - checked_elsewhere:
        assert name in doors, f"{name} is public: give each of its arguments a door"
    for made in (Round, Match, SelfPlay, OkeyVectorEnv, OkeyEnv, Deal):
        for argument in inspect.signature(made).parameters:
            shared = f"({argument})"
            assert any(door.endswith(shared) for door in ANY_OF), f"{made.__name__}({argument}) has no door"
    for module in (hands, actions):
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__module__ == module.__name__ and name[0] != "_":
                assert name in doors or name == "throw_distances", f"{module.__name__}.{name} has no door"


# --- right values that were refused, or meant another game ----------------------------------------------------------


@pytest.mark.parametrize("seed", [np.int64(5), np.uint64(5), np.int8(5), np.array(5)], ids=lambda seed: str(seed.dtype))
def test_a_seed_of_numpy_is_the_game_of_that_seed(seed: Any) -> None:
    told = []
    for one in (seed, 5):
        env: Any = okey_env.env()
        env.reset(seed=one)
        batch, vector, gym = (
            SelfPlay(2, seed=one, encoder=None),
            OkeyVectorEnv(2, opponents="random", seed=one),
            OkeyEnv(),
        )
        batch.reset()
        vector.reset()
        gym.reset(seed=one)
        bot = okey_env.make_bot("random", seed=one)
        told.append(
            (
                *(env.unwrapped.save(), batch.save(1), vector.games["rack"].tobytes(), gym.save(), bot.act(seen())),
                *(Match(seed=one).save(), okey_env.derive_seed(one, one), worlds(seen(), 1, one).tobytes()),
            )
        )
    assert told[0] == told[1]


def test_the_greatest_seed_is_one() -> None:
    most = 2**64 - 1
    env: Any = okey_env.env()
    env.reset(seed=np.uint64(most))
    assert env.unwrapped.round.seed == most
    assert Round(seed=most).seed == most
    SelfPlay(2, seed=most, encoder=None).reset()


def test_switches_of_numpy_are_the_switches() -> None:
    rules = Rules(max_throws=np.int64(90), teams=np.True_, combine=np.str_("max"))  # type: ignore[arg-type]
    assert rules == Rules(max_throws=90, teams=True, combine="max")
    assert [type(value) for value in (rules.max_throws, rules.teams, rules.combine)] == [int, bool, str]


# --- rewards of a user ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "totals",
    [[NAN] * 4, [INF, 0, 0, 0], [0.0, 0.0, 0.0], [0.0] * 5, ["a"] * 4, [1j] * 4, [True] * 4, None, 3, "1234", {}],
    ids=str,
)
def test_a_reward_function_that_gives_no_four_numbers_is_named(totals: Any) -> None:
    def mine(round: Round) -> Any:
        return totals

    makers: list[Callable[[], object]] = [
        lambda: okey_env.raw_env(reward=mine).reset(seed=1),
        lambda: OkeyEnv(reward=mine, opponents="random").reset(seed=1),
    ]
    for make in makers:
        with pytest.raises(ValueError, match=r"^the reward function mine gave .*: expected four numbers"):
            make()


def test_a_reward_function_may_give_an_array() -> None:
    def counted(round: Round) -> Any:
        return np.array([1, 2, 3, 4])

    env = OkeyEnv(reward=counted, opponents="random", learning_seat=0)
    observation, _ = env.reset(seed=1)
    assert env.step(int(observation["action_mask"].argmax()))[1] == 0.0


# --- records --------------------------------------------------------------------------------------------------------


def test_every_field_of_a_record_refuses_every_wrong_value() -> None:
    round = Round("gamelake", seed=7)
    while not round.over:
        round.apply(round.legal_actions()[0])
    lines = Record.of(round).lines
    numbers: list[Any] = [NAN, INF, 1.5, 2.0, -1, 2**64, 2**70, True, None]
    junk = [*numbers, "", "\ud800", "a\nb", [], [[[]]], {}, {"a": [1]}, "x" * 9999]
    tried = 0
    for number in (0, 1, 2, 3, len(lines) - 1):
        entry = json.loads(lines[number])
        for key in entry:
            for value in junk:
                if json.dumps(entry[key]) == json.dumps(value) or (key, value) in (("rules", {}), ("winner", None)):
                    continue
                changed = [*lines]
                changed[number] = json.dumps({**entry, key: value})
                with pytest.raises(ValueError, match=r"^[^\n]*$") as refused:
                    Record(changed).verify()
                message = str(refused.value)
                assert f"line {number + 1}" in message or number == 0 or key == "type", message
                assert len(message) < 600
                message.encode()
                tried += 1
    assert tried > 400


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (3, '{"type": "move", "seat": 0, "action": 9223372036854775808, "text": "draw"}', "line 3: damaged: action=92"),
        (3, '{"type": "move", "type": "move"}', "line 3: damaged: the key 'type' comes twice: expected once"),
        (3, '{"type": "move"} x', "line 3: damaged: expected a JSON object"),
        (3, "[" * 100_000, "line 3: damaged: expected a JSON object"),
        (3, '{"a": ' + "9" * 5000 + "}", "line 3: damaged: expected a JSON object"),
        (3, "", "line 3: damaged: expected a JSON object"),
        (1, '{"format": "okey-env record", "version": true}', "line 1: version True is not known here: expected 1"),
    ],
)
def test_a_damaged_line_is_named_with_its_number(line: int, text: str, message: str) -> None:
    round = Round("gamelake", seed=7)
    round.apply(round.legal_actions()[0])
    lines = Record.of(round).lines
    lines[line - 1] = text
    with pytest.raises(ValueError, match=r"^the record, ") as refused:
        Record(lines).verify()
    assert message in str(refused.value)


@pytest.mark.parametrize("players", ["abcd", ["a", "b", "c"], ["a", "b", "c", 4], ["a", "b", "c", "\n"], 3])
def test_players_are_four_names(players: Any, tmp_path: Any) -> None:
    for write in (lambda: Record.of(round_of(), players), lambda: RecordWriter(tmp_path / "a.jsonl", players)):
        with pytest.raises(ValueError, match=r"^players=.*: expected 4 printable names$"):
            write()


# --- arrays of a wrong shape, which a kernel would read or write beyond -----------------------------------------------


def test_arrays_of_a_wrong_shape_are_refused_with_their_shape() -> None:
    encoder, records = as_encoder("tiles_raw"), seen().records
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: encoder.fill_batch(records, np.zeros((1, 5), np.float32)), r"out has the shape \(1, 5\): expected"),
        (lambda: encoder.fill_batch(records, np.zeros((2, encoder.size), np.float32)), r"out has the shape \(2, "),
        (
            lambda: encoder.fill_batch(records, np.zeros((1, encoder.size), np.float32), 0),
            "num_threads=0 is out of range",
        ),
        (lambda: encoder.split(np.zeros((3, 7), np.float32)), r"the array has the shape \(3, 7\): expected \(…, "),
        (lambda: encoder.as_planes(np.zeros(7, np.float32)), r"the array has the shape \(7,\): expected"),
        (
            lambda: symmetries.turn_masks(np.zeros((2, 108), np.int8), 0),
            r"the masks have the shape \(2, 108\): expected",
        ),
        (lambda: symmetries.turn_observations(np.zeros((2, 9), np.float32), 0, encoder), r"the array has the shape"),
        (lambda: games().step(np.zeros((2, 1), np.int64)), r"actions have the shape \(2, 1\): expected \(2,\)"),
        (lambda: games().step(np.array([0.0, 1.0])), "actions have the type float64: expected whole numbers"),
        (lambda: many().step(np.array([True, False])), "actions have the type bool: expected whole numbers"),
        (lambda: hands.melds_distance(np.zeros((2, 52), np.uint8)), r"counts are an array \(2, 52\): expected"),
        (lambda: hands.melds_distance(np.full(53, 0.5)), "counts have dtype float64: expected uint8"),
        (lambda: hands.melds_distance(np.full(53, -1)), "has a count of -1: expected 0, 1 or 2"),
    ]
    for call, message in wrong:
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("reply", ["draw", 2.0, NAN, None, True, 2**63])
def test_a_bot_that_replies_with_no_action_is_named(reply: Any) -> None:
    def odd(observation: Observation) -> Any:
        return reply

    env = OkeyEnv(opponents=odd, learning_seat=0)
    with pytest.raises(ValueError, match=r"^the bot 'odd' acts illegally: action[ =][^\n]*: expected 0 to 108$"):
        env.reset(seed=1, options={"deal": Deal(starter=1)})
