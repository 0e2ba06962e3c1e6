"""A network in torch whose weights convert to and from the one vector that kernels take (`thinking.vectors`)."""

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from okey_agents.thinking.vectors import Shapes, split_parts

Floats = npt.NDArray[np.float32]


class PartsNet(nn.Module):
    """A network with named weights, all 0 at first; a subclass computes with them.

    Args:
        shapes: the shape of each part of the vector, by name, in the order of the vector.
    """

    def __init__(self, shapes: Shapes) -> None:
        super().__init__()
        self.shapes = shapes
        self.parts = nn.ParameterDict({name: nn.Parameter(torch.zeros(shape)) for name, shape in shapes.items()})

    def weights(self) -> Floats:
        """All weights `(W,)` as the vector that kernels take."""
        return np.concatenate([self.parts[name].detach().numpy().reshape(-1) for name in self.shapes])

    def set_weights(self, weights: Floats) -> None:
        """Copy the weights from a vector `(W,)`."""
        with torch.no_grad():
            for name, part in split_parts(weights, self.shapes).items():
                self.parts[name].copy_(torch.from_numpy(np.array(part)))
