"""Rewards: the total reward of each seat up to now; environments pay the changes of the total.

A reward is a function from a `Round` to four floats, the total of each seat since the deal. Because only
changes are paid, every seat receives its final reward exactly once, no matter who acts last. A shaping term is paid
back if it is not part of the final total.

**Base rewards**

| name | total of a seat | a round of four sums to |
|---|---|---|
| `points` | minus the points it has lost (R6), 0 or less | minus all points lost |
| `zero_sum` | points others lost to it minus points it lost to others | 0 |
| `win` | 1 for the winner, -1/3 for the others; a void round 0; with teams 1 and -1 | 0 |
| `soon` | for the winner, and its partner, the share of the throws left; others 0 | that share, or twice that |
| `placement` | the seat's share of winning the match (R8.3), 1 for a whole win, else 0 | 0 |

`soon` pays the same for a finish of any kind, and more the sooner it comes: 1 − throws / (`max_throws` + 1), which is 1
before the first throw and more than 0 at the last. With a small `max_throws` it is play against the clock.

In a match every round pays, and the reward of the match is their sum. `placement` is for matches only and is 0 until
the last round has ended. Then a loser has -1/3, or -1 if two seats win or teams play. Seats that share a win have the
mean of the values that they share.

**Dense rewards.** A base reward and a term for the seat's own rack, like `zero_sum+distance`; a weight may stand before
the term, like `zero_sum+0.5*distance`. The term is weight × (distance after the deal − distance now). Distance is the
exact melds distance (`okey_env.hands`) of the seat's own rack; of 15 tiles, after the best throw. The weight is in
points for each tile of distance, and 2 if it is not given. A seat is paid when its own rack changes.

| term | at the end of the round | a round of four sums to |
|---|---|---|
| `distance` | is kept | the sum of the base reward, and weight × the tiles by which the four racks came nearer |
| `potential` | is paid back | the sum of the base reward; single payments before the end do not cancel |

`potential` is potential-based shaping (Ng, Harada and Russell, 1999) with discount 1: it changes no optimal policy. It
has no effect under a critic that sees the distance, because the critic learns the negative potential and the advantages
are the same. `distance` does change what is optimal: with discount 1 it pays for a rack that is near at the end,
whoever wins. Discount with less than 1, or lower the weight during training (`distance_weight` of the batches).

In a batch whose weight changes, each change of distance is paid at the weight of its time, and `potential` pays back
exactly what it has paid. A new weight alone pays nothing.
"""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from okey_env import hands
from okey_env.checks import float_of, real_number, shown
from okey_env.engine.match import MAX_ROUNDS
from okey_env.engine.scoring import dearest_finish
from okey_env.engine.state import ENDED_BY_FINISH, ENDED_TRUNCATED, ENDED_VOID, NO_SEAT, PHASE_OVER, new_games
from okey_env.match import shares
from okey_env.round import Round
from okey_env.rules import START_POINTS_RANGE, Rules
from okey_env.tiles import NUM_SEATS

RewardFunction = Callable[[Round], Sequence[float]]
"""The totals of the four seats, by absolute seat."""

