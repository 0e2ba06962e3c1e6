"""The oracle's own tests: known hands, the turn and its edges, scores, and the finishing check against a duller one."""

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

import pytest

from . import (
    ACTION_DRAW,
    ACTION_FINISH,
    ACTION_SHOW,
    ACTION_TAKE,
    ACTION_THROW,
    FACES,
    GAMELAKE,
    KINDS,
    KLASIK,
    WILD,
    ReferenceMatch,
    ReferenceRound,
    all_melds,
    finishing_tiles,
    okey_face,
    parse,
    random_round,
    seven_pairs,
)
from .switches import Rules
from .tiles import PHYSICAL_TILES, colour_of, face_of_text, number_of, tiles_in_play

Y4 = face_of_text("Y4")  # the indicator unless a test says otherwise: the okey is Y5, and F plays as Y5

C3 = "R1 R2 R3 R4 | B4 B5 B6 | K7 K8 K9 | Y10 Y11 Y12 Y13"
SEVEN_PAIRS = "R1 R1 R5 R5 B2 B2 B9 B9 K4 K4 K11 K11 Y13 Y13"
BOTH = "R1 R2 R3 | R1 R2 R3 | B7 B8 B9 B10 | B7 B8 B9 B10"  # melds and seven pairs at once


def finishes(text: str, indicator: int = Y4, run_13_1: bool = True) -> dict[int, tuple[bool, bool]]:
    return finishing_tiles(tuple(sorted(parse(text, indicator))), run_13_1)


def deal(*hands: str, rules: Rules = GAMELAKE, indicator: int = Y4, stock: int = 48) -> ReferenceRound:
    """A round that seat 0 starts, with these tiles in the racks of seats 0, 1, ..., filled up with others at random."""
    racks = [parse(hand, indicator) for hand in (*hands, "", "", "", "")[:4]]
    counts = tiles_in_play(indicator)
    for kind in (kind for rack in racks for kind in rack):
        counts[kind] -= 1
    rest = [kind for kind in range(KINDS) for _ in range(counts[kind])]
    random.Random(7).shuffle(rest)
    for seat, rack in enumerate(racks):
        while len(rack) < (15 if seat == 0 else 14):
            rack.append(rest.pop())
    return ReferenceRound(rules, indicator, racks, rest[:stock], starter=0)


def throw_any(game: ReferenceRound, avoid: int | None = None) -> int:
    """Throw the lowest kind that is not to be kept; returns it."""
    kind = next(kind for kind in range(KINDS) if game.racks[game.turn][kind] > 0 and kind != avoid)
    game.step(ACTION_THROW + kind)
    return kind


# Melds


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("R12 R13 R1", True),
        ("R13 R1 R2 R3", False),
        ("R13 * R2", False),
        ("R13 * R1", True),
        ("R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 R1", True),
        ("R1 R2", False),
        ("R8 B8 K8 B8", False),
        ("R8 B8 K8 Y8", True),
        ("R8 F R10", False),
        ("R8 * R10", True),
        ("R8 * *", True),
        ("R8 B8 K8 Y8 *", False),  # a wild tile never repeats a colour (R4.5)
        ("Y4 F Y6", True),  # F is Y5
        ("Y6 Y7 *", True),
    ],
)
def test_single_melds(text: str, valid: bool) -> None:
    assert all_melds(parse(text, Y4), run_13_1=True) is valid


def test_run_13_1_is_a_switch() -> None:
    assert not all_melds(parse("R12 R13 R1", Y4), run_13_1=False)
    assert all_melds(parse("R11 R12 R13", Y4), run_13_1=False)


def test_a_false_joker_completes_a_group_of_the_okeys_number() -> None:
    assert all_melds(parse("R8 B8 F *", face_of_text("Y7")), run_13_1=True)


def test_after_13_the_okey_is_1() -> None:
    assert okey_face(face_of_text("K13")) == face_of_text("K1")
    assert parse("F", face_of_text("K13")) == [face_of_text("K1")]


# Whole hands


def test_every_tile_may_finish() -> None:
    rack = parse(C3 + " *", Y4)
    assert finishes(C3 + " *") == dict.fromkeys(sorted(set(rack)), (True, False))


