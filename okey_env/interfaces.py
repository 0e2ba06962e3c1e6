"""What the environments share: kinds of episode, options of `reset`, starts, opponents, the observation space."""

import difflib
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt

from okey_env.actions import NUM_ACTIONS
from okey_env.bots import Bot, BotSpec, make_bot
from okey_env.checks import choice, float_of, is_one_of, seat_number, shown
from okey_env.deal import Deal
from okey_env.encoders.encoder import Encoder
from okey_env.engine.match import MAX_ROUNDS
from okey_env.engine.starts import DEAL, MOST_DISTANCE, MOST_DRAWS, SHORT, STREAM_OF_OPPONENTS, drawn_rows_at
from okey_env.engine.state import ENDINGS, NO_SEAT, NOT_ENDED
from okey_env.round import check_points
from okey_env.rules import Rules
from okey_env.tiles import NUM_SEATS

Start: TypeAlias = str | Mapping[str, float]
"""A start by name, or several starts by name with their weights."""
Opponents: TypeAlias = BotSpec | Sequence[BotSpec] | Mapping[Any, float]
"""One bot for all other seats, three bots, or several bots with their weights, of which each episode draws one."""

STARTS = {
    "deal": DEAL,
    **{f"distance-{tiles}": tiles for tiles in range(1, MOST_DISTANCE + 1)},
    **{f"short-{draws}": SHORT + draws for draws in range(1, MOST_DRAWS)},
}
"""The starts by name: the ordinary deal; every rack at a melds distance; a stock of so many draws for each seat."""
EPISODES = ("round", "match")
_OPTIONS = ("deal", "points")

ENDING_CODES = MappingProxyType({"": 0, "finish": 1, "void": 2, "truncated": 3, "illegal": 4})
"""How a round ended, as the number that infos have under `ending`; 4: an illegal action ended the episode."""

INFO_KEYS = MappingProxyType(
    {
        "seat": "the seat, 0 to 3",
        "length": "decisions of the seat in the episode so far",
        "points": "in a round, points won minus points lost so far; in a match, the points that are left",
        "rounds": "rounds of the episode that have ended",
        "ending": "how the last of them ended: 0 none has, 1 finish, 2 void, 3 `max_throws`; 4 an illegal action",
        "winner": "the seat that finished it; -1 nobody",
        "won": "1 if the seat, or its partner, has won the episode; 0 if not, and while the episode goes on",
        "placement": "the rank by points at the end, 1 to 4, equal points share one; 0 while the episode goes on",
    }
)
"""The keys of every info: whole numbers, the same keys in every step, so that trainers can stack infos."""


def plays_matches(episode: str) -> bool:
    """Whether an episode is a match: True for `match`, False for `round`.

    Raises:
        ValueError: `episode` is neither of them.
    """
    return choice("episode", episode, EPISODES) == "match"


def start_of(options: Mapping[str, Any] | None, rules: Rules) -> tuple[Deal | None, list[int]]:
    """The chosen position of the reset options (None if there is none), and the points of the four seats.

    Unknown options are ignored, as PettingZoo and Gymnasium require, except an option whose name is almost a known one.

    Raises:
        ValueError: an option seems misspelt, `deal` is not a `Deal`, or the points are not possible.
    """
    if options is not None and not isinstance(options, Mapping):
        raise ValueError(f"options={shown(options)}: expected a dictionary, or None")
    for option in options or ():
        if option not in _OPTIONS:
            near = difflib.get_close_matches(str(option)[:100].lower(), _OPTIONS, n=1, cutoff=0.8)
            if near:
                raise ValueError(f"reset option {shown(option)} is not known: did you mean {near[0]!r}?")
    deal = (options or {}).get("deal")
    if deal is not None and not isinstance(deal, Deal):
        raise ValueError(f"reset option deal={shown(deal)}: expected an okey_env.Deal")
    return deal, check_points((options or {}).get("points"), rules)


