"""What `reset(options=…)` may hold, the same for every environment."""

import difflib
from collections.abc import Mapping
from typing import Any

from okey_env.deal import Deal


def deal_of(options: Mapping[str, Any] | None) -> Deal | None:
    """The chosen position among reset options, if there is one.

    Options that mean nothing here are passed over, as PettingZoo and Gymnasium want it, but not one that is
    nearly `deal`.

    Raises:
        ValueError: an option looks like a misspelt `deal`, or its value is no `Deal`.
    """
    for option in options or ():
        if option != "deal" and difflib.get_close_matches(str(option).lower(), ["deal"]):
            raise ValueError(f"reset option {option!r} is not known: did you mean 'deal'?")
    deal = (options or {}).get("deal")
    if deal is not None and not isinstance(deal, Deal):
        raise ValueError(f"reset option deal={deal!r}: expected an okey_env.Deal")
    return deal
