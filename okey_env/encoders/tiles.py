"""The encoder `tiles`: `tiles_raw`, and what the exact solver says of each move, one look ahead included.

A throw, a draw and a take leave the same kind of thing behind: fourteen tiles. So the same numbers are told for each of
them. For each kind that can be thrown they are planes. For drawing (the hand as it is) and for taking the offer (the
hand after the take and the best throw; of equally good throws, each number is the best) they are two pieces with the
same layout, `AFTER`, which a network can compare with one set of weights.

The look ahead tells how many useful tiles a hand has, on average, once its next useful tile has come, and how many more
other tiles open up. It is told up to distance 3, and for the throws that leave nearly the most useful tiles.

Version history: 1, the first.
"""

import numpy as np
import numpy.typing as npt

from okey_env.encoders import tiles_raw
from okey_env.encoders.encoder import Encoder, Piece, size_of, starts_of
from okey_env.encoders.loops import fill_many_of
from okey_env.engine._jit import kernel
from okey_env.engine.hand import (
    KIND_OF_BIT,
    WILD_BIT,
    Hand,
    analyse,
    hand_of_counts,
    lowest_bit,
    pairs_distance,
    popcount,
    with_tile,
    without_tile,
)
from okey_env.engine.hand.bits import FACES, as_int
from okey_env.engine.hand.draws import AfterDrawCounts, TileSet, count_after_draw, tiles_of
from okey_env.engine.scoring import best_finish_points
from okey_env.engine.state import PHASE_DRAW, PHASE_OVER
from okey_env.engine.turn import can_be_finished
from okey_env.tiles import NUM_KINDS, RACK_SIZE, WILD

VERSION = 1
DISTANCES = 6  # 0 … 4, and 5 for 5 or more
_FURTHEST = 3  # the look ahead tells hardly anything beyond this distance, and takes longest there
_CLOSE = 6  # useful tiles: only throws that leave no fewer below the most are looked at one draw ahead
_USEFUL = 64.0
_FEWER = 8.0
_NEXT = 32.0
_OPENED = 16.0
_POINTS = 8.0

PLANES = (
    *tiles_raw.PLANES,
    Piece("useful", NUM_KINDS, "1 for each kind that would lower the melds distance; with 15 tiles, after some throw"),
    Piece("keeps", NUM_KINDS, "1 for each kind held whose throw leaves the least melds distance (15 tiles)"),
    Piece("useful_after", NUM_KINDS, "after each of those throws: unseen tiles that help / 64"),
    Piece("fewer_after", NUM_KINDS, "the same: so many fewer than after the best throw / 8, at most 1"),
    Piece("next_after", NUM_KINDS, "one look ahead: unseen useful tiles once the next useful tile has come / 32"),
    Piece(
        "opened_after",
        NUM_KINDS,
        "one look ahead: useful tiles that other tiles add, on average over the unseen tiles / 16",
    ),
    Piece("pairs_keep", NUM_KINDS, "1 for each kind held whose throw leaves the least distance to seven pairs"),
    Piece("finish", NUM_KINDS, "points of a finish with the kind / 8"),
)
AFTER = (
    Piece("may", 1, "1 if the observer may do it"),
    Piece("distance", DISTANCES, "1 for the melds distance that it leaves: 0 … 4, 5 or more"),
    Piece("useful_at", DISTANCES, "at that distance: unseen tiles that help / 64"),
    Piece("next", 1, "one look ahead: unseen useful tiles once the next useful tile has come / 32"),
    Piece("opened", 1, "one look ahead: useful tiles that other tiles add, on average over the unseen tiles / 16"),
    Piece("pairs", 1, "7 less the distance to seven pairs that it leaves / 7"),
    Piece("finishes", 1, "1 if the round can be finished after it at once"),
)
"""What is told of a draw and of a take alike."""
TABLE = (
    *tiles_raw.TABLE,
    Piece("melds_distance", DISTANCES, "1 for the melds distance: 0 … 4, 5 or more"),
    Piece("pairs_distance", DISTANCES, "1 for the distance to seven pairs: 0 … 4, 5 or more"),
    Piece("most_useful", 1, "unseen tiles that help, after the best throw if 15 are held / 64"),
    Piece("draw", size_of(AFTER), "of a draw: " + ", ".join(piece.name for piece in AFTER)),
    Piece("take", size_of(AFTER), "of taking the offer: the same"),
)
PIECES = (*PLANES, *TABLE)
NUM_PLANES = len(PLANES)
SIZE = size_of(PIECES)
_AT = starts_of(PIECES)
_RAW_PLANES = len(tiles_raw.PLANES) * NUM_KINDS
_RAW_TABLE = _AT[tiles_raw.TABLE[0].name]
_USEFUL_AT, _KEEPS, _AFTER, _FEWER_AT = (_AT[name] for name in ("useful", "keeps", "useful_after", "fewer_after"))
_NEXT_AT, _OPENED_AT, _PAIRS_KEEP, _FINISH = (
    _AT[name] for name in ("next_after", "opened_after", "pairs_keep", "finish")
)
_MELDS, _PAIRS, _MOST, _DRAW, _TAKE = (
    _AT[name] for name in ("melds_distance", "pairs_distance", "most_useful", "draw", "take")
)
_IN = starts_of(AFTER)
_IN_MAY, _IN_DISTANCE, _IN_USEFUL, _IN_NEXT = (_IN[name] for name in ("may", "distance", "useful_at", "next"))
_IN_OPENED, _IN_PAIRS, _IN_FINISHES = _IN["opened"], _IN["pairs"], _IN["finishes"]


