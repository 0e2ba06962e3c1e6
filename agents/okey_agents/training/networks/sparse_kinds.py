"""The first layer of the network `kinds` on kernels: most planes are 0, and most hidden numbers are needed only once.

The way forward is that of exported bots (`okey_agents.bots.kinds_network`). With torch alone this layer writes, reads
and adds arrays of `(N, 53, width)` ten times, which takes most of the time of the whole network. The kernels hold the
hidden numbers of one row at a time, skip planes that are 0, and compute the hidden numbers again on the way back. The
results are those of `Kinds` on dense arrays (a test compares both).
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from okey_agents.bots.kinds_network import MESSAGE, find_laid, hide, look, neighbours
from okey_env.engine._jit import kernel
from okey_env.tiles import NUM_KINDS, RACK_SIZE

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

# Letters: N rows, W hidden numbers, M tiles that may be laid down.


class LookAtKinds(torch.autograd.Function):
    """Hidden numbers of all kinds, in the forms that `Kinds` needs them.

    Inputs: observations `(N, E)`; `table` `(N, W)`, what the facts add to each kind; the weights of the planes
    `(W, P)`; the entries where the rack begins and where it is told that the seat is throwing.

    Outputs: the mean over the kinds `(N, W)`; the hidden numbers of each tile that may be laid down `(M, W)`; those of
    its neighbours one step away, two steps away and in the group, added up, `(M, 3 * MESSAGE)`; and where these tiles
    belong, `row * 53 + kind`, `(M,)` int64.
    """

    @staticmethod
    def forward(
        ctx: Any, observations: torch.Tensor, table: torch.Tensor, weights: torch.Tensor, rack: int, throwing: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """The outputs; see the class."""
        seen, by_plane = observations.numpy(), np.ascontiguousarray(weights.detach().numpy().T)
        count, width = table.shape
        places = np.empty(count * (RACK_SIZE + 1), np.int64)
        places = places[: find_laid(seen, rack, throwing, places)]
        # memory of torch, not of numpy: products of matrices round by how their memory is aligned
        mean, own = torch.empty(count, width), torch.empty(len(places), width)
        beside = torch.zeros(len(places), 3 * MESSAGE)
        look(seen, table.detach().numpy(), by_plane, places, mean.numpy(), own.numpy(), beside.numpy())
        ctx.seen, ctx.by_plane, ctx.places = seen, by_plane, places
        ctx.save_for_backward(table)
        where = torch.from_numpy(places)
        ctx.mark_non_differentiable(where)
        return mean, own, beside, where

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        """The gradients of `table` and of the weights."""
        (table,) = ctx.saved_tensors
        of_mean, of_own, of_beside = (gradient.contiguous().numpy() for gradient in gradients[:3])
        of_table, of_weights = torch.zeros_like(table), torch.zeros(ctx.by_plane.shape)
        looked = (ctx.seen, table.numpy(), ctx.by_plane, ctx.places, of_mean, of_own, of_beside)
        look_back(*looked, of_table.numpy(), of_weights.numpy())
        return None, of_table, of_weights.T, None, None


@kernel
def look_back(
    seen: Floats,
    table: Floats,
    by_plane: Floats,
    places: Ints,
    of_mean: Floats,
    of_own: Floats,
    of_beside: Floats,
    of_table: Floats,
    of_weights: Floats,
) -> None:
    """Add the gradients of `table` and of the weights to `of_table` and `of_weights`, which must be zeros."""
    planes, width = by_plane.shape
    hidden = np.empty((NUM_KINDS, width), np.float32)
    slope = np.empty((NUM_KINDS, width), np.float32)
    near = np.empty(7, np.int64)
    share = np.float32(1 / NUM_KINDS)
    place = 0
    for row in range(len(seen)):
        hide(seen[row], table[row], by_plane, hidden)
        for kind in range(NUM_KINDS):
            for unit in range(width):
                slope[kind, unit] = share * of_mean[row, unit]
        while place < len(places) and places[place] // NUM_KINDS == row:
            kind = places[place] % NUM_KINDS
            for unit in range(width):
                slope[kind, unit] += of_own[place, unit]
            for i in range(neighbours(kind, near)):
                part = min(i // 2, 2) * MESSAGE
                for unit in range(MESSAGE):
                    slope[near[i], width - MESSAGE + unit] += of_beside[place, part + unit]
            place += 1
        for kind in range(NUM_KINDS):
            for unit in range(width):
                kept = slope[kind, unit] if hidden[kind, unit] > 0 else np.float32(0)
                slope[kind, unit] = kept
                of_table[row, unit] += kept
        for plane in range(planes):
            for kind in range(NUM_KINDS):
                value = seen[row, plane * NUM_KINDS + kind]
                if value != 0:
                    for unit in range(width):
                        of_weights[plane, unit] += value * slope[kind, unit]
