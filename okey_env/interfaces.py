"""What the three environments share: kinds of episode, options of `reset`, opponents, the observation space."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np

from okey_env.actions import NUM_ACTIONS
from okey_env.bots import Bot, BotSpec, make_bot
from okey_env.deal import Deal
from okey_env.encoders.encoder import Encoder
from okey_env.round import check_points
from okey_env.rules import Rules
from okey_env.tiles import NUM_SEATS

EPISODES = ("round", "match")
_OPTIONS = ("deal", "points")


def plays_matches(episode: str) -> bool:
    """Whether an episode is a match: True for `match`, False for `round`.

    Raises:
        ValueError: `episode` is neither of them.
    """
    if episode not in EPISODES:
        raise ValueError(f"episode={episode!r}: expected 'round' or 'match'")
    return episode == "match"


def start_of(options: Mapping[str, Any] | None, rules: Rules) -> tuple[Deal | None, list[int]]:
    """The chosen position of the reset options (None if there is none), and the points of the four seats.

    Unknown options are ignored, as PettingZoo and Gymnasium require, except an option whose name is almost a known one.

    Raises:
        ValueError: an option seems misspelt, `deal` is not a `Deal`, or the points are not possible.
    """
    for option in options or ():
        if option not in _OPTIONS:
            near = difflib.get_close_matches(str(option).lower(), _OPTIONS, n=1, cutoff=0.8)
            if near:
                raise ValueError(f"reset option {option!r} is not known: did you mean {near[0]!r}?")
    deal = (options or {}).get("deal")
    if deal is not None and not isinstance(deal, Deal):
        raise ValueError(f"reset option deal={deal!r}: expected an okey_env.Deal")
    return deal, check_points((options or {}).get("points"), rules)


def make_opponents(opponents: BotSpec | Sequence[BotSpec]) -> list[Bot]:
    """The bots of the other seats: one for all, or three: right, opposite and left of the learning seat.

    Raises:
        ValueError: the number of bots is neither one nor three, or a bot cannot be made.
    """
    if isinstance(opponents, str) or not isinstance(opponents, Sequence):
        return [make_bot(opponents)]
    if len(opponents) not in (1, NUM_SEATS - 1):
        raise ValueError(f"opponents={opponents!r}: expected one bot, or three: right, opposite, left of the learner")
    return [make_bot(bot) for bot in opponents]


def learning_seat_of(seat: int | None) -> int | None:
    """The learning seat, checked: 0 to 3, or None if it moves to the next seat with each episode."""
    if seat is not None and seat not in range(NUM_SEATS):
        raise ValueError(f"learning_seat={seat!r}: expected a seat 0 to {NUM_SEATS - 1}, or None to rotate")
    return seat


def observation_space_of(encoder: Encoder) -> gymnasium.spaces.Dict:
    """The space of `{"observation": the encoder's array, "action_mask": (109,) int8}`."""
    return gymnasium.spaces.Dict(
        {
            "observation": gymnasium.spaces.Box(-encoder.high, encoder.high, encoder.shape, np.float32),
            "action_mask": gymnasium.spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
        }
    )