@kernel
def fill(seen: np.record, out: npt.NDArray[np.float32]) -> None:
    """Fill `(SIZE,)` float32 from one OBSERVATION."""
    raw = np.empty(tiles_raw.SIZE, np.float32)
    tiles_raw.fill(seen, raw)
    out[:] = 0
    out[:_RAW_PLANES] = raw[:_RAW_PLANES]
    out[_RAW_TABLE:_MELDS] = raw[_RAW_PLANES:]
    if seen.phase == PHASE_OVER:
        return
    hand = Hand(seen.once, seen.twice, as_int(seen.rack[WILD]))
    hidden = hand_of_counts(seen.unseen)
    once = as_int(hidden[0]) | (1 << WILD_BIT if hidden[2] > 0 else 0)
    twice = as_int(hidden[1]) | (1 << WILD_BIT if hidden[2] > 1 else 0)
    unseen = TileSet(once=once, twice=twice)
    after = np.empty(NUM_KINDS, np.uint64)
    run_13_1 = seen.rules.run_13_1 != 0
    distance, keep, useful = analyse(hand.once, hand.twice, hand.wilds, run_13_1, after)
    pairs = pairs_distance(hand.once, hand.twice, hand.wilds)
    out[_MELDS + min(distance, DISTANCES - 1)] = 1
    out[_PAIRS + min(pairs, DISTANCES - 1)] = 1
    most = tiles_of(as_int(useful), unseen)
    if popcount(as_int(hand.once)) + popcount(as_int(hand.twice)) + hand.wilds > RACK_SIZE:
        most = _fill_throws(seen, hand, distance, as_int(keep), after, unseen, out)
        _fill_pairs_and_finishes(seen, hand, pairs, out)
    elif seen.phase == PHASE_DRAW and seen.turn == 0:
        if seen.can_draw != 0:
            _fill_after(hand, distance, as_int(useful), unseen, run_13_1, out[_DRAW:_TAKE])
        if seen.can_take != 0:
            _fill_take(seen, with_tile(hand, int(seen.offer)), after, unseen, out[_TAKE:SIZE])
    out[_MOST] = np.float32(most) / np.float32(_USEFUL)
    kinds = as_int(useful)
    while kinds:
        out[_USEFUL_AT + int(KIND_OF_BIT[lowest_bit(kinds)])] = 1
        kinds &= kinds - 1


@kernel
def look_ahead(hand: Hand, distance: int, useful: int, unseen: TileSet, run_13_1: bool) -> AfterDrawCounts:
    """What one more tile makes of 14 tiles at distance 1 to 3, per unseen tile where the solver gives a sum."""
    counts = count_after_draw(hand, run_13_1, distance, useful, unseen)
    hidden = tiles_of(FACES | 1 << WILD_BIT, unseen)
    return AfterDrawCounts(counts.next_useful, counts.opened_up / max(hidden, 1))


