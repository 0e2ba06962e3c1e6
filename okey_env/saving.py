"""A game as bytes: a header with a version, a checksum, and the record itself.

A `Round`, every environment and each game of a batch can be saved to these bytes and restored from them.
"""

import hashlib

import numpy as np
import numpy.typing as npt

from okey_env.checks import shown
from okey_env.engine.events import EVENTS, HIDDEN_TILE, unpack_events
from okey_env.engine.hand import BIT_OF_KIND
from okey_env.engine.state import ENDINGS, GAME, LOG_SIZE, NO_SEAT, NO_TILE, PHASES, PILE_SIZE, rules_of
from okey_env.rules import MAX_THROWS_RANGE, SWITCHES, Rules
from okey_env.tiles import NUM_FACES, NUM_KINDS, NUM_SEATS, NUM_STOCK, RACK_SIZE, okey_of, total_counts

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
    _check(game)
    if rules is not None and rules_of(game[0]) != rules:
        raise ValueError(f"the saved game plays {rules_of(game[0]).name}: expected {rules.name}, as it is played here")
    return game


def _check(game: npt.NDArray[np.record]) -> None:
    """Raise a ValueError if a field of `(1,)` of GAME has a value that no game has, on which kernels must not run."""
    for switch in SWITCHES:
        byte = int(game["rules"][switch.byte][0])
        low, high = switch.between
        if not low <= byte <= high:
            raise ValueError(f"a damaged saved game: {switch.name}={byte}: expected {low} to {high}")
    for name, most, none in _RANGES:
        values = game[name].ravel()
        wrong = values[(values > most) & (values != none)]
        if wrong.size:
            raise ValueError(f"a damaged saved game: {name}={int(wrong[0])}: expected 0 to {most}")
    indicator, height = int(game["indicator"][0]), game["pile_height"][0]
    if game["okey"][0] != okey_of(indicator):
        raise ValueError("a damaged saved game: its okey does not follow from its indicator")
    events, _, kinds = unpack_events(game["log"][0, : int(game["num_events"][0])])
    if (events >= len(EVENTS)).any() or ((kinds >= NUM_KINDS) & (kinds != HIDDEN_TILE)).any():
        raise ValueError("a damaged saved game: its log has an event that does not exist")
    if (game["pile"][0][np.arange(PILE_SIZE) < height[:, None]] >= NUM_KINDS).any():
        raise ValueError("a damaged saved game: a heap has a tile that does not exist")
    racks, heaps = game["rack"][0, :, :NUM_KINDS], game["heap"][0, :, :NUM_KINDS]
    if not np.isin(racks.sum(axis=1), (RACK_SIZE, RACK_SIZE + 1)).all():
        raise ValueError(f"a damaged saved game: a rack has neither {RACK_SIZE} nor {RACK_SIZE + 1} tiles")
    for name, least in (("once", 1), ("twice", 2)):
        if not np.array_equal(game[name][0], (_BITS * (racks[:, :NUM_FACES] >= least)).sum(axis=1, dtype=np.uint64)):
            raise ValueError("a damaged saved game: a rack is stored in two forms that differ")
    stock = game["stock"][0, _undrawn(game)]  # of a world, what was drawn is no tile
    if (stock >= NUM_KINDS).any():
        raise ValueError("a damaged saved game: its stock has a tile that does not exist")
    tiles = np.bincount(stock, minlength=NUM_KINDS) + racks.sum(axis=0) + heaps.sum(axis=0)
    if (tiles > total_counts(indicator)).any():
        raise ValueError("a damaged saved game: a tile is in it more often than it exists")


def _undrawn(game: npt.NDArray[np.record]) -> npt.NDArray[np.int64]:
    """The indices in `stock` of the tiles that can still be drawn."""
    if game["draw_queues"][0]:
        queues = zip(game["queue_next"][0].tolist(), game["queue_end"][0].tolist(), strict=True)
        return np.concatenate([np.arange(first, end) for first, end in queues])
    return np.arange(NUM_STOCK - int(game["stock_left"][0]), NUM_STOCK)


_BITS = np.uint64(1) << np.asarray(BIT_OF_KIND[:NUM_FACES], np.uint64)
_RANGES = (
    ("draw_queues", 1, 0),
    ("phase", len(PHASES) - 1, 0),
    ("turn", NUM_SEATS - 1, 0),
    ("starter", NUM_SEATS - 1, 0),
    ("indicator", NUM_FACES - 1, 0),
    ("stock_left", NUM_STOCK, 0),
    ("throws", MAX_THROWS_RANGE[1], 0),
    ("offer", NUM_KINDS - 1, NO_TILE),
    ("has_thrown", 2**NUM_SEATS - 1, 0),
    ("shown_by", NUM_SEATS - 1, NO_SEAT),
    ("last_chance", 1, 0),
    ("ending", len(ENDINGS) - 1, 0),
    ("winner", NUM_SEATS - 1, NO_SEAT),
    ("finish_kind", NUM_KINDS - 1, NO_TILE),
    ("by_pairs", 1, 0),
    ("by_okey", 1, 0),
    ("set_aside", NUM_STOCK - NUM_SEATS, 0),
    ("num_events", LOG_SIZE, 0),
    ("queue_next", NUM_STOCK, 0),
    ("queue_end", NUM_STOCK, 0),
    ("pile_height", PILE_SIZE, 0),
    ("rack", 2, 0),
    ("heap", 2, 0),
    ("known", 2, 0),
)
"""The fields of GAME that kernels use as an index or a count: the greatest value, and the value that means none."""


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST_SIZE).digest()
