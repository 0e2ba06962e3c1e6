"""Rewards: the total reward of each seat up to now; environments pay the changes of the total.

A reward is a function from a `Round` to four floats, the total of each seat since the deal. Because only
changes are paid, every seat receives its final reward exactly once, no matter who acts last. A shaping term is paid
back if it is not part of the final total.

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
"""

from collections.abc import Callable, Sequence

from okey_env.engine.scoring import dearest_finish
from okey_env.engine.state import new_games
from okey_env.match import shares
from okey_env.round import Round
from okey_env.rules import START_POINTS_RANGE, Rules
from okey_env.tiles import NUM_SEATS

RewardFunction = Callable[[Round], Sequence[float]]
"""The totals of the four seats, by absolute seat."""


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
        if reward in MATCH_REWARDS and reward not in known:
            raise ValueError(f"reward={reward!r} is paid at the end of a match: expected episode='match' with it")
        if reward not in known:
            raise ValueError(
                f"reward={reward!r} is not a reward: expected {', '.join(map(repr, known))} or a function of a Round"
            )
        return known[reward]
    if not callable(reward):
        raise ValueError(f"reward={reward!r} is not a reward: expected a name or a function of a Round")
    return reward


def illegal_reward(reward: str | RewardFunction, rules: Rules, *, matches: bool = False) -> float:
    """The reward for an illegal action that ends an episode: never more than the worst legal end of the episode.

    Args:
        reward: the reward of the environment.
        rules: the rules of the environment.
        matches: whether an episode is a match. In a match a seat can lose all but one of the points that a match can
            start with, and then the most points of a whole round.
    """
    if reward in ("win", "soon", "placement"):
        return -1.0
    return -worst_loss(rules) - (START_POINTS_RANGE[1] - 1 if matches else 0)


def worst_loss(rules: Rules) -> float:
    """The most points that a seat can lose in one round: a shown twin, and the dearest finish or a void round."""
    return float(max(dearest_finish(new_games(rules, 1)), rules.void_points) + rules.indicator_points)
