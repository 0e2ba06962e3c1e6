"""Starts: racks at an exact distance, short stocks, and mixtures that depend on the seed and the number alone."""

import numpy as np
import numpy.typing as npt
import pytest

from okey_env import Deal, Round, Rules, SelfPlay, hands
from okey_env.engine._jit import JIT_IS_OFF, kernel
from okey_env.engine.batch import deal_all, shorten_stock_in
from okey_env.engine.hand import finishing_pairs
from okey_env.engine.starts import MOST_EXCHANGES, bring_racks_to, start_range
from okey_env.engine.state import new_games
from okey_env.interfaces import STARTS, starts_of
from okey_env.tiles import NUM_KINDS, WILD, face_text, total_counts
from tests import hand_oracle

Games = npt.NDArray[np.record]

DEALS = 20 if JIT_IS_OFF else 1_000


@kernel
def bring_all(games: Games, wanted: int, most: int) -> None:
    for i in range(len(games)):
        bring_racks_to(games[i], wanted, most)


def dealt(number: int, rules: Rules | None = None, seed: int = 0) -> Games:
    games = new_games(rules or Rules(), number)
    deal_all(games, np.arange(seed, seed + number, dtype=np.uint64))
    return games


def started(start: str | dict[str, float], number: int, rules: Rules | None = None, seed: int = 0) -> Games:
    games = dealt(number, rules, seed)
    start_range(games, starts_of(start), 0, number)
    return games


def racks_of(games: Games) -> npt.NDArray[np.uint8]:
    """All racks: `(4 N, 53)`."""
    return np.ascontiguousarray(games["rack"][:, :, :NUM_KINDS].reshape(-1, NUM_KINDS))


