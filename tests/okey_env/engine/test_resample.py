"""Hidden tiles dealt again: each world agrees with what its seat knows, and each that agrees is as likely."""

import itertools
import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from okey_env import Deal, Round, hands
from okey_env.engine._jit import JIT_IS_OFF
from okey_env.engine.batch import shorten_stock_in
from okey_env.engine.hand import BIT_OF_KIND, finishing_pairs, melds_distance
from okey_env.engine.resample import resample_all
from okey_env.engine.state import GAME, NO_TILE, PHASE_THROW
from okey_env.resample import worlds
from okey_env.saving import to_bytes
from okey_env.tiles import NUM_KINDS, WILD, total_counts

Games = npt.NDArray[np.record]

RULES: list[str | Mapping[str, Any]] = [
    "gamelake",
    "klasik",
    {"preset": "gamelake", "throw_visibility": "top_only"},
    {"preset": "klasik", "stock_end": "next_may_take", "max_throws": 60},
]


def played(seed: int, moves: int, rules: str | Mapping[str, Any], takes: float = 0.4) -> Round:
    """A round after some moves of players who throw at random, show at times and never finish; it goes on."""
    round = Round(rules, seed=seed, draw_queues=seed % 2 == 1)
    rng = random.Random(seed)
    for _ in range(moves):
        legal = [action for action in round.legal_actions() if action < 56]
        before = round.save()
        round.apply(
            rng.choice([1, 2]) if {1, 2} <= set(legal) else 1 if 1 in legal and rng.random() < takes else legal[-1]
        )
        if round.over:
            round.restore(before)
            break
    return round


def resampled(games: Games, seat: int, number: int, seed: int = 0, queues: bool = False) -> Games:
    """Worlds straight from the record."""
    filled = np.full((number, GAME.itemsize), 0xAA, np.uint8).view(GAME)[:, 0]  # nothing may stay of what was there
    assert resample_all(seen(games, seat), 0, int(queues), np.uint64(seed), filled)
    return filled


def seen(games: Games, seat: int) -> Games:
    """What a seat of the first game sees, as a record."""
    round = Round()
    round.restore(to_bytes(games, 0))
    return round.observe(seat).records


def stock_of(games: Games, i: int) -> list[int]:
    """The tiles that are left in the stock of a game, in the order of drawing but for queues."""
    if not games["draw_queues"][i]:
        return games["stock"][i, 48 - int(games["stock_left"][i]) :].tolist()  # type: ignore[no-any-return]
    ends = zip(games["queue_next"][i].tolist(), games["queue_end"][i].tolist(), strict=True)
    return [int(games["stock"][i, place]) for first, end in ends for place in range(first, end)]


