"""The turn (RULES R3, R5, R7): the legal actions of the seat to move, and their effects.

`apply` does one action, which must be legal. `is_legal` and `action_mask` say which actions are legal; both agree with
`apply` in every state.
"""

import numpy as np
import numpy.typing as npt

from okey_env.actions import DRAW, FINISH, NUM_ACTIONS, SHOW, TAKE, THROW
from okey_env.engine._jit import kernel, linked
from okey_env.engine.events import EVENT_DRAW, EVENT_FINISH, EVENT_SHOW, EVENT_TAKE, EVENT_THROW, pack_event
from okey_env.engine.hand import Hand, finishing_melds, finishing_pairs, kind_set, with_tile, without_tile
from okey_env.engine.hand.bits import as_int
from okey_env.engine.scoring import counts_as_okey, finish_points, pay, pay_void
from okey_env.engine.state import (
    ENDED_BY_FINISH,
    ENDED_TRUNCATED,
    ENDED_VOID,
    GAME,
    NO_SEAT,
    NO_TILE,
    PHASE_DRAW,
    PHASE_OVER,
    PHASE_THROW,
)
from okey_env.tiles import NUM_KINDS, NUM_SEATS, NUM_STOCK, WILD

_NONE = np.uint64(0)
_LEFT = NUM_SEATS - 1  # steps to the left neighbour, going right


# --- tiles in and out of a rack -------------------------------------------------------------------------
# Seats and kinds are passed through `as_int`: numba would compile these functions again for the bytes of a game.


@kernel
def hand_of(game: np.record, seat: int) -> Hand:
    """The rack of a seat as the solver reads it."""
    return Hand(game.once[seat], game.twice[seat], as_int(game.rack[seat, WILD]))


@kernel
def _hold(game: np.record, seat: int, hand: Hand) -> None:
    """Write the words of a rack; the caller updates the counts."""
    game.once[seat] = hand.once
    game.twice[seat] = hand.twice


@kernel
def add_tile(game: np.record, seat: int, kind: int) -> None:
    """Put a tile into a rack."""
    game.rack[seat, kind] += 1
    _hold(game, seat, with_tile(hand_of(game, seat), kind))


@kernel
def remove_tile(game: np.record, seat: int, kind: int) -> None:
    """Take a tile out of a rack that holds it; a copy that everyone knows of goes first."""
    game.rack[seat, kind] -= 1
    if game.known[seat, kind] > 0:
        game.known[seat, kind] -= 1
    _hold(game, seat, without_tile(hand_of(game, seat), kind))


@linked("void", GAME, "int64", "int64")
def _log(game: np.record, event: int, kind: int) -> None:
    """Append an event of the seat to move."""
    game.log[game.num_events] = pack_event(event, game.turn, kind)
    game.num_events += 1


@kernel
def find_finishes(game: np.record) -> None:
    """Write the kinds with which the seat to move, which holds 15 tiles, may finish (R5.1)."""
    hand = hand_of(game, as_int(game.turn))
    game.finish_melds = finishing_melds(hand.once, hand.twice, hand.wilds, game.rules.run_13_1 != 0)
    game.finish_pairs = finishing_pairs(hand.once, hand.twice, hand.wilds)


@kernel
def can_be_finished(hand: Hand, run_13_1: bool) -> bool:
    """Whether a hand of 15 tiles can finish, by melds or by pairs (R5.1)."""
    melds = finishing_melds(hand.once, hand.twice, hand.wilds, run_13_1)
    return (melds | finishing_pairs(hand.once, hand.twice, hand.wilds)) != _NONE


# --- what is legal --------------------------------------------------------------------------------------


@kernel
def can_draw(game: np.record) -> bool:
    """R3.2: whether a tile is left in the stock and the seat to move has 14 tiles."""
    return game.phase == PHASE_DRAW and game.stock_left > 0


@kernel
def can_take(game: np.record) -> bool:
    """R3.2: whether the left neighbour has just thrown and the seat to move has 14 tiles."""
    return game.phase == PHASE_DRAW and game.offer != NO_TILE


