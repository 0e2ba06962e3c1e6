"""Position: what the seat to move sees, as the few words and numbers in which the rule-based bots think.

There are two ways to one and the same position: from the OBSERVATION of the mover, and straight from a game, which
saves filling an observation when whole rounds are played inside one kernel. The second takes only what the first
has; a test holds them equal.

Sets of kinds are words as in `okey_env.engine.hand`, here as signed integers.
"""

from typing import Any, NamedTuple

import numpy as np

from okey_env.engine._jit import kernel
from okey_env.engine.hand import kind_set
from okey_env.engine.hand.bits import Hand, as_int
from okey_env.engine.random import derive_seed
from okey_env.engine.scoring import ScoringRules, scoring_rules
from okey_env.engine.state import NO_SEAT, NO_TILE
from okey_env.engine.turn import can_draw, can_show, can_take
from okey_env.engine.words import words
from okey_env.tiles import NUM_SEATS, WILD

_WORDS = 7
_ONE_OF_EACH = 0x0101010101010101
_TWO_OF_EACH = 0x0202020202020202
_TWO_OF_LAST = 0x0000000202020202  # kinds 48 … 52 and three places of padding
_COLOUR = (1 << 13) - 1
_ALL_KINDS = (1 << 53) - 1


class Position(NamedTuple):
    """What the seat to move sees; seats are counted from it. All are int64, but for the words of the own hand."""

    phase: int
    can_draw: bool
    can_take: bool
    can_show: bool
    offer: int  # kind, or NO_TILE
    seat: int
    throws: int
    stock_left: int
    indicator: int
    okey: int
    # rules
    rules: ScoringRules
    run_13_1: bool
    # the own hand
    once: np.uint64
    twice: np.uint64
    wilds: int
    finish_melds: int  # set of kinds
    finish_pairs: int
    # sets of kinds
    unseen: int  # one copy at least may be in a hidden rack place or in the stock
    unseen_twice: int  # both may
    refused: int  # thrown by the observer and left lying by the right-hand neighbour
    thrown_right: int  # by the right-hand neighbour, whoever took it since
    thrown_opposite: int
    thrown_left: int
    taken_right: int
    taken_opposite: int
    taken_left: int
    top_right: int  # the kind that lies on top of the right-hand neighbour's heap, as a set; empty if none does
    top_opposite: int
    top_left: int
    known_right: int  # lies in the right-hand neighbour's rack, as everyone has seen; empty if only tops are shown
    known_opposite: int
    known_left: int


@kernel
def own_hand(position: Position) -> Hand:
    """The rack of the mover as the solver reads it."""
    return Hand(position.once, position.twice, position.wilds)


# --- bytes by kind as words ---------------------------------------------------------------------------------------


@kernel
def packed(ones: int) -> int:
    """Eight bytes, each 0 or 1, as eight bits."""
    ones = (ones | ones >> 7) & 0x0003000300030003
    ones = (ones | ones >> 14) & 0x0000000F0000000F
    return (ones | ones >> 28) & 0xFF


@kernel
def spread(number_bits: int) -> int:
    """Thirteen bits, one for each number, four apart."""
    bits = (number_bits | number_bits << 24) & 0x0000001F000000FF
    bits = (bits | bits << 12) & 0x0001000F000F000F
    bits = (bits | bits << 6) & 0x0001030303030303
    return (bits | bits << 3) & 0x0001111111111111


@kernel
def by_number(kinds: int) -> int:
    """A set in the order of the kinds (bit k for kind k) in the order of the hand words."""
    faces = spread(kinds & _COLOUR)
    faces |= spread(kinds >> 13 & _COLOUR) << 1
    faces |= spread(kinds >> 26 & _COLOUR) << 2
    faces |= spread(kinds >> 39 & _COLOUR) << 3
    return faces | (kinds >> WILD & 1) << WILD


@kernel
def set_of_counts(counts: Any) -> int:
    """The set of kinds of which `counts [56]` uint8 has a tile."""
    kinds = 0
    eights = words(counts)
    for word in range(_WORDS):
        held = as_int(eights[word])
        kinds |= packed((held | held >> 1) & _ONE_OF_EACH) << 8 * word
    return by_number(kinds)


