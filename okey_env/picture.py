"""A picture of the table: all four racks open, in the style of the page in the browser.

Seat 0 sits at the bottom and play goes counter-clockwise, so seat 1 sits on the right. Each seat throws to the corner
on its right. Sizes are in units of a picture of 960 by 720. What is painted often (tiles, name plates) is cached.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_env import hands
from okey_env.checks import list_of, shown, whole_number
from okey_env.engine.events import EVENT_DRAW, EVENT_FINISH, EVENT_SHOW, EVENT_TAKE, EVENT_THROW, unpack_event
from okey_env.paint import Array, Sheet, shorten, text_width
from okey_env.round import Round
from okey_env.tiles import NUM_KINDS, NUM_NUMBERS, NUM_SEATS, WILD, kinds_of

WIDTH, HEIGHT = 960, 720
BACK = -1
"""Stands for the back of a tile where a kind is expected."""

# Colours: those of the page.
_NIGHT, _FELT_LIGHT, _FELT, _FELT_DEEP = "#17110c", "#238061", "#17694f", "#0c4031"
_CREAM, _MILD, _BRASS, _INK, _DARK = "#f8eed6", "#bcd3c2", "#e3b758", "#2b1c07", "#071f18"
_GLOW, _GOLD, _MINT, _LOSS = "#ffcf6a", "#ffdf8e", "#8ff0c0", "#ff9c86"
_TILE_COLOURS = ("#c4161c", "#11549e", "#1d1d1f", "#b96a00")  # red, blue, black, yellow
_SEAT_COLOURS = (("#cc7d5b", "#773422"), ("#5b9ccc", "#22557c"), ("#5bcc6e", "#227730"), ("#b35bcc", "#662277"))

# Tiles are drawn 60 by 84 and shrunk to the width at which they lie.
_RATIO = 1.4
_RACK_TILE, _HEAP_TILE, _STOCK_TILE, _SHOWN_TILE, _SMALL_TILE = 40, 54, 64, 54, 16
_GAP = 0.45  # between groups of tiles, in tiles
_CENTRE = (480, 312)
_VERBS = {
    EVENT_DRAW: "draws",
    EVENT_TAKE: "takes",
    EVENT_SHOW: "shows",
    EVENT_THROW: "throws",
    EVENT_FINISH: "finishes with",
}


class SeatLayout(NamedTuple):
    """Where the rack, the name plate and the heap of a seat lie: left upper corners, in units of the picture."""

    rack: tuple[float, float]
    size: tuple[float, int]  # of the rack: tiles in a row, number of rows
    plate: tuple[float, float]
    heap: tuple[float, float]
    older: int  # the side on which older throws lie: -1 left, 1 right


_LONG, _SQUARE = (10.2, 2), (5.5, 4)
_LAYOUTS = (
    SeatLayout((267, 552), _LONG, (370, 504), (863, 603), -1),
    SeatLayout((692, 236), _SQUARE, (701, 188), (863, 42), -1),
    SeatLayout((267, 28), _LONG, (370, 176), (43, 42), 1),
    SeatLayout((30, 236), _SQUARE, (39, 188), (43, 603), 1),
)
_PLATE_SIZE = (220, 40)


class Group(NamedTuple):
    """Tiles that lie side by side on a rack."""

    kinds: tuple[int, ...]
    complete: bool  # a complete meld, or one of seven pairs


def table_picture(round: Round, players: Sequence[str] | None = None, *, height: int = HEIGHT) -> npt.NDArray[np.uint8]:
    """The table as an RGB picture: `(height, height * 4 / 3, 3)` uint8, the same bytes for the same table.

    It shows the best arrangement of each rack with complete melds underlined; the seat to move and what it may take;
    the tile that has just come to its rack; indicator, okey and stock; the last throws of each seat; the last events;
    the points of the match and the losses of this round; and at the end, who won and how.

    Args:
        round: the round.
        players: the names of the four seats; None: `seat 0` … `seat 3`.
        height: the picture's height in pixels.

    Raises:
        ValueError: the height is not a whole number from 120 to 10,000, or the players are not four names.
        gymnasium.error.DependencyNotInstalled: pygame is missing.

    >>> table_picture(Round(seed=1)).shape
    (720, 960, 3)
    """
    height = whole_number("height", height, 120, 10_000)
    names = list_of(players) if players is not None else [f"seat {seat}" for seat in range(NUM_SEATS)]
    if len(names) != NUM_SEATS or not all(isinstance(name, str) for name in names):
        raise ValueError(f"players={shown(players)}: expected {NUM_SEATS} names")
    sheet = _felt(height / HEIGHT).copy()
    fields = {name: field[0] for name, field in round.fields.items()}
    events = [_event(int(entry)) for entry in fields["log"][: fields["num_events"]]]
    for seat, layout in enumerate(_LAYOUTS):
        _paint_rack(sheet, round, seat, layout, events)
        _paint_plate(sheet, round, seat, layout, names[seat])
        _paint_heap(sheet, round, seat, layout)
    _paint_middle(sheet, round)
    if round.over:
        _paint_ending(sheet, round, names)
    else:
        _paint_events(sheet, events[-3:], names, round.okey)
    return sheet.rgb()


# --- racks -----------------------------------------------------------------------------------------------


def groups_of(rack: hands.Counts, *, run_13_1: bool, by_pairs: bool = False) -> list[Group]:
    """The tiles of a rack in its best arrangement: melds, parts of melds, then the other tiles one by one.

    >>> rack = hands.parse("R1 R2 R3 | B5 B6 | K9 K11 | Y1 * Y3 | R8 | R12 | B9 | Y13", okey="Y5")
    >>> [len(group.kinds) for group in groups_of(rack, run_13_1=True)]
    [3, 3, 3, 2, 1, 1, 1]
    """
    if by_pairs:
        return _pairs_of(rack)
    found = hands.arrange(rack, run_13_1=run_13_1)
    assert isinstance(found, hands.Arrangement)
    rows = [Group(meld.kinds, complete=True) for meld in found.melds]
    rows += [Group(part.kinds, complete=False) for part in found.parts]
    return rows + [Group((kind,), complete=False) for kind in kinds_of(found.left_over)]


def _pairs_of(rack: hands.Counts) -> list[Group]:
    """The seven pairs of a rack that finished with them; a wild tile pairs with any tile (R4.4)."""
    wild = int(rack[WILD])
    pairs = [(kind, kind) for kind in range(NUM_KINDS - 1) if rack[kind] == 2]
    for kind in range(NUM_KINDS - 1):
        if rack[kind] == 1 and wild:
            pairs.append((kind, WILD))
            wild -= 1
    return [Group(pair, complete=True) for pair in [*pairs, *[(WILD, WILD)] * (wild // 2)]]


def lay(groups: Sequence[Group], width: float, rows: int) -> list[tuple[int, int, float]]:
    """Where each tile lies: its kind, its row, and its distance from the left in tiles; groups stay whole if possible.

    >>> lay([Group((1, 2, 3), True), Group((9, 22), False)], width=5.5, rows=2)
    [(1, 0, 0.0), (2, 0, 1.0), (3, 0, 2.0), (9, 0, 3.45), (22, 0, 4.45)]
    """
    for gap, whole in ((_GAP, True), (_GAP / 2, True), (0.0, False)):
        placed: list[tuple[int, int, float]] = []
        row, column = 0, 0.0
        for i, group in enumerate(groups):
            single = len(group.kinds) == 1 and i > 0 and len(groups[i - 1].kinds) == 1
            column += gap if column and not single else 0
            if whole and column and column + len(group.kinds) > width:
                row, column = row + 1, 0.0
            for kind in group.kinds:
                if column + 1 > width:
                    row, column = row + 1, 0.0
                placed.append((kind, row, round(column, 2)))
                column += 1
        if row < rows:
            break
    return placed


def _paint_rack(sheet: Sheet, game: Round, seat: int, layout: SeatLayout, events: list["_Event"]) -> None:
    won = game.winner == seat
    turn = game.turn == seat and not game.over
    by_pairs = won and bool(game.fields["by_pairs"].item())
    groups = groups_of(game.racks[seat], run_13_1=game.rules.run_13_1, by_pairs=by_pairs)
    new = events[-1].kind if turn and events and events[-1].what in (EVENT_DRAW, EVENT_TAKE) else None
    left, top = layout.rack
    if turn or won:
        sheet.paste(_board(*layout.size, True, sheet.scale), left, top)
    complete = [group.complete for group in groups for _ in group.kinds]
    placed = lay(groups, *layout.size)
    newest = max((i for i, (kind, *_) in enumerate(placed) if kind == new), default=None)  # one of two twins
    tile, height = _RACK_TILE, _RACK_TILE * _RATIO
    for i, ((kind, row, column), melded) in enumerate(zip(placed, complete, strict=True)):
        x, y = left + 9 + column * tile, top + 8 + row * (height + 7)
        if melded:
            sheet.paste(_underline(tile, sheet.scale), x, y + height)
        sheet.paste(_tile(kind, game.okey, tile - 1.5, i == newest, sheet.scale), x + 0.75, y)


@lru_cache(maxsize=16)
def _board(columns: float, rows: int, bright: bool, scale: float) -> Sheet:
    """A wooden rack with a ledge for each row."""
    row_height = _RACK_TILE * _RATIO + 7
    width, height = columns * _RACK_TILE + 18, rows * row_height + 13
    sheet = Sheet(width + 40, height + 40, scale, -20, -20)
    body = sheet.box(0, 0, width, height, 10)
    sheet.fill(sheet.box(0, 6, width, height, 10), "#000000", 0.55, soft=20)
    if bright:
        sheet.fill(sheet.box(-3, -3, width + 6, height + 6, 13), _GLOW, 0.85, soft=22)
    wood = sheet.gradient([(0, "#c58a4c"), (height / 2, "#a2682f"), (height, "#7d4b1e")], sheet.y)
    grain = 6 * np.sin(sheet.x * 0.9 + 1.5 * np.sin(sheet.y * 0.05)) + 4 * np.sin(sheet.x * 0.37 + sheet.y * 0.02)
    sheet.fill(body, wood + grain.astype(np.float32) * np.float32(0.5))
    sheet.line(body + 0.6, "#f0c78a" if not bright else "#ffe7a6", 1.2 if not bright else 2, 0.75)
    for row in range(rows):
        top = 5 + row * row_height
        ledge = sheet.box(5, top, width - 10, row_height - 1, 4)
        bottom = row_height - 1
        stops = [(0, "#4b2a10"), (bottom * 0.55, "#7a4a20"), (bottom - 7, "#8f5b2b"), (bottom - 6.9, "#d9a565")]
        stops += [(bottom - 3, "#9c6630"), (bottom, "#643a17")]
        sheet.fill(ledge, sheet.gradient(stops, sheet.y - top))
        sheet.fill(np.maximum(ledge, -sheet.box(3, top + 4, width - 6, 200, 6)), "#2a1404", 0.5, soft=7)
    return sheet


@lru_cache(maxsize=4)
def _underline(width: float, scale: float) -> Sheet:
    """The mark under the tiles of a meld."""
    sheet = Sheet(width, 6, scale)
    sheet.fill(sheet.box(-4, 1.4, width + 8, 2.6), _MINT)
    return sheet


# --- plates and heaps ------------------------------------------------------------------------------------


def _paint_plate(sheet: Sheet, game: Round, seat: int, layout: SeatLayout, name: str) -> None:
    turn = game.turn == seat and not game.over
    if game.winner == seat:
        note = "wins the round"
    elif turn and game.phase == "throw":
        note = "to throw"
    elif turn:
        note = "to draw" if game.offer is None else "to draw or take" if game.stock_left else "to take and finish"
    else:
        note = ""
    shown = game.indicator if game.fields["shown_by"].item() == seat else None
    score = game.scores[seat] - game.lost[seat]
    plate = _Plate(name, seat, note, score, game.lost[seat], turn, game.winner == seat, shown, game.okey)
    sheet.paste(_plate(plate, sheet.scale), *layout.plate)


class _Plate(NamedTuple):
    """What the name plate of a seat shows."""

    name: str
    seat: int
    note: str  # what the seat may do now, or that it has won; may be empty
    score: int  # points of the match now
    lost: int  # points lost in this round
    turn: bool  # the seat is to move
    won: bool  # the seat has won the round
    shown: int | None  # the indicator's kind if the seat has shown the twin
    okey: int


@lru_cache(maxsize=256)
def _plate(plate: _Plate, scale: float) -> Sheet:
    """The name plate of a seat, its left upper corner at (0, 0)."""
    name, seat, note, score, lost, turn, won, shown, okey = plate
    width, height = _PLATE_SIZE
    sheet = Sheet(width + 32, height + 32, scale, -16, -16)
    body = sheet.box(0, 0, width, height, 16)
    sheet.fill(sheet.box(0, 3, width, height, 16), "#000000", 0.4, soft=14)
    if turn or won:
        sheet.fill(sheet.box(-2, -2, width + 4, height + 4, 18), _GLOW, 0.6, soft=18)
    sheet.fill(body, _DARK, 0.9 if turn or won else 0.72)
    sheet.line(body + 0.7, _GOLD if turn or won else "#ffffff", 1.6, 1 if turn or won else 0.13)
    light, dark = _SEAT_COLOURS[seat]
    shade = np.hypot(sheet.x - 17, sheet.y - 15) / 20
    sheet.fill(sheet.disc(21, 20, 14), sheet.gradient([(0, light), (1, dark)], shade))
    sheet.line(sheet.disc(21, 20, 14), "#ffffff", 1.6, 0.4)
    if won:
        sheet.fill(sheet.polygon(_star(21, 20.4, 9.5, 4.1)), "#ffe08a")
    else:
        sheet.text(str(seat), 21, 25.4, 15, "#ffffff", anchor=0.5)
    right = width - 14.0
    sheet.text(str(score), right, 27, 20, _BRASS, anchor=1)
    right -= text_width(str(score), 20) + 8
    if lost:
        sheet.text(f"−{lost}", right, 26, 14, _LOSS, anchor=1)
        right -= text_width(f"−{lost}", 14) + 8
    if shown is not None:
        sheet.paste(_tile(shown, okey, 18, False, scale), right - 18, 7.4)
        right -= 26
    sheet.text(shorten(name, 14.5, right - 43), 43, 18 if note else 25, 14.5, _CREAM)
    if note:
        sheet.text(note, 43, 31.5, 10.5, _GOLD if turn or won else _MILD)
    return sheet


def _paint_heap(sheet: Sheet, game: Round, seat: int, layout: SeatLayout) -> None:
    """Paint the heap of a seat: the last throw large, the three throws before it smaller and behind it."""
    pile = game.fields["pile"][0, seat, : game.fields["pile_height"][0, seat]].tolist()
    x, y = layout.heap
    offered = game.offer is not None and not game.over and (game.turn - 1) % NUM_SEATS == seat
    if offered:
        sheet.paste(_dish(_HEAP_TILE, True, sheet.scale), x, y)
    small = _HEAP_TILE * 0.72
    for nth, kind in list(enumerate(reversed(pile[-4:])))[:0:-1]:
        middle = x + _HEAP_TILE / 2 + layout.older * (_HEAP_TILE / 2 + small * (nth - 0.47))
        older = _tile(kind, game.okey, small, False, sheet.scale, 1 - 0.07 * nth)
        sheet.paste(older, middle - small / 2, y + (_HEAP_TILE - small) * _RATIO)
    if pile:
        sheet.paste(_tile(pile[-1], game.okey, _HEAP_TILE, False, sheet.scale), x, y)
    if len(pile) > 1:
        side = x + (_HEAP_TILE if layout.older < 0 else 0)
        sheet.paste(_badge(str(len(pile)), False, sheet.scale), side, y + _HEAP_TILE * _RATIO - 1)


@lru_cache(maxsize=8)
def _dish(width: float, bright: bool, scale: float) -> Sheet:
    """The dish under a heap or under the stock; bright if its tile may be taken."""
    height = width * _RATIO
    sheet = Sheet(width + 40, height + 40, scale, -20, -20)
    edge = sheet.box(-6, -6, width + 12, height + 12, 12)
    if bright:
        sheet.fill(edge, _GLOW, 0.75, soft=24)
        sheet.line(edge, "#fff0c2", 2)
    else:
        sheet.fill(edge, "#04231a", 0.28)
        sheet.line(edge, "#e9f3df", 1.3, 0.2)
    return sheet


@lru_cache(maxsize=128)
def _badge(text: str, gold: bool, scale: float) -> Sheet:
    """A number on a heap or on the stock, its middle at (0, 0)."""
    size = 13 if gold else 11
    width, height = max(text_width(text, size) + 11, size + 7), size + 7
    sheet = Sheet(width + 8, height + 8, scale, -width / 2 - 4, -height / 2 - 4)
    body = sheet.box(-width / 2, -height / 2, width, height, height / 2)
    sheet.fill(body, "#10231c", 0.96)
    sheet.line(body + 0.5, _BRASS if gold else "#ffffff", 1, 0.8 if gold else 0.35)
    sheet.text(text, 0, size * 0.36, size, "#ffe9b5" if gold else "#dcd2b8", anchor=0.5)
    return sheet


# --- the middle ------------------------------------------------------------------------------------------


def _paint_middle(sheet: Sheet, game: Round) -> None:
    """Paint stock, indicator and okey, and after a finish the finishing tile on the stock."""
    x, y = _CENTRE[0] - _STOCK_TILE / 2, _CENTRE[1] - _STOCK_TILE * _RATIO / 2
    finished = game.winner is not None
    sheet.paste(_dish(_STOCK_TILE, finished or (game.phase == "draw" and game.stock_left > 0), sheet.scale), x, y)
    layers = min(4, -(-game.stock_left // 12))
    for layer in range(layers):
        back = _tile(BACK, game.okey, _STOCK_TILE, False, sheet.scale)
        sheet.paste(back, x - 3 + 3 * layer, y + 4 - 3 * layer)
    if finished:
        kind = int(game.fields["finish_kind"].item())
        lift = 3 * layers
        sheet.paste(_tile(kind, game.okey, _STOCK_TILE, True, sheet.scale), x - 3 + lift, y + 4 - lift)
    badge = _badge(str(game.stock_left), True, sheet.scale)
    sheet.paste(badge, x + _STOCK_TILE, y + _STOCK_TILE * _RATIO + 1)
    top = _CENTRE[1] - _SHOWN_TILE * _RATIO / 2 - 4
    for kind, text, side in ((game.indicator, "INDICATOR", -1), (WILD, "OKEY", 1)):
        middle = _CENTRE[0] + side * 106
        sheet.paste(_tile(kind, game.okey, _SHOWN_TILE, False, sheet.scale), middle - _SHOWN_TILE / 2, top)
        sheet.text(text, middle, top + _SHOWN_TILE * _RATIO + 18, 10.5, "#d7e7d4", anchor=0.5)


class _Event(NamedTuple):
    what: int
    seat: int
    kind: int


def _event(entry: int) -> _Event:
    return _Event(*unpack_event(entry))


def _paint_events(sheet: Sheet, events: Sequence[_Event], names: Sequence[str], okey: int) -> None:
    """Paint the last events, the newest at the bottom."""
    for back, event in enumerate(reversed(events)):
        name = shorten(names[event.seat], 13, 150)
        pill = _told(name, _VERBS[event.what], event.kind, okey, event.seat, back, sheet.scale)
        sheet.paste(pill, _CENTRE[0], 476 - 29 * back)


@lru_cache(maxsize=256)
def _told(name: str, verb: str, kind: int, okey: int, seat: int, back: int, scale: float) -> Sheet:
    """An event as a line with a small tile, its middle at (0, 0); `back`, 0 to 2, counts from the newest and fades."""
    size, strength = 13, (1, 0.72, 0.45)[back]
    text = f"{name} {verb}"
    width = text_width(text, size) + _SMALL_TILE + 42
    sheet = Sheet(width + 4, 32, scale, -width / 2 - 2, -16)
    left = -width / 2
    if back == 0:
        sheet.fill(sheet.box(left, -13, width, 26, 13), "#051913", 0.6)
    sheet.fill(sheet.disc(left + 14, 0, 4), _SEAT_COLOURS[seat][0], strength)
    sheet.text(text, left + 24, 4.8, size, "#eaf2de", alpha=strength)
    small = _tile(kind, okey, _SMALL_TILE, False, scale)
    faint = small.copy()
    faint.pixels *= np.float32(strength)
    sheet.paste(faint, left + width - _SMALL_TILE - 11, -_SMALL_TILE * _RATIO / 2)
    return sheet


def _paint_ending(sheet: Sheet, game: Round, names: Sequence[str]) -> None:
    fields = {name: field[0] for name, field in game.fields.items()}
    if game.winner is None:
        title = "The round is void"
        text = "The stock is empty." if game.ending == "void" else f"Nobody finished within {fields['throws']} throws."
    else:
        title = f"{shorten(names[game.winner], 22, 240)} finishes"
        text = "with seven pairs" if fields["by_pairs"] else "with runs and groups"
        if fields["finish_kind"] == WILD:
            text += ", laying the okey"
        elif fields["by_okey"]:
            text += ", laying a false joker"  # which counts as the okey by these rules (R6.3)
    sheet.paste(_banner(title, text, game.winner is not None, sheet.scale), _CENTRE[0], 446)


@lru_cache(maxsize=32)
def _banner(title: str, text: str, won: bool, scale: float) -> Sheet:
    """How the round ended, its middle at (0, 0)."""
    width, height = max(text_width(title, 22), text_width(text, 13)) + 56, 68
    sheet = Sheet(width + 40, height + 40, scale, -width / 2 - 20, -height / 2 - 20)
    body = sheet.box(-width / 2, -height / 2, width, height, 20)
    sheet.fill(sheet.box(-width / 2, -height / 2 + 5, width, height, 20), "#000000", 0.5, soft=22)
    if won:
        colour: str | Array = sheet.gradient([(-34, "#f6d98d"), (0, _BRASS), (34, "#c8923a")], sheet.y)
    else:
        colour = sheet.gradient([(-34, "#24463b"), (34, "#10291f")], sheet.y)
    sheet.fill(body, colour)
    sheet.line(body + 0.6, "#fbe7b0" if won else _MILD, 1.2, 0.9 if won else 0.5)
    sheet.text(title, 0, -1, 22, _INK if won else _CREAM, anchor=0.5)
    sheet.text(text, 0, 20, 13, "#4a2f0c" if won else _MILD, anchor=0.5)
    return sheet


# --- tiles -----------------------------------------------------------------------------------------------


def _tile(kind: int, okey: int, width: float, new: bool, scale: float, light: float = 1) -> Sheet:
    """A tile by its physical look: the okey with its own face and a star, a false joker as a flower (R1.6)."""
    face = okey if kind in (WILD, okey) else BACK  # all other tiles look the same in every round: one cache entry
    return _painted(kind, face, width, new, scale, light)


@lru_cache(maxsize=512)
def _painted(kind: int, okey: int, width: float, new: bool, scale: float, light: float) -> Sheet:
    shrink = width / 60
    margin = 16 if new else 5
    sheet = Sheet(60 + 2 * margin, 84 + 2 * margin, scale * shrink, -margin, -margin)
    if new:
        sheet.fill(sheet.box(-2, -2, 64, 88, 11), _GLOW, 1, soft=26)
    sheet.fill(sheet.box(1, 5, 58, 80, 9), "#000000", 0.45, soft=5)
    sheet.fill(sheet.box(1, 4, 58, 79, 9), sheet.gradient([(4, "#d9c79f"), (83, "#b39a6b")], sheet.y))
    slope = (sheet.y + sheet.x * 0.25) / 95
    ivory = [(0.0, "#fffdf6"), (0.55, "#fbf2de"), (1.0, "#f0e1c0")]
    gilded = [(0.0, "#fffbe6"), (0.55, "#fdeeb9"), (1.0, "#f0d384")]
    sheet.fill(sheet.box(1, 1, 58, 79, 9), sheet.gradient(gilded if kind == WILD else ivory, slope))
    if kind == BACK:
        sheet.line(sheet.box(8, 8, 44, 65, 5), "#c9b280", 2)
        sheet.line(sheet.polygon([(30, 20), (42, 40.5), (30, 61), (18, 40.5)]), "#c9b280", 2)
        sheet.line(sheet.disc(30, 40.5, 4), "#c9b280", 2)
    elif kind == okey:
        _paint_flower(sheet)
        colour, number = divmod(okey, NUM_NUMBERS)
        sheet.text(str(number + 1), 29, 75, 18, _TILE_COLOURS[colour], anchor=1)
        sheet.fill(_mark(sheet, colour, 40, 69, 0.62), _TILE_COLOURS[colour])
    else:
        colour, number = divmod(okey if kind == WILD else kind, NUM_NUMBERS)
        sheet.text(str(number + 1), 30, 46, 44 if number < 9 else 42, _TILE_COLOURS[colour], anchor=0.5)
        sheet.fill(_mark(sheet, colour, 30, 64, 1), _TILE_COLOURS[colour])
    if kind == WILD:
        star = sheet.polygon(_star(49, 12, 8.5, 3.7))
        sheet.fill(star, "#d79a1e")
        sheet.line(star, "#7d5609", 1.1)
    sheet.pixels[:3] *= np.float32(light)
    sheet.scale, sheet.left, sheet.top = scale, -margin * shrink, -margin * shrink
    return sheet


def _mark(sheet: Sheet, colour: int, x: float, y: float, size: float) -> Array:
    """The mark of a colour, for people who cannot tell colours apart: diamond, disc, square, triangle."""
    if colour == 1:
        return sheet.disc(x, y, 7.5 * size)
    if colour == 2:
        return sheet.box(x - 7 * size, y - 7 * size, 14 * size, 14 * size)
    corners = [(0, -8.5), (8.5, 0), (0, 8.5), (-8.5, 0)] if colour == 0 else [(0, -8.5), (9, 7), (-9, 7)]
    return sheet.polygon([(x + size * across, y + size * down) for across, down in corners])


def _paint_flower(sheet: Sheet) -> None:
    """Paint eight petals in the four colours; each petal is the intersection of two discs."""
    for petal in range(8):
        turn = petal * math.pi / 4
        along, across = (math.sin(turn), -math.cos(turn)), (math.cos(turn), math.sin(turn))
        sides = [
            sheet.disc(30 + 11.5 * along[0] + side * across[0], 32 + 11.5 * along[1] + side * across[1], 11.05)
            for side in (-7.05, 7.05)
        ]
        sheet.fill(np.maximum(*sides), _TILE_COLOURS[(0, 1, 3, 2)[petal % 4]])
    sheet.fill(sheet.disc(30, 32, 4.5), "#fff8e6")


def _star(x: float, y: float, outer: float, inner: float) -> list[tuple[float, float]]:
    """The ten corners of a star."""
    reach = [(outer, inner)[corner % 2] for corner in range(10)]
    turns = [corner * math.pi / 5 for corner in range(10)]
    return [(x + r * math.sin(turn), y - r * math.cos(turn)) for r, turn in zip(reach, turns, strict=True)]


# --- the felt --------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _felt(scale: float) -> Sheet:
    """The table without anything on it."""
    sheet = Sheet(WIDTH, HEIGHT, scale)
    sheet.fill(sheet.box(0, 0, WIDTH, HEIGHT) - 9, _NIGHT)
    for inset, colour in ((5, "#2a1709"), (6.5, "#b9803f"), (7.6, "#8a5427"), (13, "#b9803f"), (14, "#3b210e")):
        sheet.fill(sheet.box(inset, inset, WIDTH - 2 * inset, HEIGHT - 2 * inset, 36 - inset), colour)
    felt = sheet.box(16, 16, WIDTH - 32, HEIGHT - 32, 20)
    far = np.hypot((sheet.x - 480) / np.float32(680), (sheet.y - 330) / np.float32(530))
    sheet.fill(felt, sheet.gradient([(0, "#288869"), (0.2, _FELT_LIGHT), (0.5, _FELT), (1, _FELT_DEEP)], far))
    sheet.fill(np.maximum(felt, -(felt + 26)), "#031812", 0.5, soft=50)
    sheet.line(felt, "#06281f", 2)
    x, y = _CENTRE[0], _CENTRE[1] + 30
    for reach in (230, 210, 139):  # squares on their corner
        sheet.line(
            sheet.polygon([(x + reach, y), (x, y + reach), (x - reach, y), (x, y - reach)]), "#c9e7c4", 2.4, 0.08
        )
    for half in (163, 149):
        sheet.line(sheet.box(x - half, y - half, 2 * half, 2 * half), "#c9e7c4", 2.4, 0.08)
    sheet.line(sheet.disc(x, y, 149), "#c9e7c4", 2.4, 0.08)
    for layout in _LAYOUTS:
        sheet.paste(_dish(_HEAP_TILE, False, scale), *layout.heap)
        sheet.paste(_board(*layout.size, False, scale), *layout.rack)
    return sheet
