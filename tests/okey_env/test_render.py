"""Pictures, the window and text of a table: what they show, and the contracts of Gymnasium and PettingZoo."""

import copy
import pickle
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import HumanRendering, RenderCollection
from pettingzoo import test as pettingzoo_test

import okey_env
from okey_env import Deal, OkeyEnv, Round, hands
from okey_env.paint import Sheet, shorten, text_width
from okey_env.picture import Group, groups_of, lay, table_picture
from okey_env.render import RENDER_MODES, Renderer

pygame = pytest.importorskip("pygame")
official: Any = pettingzoo_test  # as untyped as it is

FINISHED = "R1 R2 R3 R4 R5 | B4 B5 B6 | K7 K8 K9 | Y10 Y11 Y12 Y13"
PAIRS = "R1 R1 | B5 B5 | K7 K7 | Y9 Y9 | R10 R10 | B11 B11 | K3 * | *"
Picture = npt.NDArray[np.uint8]


@pytest.fixture(autouse=True)
def no_screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    yield
    pygame.display.quit()


def dealt(rack: str = FINISHED, indicator: str = "Y4", rules: str = "gamelake") -> Round:
    return Round(rules, seed=1, deal=Deal(indicator=indicator, racks=(rack, None, None, None)))


def changed(before: Picture, after: Picture) -> tuple[slice, slice]:
    """The rows and columns between which two pictures differ."""
    rows, columns = np.nonzero((before != after).any(axis=2))
    return slice(rows.min(), rows.max() + 1), slice(columns.min(), columns.max() + 1)


# --- painting --------------------------------------------------------------------------------------------


def test_shapes_cover_what_they_should() -> None:
    sheet = Sheet(20, 20, scale=2)
    for shape, area in (
        (sheet.box(2, 3, 10, 6), 60),
        (sheet.box(2, 3, 10, 6, radius=3), 60 - 9 * (4 - np.pi)),
        (sheet.disc(10, 10, 6), 36 * np.pi),
        (sheet.polygon([(2, 2), (18, 2), (2, 18)]), 128),
        (sheet.polygon([(2, 18), (18, 2), (2, 2)]), 128),  # the other way round
    ):
        painted = Sheet(20, 20, scale=2)
        painted.fill(shape, "#ffffff")
        assert painted.pixels[3].sum() / 4 == pytest.approx(area, rel=0.01)


def test_paint_mixes_by_its_cover() -> None:
    sheet = Sheet(4, 4, scale=1)
    sheet.fill(sheet.box(-9, -9, 30, 30), "#640000")
    over = Sheet(2, 2, scale=1)
    over.fill(over.box(-9, -9, 30, 30), "#00c800", alpha=0.5)
    sheet.paste(over, 1, 1)
    assert sheet.rgb()[1, 1].tolist() == [50, 100, 0]
    assert sheet.rgb()[0, 0].tolist() == [100, 0, 0]


def test_text_lies_where_it_is_anchored() -> None:
    width = text_width("13", 40)
    for anchor, left in ((0, 50.0), (0.5, 50 - width / 2), (1, 50 - width)):
        sheet = Sheet(100, 60, scale=1)
        sheet.text("13", 50, 45, 40, "#ffffff", anchor=anchor)
        rows, columns = np.nonzero(sheet.pixels[3] > 0.5)
        assert left <= columns.min()
        assert columns.max() <= left + width
        assert (rows.min(), rows.max()) == pytest.approx((45 - 29, 44), abs=1)  # digits stand on the line


def test_text_may_reach_over_the_edge() -> None:
    sheet = Sheet(20, 20, scale=1)
    sheet.text("wide", -10, 10, 20, "#ffffff")
    sheet.text("wide", 15, 25, 20, "#ffffff")
    assert sheet.pixels[3].max() > 0.9


def test_text_outlives_pygame() -> None:
    for size in (20, 21):
        sheet = Sheet(20, 20, scale=1)
        sheet.text("13", 0, 20, size, "#ffffff")
        assert sheet.pixels[3].max() > 0.9
        pygame.quit()


def test_long_names_are_cut() -> None:
    assert shorten("greedy", 14, 100) == "greedy"
    assert shorten("a very long name", 14, 60).endswith("…")
    assert text_width(shorten("a very long name", 14, 60), 14) <= 60


# --- racks -----------------------------------------------------------------------------------------------


def test_groups_are_all_tiles_of_the_rack() -> None:
    for seed in range(20):
        for rack in Round(seed=seed).racks:
            groups = groups_of(rack, run_13_1=True)
            kinds = [kind for group in groups for kind in group.kinds]
            assert np.array_equal(np.bincount(kinds, minlength=53), rack)


