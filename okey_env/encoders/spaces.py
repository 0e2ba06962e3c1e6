"""The observation space of every environment of this package."""

import gymnasium
import numpy as np

from okey_env.actions import NUM_ACTIONS
from okey_env.encoders.encoder import Encoder


def observation_space_of(encoder: Encoder) -> gymnasium.spaces.Dict:
    """`{"observation": the encoder's array, "action_mask": (109,) int8}`."""
    return gymnasium.spaces.Dict(
        {
            "observation": gymnasium.spaces.Box(-encoder.high, encoder.high, encoder.shape, np.float32),
            "action_mask": gymnasium.spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
        }
    )
