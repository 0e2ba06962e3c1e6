"""The encoder `flat_offer`: all pieces of `flat`, and the value of taking the tile on offer.

`flat` says whether the offered tile lowers the distance. If it does not, a take can still be good, because more unseen
tiles may help afterwards. This encoder adds that number; it runs the exact solver on all fifteen tiles.

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
_MORE = 8.0  # a gain of this many tiles is worth a take almost always
_MANY_MORE = 32.0  # the scale of gains far from a finish, where a take costs most

PIECES = (
    *FLAT.pieces,
    Piece("useful_taken", 1, "unseen tiles that help after taking the offer and the best throw, / 40, at most 1"),
    Piece("gain_taken", 2, "the same minus the number without the take: / 8 and / 32, each between -1 and 1"),
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
