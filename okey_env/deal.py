"""Start a round from a chosen position: any of indicator, racks, order of the stock and starter.

The seed deals the rest at random from the other tiles; every possible deal has the same probability.
"""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_env.checks import list_of, seat_number, shown
from okey_env.engine.deal import begin_round, shuffle
from okey_env.engine.random import advance, below, derive_seed
from okey_env.tiles import (
    NUM_FACES,
    NUM_KINDS,
    NUM_SEATS,
    NUM_STOCK,
    RACK_SIZE,
    kind_text,
    okey_of,
    parse_face,
    parse_tiles,
    total_counts,
)


class _Position(NamedTuple):
    """The tiles that a deal names, in played values."""

    indicator: int
    racks: tuple[list[int] | None, ...]
    stock: list[int]
    left: npt.NDArray[np.uint8]  # (53,) tiles that the deal does not name, by kind


@dataclasses.dataclass(frozen=True)
class Deal:
    """A chosen position at the start of a round, tiles in text (see `okey_env.tiles`).

    Raises:
        ValueError: the deal is impossible; the message says which tile or which number.

    >>> Deal(indicator="Y4", racks=("R5 R5 R5 R1 R2 R3 R4 R6 R7 R8 R9 R10 R11 R12", None, None, None))
    Traceback (most recent call last):
        ...
    ValueError: R5 is dealt 3 times, but only 2 are in play
    """

    indicator: str | None = None
    """The tile turned up, like `"Y4"`; None: a random one that the named tiles leave possible."""
    racks: Sequence[str | None] = (None, None, None, None)
    """For each seat its tiles, 15 for the starter and 14 for the others; None: random."""
    stock: str | None = None
    """The tiles of the stock in the order in which they are drawn, all 48 or only the first; None: random."""
    starter: int | None = None
    """The seat that begins; None: the seat with 15 named tiles, or a random one."""

    def __post_init__(self) -> None:
        racks = tuple(list_of(self.racks))
        if len(racks) != NUM_SEATS or not all(rack is None or isinstance(rack, str) for rack in racks):
            raise ValueError(f"racks={shown(self.racks)}: expected {NUM_SEATS} racks, each as text or None")
        object.__setattr__(self, "racks", racks)
        for name in ("indicator", "stock"):
            text = getattr(self, name)
            if text is not None and not isinstance(text, str):
                raise ValueError(f"{name}={shown(text)}: expected text or None")
        if self.starter is not None:
            object.__setattr__(self, "starter", seat_number(self.starter, "starter", ", or None"))
        self._check_sizes()
        self._positions()  # raises if no indicator makes this deal possible

    def deal_into(self, game: np.record) -> None:
        """Deal this position into a GAME; the seed and round number of the game determine the open tiles."""
        # a compiled kernel returns a 64-bit word as a Python int, which must be made a uint64 again
        state = np.uint64(derive_seed(game["seed"], game["round_number"]))
        positions = self._positions()
        # an open indicator: each numbered tile that is left has the same probability to be turned up
        weights = [
            1 if self.indicator is not None else 1 + int(position.left[position.indicator]) for position in positions
        ]
        state = np.uint64(advance(state))
        pick = int(below(state, sum(weights)))
        position = next(p for p, end in zip(positions, np.cumsum(weights), strict=True) if pick < end)

        rest = np.repeat(np.arange(NUM_KINDS, dtype=np.uint8), position.left)
        state = np.uint64(shuffle(rest, state))
        starter = self._starter()
        if starter is None:
            open_seats = [seat for seat in range(NUM_SEATS) if self.racks[seat] is None]  # a named rack has 14 tiles
            state = np.uint64(advance(state))
            starter = open_seats[int(below(state, len(open_seats)))]
        undealt = iter(rest.tolist())
        in_turn: list[int] = []
        for step in range(NUM_SEATS):
            named = position.racks[(starter + step) % NUM_SEATS]
            in_turn += named if named is not None else [next(undealt) for _ in range(RACK_SIZE + (step == 0))]
        stock = [*position.stock, *undealt]
        okey = okey_of(position.indicator)
        begin_round(game, position.indicator, okey, starter, np.array(in_turn, np.uint8), np.array(stock, np.uint8))

    def _starter(self) -> int | None:
        """The seat that begins, if the deal determines it; else None."""
        if self.starter is not None:
            return self.starter
        sizes = [len(_tokens(rack)) if rack else 0 for rack in self.racks]
        if RACK_SIZE + 1 in sizes:
            return sizes.index(RACK_SIZE + 1)
        if sizes.count(RACK_SIZE) == NUM_SEATS - 1 and None in self.racks:
            return list(self.racks).index(None)
        return None

    def _check_sizes(self) -> None:
        """Raise a ValueError if a rack or the stock has a wrong number of tiles (R2.1)."""
        sizes = [None if rack is None else len(_tokens(rack)) for rack in self.racks]
        starter = self._starter()
        for seat, size in enumerate(sizes):
            if size is None:
                continue
            wanted = RACK_SIZE + 1 if seat == starter else RACK_SIZE
            if size != wanted:
                who = "the starter" if seat == starter else "not the starter"
                raise ValueError(f"the rack of seat {seat} has {size} tiles: expected {wanted}, since it is {who}")
        if starter is None and None not in sizes:
            raise ValueError("no rack has 15 tiles: expected 15 for the starter and 14 for the others")
        if self.stock is not None and len(_tokens(self.stock)) > NUM_STOCK:
            raise ValueError(f"the stock has {len(_tokens(self.stock))} tiles: expected at most {NUM_STOCK}")

    def _positions(self) -> list[_Position]:
        """The named tiles in played values: for the indicator or, if it is open, for each possible indicator."""
        if self.indicator is not None:
            return [self._position(parse_face(self.indicator))]
        positions: list[_Position] = []
        problem: ValueError | None = None
        for indicator in range(NUM_FACES):
            try:
                positions.append(self._position(indicator))
            except ValueError as error:
                problem = error
        if not positions and problem is not None:
            raise ValueError(f"no indicator makes this deal possible; with the last one tried, {problem}")
        return positions

    def _position(self, indicator: int) -> _Position:
        okey = okey_of(indicator)
        racks = tuple(None if rack is None else parse_tiles(rack, okey) for rack in self.racks)
        stock = parse_tiles(self.stock, okey) if self.stock else []
        total = total_counts(indicator)
        named = np.zeros(NUM_KINDS, np.int64)
        for tiles in (*racks, stock):
            for kind in tiles or ():
                named[kind] += 1
        for kind in range(NUM_KINDS):
            if named[kind] > total[kind]:
                raise ValueError(
                    f"{kind_text(kind, okey)} is dealt {named[kind]} times, but only {total[kind]} "
                    + ("is in play, since the other is the indicator" if kind == indicator else "are in play")
                )
        return _Position(indicator, racks, stock, (total - named).astype(np.uint8))


def _tokens(text: str) -> list[str]:
    return text.replace("|", " ").replace(",", " ").split()
