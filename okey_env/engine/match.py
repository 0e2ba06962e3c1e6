"""The match (RULES R8): scores from round to round, the next starter, the end of a match, and its rewards.

A match is played in one game record. `scores` holds the points when the round was dealt, so the points now are
`scores - lost`. Match m of a seed consists of its rounds 256 m, 256 m + 1, …, so the round number also gives the number
of rounds in the match so far. The loops over many games serve both kinds of episode: rounds (`matches` is false) and
matches (`matches` is true).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_env.engine._jit import kernel
from okey_env.engine.deal import deal
from okey_env.engine.starts import start_round
from okey_env.engine.state import ENDED_TRUNCATED, NO_SEAT, NOT_ENDED
from okey_env.engine.totals import NOT_DENSE, REWARD_NAMES, Terms, begin_dense, fill_totals, pay_nearer
from okey_env.tiles import NUM_SEATS

MAX_ROUNDS = 256
"""Rounds after which a match is truncated: void rounds cost nothing, so a match could go on forever."""
REWARD_PLACEMENT = len(REWARD_NAMES)
MATCH_REWARD_NAMES = (*REWARD_NAMES, "placement")

GOES_ON = 0
TERMINATED = 1
TRUNCATED = 2

_MATCH_SHIFT = np.uint64(8)
assert 1 << int(_MATCH_SHIFT) == MAX_ROUNDS
_LAST_ROUND = np.uint64(MAX_ROUNDS - 1)
_U1 = np.uint64(1)

# --- one match ------------------------------------------------------------------------------------------


@kernel
def is_match_over(game: np.record) -> bool:
    """R8.2: whether the round has ended and somebody has 0 points or less."""
    if game.ending == NOT_ENDED:
        return False
    for seat in range(NUM_SEATS):
        if int(game.scores[seat]) <= int(game.lost[seat]):
            return True
    return False


@kernel
def episode_status(game: np.record, matches: bool) -> int:
    """GOES_ON, TERMINATED or TRUNCATED: the status of the match if `matches`, otherwise of the round."""
    if game.ending == NOT_ENDED:
        return GOES_ON
    if not matches:
        return TRUNCATED if game.ending == ENDED_TRUNCATED else TERMINATED
    if is_match_over(game):
        return TERMINATED
    return TRUNCATED if (game.round_number & _LAST_ROUND) == _LAST_ROUND else GOES_ON


@kernel
def next_round(game: np.record) -> None:
    """Deal the next round of a match that is not over.

    R2.2: the next starter is one seat to the right, after a void round too. Under the other rotation it is the winner;
    after a void round the starter stays.
    """
    if game.rules.winner_starts == 0:
        starter = (int(game.starter) + 1) % NUM_SEATS
    elif game.winner != NO_SEAT:
        starter = int(game.winner)
    else:
        starter = int(game.starter)
    for seat in range(NUM_SEATS):
        game.scores[seat] -= game.lost[seat]
    game.round_number += _U1
    deal(game, starter)


@kernel
def next_episode(game: np.record, matches: bool) -> None:
    """Deal the next round of the seed, or the first round of its next match.

    The starter is random (R2.2), and every seat has its start points (R8.1).
    """
    if matches:
        game.round_number = ((game.round_number >> _MATCH_SHIFT) + _U1) << _MATCH_SHIFT
    else:
        game.round_number += _U1
    for seat in range(NUM_SEATS):
        game.scores[seat] = game.rules.start_points
    deal(game, NO_SEAT)


@kernel
def fill_match_totals(game: np.record, reward: int, totals: npt.NDArray[np.float32]) -> None:
    """Fill `(4,)` with the totals of any reward: those of `fill_totals`, or `placement`.

    `placement` is the share of the win that each seat has (R8.3), scaled so that a whole win is 1 and the four sum to
    0; it is 0 until the match is over. Partners have the same points, so a winning team is two winning seats (R8.4).
    """
    if reward != REWARD_PLACEMENT:
        fill_totals(game, reward, totals)
        return
    totals[:] = 0.0
    if not is_match_over(game):
        return
    winners = 2 if game.rules.teams != 0 else int(game.rules.winners)
    for seat in range(NUM_SEATS):
        mine = int(game.scores[seat]) - int(game.lost[seat])
        better = 0
        equal = 0
        for other in range(NUM_SEATS):
            score = int(game.scores[other]) - int(game.lost[other])
            better += score > mine
            equal += score == mine
        share = min(max(winners - better, 0), equal) / equal  # equal scores share their winning ranks
        totals[seat] = (NUM_SEATS * share - winners) / (NUM_SEATS - winners)


# --- many games -----------------------------------------------------------------------------------------


@kernel
def episode_status_in(games: npt.NDArray[np.record], i: int, matches: bool) -> int:
    """`episode_status` of game i."""
    return episode_status(games[i], matches)


@kernel
def next_rounds_at(games: npt.NDArray[np.record], indices: npt.NDArray[np.int64]) -> None:
    """`next_round` in each of the games at `(M,)` indices."""
    for row in range(len(indices)):
        next_round(games[indices[row]])


@kernel
def next_episodes_at(games: npt.NDArray[np.record], indices: npt.NDArray[np.int64], terms: Terms) -> None:
    """`next_episode` in each of the games at `(M,)` indices, with the starts of the terms."""
    for row in range(len(indices)):
        game = games[indices[row]]
        next_episode(game, terms.matches)
        start_round(game, terms.starts)


class Purses(NamedTuple):
    """The rewards of one seat in each of `N` games."""

    seats: npt.NDArray[np.int64]
    """`(N,)` the seat that is paid."""
    paid: npt.NDArray[np.float32]
    """`(N,)` the part of that seat's base total in the current round that was paid before."""
    earned: npt.NDArray[np.float64]
    """`(N,)` the rewards of that seat are added here."""
    status: npt.NDArray[np.uint8]
    """`(N,)` GOES_ON, TERMINATED or TRUNCATED."""
    distances: npt.NDArray[np.int8]
    """`(N, 4)` as in `pay_nearer`; only that seat's entry is used."""
    dense: npt.NDArray[np.float32]
    """`(N, 4)` as in `pay_nearer`; only that seat's entry is used."""


