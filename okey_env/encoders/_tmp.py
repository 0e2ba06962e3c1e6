"""temporary"""
import numpy as np
from okey_env.engine._jit import kernel
from okey_env.engine.hand import BIT_OF_KIND, cover
ONE=np.uint64(1); NONE=np.uint64(0)
@kernel
def useful_set(once, twice, wilds, wraps):
    m = cover(once, twice, wraps)
    word = NONE
    if m + wilds >= 14:
        return word
    for kind in range(52):
        bit = ONE << np.uint64(BIT_OF_KIND[kind])
        if twice & bit: continue
        if cover(once | bit, twice | (once & bit), wraps) > m:
            word |= bit
    return word | (ONE << np.uint64(52))
@kernel
def analyse_throws(once, twice, wilds, wraps, useful_after):
    best = 99
    keep = NONE
    dist = np.full(53, 99)
    for kind in range(53):
        if kind == 52:
            if wilds == 0: continue
            o, t, w = once, twice, wilds - 1
        else:
            bit = ONE << np.uint64(BIT_OF_KIND[kind])
            if not once & bit: continue
            w = wilds
            if twice & bit:
                o, t = once, twice ^ bit
            else:
                o, t = once ^ bit, twice
        d = max(0, 14 - w - cover(o, t, wraps))
        dist[kind] = d
        useful_after[kind] = useful_set(o, t, w, wraps)
        best = min(best, d)
    for kind in range(53):
        if dist[kind] == best:
            keep |= ONE << np.uint64(BIT_OF_KIND[kind])
        else:
            useful_after[kind] = NONE
    return best, keep
