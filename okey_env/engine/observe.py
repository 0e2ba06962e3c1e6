"""What one seat may know of a game. Players get all their information through this module.

`observe` fills an OBSERVATION record, `observe_events` the past events in order. Nothing that depends on a hidden tile
is written: no rack of another seat, no order of the stock, no tile that another seat drew. Seats are counted from
the observer: 0 itself, 1 its right-hand neighbour, 2 opposite, 3 its left.
"""

import numpy as np
import numpy.typing as npt

from okey_env.actions import DRAW, FINISH, NUM_ACTIONS, SHOW, TAKE, THROW
from okey_env.engine._jit import kernel, linked
from okey_env.engine.events import EVENT_DRAW, HIDDEN_TILE, pack_event, unpack_event
from okey_env.engine.hand import kind_set
from okey_env.engine.state import GAME, NO_SEAT, NO_TILE, OBSERVATION, PHASE_THROW, WIDTH
from okey_env.engine.turn import can_draw, can_show, can_take
from okey_env.engine.words import put_word, words
from okey_env.tiles import NUM_KINDS, NUM_SEATS

_NONE = np.uint64(0)
_WORDS = WIDTH // 8
_U1 = np.uint64(1)
_ONE_OF_EACH = np.uint64(0x0101010101010101)
_TWO_OF_EACH = np.uint64(0x0202020202020202)
_TWO_OF_LAST = np.uint64(0x0000000202020202)  # kinds 48 … 52 and three bytes of padding


@kernel(borrows=True)
def _observe_history(game: np.record, seat: int, seen: np.record) -> None:
    """Write the own rack and all throws and takes (R3.4), eight kinds at a time: no byte of `unseen` falls below 0."""
    right, opposite, left = (seat + 1) & 3, (seat + 2) & 3, (seat + 3) & 3
    racks, heaps, known = words(game.rack), words(game.heap), words(game.known)
    rack, unseen, seen_heaps, seen_known = words(seen.rack), words(seen.unseen), words(seen.heap), words(seen.known)
    for word in range(_WORDS):
        own, own_heap = racks[seat, word], heaps[seat, word]
        heap_1, heap_2, heap_3 = heaps[right, word], heaps[opposite, word], heaps[left, word]
        known_1, known_2, known_3 = known[right, word], known[opposite, word], known[left, word]
        rack[word] = own
        seen_heaps[0, word] = own_heap
        seen_heaps[1, word] = heap_1
        seen_heaps[2, word] = heap_2
        seen_heaps[3, word] = heap_3
        seen_known[0, word] = known[seat, word]
        seen_known[1, word] = known_1
        seen_known[2, word] = known_2
        seen_known[3, word] = known_3
        all_of = _TWO_OF_EACH if word < _WORDS - 1 else _TWO_OF_LAST
        unseen[word] = all_of - own - own_heap - heap_1 - heap_2 - heap_3 - known_1 - known_2 - known_3
    for step in range(NUM_SEATS):
        seen.taken[step] = game.taken[(seat + step) & 3]


@kernel(borrows=True)
def _observe_tops_only(game: np.record, seat: int, seen: np.record) -> None:
    """Write what is visible under `throw_visibility = top_only` (R3.4): the top of each heap, and a shown twin."""
    for kind in range(WIDTH):
        seen.rack[kind] = game.rack[seat, kind]
        seen.unseen[kind] = 2 - game.rack[seat, kind] if kind < NUM_KINDS else 0
    seen.heap[:] = 0
    seen.known[:] = 0
    for step in range(NUM_SEATS):
        seen.taken[step] = _NONE
        top = seen.last_throw[step]
        if top != NO_TILE:
            seen.heap[step, top] = 1
            seen.unseen[top] -= 1
        if game.shown_by == (seat + step) & 3 and game.known[game.shown_by, game.indicator] != 0:
            seen.known[step, game.indicator] = 1  # R7.3
            if step > 0:
                seen.unseen[game.indicator] -= 1


