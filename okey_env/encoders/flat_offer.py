"""The encoder `flat_offer`: `flat`, and what the tile on offer is worth once it is taken.

`flat` tells whether an offered tile lowers the distance. Where it does not, whether to take it still depends on how
many more unseen tiles would help afterwards, which takes the exact solver on all fifteen tiles and is told here.

Version history: 1, the first.
"""

import numpy as np
import numpy.typing as npt

from okey_env.encoders.encoder import Encoder, Piece, size_of, starts_of
from okey_env.encoders.flat import ALL_USEFUL, FLAT, count_unseen
from okey_env.encoders.flat import fill as fill_flat
from okey_env.encoders.loops import fill_many_of
from okey_env.engine._jit import kernel
from okey_env.engine.hand import Hand, analyse, kind_set, with_tile
from okey_env.engine.hand.bits import as_int
from okey_env.engine.state import PHASE_DRAW
from okey_env.tiles import NUM_KINDS, WILD

VERSION = 1
_MORE = 8.0  # so many more are worth a take almost anywhere
_MANY_MORE = 32.0  # far from a finish, where a take costs most

PIECES = (
    *FLAT.pieces,
    Piece("useful_taken", 1, "unseen tiles that help after taking the offer and the best throw, / 40, at most 1"),
    Piece("gain_taken", 2, "so many more than without the offer: / 8 and / 32, each between -1 and 1"),
)
_AT = starts_of(PIECES)
_USEFUL_TAKEN, _GAIN_TAKEN = _AT["useful_taken"], _AT["gain_taken"]
SIZE = size_of(PIECES)
_NONE = np.uint64(0)


@kernel
def fill(seen: np.record, out: npt.NDArray[np.float32]) -> None:
    """Fill `(SIZE,)` float32 from one OBSERVATION."""
    fill_flat(seen, out)
    out[_USEFUL_TAKEN:SIZE] = 0
    if seen.phase != PHASE_DRAW or seen.can_take == 0:
        return
    hand = Hand(seen.once, seen.twice, as_int(seen.rack[WILD]))
    after = np.empty(NUM_KINDS, np.uint64)
    _, _, useful = analyse(hand.once, hand.twice, hand.wilds, seen.rules.run_13_1 != 0, after)
    without = count_unseen(seen, useful)
    hand = with_tile(hand, seen.offer)
    _, keeps, _ = analyse(hand.once, hand.twice, hand.wilds, seen.rules.run_13_1 != 0, after)
    most = 0
    for kind in range(NUM_KINDS):
        if keeps & kind_set(kind) != _NONE:
            most = max(most, count_unseen(seen, after[kind]))
    gain = np.float32(most - without)
    out[_USEFUL_TAKEN] = min(np.float32(1), np.float32(most) / np.float32(ALL_USEFUL))
    out[_GAIN_TAKEN] = min(np.float32(1), max(np.float32(-1), gain / np.float32(_MORE)))
    out[_GAIN_TAKEN + 1] = min(np.float32(1), max(np.float32(-1), gain / np.float32(_MANY_MORE)))


FLAT_OFFER = Encoder("flat_offer", VERSION, PIECES, fill, fill_many_of(fill))
