"""The settings of a fit, and the memory of a torch optimiser as plain arrays, for checkpoints."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

Arrays = dict[str, npt.NDArray[Any]]


class FitSettings(NamedTuple):
    """How a network is fitted."""

    epochs: int
    """Passes over all samples."""
    minibatch: int
    """Samples in one step."""
    learning_rate: float
    """Step size at the beginning; it falls to about 0."""
    weight_decay: float = 1e-3
    """Weight decay of AdamW."""


def optimizer_arrays(optimizer: torch.optim.Optimizer) -> Arrays:
    """The optimiser's memory: step count and running means of each parameter, named `number.key`."""
    state = optimizer.state_dict()["state"]
    return {f"{i}.{key}": value.cpu().numpy().copy() for i, values in state.items() for key, value in values.items()}


def set_optimizer_arrays(optimizer: torch.optim.Optimizer, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Load the memory that `optimizer_arrays` took from another optimiser of the same parameters."""
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, array in arrays.items():
        number, _, key = name.partition(".")
        state.setdefault(int(number), {})[key] = torch.from_numpy(np.array(array))
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