def test_pairs_lie_as_pairs() -> None:
    rack = hands.parse("R1 R1 | B5 B5 | K7 K7 | Y9 Y9 | R10 R10 | K3 * | B2 *", okey="Y5")
    groups = groups_of(rack, run_13_1=True, by_pairs=True)
    assert [len(group.kinds) for group in groups] == [2] * 7
    assert all(group.complete for group in groups)
    both = hands.parse("R1 R1 | B5 B5 | K7 K7 | Y9 Y9 | R10 R10 | B2 B2 | * *", okey="Y5")
    assert groups_of(both, run_13_1=True, by_pairs=True)[-1].kinds == (52, 52)


@pytest.mark.parametrize(("width", "rows"), [(10.2, 2), (5.5, 4)])
@pytest.mark.parametrize(
    "sizes", [[1] * 15, [3] * 5, [2] * 7, [4, 4, 4, 3], [14, 1], [13], [5, 5, 5], [3, 3, 3, 2, 1, 1, 1, 1]]
)
def test_tiles_lie_beside_one_another_on_the_rack(width: float, rows: int, sizes: list[int]) -> None:
    placed = lay([Group((7,) * size, complete=False) for size in sizes], width, rows)
    assert len(placed) == sum(sizes)
    assert max(row for _, row, _ in placed) < rows
    assert max(column for *_, column in placed) <= width - 1
    for (_, row, column), (_, next_row, next_column) in pairwise(placed):
        assert (next_row, next_column) >= (row, column + 1) or next_row > row


# --- the picture -----------------------------------------------------------------------------------------


def test_same_table_same_bytes() -> None:
    one, two = dealt(), dealt()
    picture = table_picture(one)
    assert picture.shape == (720, 960, 3)
    assert picture.dtype == np.uint8
    assert picture.flags.c_contiguous
    two.apply("throw R5")
    assert not np.array_equal(table_picture(two), picture)
    assert np.array_equal(table_picture(dealt()), picture)  # nothing is left over from what was painted in between


def test_size_is_chosen() -> None:
    assert table_picture(dealt(), height=240).shape == (240, 320, 3)
    with pytest.raises(ValueError, match="height=100 is out of range: expected 120 to 10000"):
        table_picture(dealt(), height=100)


def test_a_throw_changes_rack_heap_and_turn() -> None:
    game = dealt()
    before = table_picture(game)
    game.apply("throw R5")
    after = table_picture(game)
    heap, far_heap = (slice(603, 679), slice(863, 917)), (slice(42, 118), slice(43, 97))
    assert not np.array_equal(before[heap], after[heap])
    assert np.array_equal(before[far_heap], after[far_heap])
    glow = (slice(224, 232), slice(760, 860))  # above the rack of seat 1, which is to move now
    assert after[glow].mean() > before[glow].mean() + 20


def test_every_tile_has_a_face_of_its_own() -> None:
    """Thrown as the first tile, each kind makes another picture of the heap, in grey as well."""
    seen = set()
    tiles = [f"{colour}{number}" for colour in "RBKY" for number in range(1, 14)]
    for tile in ["F", "*", *(tile for tile in tiles if tile not in ("Y5", "Y4"))]:
        rest = [other for other in tiles if other not in (tile, "Y4", "Y5")][:14]
        game = dealt(" ".join([tile, *rest]))
        game.apply(f"throw {tile}")
        heap = table_picture(game)[603:679, 863:917].astype(float).mean(axis=2)
        seen.add((heap / 64).round().astype(np.uint8).tobytes())
    assert len(seen) == 52


def test_names_and_points_are_shown() -> None:
    game = dealt()
    plain = table_picture(game)
    named = table_picture(game, ["learner", "seat 1", "seat 2", "seat 3"])
    rows, columns = changed(plain, named)
    assert 504 <= rows.start < rows.stop <= 544
    assert 370 <= columns.start < columns.stop <= 590
    poorer = Round(seed=1, deal=Deal(indicator="Y4", racks=(FINISHED, None, None, None)), points=(20, 7, 20, 20))
    rows, columns = changed(plain, table_picture(poorer))
    assert 188 <= rows.start < rows.stop <= 228
    assert 701 <= columns.start < columns.stop <= 921


def test_every_ending_has_its_own_picture() -> None:
    middle = (slice(410, 482), slice(340, 620))
    pictures = []
    for game, action in (
        (dealt(), "finish R5"),
        (dealt(PAIRS), "finish *"),
        (dealt(PAIRS), "finish K3"),
    ):
        game.apply(action)
        assert game.over
        pictures.append(table_picture(game)[middle])
    for rules in ({"max_throws": 3}, {"max_throws": 200}):
        game = Round(rules, seed=5)
        rng = np.random.default_rng(0)
        while not game.over:
            game.apply(int(rng.choice([action for action in game.legal_actions() if action < 55])))
        assert game.winner is None
        pictures.append(table_picture(game)[middle])
    assert len({picture.tobytes() for picture in pictures}) == 5