@pytest.mark.parametrize(
    ("text", "laid"),
    [
        ("R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 R1 K4", "K4"),
        ("Y1 Y2 Y3 Y9 Y10 Y11 R1 B1 K1 Y1 R12 B12 K12 Y12 R5", "R5"),
        (C3 + " F", "F"),
        ("R1 R1 R5 R5 B2 B2 B9 B9 K4 K4 K11 K11 R3 * K9", "R3 K9"),
        ("R1 R1 R5 R5 B2 B2 B9 B9 K4 K4 K11 K11 F F R3", "R3"),
        ("R1 R1 R5 R5 B2 B2 B9 B9 K4 K4 K11 K11 F R3 R8", ""),
        ("R1 R1 R5 R5 B2 B2 B9 B9 K4 K4 K11 K11 F * R8", "F R8"),
        ("R1 R1 R5 R5 B2 B2 B9 B9 K4 K4 K11 K11 * * R8", "R1 R5 B2 B9 K4 K11 * R8"),
        ("R1 R2 R3 B1 B2 B3 K1 K2 K3 Y1 Y2 Y3 R7 B9 K12", ""),
        ("R1 B1 K1 Y1 R5 B5 K5 F R8 B8 K8 Y8 * * R11", "R1 B1 K1 Y1 R5 B5 K5 F R8 B8 K8 Y8 R11"),
    ],
)
def test_finishing_tiles(text: str, laid: str) -> None:
    assert sorted(finishes(text)) == sorted(parse(laid, Y4))


def test_no_finish_over_the_1_without_the_switch() -> None:
    assert finishes("R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 R1 K4", run_13_1=False) == {}


def test_seven_pairs_need_fourteen_tiles() -> None:
    assert seven_pairs(parse(SEVEN_PAIRS, Y4))
    assert not seven_pairs(parse("R1 R1", Y4))
    assert sorted(finishes(SEVEN_PAIRS + " *")) == sorted(set(parse(SEVEN_PAIRS + " *", Y4)))


# The finishing check against a duller one: try all ways to cut the tiles, and all faces for each wild tile


def is_one_meld(faces: tuple[int, ...], run_13_1: bool) -> bool:
    """Whether natural tiles are one single meld, straight from the words of R4.1 and R4.2."""
    colours, numbers = {colour_of(tile) for tile in faces}, sorted(number_of(tile) for tile in faces)
    if len(faces) < 3:
        return False
    if len(set(numbers)) == 1:
        return len(colours) == len(faces)
    if len(colours) > 1:
        return False
    if numbers[0] == 1 and run_13_1 and numbers != [*range(1, 1 + len(numbers))]:
        numbers = [*numbers[1:], 14]  # this 1 comes after the 13
    return numbers == [*range(numbers[0], numbers[0] + len(numbers))]


