"""Encoders turn what a seat may know into the array that a network reads. They are chosen by name.

To write another encoder, make an `Encoder` with a name, a version, its pieces and a function that fills the array
from an OBSERVATION record. It is accepted wherever the name of an encoder is accepted.
"""

from okey_env.encoders.encoder import Encoder, Piece
from okey_env.encoders.flat import FLAT
from okey_env.encoders.flat_offer import FLAT_OFFER
from okey_env.encoders.tiles import TILES
from okey_env.encoders.tiles_raw import TILES_RAW

ENCODERS: dict[str, Encoder] = {encoder.name: encoder for encoder in (FLAT, FLAT_OFFER, TILES_RAW, TILES)}
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
    elif encoder in ENCODERS:
        found = ENCODERS[encoder]
    else:
        raise ValueError(
            f"encoder={encoder!r} is not an encoder: expected {', '.join(map(repr, ENCODERS))} or an Encoder"
        )
    if version is not None and version != found.version:
        raise ValueError(
            f"the encoder {found.name!r} is here in version {found.version}, but version {version} is needed"
        )
    return found


__all__ = ["ENCODERS", "Encoder", "Piece", "as_encoder"]
