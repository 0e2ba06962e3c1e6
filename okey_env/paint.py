"""Painting on arrays: shapes with smooth edges, soft shadows, gradients, text. This module knows nothing of the game.

A shape is an array of distances: for each pixel, how far it lies outside the edge of the shape; inside, the distance is
negative. Smooth edges, outlines, shadows and glows are computed from these distances, at any scale and with the same
bytes each time. Only text needs pygame, which is imported when the first text is painted.
"""

import os
from collections.abc import Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
Colour = str | Array
"""`#rrggbb`, or a colour for each pixel, as `Sheet.gradient` gives it."""

_FINER = 4  # text is painted this many times larger and then averaged, so that its weight and position are exact


def load_pygame() -> ModuleType:
    """The module pygame, without its greeting.

    Raises:
        gymnasium.error.DependencyNotInstalled: pygame is not installed.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
    except ImportError as error:
        raise gymnasium.error.DependencyNotInstalled(
            "a picture of the table needs pygame, which comes with the extra 'render': pip install 'okey-env[render]'"
        ) from error
    return pygame


class Sheet:
    """A transparent sheet to paint on. All lengths are in units; `scale` says how many pixels a unit has.

    Args:
        width: in units.
        height: in units.
        scale: pixels per unit.
        left: the x of its left edge.
        top: the y of its upper edge; y grows downwards.

    >>> sheet = Sheet(4, 3, scale=2)
    >>> sheet.fill(sheet.box(0, 0, 4, 3), "#ff8000")
    >>> sheet.rgb().shape, sheet.rgb()[2, 3].tolist()
    ((6, 8, 3), [255, 128, 0])
    """

    def __init__(self, width: float, height: float, scale: float, left: float = 0, top: float = 0) -> None:
        self.scale, self.left, self.top = scale, left, top
        columns, rows = max(1, round(width * scale)), max(1, round(height * scale))
        self.pixels = np.zeros((4, rows, columns), np.float32)
        """Four planes: red, green, blue from 0 to 255 times the cover, and the cover from 0 to 1."""
        self.x = ((np.arange(columns, dtype=np.float32) + 0.5) / np.float32(scale) + np.float32(left))[None, :]
        """The x of each column, in units; `y` has the y of each row."""
        self.y = ((np.arange(rows, dtype=np.float32) + 0.5) / np.float32(scale) + np.float32(top))[:, None]

    # --- shapes ------------------------------------------------------------------------------------------

    def box(self, x: float, y: float, width: float, height: float, radius: float = 0) -> Array:
        """A rectangle with round corners, by its upper left corner."""
        across = np.abs(self.x - (x + width / 2)) - (width / 2 - radius)
        down = np.abs(self.y - (y + height / 2)) - (height / 2 - radius)
        outside = np.hypot(np.maximum(across, 0), np.maximum(down, 0))
        distances: Array = outside + np.minimum(np.maximum(across, down), 0) - np.float32(radius)
        return distances

    def disc(self, x: float, y: float, radius: float) -> Array:
        """A disc, by its centre."""
        distances: Array = np.hypot(self.x - np.float32(x), self.y - np.float32(y)) - np.float32(radius)
        return distances

    def polygon(self, points: Sequence[tuple[float, float]]) -> Array:
        """A polygon, by its corners."""
        nearest = np.full(self.pixels.shape[1:], np.inf, np.float32)
        inside = np.zeros(self.pixels.shape[1:], np.bool_)
        for (x1, y1), (x2, y2) in zip(points, [*points[1:], points[0]], strict=True):
            dx, dy = np.float32(x2 - x1), np.float32(y2 - y1)
            from_x, from_y = self.x - np.float32(x1), self.y - np.float32(y1)
            along = np.clip((from_x * dx + from_y * dy) / (dx * dx + dy * dy), 0, 1)
            nearest = np.minimum(nearest, np.hypot(from_x - along * dx, from_y - along * dy))
            crosses = (self.y >= min(y1, y2)) & (self.y < max(y1, y2))
            inside ^= crosses & (from_x * dy < from_y * dx if dy > 0 else from_x * dy > from_y * dx)
        return np.where(inside, -nearest, nearest)

    # --- paint -------------------------------------------------------------------------------------------

    def gradient(self, stops: Sequence[tuple[float, str]], along: npt.NDArray[np.floating[Any]]) -> Array:
        """Colours between the stops, by a number for each pixel.

        >>> sheet = Sheet(1, 2, scale=1)
        >>> sheet.gradient([(0, "#000000"), (2, "#c80000")], along=sheet.y)[0, :, 0]
        array([ 50., 150.], dtype=float32)
        """
        positions = [position for position, _ in stops]
        colours = np.array([_rgb(colour) for _, colour in stops])
        planes = [np.interp(along, positions, colours[:, plane]) for plane in range(3)]
        return np.broadcast_to(np.stack(planes).astype(np.float32), (3, *self.pixels.shape[1:]))

    def fill(self, shape: Array, colour: Colour, alpha: float = 1, soft: float = 0) -> None:
        """Paint a shape over the sheet; `soft` is the width over which its edge fades, for shadows and glows."""
        if soft:
            edge = np.clip(0.5 - shape / soft, 0, 1)
            cover = edge * edge * (3 - 2 * edge)
        else:
            cover = np.clip(0.5 - shape * self.scale, 0, 1)
        self._lay(self.pixels, cover.astype(np.float32) * np.float32(alpha), colour)

    def line(self, shape: Array, colour: Colour, width: float, alpha: float = 1) -> None:
        """Paint the edge of a shape."""
        self.fill(np.abs(shape) - np.float32(width / 2), colour, alpha)

    def text(
        self, text: str, x: float, y: float, size: float, colour: str, *, anchor: float = 0, alpha: float = 1
    ) -> None:
        """Write bold text on the line y; `anchor` says which point of its width lies at x: 0 the start, 1 the end."""
        big = self.scale * _FINER
        left = (x - self.left - anchor * text_width(text, size)) * big
        glyphs, ascent = _glyphs(text, round(size * big))
        top = (y - self.top) * big - ascent
        column, row = int(left // _FINER), int(top // _FINER)
        shift_x, shift_y = round(left) - column * _FINER, round(top) - row * _FINER
        rows, columns = (-(-(n + shift) // _FINER) for n, shift in zip(glyphs.shape, (shift_y, shift_x), strict=True))
        fine = np.zeros((rows * _FINER, columns * _FINER), np.float32)
        fine[shift_y : shift_y + glyphs.shape[0], shift_x : shift_x + glyphs.shape[1]] = glyphs
        cover = fine.reshape(rows, _FINER, columns, _FINER).mean(axis=(1, 3), dtype=np.float32)
        height, width = self.pixels.shape[1:]
        cover = cover[max(0, -row) : height - row, max(0, -column) : width - column]
        row, column = max(0, row), max(0, column)
        under = self.pixels[:, row : row + cover.shape[0], column : column + cover.shape[1]]
        self._lay(under, cover * np.float32(alpha), colour)

    def paste(self, sheet: "Sheet", x: float, y: float) -> None:
        """Lay another sheet over this one, its point (0, 0) at (x, y). It must have the same scale and fit in."""
        column = round((x - self.left + sheet.left) * self.scale)
        row = round((y - self.top + sheet.top) * self.scale)
        rows, columns = sheet.pixels.shape[1:]
        under = self.pixels[:, row : row + rows, column : column + columns]
        under *= 1 - sheet.pixels[3]
        under += sheet.pixels

    def copy(self) -> "Sheet":
        """A sheet that looks the same and can be painted over."""
        twin = object.__new__(Sheet)
        vars(twin).update(vars(self), pixels=self.pixels.copy())
        return twin

    def rgb(self) -> npt.NDArray[np.uint8]:
        """What is painted, on black: `(rows, columns, 3)` uint8."""
        picture = np.empty((*self.pixels.shape[1:], 3), np.uint8)
        for plane in range(3):
            picture[..., plane] = self.pixels[plane] + np.float32(0.5)  # rounded
        return picture

    @staticmethod
    def _lay(under: Array, cover: Array, colour: Colour) -> None:
        paint = np.array(_rgb(colour), np.float32)[:, None, None] if isinstance(colour, str) else colour
        under *= 1 - cover
        under[:3] += cover * paint
        under[3] += cover


@lru_cache(maxsize=512)
def text_width(text: str, size: float) -> float:
    """The width of a text, in units; pygame's own font is the same on every machine."""
    return float(_font(100).size(text)[0]) * size / 100


def shorten(text: str, size: float, width: float) -> str:
    """The text, cut and ended with an ellipsis if it is wider than `width`, in units."""
    if text_width(text, size) <= width:
        return text
    while text and text_width(text + "…", size) > width:
        text = text[:-1]
    return text.rstrip() + "…"


def _font(size: int) -> Any:
    """A font for immediate use: `pygame.quit()`, which other code may call at any time, makes it invalid."""
    font = load_pygame().font
    font.init()
    return font.Font(font.get_default_font(), size)  # by its name: `None` is the same font, but smaller


@lru_cache(maxsize=512)
def _glyphs(text: str, size: int) -> tuple[Array, int]:
    """How much the text covers each pixel, 0 to 1, and the row of its base line."""
    font = _font(size)
    surface = font.render(text, True, (255, 255, 255))
    return load_pygame().surfarray.array_alpha(surface).T.astype(np.float32) / 255, font.get_ascent()


@lru_cache(maxsize=256)
def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
