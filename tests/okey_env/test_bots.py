"""The first bots: legal, the same one at a time or side by side, and greedy as its definition says; bots by name."""

from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from okey_agents.bots.compiled import CompiledBot
from okey_agents.bots.greedy import GreedyBot
from okey_agents.bots.random import RandomBot
from okey_env.actions import DRAW, FINISH, SHOW, TAKE, THROW, is_finish, is_throw, to_text
from okey_env.bots import BOTS_GROUP, Bot, bot_names, choose_for, make_bot
from okey_env.deal import Deal
from okey_env.engine.batch import deal_all, legal_at, observe_at
from okey_env.engine.hand import hand_of_counts, melds_distance, pairs_distance
from okey_env.engine.state import OBSERVATION, new_games
from okey_env.observation import Observation
from okey_env.round import Round
from okey_env.rules import Rules, as_rules
from okey_env.tiles import NUM_KINDS, NUM_SEATS, NUM_STOCK, WILD, kinds_of
from tests.positions import RULES, positions


def compiled_bots() -> list[type[CompiledBot]]:
    """Every class of compiled bots that has a name, each once."""
    found = [entry.load() for entry in entry_points(group=BOTS_GROUP)]
    classes = {bot for bot in found if isinstance(bot, type) and issubclass(bot, CompiledBot)}
    return sorted(classes, key=lambda bot: bot.name)


BOTS = compiled_bots()


@pytest.mark.parametrize("bot_class", BOTS)
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: as_rules(rules).name)
def test_bots_choose_legal_actions_only(bot_class: Any, rules: Any) -> None:
    bot = bot_class(seed=5)
    for games, going, records in positions(bot, rules, 80):
        legal = np.zeros(going.size, np.bool_)
        legal_at(games, going, bot.act_batch(records), legal)
        assert legal.all()


@pytest.mark.parametrize("bot_class", BOTS)
def test_a_batch_of_moves_is_the_single_moves(bot_class: Any) -> None:
    bot, again = bot_class(seed=5), bot_class(seed=6)
    again.reset(5)
    for games, going, records in positions(bot, "gamelake", 12):
        single = [again.act(Observation.of(games, i, int(games["turn"][i]))) for i in going]
        assert choose_for(bot, games, going, records).tolist() == single


def with_other_hidden_tiles(games: npt.NDArray[Any], seat: int, random: np.random.Generator) -> npt.NDArray[Any]:
    """The same game, `(1,)`, with all that `seat` cannot see dealt in another way."""
    others = games.copy()
    other = others[0]
    places: list[tuple[int, int]] = []  # (seat, kind) for each hidden tile of a rack, the kind as it was
    for hider in set(range(NUM_SEATS)) - {seat}:
        hidden = other.rack[hider, :NUM_KINDS] - other.known[hider, :NUM_KINDS]
        places += [(hider, kind) for kind in kinds_of(hidden)]
    first = NUM_STOCK - int(other.stock_left)
    tiles = random.permutation([kind for _, kind in places] + other.stock[first:].tolist())
    for hider, kind in places:
        other.rack[hider, kind] -= 1
    for (hider, _), kind in zip(places, tiles, strict=False):
        other.rack[hider, kind] += 1
    other.stock[first:] = tiles[len(places) :]
    for hider in range(NUM_SEATS):
        other.once[hider], other.twice[hider], _ = hand_of_counts(other.rack[hider])
    return others


@pytest.mark.parametrize("bot_class", BOTS)
def test_a_move_does_not_depend_on_hidden_tiles(bot_class: Any) -> None:
    """G10: swap hidden tiles among opponents and stock: same observation, same seed, same choice."""
    bot, random = bot_class(seed=5), np.random.default_rng(3)
    for games, going, _ in positions(bot, "gamelake", 8):
        for i in going:
            seat = int(games[i].turn)
            others = with_other_hidden_tiles(games[i : i + 1], seat, random)
            assert bot.act(Observation.of(games, i, seat)) == bot.act(Observation.of(others, 0, seat))


def test_random_is_uniform() -> None:
    """Each of k counts is binomial; all within 5 standard deviations, but for once in a million times."""
    round = Round("gamelake", seed=3)
    observation = round.observe(round.turn)
    legal = observation.legal_actions
    num_seeds = 200 * len(legal)
    counts = dict.fromkeys(legal, 0)
    for seed in range(num_seeds):
        counts[RandomBot(seed).act(observation)] += 1
    deviation = np.sqrt(num_seeds * (1 / len(legal)) * (1 - 1 / len(legal)))
    assert all(abs(count - 200) < 5 * deviation for count in counts.values())


def test_the_seed_settles_the_moves() -> None:
    round = Round("gamelake", seed=3)
    observation = round.observe(round.turn)
    assert len({RandomBot(seed).act(observation) for seed in range(50)}) > 5
    bot = RandomBot(7)
    first = bot.act(observation)
    bot.reset(8)
    bot.reset(7)
    assert bot.act(observation) == first


# --- greedy as it is defined ------------------------------------------------------------------------------------


def distances(rack: npt.NDArray[np.uint8], run_13_1: bool) -> tuple[int, int]:
    """To melds and to pairs."""
    once, twice, wilds = hand_of_counts(rack)
    return melds_distance(once, twice, wilds, run_13_1), pairs_distance(once, twice, wilds)


