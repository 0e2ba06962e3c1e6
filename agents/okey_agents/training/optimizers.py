"""The memory of a torch optimiser as plain arrays, for checkpoints."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

Arrays = dict[str, npt.NDArray[Any]]


def optimizer_arrays(optimizer: torch.optim.Optimizer) -> Arrays:
    """The optimiser's memory: for each parameter, by its number, its step count and running means."""
    state = optimizer.state_dict()["state"]
    return {f"{i}.{key}": value.cpu().numpy().copy() for i, values in state.items() for key, value in values.items()}


def set_optimizer_arrays(optimizer: torch.optim.Optimizer, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Give an optimiser the memory that `optimizer_arrays` took from another."""
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, array in arrays.items():
        number, _, key = name.partition(".")
        state.setdefault(int(number), {})[key] = torch.from_numpy(np.array(array))
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
