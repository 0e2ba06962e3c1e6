"""Which faces matter to a face: its neighbours in runs, and its number in the other colours.

Faces are bits, and sets of faces are words, in the order of `okey_env.engine.hand`: four colours of a number, then the
next number. So a step of one number is a shift by four bits.
"""

import numpy as np

from okey_env.engine._jit import kernel
from okey_env.engine.hand import popcount
from okey_env.engine.hand.analysis import beside
from okey_env.engine.hand.bits import FACES, TWO, WORD, both_ends, fold, with_top

ITSELF, ONE_AWAY, TWO_AWAY, SAME_NUMBER, NUM_RELATIONS = range(5)
"""The relations of other faces to one face: in which order `related_faces` returns them."""
_FIRST_COLOUR = 0x1111111111111


@kernel
def related_faces(bit: int, run_13_1: bool) -> tuple[int, int, int, int]:
    """The faces in each relation to the face of a bit, as words.

    Args:
        bit: 0 to 51.
        run_13_1: whether a 1 may follow a 13 (R4.1); if so, 13 and 12 are neighbours of the 1. The 1 counts as a
            neighbour of 13 and 12 in either case: what was fitted counts it so. Nothing follows that 1.

    Returns:
        The face itself; the faces of its colour that are one number away, and two; its number in the other colours.
    """
    tile = both_ends(1 << bit) if run_13_1 else 1 << bit
    one_away = fold((tile << 4 | tile >> 4) & WORD)
    two_away = fold((tile << 8 | tile >> 8) & WORD)
    return 1 << bit, one_away, two_away, same_number(bit)


@kernel
def same_number(bit: int) -> int:
    """The faces of the same number in the other colours, as a word."""
    return 15 << (bit & ~3) & ~(1 << bit)


@kernel
def near_tiles(once: np.uint64, bit: int, away: int, run_13_1: bool) -> int:
    """How many faces of a hand are exactly `away` numbers from the face of a bit, in its colour.

    Args:
        once: the faces of the hand, as a word.
        bit: 0 to 51.
        away: 1 or 2.
        run_13_1: whether a 1 may follow a 13 (R4.1); only if so, 13 and 12 are neighbours of the 1.
    """
    tile = both_ends(1 << bit) if run_13_1 else 1 << bit
    return popcount(with_top(once, run_13_1) & (tile << 4 * away | tile >> 4 * away))


@kernel
def surroundings(bit: int, run_13_1: bool) -> int:
    """The positions in runs up to two from a face, and its number in the other colours, as a word with its top.

    Args:
        bit: 0 to 51.
        run_13_1: whether a 1 may follow a 13 (R4.1).
    """
    tile = both_ends(1 << bit) if run_13_1 else 1 << bit
    return beside(tile, TWO) | same_number(bit)


@kernel
def one_up(faces: int) -> int:
    """The faces one number above those of a set; after 13 comes 1."""
    return (faces << 4 | faces >> 48) & FACES


@kernel
def one_down(faces: int) -> int:
    """The faces one number below those of a set; before 1 comes 13."""
    return (faces >> 4 | faces << 48) & FACES


@kernel
def numbers_in(faces: int) -> int:
    """The numbers that a set has in any colour, as a word of faces of the first colour."""
    return (faces | faces >> 1 | faces >> 2 | faces >> 3) & _FIRST_COLOUR