def cuts(tiles: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    """Every way to cut tiles into heaps of three or more."""
    if not tiles:
        yield []
    for size in range(3, len(tiles) + 1):
        for others in combinations(range(1, len(tiles)), size - 1):
            heap = (tiles[0], *(tiles[at] for at in others))
            rest = tuple(tiles[at] for at in range(1, len(tiles)) if at not in others)
            for more in cuts(rest):
                yield [heap, *more]


def dull_all_melds(kinds: list[int], run_13_1: bool) -> bool:
    natural = [kind for kind in kinds if kind != WILD]
    return any(
        all(is_one_meld(heap, run_13_1) for heap in cut)
        for faces in product(range(FACES), repeat=len(kinds) - len(natural))
        for cut in cuts((*natural, *faces))
    )


@pytest.mark.parametrize(("size", "wilds", "hands"), [(4, 1, 150), (6, 0, 400), (6, 1, 60), (5, 2, 3), (9, 0, 60)])
@pytest.mark.parametrize("run_13_1", [True, False])
def test_search_agrees_with_trying_everything(size: int, wilds: int, hands: int, run_13_1: bool) -> None:
    rng = random.Random(size * 10 + wilds)
    # A corner of the tiles where melds are frequent.
    corner = [face_of_text(colour + number) for colour in "RBK" for number in ("12", "13", "1", "2", "3")] * 2
    seen = set()
    for _ in range(hands):
        kinds = rng.sample(corner, size - wilds) + [WILD] * wilds
        expected = dull_all_melds(kinds, run_13_1)
        seen.add(expected)
        assert all_melds(kinds, run_13_1) == expected, kinds
    assert seen == {True, False} or hands < 100


def test_hands_built_of_melds_are_recognised() -> None:
    rng = random.Random(3)
    for _ in range(300):
        kinds: list[int] = []
        for size in rng.choice([(3, 3, 4, 4), (3, 3, 3, 5), (4, 5, 5), (3, 5, 6), (14,), (3, 11)]):
            if size <= 4 and rng.random() < 0.5:
                number = rng.randrange(13)
                kinds += [colour * 13 + number for colour in rng.sample(range(4), size)]
            else:
                colour, start = rng.randrange(4), rng.randrange(15 - size)
                kinds += [colour * 13 + number % 13 for number in range(start, start + size)]
        for at in rng.sample(range(14), rng.randrange(3)):
            kinds[at] = WILD
        assert all_melds(kinds, run_13_1=True), kinds


def test_the_quick_conditions_lose_no_finish() -> None:
    rng = random.Random(5)
    for _ in range(400):
        # A rack near a finish: a melded or paired hand with two tiles changed at most.
        rack = [*parse(rng.choice([C3, SEVEN_PAIRS, BOTH]), Y4), rng.randrange(KINDS)]
        for at in rng.sample(range(15), rng.randrange(3)):
            rack[at] = rng.choice([WILD, rng.randrange(FACES)])
        expected = {}
        for kind in set(rack):
            rest = list(rack)
            rest.remove(kind)
            found = (all_melds(rest, True), seven_pairs(rest))
            if any(found):
                expected[kind] = found
        assert finishing_tiles(tuple(sorted(rack)), True) == expected


# Turn


def test_starter_throws_without_drawing() -> None:
    game = deal("")
    assert game.phase == "throw"
    assert game.offer is None
    with pytest.raises(ValueError, match="not legal"):
        game.step(ACTION_DRAW)
    thrown = throw_any(game)
    assert (game.turn, game.phase) == (1, "draw")
    assert [game.offer] == game.heaps[0] == [thrown]
    assert {ACTION_DRAW, ACTION_TAKE} <= set(game.legal_actions())


def test_take_is_public_and_only_the_last_throw() -> None:
    game = deal("R1 R1")
    game.step(ACTION_THROW + face_of_text("R1"))
    game.step(ACTION_TAKE)
    assert game.heaps[0] == []
    assert game.known[1][face_of_text("R1")] == 1
    throw_any(game)
    assert game.heaps[1] == [face_of_text("R1")]
    assert game.known[1][face_of_text("R1")] == 0
    for _ in range(3):
        game.step(ACTION_DRAW)
        throw_any(game)
    # Seat 1 is offered what seat 0 threw last, and nothing else from any heap.
    assert game.turn == 1
    assert game.offer == game.heaps[0][-1]
    assert len(game.heaps[1]) == 1


def test_a_thrown_wild_tile_may_be_taken_and_is_wild() -> None:
    game = deal("*")
    game.step(ACTION_THROW + WILD)
    assert game.offer == WILD
    before = game.racks[1][WILD]
    game.step(ACTION_TAKE)
    assert game.racks[1][WILD] == before + 1


def test_finish_is_optional() -> None:
    game = deal(C3 + " K2")
    assert ACTION_FINISH + face_of_text("K2") in game.legal_actions()
    game.step(ACTION_THROW + face_of_text("K2"))
    assert game.ending is None
    assert game.turn == 1


def test_starter_may_finish_with_the_dealt_tiles() -> None:
    game = deal(C3 + " K2")
    game.step(ACTION_FINISH + face_of_text("K2"))
    assert (game.ending, game.winner, game.throws, game.phase) == ("finish", 0, 0, "over")
    assert game.legal_actions() == []
    assert sum(game.racks[0]) == 14
    with pytest.raises(ValueError, match="not legal"):
        game.step(ACTION_DRAW)


# Points


@pytest.mark.parametrize(
    ("hand", "laid", "gamelake", "klasik"),
    [
        (C3 + " K2", "K2", 2, 2),
        (C3 + " *", "*", 4, 4),
        (C3 + " *", "R4", 2, 2),
        (C3 + " F", "F", 2, 4),
        (SEVEN_PAIRS + " *", "*", 8, 4),
        (SEVEN_PAIRS + " *", "R1", 4, 4),
        (SEVEN_PAIRS + " F", "F", 4, 4),
        (BOTH + " K2", "K2", 4, 4),
        (BOTH + " *", "*", 8, 4),
    ],
)
def test_points(hand: str, laid: str, gamelake: int, klasik: int) -> None:
    for rules, points in ((GAMELAKE, gamelake), (KLASIK, klasik)):
        game = deal(hand, rules=rules)
        game.step(ACTION_FINISH + parse(laid, Y4)[0])
        assert game.lost == [0, points, points, points]
        assert game.won == [3 * points, 0, 0, 0]


def test_by_pairs_says_what_counted() -> None:
    for rules, by_pairs in ((GAMELAKE, True), (KLASIK, False)):
        game = deal(BOTH + " *", rules=rules)
        game.step(ACTION_FINISH + WILD)
        assert game.by_okey
        assert game.by_pairs is by_pairs


def test_teams_and_colour() -> None:
    rules = {**KLASIK, "teams": True, "colour_double": True}
    game = deal(C3.replace("K9", "K6") + " K2", rules=rules, indicator=face_of_text("K9"))
    game.step(ACTION_FINISH + face_of_text("K2"))
    assert game.lost == [0, 4, 0, 4]
    assert game.won == [4, 0, 4, 0]


# Showing the twin


def test_show_in_the_first_turn() -> None:
    game = deal("Y4")
    game.step(ACTION_SHOW)
    assert game.lost == [0, 1, 1, 1]
    assert game.won == [3, 0, 0, 0]
    assert game.shown_by == 0
    assert (game.turn, game.phase, game.known[0][Y4], game.racks[0][Y4]) == (0, "throw", 1, 1)
    assert ACTION_SHOW not in game.legal_actions()
    game.step(ACTION_THROW + Y4)
    assert game.known[0][Y4] == 0


def test_klasik_has_no_show_and_the_second_turn_is_too_late() -> None:
    assert ACTION_SHOW not in deal("Y4", rules=KLASIK).legal_actions()
    game = deal("Y4")
    throw_any(game, avoid=Y4)
    for _ in range(3):
        assert ACTION_SHOW not in game.legal_actions()
        game.step(ACTION_DRAW)
        throw_any(game)
    assert game.turn == 0
    assert ACTION_SHOW not in game.legal_actions()


def test_show_windows() -> None:
    for window, after_draw in (("first_turn", True), ("before_draw", False)):
        rules = {**GAMELAKE, "indicator_window": window}
        game = deal("", "Y4", rules=rules)
        throw_any(game)
        assert ACTION_SHOW in game.legal_actions()
        game.step(ACTION_DRAW)
        assert (ACTION_SHOW in game.legal_actions()) is after_draw
        assert ACTION_SHOW in deal("Y4", rules=rules).legal_actions()


def test_a_twin_taken_and_shown_is_known_once() -> None:
    game = deal("Y4")
    game.step(ACTION_THROW + Y4)
    game.step(ACTION_TAKE)
    game.step(ACTION_SHOW)
    assert game.known[1][Y4] == game.racks[1][Y4] == 1


def test_show_with_teams_spares_the_partner() -> None:
    game = deal("Y4", rules={**GAMELAKE, "teams": True})
    game.step(ACTION_SHOW)
    assert game.lost == [0, 1, 0, 1]
    assert game.won == [1, 0, 1, 0]


# Ends without a winner


def test_void_right_after_the_last_drawers_throw() -> None:
    game = deal("", rules={**GAMELAKE, "void_points": 3}, stock=1)
    throw_any(game)
    game.step(ACTION_DRAW)
    assert game.stock_left == 0
    assert game.phase == "throw"
    throw_any(game)
    assert (game.ending, game.lost, game.won) == ("void", [3, 3, 3, 3], [0, 0, 0, 0])


@pytest.mark.parametrize("finish", [True, False])
def test_next_may_take_only_to_finish(finish: bool) -> None:
    waiting = "R1 R2 R3 R4 | B4 B5 B6 | K7 K8 K9 | Y10 Y11 Y12 | R9"
    game = deal("", "Y13", waiting, rules={**GAMELAKE, "stock_end": "next_may_take"}, stock=1)
    throw_any(game)
    game.step(ACTION_DRAW)
    game.step(ACTION_THROW + face_of_text("Y13"))
    assert (game.turn, game.phase, game.legal_actions()) == (2, "draw", [ACTION_TAKE])
    game.step(ACTION_TAKE)
    if finish:
        game.step(ACTION_FINISH + face_of_text("R9"))
        assert (game.ending, game.winner) == ("finish", 2)
    else:
        game.step(ACTION_THROW + face_of_text("R9"))
        assert game.ending == "void"


def test_next_may_take_does_not_protect_from_truncation() -> None:
    waiting = "R1 R2 R3 R4 | B4 B5 B6 | K7 K8 K9 | Y10 Y11 Y12 | R9"
    rules = {**GAMELAKE, "stock_end": "next_may_take", "max_throws": 2}
    game = deal("", "Y13", waiting, rules=rules, stock=1)
    throw_any(game)
    game.step(ACTION_DRAW)
    game.step(ACTION_THROW + face_of_text("Y13"))
    assert game.ending == "truncated"


def test_next_may_take_is_void_at_once_when_of_no_use() -> None:
    game = deal("", rules={**GAMELAKE, "stock_end": "next_may_take"}, stock=1)
    throw_any(game)
    game.step(ACTION_DRAW)
    throw_any(game)
    assert game.ending == "void"


def test_taking_for_ever_is_cut_off() -> None:
    game = deal("", rules={**GAMELAKE, "max_throws": 30})
    throw_any(game)
    while game.phase != "over":
        game.step(ACTION_TAKE)
        throw_any(game)
    assert (game.ending, game.throws, game.stock_left) == ("truncated", 30, 48)


def test_void_comes_before_truncation() -> None:
    game = deal("", rules={**GAMELAKE, "max_throws": 2}, stock=1)
    throw_any(game)
    game.step(ACTION_DRAW)
    throw_any(game)
    assert game.ending == "void"


# Deal and whole rounds


def test_queues() -> None:
    game = random_round(GAMELAKE, random.Random(1), queues=True)
    whole = [list(queue) for queue in game.stock]
    first = (game.starter + 1) % 4
    throw_any(game)
    game.step(ACTION_DRAW)
    assert game.stock[first] == whole[first][1:]
    game.stock[game.turn].clear()
    throw_any(game)
    borrower = game.turn
    game.stock[borrower].clear()
    right = (borrower + 1) % 4
    game.step(ACTION_DRAW)
    assert game.stock[right] == whole[right][:-1]


def test_deal_is_checked() -> None:
    with pytest.raises(ValueError, match="starter"):
        ReferenceRound(GAMELAKE, Y4, [[0] * 14] * 4, [], 0)
    with pytest.raises(ValueError, match="times"):
        ReferenceRound(GAMELAKE, Y4, [[0] * 15, [1] * 14, [2] * 14, [3] * 14], [], 0)


def in_play(game: ReferenceRound) -> list[int]:
    tiles = [kind for part in (*game.stock, *game.heaps) for kind in part]
    if game.finish_kind is not None:
        tiles.append(game.finish_kind)
    return [tiles.count(kind) + sum(rack[kind] for rack in game.racks) for kind in range(KINDS)]


@pytest.mark.parametrize("queues", [False, True])
@pytest.mark.parametrize("stock_end", ["void_after_throw", "next_may_take"])
def test_random_rounds_keep_their_tiles_and_end(stock_end: str, queues: bool) -> None:
    assert len(PHYSICAL_TILES) == 106
    for seed in range(10):
        rng = random.Random(seed)
        game = random_round({**GAMELAKE, "stock_end": stock_end}, rng, queues)
        while game.phase != "over":
            actions = game.legal_actions()
            assert actions
            assert actions == sorted(set(actions))
            assert sum(game.racks[game.turn]) == (14 if game.phase == "draw" else 15)
            game.step(rng.choice(actions))
            assert all(game.known[seat][kind] <= game.racks[seat][kind] for seat in range(4) for kind in range(KINDS))
        assert in_play(game) == tiles_in_play(game.indicator)
        assert game.ending in ("finish", "void", "truncated")
        assert sum(game.won) == sum(game.lost)


# Match


def test_match_ends_and_ranks() -> None:
    for rules, winners in ((GAMELAKE, [3]), (KLASIK, [1, 3])):
        match = ReferenceMatch({**rules, "start_points": 11}, starter=2)
        match.scores = [2, 9, 4, 11]
        match.end_round([4, 4, 4, 0], winner=3)
        assert (match.scores, match.over, match.winners()) == ([-2, 5, 0, 11], True, winners)


def test_match_goes_on_and_the_start_moves() -> None:
    match = ReferenceMatch(GAMELAKE, starter=3)
    match.end_round([0, 2, 2, 2], winner=0)
    assert (match.scores, match.starter, match.over, match.winners()) == ([20, 18, 18, 18], 0, False, [])
    match = ReferenceMatch({**GAMELAKE, "rotation": "winner"}, starter=3)
    match.end_round([2, 2, 0, 2], winner=2)
    match.end_round([0, 0, 0, 0], winner=None)
    assert (match.starter, match.rounds) == (2, 2)


def test_ties_share() -> None:
    match = ReferenceMatch({**KLASIK, "start_points": 20}, starter=0)
    match.end_round([10, 13, 13, 21], winner=None)
    assert match.shares() == [Fraction(1), Fraction(1, 2), Fraction(1, 2), Fraction(0)]
    with pytest.raises(ValueError, match="over"):
        match.end_round([0, 0, 0, 0], winner=None)


def test_match_of_teams() -> None:
    match = ReferenceMatch({**KLASIK, "teams": True, "start_points": 5}, starter=0)
    match.end_round([0, 4, 0, 4], winner=2)
    assert match.scores == [5, 1]
    match.end_round([0, 2, 0, 2], winner=0)
    assert (match.scores, match.winners()) == ([5, -1], [0, 2])
