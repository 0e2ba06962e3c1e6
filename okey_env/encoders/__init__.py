"""Encoders turn what a seat may know into the array that a network reads. They are chosen by name.

To write another encoder, make an `Encoder` with a name, a version, its pieces and a function that fills the array
from an OBSERVATION record. It is accepted wherever the name of an encoder is accepted.
"""

import importlib
from collections.abc import Iterator, Mapping

from okey_env.checks import is_one_of, shown, whole_number
from okey_env.encoders.encoder import Encoder, Piece

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
        encoder: a name or an encoder.
        version: the version that is needed; None: any.

    Raises:
        ValueError: there is no such encoder, or it has another version.
    """
    if isinstance(encoder, Encoder):
        found = encoder
    elif is_one_of(encoder, ENCODERS):
        found = ENCODERS[encoder]
    else:
        raise ValueError(
            f"encoder={shown(encoder)} is not an encoder: expected {', '.join(map(repr, ENCODERS))} or an Encoder"
        )
    if version is not None and whole_number("version", version) != found.version:
        raise ValueError(
            f"the encoder {found.name!r} is here in version {found.version}, but version {version} is needed"
        )
    return found


__all__ = ["ENCODERS", "Encoder", "Piece", "as_encoder"]
