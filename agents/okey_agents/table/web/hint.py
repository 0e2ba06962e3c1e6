"""Hints: the coach's best move with its reasons, as codes and numbers of which the page makes sentences."""

from typing import Any

from okey_agents.coach.advice import advise
from okey_env import actions
from okey_env.observation import Observation
from okey_env.tiles import kind_text

_MAX_NAMED = 5
"""If more kinds than this help, they are counted but not named."""


def hint_for(observation: Observation, worlds: int) -> dict[str, Any]:
    """The coach's best move, for the page.

    Args:
        observation: what the player knows; it is the player's turn.
        worlds: in how many worlds the coach tries moves; 0: it tries none and gives no expected points.

    Returns:
        `action` as text, the `tile` that it lays or takes (None: no tile), and `reasons`, each a mapping with its
        `code` and numbers; tiles in them are text.
    """
    best = advise(observation, worlds)[0]
    okey = observation.okey
    kind = observation.offer if best.action == actions.TAKE else actions.tile_of(best.action)
    reasons = []
    for reason in best.reasons:
        shown: dict[str, Any] = reason.to_dict()
        if "kinds" in shown:
            kinds = shown.pop("kinds")
            shown["names"] = [kind_text(kind, okey) for kind in kinds] if len(kinds) <= _MAX_NAMED else []
        if "kind" in shown:
            shown["tile"] = kind_text(shown.pop("kind"), okey)
        reasons.append(shown)
    return {
        "action": actions.to_text(best.action, okey),
        "tile": None if kind is None else kind_text(kind, okey),
        "reasons": reasons,
    }
