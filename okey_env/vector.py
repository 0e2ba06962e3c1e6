"""Many rounds, or matches, at once: `SelfPlay` for all four seats, `OkeyVectorEnv` for one learning seat against bots.

`SelfPlay` advances every game by one decision of the seat to move, and deals the next round where a round
ends. `OkeyVectorEnv` is a Gymnasium `VectorEnv` with same-step autoreset whose other seats are bots.

Game i of seed s is the same round as `Round(seed=derive_seed(s, i))`, and the same match as
`Match(seed=derive_seed(s, i))`, for any number of games and threads.

Shapes: `N` games, `A` = 109 actions, `E` entries of the encoder.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numba
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from okey_env.actions import NUM_ACTIONS, to_text
from okey_env.bots import Bot, choose_for
from okey_env.checks import choice, index_of, list_of, seed_number, shown, whole_number, whole_numbers, yes_or_no
from okey_env.deal import Deal
from okey_env.encoders import Encoder, as_encoder
from okey_env.engine._jit import on_threads
from okey_env.engine.batch import apply_at, deal_all, look_at_seats, observe_at
from okey_env.engine.match import (
    GOES_ON,
    MATCH_REWARD_NAMES,
    MAX_ROUNDS,
    TERMINATED,
    TRUNCATED,
    Purses,
    earn_all,
    fill_match_totals,
    next_episodes_at,
    settle_at,
)
from okey_env.engine.parallel import (
    Payouts,
    Views,
    advance_parallel,
    advance_range,
    deal_range,
    first_illegal,
    look_range,
)
from okey_env.engine.starts import start_range
from okey_env.engine.state import ENDED_TRUNCATED, NOT_ENDED, OBSERVATION, new_games
from okey_env.engine.totals import DENSE_NAMES, NOT_DENSE, REWARD_NAMES, Terms, begin_dense_at
from okey_env.events import MAX_EVENTS, recent
from okey_env.function_pay import FunctionPay
from okey_env.interfaces import (
    Opponents,
    Panel,
    Start,
    final_infos,
    learning_seat_of,
    observation_space_of,
    plays_matches,
    start_of,
    starts_of,
)
from okey_env.render import RENDER_FPS, Renderer
from okey_env.rewards import RewardFunction, check_weight, illegal_reward, nearer, parse_reward
from okey_env.round import Round, derive_seed
from okey_env.rules import Rules, as_rules
from okey_env.saving import from_bytes, to_bytes
from okey_env.tiles import NUM_SEATS

MAX_GAMES = 2**22
"""The most games of a batch, whose records fill 8 GB."""
_AUTORESET_MODES = (AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP)
_RESETS = 2**62
"""The first index under a seed for the seeds of resets without a seed; games have the indices from 0 on."""


class SelfPlay:
    """`N` rounds, or matches, in which every seat asks the caller for its moves.

    After `reset` and each `step` these arrays hold what the seat to move of each game needs. They are the same arrays
    each time and are overwritten in place, so a caller can use them as its buffers:

    * `records` `(N,)` of OBSERVATION, `masks` `(N, A)` int8, `seats` `(N,)` int64;
    * `observations` `(N, E)` float32, if there is an encoder;
    * `rewards` `(N, 4)` float32 by absolute seat: the rewards of the last action;
    * `terminated` and `truncated` `(N,)` bool: whether the last action ended the episode.

    Where a round ended, `records`, `masks`, `seats` and `observations` already belong to the next round.

    Args:
        num_games: `N`.
        rules: a preset's name, `Rules`, or a mapping of switches.
        encoder: an encoder or its name; None: no `observations`.
        seed: determines all deals; None: a random one.
        reward: `points`, `zero_sum`, `win`, `soon`, for matches `placement`; with `+distance` or `+potential` also
            a seat's own way to a finish, see `okey_env.rewards`. For rounds also a function of a `Round`, which is
            asked for every game at every step, in Python.
        episode: `round`, or `match`: rounds until somebody has no points left (R8).
        start: how rounds begin: `deal`, `distance-1` to `distance-4`, `short-1` to `short-11`, or a mapping of them to
            weights; see `set_start`.
        num_threads: threads that share the games; the results do not depend on it.

    >>> games = SelfPlay(8, seed=1)
    >>> games.reset()
    >>> games.step(games.masks.argmax(axis=1))
    >>> games.rewards.shape, games.observations.shape[0]
    ((8, 4), 8)
    """

    def __init__(
        self,
        num_games: int,
        rules: str | Rules | Mapping[str, Any] = "gamelake",
        encoder: str | Encoder | None = "flat",
        seed: int | None = None,
        reward: str | RewardFunction = "zero_sum",
        episode: str = "round",
        *,
        start: Start = "deal",
        num_threads: int = 1,
    ) -> None:
        num_games = whole_number("num_games", num_games, 1, MAX_GAMES)
        cores: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set when numba is imported
        num_threads = whole_number("num_threads", num_threads, 1, cores, ", the cores of this machine")
        self.num_games = num_games
        self.rules = as_rules(rules)
        self.encoder = as_encoder(encoder) if encoder is not None else None
        self.games = new_games(self.rules, num_games)
        self.records = np.zeros(num_games, OBSERVATION)
        self.masks = np.zeros((num_games, NUM_ACTIONS), np.int8)
        self.seats = np.zeros(num_games, np.int64)
        self.observations = np.zeros((num_games, self.encoder.size if self.encoder else 0), np.float32)
        self.rewards = np.zeros((num_games, NUM_SEATS), np.float32)
        self.terminated = np.zeros(num_games, np.bool_)
        self.truncated = np.zeros(num_games, np.bool_)
        matches = plays_matches(episode)
        self._reward = reward
        self._terms = _terms(reward, matches, start)
        self._function = FunctionPay(reward, self.rules, num_games) if callable(reward) else None
        self._paid = np.zeros((num_games, NUM_SEATS), np.float32)
        self._distances = np.zeros((num_games, NUM_SEATS), np.int8)
        self._dense = np.zeros((num_games, NUM_SEATS), np.float32)
        self._payouts = Payouts(self._paid, self.rewards, self.terminated, self.truncated, self._distances, self._dense)
        self._views = Views(self.records, self.masks, self.seats)
        self._seed = seed_number(seed) if seed is not None else secrets.randbits(63)
        self._num_threads = num_threads

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal the first round of every game.

        Args:
            seed: determines all deals; None: the seed given last.
            options: `deal` and `points`, as in the other environments, for the first round of every game.

        Raises:
            ValueError: an option seems misspelt or has a wrong value.
        """
        start = start_of(options, self.rules)
        if seed is not None:
            self._seed = seed_number(seed)
        _deal_first(self.games, self._seed, self._terms.starts, *start)
        self._paid[:] = 0
        if self._function is not None:
            self._function.begin(self.games, np.arange(self.num_games))
        if self._terms.dense != NOT_DENSE:
            begin_dense_at(self.games, np.arange(self.num_games), self._distances, self._dense)
        self.rewards[:] = 0
        self.terminated[:] = False
        self.truncated[:] = False
        look_range(self.games, self._views, 0, self.num_games)
        self._encode()

    def step(self, actions: npt.ArrayLike) -> None:
        """Do one action of the seat to move in every game.

        Raises:
            ValueError: an action is illegal; the message names the game and the action. No game has changed.
        """
        chosen = whole_numbers("actions", actions, self.num_games)
        wrong = first_illegal(self.games, chosen)
        if wrong >= 0:
            raise ValueError(_illegal_text(self.games, wrong, int(chosen[wrong])))
        if self._function is not None:
            self._advance_by(self._function, chosen)
        elif self._num_threads == 1:
            advance_range(self.games, chosen, self._terms, self._payouts, 0, self.num_games)
            look_range(self.games, self._views, 0, self.num_games)
        else:
            with on_threads(self._num_threads):
                advance_parallel(self.games, chosen, self._terms, self._payouts, self._views, self._num_threads)
        self._encode()

    def events(self, last: int = 64) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64]]:
        """The newest events of each round as the seat to move knows them, oldest first; see `okey_env.events`.

        Args:
            last: the most events of a round, 1 to 512.

        Returns:
            `(N, last, 3)` int8: seat, event and kind, and -1 after the last event; and how many there are, `(N,)`.
            There are none if the rules show only the tops of the heaps.

        Raises:
            ValueError: `last` is something else.

        >>> games = SelfPlay(8, seed=1)
        >>> games.reset()
        >>> games.step(games.masks.argmax(axis=1))
        >>> events, lengths = games.events(last=16)
        >>> events.shape, lengths.tolist()
        ((8, 16, 3), [1, 1, 1, 1, 1, 1, 1, 1])
        """
        return recent(self.games, self.seats, whole_number("last", last, 1, MAX_EVENTS))

    @property
    def distance_weight(self) -> float:
        """Points for each tile of distance, if the reward has a dense term; 0 if not. Set it to anneal the term.

        A new weight counts from the next change of a distance on. It alone pays nothing, and earlier payments stay.

        Raises:
            ValueError: the reward has no dense term, or the new weight is not a number, 0 or more.
        """
        return self._terms.weight

    @distance_weight.setter
    def distance_weight(self, weight: float) -> None:
        self._terms = self._terms._replace(weight=check_weight(weight, self._reward))

    def set_start(self, start: Start) -> None:
        """Change how rounds begin, from the next deal on.

        Args:
            start: a name of `okey_env.interfaces.STARTS`, or a mapping from names to weights. Each deal draws one of
                them, from its seed and its round number.

        Raises:
            ValueError: a name or a weight is wrong; nothing has changed.

        >>> games = SelfPlay(2, seed=1)
        >>> games.set_start({"deal": 0.5, "distance-1": 0.25, "short-4": 0.25})
        """
        self._terms = self._terms._replace(starts=starts_of(start))

    def save(self, i: int) -> bytes:
        """Game i as bytes, hidden tiles included; see `okey_env.saving`.

        Raises:
            ValueError: there is no game i.
        """
        return to_bytes(self.games, whole_number("i", i, 0, len(self.games) - 1))

    def restore(self, i: int, saved: bytes) -> None:
        """Replace game i by a saved game. Later rewards count from there; rewards already paid are not paid again.

        Raises:
            ValueError: there is no game i, the bytes are not a saved game, or the game has other rules or is over.
                Nothing has changed.
        """
        i = whole_number("i", i, 0, self.num_games - 1)
        game = from_bytes(saved, self.rules)
        if game["ending"][0] != NOT_ENDED:
            raise ValueError("the saved game is over: expected a game in which a seat is to move")
        round = Round(self.rules, seed=0)
        round.games[:] = game
        dense = self._terms.weight * nearer(round) if self._terms.dense != NOT_DENSE else 0.0
        self.games[i : i + 1] = game
        fill_match_totals(game[0], self._terms.reward, self._paid[i])
        if self._terms.dense != NOT_DENSE:
            begin_dense_at(self.games, np.array([i]), self._distances, self._dense)
        self._dense[i] = dense
        if self._function is not None:
            self._function.begin(self.games, np.array([i]))
        look_range(self.games, self._views, i, i + 1)
        self._encode()

    def clone(self, i: int) -> Round:
        """A copy of game i as a `Round` of its own."""
        round = Round(self.rules, seed=0)
        round.restore(self.save(i))
        return round

    def _advance_by(self, function: FunctionPay, actions: npt.NDArray[np.int64]) -> None:
        """As `advance_range` and `look_range`, with a reward that no kernel knows."""
        apply_at(self.games, np.arange(self.num_games), actions)
        self.rewards[:] = function.due(self.games)
        over = self.games["ending"] != NOT_ENDED
        self.truncated[:] = self.games["ending"] == ENDED_TRUNCATED
        self.terminated[:] = over & ~self.truncated
        ended = np.flatnonzero(over)
        next_episodes_at(self.games, ended, self._terms)
        function.begin(self.games, ended)
        look_range(self.games, self._views, 0, self.num_games)

    def _encode(self) -> None:
        if self.encoder is not None:
            self.encoder.fill_batch(self.records, self.observations, self._num_threads)


