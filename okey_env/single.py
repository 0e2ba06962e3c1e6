"""The round as a Gymnasium environment: one learning seat against three bots, an episode is one round."""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from okey_env.actions import NUM_ACTIONS
from okey_env.bots import BotSpec
from okey_env.encoders import Encoder, as_encoder, observation_space_of
from okey_env.options import deal_of
from okey_env.render import RENDER_MODES, render
from okey_env.rewards import RewardFunction, as_reward, worst_loss
from okey_env.round import Round
from okey_env.rules import Rules, as_rules
from okey_env.saving import from_bytes
from okey_env.seating import learning_seat_of, make_opponents
from okey_env.tiles import NUM_SEATS


class OkeyEnv(gymnasium.Env[dict[str, npt.NDArray[Any]], np.int64]):
    """One learning seat against three bots.

    Args:
        rules: a preset's name, `Rules`, or a mapping of switches.
        encoder: an encoder or its name.
        reward: `points`, `zero_sum`, `win`, or a function from a `Round` to the four totals.
        opponents: one bot for all other seats, or three: right, opposite, left of the learning seat. Names,
            folders, `Bot` objects or functions, see `okey_env.bots.make_bot`.
        learning_seat: its place at the table, 0 to 3; None: it moves one place on each round.
        on_illegal: `lose`: an illegal action ends the round with minus the most that a round can cost, and
            `info["illegal"]` says why; `raise`: it is a `ValueError`, and nothing has changed.
        render_mode: `ansi` (text), `human` (prints the text), or None.

    The mask of legal actions is in the observation and, for trainers that ask for it, in `action_masks()`.

    >>> env = OkeyEnv(opponents=lambda observation: observation.legal_actions[-1])
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(int(observation["action_mask"].argmax()))
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012 (Gymnasium's contract)

    def __init__(
        self,
        rules: str | Rules | Mapping[str, Any] = "gamelake",
        encoder: str | Encoder = "flat",
        reward: str | RewardFunction = "zero_sum",
        opponents: BotSpec | Sequence[BotSpec] = "greedy",
        learning_seat: int | None = None,
        on_illegal: str = "lose",
        render_mode: str | None = None,
    ) -> None:
        if on_illegal not in ("lose", "raise"):
            raise ValueError(f"on_illegal={on_illegal!r}: expected 'lose' or 'raise'")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode={render_mode!r}: expected None or one of {self.metadata['render_modes']}")
        self.rules = as_rules(rules)
        self.encoder = as_encoder(encoder)
        self.render_mode = render_mode
        self.observation_space: gymnasium.spaces.Space[Any] = observation_space_of(self.encoder)
        self.action_space = gymnasium.spaces.Discrete(NUM_ACTIONS)
        self.round = Round(self.rules, seed=0)
        """The round as whoever runs the game sees it, hidden tiles included."""
        self._total = as_reward(reward)
        self._illegal_reward = -1.0 if reward == "win" else -worst_loss(self.rules)
        self._opponents = make_opponents(opponents)
        self._learning_seat = learning_seat_of(learning_seat)
        self._on_illegal = on_illegal
        self._round_seed: int | None = None
        self._number = 0
        self._seat = 0
        self._paid = 0.0

    @property
    def seat(self) -> int:
        """The learning seat's place in this round."""
        return self._seat

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Deal a round and let the bots play up to the learning seat.

        Args:
            seed: settles this round and, with it, all that follow without a seed.
            options: `{"deal": Deal(…)}` starts from a chosen position.
        """
        super().reset(seed=seed)
        deal = deal_of(options)
        if seed is not None or self._round_seed is None:
            self._round_seed = seed if seed is not None else int(self.np_random.integers(2**63))
            self._number = 0
            for bot in self._opponents:
                bot.reset(self._round_seed)
        else:
            self._number += 1
        while True:
            self.round.deal(self._round_seed, deal, number=self._number)
            self._seat = self._number % NUM_SEATS if self._learning_seat is None else self._learning_seat
            self._paid = float(self._total(self.round)[self._seat])
            self._bots_play()
            if not self.round.over:
                return self._observation(), {}
            self._number += 1  # a bot finished before the learning seat could move: no episode

    def step(
        self, action: int | np.integer[Any]
    ) -> tuple[dict[str, npt.NDArray[Any]], float, bool, bool, dict[str, Any]]:
        """Do an action of the learning seat, then let the bots play up to its next decision.

        Raises:
            ValueError: the action is illegal, if `on_illegal="raise"`.
        """
        try:
            self.round.apply(int(action))
        except ValueError as error:
            if self._on_illegal == "raise":
                raise
            return self._observation(), self._illegal_reward, True, False, {"illegal": str(error)}
        self._bots_play()
        total = float(self._total(self.round)[self._seat])
        reward, self._paid = total - self._paid, total
        truncated = self.round.ending == "truncated"
        info: dict[str, Any] = {}
        if self.round.over:
            info = {"ending": self.round.ending, "won": self.round.winner == self._seat}
        return self._observation(), reward, self.round.over and not truncated, truncated, info

    def save(self) -> bytes:
        """The round as bytes, hidden tiles included; see `okey_env.saving`. The learning seat's place is not in it."""
        return self.round.save()

    def restore(self, saved: bytes) -> dict[str, npt.NDArray[Any]]:
        """Go back to a round that was saved where this seat was to move; returns what it sees.

        Raises:
            ValueError: these are not the bytes of a saved game, or it plays other rules, or another seat is to move;
                nothing has changed.
        """
        game = from_bytes(saved, self.rules)
        if game["turn"][0] != self._seat:
            raise ValueError(
                f"in the saved game seat {game['turn'][0]} is to move: expected seat {self._seat}, which learns"
            )
        self.round.games[:] = game
        self._round_seed, self._number = int(game["seed"][0]), int(game["round_number"][0])
        self._paid = float(self._total(self.round)[self._seat])
        return self._observation()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """What the learning seat may do: `(109,)` bool."""
        return self.round.observe(self._seat).action_mask.astype(np.bool_)

    def render(self) -> str | None:
        """The table as text, hidden tiles included; printed in mode `human`."""
        return render(self.round, self.render_mode)

    def _bots_play(self) -> None:
        while not self.round.over and self.round.turn != self._seat:
            place = (self.round.turn - self._seat) % NUM_SEATS
            bot = self._opponents[place - 1 if len(self._opponents) > 1 else 0]
            action = bot.act(self.round.observe(self.round.turn))
            try:
                self.round.apply(int(action))
            except ValueError as error:
                raise ValueError(f"the bot {bot.name!r} acts illegally: {error}") from error

    def _observation(self) -> dict[str, npt.NDArray[Any]]:
        seen = self.round.observe(self._seat)
        return {"observation": self.encoder.encode(seen), "action_mask": seen.action_mask}
