"""The tiles: 106 physical tiles, 53 kinds as they play, and how tiles are written as text.

A tile on the table is a *physical* tile: a colour and a number, or a false joker (RULES R1.1). How it
plays in a round depends on the indicator: the two copies of the okey are wild, and the two false jokers
take the okey's face. Everything in this package therefore counts **kinds**, the tiles as they play
(R1.6): 52 faces and the wild kind. Physical names exist only here and in the pictures.

| kind | what it is |
|---|---|
| 0 … 51 | the face `colour * 13 + number - 1`, colours in the order of `COLOURS` |
| 52 | a wild tile: one of the two copies of the okey |

Text: a colour letter and a number (`R12`, `Y1`), `F` for a false joker, `*` for a wild tile. Colours are
red, blue, black and a fourth one that is yellow in some sets and green in others.

Glossary, as players say it: *ıstaka* rack, *gösterge* indicator, *okey* the wild tile of the round,
*sahte okey* false joker, *seri* run, *per* group, *çift* pair.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from okey_env.checks import index_of, shown, text_of, whole_number

COLOURS = "RBKY"
"""The colour letters in the order of the kinds: red, blue, black, yellow (or green)."""
NUM_NUMBERS = 13
NUM_FACES = 52
"""Faces: 13 numbers in four colours; the kinds 0 … 51."""
WILD = 52
"""The kind of a wild tile, a copy of the okey."""
NUM_KINDS = 53
NUM_TILES = 106
"""All tiles: two copies of each face, and two false jokers (R1.1)."""
NUM_SEATS = 4
RACK_SIZE = 14
NUM_STOCK = 48
"""Tiles in the stock after the deal: 106 - 15 - 3 * 14 - the indicator (R2.1)."""

Counts = npt.NDArray[np.uint8]
"""Tiles by kind: `(53,)` uint8, entry k the copies of kind k."""


def parse_face(text: str) -> int:
    """The kind of a face written as colour letter and number.

    Raises:
        ValueError: the text is not a face.

    >>> parse_face("R1"), parse_face("Y13")
    (0, 51)
    """
    token = text_of(text).strip().upper()
    colour, number = token[:1], token[1:]
    if len(token) >= 2 and colour in COLOURS and number.isascii() and number.isdigit() and 1 <= int(number) <= 13:
        return COLOURS.index(colour) * NUM_NUMBERS + int(number) - 1
    raise ValueError(
        f"{shown(text)} is not a face: expected one of the letters {', '.join(COLOURS)} and a number 1 to 13"
    )


def face_text(kind: int) -> str:
    """The text of a face; the inverse of `parse_face`.

    >>> face_text(0), face_text(51)
    ('R1', 'Y13')
    """
    number = index_of(kind)
    if number is None or not 0 <= number < NUM_FACES:
        raise ValueError(f"{shown(kind)} is not the kind of a face: expected 0 to {NUM_FACES - 1}")
    colour, number = divmod(number, NUM_NUMBERS)
    return f"{COLOURS[colour]}{number + 1}"


def okey_of(indicator: int) -> int:
    """The okey's face: the indicator's colour, one number higher; after 13 comes 1 (R1.3).

    >>> face_text(okey_of(parse_face("Y4"))), face_text(okey_of(parse_face("K13")))
    ('Y5', 'K1')
    """
    colour, number = divmod(whole_number("indicator", indicator, 0, NUM_FACES - 1), NUM_NUMBERS)
    return colour * NUM_NUMBERS + (number + 1) % NUM_NUMBERS


def parse_kind(text: str, okey: str | int) -> int:
    """The kind of a tile as it plays: `*` and the okey's own face are wild, `F` takes the okey's face (R1.3, R1.4).

    >>> parse_kind("*", "Y5"), parse_kind("Y5", "Y5"), parse_kind("F", "Y5") == parse_face("Y5")
    (52, 52, True)
    """
    face = _face(okey)
    token = text_of(text).strip().upper()
    if token == "*":
        return WILD
    if token == "F":
        return face
    try:
        kind = parse_face(token)
    except ValueError:
        raise ValueError(
            f"{shown(text)} is not a tile: expected a colour letter ({', '.join(COLOURS)}) with a number 1 to 13, "
            "F for a false joker or * for the okey"
        ) from None
    return WILD if kind == face else kind


def kind_text(kind: int, okey: str | int) -> str:
    """The text of the tile that plays as `kind`; the inverse of `parse_kind`.

    >>> kind_text(52, "Y5"), kind_text(parse_face("Y5"), "Y5"), kind_text(0, "Y5")
    ('*', 'F', 'R1')
    """
    number = whole_number("kind", kind, 0, WILD)
    if number == WILD:
        return "*"
    return "F" if number == _face(okey) else face_text(number)


def parse_tiles(text: str, okey: str | int) -> list[int]:
    """The kinds of a list of tiles, in order; `|` and commas are ignored.

    Raises:
        ValueError: it is not text, or something in it is not a tile.

    >>> parse_tiles("R1 R2 | F *", okey="Y5")
    [0, 1, 43, 52]
    """
    written: Any = text
    if not isinstance(written, str):
        raise ValueError(f"{shown(text)} are no tiles: expected text, like 'R1 R2 F *'")
    return [parse_kind(token, okey) for token in text.replace("|", " ").replace(",", " ").split()]


def parse_rack(text: str, okey: str | int) -> Counts:
    """The counts of a rack written as tiles.

    Raises:
        ValueError: it is not text, something in it is not a tile, or it has a tile more than twice.

    >>> parse_rack("R1 R1 *", okey="Y5")[[0, 52]]
    array([2, 1], dtype=uint8)
    """
    counts = np.zeros(NUM_KINDS, np.uint8)
    for kind in parse_tiles(text, okey):
        if counts[kind] == 2:
            raise ValueError(f"{kind_text(kind, okey)} is in the rack more than twice: expected at most 2 copies")
        counts[kind] += 1
    return counts


def rack_text(counts: Counts | Iterable[int], okey: str | int) -> str:
    """A rack as text, in the order of the kinds; the inverse of `parse_rack`.

    >>> rack_text(parse_rack("* B3 F R1 R1", okey="Y5"), okey="Y5")
    'R1 R1 B3 F *'
    """
    return " ".join(kind_text(kind, okey) for kind in kinds_of(counts))


def kinds_of(counts: Counts | Iterable[int]) -> Iterator[int]:
    """The kind of every tile of a rack, in the order of the kinds; a kind comes as often as it is held."""
    listed = (counts + np.uint8(0)).tolist() if isinstance(counts, np.ndarray) else list(counts)  # a set as counts
    for kind, count in enumerate(listed[:NUM_KINDS]):
        yield from [kind] * whole_number(f"counts[{kind}]", count)


def total_counts(indicator: int) -> Counts:
    """All tiles of a round except the indicator, as they play: `(53,)` uint8, 105 in all (R1.6).

    >>> int(total_counts(parse_face("Y4")).sum())
    105
    """
    counts = np.full(NUM_KINDS, 2, np.uint8)
    counts[whole_number("indicator", indicator, 0, NUM_FACES - 1)] -= 1
    return counts


def _face(okey: str | int) -> int:
    return parse_face(okey) if isinstance(okey, str) else whole_number("okey", okey, 0, NUM_FACES - 1)
