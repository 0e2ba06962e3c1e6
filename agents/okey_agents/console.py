"""What commands print: text of any origin, on any terminal.

Names of bots and folders, and the texts of errors, come from outside. They are never read as markup or as emoji. What a
terminal would obey (escape sequences, direction marks, half a surrogate) is shown as an escape. Where an encoding lacks
a character, a plain one stands in for it.
"""

import codecs
import io
import sys
import unicodedata
from typing import Any

from rich.console import Console, JustifyMethod, OverflowMethod
from rich.style import Style
from rich.text import Text

_PLAIN = {
    "±": "+-", "−": "-", "–": "-", "—": "-", "…": "...", "×": "x", "·": "-", "→": "->", "“": '"', "”": '"', "’": "'",
    "≥": ">=", "≤": "<=", "²": "2", "µ": "u", "λ": "lambda", "γ": "gamma",
}  # fmt: skip
_ERRORS = "okey_plain"
_OBEYED = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that a terminal obeys, or that no encoding has."""


def printable(text: str, keep: str = "\n\t") -> str:
    r"""A text with escapes in place of what a terminal would obey.

    Args:
        text: of any origin.
        keep: such characters that stay.

    >>> printable("a\x1b[2Jb\u202e\ud800")
    'a\\x1b[2Jb\\u202e\\ud800'
    """
    if text.isprintable():
        return text
    return "".join(
        one if one in keep or unicodedata.category(one) not in _OBEYED else one.encode("unicode_escape").decode()
        for one in text
    )


def one_line(text: str) -> str:
    r"""A text on one line, as `printable`.

    >>> one_line("a name\nof two lines ")
    'a name of two lines'
    """
    return printable(" ".join(text.split()), keep="")


class PlainConsole(Console):
    """A console of rich that reads no text as markup or emoji, and shows control characters as escapes.

    Args:
        options: the keywords of `rich.console.Console`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"markup": False, "emoji": False, "highlight": False, **options})

    def render_str(
        self,
        text: str,
        *,
        style: str | Style = "",
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        emoji: bool | None = None,
        markup: bool | None = None,
        highlight: bool | None = None,
        highlighter: Any = None,
    ) -> Text:
        """The text as it is, control characters apart; rich renders whatever is printed by this."""
        return super().render_str(
            printable(text),
            style=style,
            justify=justify,
            overflow=overflow,
            emoji=False,
            markup=False,
            highlight=False,
        )


def plain_streams() -> None:
    """Let standard output and error print every text, whatever their encoding."""
    codecs.register_error(_ERRORS, _stand_in)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ERRORS)


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    """Plain characters in place of those that an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_plain(one, error.encoding) for one in missing), error.end


def _plain(one: str, encoding: str) -> str:
    if one in _PLAIN:
        return _PLAIN[one]
    if unicodedata.category(one) == "Cs":
        return one.encode("unicode_escape").decode()
    letters = unicodedata.normalize("NFKD", one).encode("ascii", "ignore").decode()  # é is e with an accent
    return letters or ("i" if one == "ı" else "?")
