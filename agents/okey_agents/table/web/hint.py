"""The hint: what the coach would do and why, as codes with numbers of which the page makes its own sentences."""

from typing import Any

from okey_agents.coach.advice import advise
from okey_env import actions
from okey_env.observation import Observation
from okey_env.tiles import kind_text

_MANY = 5
"""Kinds that help are named only where they are not more than these."""


def hint_for(observation: Observation, worlds: int) -> dict[str, Any]:
    """The best move in the coach's eyes.

    Args:
        observation: what the player knows; it is its turn.
        worlds: in how many worlds the coach tries moves; 0: it says only what is certain.

    Returns:
        `action` as text, the `tile` that it lays or takes, and `reasons`, each with its `code` and numbers; tiles in
        them are text.
    """
    best = advise(observation, worlds)[0]
    okey = observation.okey
    kind = observation.offer if best.action == actions.TAKE else actions.tile_of(best.action)
    reasons = []
    for reason in best.reasons:
        said: dict[str, Any] = reason.to_dict()
        if "kinds" in said:
            kinds = said.pop("kinds")
            said["names"] = [kind_text(kind, okey) for kind in kinds] if len(kinds) <= _MANY else []
        if "kind" in said:
            said["tile"] = kind_text(said.pop("kind"), okey)
        reasons.append(said)
    return {
        "action": actions.to_text(best.action, okey),
        "tile": None if kind is None else kind_text(kind, okey),
        "reasons": reasons,
    }


def hint_text(observation: Observation, worlds: int) -> str:
    """The same as an English sentence."""
    return advise(observation, worlds)[0].text(observation.okey)
