"""Encoders turn what a seat may know into the array that a network reads. They are chosen by name.

To write another encoder, make an `Encoder` with a name, a version, its pieces and a function that fills the array
from an OBSERVATION record. It is accepted wherever the name of an encoder is accepted, and it can be named:
`file.py:NAME`, `module:NAME`, or by an entry point of the group `okey_env.encoders`.
"""

import importlib
from collections.abc import Iterator, Mapping

from okey_env.bot_lookup import installed_object, object_named
from okey_env.checks import is_one_of, shown, whole_number
from okey_env.encoders.encoder import Encoder, Piece

ENCODERS_GROUP = "okey_env.encoders"
"""The entry-point group of encoders by name; each loads an `Encoder`."""

_CONSTANTS = {"flat": "FLAT", "flat_offer": "FLAT_OFFER", "tiles_raw": "TILES_RAW", "tiles": "TILES"}
"""By name, the constant that holds the encoder, in the module of `okey_env.encoders` with the name of the encoder."""


class _Encoders(Mapping[str, Encoder]):
    """Imports the module of an encoder when the encoder is asked for: importing some of them compiles kernels."""

    def __getitem__(self, name: str) -> Encoder:
        constant = _CONSTANTS[name]
        encoder: Encoder = getattr(importlib.import_module(f"{__name__}.{name}"), constant)
        return encoder

    def __contains__(self, name: object) -> bool:
        return name in _CONSTANTS

    def __iter__(self) -> Iterator[str]:
        return iter(_CONSTANTS)

    def __len__(self) -> int:
        return len(_CONSTANTS)


ENCODERS: Mapping[str, Encoder] = _Encoders()
"""The encoders by name."""


def as_encoder(encoder: str | Encoder, version: int | None = None) -> Encoder:
    """The encoder of a name; an `Encoder` is returned as it is.

    Args:
        encoder: a name, also of the form `file.py:NAME` or `module:NAME`, or an encoder.
        version: the version that is needed; None: any.

    Raises:
        ValueError: there is no such encoder, or it has another version.
    """
    given: object = encoder  # from outside, so of any type
    if isinstance(given, str) and ":" in given:
        given = object_named(given)
    if isinstance(encoder, str) and given is encoder:
        return installed_encoder(encoder, version)
    return _checked(encoder, given, version)


def installed_encoder(name: str, version: int | None = None) -> Encoder:
    """The encoder of a name, one of ours or of an installed package; no file is run, wherever the name comes from.

    Args:
        name: the name.
        version: the version that is needed; None: any.

    Raises:
        ValueError: there is no such encoder, or it has another version.
    """
    found: object = ENCODERS[name] if is_one_of(name, ENCODERS) else installed_object(ENCODERS_GROUP, name)
    if found is None:
        raise ValueError(
            f"encoder={shown(name)} is not an encoder: expected {', '.join(map(repr, ENCODERS))}, an Encoder, "
            "or the name of one like my_encoder.py:NAME"
        )
    return _checked(name, found, version)


def _checked(given: object, found: object, version: int | None) -> Encoder:
    if not isinstance(found, Encoder):
        if found is not given:
            raise ValueError(f"encoder={shown(given)} is {shown(found)}: expected an Encoder")
        raise ValueError(
            f"encoder={shown(given)} is not an encoder: expected {', '.join(map(repr, ENCODERS))} or an Encoder"
        )
    if version is not None and whole_number("version", version) != found.version:
        raise ValueError(
            f"the encoder {found.name!r} is here in version {found.version}, but version {version} is needed"
        )
    return found


__all__ = ["ENCODERS", "Encoder", "Piece", "as_encoder", "installed_encoder"]
