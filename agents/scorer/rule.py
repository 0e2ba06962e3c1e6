"""The rule that a scorer stands on, as data: its weights are kept with the scorer, which was trained for these."""

from typing import Any

from ..expert_bot import WEIGHTS as EXPERT
from ..judge import Weights

RULE_NAME = "expert"


def rule_data(rule: Weights) -> dict[str, Any]:
    """The weights as JSON has them: tables and lists of numbers.

    >>> rule_of(rule_data(EXPERT)) == EXPERT
    True
    """
    data: dict[str, Any] = _plain(rule)
    return data


def rule_of(data: Any) -> Weights:
    """The weights from `rule_data`.

    Raises:
        ValueError: they are not the weights of a rule of this version.
    """
    rule: Weights = _like(EXPERT, data, "rule")
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
