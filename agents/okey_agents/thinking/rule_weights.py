"""The weights of the rules: what `efficient` and `expert` count when they rate actions, and their form as JSON.

The folder of a scorer holds the weights of the rule that the scorer was trained with, so they are written and read.
The names of the fields are the keys there.
"""

from typing import Any, NamedTuple


class ThrowWeights(NamedTuple):
    """What is subtracted from the rating of a throw, in score units, beside the worth of the hand that it leaves."""

    coming: float
    """How much the rate at which an unseen tile comes counts: at 0 each tile counts 1, at 1 it counts that rate."""
    one_away: float
    """For each held face one number from the thrown tile, in its colour."""
    two_away: float
    """For each held face two numbers from it."""
    same_number: float
    """For each held face of its number."""
    needed: float
    """For the chance that the tile brings the right-hand neighbour nearer, less an average chance."""
    twin: float
    """If a second copy of the tile stays; a negative weight rewards it."""


class RuleWeights(NamedTuple):
    """What a rule counts, in score units; a weight of 0 switches a term off.

    The four entries of a tuple are for distances of 1, 2, 3, and 4 or more from a finish by melds.
    """

    step: float
    """The cost of each tile that the hand is away from melds."""
    wait: tuple[float, float, float, float]
    """The worth of an unknown draw, if the tile on offer does not shorten the distance."""
    wait_useful: tuple[float, float, float, float]
    """The worth of an unknown draw, if the tile on offer shortens the distance."""
    pairs_step: float
    """The cost of each tile that the hand is away from seven pairs."""
    pairs_tile: float
    """The worth of an unseen tile that brings seven pairs nearer."""
    risk: float
    """The chance, after twenty throws, that another player finishes before the mover's next turn."""
    spare_joker: tuple[float, float, float, float]
    """The worth of an unseen useful tile if a false joker stays to finish on, where the rules pay for that."""
    ahead: tuple[float, float, float, float]
    """The worth of each unseen tile that is useful after the next useful tile has come (two draws ahead)."""
    throws: tuple[ThrowWeights, ThrowWeights, ThrowWeights, ThrowWeights]
    """The weights of throws."""


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
"""The smallest exact distance first, then the most unseen useful tiles."""
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
"""`efficient`, and the terms that measurably add to it."""

RULE_NAME = "expert"
"""The name of the rule whose best moves are the candidates of a scorer, by default."""


def rule_data(rule: RuleWeights) -> dict[str, Any]:
    """The weights as JSON has them: objects and lists of numbers.

    >>> rule_of(rule_data(EXPERT)) == EXPERT
    True
    """
    data: dict[str, Any] = _plain(rule)
    return data


def rule_of(data: Any) -> RuleWeights:
    """The weights from the form that `rule_data` gives them.

    Raises:
        ValueError: `data` does not have the fields of this version, or a weight is no number.
    """
    rule: RuleWeights = _like(EXPERT, data, "rule")
    return rule


def _plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    return [_plain(part) for part in value] if isinstance(value, tuple) else float(value)


def _like(pattern: Any, data: Any, name: str) -> Any:
    """The data in the tuples of `pattern`, with all numbers as floats, the types that kernels are compiled for."""
    if hasattr(pattern, "_asdict"):
        if not isinstance(data, dict) or data.keys() != pattern._asdict().keys():
            raise ValueError(f"{name} has other weights than this version: expected {', '.join(pattern._fields)}")
        return type(pattern)(**{key: _like(getattr(pattern, key), data[key], f"{name}.{key}") for key in data})
    if isinstance(pattern, tuple):
        if not isinstance(data, list) or len(data) != len(pattern):
            raise ValueError(f"{name} = {data!r:.100} is not a list of {len(pattern)} weights")
        return tuple(_like(one, other, name) for one, other in zip(pattern, data, strict=True))
    if isinstance(data, bool) or not isinstance(data, int | float) or not abs(data) < 1e9:
        raise ValueError(f"{name} = {data!r:.100} is not a weight: expected a number between -1e9 and 1e9")
    return float(data)
