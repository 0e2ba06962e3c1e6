"""Tiles: the 106 physical ones (R1.1) as text, and the 53 kinds that they play as (R1.6).

A physical tile is text: a colour letter and a number, `R12`, or `F` for a false joker. A *face* is one of the 52
coloured numbers, `colour * 13 + number - 1`. A *kind* is what a tile plays as: a face, or `WILD`.
"""

COLOURS = "RBKY"  # the index of the letter is the colour, 0..3
NUMBERS = range(1, 14)
FACES = 52
WILD = 52  # the kind of the okey's two real copies (R1.3)
KINDS = 53
FALSE_JOKER = "F"

# R1.1: two copies of each numbered tile, and two false jokers.
PHYSICAL_TILES = [f"{colour}{number}" for colour in COLOURS for number in NUMBERS] * 2 + [FALSE_JOKER] * 2


def face(colour: int, number: int) -> int:
    """The face of a colour 0..3 and a number 1..13."""
    return colour * 13 + number - 1


def colour_of(face: int) -> int:
    """The colour, 0..3, of a face."""
    return face // 13


def number_of(face: int) -> int:
    """The number, 1..13, of a face."""
    return face % 13 + 1


def face_of_text(text: str) -> int:
    """The face printed on a numbered tile.

    >>> face_of_text("R1"), face_of_text("Y13")
    (0, 51)
    """
    colour, number = COLOURS.find(text[:1]), text[1:]
    if text[:1] == "" or colour < 0 or not number.isdigit() or int(number) not in NUMBERS:
        raise ValueError(f"not a numbered tile: {text!r}")
    return face(colour, int(number))


def okey_face(indicator: int) -> int:
    """R1.3: the okey has the indicator's colour and the next number; after 13 comes 1.

    >>> okey_face(face_of_text("Y4")) == face_of_text("Y5"), okey_face(face_of_text("K13")) == face_of_text("K1")
    (True, True)
    """
    return face(colour_of(indicator), number_of(indicator) % 13 + 1)


def played_kind(tile: str, indicator: int) -> int:
    """R1.6: what a physical tile plays as in a round with this indicator.

    R1.3: the okey's real copies are wild. R1.4: a false joker is an ordinary tile with the okey's face.
    """
    if tile == FALSE_JOKER:
        return okey_face(indicator)
    printed = face_of_text(tile)
    return WILD if printed == okey_face(indicator) else printed


def parse(text: str, indicator: int) -> list[int]:
    """The kinds of tiles written with blanks between them; `*` is a wild tile, `F` a false joker, `|` is skipped.

    >>> parse("R1 | F *", face_of_text("Y4")) == [0, face_of_text("Y5"), WILD]
    True
    """
    words = text.replace("|", " ").split()
    return [WILD if word == "*" else played_kind(word, indicator) for word in words]


def tiles_in_play(indicator: int) -> list[int]:
    """R1.6: how many tiles of each kind a round has: 105 in all, the indicator itself never comes into play (R1.2)."""
    counts = [2] * FACES + [2]
    counts[indicator] -= 1
    return counts


def counts_of(kinds: list[int] | tuple[int, ...]) -> list[int]:
    """Counts over the 53 kinds."""
    counts = [0] * KINDS
    for kind in kinds:
        counts[kind] += 1
    return counts
