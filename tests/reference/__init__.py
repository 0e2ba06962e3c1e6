"""The rules of Okey again, slow and plain: the oracle that the fast engine is stepped against.

Standard library only, and nothing of the package under test: a mistake would have to be made twice, by two authors,
to pass unseen. Every paragraph of code cites the paragraph of the rules that it plays (`R4.2`).

Contents: `tiles` (R1), `melds` (R4 and the finishing check of R5.1), `switches` (how a mapping of rules is read, and
the two presets), `round` (R1 to R7), `match` (R8).
"""

from .match import ReferenceMatch
from .melds import all_melds, finishing_tiles, seven_pairs
from .round import (
    ACTION_DRAW,
    ACTION_FINISH,
    ACTION_SHOW,
    ACTION_TAKE,
    ACTION_THROW,
    ReferenceRound,
    random_round,
)
from .switches import GAMELAKE, KLASIK
from .tiles import FACES, KINDS, WILD, okey_face, parse, played_kind

__all__ = [
    "ACTION_DRAW",
    "ACTION_FINISH",
    "ACTION_SHOW",
    "ACTION_TAKE",
    "ACTION_THROW",
    "FACES",
    "GAMELAKE",
    "KINDS",
    "KLASIK",
    "WILD",
    "ReferenceMatch",
    "ReferenceRound",
    "all_melds",
    "finishing_tiles",
    "okey_face",
    "parse",
    "played_kind",
    "random_round",
    "seven_pairs",
]