BITS = np.array([4 * (kind % 13) + kind // 13 for kind in range(52)], np.uint64)
"""The bit of each face in the words of a rack."""
ONE = np.uint64(1)


def check(games: Games, i: int) -> None:
    """All that is always true of a game that goes on."""
    game = {name: games[name][i] for name in GAME.names or ()}
    racks = game["rack"][:, :NUM_KINDS].astype(int)
    stock = stock_of(games, i)
    for seat in range(4):
        assert racks[seat].sum() == 14 + (seat == game["turn"] and game["phase"] == PHASE_THROW)
        copies = (game["once"][seat] >> BITS & ONE) + (game["twice"][seat] >> BITS & ONE)
        assert (copies == racks[seat, :52]).all()
        pile = game["pile"][seat, : game["pile_height"][seat]]
        assert np.bincount(pile, minlength=NUM_KINDS).tolist() == game["heap"][seat, :NUM_KINDS].tolist()
    assert (game["known"] <= game["rack"]).all()
    assert (game["rack"][:, NUM_KINDS:] == 0).all()
    together = racks.sum(axis=0) + game["heap"][:, :NUM_KINDS].sum(axis=0) + np.bincount(stock, minlength=NUM_KINDS)
    assert together.tolist() == total_counts(int(game["indicator"])).tolist()
    turn = int(game["turn"])
    hand = game["once"][turn], game["twice"][turn], int(racks[turn, WILD])
    throwing = game["phase"] == PHASE_THROW
    marked = np.zeros(NUM_KINDS, bool)
    if throwing:
        rack = np.ascontiguousarray(game["rack"][turn, :NUM_KINDS])
        marked = hands.finishing_kinds(rack, "melds", run_13_1=bool(game["rules"]["run_13_1"]))
    assert game["finish_melds"] == sum(1 << int(BIT_OF_KIND[kind]) for kind in np.flatnonzero(marked))
    assert game["finish_pairs"] == (finishing_pairs(*hand) if throwing else 0)
    assert game["offer"] == (NO_TILE if throwing else game["pile"][turn - 1, game["pile_height"][turn - 1] - 1])
    assert len(stock) == game["stock_left"]


@pytest.mark.parametrize("rules", RULES[:3], ids=str)
@pytest.mark.parametrize("seed", range(2 if JIT_IS_OFF else 12))
def test_worlds_of_a_short_stock_leave_its_tiles_aside(seed: int, rules: str | Mapping[str, Any]) -> None:
    round = Round(rules, seed=seed)
    shorten_stock_in(round.games, 0, 3)
    rng = random.Random(seed)
    for _ in range(seed * 2):
        legal = [action for action in round.legal_actions() if action < 56]
        before = round.save()
        round.apply(rng.choice([1, 2]) if {1, 2} <= set(legal) else legal[-1])
        if round.over:
            round.restore(before)
            break
    for seat in range(4):
        seen = round.observe(seat)
        games = worlds(seen, 4, seed=seed)
        for i, game in enumerate(games):
            other = Round()
            other.restore(to_bytes(games, i))
            assert other.observe(seat) == seen
            assert (other.set_aside, other.stock_left) == (36, round.stock_left)
            stock = stock_of(games, i)
            together = game["rack"][:, :NUM_KINDS].sum(axis=0) + game["heap"][:, :NUM_KINDS].sum(axis=0)
            aside = total_counts(int(game["indicator"])) - together - np.bincount(stock, minlength=NUM_KINDS)
            assert (aside >= 0).all()
            assert aside.sum() == 36
            assert game["rack"].sum(axis=1).tolist() == round.fields["rack"][0].sum(axis=1).tolist()


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("seed", range(2 if JIT_IS_OFF else 25))
def test_every_world_looks_the_same_to_its_seat_and_is_a_game(seed: int, rules: str | Mapping[str, Any]) -> None:
    round = played(seed, random.Random(seed).randrange(130), rules)
    for seat in range(4):
        if round.fields["last_chance"].item() and seat != round.turn:
            continue  # a search of seconds; see below
        for queues in (False, True):
            games = resampled(round.games, seat, 4, seed, queues)
            for i in range(len(games)):
                check(games, i)
                assert seen(games[i : i + 1], seat).tobytes() == round.observe(seat).records.tobytes()


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_worlds_remember_what_their_seat_remembers(seed: int, rules: str | Mapping[str, Any]) -> None:
    round = played(seed, 20 * seed, rules)
    observation = round.observe(seed % 4)
    games = worlds(observation, 3, seed)
    for i in range(len(games)):
        check(games, i)
        other = Round()
        other.restore(to_bytes(games, i))
        assert other.observe(seed % 4) == observation
        if round.rules.throw_visibility == "history":
            assert (other.fields["pile_height"] == round.fields["pile_height"]).all()
            height = int(round.fields["pile_height"][0, 0])
            assert (other.fields["pile"][0, 0, :height] == round.fields["pile"][0, 0, :height]).all()


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_worlds_can_be_played_to_their_end(seed: int, rules: str | Mapping[str, Any]) -> None:
    round = played(seed, 15 * seed, rules)
    rng = random.Random(seed)
    for queues in (False, True):
        games = worlds(round.observe(round.turn), 2, seed, draw_queues=queues)
        for i in range(len(games)):
            world = Round()
            world.restore(to_bytes(games, i))
            while not world.over:
                world.apply(rng.choice(world.legal_actions()))
                if not world.over:
                    check(world.games, 0)
            assert world.fields["throws"].item() >= round.fields["throws"].item()


def test_worlds_differ_and_their_seed_settles_them() -> None:
    round = played(3, 40, "gamelake")
    games = resampled(round.games, 1, 20, seed=5)
    assert len({games["rack"][i].tobytes() for i in range(20)}) == 20
    assert len({games["stock"][i].tobytes() for i in range(20)}) == 20
    assert games.tobytes() == resampled(round.games, 1, 20, seed=5).tobytes()
    assert games.tobytes() != resampled(round.games, 1, 20, seed=6).tobytes()
    assert games[:7].tobytes() == resampled(round.games, 1, 7, seed=5).tobytes()


def test_what_is_hidden_cannot_leak() -> None:
    """Any two of the worlds of one observation, taken for the truth, have the same worlds in turn."""
    round = played(4, 50, "klasik")
    truths = resampled(round.games, 2, 2)
    assert truths["rack"][0].tobytes() != truths["rack"][1].tobytes()
    first = resampled(truths[:1], 2, 5, seed=9)
    assert first.tobytes() == resampled(truths[1:], 2, 5, seed=9).tobytes()
    assert first.tobytes() == resampled(round.games, 2, 5, seed=9).tobytes()


def test_queues_share_out_the_stock_in_the_order_of_drawing() -> None:
    round = played(2, 41, "gamelake")
    game = resampled(round.games, 0, 1, queues=True)[0]
    sizes = [int(game["queue_end"][seat]) - int(game["queue_next"][seat]) for seat in range(4)]
    first = (round.turn + (round.phase == "throw")) % 4
    in_turn = sizes[first:] + sizes[:first]
    assert in_turn == sorted(in_turn, reverse=True)
    assert in_turn[0] - in_turn[3] <= 1


# --- every world as likely ----------------------------------------------------------------------------------------


def limit_of_chi_square(freedom: int) -> float:
    """What a chi-square exceeds once in a million (Wilson and Hilferty)."""
    part = 2 / (9 * freedom)
    return float(freedom * (1 - part + 4.753 * part**0.5) ** 3)


def almost_open(round: Round, hidden: tuple[int, int, int], stock: int) -> list[list[int]]:
    """Make all but a few tiles of the others' racks known to seat 0 and the stock short; returns what stays hidden."""
    fields = round.fields
    places = []
    for seat, number in zip((1, 2, 3), hidden, strict=True):
        fields["known"][0, seat] = fields["rack"][0, seat]
        held = np.flatnonzero(fields["rack"][0, seat])[:number].tolist()
        fields["known"][0, seat, held] -= 1
        places.append(held)
    left = int(fields["stock_left"].item())
    for kind in fields["stock"][0, 48 - left : 48 - stock].tolist():  # as if seat 2 had thrown them
        fields["heap"][0, 2, kind] += 1
        fields["pile"][0, 2, int(fields["pile_height"][0, 2])] = kind
        fields["pile_height"][0, 2] += 1
    fields["stock_left"][0] = stock
    return [*places, fields["stock"][0, 48 - stock :].tolist()]


def hidden_of(games: Games, i: int) -> tuple[tuple[int, ...], ...]:
    """Where the hidden tiles of a game are: for each of the other racks by kind, then the stock in order."""
    racks = games["rack"][i, 1:] - games["known"][i, 1:]
    kinds = [tuple(np.repeat(np.arange(rack.size), rack).tolist()) for rack in racks]
    return (*kinds, tuple(games["stock"][i, 48 - int(games["stock_left"][i]) :].tolist()))


@pytest.mark.parametrize("rules", ["gamelake", "klasik"])
@pytest.mark.parametrize(
    ("hidden", "stock", "seed"), [((1, 1, 1), 2, 1), ((2, 0, 1), 2, 2), ((0, 3, 0), 3, 3), ((2, 2, 0), 1, 4)]
)
def test_frequencies_are_those_of_an_enumeration(
    hidden: tuple[int, int, int], stock: int, seed: int, rules: str
) -> None:
    """All orders of the hidden tiles, counted; chi-square with an error rate of one in a million each."""
    round = played(seed, 61 + seed, rules, takes=0.0)
    places = almost_open(round, hidden, stock)
    tiles = list(itertools.chain.from_iterable(places))
    tiles[-1] = tiles[0]  # two copies of one kind among the hidden ones: its swaps are one world
    round.fields["stock"][0, -1] = tiles[0]
    expected: Counter[tuple[tuple[int, ...], ...]] = Counter()
    for order in itertools.permutations(tiles):
        ends = list(itertools.accumulate(hidden))
        racks = [tuple(sorted(order[end - size : end])) for end, size in zip(ends, hidden, strict=True)]
        expected[*racks, order[ends[-1] :]] += 1
    record = seen_with(round, tiles)
    number = 500 if JIT_IS_OFF else 12_000
    games = np.zeros(number, GAME)
    assert resample_all(record, 0, 0, np.uint64(seed), games)
    found = Counter(hidden_of(games, i) for i in range(number))
    assert set(found) <= set(expected)
    all_orders = sum(expected.values())
    chi_square = sum(
        (found[world] - number * ways / all_orders) ** 2 / (number * ways / all_orders)
        for world, ways in expected.items()
    )
    assert chi_square < limit_of_chi_square(len(expected) - 1)


def seen_with(round: Round, unseen: list[int]) -> Games:
    """What seat 0 sees, with these tiles unseen."""
    record = round.observe(0).records.copy()
    record["unseen"][0] = np.bincount(unseen, minlength=record["unseen"].shape[1])
    record.flags.writeable = False  # as that of an observation: then the kernel is not compiled again
    return record


def test_enumeration_would_notice_a_lean() -> None:
    """The test above can fail: worlds that come 15 % too often or too seldom are beyond its limit."""
    number, worlds_of_five = 12_000, 120
    even = np.full(worlds_of_five, number / worlds_of_five)
    leaning = even * np.where(np.arange(worlds_of_five) % 2, 1.15, 0.85)
    assert ((leaning - even) ** 2 / even).sum() > limit_of_chi_square(worlds_of_five - 1)


def statistics(games: Games, i: int) -> list[float]:
    """Some numbers about the hidden tiles of a game, as seen from seat 0."""
    racks, stock = games["rack"][i], np.array(stock_of(games, i))
    distances = [
        int(melds_distance(games["once"][i, seat], games["twice"][i, seat], int(racks[seat, WILD]), True))
        for seat in (1, 2, 3)
    ]
    return [
        *distances,
        float(np.count_nonzero(stock[:12] < 26)),
        float(racks[1, :13].sum()),
        float((racks[3] == 2).sum()),
        float(racks[2, WILD]) - float(racks[3, WILD]),
    ]


@pytest.mark.parametrize("rules", ["gamelake", "klasik"])
def test_the_truth_is_not_favoured(rules: str) -> None:
    """Among 15 worlds the truth has every rank as often: chi-square, an error rate of one in a million each.

    The players take by chance and throw any of their tiles, each as likely, so that no move tells anything.
    """
    rounds, others = (10, 15) if JIT_IS_OFF else (600, 15)
    ranks = np.zeros((7, others + 1), int)
    for seed in range(rounds):
        rng = random.Random(seed)
        round = Round(rules, seed=seed, draw_queues=rng.random() < 0.5)
        for _ in range(rng.randrange(4, 50)):
            if round.phase == "draw":
                round.apply(1 if rng.random() < 0.3 else 0)
            else:
                rack = np.repeat(np.arange(NUM_KINDS), round.fields["rack"][0, round.turn, :NUM_KINDS])
                round.apply(3 + int(rng.choice(rack.tolist())))
        mine = statistics(round.games, 0)
        games = resampled(round.games, 0, others, seed)
        theirs = np.array([statistics(games, i) for i in range(others)])
        for number, value in enumerate(mine):
            below = int((theirs[:, number] < value).sum())
            ties = int((theirs[:, number] == value).sum())
            ranks[number, below + rng.randint(0, ties)] += 1
    expected = rounds / (others + 1)
    for counts in ranks:
        assert ((counts - expected) ** 2 / expected).sum() < limit_of_chi_square(others)


# --- what else a seat knows ---------------------------------------------------------------------------------------


def last_chance(phase: str, throw_visibility: str = "history") -> Round:
    """The stock is empty, and seat 1 may only take what seat 0 has just thrown, and finish (R5.4)."""
    rules = {"preset": "gamelake", "stock_end": "next_may_take", "throw_visibility": throw_visibility}
    waiting = "R1 R2 R3 R4 B4 B5 B6 K7 K8 K9 Y10 Y11 Y12 K1"  # the next tile of any run, and K1 is laid
    round = Round(rules, seed=1, deal=Deal(indicator="B1", racks=(None, waiting, None, None), starter=0))
    useful = next(
        place for place in range(48) if round.fields["stock"][0, place] in (round.kind("R5"), round.kind("Y13"))
    )
    stock = round.fields["stock"][0]
    stock[[useful, 47]] = stock[[47, useful]]
    drawn = int(np.flatnonzero(round.fields["rack"][0, 0])[0])
    while not round.fields["last_chance"].item():
        if round.phase == "draw":
            drawn = int(stock[48 - round.stock_left])
            round.apply(0)
        round.apply(3 + drawn)
    if phase == "throw":
        round.apply(1)
    return round


@pytest.mark.skipif(JIT_IS_OFF, reason="some hundred thousand racks are tried for each world")
@pytest.mark.parametrize("phase", ["draw", "throw"])
@pytest.mark.parametrize("seat", [0, 2, 3])
def test_who_has_a_last_chance_can_finish_in_every_world(seat: int, phase: str) -> None:
    round = last_chance(phase)
    games = resampled(round.games, seat, 3)
    for i in range(len(games)):
        check(games, i)
        assert seen(games[i : i + 1], seat).tobytes() == round.observe(seat).records.tobytes()
        world = Round()
        world.restore(to_bytes(games, i))
        if phase == "draw":
            world.apply(1)
        assert any(action >= 56 for action in world.legal_actions())


@pytest.mark.parametrize("phase", ["draw", "throw"])
@pytest.mark.parametrize("seat", [0, 2, 3])
def test_a_last_chance_of_an_open_rack_is_the_one_there_is(seat: int, phase: str) -> None:
    round = last_chance(phase)
    round.fields["known"][0, 1] = round.fields["rack"][0, 1]
    games = resampled(round.games, seat, 3)
    for i in range(len(games)):
        check(games, i)
        assert (games["rack"][i, 1] == round.fields["rack"][0, 1]).all()
        assert seen(games[i : i + 1], seat).tobytes() == round.observe(seat).records.tobytes()


def test_the_take_of_a_last_chance_is_remembered_where_only_tops_are_shown() -> None:
    round = last_chance("throw", "top_only")
    games = resampled(round.games, 1, 20)
    for i in range(len(games)):
        check(games, i)
        assert seen(games[i : i + 1], 1).tobytes() == round.observe(1).records.tobytes()
    throws = int(round.fields["throws"].item())
    assert (games["pile_height"][:, 0] < (throws + 3) // 4).all()  # seat 0's last throw lies there no more


def test_takes_that_nobody_shows_are_any_of_the_turns() -> None:
    """`top_only`: each choice of the turns that were takes is as likely; chi-square, one in a million."""
    rules = {"preset": "gamelake", "throw_visibility": "top_only"}
    round = Round(rules, seed=3)
    takes = {4, 7}  # of eleven turns with a tile
    for turn in range(12):
        if turn:
            round.apply(1 if turn in takes else 0)
        round.apply(next(action for action in round.legal_actions() if 3 <= action < 56))
    round.apply(0)
    number = 300 if JIT_IS_OFF else 20_000
    games = resampled(round.games, round.turn, number)
    first = round.turn  # the starter; thrower k of the table throws the throws k, k + 4, k + 8, takes come one later
    expected: Counter[tuple[int, ...]] = Counter()
    for pair in itertools.combinations(range(1, 13), 2):
        heights = [3, 3, 3, 3]
        for turn in pair:
            heights[(turn - 1) % 4] -= 1
        expected[tuple(heights)] += 1
    tops = [top is not None for top in round.observe(0).last_throws]
    assert all(tops)
    found = Counter(tuple(row) for row in np.roll(games["pile_height"], -first, axis=1).tolist())
    assert set(found) <= set(expected)
    total = sum(expected.values())
    chi_square = sum((found[h] - number * n / total) ** 2 / (number * n / total) for h, n in expected.items())
    assert chi_square < limit_of_chi_square(len(expected) - 1)


def test_a_twin_shown_and_thrown_is_not_back_in_the_stock() -> None:
    rack = "B1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 K1 K2"
    rules = {"preset": "gamelake", "throw_visibility": "top_only"}
    round = Round(rules, seed=1, deal=Deal(indicator="B1", racks=(rack, None, None, None)))
    round.apply(2)
    round.apply(3 + round.kind("B1"))
    for _ in range(6):  # nobody takes; seat 0 throws once more, onto the twin
        if round.phase == "draw":
            round.apply(0)
        round.apply(next(action for action in round.legal_actions() if 3 <= action < 56))
    games = resampled(round.games, 2, 20 if JIT_IS_OFF else 200)
    assert (games["heap"][:, 0, round.kind("B1")] == 1).all()  # no turn was a take, as the stock tells


def test_worlds_are_refused_in_words() -> None:
    round = Round("gamelake", seed=1)
    with pytest.raises(ValueError, match="number=0 is out of range: expected 1 to"):
        worlds(round.observe(0), 0)
    while not round.over:
        round.apply(round.legal_actions()[0])
    with pytest.raises(ValueError, match="the round is over"):
        worlds(round.observe(0), 1)
