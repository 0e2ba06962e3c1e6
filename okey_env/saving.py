"""A game as bytes: a header with a version, a checksum, and the record itself.

A `Round`, every environment and each game of a batch can be saved to these bytes and restored from them.
"""

import hashlib

import numpy as np
import numpy.typing as npt

from okey_env.checks import shown
from okey_env.engine.state import GAME, rules_of
from okey_env.rules import Rules

_HEADER = b"okey-env game 1\n"
"""The version changes with the layout of GAME."""
_DIGEST_SIZE = 8


def to_bytes(games: npt.NDArray[np.record], i: int) -> bytes:
    """Game i of `(N,)` as bytes, hidden tiles included; the same game always gives the same bytes."""
    game = games[i : i + 1].copy()
    game["log"][0, int(game["num_events"][0]) :] = 0  # old entries of earlier rounds
    for pile, height in zip(game["pile"][0], game["pile_height"][0], strict=True):
        pile[int(height) :] = 0
    body = game.tobytes()
    return _HEADER + _digest(body) + body


def from_bytes(saved: bytes, rules: Rules | None = None) -> npt.NDArray[np.record]:
    """The game that `to_bytes` saved: `(1,)` of GAME.

    Args:
        saved: the bytes.
        rules: the rules that the game must have; None: any.

    Raises:
        ValueError: the bytes are not those of a saved game of this version, or the game has other rules.
    """
    if not isinstance(saved, bytes):
        raise ValueError(f"{shown(saved)} is not a saved game: expected bytes")
    if not saved.startswith(_HEADER):
        raise ValueError(f"not a saved game: expected bytes that begin with {_HEADER!r}, got {saved[:16]!r}")
    start = len(_HEADER) + _DIGEST_SIZE
    body = saved[start:]
    if len(body) != GAME.itemsize:
        raise ValueError(f"a damaged saved game: expected {GAME.itemsize} bytes after its header, got {len(body)}")
    if _digest(body) != saved[len(_HEADER) : start]:
        raise ValueError("a damaged saved game: its checksum does not match its bytes")
    game = np.frombuffer(body, GAME).copy()
    if rules is not None and rules_of(game[0]) != rules:
        raise ValueError(f"the saved game plays {rules_of(game[0]).name}: expected {rules.name}, as it is played here")
    return game


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST_SIZE).digest()
