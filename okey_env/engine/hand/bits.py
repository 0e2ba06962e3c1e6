"""The two words in which the solver holds a hand, and the few bit operations it needs.

A hand is `once`, `twice` and `wilds`. Bit `4 * (number - 1) + colour` of `once` says that the face is held at
least once, the same bit of `twice` that both copies are held; `wilds` counts the wild tiles, 0 to 2 (R1.6). Sets
of kinds are words in the same order, with bit 52 for the wild kind.

The four colours of one number form a nibble, so a step of one number is a shift by four bits and all runs of
three are `held & held >> 4 & held >> 8`. A 1 may also end a run after a 13 (R4.1), so while the solver works the
lowest nibble is repeated above the thirteens, as *position 13*. Position 13 is called the *top* of a word. No stored
word has it; `with_top` adds it.

Inside the kernels words are signed 64-bit integers, which only ever use 56 bits: numba turns an expression of
uint64 and int64 into float64, and plain Python integers behave like int64 when the compiler is off. Words that the
solver takes and returns are uint64.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import intrinsic

from okey_env.engine._jit import JIT_IS_OFF, kernel
from okey_env.engine.words import get_word, put_word

NUM_KINDS = 53
WILD_BIT = 52  # the wild kind has this number as a kind and as a bit
FACES = (1 << 52) - 1  # the 52 faces; position 13 left out
TOP = 15 << 52  # position 13: the 1 that follows a 13
WORD = FACES | TOP

Word = np.uint64 | int
"""A word that the solver takes or returns: stored as uint64; from Python a plain integer works too."""

# Constants for calls from kernel to kernel: numba compiles a kernel again for each literal argument.
ZERO: Any = np.int64(0)
ONE: Any = np.int64(1)
TWO: Any = np.int64(2)
THREE: Any = np.int64(3)
FOUR: Any = np.int64(4)
ALL: Any = np.int64(-1)
U1 = np.uint64(1)

BIT_OF_KIND = np.array([4 * (kind % 13) + kind // 13 for kind in range(52)] + [WILD_BIT], dtype=np.uint8)
"""Bit of a kind (`colour * 13 + number - 1`, 52 = wild) in a word, `[53]`."""
KIND_OF_BIT = np.argsort(BIT_OF_KIND).astype(np.uint8)
"""The inverse of `BIT_OF_KIND`, `[53]`."""

_NOT_LAST_COLOUR = sum(7 << 4 * position for position in range(13))
_FIRST_COLOUR = sum(1 << 4 * position for position in range(13))
_NOT_FIRST_TWO = sum(3 << 4 * position for position in range(13))

if JIT_IS_OFF:

    def popcount(word: int) -> int:
        """How many bits of `word` (0 or more) are set."""
        return int(word).bit_count()

    def lowest_bit(word: int) -> int:
        """The position of the lowest bit of `word`, which must not be 0."""
        word = int(word)
        return (word & -word).bit_length() - 1

else:

    @intrinsic
    def popcount(typing_context: Any, word: Any) -> Any:
        """How many bits of `word` (0 or more) are set."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            count = builder.ctpop(arguments[0])
            return context.cast(builder, count, signature.args[0], types.int64)

        return types.int64(word), generate

    @intrinsic
    def lowest_bit(typing_context: Any, word: Any) -> Any:
        """The position of the lowest bit of `word`, which must not be 0."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            position = builder.cttz(arguments[0], context.get_constant(types.boolean, True))
            return context.cast(builder, position, signature.args[0], types.int64)

        return types.int64(word), generate


@kernel
def as_int(word: Word) -> int:
    """A stored word as the signed integer with which the kernels compute."""
    return int(np.int64(word))


class Hand(NamedTuple):
    """A hand as the solver reads it."""

    once: np.uint64
    """The word of the faces of which the hand holds at least one copy."""
    twice: np.uint64
    """The word of the faces of which the hand holds both copies."""
    wilds: int
    """Wild tiles, 0 to 2."""


@kernel
def kind_set(kind: int) -> np.uint64:
    """The set of one kind, as a word."""
    return U1 << np.uint64(BIT_OF_KIND[kind])


@kernel
def with_tile(hand: Hand, kind: int) -> Hand:
    """A hand with one more tile of a kind; of a face, `hand` must hold at most one copy."""
    if kind == WILD_BIT:
        return Hand(hand.once, hand.twice, as_int(hand.wilds) + 1)
    tile = kind_set(kind)
    return Hand(hand.once | tile, hand.twice | (hand.once & tile), as_int(hand.wilds))


@kernel
def without_tile(hand: Hand, kind: int) -> Hand:
    """A hand without one tile of a kind that it holds."""
    if kind == WILD_BIT:
        return Hand(hand.once, hand.twice, as_int(hand.wilds) - 1)
    tile = kind_set(kind)
    return Hand(hand.once & ~(tile & ~hand.twice), hand.twice & ~tile, as_int(hand.wilds))


@kernel
def with_top(word: Word, run_13_1: bool) -> int:
    """`word` with its 1s repeated at position 13, if a 1 may follow a 13 (R4.1)."""
    faces = as_int(word) & FACES
    return faces | (faces & 15) << 52 if run_13_1 else faces


@kernel
def fold(word: int) -> int:
    """The faces of a word; a 1 at position 13 counts as the 1 itself."""
    return (word | word >> 52) & FACES


@kernel
def both_ends(word: int) -> int:
    """The word with each 1 at both ends (at position 0 and at position 13) if it is at either."""
    return word | word >> 52 | (word & 15) << 52


@kernel
def next_colour(word: int) -> int:
    """The faces whose number is in `word` in the next colour, as a word; the first colour follows the last."""
    return (word >> 1 & _NOT_LAST_COLOUR) | (word & _FIRST_COLOUR) << 3


@kernel
def opposite_colour(word: int) -> int:
    """The faces whose number is in `word` two colours further, as a word."""
    return (word >> 2 & _NOT_FIRST_TWO) | (word & _NOT_FIRST_TWO) << 2


EIGHT_KINDS = (0, 8, 16, 24, 32, 40, 45)  # the last eight begin at 45, so that nothing beyond 53 is touched
LOW_BITS = np.uint64(0x0101010101010101)
_GATHER = np.uint64(0x0102040810204080)  # times eight bytes of 0 or 1: the bits of the highest byte
_U56 = np.uint64(56)


def _lookups_by_byte() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    into_word = np.zeros((len(EIGHT_KINDS), 256), dtype=np.int64)
    into_kinds = np.zeros((7, 256), dtype=np.int64)
    bytes_of_bits = np.zeros(256, dtype=np.uint64)
    for byte in range(256):
        for bit in range(8):
            if byte >> bit & 1:
                bytes_of_bits[byte] |= U1 << np.uint64(8 * bit)
                for row, first in enumerate(EIGHT_KINDS):
                    into_word[row, byte] |= 1 << int(BIT_OF_KIND[first + bit])
                for row in range(7):
                    if 8 * row + bit < NUM_KINDS:
                        into_kinds[row, byte] |= 1 << int(KIND_OF_BIT[8 * row + bit])
    return into_word, into_kinds, bytes_of_bits


_INTO_WORD, _INTO_KINDS, _BYTES_OF_BITS = _lookups_by_byte()


@kernel
def word_of_bytes(held: np.uint64, row: int) -> int:
    """The word of the kinds whose byte in `held` is 1: eight kinds from `EIGHT_KINDS[row]` on, each byte 0 or 1."""
    return int(_INTO_WORD[row, as_int((held * _GATHER) >> _U56)])


@kernel(borrows=True)
def hand_of_counts(counts: Any) -> tuple[np.uint64, np.uint64, int]:
    """The words and the number of wild tiles of `counts [53]`, uint8 by kind, each 0, 1 or 2."""
    once = 0
    twice = 0
    for row in range(len(EIGHT_KINDS)):
        eight = get_word(counts, EIGHT_KINDS[row])
        two = (eight >> U1) & LOW_BITS
        once |= word_of_bytes((eight & LOW_BITS) | two, row)
        twice |= word_of_bytes(two, row)
    return np.uint64(once & FACES), np.uint64(twice & FACES), as_int(counts[52])


@kernel(borrows=True)
def counts_of_set(word: Word, out: Any) -> None:
    """Write 1 into `out [53]` for each kind in the set `word`, 0 for the others."""
    left = as_int(word)
    kinds = 0
    for row in range(7):
        kinds |= int(_INTO_KINDS[row, left & 255])
        left >>= 8
    for first in EIGHT_KINDS:
        put_word(out, first, _BYTES_OF_BITS[kinds >> first & 255])
