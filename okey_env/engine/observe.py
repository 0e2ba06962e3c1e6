"""What one seat may know, cut out of a game: the only door between a game and whoever plays in it.

`observe` fills an OBSERVATION record, `observe_events` the order of past events. Nothing that depends on a
hidden tile is written: not another rack, not the order of the stock, not a tile drawn by somebody else.
Seats are counted from the observer: 0 itself, 1 its right-hand neighbour, 2 opposite, 3 its left.
"""

import numpy as np
import numpy.typing as npt

from okey_env.actions import DRAW, FINISH, SHOW, TAKE, THROW
from okey_env.engine._jit import kernel
from okey_env.engine.state import (
    EVENT_DRAW,
    EVENT_TAKE,
    EVENT_THROW,
    HIDDEN_TILE,
    NO_SEAT,
    NO_TILE,
    PHASE_THROW,
    WIDTH,
)
from okey_env.engine.turn import can_draw, can_show, can_take, kind_set
from okey_env.tiles import NUM_KINDS, NUM_SEATS

_NONE = np.uint64(0)
_KINDS_PER_SEAT = 64


@kernel
def observe(game: np.record, seat: int, seen: np.record) -> None:
    """Fill an OBSERVATION with all that `seat` may know; every field is written."""
    seen.phase = game.phase
    seen.turn = (game.turn - seat) % NUM_SEATS
    seen.starter = (game.starter - seat) % NUM_SEATS
    seen.indicator = game.indicator
    seen.okey = game.okey
    seen.stock_left = game.stock_left
    seen.throws = game.throws
    seen.offer = game.offer
    seen.has_thrown = ((game.has_thrown >> seat) | (game.has_thrown << (NUM_SEATS - seat))) & 15
    seen.shown_by = (game.shown_by - seat) % NUM_SEATS if game.shown_by != NO_SEAT else NO_SEAT
    seen.last_chance = game.last_chance
    seen.ending = game.ending
    seen.winner = (game.winner - seat) % NUM_SEATS if game.winner != NO_SEAT else NO_SEAT
    seen.seat = seat
    _observe_rules(game, seen)

    mine = game.turn == seat
    seen.can_draw = mine and can_draw(game)
    seen.can_take = mine and can_take(game)
    seen.can_show = mine and can_show(game)
    seen.once = game.once[seat]
    seen.twice = game.twice[seat]
    seen.finish_melds = game.finish_melds if mine else _NONE
    seen.finish_pairs = game.finish_pairs if mine else _NONE
    for i in range(WIDTH):
        seen.rack[i] = game.rack[seat, i]
    for step in range(NUM_SEATS):
        other = (seat + step) % NUM_SEATS
        seen.lost[step] = game.lost[other]
        seen.won[step] = game.won[other]
        seen.scores[step] = game.scores[other]
        if game.top_only == 0:
            seen.taken[step] = game.taken[other]
            for i in range(WIDTH):
                seen.heap[step, i] = game.heap[other, i]
                seen.known[step, i] = game.known[other, i]
        seen.last_throw[step] = NO_TILE
    if game.top_only == 0:
        _find_tops(game, seat, seen)
    else:
        _observe_tops_only(game, seat, seen)
    _count_unseen(game, seen)


@kernel
def _observe_rules(game: np.record, seen: np.record) -> None:
    seen.run_13_1 = game.run_13_1
    seen.combine_product = game.combine_product
    seen.false_joker_as_okey = game.false_joker_as_okey
    seen.indicator_points = game.indicator_points
    seen.show_before_draw = game.show_before_draw
    seen.next_may_take = game.next_may_take
    seen.max_throws = game.max_throws
    seen.color_double = game.color_double
    seen.void_points = game.void_points
    seen.top_only = game.top_only
    seen.teams = game.teams