@kernel
def can_show(game: np.record) -> bool:
    """R7.1: whether the seat to move holds the indicator's twin and has not thrown, and nobody has shown it yet."""
    seat = game.turn
    if game.rules.indicator_points == 0 or game.phase == PHASE_OVER or game.shown_by != NO_SEAT:
        return False
    if (game.has_thrown >> seat) & 1 or game.rack[seat, game.indicator] == 0:
        return False
    # with `before_draw` the seat must not have drawn yet; the starter does not draw in its first turn
    return game.rules.show_before_draw == 0 or game.phase == PHASE_DRAW or seat == game.starter


@kernel
def can_finish(game: np.record, kind: int) -> bool:
    """R5.1: whether the other 14 tiles are all melds or seven pairs if this kind is laid on the stock."""
    return game.phase == PHASE_THROW and ((game.finish_melds | game.finish_pairs) & kind_set(kind)) != _NONE


@kernel
def is_legal(game: np.record, action: int) -> bool:
    """Whether the seat to move may do an action; `action` may be any number."""
    if action < 0 or action >= NUM_ACTIONS:
        return False
    if action == DRAW:
        return can_draw(game)
    if action == TAKE:
        return can_take(game)
    if action == SHOW:
        return can_show(game)
    if action < FINISH:
        return game.phase == PHASE_THROW and game.rack[game.turn, action - THROW] > 0
    return can_finish(game, action - FINISH)  # R5.3: a wrong claim is not legal


@kernel
def action_mask(game: np.record, mask: npt.NDArray[np.int8]) -> None:
    """Fill `(109,)` int8 with 1 for each action that the seat to move may do; all 0 once the round is over."""
    mask[:] = 0
    mask[DRAW] = can_draw(game)
    mask[TAKE] = can_take(game)
    mask[SHOW] = can_show(game)
    if game.phase != PHASE_THROW:
        return
    seat = game.turn
    for kind in range(NUM_KINDS):
        mask[THROW + kind] = game.rack[seat, kind] != 0  # R3.3: any tile may be thrown
    finishes = game.finish_melds | game.finish_pairs  # R5.2: the player chooses among these tiles, or throws
    if finishes != _NONE:
        for kind in range(NUM_KINDS):
            mask[FINISH + kind] = (finishes & kind_set(kind)) != _NONE


# --- the five actions -----------------------------------------------------------------------------------


@kernel
def draw(game: np.record) -> None:
    """R3.2: draw the top of the stock."""
    kind = game.stock[_next_of_stock(game)]
    game.stock_left -= 1
    add_tile(game, as_int(game.turn), as_int(kind))
    _log(game, EVENT_DRAW, kind)
    _begin_throw(game)


@kernel
def take(game: np.record) -> None:
    """R3.2: take the tile that the left neighbour has just thrown. Everyone sees which tile it is."""
    kind = game.offer
    left = (game.turn + _LEFT) % NUM_SEATS
    game.heap[left, kind] -= 1
    game.pile_height[left] -= 1
    game.known[game.turn, kind] += 1
    game.taken[game.turn] |= kind_set(kind)
    add_tile(game, as_int(game.turn), as_int(kind))
    _log(game, EVENT_TAKE, kind)
    _begin_throw(game)


@kernel
def show(game: np.record) -> None:
    """R7: show the indicator's twin; it stays in the rack (R7.2), and the others pay at once (R6.6)."""
    game.shown_by = game.turn
    game.known[game.turn, game.indicator] = 1  # the only copy in play
    pay(game, game.turn, game.rules.indicator_points)
    _log(game, EVENT_SHOW, game.indicator)