class OkeyVectorEnv(gymnasium.vector.VectorEnv[dict[str, npt.NDArray[Any]], npt.NDArray[np.int64], npt.NDArray[Any]]):
    """`N` rounds, or matches, with one learning seat and bots in the other seats.

    Where an episode ends, the next one begins by itself, in one of Gymnasium's two ways (`autoreset_mode`). If the bots
    end an episode before the learning seat has moved, the episode is discarded and a new one is dealt.

    * `SameStep`: the returned observation is the first one of the next episode. `infos` have the last one of the old
      episode under `final_obs`, and its numbers under `final_info`.
    * `NextStep`: the returned observation is the last one of the episode, and `infos` have its numbers. The next `step`
      ignores the action there, and returns the first observation of the next episode with reward 0.

    The numbers are those of `okey_env.interfaces.INFO_KEYS`, each `(N,)` int64 beside a mask with the same key after an
    underscore, as in all of Gymnasium's vector environments.

    Args:
        num_envs: `N`.
        rules: a preset's name, `Rules`, or a mapping of switches.
        encoder: an encoder or its name.
        reward: `points`, `zero_sum`, `win`, `soon`, for matches `placement`; with `+distance` or `+potential` also the
            learner's own way to a finish, see `okey_env.rewards`. For rounds also a function of a `Round`.
        opponents: one bot for all other seats, or three: right, opposite, left of the learning seat. Names,
            folders, `Bot` objects or functions, see `okey_env.bots.make_bot`. Or a mapping of bots to weights, see
            `set_opponents`.
        learning_seat: the learning seat, 0 to 3; None: the next seat with each episode.
        seed: determines everything until `reset` gets another seed; None: a random one.
        copy: return copies of the observations; if False, the next step overwrites the returned arrays.
        episode: `round`, or `match`: rounds until somebody has no points left (R8).
        render_mode: what `render` gives for each game: `rgb_array`, `ansi`, or None.
        start: how rounds begin: `deal`, `distance-1` to `distance-4`, `short-1` to `short-11`, or a mapping of them to
            weights; see `set_start`.
        autoreset_mode: `SameStep` or `NextStep`, or the member of `gymnasium.vector.AutoresetMode`.

    An illegal action ends the episode. Its reward is minus the most that the episode can cost.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's contract)
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": ["rgb_array", "ansi"],
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self,
        num_envs: int = 1,
        rules: str | Rules | Mapping[str, Any] = "gamelake",
        encoder: str | Encoder = "flat",
        reward: str | RewardFunction = "zero_sum",
        opponents: Opponents = "greedy",
        learning_seat: int | None = None,
        seed: int | None = None,
        copy: bool = True,
        episode: str = "round",
        render_mode: str | None = None,
        start: Start = "deal",
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
    ) -> None:
        self.autoreset_mode = _autoreset_mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        num_envs = whole_number("num_envs", num_envs, 1, MAX_GAMES)
        if render_mode is not None:
            choice("render_mode", render_mode, self.metadata["render_modes"], ", or None")
        self.render_mode = render_mode
        self._renderer = Renderer(render_mode)
        self.num_envs = num_envs
        self.rules = as_rules(rules)
        self.encoder = as_encoder(encoder)
        self.single_observation_space = observation_space_of(self.encoder)
        self.single_action_space = gymnasium.spaces.Discrete(NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.games = new_games(self.rules, num_envs)
        self.records = np.zeros(num_envs, OBSERVATION)
        self.observations = np.zeros((num_envs, self.encoder.size), np.float32)
        self.masks = np.zeros((num_envs, NUM_ACTIONS), np.int8)
        self._made: dict[str, Bot] = {}  # bots of `set_opponents` by name
        self._panel = Panel(opponents, self._made)
        self._bots = self._panel.bots  # and bots of an earlier panel that still play
        self._seated = np.zeros((num_envs, NUM_SEATS - 1), np.int64)  # index in `_bots`: right, opposite, left
        self._learning_seat = learning_seat_of(learning_seat)
        self._matches = plays_matches(episode)
        self._reward = reward
        self._terms = _terms(reward, self._matches, start)
        self._function = FunctionPay(reward, self.rules, num_envs) if callable(reward) else None
        self._illegal_reward = illegal_reward(reward, self.rules, matches=self._matches)
        self._purses = Purses(
            seats=np.zeros(num_envs, np.int64),
            paid=np.zeros(num_envs, np.float32),
            earned=np.zeros(num_envs),  # rewards that `step` has not returned yet
            status=np.zeros(num_envs, np.uint8),
            distances=np.zeros((num_envs, NUM_SEATS), np.int8),
            dense=np.zeros((num_envs, NUM_SEATS), np.float32),
        )
        self._seats, self._status = self._purses.seats, self._purses.status
        self._seed = seed_number(seed) if seed is not None else secrets.randbits(63)
        self._settled = self._seed  # the seed of the last reset
        self._resets = 0
        self._copy = yes_or_no("copy", copy)
        self._lengths = np.zeros(num_envs, np.int64)  # decisions in the current episode
        self._ended = np.zeros(num_envs, np.bool_)  # next-step autoreset: the episode waits for the next step
        self._some_wait = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Deal a round in every game (in a match, the first round); bots play until the learning seat is to move.

        Args:
            seed: determines everything that follows; None: new rounds under the seed given last. Game i has the seed
                derived from the seed and i, not the seed plus i, so that batches with neighbouring seeds share no game.
                A list: a seed for each game, which then has the deals of `Round(seed=…)`; None in it is a random seed.
            options: `{"deal": Deal(…)}` starts every game from a chosen position, `{"points": (2, 9, 4, 11)}` from a
                chosen score; later episodes are dealt at random.

        Raises:
            ValueError: an option seems misspelt or has a wrong value, or a seed is none; nothing has changed.
        """
        deal, points = start_of(options, self.rules)
        seeds = None if seed is None or index_of(seed) is not None else _seeds(seed, self.num_envs)
        if seed is not None:
            self._seed, self._resets = int(seeds[0]) if seeds is not None else seed_number(seed), 0
        self._settled = self._seed if self._resets == 0 else derive_seed(self._seed, _RESETS + self._resets)
        self._resets += 1
        self._bots = self._panel.bots
        for bot in self._bots:
            bot.reset(self._settled)
        if seeds is None:
            _deal_first(self.games, self._settled, self._terms.starts, deal, points)
        else:
            self.games["scores"] = points
            deal_all(self.games, seeds)
            _start_all(self.games, self._terms.starts, deal)
        self._ended, self._some_wait = np.zeros(self.num_envs, np.bool_), False
        every = np.arange(self.num_envs)
        self._begin(every)
        self._bots_play(every, redeal=True)
        self._look()
        return self._observation(), {}

    def step(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[
        dict[str, npt.NDArray[Any]],
        npt.NDArray[np.float64],
        npt.NDArray[np.bool_],
        npt.NDArray[np.bool_],
        dict[str, Any],
    ]:
        """Do one action of the learning seat in every game, then let the bots play until its next decision.

        Raises:
            ValueError: the actions are not `N` whole numbers; nothing has changed.
        """
        chosen = whole_numbers("actions", actions, self.num_envs)
        every = np.arange(self.num_envs)
        in_range = (chosen >= 0) & (chosen < NUM_ACTIONS)
        legal = in_range & (self.masks[every, np.where(in_range, chosen, 0)] == 1)
        waits = self._ended if self._some_wait else None  # never with same-step autoreset
        able = every[legal if waits is None else legal & ~waits]
        apply_at(self.games, able, chosen[able])
        self._bots_play(able, redeal=False)
        earn_all(self.games, self._terms, self._purses)
        self._lengths += 1

        truncated = self._status == TRUNCATED
        terminated = self._status == TERMINATED
        if waits is not None:
            legal |= waits
            truncated &= ~waits
            terminated &= ~waits
        illegal = ~legal
        terminated |= illegal
        if self._function is None:
            rewards = np.where(legal, self._purses.earned, self._illegal_reward)
        else:
            rewards = self._function.due(self.games)[every, self._seats]
            for i in np.flatnonzero(illegal).tolist():
                rewards[i] = self._function.price_of_illegal(self.games, i, int(self._seats[i]))
        self._purses.earned[:] = 0
        is_done = terminated | truncated
        done = np.flatnonzero(is_done)
        infos = self._final_infos(done, is_done, illegal) if len(done) else {}
        renewed = done
        if self.autoreset_mode is AutoresetMode.NEXT_STEP:
            renewed = np.flatnonzero(self._ended)
            self._ended, self._some_wait = is_done, len(done) > 0
        if len(renewed):
            self._next_episode(renewed)
            self._bots_play(renewed, redeal=True)
        self._look()
        return self._observation(), rewards, terminated, truncated, infos

    def events(self, last: int = 64) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64]]:
        """The newest events of each round as the learning seat knows them; as `SelfPlay.events`.

        Raises:
            ValueError: `last` is something else than 1 to 512.
        """
        return recent(self.games, self._seats, whole_number("last", last, 1, MAX_EVENTS))

    @property
    def distance_weight(self) -> float:
        """Points for each tile of distance, if the reward has a dense term; 0 if not. Set it to anneal the term.

        A new weight counts from the next change of a distance on. It alone pays nothing, and earlier payments stay. The
        reward for an illegal action follows a larger weight, and keeps to the largest.

        Raises:
            ValueError: the reward has no dense term, or the new weight is not a number, 0 or more.
        """
        return self._terms.weight

    @distance_weight.setter
    def distance_weight(self, weight: float) -> None:
        self._terms = self._terms._replace(weight=check_weight(weight, self._reward))
        name = parse_reward(str(self._reward))  # a function has been refused
        price = illegal_reward(f"{name.base}+{weight!r}*{name.term}", self.rules, matches=self._matches)
        self._illegal_reward = min(self._illegal_reward, price)

    def set_start(self, start: Start) -> None:
        """Change how rounds begin, from the next deal on; as `SelfPlay.set_start`.

        Raises:
            ValueError: a name or a weight is wrong; nothing has changed.
        """
        self._terms = self._terms._replace(starts=starts_of(start))

    def set_opponents(self, opponents: Opponents) -> None:
        """Change the bots, from the next episode of each game on.

        Args:
            opponents: as in the constructor. Of a mapping from bots to weights, each episode draws one bot for all
                three seats, from its seed and its round number. A name is made into a bot only once.

        Raises:
            ValueError: a weight is wrong, or a bot cannot be made; nothing has changed.

        >>> env = OkeyVectorEnv(2, opponents=lambda observation: observation.legal_actions[0])
        >>> env.set_opponents({"random": 0.5, "greedy": 0.5})
        """
        panel = Panel(opponents, self._made)
        bots = list(panel.bots)
        numbers = np.zeros(len(self._bots), np.int64)
        for old in np.unique(self._seated):
            bot = self._bots[old]
            numbers[old] = next((i for i, new in enumerate(bots) if new is bot), len(bots))
            if numbers[old] == len(bots):
                bots.append(bot)
        for bot in panel.bots:
            if all(bot is not old for old in self._bots):
                bot.reset(self._settled)
        self._panel, self._bots, self._seated = panel, bots, numbers[self._seated]

    def render(self) -> tuple[Any, ...]:
        """The whole table of each game as a picture or as text: a tuple of `N`."""
        round, frames = Round(self.rules, seed=0), []
        for i in range(self.num_envs):
            round.games[:] = self.games[i : i + 1]
            frames.append(self._renderer.render(round))
        return tuple(frames)

    def _bots_play(self, indices: npt.NDArray[np.int64], *, redeal: bool) -> None:
        """Let the bots move in the games at `indices` until the learning seat is to move or the episode is over.

        With `redeal`, an episode that ends meanwhile is replaced by a new one, since the learning seat has not moved in
        it.
        """
        waiting = indices
        while len(waiting):
            self._settle(waiting)
            over = self._status[waiting] != GOES_ON
            if redeal:
                self._next_episode(waiting[over])
            else:
                waiting = waiting[~over]
            steps = (self.games["turn"][waiting] - self._seats[waiting]) % NUM_SEATS  # from the learning seat
            waiting = waiting[steps != 0]
            steps = steps[steps != 0]
            seated = self._seated[waiting, steps - 1]
            for number, bot in enumerate(self._bots):
                asked = waiting[seated == number] if len(self._bots) > 1 else waiting
                if len(asked) == 0:
                    continue
                records = np.zeros(len(asked), OBSERVATION)
                observe_at(self.games, asked, records)
                apply_at(self.games, asked, self._checked(bot, asked, choose_for(bot, self.games, asked, records)))

    def _settle(self, indices: npt.NDArray[np.int64]) -> None:
        """Pay for rounds that have ended, and deal the next rounds of matches that go on."""
        settle_at(self.games, indices, self._terms, self._purses)

    def _checked(self, bot: Bot, asked: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        wrong = first_illegal(self.games[asked], actions)
        if wrong >= 0:
            raise ValueError(
                f"the bot {bot.name!r} acts illegally: {_illegal_text(self.games[asked], wrong, int(actions[wrong]))}"
            )
        return actions

    def _next_episode(self, indices: npt.NDArray[np.int64]) -> None:
        next_episodes_at(self.games, indices, self._terms)
        self._begin(indices)

    def _begin(self, indices: npt.NDArray[np.int64]) -> None:
        """Set the learning seat and the bots in games that have just been dealt; no reward is paid yet."""
        self._purses.paid[indices] = 0
        self._purses.earned[indices] = 0
        self._lengths[indices] = 0
        if self._function is not None:
            self._function.begin(self.games, indices)
        if self._terms.dense != NOT_DENSE:
            begin_dense_at(self.games, indices, self._purses.distances, self._purses.dense)
        self._seated[indices] = self._panel.draw(self.games, indices)
        self._status[indices] = GOES_ON
        if self._learning_seat is None:
            episodes = self.games["round_number"][indices].astype(np.int64) // (MAX_ROUNDS if self._matches else 1)
            self._seats[indices] = (indices + episodes) % NUM_SEATS
        else:
            self._seats[indices] = self._learning_seat

    def _look(self) -> None:
        look_at_seats(self.games, self._seats, self.records, self.masks)
        self.encoder.fill_batch(self.records, self.observations, 1)

    def _observation(self) -> dict[str, npt.NDArray[Any]]:
        if not self._copy:
            return {"observation": self.observations, "action_mask": self.masks}
        return {"observation": self.observations.copy(), "action_mask": self.masks.copy()}

    def _final_infos(
        self, done: npt.NDArray[np.int64], is_done: npt.NDArray[np.bool_], illegal: npt.NDArray[np.bool_]
    ) -> dict[str, Any]:
        """The `infos` of a step in which episodes have ended, by the kind of autoreset."""
        games, seats = self.games[done], self._seats[done]
        found = final_infos(games, seats, self._lengths[done], matches=self._matches, illegal=illegal[done])
        table = np.zeros((len(found), self.num_envs), np.int64)
        table[:, done] = list(found.values())
        numbers: dict[str, Any] = {}
        for key, values in zip(found, table, strict=True):
            numbers[key], numbers[f"_{key}"] = values, is_done
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            return numbers
        records = np.zeros(len(done), OBSERVATION)
        masks = np.zeros((len(done), NUM_ACTIONS), np.int8)
        observations = np.zeros((len(done), self.encoder.size), np.float32)
        look_at_seats(games, seats, records, masks)
        self.encoder.fill_batch(records, observations)
        final = np.full(self.num_envs, None, object)
        for row, i in enumerate(done):
            final[i] = {"observation": observations[row], "action_mask": masks[row]}
        return {"final_obs": final, "_final_obs": is_done, "final_info": numbers, "_final_info": is_done}


def _deal_first(
    games: npt.NDArray[np.record],
    seed: int,
    starts: npt.NDArray[np.float64],
    deal: Deal | None,
    points: list[int],
) -> None:
    """Deal the first round of every game; game i has the seed derived from (seed, i). A `deal` precedes the starts."""
    games["scores"] = points
    deal_range(games, np.uint64(seed), 0, len(games))
    _start_all(games, starts, deal)


def _start_all(games: npt.NDArray[np.record], starts: npt.NDArray[np.float64], deal: Deal | None) -> None:
    """Turn games that have just been dealt into the starts that they draw, or all of them into one `deal`."""
    if deal is None:
        start_range(games, starts, 0, len(games))
    else:
        for game in games:
            deal.deal_into(game)


def _seeds(given: Any, num_envs: int) -> npt.NDArray[np.uint64]:
    """A seed for each game, `(N,)`, from a list in which None is a random one."""
    listed = list_of(given)
    if len(listed) != num_envs:
        raise ValueError(f"seed={shown(given)}: expected one whole number from 0 to 2**64 - 1, or a list of {num_envs}")
    seeds = [secrets.randbits(63) if seed is None else seed_number(seed, f"seed[{i}]") for i, seed in enumerate(listed)]
    return np.array(seeds, np.uint64)


def _autoreset_mode(mode: str | AutoresetMode) -> AutoresetMode:
    name = mode.value if isinstance(mode, AutoresetMode) else mode
    return AutoresetMode(choice("autoreset_mode", name, [known.value for known in _AUTORESET_MODES]))


def _terms(reward: Any, matches: bool, start: Start) -> Terms:
    """The terms of a batch.

    Raises:
        ValueError: the reward or the start is wrong.
    """
    names, what = (MATCH_REWARD_NAMES, "matches") if matches else (REWARD_NAMES, "rounds")
    if callable(reward) and not matches:  # `FunctionPay` pays; what the kernels reckon is not looked at
        return Terms(matches, 0, NOT_DENSE, 0.0, starts_of(start))
    name = parse_reward(reward) if isinstance(reward, str) else None
    if name is None or name.base not in names:
        raise ValueError(
            f"reward={shown(reward)} is not a reward of a batch of {what}: expected one of {', '.join(names)}, "
            "perhaps with '+distance' or '+potential'" + ("" if matches else ", or a function of a Round")
        )
    return Terms(matches, names.index(name.base), DENSE_NAMES.index(name.term), name.weight, starts_of(start))


def _illegal_text(games: npt.NDArray[np.record], i: int, action: int) -> str:
    okey, seat = int(games["okey"][i]), int(games["turn"][i])
    if not 0 <= action < NUM_ACTIONS:
        return f"game {i}: action {action} is not in the action table: expected 0 to {NUM_ACTIONS - 1}"
    return f"game {i}: seat {seat} may not {to_text(action, okey)}; see `masks`"