def starts_of(start: Start) -> npt.NDArray[np.float64]:
    """The table of starts that kernels read (`okey_env.engine.starts`): `(K, 2)` float64, one row a start.

    Args:
        start: a name of `STARTS`, or a mapping from names to weights. Each deal draws one of them, with a probability
            in proportion to its weight, from its seed and its round number.

    Raises:
        ValueError: a name or a weight is wrong.

    >>> starts_of({"deal": 1, "distance-2": 3})
    array([[0.25, 0.  ],
           [1.  , 2.  ]])
    """
    weights: Mapping[Any, float] = start if isinstance(start, Mapping) else {}
    for name in weights if isinstance(start, Mapping) else (start,):
        if not is_one_of(name, STARTS):
            raise ValueError(
                f"start={shown(name)} is not a start: expected 'deal', 'distance-1' to 'distance-{MOST_DISTANCE}', "
                f"'short-1' to 'short-{MOST_DRAWS - 1}', or a mapping of them to weights"
            )
    names, chances = draw_table("start", weights if isinstance(start, Mapping) else {start: 1.0})
    return np.column_stack([chances, [float(STARTS[name]) for name in names]])


def running_info(games: npt.NDArray[np.record], seat: int, length: int, *, matches: bool) -> dict[str, int]:
    """The info of a seat in the only game of `(1,)`, whose episode goes on; see `INFO_KEYS`.

    In a match, the caller keeps how the last round ended.
    """
    lost = int(games["lost"][0, seat])
    points = (int(games["scores"][0, seat]) if matches else int(games["won"][0, seat])) - lost
    rounds = int(games["round_number"][0]) % MAX_ROUNDS if matches else 0
    return {
        "seat": seat,
        "length": length,
        "points": points,
        "rounds": rounds,
        "ending": 0,
        "winner": -1,
        "won": 0,
        "placement": 0,
    }