def test_a_whole_round_can_be_painted() -> None:
    for rules in ("gamelake", "klasik"):
        game = Round(rules, seed=3)
        bot = okey_env.make_bot("greedy", seed=1)
        while not game.over:
            assert table_picture(game, height=240).shape == (240, 320, 3)
            game.apply(int(bot.act(game.observe(game.turn))))
        table_picture(game, height=240)


# --- modes and contracts ---------------------------------------------------------------------------------


def test_without_pygame_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    env = okey_env.raw_env(render_mode="human")
    with pytest.raises(gymnasium.error.DependencyNotInstalled, match=r"pip install 'okey-env\[render\]'"):
        env.reset(seed=1)
    okey_env.raw_env(render_mode="ansi").reset(seed=1)


def test_modes() -> None:
    game = dealt()
    assert set(RENDER_MODES) == {"human", "rgb_array", "ansi"}
    assert "R1 R2 R3" in str(Renderer("ansi").render(game))
    assert np.array_equal(Renderer("rgb_array").render(game), table_picture(game))  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match="render_mode='svg' is not a choice: expected 'human', 'rgb_array' or 'ansi', or None"
    ):
        Renderer("svg")


def test_the_window_shows_the_picture_and_can_be_closed() -> None:
    game, renderer = dealt(), Renderer("human")
    assert renderer.render(game) is None
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).transpose(1, 0, 2)
    assert np.array_equal(shown, table_picture(game))
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    renderer.render(game)
    assert not pygame.display.get_init()
    renderer.render(game)  # closed by hand: the play goes on without it
    assert not pygame.display.get_init()
    renderer.close()
    renderer.render(game)
    assert pygame.display.get_init()
    renderer.close()
    renderer.close()


def test_two_windows_are_one() -> None:
    one, two = Renderer("human"), Renderer("human")
    one.render(dealt())
    two.render(dealt())
    one.close()
    two.render(dealt())
    two.close()


def test_a_copy_has_no_window() -> None:
    env = okey_env.raw_env(render_mode="human")
    env.reset(seed=1)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        twin.step(twin.round.legal_actions()[0])
        assert twin.round.stock_left == 48
    env.close()


@pytest.mark.parametrize("episode", ["round", "match"])
def test_pettingzoo_contract(episode: str) -> None:
    official.render_test(lambda render_mode: okey_env.env(render_mode=render_mode, episode=episode))


def test_a_window_shows_every_move(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[int, ...]] = []

    def note(self: Renderer, round: Round, players: Any = None) -> None:
        shown.append((round.number, round.games["num_events"].item(), *round.scores))

    monkeypatch.setattr(Renderer, "render", note)
    env = OkeyEnv(render_mode="human", opponents="greedy", episode="match", rules={"start_points": 5})
    env.reset(seed=1)
    over = False
    while not over:
        *_, terminated, truncated, _ = env.step(env.round.legal_actions()[0])
        over = terminated or truncated
    assert len(set(shown)) == len(shown)
    for number in {entry[0] for entry in shown}:
        moves = [entry[1] for entry in shown if entry[0] == number]
        assert all(after - before <= 1 for before, after in pairwise(moves))
    aec = okey_env.raw_env(render_mode="human", rules={"max_throws": 1})
    shown.clear()
    aec.reset(seed=1)
    aec.step(aec.round.legal_actions()[-1])
    assert [entry[1] for entry in shown] == [0, 1]


def test_gymnasium_contract() -> None:
    check_env(gymnasium.make("okey/Round-v0", opponents="greedy", render_mode="rgb_array").unwrapped)


def test_gymnasium_collects_frames() -> None:
    env = RenderCollection(OkeyEnv(render_mode="rgb_array", opponents="greedy"))
    observation, _ = env.reset(seed=1)
    env.step(np.int64(observation["action_mask"].argmax()))
    frames: Any = env.render()
    assert [frame.shape for frame in frames] == [(720, 960, 3)] * 2
    assert not np.array_equal(*frames)


def test_gymnasium_shows_frames_in_its_own_window() -> None:
    plain = OkeyEnv(render_mode="rgb_array", opponents="greedy")
    plain.metadata = {**plain.metadata, "render_fps": 1000}
    env: Any = HumanRendering(plain)
    env.reset(seed=1)
    env.close()


def test_a_batch_gives_a_picture_of_each_game() -> None:
    many = gymnasium.make_vec("okey/Round-v0", num_envs=2, opponents="random", render_mode="rgb_array")
    many.reset(seed=3)
    frames = many.render()
    games = many.unwrapped.games  # type: ignore[attr-defined]
    alone = Round(seed=0)
    for game, frame in zip(games, frames or (), strict=True):
        alone.games[0] = game
        assert np.array_equal(frame, table_picture(alone))
    assert frames is not None
    assert not np.array_equal(frames[0], frames[1])
    with pytest.raises(
        ValueError, match=r"render_mode='human' is not a choice: expected 'rgb_array' or 'ansi', or None"
    ):
        gymnasium.make_vec("okey/Round-v0", num_envs=2, render_mode="human")
