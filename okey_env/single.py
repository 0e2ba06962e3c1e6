"""The round, or the match, as a Gymnasium environment: one learning seat against three bots."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from okey_env.actions import NUM_ACTIONS
from okey_env.checks import action_number, choice, seed_number
from okey_env.encoders import Encoder, as_encoder
from okey_env.engine.batch import start_in
from okey_env.engine.totals import distance_in
from okey_env.interfaces import (
    ENDING_CODES,
    Opponents,
    Panel,
    Start,
    final_infos,
    learning_seat_of,
    observation_space_of,
    plays_matches,
    running_info,
    start_of,
    starts_of,
)
from okey_env.match import Match
from okey_env.record import Record
from okey_env.render import RENDER_FPS, RENDER_MODES, Frame, Renderer
from okey_env.rewards import DenseReward, RewardFunction, as_reward, distances_dealt, illegal_reward, lowest_end
from okey_env.round import Round
from okey_env.rules import Rules, as_rules
from okey_env.saving import from_bytes
from okey_env.tiles import NUM_SEATS

_ONLY = np.zeros(1, np.int64)


class OkeyEnv(gymnasium.Env[dict[str, npt.NDArray[Any]], np.int64]):
    """One learning seat against three bots.

    Args:
        rules: a preset's name, `Rules`, or a mapping of switches.
        encoder: an encoder or its name.
        reward: `points`, `zero_sum`, `win`, `soon`, `placement`, one of them with `+distance` or `+potential`
            (`okey_env.rewards`), or a function from a `Round` to the four totals.
        opponents: one bot for all other seats, or three: right, opposite, left of the learning seat. Names,
            folders, `Bot` objects or functions, see `okey_env.bots.make_bot`. Or a mapping of bots to weights: each
            episode draws one bot for all three seats, from its seed and number.
        learning_seat: the learning seat, 0 to 3; None: the next seat with each episode.
        on_illegal: `lose`: an illegal action ends the episode with a reward of minus the most that the episode can
            cost, and `illegal` says why. `raise`: an illegal action raises a `ValueError` and changes nothing.
        render_mode: `human` (a window that shows each move), `rgb_array` (a picture), `ansi` (text), or None.
        episode: `round`, or `match`: rounds until somebody has no points left (R8).
        start: how rounds begin: `deal`, `distance-1` to `distance-4`, `short-1` to `short-11`, or a mapping of them to
            weights, of which each deal draws one from its seed and number.

    The mask of legal actions is in the observation; `action_masks()` gives it to trainers that call this method. Every
    `info` has the numbers of `okey_env.interfaces.INFO_KEYS`; the same in words are properties of `round` and `match`.

    >>> env = OkeyEnv(opponents=lambda observation: observation.legal_actions[-1])
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(int(observation["action_mask"].argmax()))
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}  # noqa: RUF012 (Gymnasium's contract)

    def __init__(
        self,
        rules: str | Rules | Mapping[str, Any] = "gamelake",
        encoder: str | Encoder = "flat",
        reward: str | RewardFunction = "zero_sum",
        opponents: Opponents = "greedy",
        learning_seat: int | None = None,
        on_illegal: str = "lose",
        render_mode: str | None = None,
        episode: str = "round",
        start: Start = "deal",
    ) -> None:
        choice("on_illegal", on_illegal, ("lose", "raise"))
        self.rules = as_rules(rules)
        self.encoder = as_encoder(encoder)
        self._renderer = Renderer(render_mode)
        self.render_mode = render_mode
        self.observation_space: gymnasium.spaces.Space[Any] = observation_space_of(self.encoder)
        self.action_space = gymnasium.spaces.Discrete(NUM_ACTIONS)
        self.match = Match(self.rules, seed=0) if plays_matches(episode) else None
        """The match, hidden tiles included; None if an episode is one round."""
        self.round = self.match.round if self.match else Round(self.rules, seed=0)
        """The current round, hidden tiles included."""
        self._total = as_reward(reward, matches=self.match is not None)
        self._illegal_reward = illegal_reward(reward, self.rules, matches=self.match is not None)
        self._starts = starts_of(start)
        self._panel = Panel(opponents)
        self._opponents = [self._panel.bots[i] for i in self._panel.seatings[0]]  # right, opposite, left
        self._learning_seat = learning_seat_of(learning_seat)
        self._on_illegal = on_illegal
        self._game_seed: int | None = None
        self._number = 0
        self._seat = 0
        self._dealt = 0  # the distance of its rack after the deal, for a dense reward
        self._paid = 0.0  # the part of the current round's total that was paid
        self._earned = 0.0  # the rewards of rounds that ended since the last decision
        self._ended: tuple[bool, bool] | None = None
        """How the episode ended, as (terminated, truncated); None while it goes on."""
        self.illegal = ""
        """Why the action that ended the episode is illegal; empty if none did."""
        self._length = 0  # decisions of the learning seat in the episode
        self._last_round = (0, -1)  # ending and winner of the last round of a match that goes on

    @property
    def seat(self) -> int:
        """The learning seat in this episode, 0 to 3."""
        return self._seat

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Deal a round (in a match, the first round), and let the bots play until the learning seat is to move.

        Args:
            seed: determines this episode and all later ones that are reset without a seed.
            options: `{"deal": Deal(…)}` starts from a chosen position, `{"points": (2, 9, 4, 11)}` from a chosen score.

        Raises:
            ValueError: an option seems misspelt or has a wrong value.
        """
        seed = None if seed is None else seed_number(seed)
        super().reset(seed=seed)
        deal, points = start_of(options, self.rules)
        if seed is not None or self._game_seed is None:
            self._game_seed = seed if seed is not None else int(self.np_random.integers(2**63))
            self._number = 0
            for bot in self._panel.bots:
                bot.reset(self._game_seed)
        else:
            self._number += 1
        while True:
            (self.match or self.round).deal(self._game_seed, deal, number=self._number, points=points)
            if deal is None:
                start_in(self.round.games, 0, self._starts)
            self._seat_bots()
            self._show()
            self._seat = self._number % NUM_SEATS if self._learning_seat is None else self._learning_seat
            self._begin_round()
            self._earned, self._length, self._last_round, self.illegal = 0.0, 0, (0, -1), ""
            self._bots_play()
            if not self.round.over:
                self._ended = None
                return self._observation(), self._info()
            self._number += 1  # the bots ended it before the learning seat could move: discard it

    def step(
        self, action: int | np.integer[Any]
    ) -> tuple[dict[str, npt.NDArray[Any]], float, bool, bool, dict[str, Any]]:
        """Do an action of the learning seat, then let the bots play until its next decision.

        After the end of the episode, `step` changes nothing and pays 0; a warning asks for `reset`.

        Raises:
            ValueError: the action is not a whole number, or it is illegal and `on_illegal="raise"`.
                Nothing has changed.
        """
        if self._ended is not None:
            gymnasium.logger.warn("the episode is over and pays nothing more: call reset() before the next step()")
            return self._observation(), 0.0, *self._ended, self._info()
        number = action_number(action)
        try:
            self.round.apply(number)
        except ValueError as error:
            if self._on_illegal == "raise":
                raise
            self._ended, self.illegal = (True, False), str(error)
            self._length += 1
            return self._observation(), self._price_of_illegal(), True, False, self._info()
        self._length += 1
        self._show()
        self._bots_play()
        total = self._due()
        reward, self._paid, self._earned = self._earned + total - self._paid, total, 0.0
        self._ended = self._how_ended()
        terminated, truncated = self._ended or (False, False)
        return self._observation(), reward, terminated, truncated, self._info()

    def save(self) -> bytes:
        """The round and the points before it as bytes, hidden tiles included; see `okey_env.saving`.

        The bytes do not say which seat learns.
        """
        return self.round.save()

    def restore(self, saved: bytes) -> dict[str, npt.NDArray[Any]]:
        """Go back to a saved game in which the learning seat is to move; returns its observation.

        Raises:
            ValueError: the bytes are not a saved game, the game has other rules, or another seat is to move; nothing
                has changed.
        """
        game = from_bytes(saved, self.rules)
        if game["turn"][0] != self._seat:
            raise ValueError(
                f"in the saved game seat {game['turn'][0]} is to move: expected seat {self._seat}, which learns"
            )
        (self.match or self.round).restore(saved)
        self._game_seed, self._number = self.round.seed, (self.match or self.round).number
        self._seat_bots()
        self._begin_round()
        self._earned, self._ended = 0.0, self._how_ended()
        self._length, self._last_round, self.illegal = 0, (0, -1), ""
        return self._observation()

    def record(self, name: str = "learner") -> Record:
        """The episode so far as a record, hidden tiles included; `name` is the name of the learning seat."""
        return Record.of(self.match or self.round, self._players(name))

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions of the learning seat: `(109,)` bool."""
        return self.round.observe(self._seat).action_mask.astype(np.bool_)

    def render(self) -> Frame:
        """The whole table, hidden tiles included: a picture, a text, or None after showing it in a window."""
        return self._renderer.render(self.round, self._players("learner"))

    def close(self) -> None:
        """Close the window of the mode `human`, if it is open."""
        self._renderer.close()

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def _players(self, name: str) -> list[str]:
        """The names of the four seats: the names of the bots, and `name` for the learning seat."""
        players = [name, *(bot.name for bot in self._opponents)]
        return [players[(seat - self._seat) % NUM_SEATS] for seat in range(NUM_SEATS)]

    def _how_ended(self) -> tuple[bool, bool] | None:
        """Whether the episode terminated, and whether it was truncated; None while it goes on."""
        if not self.round.over:
            return None
        truncated = self.match.truncated if self.match else self.round.ending == "truncated"
        return not truncated, truncated

    def _info(self) -> dict[str, int]:
        """The `info` of a step; see `okey_env.interfaces.INFO_KEYS`."""
        matches = self.match is not None
        if self._ended is None:
            info = running_info(self.round.games, self._seat, self._length, matches=matches)
            info["ending"], info["winner"] = self._last_round
            return info
        seats, lengths, illegal = np.array([self._seat]), np.array([self._length]), np.array([self.illegal != ""])
        found = final_infos(self.round.games, seats, lengths, matches=matches, illegal=illegal)
        return {key: int(value[0]) for key, value in found.items()}

    def _price_of_illegal(self) -> float:
        """The reward for the illegal action that has just ended the episode."""
        lowest = lowest_end(self._total, self.round, self._seat, matches=self.match is not None)
        return min(self._illegal_reward, self._earned + lowest - self._paid)

    def _due(self) -> float:
        """The total of the learning seat in the current round."""
        total = self._total
        if not isinstance(total, DenseReward):
            return float(total(self.round)[self._seat])
        base = float(total.base(self.round)[self._seat])
        if self.round.over and not total.keeps:
            return base
        return base + total.weight * (self._dealt - distance_in(self.round.games, 0, self._seat))

    def _begin_round(self) -> None:
        """Count rewards from the current state of the round on."""
        if isinstance(self._total, DenseReward):  # undoing the events at each step would take longer than the step
            self._dealt = int(distances_dealt(self.round)[self._seat])
        self._paid = self._due()

    def _bots_play(self) -> None:
        """Let the bots move until the learning seat is to move or the episode is over."""
        while True:
            self._bots_move()
            if not self.round.over or self.match is None or self.match.over:
                return
            self._earned += self._due() - self._paid
            winner = self.round.winner
            self._last_round = ENDING_CODES[self.round.ending], -1 if winner is None else winner
            self.match.next_round()
            start_in(self.round.games, 0, self._starts)
            self._begin_round()

    def _bots_move(self) -> None:
        while not self.round.over and self.round.turn != self._seat:
            step = (self.round.turn - self._seat) % NUM_SEATS  # 1 right, 2 opposite, 3 left
            bot = self._opponents[step - 1]
            action = bot.act(self.round.observe(self.round.turn))
            try:
                self.round.apply(action_number(action))
            except ValueError as error:
                raise ValueError(f"the bot {bot.name!r} acts illegally: {error}") from error
            self._show()

    def _seat_bots(self) -> None:
        """Draw the bots of the episode, whose first round has just been dealt, if there is a choice."""
        if len(self._panel.seatings) > 1:
            self._opponents = [self._panel.bots[i] for i in self._panel.draw(self.round.games, _ONLY)[0]]

    def _observation(self) -> dict[str, npt.NDArray[Any]]:
        seen = self.round.observe(self._seat)
        return {"observation": self.encoder.encode(seen), "action_mask": seen.action_mask}
