"""Points (RULES R6): what a finish, a shown indicator and a void round cost, and whom."""

import numpy as np

from okey_env.engine._jit import kernel, linked
from okey_env.engine.state import GAME
from okey_env.tiles import NUM_NUMBERS, NUM_SEATS, WILD

_ORDINARY = 2
"""R6.1; the okey doubles it (R6.2), and so do seven pairs (R6.4)."""
_BLACK = 2


@kernel
def counts_as_okey(game: np.record, kind: int) -> bool:
    """Whether finishing with this tile is finishing with the okey (R6.2, R6.3).

    Of the okey's face, as tiles play, there are only the two false jokers.
    """
    return kind == WILD or (game.false_joker_as_okey != 0 and kind == game.okey)


@kernel
def finish_points(game: np.record, kind: int, by_pairs: bool) -> int:
    """Points that each loser loses on a finish (R6.1-R6.5, R6.9)."""
    points = _ORDINARY
    by_okey = counts_as_okey(game, kind)
    if by_okey:
        points *= 2
    if by_pairs and not (by_okey and game.combine_product == 0):
        points *= 2
    colour = game.indicator // NUM_NUMBERS
    if game.color_double != 0 and (colour == 0 or colour == _BLACK):
        points *= 2
    return points


@linked("void", GAME, "int64", "int64")
def pay(game: np.record, seat: int, points: int) -> None:
    """Everyone against `seat` loses `points`, and it wins them; with teams the partner shares (R8.4)."""
    for step in range(1, NUM_SEATS):
        other = (seat + step) % NUM_SEATS
        if game.teams != 0 and step == 2:
            game.won[other] += points
        else:
            game.lost[other] += points
            if game.teams == 0:
                game.won[seat] += points
    if game.teams != 0:
        game.won[seat] += points


@kernel
def pay_void(game: np.record) -> None:
    """A void round costs everyone the same, in both presets nothing (R5.5, R6.9)."""
    for seat in range(NUM_SEATS):
        game.lost[seat] += game.void_points
