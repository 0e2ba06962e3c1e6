"""Melds (R4), and which tiles a player with 15 may finish with (R5.1).

The check is a plain search: the lowest natural tile must lie in some meld; try every meld that contains it, filling
from the rack or with wild tiles, and go on with what is left.
"""

from functools import cache, lru_cache
from itertools import combinations

from .tiles import FACES, WILD, counts_of, face

Meld = frozenset[int]  # the faces that the tiles of one meld stand for


@cache
def runs(run_13_1: bool) -> tuple[Meld, ...]:
    """R4.1: three or more consecutive numbers of one colour; 1 may follow 13, and nothing follows that 1.

    Runs of three, four and five are enough: a longer run is cut into shorter ones of at least three (R4.3 lets a run
    be as long as the colour allows, and cutting it changes neither the tiles nor the score).
    """
    row = [*range(1, 14), 1] if run_13_1 else [*range(1, 14)]
    return tuple(
        frozenset(face(colour, number) for number in row[start : start + length])
        for colour in range(4)
        for length in (3, 4, 5)
        for start in range(len(row) - length + 1)
    )


@cache
def groups() -> tuple[Meld, ...]:
    """R4.2: three or four tiles of one number, all of different colours.

    R4.5: a wild tile never repeats a colour: it must stand for one of the colours listed here.
    """
    return tuple(
        frozenset(face(colour, number) for colour in colours)
        for number in range(1, 14)
        for size in (3, 4)
        for colours in combinations(range(4), size)
    )


@cache
def melds_with(tile: int, run_13_1: bool) -> tuple[Meld, ...]:
    """Every meld that contains a face."""
    return tuple(meld for meld in runs(run_13_1) + groups() if tile in meld)


@cache
def trios_with(tile: int, run_13_1: bool) -> tuple[Meld, ...]:
    """Every meld of three that contains a face."""
    return tuple(meld for meld in melds_with(tile, run_13_1) if len(meld) == 3)


def is_lonely(tile: int, faces: frozenset[int], wilds: int, run_13_1: bool) -> bool:
    """Whether a natural tile can be in no meld at all, with these faces and wild tiles to choose from.

    Any tile of a meld lies in three of its tiles that are a meld themselves (three in a row, or three colours). Those
    of the three that the rack lacks must be wild. So when each trio lacks more than there are wild tiles, the tile has
    no meld. This is a necessary condition only: a tile that is not lonely need not have a place in the end.
    """
    if wilds >= 2:
        return False
    for trio in trios_with(tile, run_13_1):  # noqa: SIM110 (this is the busiest loop, and a generator is slower)
        if len(trio - faces) <= wilds:
            return False
    return True


@lru_cache(maxsize=1 << 16)
def _covered(tiles: tuple[int, ...], wilds: int, run_13_1: bool) -> bool:
    """Whether natural tiles (sorted) and wild tiles can all be laid in melds, each in one (R4.5)."""
    if not tiles:
        return wilds == 0  # a meld has three tiles, and there are only two wild ones (R1.3)
    faces = frozenset(tiles)
    if any(is_lonely(tile, faces, wilds, run_13_1) for tile in faces):
        return False
    lowest = tiles[0]
    for meld in melds_with(lowest, run_13_1):
        lacking = len(meld - faces)  # these faces must be wild; the others may be (two wild in one meld: R4.5)
        others = sorted((meld & faces) - {lowest})
        for spare in range(wilds - lacking + 1):
            for replaced in combinations(others, spare):
                left = list(tiles)
                for tile in (lowest, *others):
                    if tile not in replaced:
                        left.remove(tile)
                if _covered(tuple(left), wilds - lacking - spare, run_13_1):
                    return True
    return False


def all_melds(kinds: list[int] | tuple[int, ...], run_13_1: bool) -> bool:
    """Whether all of these tiles can be laid in melds at once (R4.1, R4.2, R4.5)."""
    natural = tuple(sorted(kind for kind in kinds if kind != WILD))
    return _covered(natural, len(kinds) - len(natural), run_13_1)


def seven_pairs(kinds: list[int] | tuple[int, ...]) -> bool:
    """R4.4: seven pairs of identical tiles. A wild tile pairs with anything, and two wild tiles are a pair.

    Each natural tile without a twin needs a wild one; wild tiles then left over are an even number and pair up.
    """
    counts = counts_of(kinds)
    return len(kinds) == 14 and sum(count % 2 for count in counts[:FACES]) <= counts[WILD]


@lru_cache(maxsize=1 << 14)
def finishing_tiles(rack: tuple[int, ...], run_13_1: bool) -> dict[int, tuple[bool, bool]]:
    """R5.1, R5.2: every kind that may be laid to finish, out of a rack of 15 (sorted).

    Returns: For each such kind, whether the other 14 are all melds, and whether they are seven pairs (R4.4: never a
        mixture of the two). Do not write into it: it is remembered.

    Two conditions that every finish needs are looked at first, for speed. Melds: laying a tile makes no other tile
    less lonely, so two lonely tiles in the rack are one too many, and a single one is the tile to lay. Pairs: laying
    a tile takes at most one single out of the rack and adds no wild tile.
    """
    counts = counts_of(rack)
    faces = frozenset(rack) - {WILD}
    lonely = [tile for tile in rack if tile != WILD and is_lonely(tile, faces, counts[WILD], run_13_1)]
    singles = sum(count % 2 for count in counts[:FACES])
    found = {}
    for kind in sorted(set(rack)):
        rest = list(rack)
        rest.remove(kind)
        melds = lonely in ([], [kind]) and all_melds(rest, run_13_1)
        pairs = singles - 1 <= counts[WILD] and seven_pairs(rest)
        if melds or pairs:
            found[kind] = (melds, pairs)
    return found