def check(games: Games) -> None:
    """All that is always true of a dealt round, and that an exchange of tiles could break."""
    for game in games:
        racks = game["rack"][:, :NUM_KINDS]
        everything = racks.sum(axis=0) + np.bincount(game["stock"], minlength=NUM_KINDS)
        assert everything.tolist() == total_counts(int(game["indicator"])).tolist()
        sizes = [14 + (seat == game["starter"]) for seat in range(4)]
        assert racks.sum(axis=1).tolist() == sizes
        bits = np.array([4 * (kind % 13) + kind // 13 for kind in range(52)], np.uint64)
        copies = (game["once"][:, None] >> bits & np.uint64(1)) + (game["twice"][:, None] >> bits & np.uint64(1))
        assert copies.tolist() == racks[:, :52].tolist()
        starter = int(game["starter"])
        assert (game["turn"], game["finish_melds"], game["known"].sum()) == (starter, 0, 0)
        hand = (game["once"][starter], game["twice"][starter], int(racks[starter, WILD]))
        assert game["finish_pairs"] == finishing_pairs(*hand)


@pytest.mark.parametrize("rules", [Rules(), Rules(run_13_1=False)], ids=["13-1", "no 13-1"])
@pytest.mark.parametrize("wanted", [1, 2, 3, 4])
def test_every_rack_has_exactly_the_distance(wanted: int, rules: Rules) -> None:
    games = started(f"distance-{wanted}", DEALS, rules)
    racks = racks_of(games)
    assert np.unique(hands.melds_distance(racks, run_13_1=rules.run_13_1)).tolist() == [wanted]
    for rack in racks[:40]:
        assert hand_oracle.melds_distance(rack, rules.run_13_1) == wanted
    for i, game in enumerate(games[:10]):  # 15 tiles: after the best throw
        rack = racks[4 * i + int(game["starter"])]
        after = [hand_oracle.after_throw(rack, int(kind)) for kind in np.flatnonzero(rack)]
        assert min(hand_oracle.melds_distance(left, rules.run_13_1) for left in after) == wanted
    check(games[:200])
    assert (games["stock_left"] == 48).all()
    assert (games["set_aside"] == 0).all()


@pytest.mark.parametrize("run_13_1", [True, False])
def test_the_way_out_gives_the_distance_for_every_indicator_and_starter(run_13_1: bool) -> None:
    """`lay_by_colours` uses no chance, so these are all the racks that it can ever lay."""
    deals = [(face, starter) for face in range(0, 52, 26 if JIT_IS_OFF else 1) for starter in range(4)]
    games = new_games(Rules(run_13_1=run_13_1), len(deals))
    for game, (face, starter) in zip(games, deals, strict=True):
        Deal(indicator=face_text(face), starter=starter).deal_into(game)
    for wanted in range(1, 5):
        laid = games.copy()
        bring_all(laid, wanted, 0)
        assert np.unique(hands.melds_distance(racks_of(laid), run_13_1=run_13_1)).tolist() == [wanted]
        check(laid)


def test_exchanges_hardly_ever_run_out() -> None:
    """A twentieth of the tries would do: the racks are the same, so none was laid by colours."""
    games = dealt(DEALS)
    few, many = games.copy(), games.copy()
    bring_all(few, 1, MOST_EXCHANGES // 20)
    bring_all(many, 1, MOST_EXCHANGES)
    assert few.tobytes() == many.tobytes()


def test_all_that_a_start_keeps_stays() -> None:
    ordinary, near = dealt(50), started("distance-2", 50)
    for name in ("seed", "round_number", "starter", "indicator", "okey", "scores", "phase", "stock_left", "rules"):
        assert (ordinary[name] == near[name]).all()
    assert (ordinary["rack"] != near["rack"]).any(axis=(1, 2)).all()
    assert started("deal", 50).tobytes() == ordinary.tobytes()
    assert started({"deal": 1, "short-2": 0}, 50).tobytes() == ordinary.tobytes()


def test_colours_mirrored_numbers_and_seats_are_treated_alike() -> None:
    """Without runs over the 13, the numbers n and 14 - n play the same part; five standard errors each way."""
    rounds = 100 if JIT_IS_OFF else 4_000
    games = started("distance-1", rounds, Rules(run_13_1=False))
    faces = games["rack"][:, :, :52].reshape(rounds, 4, 4, 13).astype(np.float64)
    by_colour, by_number = faces.sum(axis=(1, 3)), faces.sum(axis=(1, 2))
    wilds = games["rack"][:, :, WILD].astype(np.float64)
    pairs = [(by_colour[:, a], by_colour[:, b]) for a in range(4) for b in range(a)]
    pairs += [(by_number[:, n], by_number[:, 12 - n]) for n in range(6)]
    pairs += [(wilds[:, a], wilds[:, b]) for a in range(4) for b in range(a)]
    for one, other in pairs:
        difference = one - other
        assert abs(difference.mean()) < 5 * difference.std() / np.sqrt(rounds)


def test_a_mixture_has_its_weights() -> None:
    number = 200 if JIT_IS_OFF else 20_000
    weights = {"deal": 2.0, "short-4": 1.0, "short-11": 4.0, "short-1": 1.0}
    games = started(weights, number)
    for start, draws in (("deal", 12), ("short-4", 4), ("short-11", 11), ("short-1", 1)):
        share = weights[start] / 8
        found = (games["stock_left"] == 4 * draws).mean()
        assert abs(found - share) < 5 * np.sqrt(share * (1 - share) / number), start


def test_a_start_depends_on_the_seed_and_the_number_of_the_round_only() -> None:
    mixture = {"deal": 1.0, "distance-1": 1.0, "distance-3": 1.0, "short-5": 1.0}
    together = started(mixture, 40)
    for i in range(40):
        assert started(mixture, 1, seed=i).tobytes() == together[i : i + 1].tobytes()
    again = dealt(40)
    again["round_number"] = 1
    start_range(again, starts_of(mixture), 0, 40)
    assert (again["stock_left"] != together["stock_left"]).any()


def test_batch_size_and_threads_change_nothing() -> None:
    def run(num_games: int, num_threads: int) -> list[bytes]:
        games = SelfPlay(
            num_games,
            {"max_throws": 6},
            encoder=None,
            seed=5,
            reward="zero_sum+distance",
            start={"deal": 1, "distance-1": 1, "distance-2": 1, "short-1": 1},
            num_threads=num_threads,
        )
        games.reset()
        seen = []
        for _ in range(40):
            games.step(games.masks.argmax(axis=1))
            seen += [games.records[:1].tobytes(), games.rewards[:1].tobytes()]
        assert games.games["round_number"][0] > 2
        return seen

    one = run(1, 1)
    assert run(64, 1) == one
    assert run(64, 2) == one


@pytest.mark.parametrize("queues", [False, True])
@pytest.mark.parametrize("draws", [1, 4, 11])
def test_a_short_stock_ends_when_its_draws_are_drawn(draws: int, queues: bool) -> None:
    round = Round("klasik", seed=3, draw_queues=queues)
    stock = round.fields["stock"][0].copy()
    shorten_stock_in(round.games, 0, draws)
    assert (round.stock_left, round.set_aside) == (4 * draws, 48 - 4 * draws)
    drawn = [[], [], [], []]  # type: list[list[int]]
    while not round.over:
        seen = round.observe(round.turn)
        assert seen.set_aside == 48 - 4 * draws
        assert seen.stock_left == round.stock_left
        hidden = 14 * 3 - int(seen.known[1:].sum()) + seen.stock_left + seen.set_aside
        assert seen.unseen.sum() == hidden  # the tiles aside stay unseen
        before = round.racks[round.turn]
        if round.phase == "draw":
            round.apply("draw")
            drawn[round.turn].append(int((round.racks[round.turn].astype(int) - before).argmax()))
        else:
            round.apply(next(action for action in reversed(round.legal_actions()) if action < 56))
    assert round.ending == "void"
    assert round.stock_left == 0
    assert [len(tiles) for tiles in drawn] == [draws] * 4
    if queues:  # each seat's own quarter, without its first tiles
        assert drawn == [stock[12 * seat + 12 - draws : 12 * seat + 12].tolist() for seat in range(4)]
    else:
        assert sorted(tile for tiles in drawn for tile in tiles) == sorted(stock[48 - 4 * draws :].tolist())


def test_every_name_is_a_start() -> None:
    assert list(STARTS)[:5] == ["deal", "distance-1", "distance-2", "distance-3", "distance-4"]
    for name in STARTS:
        games = started(name, 3)
        short = name.startswith("short")
        assert (games["stock_left"] == (4 * int(name.split("-")[1]) if short else 48)).all()
