"""How the round and the match read a plain mapping of switches, and the two presets as the rules state them."""

from collections.abc import Mapping

Rules = Mapping[str, object]

# R6, R7, R8: the online game of the first source.
GAMELAKE: Rules = {
    "run_13_1": True,  # R4.1
    "stock_end": "void_after_throw",  # R5.4: void_after_throw, next_may_take
    "max_throws": 200,  # R5.6
    "combine": "product",  # R6.5: product, max
    "false_joker_as_okey": False,  # R6.3
    "indicator_points": 1,  # R6.6: 0 = nothing can be shown
    "indicator_window": "first_turn",  # R7.1: first_turn, before_draw
    "colour_double": False,  # R6.9
    "void_points": 0,  # R5.5
    "teams": False,  # R8.4
    "rotation": "right",  # R2.2: right, winner
    "start_points": 20,  # R8.1
    "winners": 1,  # R8.3
}

# R6, R7, R8: the rule page of the second source.
KLASIK: Rules = {
    **GAMELAKE,
    "combine": "max",
    "false_joker_as_okey": True,
    "indicator_points": 0,
    "winners": 2,
}


def flag(rules: Rules, name: str) -> bool:
    """A switch that is on or off."""
    value = rules[name]
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return value


def number(rules: Rules, name: str) -> int:
    """A switch that is a number, 0 or more."""
    value = rules[name]
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError(f"{name} must be a number of at least 0, not {value!r}")
    return value


def word(rules: Rules, name: str, choices: tuple[str, ...]) -> str:
    """A switch that is one of a few words."""
    value = rules[name]
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {choices}, not {value!r}")
    return value
