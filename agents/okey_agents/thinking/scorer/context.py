"""What the candidate scorer sees of a decision as a whole: numbers that all candidates share.

Letters: `T` entries.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_agents.thinking.position import Position
from okey_env.encoders.encoder import Piece, size_of, starts_of
from okey_env.engine._jit import kernel
from okey_env.engine.hand import kind_set, pairs_distance, popcount
from okey_env.engine.hand.bits import as_int
from okey_env.engine.state import NO_TILE, PHASE_THROW
from okey_env.tiles import WILD

Floats = npt.NDArray[np.float32]

NUM_DISTANCES = 6
"""Distances told apart: 0 to 4, and 5 for 5 or more."""
MAX_CANDIDATES = 6
"""The most candidates of a decision; those that the rule rates lowest are cut off."""

CONTEXT = (
    Piece("throwing", 1, "1 if the mover is to throw or to finish, 0 if it is to draw or to take"),
    Piece("stock", 1, "tiles left in the stock / 48"),
    Piece("stock_end", 1, "4 / (4 + tiles left in the stock)"),
    Piece("throws", 1, "throws so far / 40"),
    Piece("wilds", 2, "1 for the wild tiles in the rack: one, two"),
    Piece("wild_unseen", 1, "1 if a wild tile may be hidden"),
    Piece("wilds_unseen", 1, "1 if both may be hidden"),
    Piece("distance", NUM_DISTANCES, "1 for the rack's distance to a finish by melds: 0 … 4, 5 or more"),
    Piece("pairs", 3, "1 for the rack's distance to seven pairs: 0 or 1, 2, 3; none if it is more"),
    Piece("most_useful", 1, "unseen tiles that help, after the best throw if the mover is to throw, / 16"),
    Piece("spare", 1, "kinds whose throw leaves the least distance / 12"),
    Piece("takes_right", 1, "kinds taken by the right-hand neighbour / 4"),
    Piece("takes_opposite", 1, "the same of the seat opposite"),
    Piece("takes_left", 1, "the same of the left neighbour"),
    Piece("two_takes_right", 1, "1 if the right-hand neighbour has taken two kinds or more"),
    Piece("two_takes_opposite", 1, "the same of the seat opposite"),
    Piece("two_takes_left", 1, "the same of the left neighbour"),
    Piece("can_take", 1, "1 if the mover may take the tile on offer"),
    Piece("offer_helps", 1, "1 if it may, and the tile lowers the distance"),
    Piece("can_show", 1, "1 if the mover may show the indicator's twin"),
    Piece("offer_wild", 1, "1 if the mover may take the tile on offer, and it is wild"),
    Piece("candidates", 1, f"candidates / {MAX_CANDIDATES}"),
    Piece("false_joker_as_okey", 1, "1 if a finish on a false joker counts as one on the okey (R6.3)"),
    Piece("combine_product", 1, "1 if the rules multiply what a finish counts for"),
    Piece("hidden", 1, "hidden tiles / 91"),
    Piece("first_turns", 1, "1 until four tiles have been thrown"),
)
"""The layout, in order."""

_AT = starts_of(CONTEXT)
NUM_CONTEXT = size_of(CONTEXT)
_THROWING, _STOCK, _STOCK_END, _THROWS = _AT["throwing"], _AT["stock"], _AT["stock_end"], _AT["throws"]
_WILDS, _WILD_UNSEEN, _WILDS_UNSEEN = _AT["wilds"], _AT["wild_unseen"], _AT["wilds_unseen"]
_DISTANCE, _PAIRS, _MOST_USEFUL, _SPARE = _AT["distance"], _AT["pairs"], _AT["most_useful"], _AT["spare"]
_TAKES_RIGHT, _TAKES_OPPOSITE, _TAKES_LEFT = _AT["takes_right"], _AT["takes_opposite"], _AT["takes_left"]
_TWO_TAKES_RIGHT, _TWO_TAKES_OPPOSITE = _AT["two_takes_right"], _AT["two_takes_opposite"]
_TWO_TAKES_LEFT = _AT["two_takes_left"]
_CAN_TAKE, _OFFER_HELPS, _CAN_SHOW, _OFFER_WILD = (
    _AT["can_take"],
    _AT["offer_helps"],
    _AT["can_show"],
    _AT["offer_wild"],
)
_CANDIDATES, _HIDDEN, _FIRST_TURNS = _AT["candidates"], _AT["hidden"], _AT["first_turns"]
_FALSE_JOKER, _COMBINE_PRODUCT = _AT["false_joker_as_okey"], _AT["combine_product"]


class Rack(NamedTuple):
    """What the solver says of the mover's rack before the move."""

    distance: int
    """To a finish by melds."""
    keep: int
    """The kinds whose throw leaves the least distance, as a word."""
    useful: int
    """The kinds that lower the distance, as a word."""
    hidden: int
    """Tiles that the mover has not seen."""


