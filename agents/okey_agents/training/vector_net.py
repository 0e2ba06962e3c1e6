"""A network in torch whose weights are the named parts of one vector, as the kernels take it (`thinking.vectors`)."""

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from okey_agents.thinking.vectors import Shapes, split_parts

Floats = npt.NDArray[np.float32]


class PartsNet(nn.Module):
    """The parts, all 0, and the way to the vector and back.

    Args:
        shapes: of the parts.
    """

    def __init__(self, shapes: Shapes) -> None:
        super().__init__()
        self.shapes = shapes
        self.parts = nn.ParameterDict({name: nn.Parameter(torch.zeros(shape)) for name, shape in shapes.items()})

    def weights(self) -> Floats:
        """All weights as the vector that the kernels take."""
        return np.concatenate([self.parts[name].detach().numpy().reshape(-1) for name in self.shapes])

    def set_weights(self, weights: Floats) -> None:
        """Take over a vector of weights."""
        with torch.no_grad():
            for name, part in split_parts(weights, self.shapes).items():
                self.parts[name].copy_(torch.from_numpy(np.array(part)))
