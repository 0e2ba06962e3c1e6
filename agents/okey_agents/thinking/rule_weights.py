"""The weights of the rules that rate moves: what `efficient` and `expert` care for, and how that is kept as data.

A scorer keeps the weights of the rule it was trained with, so they can be written as JSON and read again.
"""

from typing import Any, NamedTuple


class ThrowWeights(NamedTuple):
    """What else counts at a throw, in score units; the cost of what is named, so a negative weight rewards."""

    coming: float
    """How far unseen tiles count by how likely they are to come: at 0 all count 1, at 1 by that likelihood."""
    one_away: float
    """A held face one away in a run from the thrown one: what may come to a meld with it."""
    two_away: float
    """The same two away."""
    same_number: float
    """The same of its number."""
    needed: float
    """The chance that the right-hand neighbour comes nearer by the tile."""
    twin: float
    """Throwing a tile of which a second copy stays."""


class RuleWeights(NamedTuple):
    """What a rung cares for, in score units; 0 switches a thought off."""

    step: float
    """A tile nearer to melds."""
    wait: tuple[float, float, float, float]
    """An unknown draw, beside the hand as it is, at distance 1, 2, 3 and beyond."""
    wait_useful: tuple[float, float, float, float]
    """The same when the offered tile shortens the distance."""
    pairs_step: float
    """A tile nearer to seven pairs."""
    pairs_tile: float
    """An unseen tile that shortens the way to seven pairs."""
    risk: float
    """The chance that somebody finishes before one's next turn, after twenty throws: why not to wait with a finish."""
    spare_joker: tuple[float, float, float, float]
    """An unseen useful tile that leaves a false joker to finish on, where that is dear, by distance."""
    ahead: tuple[float, float, float, float]
    """A useful tile that is still unseen after the next useful tile has come, by distance: two draws ahead."""
    throws: tuple[ThrowWeights, ThrowWeights, ThrowWeights, ThrowWeights]
    """What else counts at a throw, by distance."""


NO_THROW_WEIGHTS = ThrowWeights(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

EFFICIENT = RuleWeights(
    step=40.0,
    wait=(4.0, 7.0, 14.0, 30.0),
    wait_useful=(7.0, 11.0, 9.0, 14.0),
    pairs_step=60.0,
    pairs_tile=1.0,
    risk=0.15,
    spare_joker=(0.0, 0.0, 0.0, 0.0),
    ahead=(0.0, 0.0, 0.0, 0.0),
    throws=(NO_THROW_WEIGHTS, NO_THROW_WEIGHTS, NO_THROW_WEIGHTS, NO_THROW_WEIGHTS),
)
"""The exact distance first, then the most unseen useful tiles."""
EXPERT = EFFICIENT._replace(
    spare_joker=(1.0, 0.75, 0.7, 0.4),
    ahead=(0.0, 2.36, 0.0, 0.0),
    throws=(
        ThrowWeights(coming=0.85, one_away=0.36, two_away=0.0, same_number=0.27, needed=2.2, twin=-0.4),
        ThrowWeights(coming=1.7, one_away=0.86, two_away=0.0, same_number=0.84, needed=3.5, twin=-1.1),
        ThrowWeights(coming=2.2, one_away=1.7, two_away=0.1, same_number=2.0, needed=9.0, twin=-1.7),
        ThrowWeights(coming=3.0, one_away=4.5, two_away=0.7, same_number=2.8, needed=18.0, twin=-2.0),
    ),
)
"""`efficient`, and what measurably adds to it."""

RULE_NAME = "expert"
"""The rule that scorers choose the candidates by, unless they are trained for another."""


def rule_data(rule: RuleWeights) -> dict[str, Any]:
    """The weights as JSON has them: tables and lists of numbers.

    >>> rule_of(rule_data(EXPERT)) == EXPERT
    True
    """
    data: dict[str, Any] = _plain(rule)
    return data


def rule_of(data: Any) -> RuleWeights:
    """The weights from `rule_data`.

    Raises:
        ValueError: they are not the weights of a rule of this version.
    """
    rule: RuleWeights = _like(EXPERT, data, "rule")
    return rule


def _plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    return [_plain(part) for part in value] if isinstance(value, tuple) else float(value)


def _like(pattern: Any, data: Any, name: str) -> Any:
    """The data as tuples of the pattern's shape, all numbers as floats, as the kernels are compiled for."""
    if hasattr(pattern, "_asdict"):
        if not isinstance(data, dict) or data.keys() != pattern._asdict().keys():
            raise ValueError(f"{name} has not the weights of this version: expected {', '.join(pattern._fields)}")
        return type(pattern)(**{key: _like(getattr(pattern, key), data[key], f"{name}.{key}") for key in data})
    if isinstance(pattern, tuple):
        if not isinstance(data, list) or len(data) != len(pattern):
            raise ValueError(f"{name} = {data!r:.100} is no list of {len(pattern)} weights")
        return tuple(_like(one, other, name) for one, other in zip(pattern, data, strict=True))
    if isinstance(data, bool) or not isinstance(data, int | float) or not abs(data) < 1e9:
        raise ValueError(f"{name} = {data!r:.100} is no weight: expected a number")
    return float(data)