@kernel
def fill_context(position: Position, rack: Rack, most_useful: int, num_candidates: int, context: Floats) -> None:
    """Fill `(T,)` with the numbers that all candidates share, as `CONTEXT` has them.

    Args:
        position: what the mover sees.
        rack: what the solver says of its rack.
        most_useful: unseen tiles that help, after the best throw if the mover is to throw.
        num_candidates: candidates of the decision.
        context: to fill.
    """
    context[:] = np.float32(0)
    left = np.float32(position.stock_left)
    context[_THROWING] = position.phase == PHASE_THROW
    context[_STOCK] = left / np.float32(48)
    context[_STOCK_END] = np.float32(4) / (np.float32(4) + left)
    context[_THROWS] = np.float32(position.throws) / np.float32(40)
    if position.wilds > 0:
        context[_WILDS + int(position.wilds) - 1] = 1
    context[_WILD_UNSEEN] = (int(position.unseen) >> WILD) & 1
    context[_WILDS_UNSEEN] = (int(position.unseen_twice) >> WILD) & 1
    context[_DISTANCE + min(rack.distance, NUM_DISTANCES - 1)] = 1
    pairs = pairs_distance(position.once, position.twice, int(position.wilds))
    if pairs <= 3:
        context[_PAIRS + max(pairs, 1) - 1] = 1
    context[_MOST_USEFUL] = np.float32(most_useful) / np.float32(16)
    context[_SPARE] = np.float32(popcount(rack.keep)) / np.float32(12)
    takes_right = popcount(int(position.taken_right))
    takes_opposite = popcount(int(position.taken_opposite))
    takes_left = popcount(int(position.taken_left))
    context[_TAKES_RIGHT] = np.float32(takes_right) / np.float32(4)
    context[_TAKES_OPPOSITE] = np.float32(takes_opposite) / np.float32(4)
    context[_TAKES_LEFT] = np.float32(takes_left) / np.float32(4)
    context[_TWO_TAKES_RIGHT] = takes_right >= 2
    context[_TWO_TAKES_OPPOSITE] = takes_opposite >= 2
    context[_TWO_TAKES_LEFT] = takes_left >= 2
    context[_CAN_TAKE] = position.can_take
    if position.can_take and position.offer != NO_TILE:
        context[_OFFER_HELPS] = (rack.useful & as_int(kind_set(position.offer))) != 0
        context[_OFFER_WILD] = position.offer == WILD
    context[_CAN_SHOW] = position.can_show
    context[_CANDIDATES] = np.float32(num_candidates) / np.float32(MAX_CANDIDATES)
    context[_FALSE_JOKER] = position.rules.false_joker_as_okey
    context[_COMBINE_PRODUCT] = position.rules.combine_product
    context[_HIDDEN] = np.float32(rack.hidden) / np.float32(91)
    context[_FIRST_TURNS] = position.throws < 4