@kernel
def _find_tops(game: np.record, seat: int, seen: np.record) -> None:
    """The tile on top of each heap: the last throw that was not taken. Read backwards from the log."""
    found = 0
    covered = 0  # bit per seat: its throw before this event of the log has been taken
    place = np.int64(game.num_events) - 1
    while place >= 0 and found != 15:
        entry = np.int64(game.log[place])
        kind = entry % _KINDS_PER_SEAT
        actor = (entry // _KINDS_PER_SEAT) % NUM_SEATS
        event = entry // (_KINDS_PER_SEAT * NUM_SEATS)
        if event == EVENT_TAKE:
            covered |= 1 << ((actor + NUM_SEATS - 1) % NUM_SEATS)
        elif event == EVENT_THROW and not (found >> actor) & 1:
            if (covered >> actor) & 1:
                covered ^= 1 << actor
            else:
                seen.last_throw[(actor - seat) % NUM_SEATS] = kind
                found |= 1 << actor
        place -= 1


@kernel
def _observe_tops_only(game: np.record, seat: int, seen: np.record) -> None:
    """`discard_visibility = top_only` (R3.4): of throws and takes only what lies on top, and a shown twin."""
    _find_tops(game, seat, seen)
    for step in range(NUM_SEATS):
        other = (seat + step) % NUM_SEATS
        seen.taken[step] = _NONE
        for i in range(WIDTH):
            seen.heap[step, i] = 0
            seen.known[step, i] = 0
        if seen.last_throw[step] != NO_TILE:
            seen.heap[step, seen.last_throw[step]] = 1
        if game.shown_by == other:
            seen.known[step, game.indicator] = game.known[other, game.indicator]  # R7.3


@kernel
def _count_unseen(game: np.record, seen: np.record) -> None:
    """What may still be in a hidden place: two of each kind, less the indicator and all that is seen."""
    for i in range(NUM_KINDS):
        seen.unseen[i] = (
            2
            - seen.rack[i]
            - seen.heap[0, i]
            - seen.heap[1, i]
            - seen.heap[2, i]
            - seen.heap[3, i]
            - seen.known[1, i]
            - seen.known[2, i]
            - seen.known[3, i]
        )
    seen.unseen[game.indicator] -= 1
    for i in range(NUM_KINDS, WIDTH):
        seen.unseen[i] = 0


@kernel
def observe_events(game: np.record, seat: int, events: npt.NDArray[np.uint16]) -> int:
    """Copy the round's events in order, with seats counted from `seat` and the others' draws hidden.

    Args:
        game: the round.
        seat: the observer.
        events: `(512,)` to fill; an entry is kind + 64 * (seat + 4 * event), kind 63 where it is hidden.

    Returns:
        How many were written; none if the rules show only the tops of the heaps.
    """
    if game.top_only != 0:
        return 0
    for place in range(game.num_events):
        entry = np.int64(game.log[place])
        kind = entry % _KINDS_PER_SEAT
        actor = (entry // _KINDS_PER_SEAT) % NUM_SEATS
        event = entry // (_KINDS_PER_SEAT * NUM_SEATS)
        if event == EVENT_DRAW and actor != seat:
            kind = HIDDEN_TILE
        events[place] = kind + _KINDS_PER_SEAT * ((actor - seat) % NUM_SEATS + NUM_SEATS * event)
    return np.int64(game.num_events)


@kernel
def observed_mask(seen: np.record, mask: npt.NDArray[np.int8]) -> None:
    """Fill `(109,)` int8 with 1 for each action that the observer may do now; all 0 if it is not its turn."""
    mask[:] = 0
    if seen.turn != 0:
        return
    mask[DRAW] = seen.can_draw
    mask[TAKE] = seen.can_take
    mask[SHOW] = seen.can_show
    if seen.phase != PHASE_THROW:
        return
    for kind in range(NUM_KINDS):
        mask[THROW + kind] = seen.rack[kind] != 0
    finishes = seen.finish_melds | seen.finish_pairs
    if finishes != _NONE:
        for kind in range(NUM_KINDS):
            mask[FINISH + kind] = (finishes & kind_set(kind)) != _NONE


@kernel
def look(game: np.record, seat: int, seen: np.record, mask: npt.NDArray[np.int8]) -> None:
    """`observe` and `observed_mask` in one call."""
    observe(game, seat, seen)
    observed_mask(seen, mask)
