"""SVG pictures for docs/: colours for a light and for a dark page, lines of text, and round numbers for axes."""

import math
from collections.abc import Iterable
from html import escape

WIDTH = 760
NUM_HUES = 6
"""Classes `hue0`, `hue1`, … set `currentColor` to colours that are told apart without seeing red and green."""

_LIGHT = {
    "page": "fill:#fff",
    "text": "fill:#24292f",
    "quiet": "fill:#57606a",
    "grid": "stroke:#e1e4e8",
    "axis": "stroke:#8c959f",
}
_DARK = {
    "page": "fill:#0d1117",
    "text": "fill:#e6edf3",
    "quiet": "fill:#9198a1",
    "grid": "stroke:#262c36",
    "axis": "stroke:#6e7681",
}
_LIGHT_HUES = ("#1f5fa8", "#c2570c", "#0f8a6d", "#8b3fb5", "#8a6d00", "#be185d")
_DARK_HUES = ("#6cb0f5", "#f59e5b", "#4fd0ad", "#cf9bec", "#dcc24e", "#f48fbc")


def document(height: float, label: str, elements: Iterable[str]) -> str:
    """A whole picture, `WIDTH` wide.

    Args:
        height: in the units of `WIDTH`.
        label: a description for people who cannot see the picture.
        elements: SVG elements, which may use the classes of this module.
    """
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" font-family="sans-serif" '
        f'font-size="14" role="img" aria-label="{escape(label)}">'
    )
    dark = f"@media(prefers-color-scheme:dark){{{_rules(_DARK, _DARK_HUES)}}}"
    style = f"<style>{_rules(_LIGHT, _LIGHT_HUES)} {dark}</style>"
    page = f'<rect class="page" width="{WIDTH}" height="{height:g}"/>'
    return "\n".join([head, style, page, *elements, "</svg>", ""])


def text(x: float, y: float, words: str, *, look: str = "text", anchor: str = "start") -> str:
    """A line of text, in the class `text` or `quiet`."""
    return f'<text class="{look}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def ticks(low: float, high: float, most: int) -> list[float]:
    """Marks for an axis that cover a range: multiples of 1, 2 or 5 times a power of ten, about `most` steps of it.

    >>> ticks(-0.03, 0.11, 5)
    [-0.05, 0.0, 0.05, 0.1, 0.15]
    """
    least = (high - low) / most if high > low else 1.0
    power = 10.0 ** math.floor(math.log10(least))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * 0.999)
    first = math.floor(low / step + 1e-6)
    last = max(math.ceil(high / step - 1e-6), first + 1)
    return [round(number * step, 9) for number in range(first, last + 1)]


def signed(value: float, digits: int = 0) -> str:
    """A number with its sign; 0 has none.

    >>> signed(12.3), signed(-0.25, 2), signed(-0.001, 2)
    ('+12', '−0.25', '0')
    """
    return f"{value:+.{digits}f}".replace("-", "−") if round(value, digits) else "0"


def _rules(looks: dict[str, str], hues: tuple[str, ...]) -> str:
    colours = {f"hue{number}": f"color:{hue}" for number, hue in enumerate(hues)}
    return " ".join(f".{name}{{{look}}}" for name, look in (looks | colours).items())
