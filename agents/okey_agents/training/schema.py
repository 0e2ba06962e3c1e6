"""Reading frozen dataclasses from plain data: every value checked, every fault named by its key.

A section is a dataclass; the type of a field says what values it takes: `Annotated[int, Between(1, 9)]` a number,
`Literal` a choice, `tuple[...]` a list, `bool` a switch, `str` a name.
"""

import dataclasses
import tomllib
import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

Section = TypeVar("Section")


class Between(NamedTuple):
    """The range of a number, both ends included."""

    low: float
    high: float


Positive = Annotated[int, Between(1, 10**12)]
Count = Annotated[int, Between(0, 10**12)]
Share = Annotated[float, Between(0.0, 1.0)]
Rate = Annotated[float, Between(0.0, 1.0)]
Width = Annotated[int, Between(1, 16_384)]


def read_section(cls: type[Section], data: Any, prefix: str = "") -> Section:
    """A dataclass of sections, or a section of keys, from tables.

    Args:
        cls: the dataclass.
        data: the table.
        prefix: what the keys' full names begin with.

    Raises:
        ValueError: a key is unknown, or a value is not what it should be.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"{prefix.rstrip('.')} = {data!r} is not a section: expected a table of keys")
    hints = typing.get_type_hints(cls, include_extras=True)
    for key in data:
        if key not in hints:
            what = "key" if prefix else "section"
            raise ValueError(f"{prefix}{key} is not a {what} of the configuration: expected one of {', '.join(hints)}")
    values = {}
    for key, value in data.items():
        hint = hints[key]
        if dataclasses.is_dataclass(hint):
            values[key] = read_section(typing.cast(type[Any], hint), value, f"{key}.")
        else:
            values[key] = _read_value(hint, value, f"{prefix}{key}")
    return cls(**values)


def _read_value(hint: Any, value: Any, name: str) -> Any:
    """A value of a key, checked against the key's type."""
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if origin is Annotated:
        return _read_number(arguments[0], arguments[1], value, name)
    if origin is Literal:
        if value not in arguments:
            raise ValueError(f"{name} = {value!r} is not a choice: expected {' or '.join(map(repr, arguments))}")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise ValueError(f"{name} = {value!r} is not a list: expected values in brackets")
        return tuple(_read_value(arguments[0], item, f"{name}[{i}]") for i, item in enumerate(value))
    if hint is bool:
        if not isinstance(value, bool):
            raise ValueError(f"{name} = {value!r} is not a switch value: expected true or false")
        return value
    if origin is types.UnionType:  # rules: a name or a table, looked into by _check_together
        return dict(value) if isinstance(value, Mapping) else value
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} = {value!r} is not a name: expected text")
    return value


def _read_number(kind: Any, between: Between, value: Any, name: str) -> int | float:
    whole = kind is int
    is_number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not is_number or not between.low <= value <= between.high:  # NaN is not between
        low, high = (int(between.low), int(between.high)) if whole else between
        what = "whole number" if whole else "number"
        raise ValueError(f"{name} = {value!r} is out of range: expected a {what} from {low} to {high}")
    return int(value) if whole else float(value)


def override_value(text: str) -> Any:
    """A value from the command line: TOML, or text without quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def plain(value: Any) -> Any:
    """The same with lists for tuples, as JSON and TOML have them."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value
