"""Position: what the seat to move sees, as the few words and numbers that the rules and networks read.

A position is made from the OBSERVATION of the mover (`position_of`), or directly from a game (`position_in`). The
second way saves the observation when whole rounds are played inside one kernel. It takes only what the observation
holds; a test checks that both positions are equal.

Sets of kinds are words as in `okey_env.engine.hand`, here as signed integers.
"""

from typing import Any, NamedTuple

import numpy as np

from okey_env.engine._jit import kernel
from okey_env.engine.hand import Hand, kind_set
from okey_env.engine.hand.bits import as_int
from okey_env.engine.random import derive_seed
from okey_env.engine.scoring import ScoringRules, scoring_rules
from okey_env.engine.state import NO_SEAT, NO_TILE
from okey_env.engine.turn import can_draw, can_show, can_take
from okey_env.engine.words import words
from okey_env.tiles import NUM_SEATS, WILD

_WORDS = 7
_ONE_OF_EACH = 0x0101010101010101
_TWO_OF_EACH = 0x0202020202020202
_TWO_OF_LAST = 0x0000000202020202  # kinds 48 … 52 and three bytes of padding
_COLOUR = (1 << 13) - 1
_ALL_KINDS = (1 << 53) - 1


class Position(NamedTuple):
    """What the seat to move sees; the other seats are counted from it.

    All numbers are int64, except the two words of the mover's hand. Sets of kinds are words.
    """

    phase: int
    """`PHASE_DRAW` or `PHASE_THROW`."""
    can_draw: bool
    can_take: bool
    can_show: bool
    offer: int
    """The kind that may be taken, or NO_TILE."""
    seat: int
    """The mover."""
    throws: int
    """Throws of all seats so far."""
    stock_left: int
    """Tiles in the stock."""
    indicator: int
    """A kind."""
    okey: int
    """The kind of the okey's face, which only false jokers have."""
    rules: ScoringRules
    """What a finish pays."""
    run_13_1: bool
    """Whether a 1 may follow a 13 (R4.1)."""
    once: np.uint64
    """Of the mover's `Hand`, as the next two."""
    twice: np.uint64
    wilds: int
    finish_melds: int
    """The kinds that finish by melds."""
    finish_pairs: int
    """The kinds that finish by pairs."""
    unseen: int
    """The kinds of which a tile may be in a rack, where the mover does not see it, or in the stock."""
    unseen_twice: int
    """The kinds of which both tiles may be there."""
    refused: int
    """The kinds that the mover threw and the right-hand neighbour left lying."""
    thrown_right: int
    """The kinds that the right-hand neighbour threw, whoever has taken them since."""
    thrown_opposite: int
    thrown_left: int
    taken_right: int
    """The kinds that the right-hand neighbour took."""
    taken_opposite: int
    taken_left: int
    top_right: int
    """The kind on top of the right-hand neighbour's heap, as a set; empty if there is none."""
    top_opposite: int
    top_left: int
    known_right: int
    """The kinds that all know to be in the right-hand neighbour's rack; empty if the rules show only tops."""
    known_opposite: int
    known_left: int


@kernel
def own_hand(position: Position) -> Hand:
    """The hand of the mover, as the solver reads it."""
    return Hand(once=position.once, twice=position.twice, wilds=position.wilds)


# --- bytes by kind as words ---------------------------------------------------------------------------------------


@kernel
def packed(ones: int) -> int:
    """The eight bits of eight bytes that are each 0 or 1."""
    ones = (ones | ones >> 7) & 0x0003000300030003
    ones = (ones | ones >> 14) & 0x0000000F0000000F
    return (ones | ones >> 28) & 0xFF


@kernel
def spread(number_bits: int) -> int:
    """Thirteen bits, one for each number, moved four apart."""
    bits = (number_bits | number_bits << 24) & 0x0000001F000000FF
    bits = (bits | bits << 12) & 0x0001000F000F000F
    bits = (bits | bits << 6) & 0x0001030303030303
    return (bits | bits << 3) & 0x0001111111111111


@kernel
def by_number(kinds: int) -> int:
    """A set of kinds in the order of hand words, from a set in which bit k is kind k."""
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
    """The position of the observer of an OBSERVATION, who is to move."""
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
    """The set of one kind; empty for NO_TILE."""
    return as_int(kind_set(kind)) if kind != NO_TILE else 0


# --- from a game --------------------------------------------------------------------------------------------------


@kernel
def position_in(game: np.record) -> Position:
    """The position of the seat to move in a GAME; it holds nothing that this seat cannot see."""
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
    """The same sets where the rules show only the tops of heaps.

    Then `seat` sees its own rack, the tops, the indicator, and a twin that was shown and is still in a rack.
    """
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
    """The set of the kind on top of a seat's heap; empty if the heap is."""
    height = as_int(game.pile_height[seat])
    return as_int(kind_set(game.pile[seat, height - 1])) if height > 0 else 0


# --- chance -------------------------------------------------------------------------------------------------------


@kernel
def seed_of_position(position: Position, seed: np.uint64) -> np.uint64:
    """The state of a random stream for one move: `bots.base.move_seed` of the observation that gives this position."""
    return mix_seed(position, position.wilds, seed)


@kernel
def mix_seed(seen: Any, wilds: int, seed: np.uint64) -> np.uint64:
    """The state of a random stream, settled by a seed and by what the mover sees.

    Args:
        seen: an OBSERVATION or a `Position`.
        wilds: wild tiles of the mover.
        seed: of the bot.
    """
    word = derive_seed(derive_seed(seed, seen.once), seen.twice)
    number = as_int(wilds) + 4 * as_int(seen.throws)
    number = number * 64 + as_int(seen.stock_left)
    number = number * 256 + as_int(seen.offer)
    number = number * 64 + as_int(seen.indicator)
    number = number * 16 + as_int(seen.phase) * 4 + as_int(seen.seat)
    return derive_seed(word, np.uint64(number))