def final_infos(
    games: npt.NDArray[np.record],
    seats: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
    *,
    matches: bool,
    illegal: npt.NDArray[np.bool_] | None = None,
) -> dict[str, npt.NDArray[np.int64]]:
    """The infos at the end of an episode: each key of `INFO_KEYS` with `(M,)` int64.

    Args:
        games: `(M,)` of GAME, 1 or more, with the same rules.
        seats: `(M,)` the seat of each game whose info it is.
        lengths: `(M,)` the decisions of the seat.
        matches: whether an episode is a match.
        illegal: `(M,)` where an illegal action of the seat has ended the episode; the seat is the last then. None:
            nowhere.
    """
    rules = games["rules"]
    teams, winners = bool(rules["teams"][0]), int(rules["winners"][0])  # all games have the same rules
    points = (games["scores"] if matches else games["won"]).astype(np.int64) - games["lost"]
    mine = points[np.arange(len(games)), seats]
    better = (points > mine[:, None]).sum(axis=1)
    winner = games["winner"].astype(np.int64)
    ending = games["ending"].astype(np.int64)
    winner[winner == NO_SEAT] = -1
    rounds = (ending != NOT_ENDED).astype(np.int64)
    if matches:
        over = (ending != NOT_ENDED) & (points <= 0).any(axis=1)  # R8.2; else the match was cut off
        won = over & (better < (2 if teams else winners))
        rounds += games["round_number"].astype(np.int64) % MAX_ROUNDS
    elif teams:
        won = (winner >= 0) & ((winner - seats) % 2 == 0)
    else:
        won = winner == seats
    won = won.astype(np.int64)
    placement = 1 + (better // 2 if teams else better)
    if illegal is not None and illegal.any():
        ending[illegal], won[illegal], placement[illegal] = ENDING_CODES["illegal"], 0, NUM_SEATS
    return {
        "seat": seats,
        "length": lengths,
        "points": mine,
        "rounds": rounds,
        "ending": ending,
        "winner": winner,
        "won": won,
        "placement": placement,
    }


def draw_table(what: str, weights: Mapping[Any, float]) -> tuple[list[Any], npt.NDArray[np.float64]]:
    """The keys of a mapping whose weights are above 0, and their probabilities, added up: `(K,)`, 1 at the end.

    Raises:
        ValueError: a weight is not a number, 0 or more, or none is above 0; the message begins with `what`.
    """
    numbers = {key: float_of(weight) for key, weight in weights.items()}
    for key, number in numbers.items():
        if number is None or number < 0:
            raise ValueError(
                f"{what}={shown(dict(weights))} has the weight {shown(weights[key])} for {shown(key)}: "
                "expected 0 or more"
            )
    kept = {key: number for key, number in numbers.items() if number}
    if not kept:
        raise ValueError(f"{what}={shown(dict(weights))} has no weight above 0: expected one at least")
    unit = 1.0 if math.isfinite(sum(kept.values())) else max(kept.values())
    keys, sums = list(kept), np.cumsum([number / unit for number in kept.values()])
    chances = sums / sums[-1]
    chances[-1] = 1.0
    return keys, chances


class Panel:
    """The bots that may sit in the other seats, and how each episode draws among them.

    Args:
        opponents: one bot for all other seats; three: right, opposite and left of the learning seat; or a mapping from
            bots to weights, of which each episode draws one bot for all three seats, from its seed and number.
        made: bots that were made before, by their names; a name is not made twice. New bots are added.

    Raises:
        ValueError: the number of bots is neither one nor three, a weight is wrong, or a bot cannot be made.
    """

    def __init__(self, opponents: Opponents, made: dict[str, Bot] | None = None) -> None:
        specs: Sequence[Any]
        self.seatings: npt.NDArray[np.int64]
        """`(K, 3)` what an episode draws among: the indices in `bots` of the right, opposite and left seat."""
        self.table = np.ones((1, 1))
        """`(K, 1)` the probabilities of the seatings, added up."""
        if isinstance(opponents, Mapping):
            specs, chances = draw_table("opponents", opponents)
            self.table = chances[:, None]
            self.seatings = np.repeat(np.arange(len(specs))[:, None], NUM_SEATS - 1, axis=1)
        elif isinstance(opponents, str) or not isinstance(opponents, Sequence):
            specs, self.seatings = [opponents], np.zeros((1, NUM_SEATS - 1), np.int64)
        elif len(opponents) in (1, NUM_SEATS - 1):
            specs, self.seatings = opponents, np.resize(np.arange(len(opponents)), (1, NUM_SEATS - 1))
        else:
            raise ValueError(
                f"opponents={shown(opponents)}: expected one bot, or three: right, opposite, left of the learner, "
                "or a mapping of bots to weights"
            )
        made = {} if made is None else made
        self.bots: list[Bot] = []
        """The bots."""
        for spec in specs:
            bot = made[spec] if isinstance(spec, str) and spec in made else make_bot(spec)
            if isinstance(spec, str) and isinstance(opponents, Mapping):
                made[spec] = bot
            self.bots.append(bot)

    def draw(self, games: npt.NDArray[np.record], indices: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The seatings of the games at `(M,)` indices, in which an episode has just begun: `(M, 3)`."""
        rows = np.zeros(len(indices), np.int64)
        if len(self.table) > 1:
            drawn_rows_at(games, indices, STREAM_OF_OPPONENTS, self.table, rows)
        return self.seatings[rows]


def learning_seat_of(seat: int | None) -> int | None:
    """The learning seat, checked: 0 to 3, or None if it moves to the next seat with each episode."""
    return None if seat is None else seat_number(seat, "learning_seat", ", or None to rotate")


def observation_space_of(encoder: Encoder) -> gymnasium.spaces.Dict:
    """The space of `{"observation": the encoder's array, "action_mask": (109,) int8}`."""
    return gymnasium.spaces.Dict(
        {
            "observation": gymnasium.spaces.Box(-encoder.high, encoder.high, encoder.shape, np.float32),
            "action_mask": gymnasium.spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
        }
    )


assert list(ENDING_CODES)[: len(ENDINGS)] == list(ENDINGS)  # the codes are those of the game record
