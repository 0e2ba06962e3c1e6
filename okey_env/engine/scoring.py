"""Points (RULES R6): what a finish, a shown indicator and a void round cost, and who pays."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel, linked
from okey_env.engine.hand.bits import Word, as_int, kind_set
from okey_env.engine.state import GAME
from okey_env.tiles import NUM_FACES, NUM_KINDS, NUM_NUMBERS, NUM_SEATS, WILD

_ORDINARY = 2
"""The cost of an ordinary finish (R6.1); the okey doubles it (R6.2), and seven pairs double it (R6.4)."""
_RED = 0
_BLACK = 2


class ScoringRules(NamedTuple):
    """The switches that determine the points of a finish, each 0 or 1; for code that has no game record."""

    combine_product: int
    false_joker_as_okey: int
    colour_double: int


@kernel
def scoring_rules(rules: np.record) -> ScoringRules:
    """The scoring switches of a RULES record."""
    return ScoringRules(
        combine_product=int(rules.combine_product),
        false_joker_as_okey=int(rules.false_joker_as_okey),
        colour_double=int(rules.colour_double),
    )


# In the next three functions, `game` is a GAME, an OBSERVATION or any record with `rules`, `indicator` and `okey`.


@kernel
def counts_as_okey(game: Any, kind: int) -> bool:
    """Whether a finish with a tile of this kind counts as a finish with the okey (R6.2, R6.3).

    As tiles play, the only tiles of the okey's face are the two false jokers.
    """
    return kind == WILD or (game.rules.false_joker_as_okey != 0 and kind == game.okey)


@kernel
def finish_points(game: Any, kind: int, by_pairs: bool) -> int:
    """The points that each loser loses on a finish with a tile of this kind (R6.1-R6.5, R6.9)."""
    points = _ORDINARY  # wild tiles in the racks change nothing (R6.8)
    by_okey = counts_as_okey(game, kind)
    if by_okey:
        points *= 2
    if by_pairs and not (by_okey and game.rules.combine_product == 0):
        points *= 2
    colour = game.indicator // NUM_NUMBERS
    if game.rules.colour_double != 0 and colour in (_RED, _BLACK):
        points *= 2
    return points


@kernel
def best_finish_points(game: Any, kind: int, melds: Word, pairs: Word) -> int:
    """Points that each loser loses on a finish with a kind, by melds or by pairs, whichever is better (R6.7).

    Args:
        game: a GAME, an OBSERVATION or a position.
        kind: the finishing tile.
        melds: the set of kinds that finish by melds.
        pairs: the set of kinds that finish by pairs.

    Returns:
        The points; 0 if the kind does not finish.
    """
    tile = as_int(kind_set(kind))
    points = 0
    if as_int(melds) & tile:
        points = finish_points(game, kind, False)
    if as_int(pairs) & tile:
        points = max(points, finish_points(game, kind, True))
    return points


@kernel
def dearest_finish(games: npt.NDArray[np.record]) -> int:
    """The most points that any finish under the rules of game 0 costs each loser; the game is overwritten."""
    game = games[0]
    most = 0
    for indicator in range(NUM_FACES):
        game.indicator = indicator
        for kind in range(NUM_KINDS):
            for by_pairs in range(2):
                most = max(most, finish_points(game, kind, by_pairs != 0))
    return most


@linked("void", GAME, "int64", "int64")
def pay(game: np.record, seat: int, points: int) -> None:
    """Each opponent of `seat` loses `points`, and `seat` wins them; in teams each partner wins `points` (R8.4)."""
    for step in range(1, NUM_SEATS):
        other = (seat + step) % NUM_SEATS
        if game.rules.teams != 0 and step == 2:
            game.won[other] += points
        else:
            game.lost[other] += points
            if game.rules.teams == 0:
                game.won[seat] += points
    if game.rules.teams != 0:
        game.won[seat] += points


@kernel
def pay_void(game: np.record) -> None:
    """Take the points of a void round from every seat; both presets take nothing (R5.5)."""
    for seat in range(NUM_SEATS):
        game.lost[seat] += game.rules.void_points