def without(rack: npt.NDArray[np.uint8], kind: int) -> npt.NDArray[np.uint8]:
    fewer = rack.copy()
    fewer[kind] -= 1
    return fewer


@pytest.mark.parametrize("rules", ["gamelake", {"preset": "klasik", "run_13_1": False}])
def test_greedy_throws_and_takes_by_the_distance(rules: Any) -> None:
    bot, run_13_1 = GreedyBot(seed=5), as_rules(rules).run_13_1
    thrown_by_line = [0, 0]
    for _, _, records in positions(bot, rules, 60):
        for record, action in zip(records, bot.act_batch(records), strict=True):
            rack = record.rack[:NUM_KINDS].copy()
            held = distances(rack, run_13_1)
            line = int(held[1] < held[0])
            if is_throw(action):
                thrown_by_line[line] += 1
                least = min(distances(without(rack, kind), run_13_1)[line] for kind in set(kinds_of(rack)))
                assert distances(without(rack, action - THROW), run_13_1)[line] == least == held[line]
            elif action in (DRAW, TAKE) and record.can_take:
                rack[record.offer] += 1
                assert (action == TAKE) == (distances(rack, run_13_1)[line] < held[line])
            elif not is_finish(action):
                assert action in (DRAW, SHOW)
            assert is_finish(action) == bool(record.finish_melds | record.finish_pairs) or action == SHOW
    assert min(thrown_by_line) > 0


@pytest.mark.parametrize(
    ("rack", "wanted"),
    [
        ("R1 R2 R3 | B4 B5 B6 | K7 K8 K9 K10 | Y10 Y11 Y12 Y13 | *", "finish *"),  # R6.2: 4, not 2
        ("R1 R1 R3 R3 B5 B5 B7 B7 K9 K9 K11 K11 Y13 Y13 | R8", "finish R8"),  # seven pairs
        ("R1 R1 B1 B1 K1 K1 | R2 R2 B2 B2 K2 K2 | Y9 * *", "finish *"),  # R6.7: Y9 and a wild tile are the seventh pair
        ("R1 R2 R3 | B4 B5 B6 | K7 K8 K9 | Y10 Y11 Y12 | Y4 B13 K2", "show"),  # R7.1
    ],
)
def test_greedy_takes_the_most_points(rack: str, wanted: str) -> None:
    round = Round("gamelake", seed=1, deal=Deal(indicator="Y4", racks=(rack, None, None, None)))
    action = GreedyBot().act(round.observe(0))
    assert to_text(action, round.okey) == wanted


def test_greedy_never_throws_a_wild_tile() -> None:
    for _, _, records in positions(GreedyBot(seed=9), "gamelake", 200):
        assert not (GreedyBot(seed=9).act_batch(records) == THROW + WILD).any()


# --- bots by name -----------------------------------------------------------------------------------------------


class OnlyActs:
    """Neither a name nor a seed."""

    def act(self, observation: Observation) -> int:
        return observation.legal_actions[-1]


def test_all_that_may_be_given_as_a_bot() -> None:
    round = Round("gamelake", seed=3)
    observation = round.observe(round.turn)
    bot = RandomBot(4)
    assert make_bot(bot) is bot
    assert isinstance(make_bot(GreedyBot), GreedyBot)
    assert make_bot(OnlyActs()).act(observation) == observation.legal_actions[-1]
    assert make_bot(OnlyActs, seed=3).name == "OnlyActs"

    def first_legal(observation: Observation) -> int:
        return observation.legal_actions[0]

    by_function = make_bot(first_legal, seed=3)
    assert isinstance(by_function, Bot)
    assert (by_function.name, by_function.act(observation)) == ("first_legal", observation.legal_actions[0])


def test_names_stand_for_entry_points() -> None:
    assert {"greedy", "random"} <= set(bot_names())
    assert isinstance(make_bot("greedy", seed=1), GreedyBot)


def test_what_is_no_bot_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"no bot 'gredy'.*known bots are .*did you mean 'greedy'.*write_a_bot\.md"):
        make_bot("gredy")
    with pytest.raises(ValueError, match=r"no folder 'runs/none'"):
        make_bot("runs/none")
    with pytest.raises(ValueError, match=r"'empty' holds no bot: there is no bot\.json"):
        make_bot("empty")
    with pytest.raises(TypeError, match=r"3 is not a bot: expected an object with act"):
        make_bot(3)  # type: ignore[arg-type]


def test_only_whole_numbers_are_actions() -> None:
    games = new_games(Rules(), 1)
    deal_all(games, np.zeros(1, np.uint64))
    records: npt.NDArray[Any] = np.zeros(1, OBSERVATION)
    first = np.zeros(1, np.int64)
    observe_at(games, first, records)
    for answer in (None, 3.5, "draw"):

        def give(observation: Observation, answer: Any = answer) -> Any:
            return answer

        with pytest.raises(TypeError):
            choose_for(make_bot(give), games, first, records)

    class TwoForOne(GreedyBot):
        def act_batch(self, records: npt.NDArray[np.record]) -> npt.NDArray[np.int64]:
            return np.array([DRAW, FINISH])

    with pytest.raises(ValueError, match=r"greedy gave actions of shape \(2,\) for 1 games"):
        choose_for(TwoForOne(), games, first, records)