DEFAULT_WEIGHT = 2.0
"""Points for each tile of distance, if a dense reward does not say it."""
MOST_WEIGHT = 1e6
"""The greatest weight of a dense term; rewards then stay far from the limits of float32."""
_MOST_LOST_ROUNDS = -(-START_POINTS_RANGE[1] // 2)
"""Rounds that a seat can lose in a match: each finish of another costs it two points or more (R6.1)."""
MOST_TILES = 10
"""The greatest distance: any tile can begin a meld, so each of four melds has one tile of the rack."""


def points(round: Round) -> list[float]:
    """Minus the points that each seat has lost."""
    return [-float(lost) for lost in round.lost]


def zero_sum(round: Round) -> list[float]:
    """Points that others lost to each seat minus points it lost to them; points of a void round count 0."""
    void = round.rules.void_points if round.ending in ("void", "truncated") else 0
    return [float(won - lost + void) for won, lost in zip(round.won, round.lost, strict=True)]


def win(round: Round) -> list[float]:
    """1 for the winner and -1/3 for each other seat; with teams 1 and -1."""
    winner = round.winner
    if winner is None:
        return [0.0] * NUM_SEATS
    if round.rules.teams:
        return [1.0 if (seat - winner) % 2 == 0 else -1.0 for seat in range(NUM_SEATS)]
    return [1.0 if seat == winner else -1.0 / (NUM_SEATS - 1) for seat in range(NUM_SEATS)]


def soon(round: Round) -> list[float]:
    """For the winner and its partner, the share of the throws that were left; 0 for the others."""
    winner = round.winner
    if winner is None:
        return [0.0] * NUM_SEATS
    left = 1 - int(round.fields["throws"][0]) / (round.rules.max_throws + 1)
    partners = (0, 2) if round.rules.teams else (0,)
    return [left if (seat - winner) % NUM_SEATS in partners else 0.0 for seat in range(NUM_SEATS)]


def placement(round: Round) -> list[float]:
    """The share of the win of each seat, scaled so that a whole win is 1 and the four sum to 0; 0 before the end."""
    won = shares(round)
    winners = sum(won)
    return [float((NUM_SEATS * share - winners) / (NUM_SEATS - winners)) for share in won]


REWARDS: dict[str, RewardFunction] = {"points": points, "zero_sum": zero_sum, "win": win, "soon": soon}
"""The rewards of a round by name."""
MATCH_REWARDS: dict[str, RewardFunction] = {**REWARDS, "placement": placement}
"""The rewards of a match by name."""
TERMS = ("distance", "potential")
"""The dense terms that a name may add to a base reward."""


def distances(round: Round) -> npt.NDArray[np.int64]:
    """The melds distance of each rack: `(4,)`."""
    return _distances(round.racks, round)


def distances_dealt(round: Round) -> npt.NDArray[np.int64]:
    """The melds distance of each rack after the deal: `(4,)`."""
    return _distances(round.dealt_racks, round)


def nearer(round: Round) -> npt.NDArray[np.int64]:
    """The tiles by which each rack is nearer to a finish by melds than after the deal: `(4,)`; below 0 if further."""
    return distances_dealt(round) - distances(round)


def _distances(racks: npt.NDArray[np.uint8], round: Round) -> npt.NDArray[np.int64]:
    return np.asarray(hands.melds_distance(racks, run_13_1=round.rules.run_13_1), np.int64)


@dataclass(frozen=True)
class DenseReward:
    """A base reward and a term for the distance of the seat's own rack; a function of a `Round` like any reward."""

    base: RewardFunction
    """The base reward."""
    weight: float
    """Points for each tile of distance."""
    keeps: bool
    """Whether the term is kept at the end of the round (`distance`), or paid back (`potential`)."""

    def __call__(self, round: Round) -> list[float]:
        """The totals of the four seats."""
        totals = list(self.base(round))
        if round.over and not self.keeps:
            return totals
        return [total + self.weight * int(tiles) for total, tiles in zip(totals, nearer(round), strict=True)]


@dataclass(frozen=True)
class CheckedReward:
    """A reward function of a user whose totals are checked."""

    function: Callable[[Round], Any]

    def __call__(self, round: Round) -> list[float]:
        """The totals of the four seats.

        Raises:
            ValueError: the function did not give four numbers.
        """
        totals = self.function(round)
        try:
            numbers = [float_of(total) for total in totals]
        except TypeError:  # not a sequence
            numbers = []
        if len(numbers) != NUM_SEATS or None in numbers:
            name = getattr(self.function, "__name__", type(self.function).__name__)
            raise ValueError(
                f"the reward function {name} gave {shown(totals)}: expected four numbers, one for each seat"
            )
        return [number for number in numbers if number is not None]


class RewardName(NamedTuple):
    """The parts of a reward's name."""

    base: str
    """The base reward."""
    term: str
    """`distance`, `potential`, or empty."""
    weight: float
    """Points for each tile of distance; 0 without a term."""


def parse_reward(reward: str) -> RewardName:
    """The parts of a name like `zero_sum`, `win+distance` or `points+0.5*potential`; the base is not checked.

    Raises:
        ValueError: the term or its weight is wrong.

    >>> parse_reward("points+0.5*potential")
    RewardName(base='points', term='potential', weight=0.5)
    """
    if not isinstance(reward, str):
        raise ValueError(f"reward={shown(reward)} is not a name: expected one like 'zero_sum' or 'zero_sum+distance'")
    base, plus, rest = reward.partition("+")
    if not plus:
        return RewardName(base, "", 0.0)
    number, times, term = rest.rpartition("*")
    if term not in TERMS:
        expected = " or ".join(map(repr, TERMS))
        raise ValueError(
            f"reward={shown(reward)} has the term {shown(term)}: expected {expected}, "
            "perhaps with a weight, like '0.5*distance'"
        )
    try:
        weight = float(number) if times else DEFAULT_WEIGHT
    except ValueError:
        weight = math.nan
    if not 0 <= weight <= MOST_WEIGHT:
        raise ValueError(
            f"reward={shown(reward)} has the weight {shown(number)}: "
            f"expected a number of points from 0 to {MOST_WEIGHT:g}"
        )
    return RewardName(base, term, weight)


def check_weight(weight: Any, reward: str | RewardFunction) -> float:
    """A new weight for the dense term of a reward, checked.

    Raises:
        ValueError: the reward has no dense term, or the weight is not a number of points from 0 to `MOST_WEIGHT`.
    """
    if not isinstance(reward, str):
        raise ValueError("the reward is a function, which has no dense term to weigh: expected one like 'win+distance'")
    if not parse_reward(reward).term:
        raise ValueError(f"reward={reward!r} has no dense term to weigh: expected a reward like '{reward}+distance'")
    return real_number("distance_weight", weight, 0, MOST_WEIGHT, " points for each tile")


def as_reward(reward: str | RewardFunction, *, matches: bool = False) -> RewardFunction:
    """The reward function for a name; a function is returned as it is.

    Args:
        reward: the name, or the function.
        matches: whether an episode is a match.

    Raises:
        ValueError: no reward of rounds, or of matches, has that name; or it is neither a name nor a function.
    """
    if isinstance(reward, str):
        known = MATCH_REWARDS if matches else REWARDS
        base, term, weight = parse_reward(reward)
        if base in MATCH_REWARDS and base not in known:
            raise ValueError(f"reward={shown(reward)} is paid at the end of a match: expected episode='match' with it")
        if base not in known:
            raise ValueError(
                f"reward={shown(reward)} is not a reward: expected {', '.join(map(repr, known))}, "
                "one of them with '+distance' or '+potential', or a function of a Round"
            )
        return DenseReward(known[base], weight, term == "distance") if term else known[base]
    if not callable(reward):
        raise ValueError(f"reward={shown(reward)} is not a reward: expected a name or a function of a Round")
    return reward if isinstance(reward, CheckedReward | DenseReward) else CheckedReward(reward)


def illegal_reward(reward: str | RewardFunction, rules: Rules, *, matches: bool = False) -> float:
    """The reward for an illegal action that ends an episode: never more than the worst legal end of the episode.

    Args:
        reward: the reward of the environment.
        rules: the rules of the environment.
        matches: whether an episode is a match. In a match a seat can lose all but one of the points that a match can
            start with, and then the most points of a whole round. A term that is kept can cost all tiles of distance in
            every round; a potential is paid back, so it can cost them only once. `win` is paid for every round, so it
            can cost as many rounds as a seat can lose before its points are gone.

    What a function can cost is not known before; environments also ask `lowest_end`.
    """
    base, term, weight = parse_reward(reward) if isinstance(reward, str) else RewardName("", "", 0.0)
    tiles = MOST_TILES * (MAX_ROUNDS if matches and term == "distance" else 1)
    if base == "win" and matches:
        return -float(_MOST_LOST_ROUNDS) - weight * tiles
    if base in ("win", "soon", "placement"):
        return -1.0 - weight * tiles
    return -worst_loss(rules) - (START_POINTS_RANGE[1] - 1 if matches else 0) - weight * tiles


def lowest_end(reward: RewardFunction, round: Round, seat: int, *, matches: bool = False) -> float:
    """The lowest total that a reward function of a user gives a seat at an end that a round may still have.

    Ends are tried: a void round and a truncated one, and the dearest finish of each other seat, now and after the last
    throw. In a match, as many such rounds may follow as there can be.

    Args:
        reward: the reward; for one that has a name, the result is 0, since `illegal_reward` knows its least.
        round: the round, which may go on.
        seat: whose total.
        matches: whether an episode is a match.
    """
    if not isinstance(reward, CheckedReward):
        return 0.0
    dearest = dearest_finish(new_games(round.rules, 1))
    totals = [0.0]
    for throws in (int(round.fields["throws"][0]), round.rules.max_throws):
        for winner in (NO_SEAT, *(other for other in range(NUM_SEATS) if other != seat)):
            for ending in (ENDED_BY_FINISH,) if winner != NO_SEAT else (ENDED_VOID, ENDED_TRUNCATED):
                end = copy.deepcopy(round)
                for name, value in (("throws", throws), ("phase", PHASE_OVER), ("ending", ending), ("winner", winner)):
                    end.fields[name][0] = value
                if winner == NO_SEAT:
                    end.fields["lost"] += round.rules.void_points
                else:
                    _pay(end, winner, dearest)
                totals.append(reward(end)[seat])
    rounds_left = MAX_ROUNDS - round.number % MAX_ROUNDS if matches else 1
    return min(totals) * rounds_left


def _pay(round: Round, winner: int, points: int) -> None:
    """The points of a finish, in place (R6, R8.4)."""
    lost, won, teams = round.fields["lost"][0], round.fields["won"][0], round.rules.teams
    losers = [seat for seat in range(NUM_SEATS) if seat != winner and not (teams and (seat - winner) % 2 == 0)]
    lost[losers] += points
    won[[winner, (winner + 2) % NUM_SEATS] if teams else [winner]] += points if teams else points * len(losers)


def worst_loss(rules: Rules) -> float:
    """The most points that a seat can lose in one round: a shown twin, and the dearest finish or a void round."""
    return float(max(dearest_finish(new_games(rules, 1)), rules.void_points) + rules.indicator_points)