@kernel
def twice_of_counts(counts: Any) -> int:
    """The set of kinds of which `counts [56]` uint8 has two tiles."""
    kinds = 0
    eights = words(counts)
    for word in range(_WORDS):
        kinds |= packed(as_int(eights[word]) >> 1 & _ONE_OF_EACH) << 8 * word
    return by_number(kinds)


# --- from an observation ------------------------------------------------------------------------------------------


@kernel
def position_of(seen: np.record) -> Position:
    """The position of an OBSERVATION with the observer to move."""
    taken_opposite, taken_left = as_int(seen.taken[2]), as_int(seen.taken[3])
    known_right, known_opposite, known_left = 0, 0, 0
    if seen.rules.top_only == 0:
        known_right, known_opposite = set_of_counts(seen.known[1]), set_of_counts(seen.known[2])
        known_left = set_of_counts(seen.known[3])
    return Position(
        phase=as_int(seen.phase),
        can_draw=seen.can_draw != 0,
        can_take=seen.can_take != 0,
        can_show=seen.can_show != 0,
        offer=as_int(seen.offer),
        seat=as_int(seen.seat),
        throws=as_int(seen.throws),
        stock_left=as_int(seen.stock_left),
        indicator=as_int(seen.indicator),
        okey=as_int(seen.okey),
        rules=scoring_rules(seen.rules),
        run_13_1=seen.rules.run_13_1 != 0,
        once=np.uint64(seen.once),
        twice=np.uint64(seen.twice),
        wilds=as_int(seen.rack[WILD]),
        finish_melds=as_int(seen.finish_melds),
        finish_pairs=as_int(seen.finish_pairs),
        unseen=set_of_counts(seen.unseen),
        unseen_twice=twice_of_counts(seen.unseen),
        refused=set_of_counts(seen.heap[0]),
        thrown_right=set_of_counts(seen.heap[1]) | taken_opposite,
        thrown_opposite=set_of_counts(seen.heap[2]) | taken_left,
        thrown_left=set_of_counts(seen.heap[3]) | as_int(seen.taken[0]),
        taken_right=as_int(seen.taken[1]),
        taken_opposite=taken_opposite,
        taken_left=taken_left,
        top_right=set_of_kind(seen.last_throw[1]),
        top_opposite=set_of_kind(seen.last_throw[2]),
        top_left=set_of_kind(seen.last_throw[3]),
        known_right=known_right,
        known_opposite=known_opposite,
        known_left=known_left,
    )


@kernel
def set_of_kind(kind: int) -> int:
    """The set of one kind, empty for NO_TILE."""
    return as_int(kind_set(kind)) if kind != NO_TILE else 0


# --- from a game --------------------------------------------------------------------------------------------------


@kernel
def position_in(game: np.record) -> Position:
    """The position of the seat to move in a game; nothing that this seat cannot see goes into it."""
    seat = as_int(game.turn)
    right, opposite, left = (seat + 1) % NUM_SEATS, (seat + 2) % NUM_SEATS, (seat + 3) % NUM_SEATS
    if game.rules.top_only == 0:
        unseen, unseen_twice = unseen_of_history(game, seat)
        refused = set_of_counts(game.heap[seat])
        taken_right, taken_opposite = as_int(game.taken[right]), as_int(game.taken[opposite])
        taken_left = as_int(game.taken[left])
        thrown_right = set_of_counts(game.heap[right]) | taken_opposite
        thrown_opposite = set_of_counts(game.heap[opposite]) | taken_left
        thrown_left = set_of_counts(game.heap[left]) | as_int(game.taken[seat])
        known_right, known_opposite = set_of_counts(game.known[right]), set_of_counts(game.known[opposite])
        known_left = set_of_counts(game.known[left])
    else:
        unseen, unseen_twice = unseen_of_tops(game, seat)
        refused, thrown_right = top_of(game, seat), top_of(game, right)
        thrown_opposite, thrown_left = top_of(game, opposite), top_of(game, left)
        taken_right, taken_opposite, taken_left = 0, 0, 0
        known_right, known_opposite, known_left = 0, 0, 0
    return Position(
        phase=as_int(game.phase),
        can_draw=can_draw(game),
        can_take=can_take(game),
        can_show=can_show(game),
        offer=as_int(game.offer),
        seat=seat,
        throws=as_int(game.throws),
        stock_left=as_int(game.stock_left),
        indicator=as_int(game.indicator),
        okey=as_int(game.okey),
        rules=scoring_rules(game.rules),
        run_13_1=game.rules.run_13_1 != 0,
        once=np.uint64(game.once[seat]),
        twice=np.uint64(game.twice[seat]),
        wilds=as_int(game.rack[seat, WILD]),
        finish_melds=as_int(game.finish_melds),
        finish_pairs=as_int(game.finish_pairs),
        unseen=unseen,
        unseen_twice=unseen_twice,
        refused=refused,
        thrown_right=thrown_right,
        thrown_opposite=thrown_opposite,
        thrown_left=thrown_left,
        taken_right=taken_right,
        taken_opposite=taken_opposite,
        taken_left=taken_left,
        top_right=top_of(game, right),
        top_opposite=top_of(game, opposite),
        top_left=top_of(game, left),
        known_right=known_right,
        known_opposite=known_opposite,
        known_left=known_left,
    )


