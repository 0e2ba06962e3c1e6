"""The 48 symmetries of the tiles: what melds are does not change when tiles are renamed by one of them.

Any permutation of the four colours is one, and so is the reflection that leaves number 1 where it is and takes n to
15 - n for 2 to 13: runs end at both sides with a 1 (1-2-3, 12-13-1), as R4.1 has it. Where `run_13_1` is off, the
reflection is none, and 24 are left.

A symmetry of kinds turns a training sample into another one that is as good: observation, mask and action change
together (`turn_planes`, `turn_actions`).
"""

import itertools

import numpy as np
import numpy.typing as npt

from okey_env.actions import FINISH, NUM_ACTIONS, THROW
from okey_env.checks import shown, whole_number
from okey_env.encoders.encoder import Encoder
from okey_env.tiles import NUM_KINDS, NUM_NUMBERS

Ints = npt.NDArray[np.int64]


def _kinds_of(colours: tuple[int, ...], reflected: bool) -> list[int]:
    kinds = []
    for colour in range(4):
        for number in range(1, NUM_NUMBERS + 1):
            other = 15 - number if reflected and number > 1 else number
            kinds.append(colours[colour] * NUM_NUMBERS + other - 1)
    return [*kinds, NUM_KINDS - 1]


SYMMETRIES: Ints = np.array(
    [_kinds_of(colours, reflected) for reflected in (False, True) for colours in itertools.permutations(range(4))],
    np.int64,
)
"""`(48, 53)`: by symmetry, what each kind becomes. The first 24 leave the numbers; row 0 changes nothing."""

_ACTIONS: Ints = np.tile(np.arange(NUM_ACTIONS), (len(SYMMETRIES), 1))
_ACTIONS[:, THROW : THROW + NUM_KINDS] = THROW + SYMMETRIES
_ACTIONS[:, FINISH : FINISH + NUM_KINDS] = FINISH + SYMMETRIES


def _row(symmetry: int) -> int:
    return whole_number("symmetry", symmetry, 0, len(SYMMETRIES) - 1)


def turn_actions(actions: Ints, symmetry: int) -> Ints:
    """What actions become under a symmetry; an array of any shape.

    >>> turn_actions(np.array([0, THROW]), 24).tolist()  # the reflection: R1 stays R1
    [0, 3]
    >>> turn_actions(np.array([THROW + 1]), 24).tolist() == [THROW + 12]  # R2 becomes R13
    True
    """
    chosen = np.asarray(actions)
    if chosen.dtype.kind not in "iu" or (chosen.size and not 0 <= chosen.min() <= chosen.max() < NUM_ACTIONS):
        raise ValueError(f"actions={shown(actions)}: expected whole numbers from 0 to {NUM_ACTIONS - 1}")
    turned: Ints = _ACTIONS[_row(symmetry)][chosen]
    return turned


def turn_masks(masks: npt.NDArray[np.int8], symmetry: int) -> npt.NDArray[np.int8]:
    """The masks `(…, 109)` of the turned observations.

    Raises:
        ValueError: the masks have another size, or there is no such symmetry.
    """
    if np.ndim(masks) == 0 or masks.shape[-1] != NUM_ACTIONS:
        raise ValueError(f"the masks have the shape {np.shape(masks)}: expected (…, {NUM_ACTIONS})")
    turned = np.empty_like(masks)
    turned[..., _ACTIONS[_row(symmetry)]] = masks
    return turned


def turn_observations(
    observations: npt.NDArray[np.float32], symmetry: int, encoder: Encoder
) -> npt.NDArray[np.float32]:
    """The arrays `(…, size)` of an encoder of planes as they are when every tile is turned.

    Args:
        observations: what the encoder gave.
        symmetry: 0 to 47; 0 to 23 where a 1 does not follow a 13.
        encoder: one whose array is planes by kind and facts that know no tile: `tiles_raw` or `tiles`.

    Raises:
        ValueError: the encoder has no planes.
    """
    if encoder.num_planes == 0:
        raise ValueError(f"the encoder {encoder.name!r} has no planes: expected one like 'tiles'")
    encoder.split(observations)  # raises if they are not arrays of the encoder
    turned = observations.copy()
    end = encoder.num_planes * NUM_KINDS
    planes = turned[..., :end].reshape(*turned.shape[:-1], encoder.num_planes, NUM_KINDS)
    source = observations[..., :end].reshape(planes.shape)
    planes[..., SYMMETRIES[_row(symmetry)]] = source
    turned[..., :end] = planes.reshape(*turned.shape[:-1], end)
    return turned
