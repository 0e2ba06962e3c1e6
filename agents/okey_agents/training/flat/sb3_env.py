"""A batch of rounds as a vector environment of Stable-Baselines3.

SB3 asks for masks, rewards and infos one environment at a time. Where its code allows, they are handed over for all
environments at once: masks as one array, and one empty dict as the info of all rounds that go on.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn

from okey_env.interfaces import observation_space_of
from okey_env.vector import OkeyVectorEnv

Indices = int | Iterable[int] | None


class Sb3Env(VecEnv):
    """A batch of rounds, one learner in each, as an SB3 environment.

    Observations are the encoder's flat array; MaskablePPO fetches the masks with `action_masks`.

    Args:
        env: the batch.
        reward_unit: rewards are divided by this.
    """

    def __init__(self, env: OkeyVectorEnv, reward_unit: float = 1.0) -> None:
        self.env = env
        self._unit = reward_unit
        self._actions: npt.NDArray[np.int64] = np.zeros(env.num_envs, np.int64)
        self._earned = np.zeros(env.num_envs)  # rewards of the round under way, undivided
        self._lengths = np.zeros(env.num_envs, np.int64)
        self._nothing: dict[str, Any] = {}
        super().__init__(env.num_envs, observation_space_of(env.encoder)["observation"], env.single_action_space)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions each learner may do: `(N, 109)`."""
        return self.env.masks.astype(np.bool_)

    def reset(self) -> npt.NDArray[np.float32]:
        """Observations `(N, size)` of new rounds, dealt from the seed given to `seed`, or from a random one."""
        self.env.reset(seed=self._seeds[0])
        self._reset_seeds()
        self._earned[:] = 0
        self._lengths[:] = 0
        return self.env.observations.copy()

    def step_async(self, actions: npt.NDArray[np.int64]) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """One decision of each learner, and the others' decisions up to its next."""
        _, rewards, terminations, truncations, infos = self.env.step(self._actions)
        dones = terminations | truncations
        self._earned += rewards
        self._lengths += 1
        told = [self._nothing] * self.num_envs
        for i in np.flatnonzero(dones):
            told[i] = {
                "episode": {"r": float(self._earned[i]), "l": int(self._lengths[i])},
                "terminal_observation": infos["final_obs"][i]["observation"],
                "TimeLimit.truncated": bool(truncations[i] and not terminations[i]),
            }
        self._earned[dones] = 0
        self._lengths[dones] = 0
        return self.env.observations.copy(), (rewards / self._unit).astype(np.float32), dones, told

    def close(self) -> None:
        """Nothing to close."""

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """An attribute of the batch, or of this object, once for each environment asked about."""
        if attr_name == "render_mode":
            return [None] * self._count(indices)
        holder = self if hasattr(type(self), attr_name) else self.env
        return [getattr(holder, attr_name)] * self._count(indices)

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Not possible: the rounds of a batch have no attributes of their own."""
        raise NotImplementedError(f"a round in a batch has no attribute {attr_name!r} to set")

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """`action_masks` only: a list of one array for all environments, which MaskablePPO reshapes itself."""
        if method_name != "action_masks":
            raise NotImplementedError(f"a round in a batch has no method {method_name!r}")
        return [self.action_masks()]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: Indices = None
    ) -> list[bool]:
        """There are no wrappers."""
        return [False] * self._count(indices)

    def get_images(self) -> Sequence[None]:
        """There are no pictures."""
        return [None] * self.num_envs

    def _count(self, indices: Indices) -> int:
        if indices is None:
            return self.num_envs
        return 1 if isinstance(indices, int) else len(list(indices))