@kernel
def unseen_of_history(game: np.record, seat: int) -> tuple[int, int]:
    """The sets of kinds of which one copy, and of which both, are hidden from `seat` (R3.4)."""
    right, opposite, left = (seat + 1) % NUM_SEATS, (seat + 2) % NUM_SEATS, (seat + 3) % NUM_SEATS
    racks, heaps, known = words(game.rack), words(game.heap), words(game.known)
    indicator = as_int(game.indicator)
    once, twice = 0, 0
    for word in range(_WORDS):
        seen = heaps[0, word] + heaps[1, word] + heaps[2, word] + heaps[3, word] + racks[seat, word]
        seen += known[right, word] + known[opposite, word] + known[left, word]
        hidden = (_TWO_OF_EACH if word < _WORDS - 1 else _TWO_OF_LAST) - as_int(seen)
        if indicator >> 3 == word:
            hidden -= 1 << 8 * (indicator & 7)
        once |= packed((hidden | hidden >> 1) & _ONE_OF_EACH) << 8 * word
        twice |= packed(hidden >> 1 & _ONE_OF_EACH) << 8 * word
    return by_number(once), by_number(twice)


@kernel
def unseen_of_tops(game: np.record, seat: int) -> tuple[int, int]:
    """The same when only the tops of the heaps are shown: own rack, tops, indicator and a shown twin are seen."""
    once, twice = _ALL_KINDS, _ALL_KINDS
    for kind in range(WILD + 1):
        seen = as_int(game.rack[seat, kind])
        for other in range(NUM_SEATS):
            height = as_int(game.pile_height[other])
            if height > 0 and as_int(game.pile[other, height - 1]) == kind:
                seen += 1
        if kind == as_int(game.indicator):
            seen += 1
            shower = as_int(game.shown_by)
            if shower != NO_SEAT and shower != seat and game.known[shower, kind] != 0:
                seen += 1
        bit = as_int(kind_set(kind))
        if seen >= 1:
            twice &= ~bit
        if seen >= 2:
            once &= ~bit
    return once, twice


@kernel
def top_of(game: np.record, seat: int) -> int:
    """The set of the one kind on top of a heap; empty if nothing lies there."""
    height = as_int(game.pile_height[seat])
    return as_int(kind_set(game.pile[seat, height - 1])) if height > 0 else 0


# --- chance -------------------------------------------------------------------------------------------------------


@kernel
def seed_of_position(position: Position, seed: np.uint64) -> np.uint64:
    """`bots.base.move_seed` of the observation from which the position comes."""
    word = derive_seed(seed, position.once)
    word = derive_seed(word, position.twice)
    place = position.wilds + 4 * position.throws
    place = place * 64 + position.stock_left
    place = place * 256 + position.offer
    place = place * 64 + position.indicator
    place = place * 16 + position.phase * 4 + position.seat
    return derive_seed(word, np.uint64(place))