@linked("void", GAME, "int64", OBSERVATION)
def observe(game: np.record, seat: int, seen: np.record) -> None:
    """Fill every field of an OBSERVATION with what `seat` may know."""
    seen.rules = game.rules
    seen.phase = game.phase
    seen.turn = (game.turn - seat) & 3
    seen.starter = (game.starter - seat) & 3
    seen.indicator = game.indicator
    seen.okey = game.okey
    seen.stock_left = game.stock_left
    seen.throws = game.throws
    seen.offer = game.offer
    seen.has_thrown = ((game.has_thrown >> seat) | (game.has_thrown << (NUM_SEATS - seat))) & 15
    seen.shown_by = (game.shown_by - seat) & 3 if game.shown_by != NO_SEAT else NO_SEAT
    seen.last_chance = game.last_chance
    seen.set_aside = game.set_aside
    seen.ending = game.ending
    seen.winner = (game.winner - seat) & 3 if game.winner != NO_SEAT else NO_SEAT
    seen.seat = seat
    mine = game.turn == seat
    seen.can_draw = mine and can_draw(game)
    seen.can_take = mine and can_take(game)
    seen.can_show = mine and can_show(game)
    seen.once = game.once[seat]
    seen.twice = game.twice[seat]
    seen.finish_melds = game.finish_melds if mine else _NONE
    seen.finish_pairs = game.finish_pairs if mine else _NONE
    for step in range(NUM_SEATS):
        other = (seat + step) & 3
        seen.lost[step] = game.lost[other]
        seen.won[step] = game.won[other]
        seen.scores[step] = game.scores[other]
        height = game.pile_height[other]
        seen.last_throw[step] = game.pile[other, height - 1] if height > 0 else NO_TILE
    if game.rules.top_only == 0:
        _observe_history(game, seat, seen)
    else:
        _observe_tops_only(game, seat, seen)
    seen.unseen[game.indicator] -= 1


@kernel
def observe_events(game: np.record, seat: int, events: npt.NDArray[np.uint16]) -> int:
    """Copy the events of a round in order; seats are counted from `seat`, and the draws of other seats are hidden.

    Args:
        game: the round.
        seat: the observer.
        events: `(512,)` to fill; entries of `pack_event`, with `HIDDEN_TILE` where the kind is hidden.

    Returns:
        The number of events written; 0 if the rules show only the tops of the heaps.
    """
    if game.rules.top_only != 0:
        return 0
    for i in range(game.num_events):
        event, actor, kind = unpack_event(game.log[i])
        if event == EVENT_DRAW and actor != seat:
            kind = HIDDEN_TILE
        events[i] = pack_event(event, (actor - seat) % NUM_SEATS, kind)
    return int(game.num_events)


@kernel(borrows=True)
def observed_mask(seen: np.record, mask: npt.NDArray[np.int8]) -> None:
    """Fill `(109,)` int8 with 1 for each action that the observer may do now; all 0 if it is not its turn."""
    mine = seen.turn == 0
    throws = mine and seen.phase == PHASE_THROW
    rack = words(seen.rack)
    for word in range(_WORDS):
        held = (rack[word] | rack[word] >> _U1) & _ONE_OF_EACH if throws else _NONE  # counts are 0, 1 or 2
        put_word(mask, THROW + 8 * word, held)
    for word in range(_WORDS - 1):  # from the three bytes of padding on
        put_word(mask, THROW + 8 * (_WORDS + word), _NONE)
    for action in range(THROW + 8 * (2 * _WORDS - 1), NUM_ACTIONS):
        mask[action] = 0
    mask[DRAW] = seen.can_draw
    mask[TAKE] = seen.can_take
    mask[SHOW] = seen.can_show
    finishes = seen.finish_melds | seen.finish_pairs
    if mine and finishes != _NONE:
        for kind in range(NUM_KINDS):
            mask[FINISH + kind] = (finishes & kind_set(kind)) != _NONE


@kernel(borrows=True)
def look(game: np.record, seat: int, seen: np.record, mask: npt.NDArray[np.int8]) -> None:
    """`observe` and `observed_mask` in one call."""
    observe(game, seat, seen)
    observed_mask(seen, mask)