@kernel
def _earn(game: np.record, i: int, terms: Terms, purses: Purses, totals: npt.NDArray[np.float32]) -> None:
    """Add what one seat of game i is due in the current round; `totals` is `(4,)`, overwritten."""
    seat = purses.seats[i]
    fill_match_totals(game, terms.reward, totals)
    purses.earned[i] += totals[seat] - purses.paid[i]
    purses.paid[i] = totals[seat]
    if terms.dense != NOT_DENSE:
        purses.earned[i] += pay_nearer(game, terms, seat, purses.distances[i], purses.dense[i])


@kernel
def settle_at(games: npt.NDArray[np.record], indices: npt.NDArray[np.int64], terms: Terms, purses: Purses) -> None:
    """For each round that has ended: add the reward of one seat, and deal the next round if the match goes on.

    Args:
        games: `(N,)` of GAME.
        indices: `(M,)` games to look at.
        terms: the kind of episode, the reward and the starts.
        purses: updated; `status` is filled at the indices.
    """
    totals = np.zeros(NUM_SEATS, np.float32)
    for row in range(len(indices)):
        i = indices[row]
        game = games[i]
        purses.status[i] = episode_status(game, terms.matches)
        if game.ending != NOT_ENDED:
            _earn(game, i, terms, purses, totals)
            if purses.status[i] == GOES_ON:
                next_round(game)
                start_round(game, terms.starts)
                purses.paid[i] = 0.0
                if terms.dense != NOT_DENSE:
                    begin_dense(game, purses.distances[i], purses.dense[i])


@kernel
def earn_all(games: npt.NDArray[np.record], terms: Terms, purses: Purses) -> None:
    """Add to `earned` what one seat is due in the current round of each of `(N,)` games."""
    totals = np.zeros(NUM_SEATS, np.float32)
    for i in range(len(games)):
        _earn(games[i], i, terms, purses, totals)
