"""Reading a configuration from plain data: every value is checked, every error names its key.

A section is a frozen dataclass. The type of a field says what values it takes: `Annotated[int, Between(1, 9)]` a
number, `Literal` a choice, `tuple[...]` a list, `bool` a switch, `str` a name. The name of a section in a file is the
name of its class without `Config`, in lower case: `MonteCarloConfig` is read from `[monte_carlo]`.
"""

import dataclasses
import re
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from okey_env.checks import choice, named, real_number, shown, whole_number, yes_or_no


class Between(NamedTuple):
    """The range of a number, both ends included."""

    low: float
    high: float


Positive = Annotated[int, Between(1, 10**12)]
Count = Annotated[int, Between(0, 10**12)]
Share = Annotated[float, Between(0.0, 1.0)]
Rate = Annotated[float, Between(0.0, 1.0)]
Width = Annotated[int, Between(1, 16_384)]


class Section:
    """The keys of one concern; a subclass is a frozen dataclass in which every field has a default."""

    def check(self, config: "Config") -> None:
        """Check what depends on several keys; called once all sections are read.

        Raises:
            ValueError: the keys do not fit together; the message names them.
        """


AnySection = TypeVar("AnySection", bound=Section)


def section_name(cls: type[Section]) -> str:
    """The name of a section in a file.

    >>> section_name(type("MonteCarloConfig", (Section,), {}))
    'monte_carlo'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__.removesuffix("Config")).lower()


@dataclasses.dataclass(frozen=True)
class Config:
    """The configuration of a run: some sections, each taken out by its class, as in `config[RunConfig].seed`."""

    sections: tuple[Section, ...]

    def __getitem__(self, cls: type[AnySection]) -> AnySection:
        for section in self.sections:
            if isinstance(section, cls):
                return section
        raise KeyError(f"the configuration has no section {section_name(cls)}")

    def __contains__(self, cls: type[Section]) -> bool:
        return any(isinstance(section, cls) for section in self.sections)

    def replace(self, section: Section) -> "Config":
        """The same configuration with another section in place of the one of that class."""
        return Config(tuple(section if type(old) is type(section) else old for old in self.sections))

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """All sections and keys with their values, as JSON and TOML have them."""
        return {section_name(type(section)): _plain(vars(section)) for section in self.sections}


def read_sections(classes: Sequence[type[Section]], data: Mapping[str, Any]) -> Config:
    """A configuration from tables of keys.

    Args:
        classes: the sections that there may be; those without a table have their defaults.
        data: a table of keys for each section, by name.

    Raises:
        ValueError: a section or a key is unknown, or a value is not what it should be.
    """
    names = {section_name(cls): cls for cls in classes}
    for name in data:
        if name not in names:
            raise ValueError(f"{named(name)} is not a section of the configuration: expected one of {', '.join(names)}")
    config = Config(tuple(_read_section(cls, data.get(name, {}), name) for name, cls in names.items()))
    for section in config.sections:
        section.check(config)
    return config


def _read_section(cls: type[AnySection], data: Any, name: str) -> AnySection:
    """A section from a table of keys."""
    if not isinstance(data, Mapping):
        raise ValueError(f"{name}={shown(data)} is not a section: expected a table of keys")
    hints = typing.get_type_hints(cls, include_extras=True)
    values = {}
    for key, value in data.items():
        if key not in hints:
            raise ValueError(
                f"{name}.{named(key)} is not a key of the configuration: expected one of {', '.join(hints)}"
            )
        values[key] = _read_value(hints[key], value, f"{name}.{key}")
    return cls(**values)


def _read_value(hint: Any, value: Any, name: str) -> Any:
    """A value of a key, checked against the key's type."""
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if origin is Annotated:
        return _read_number(arguments[0], arguments[1], value, name)
    if origin is Literal:
        return choice(name, value, arguments)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise ValueError(f"{name}={shown(value)} is not a list: expected values in brackets")
        return tuple(_read_value(arguments[0], item, f"{name}[{i}]") for i, item in enumerate(value))
    if hint is bool:
        return yes_or_no(name, value)
    if origin is types.UnionType:  # a name or a table, which the section checks itself
        return dict(value) if isinstance(value, Mapping) else value
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name}={shown(value)} is not a name: expected text")
    return value


def _read_number(kind: Any, between: Between, value: Any, name: str) -> int | float:
    if kind is int:
        return whole_number(name, value, int(between.low), int(between.high))
    return real_number(name, value, *between)


def override_value(text: str) -> Any:
    """A value from the command line: TOML, or text without quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _plain(value: Any) -> Any:
    """The same value with lists in place of tuples, as JSON and TOML have them."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
