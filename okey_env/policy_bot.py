"""PolicyBot: a player from an encoder and a function, such as a network of one's own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from okey_env.actions import NUM_ACTIONS
from okey_env.checks import shown
from okey_env.encoders import Encoder, as_encoder
from okey_env.observation import Observation, masks_of

Policy = Callable[[npt.NDArray[np.float32], npt.NDArray[np.bool_]], Any]


class PolicyBot:
    """Plays what a function makes of an encoder's array; it plays many games at once.

    Args:
        encoder: an encoder or its name, also `my_encoder.py:NAME`.
        policy: called with observations `(N, E)` float32 and masks `(N, 109)` bool. It gives scores `(N, 109)`, of
            which the highest legal one is played (the first of equals), or actions `(N,)`. Arrays of numpy, or tensors
            of torch.
        name: the name in reports; None: that of the function.

    Raises:
        ValueError: there is no such encoder, `policy` cannot be called, or `name` is no text.

    >>> from okey_env.round import Round
    >>> bot = PolicyBot("flat", lambda observations, masks: -masks.cumsum(axis=1), name="first")
    >>> seen = Round("gamelake", seed=7)
    >>> bot.act(seen.observe(seen.turn)) == seen.legal_actions()[0]
    True
    """

    def __init__(self, encoder: str | Encoder, policy: Policy, name: str | None = None) -> None:
        if not callable(policy):
            raise ValueError(f"policy={shown(policy)}: expected a function of observations and masks")
        if name is not None and not isinstance(name, str):
            raise ValueError(f"name={shown(name)}: expected a text, or None")
        self.encoder = as_encoder(encoder)
        self.policy = policy
        self.name = name if name is not None else getattr(policy, "__name__", type(policy).__name__)

    def reset(self, seed: int) -> None:
        """Nothing to settle: what the function gives depends on the observation alone."""

    def act(self, observation: Observation) -> int:
        """Choose one of `observation.legal_actions`."""
        return int(self.act_batch(observation.records)[0])

    def act_batch(self, records: npt.NDArray[np.record]) -> npt.NDArray[np.int64]:
        """Choose for each of `(N,)` OBSERVATION records: `(N,)` actions.

        Raises:
            ValueError: the function gave something else than scores or legal actions.
        """
        masks = masks_of(records) != 0
        observations = np.zeros((len(records), self.encoder.size), np.float32)
        self.encoder.fill_batch(records, observations)
        given = self.policy(observations, masks)
        if hasattr(given, "detach"):  # a tensor of torch
            given = given.detach().cpu()
        array = np.asarray(given)
        if array.shape == masks.shape and array.dtype.kind in "fiu":
            return self._best(array, masks)
        if array.shape == masks.shape[:1] and array.dtype.kind in "iu":
            return self._checked(array.astype(np.int64), masks)
        raise ValueError(
            f"the policy {self.name!r} gave {array.dtype} of the shape {array.shape} for {len(records)} positions: "
            f"expected scores ({len(records)}, {NUM_ACTIONS}) or actions ({len(records)},)"
        )

    def _best(self, scores: npt.NDArray[Any], masks: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        wrong = np.isnan(scores) & masks
        if wrong.any():
            row, action = np.argwhere(wrong)[0]
            raise ValueError(f"the policy {self.name!r} gave action {action} the score NaN in position {row}")
        # a legal action may have minus infinity as well, so illegal ones are told apart by the mask
        best: npt.NDArray[np.int64] = np.where(masks, scores, -np.inf).argmax(axis=1)
        never = ~np.take_along_axis(masks, best[:, None], axis=1)[:, 0]
        best[never] = masks[never].argmax(axis=1)
        return best

    def _checked(self, actions: npt.NDArray[np.int64], masks: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        inside = (actions >= 0) & (actions < NUM_ACTIONS)
        legal = inside & masks[np.arange(len(actions)), np.where(inside, actions, 0)]
        if not legal.all():
            row = int(legal.argmin())
            raise ValueError(
                f"the policy {self.name!r} gave action {actions[row]} in position {row}: expected one of "
                f"{np.flatnonzero(masks[row]).tolist()}"
            )
        return actions
