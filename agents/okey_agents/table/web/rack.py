"""A rack as it lies (RULES R9.1): thirty places in two rows, and the check that its tiles lie as melds with gaps.

The order of a rack is the player's own. A new tile comes to a free place, and a tile that is thrown leaves its place
free; nothing else moves. The engine has no order: it counts tiles by kind.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from okey_env.tiles import COLOURS, NUM_FACES, NUM_NUMBERS, WILD, kind_text, parse_kind

ROW = 15
PLACES = 2 * ROW
_GROUP_SIZE = (3, 4)


class Fault(NamedTuple):
    """The first block of tiles on a rack that is neither a meld nor a pair."""

    reason: str
    """Why: `alone`, `short`, `repeat`, `order`, `mixed` or `no_pair`; the page has a sentence for each."""
    places: tuple[int, ...]
    """The places of the block's tiles."""


class Rack:
    """The thirty places of one rack, each a tile as text or None, and which of them lie face down."""

    def __init__(self, places: Sequence[str | None] = (None,) * PLACES, down: Sequence[int] = ()) -> None:
        self.places = list(places)
        self.down = set(down)

    @classmethod
    def dealt(cls, kinds: Sequence[int], okey: int) -> "Rack":
        """A rack just dealt: the tiles in the given order, half of them on each row."""
        rack = cls()
        half = (len(kinds) + 1) // 2
        for i, kind in enumerate(kinds):
            rack.places[i if i < half else ROW + i - half] = kind_text(kind, okey)
        return rack

    def add(self, tile: str, place: int | None = None) -> int:
        """Put a tile on `place` if that is free, otherwise on the last free place; returns the place."""
        if place is None or self.places[place] is not None:
            place = max(i for i in range(PLACES) if self.places[i] is None)
        self.places[place] = tile
        return place

    def remove(self, tile: str, place: int | None = None) -> None:
        """Take a tile from `place` if it lies there, otherwise from another place: face up if there is one."""
        if place is None or self.places[place] != tile:
            place = min((i for i in range(PLACES) if self.places[i] == tile), key=lambda i: i in self.down)
        self.places[place] = None
        self.down.discard(place)

    def arrange(self, places: Sequence[str | None], down: Sequence[int]) -> None:
        """Put the same tiles in another order.

        Raises:
            ValueError: they are not the same tiles, or something other than an okey lies face down.
        """
        if len(places) != PLACES:
            raise ValueError(f"the rack has {len(places)} places: expected {PLACES}")
        if Counter(tile for tile in places if tile is not None) != Counter(tile for tile in self.places if tile):
            raise ValueError("the arrangement does not have the tiles of the rack")
        if any(place not in range(PLACES) or places[place] != "*" for place in down):
            raise ValueError("only an okey can lie face down")
        self.places = list(places)
        self.down = set(down)


def blocks(places: Sequence[str | None]) -> Iterator[list[int]]:
    """The blocks of tiles that stand together without a gap, row by row, each as its places."""
    block: list[int] = []
    for place in range(len(places)):
        if block and (places[place] is None or place % ROW == 0):
            yield block
            block = []
        if places[place] is not None:
            block.append(place)
    if block:
        yield block


def fault_of(places: Sequence[str | None], okey: int, *, run_13_1: bool = True) -> Fault | None:
    """The first block that keeps fourteen tiles from being melds or seven pairs as they lie (R9.1); None: no fault.

    The blocks are checked as pairs if most of them have two tiles, otherwise as melds.

    Args:
        places: the thirty places, without the finishing tile.
        okey: the okey's face.
        run_13_1: whether a 1 may follow a 13.

    >>> laid = "R1 R2 R3 . K9 B9 Y9 . B7 B6 B5 . * F F".split()
    >>> fault_of([None if tile == "." else tile for tile in laid], okey=0) is None
    False
    """
    standing = [(block, [parse_kind(str(places[place]), okey) for place in block]) for block in blocks(places)]
    by_pairs = sum(len(block) == 2 for block, _ in standing) > len(standing) // 2
    for block, kinds in standing:
        reason = _fault_of_pair(kinds) if by_pairs else _fault_of_meld(kinds, run_13_1)
        if reason:
            return Fault(reason, tuple(block))
    return None


def _fault_of_pair(kinds: list[int]) -> str | None:
    if len(kinds) == 1:
        return "alone"
    faces = {kind for kind in kinds if kind != WILD}
    return None if len(kinds) == 2 and len(faces) <= 1 else "no_pair"


def _fault_of_meld(kinds: list[int], run_13_1: bool) -> str | None:
    """Why tiles in this order are neither a run, in either direction, nor a group; None: they are one."""
    if len(kinds) == 1:
        return "alone"
    if len(kinds) < 3:
        return "short"
    if _is_run(kinds, run_13_1) or _is_run(kinds[::-1], run_13_1) or _is_group(kinds):
        return None
    faces = [kind for kind in kinds if kind != WILD]
    if len({kind % NUM_NUMBERS for kind in faces}) == 1:
        return "repeat"
    return "order" if len({kind // NUM_NUMBERS for kind in faces}) == 1 else "mixed"


def _is_run(kinds: list[int], run_13_1: bool) -> bool:
    """R4.1, rising: the tiles stand for first, first + 1, … of one colour; 14 stands for the 1 after a 13."""
    last = NUM_NUMBERS + (1 if run_13_1 else 0)
    for colour in range(len(COLOURS)):
        for first in range(1, last - len(kinds) + 2):
            stands_for = [colour * NUM_NUMBERS + (first + i - 1) % NUM_NUMBERS for i in range(len(kinds))]
            if all(kind in (WILD, face) for kind, face in zip(kinds, stands_for, strict=True)):
                return True
    return False


def _is_group(kinds: list[int]) -> bool:
    """R4.2: three or four of one number, all of different colours."""
    faces = [kind for kind in kinds if kind != WILD]
    assert all(face < NUM_FACES for face in faces)
    one_number = len({face % NUM_NUMBERS for face in faces}) <= 1
    return len(kinds) in _GROUP_SIZE and one_number and len(set(faces)) == len(faces)
