"""What an environment is told: what an episode is, and what `reset(options=…)` may hold. The same for all of them."""

import difflib
from collections.abc import Mapping
from typing import Any

from okey_env.deal import Deal
from okey_env.round import check_points
from okey_env.rules import Rules

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