@kernel
def throw(game: np.record, kind: int) -> None:
    """R3.2: throw a tile to the right. The throw ends the turn and sometimes the round (R5.4, R5.6)."""
    seat = game.turn
    remove_tile(game, as_int(seat), kind)
    game.heap[seat, kind] += 1
    game.pile[seat, game.pile_height[seat]] = kind
    game.pile_height[seat] += 1
    game.has_thrown |= 1 << seat
    game.throws += 1
    game.finish_melds = _NONE
    game.finish_pairs = _NONE
    _log(game, EVENT_THROW, kind)
    if game.stock_left == 0 and not _may_still_take(game, kind):
        _end_void(game, ENDED_VOID)
    elif game.throws >= game.rules.max_throws:
        _end_void(game, ENDED_TRUNCATED)
    else:
        game.last_chance = game.stock_left == 0
        game.turn = (seat + 1) % NUM_SEATS  # R2.3: play goes to the right
        game.phase = PHASE_DRAW
        game.offer = kind


@kernel
def finish(game: np.record, kind: int) -> None:
    """R5.1: lay a tile on the stock and win; if melds and pairs both finish, the better score counts (R6.7)."""
    bit = kind_set(kind)
    by_melds = (game.finish_melds & bit) != _NONE
    by_pairs = (game.finish_pairs & bit) != _NONE
    if by_melds and by_pairs:
        by_pairs = finish_points(game, kind, by_pairs) > finish_points(game, kind, not by_melds)
    remove_tile(game, as_int(game.turn), kind)
    game.phase = PHASE_OVER
    game.ending = ENDED_BY_FINISH
    game.winner = game.turn
    game.finish_kind = kind
    game.by_pairs = by_pairs
    game.by_okey = counts_as_okey(game, kind)
    game.finish_melds = _NONE
    game.finish_pairs = _NONE
    _log(game, EVENT_FINISH, kind)
    pay(game, game.turn, finish_points(game, kind, by_pairs))


# --- helpers --------------------------------------------------------------------------------------------


@kernel
def _begin_throw(game: np.record) -> None:
    """Begin the phase in which the seat to move has 15 tiles."""
    game.phase = PHASE_THROW
    game.offer = NO_TILE
    find_finishes(game)


@kernel
def _may_still_take(game: np.record, kind: int) -> bool:
    """R5.4, `next_may_take`: whether the next seat may take the tile just thrown and finish; the stock is empty."""
    if game.rules.next_may_take == 0 or game.last_chance != 0:
        return False
    hand = with_tile(hand_of(game, as_int(game.turn + 1) % NUM_SEATS), kind)
    return can_be_finished(hand, game.rules.run_13_1 != 0)


@kernel
def _end_void(game: np.record, ending: int) -> None:
    """R5.5: end the round as void; `ending` is ENDED_VOID or ENDED_TRUNCATED."""
    game.phase = PHASE_OVER
    game.ending = ending
    pay_void(game)


@kernel
def _next_of_stock(game: np.record) -> int:
    """The index in `stock` of the tile that the seat to move draws.

    With draw queues each seat draws from its own quarter of the stock. When that is used up, the seat draws from the
    back of the fullest other queue; of several, from the nearest on the right.
    """
    if game.draw_queues == 0:
        return NUM_STOCK - game.stock_left
    seat = int(game.turn)
    if game.queue_next[seat] < game.queue_end[seat]:
        game.queue_next[seat] += 1
        return int(game.queue_next[seat]) - 1
    fullest, most = seat, 0
    for step in range(1, NUM_SEATS):
        other = (seat + step) % NUM_SEATS
        left = int(game.queue_end[other]) - int(game.queue_next[other])
        if left > most:
            fullest, most = other, left
    game.queue_end[fullest] -= 1
    return int(game.queue_end[fullest])


# --- any action ----------------------------------------------------------------------------------------


@linked("void", GAME, "int64")
def apply(game: np.record, action: int) -> None:
    """Do a legal action of the seat to move."""
    if action == DRAW:
        draw(game)
    elif action == TAKE:
        take(game)
    elif action == SHOW:
        show(game)
    elif action < FINISH:
        throw(game, action - THROW)
    else:
        finish(game, action - FINISH)
