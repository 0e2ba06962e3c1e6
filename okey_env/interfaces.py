"""What the three environments share: what an episode is, what `reset` takes, who sits where, what is observed."""

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
    """Whether an episode is a match, `match`, or one round, `round`.

    Raises:
        ValueError: it is neither.
    """
    if episode not in EPISODES:
        raise ValueError(f"episode={episode!r}: expected 'round' or 'match'")
    return episode == "match"


def start_of(options: Mapping[str, Any] | None, rules: Rules) -> tuple[Deal | None, list[int]]:
    """The chosen position among reset options, if there is one, and the four seats' points.

    Options that mean nothing here are passed over, as PettingZoo and Gymnasium want it, but not one that is
    nearly a name that does.

    Raises:
        ValueError: an option looks misspelt, or its value is no `Deal` or no points.
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
    """One bot for all other seats, or three: right, opposite and left of the learning seat.

    Raises:
        ValueError: neither one nor three were given, or one cannot be made.
    """
    if isinstance(opponents, str) or not isinstance(opponents, Sequence):
        return [make_bot(opponents)]
    if len(opponents) not in (1, NUM_SEATS - 1):
        raise ValueError(f"opponents={opponents!r}: expected one bot, or three: right, opposite, left of the learner")
    return [make_bot(bot) for bot in opponents]


def learning_seat_of(seat: int | None) -> int | None:
    """The learning seat's place at the table, checked; None: it moves one place on each round."""
    if seat is not None and seat not in range(NUM_SEATS):
        raise ValueError(f"learning_seat={seat!r}: expected a seat 0 to {NUM_SEATS - 1}, or None to rotate")
    return seat


def observation_space_of(encoder: Encoder) -> gymnasium.spaces.Dict:
    """`{"observation": the encoder's array, "action_mask": (109,) int8}`."""
    return gymnasium.spaces.Dict(
        {
            "observation": gymnasium.spaces.Box(-encoder.high, encoder.high, encoder.shape, np.float32),
            "action_mask": gymnasium.spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
        }
    )
