"""Random numbers for kernels: SplitMix64 (Steele, Lea and Flood, 2014), one 64-bit word of state.

A stream is one word, its state, that the caller keeps: `state = advance(state)`, then `below(state, n)` gives a number.
The same state gives the same numbers on every machine, in every thread, compiled or not.
"""

import numpy as np

from okey_env.engine._jit import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_U27 = np.uint64(27)
_U30 = np.uint64(30)
_U31 = np.uint64(31)
_U32 = np.uint64(32)
_U1 = np.uint64(1)


@kernel
def mix(word: np.uint64) -> np.uint64:
    """A 64-bit word scrambled; different words give different results."""
    word = (word ^ (word >> _U30)) * _MIX_1
    word = (word ^ (word >> _U27)) * _MIX_2
    return word ^ (word >> _U31)


@kernel
def advance(state: np.uint64) -> np.uint64:
    """The next state of a stream."""
    return state + _GOLDEN


@kernel
def below(state: np.uint64, limit: int) -> int:
    """A number 0 … limit - 1 from a state; all have the same probability, to within limit / 2**32."""
    return int(np.int64(((mix(state) >> _U32) * np.uint64(limit)) >> _U32))


@kernel
def derive_seed(seed: np.uint64, index: np.uint64) -> np.uint64:
    """The seed of the game (or round, or bot) number `index` under one seed; the streams are unrelated."""
    return mix(mix(seed + _GOLDEN) ^ ((index + _U1) * _GOLDEN))