@kernel
def most_useful(keep: int, after: npt.NDArray[np.uint64], unseen: TileSet) -> int:
    """The most unseen useful tiles that a throw of a kind in `keep` leaves."""
    most = 0
    while keep:
        most = max(most, tiles_of(as_int(after[KIND_OF_BIT[lowest_bit(keep)]]), unseen))
        keep &= keep - 1
    return most


@kernel
def _fill_throws(
    seen: np.record,
    hand: Hand,
    distance: int,
    keep: int,
    after: npt.NDArray[np.uint64],
    unseen: TileSet,
    out: npt.NDArray[np.float32],
) -> int:
    """Fill the planes of the throws that keep the distance; returns the most unseen useful tiles that one leaves."""
    most = most_useful(keep, after, unseen)
    run_13_1 = seen.rules.run_13_1 != 0
    kinds = keep
    while kinds:
        kind = int(KIND_OF_BIT[lowest_bit(kinds)])
        kinds &= kinds - 1
        count = tiles_of(as_int(after[kind]), unseen)
        out[_KEEPS + kind] = 1
        out[_AFTER + kind] = np.float32(count) / np.float32(_USEFUL)
        out[_FEWER_AT + kind] = min(np.float32(1), np.float32(most - count) / np.float32(_FEWER))
        if 0 < distance <= _FURTHEST and count >= most - _CLOSE:
            ahead = look_ahead(without_tile(hand, kind), distance, as_int(after[kind]), unseen, run_13_1)
            out[_NEXT_AT + kind] = np.float32(ahead.next_useful) / np.float32(_NEXT)
            out[_OPENED_AT + kind] = np.float32(ahead.opened_up) / np.float32(_OPENED)
    return most


@kernel
def _fill_pairs_and_finishes(seen: np.record, hand: Hand, pairs: int, out: npt.NDArray[np.float32]) -> None:
    """The planes of seven pairs, and of finishes."""
    for kind in range(NUM_KINDS):
        if seen.rack[kind] != 0:
            left = without_tile(hand, kind)
            out[_PAIRS_KEEP + kind] = pairs_distance(left.once, left.twice, left.wilds) == pairs
            points = best_finish_points(seen, kind, seen.finish_melds, seen.finish_pairs)
            out[_FINISH + kind] = np.float32(points) / np.float32(_POINTS)


@kernel
def _fill_after(
    hand: Hand, distance: int, useful: int, unseen: TileSet, run_13_1: bool, out: npt.NDArray[np.float32]
) -> None:
    """Fill the piece of a move that leaves these 14 tiles; where it is filled already, the better look ahead stays."""
    index = min(distance, DISTANCES - 1)
    out[_IN_MAY] = 1
    out[_IN_DISTANCE + index] = 1
    out[_IN_USEFUL + index] = np.float32(tiles_of(useful, unseen)) / np.float32(_USEFUL)
    pairs = np.float32(7 - pairs_distance(hand.once, hand.twice, hand.wilds)) / np.float32(7)
    out[_IN_PAIRS] = max(out[_IN_PAIRS], pairs)
    if 0 < distance <= _FURTHEST:
        ahead = look_ahead(hand, distance, useful, unseen, run_13_1)
        out[_IN_NEXT] = max(out[_IN_NEXT], np.float32(ahead.next_useful) / np.float32(_NEXT))
        out[_IN_OPENED] = max(out[_IN_OPENED], np.float32(ahead.opened_up) / np.float32(_OPENED))


@kernel
def _fill_take(
    seen: np.record, hand: Hand, after: npt.NDArray[np.uint64], unseen: TileSet, out: npt.NDArray[np.float32]
) -> None:
    """Fill the piece of taking the offer, with which `hand` has 15 tiles: what the best throws leave."""
    run_13_1 = seen.rules.run_13_1 != 0
    distance, keep_word, _ = analyse(hand.once, hand.twice, hand.wilds, run_13_1, after)
    out[_IN_FINISHES] = can_be_finished(hand, run_13_1)
    keep = as_int(keep_word)
    most = most_useful(keep, after, unseen)
    while keep:
        kind = int(KIND_OF_BIT[lowest_bit(keep)])
        keep &= keep - 1
        useful = as_int(after[kind])
        if tiles_of(useful, unseen) == most:
            _fill_after(without_tile(hand, kind), distance, useful, unseen, run_13_1, out)


TILES = Encoder("tiles", VERSION, PIECES, fill, fill_many_of(fill), high=4.0, num_planes=NUM_PLANES)
