"""The round, or the match, as a PettingZoo AEC environment.

| | |
|---|---|
| agents | `player_0` … `player_3`, the seats in playing order |
| actions | `Discrete(109)`, see `okey_env.actions`; draw source and throw are two decisions of one agent |
| observation | `{"observation": encoder's array, "action_mask": (109,) int8}`; the mask is all 0 off turn |
| reward | `points`, `zero_sum`, `win`, `soon`, `placement`; with `+distance` or `+potential`; or a function |
| `episode="round"` | one round; a finish or an empty stock terminates, `max_throws` truncates |
| `episode="match"` | rounds until somebody has no points left (R8); the score is in the observation |
| `start` | how rounds are dealt: `deal`, near a finish, with a short stock, or a mixture with weights |
| `state()` | the full state, hidden tiles included: `(492,)` uint8, see `raw_env.state` |
| `reset(options={"deal": Deal(…)})` | starts from a chosen position |
| `reset(options={"points": (2, 9, 4, 11)})` | starts from a chosen score |

On an illegal action, `raw_env` raises a `ValueError` that says why. `env` wraps it so that an illegal action ends the
episode.

Version history: v0, the first.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, cast

import gymnasium
import numpy as np
import numpy.typing as npt
import pettingzoo
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

from okey_env.actions import NUM_ACTIONS, SHOW
from okey_env.checks import action_number, seed_number, shown, whole_number
from okey_env.encoders import Encoder, as_encoder
from okey_env.engine.batch import act_in, look_in, start_in
from okey_env.engine.state import ENDED_TRUNCATED, OBSERVATION
from okey_env.engine.totals import distance_in
from okey_env.interfaces import (
    ENDING_CODES,
    INFO_KEYS,
    Start,
    final_infos,
    observation_space_of,
    plays_matches,
    running_info,
    start_of,
    starts_of,
)
from okey_env.match import Match
from okey_env.observation import Observation
from okey_env.record import Record
from okey_env.render import RENDER_FPS, RENDER_MODES, Frame, Renderer
from okey_env.rewards import DenseReward, RewardFunction, as_reward, distances, illegal_reward, lowest_end
from okey_env.round import Round
from okey_env.rules import Rules, as_rules
from okey_env.saving import from_bytes
from okey_env.tiles import NUM_KINDS, NUM_SEATS, NUM_STOCK

AGENTS = [f"player_{seat}" for seat in range(NUM_SEATS)]
_SEATS = {agent: seat for seat, agent in enumerate(AGENTS)}
_STATE_FIELDS = ("phase", "turn", "starter", "indicator", "okey", "stock_left", "throws", "offer")
STATE_SIZE = 2 * NUM_SEATS * NUM_KINDS + NUM_STOCK + 20

ObservationDict = dict[str, npt.NDArray[Any]]


class _IllegalActionError(ValueError):
    """The action is a whole number, but not a legal action; nothing has changed."""


class raw_env(pettingzoo.AECEnv[str, ObservationDict, int | None]):  # noqa: N801 (the name that PettingZoo gives it)
    """One round, or one match, for four agents, without the safety wrappers.

    Args:
        rules: a preset's name, `Rules`, or a mapping of switches.
        encoder: an encoder or its name.
        reward: `points`, `zero_sum`, `win`, `soon`, `placement`, one of them with `+distance` or `+potential`
            (`okey_env.rewards`), or a function from a `Round` to the four totals.
        render_mode: `human` (a window that shows each move), `rgb_array` (a picture), `ansi` (text), or None.
        max_cycles: the round is truncated after this many turns of each seat, unless `max_throws` of the rules is
            reached earlier; PettingZoo's registry passes it.
        episode: `round` or `match`.
        start: how rounds begin: `deal`, `distance-1` to `distance-4`, `short-1` to `short-11`, or a mapping of them to
            weights, of which each deal draws one from its seed and number.

    In a match the next round is dealt as soon as a round has ended. Every info has the numbers of
    `okey_env.interfaces.INFO_KEYS`, in every step; the same in words are properties of `round` and `match`.

    >>> env = raw_env(rules="klasik")
    >>> env.reset(seed=1)
    >>> observation, reward, termination, truncation, info = env.last()
    >>> observation["action_mask"].dtype, reward, termination
    (dtype('int8'), 0.0, False)
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (PettingZoo's contract: a plain class attribute)
        "name": "okey_round_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self,
        rules: str | Rules | Mapping[str, Any] = "gamelake",
        encoder: str | Encoder = "flat",
        reward: str | RewardFunction = "zero_sum",
        render_mode: str | None = None,
        max_cycles: int | None = None,
        episode: str = "round",
        start: Start = "deal",
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # PettingZoo leaves it untyped
        self.rules = _with_cycles(as_rules(rules), max_cycles)
        self.encoder = as_encoder(encoder)
        self._size = self.encoder.size
        matches = plays_matches(episode)
        self._total = as_reward(reward, matches=matches)
        self._dense_reward = self._total if isinstance(self._total, DenseReward) else None
        self._pays_seldom = isinstance(reward, str)
        self._starts = starts_of(start)
        self._renderer = Renderer(render_mode)
        self.render_mode = render_mode
        if matches:
            self.metadata = {**self.metadata, "name": "okey_match_v0"}
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces: dict[str, gymnasium.spaces.Space[Any]] = {
            agent: observation_space_of(self.encoder) for agent in AGENTS
        }
        self.action_spaces: dict[str, gymnasium.spaces.Space[Any]] = {
            agent: gymnasium.spaces.Discrete(NUM_ACTIONS) for agent in AGENTS
        }
        self.state_space = gymnasium.spaces.Box(0, 255, (STATE_SIZE,), np.uint8)
        self.match = Match(self.rules, seed=0) if matches else None
        """The match, hidden tiles included; None if an episode is one round."""
        self.round = self.match.round if self.match else Round(self.rules, seed=0)
        """The current round, hidden tiles included."""
        self._seed: int | None = None
        self._number = 0
        self._watch()

    def _watch(self) -> None:
        """Keep views of the fields that every step reads."""
        self._turn, self._ending = self.round.fields["turn"], self.round.fields["ending"]
        self._seen = np.zeros(1, OBSERVATION)

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """The observation space; the same object each time."""
        return self.observation_spaces[AGENTS[_seat_of(agent)]]

    def action_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """The action space; the same object each time."""
        return self.action_spaces[AGENTS[_seat_of(agent)]]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a round; in a match, the first round.

        Args:
            seed: determines this episode and all later ones that are reset without a seed.
            options: `{"deal": Deal(…)}` starts from a chosen position, `{"points": (2, 9, 4, 11)}` from a chosen score.

        Raises:
            ValueError: an option seems misspelt or has a wrong value; nothing has changed.
        """
        deal, points = start_of(options, self.rules)
        if seed is not None or self._seed is None:
            self._seed = seed_number(seed) if seed is not None else secrets.randbits(63)
            self._number = 0
        else:
            self._number += 1
        (self.match or self.round).deal(self._seed, deal, number=self._number, points=points)
        if deal is None:
            start_in(self.round.games, 0, self._starts)
        self._begin()
        self._show()

    def _begin(self) -> None:
        """Set PettingZoo's attributes for the current state of the episode; no reward is paid yet."""
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {
            agent: running_info(self.round.games, seat, 0, matches=self.match is not None)
            for seat, agent in enumerate(AGENTS)
        }
        self.agent_selection = AGENTS[self.round.turn]
        self._begin_round()
        self._rewards_are_zero = True
        if self.round.over:
            self._end_round()

    def step(self, action: int | None) -> None:
        """Do an action of `agent_selection`; the action must be None once the episode is over.

        Raises:
            ValueError: the action is illegal; the message says why, and nothing has changed.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(f"{agent} may not pass None: the game goes on, expected an action 0 to {NUM_ACTIONS - 1}")
        number = action if type(action) is int else action_number(action)
        if not 0 <= number < NUM_ACTIONS or not act_in(self.round.games, 0, number):
            raise _IllegalActionError(self.round.why_illegal(number))
        info = self.infos[agent].copy()  # earlier infos stay as they were
        info["length"] += 1
        self.infos[agent] = info
        self._cumulative_rewards[agent] = 0.0
        if not self._rewards_are_zero:
            self.rewards = dict.fromkeys(AGENTS, 0.0)
            self._rewards_are_zero = True
        over = self._ending.item() != 0
        if over or number == SHOW or not self._pays_seldom:
            self._pay()
        elif self._dense_reward is not None:
            self._pay_nearer(agent, self._dense_reward.weight)
        self._show()
        if over:
            self._end_round()
        else:
            if number == SHOW:
                self._tell_points()
            self.agent_selection = AGENTS[self._turn.item()]

    def observe(self, agent: str) -> ObservationDict:
        """The encoded observation of an agent and its action mask."""
        observation = np.empty((1, self._size), np.float32)
        mask = np.empty(NUM_ACTIONS, np.int8)
        look_in(self.round.games, 0, _seat_of(agent), self._seen, mask)
        self.encoder.fill_batch(self._seen, observation)
        return {"observation": observation[0], "action_mask": mask}

    def observation_of(self, agent: str) -> Observation:
        """What an agent may know as an `Observation`, the form that a bot gets."""
        return self.round.observe(_seat_of(agent))

    def state(self) -> npt.NDArray[np.uint8]:
        """The full state, hidden tiles included: `(492,)` uint8.

        212 entries: racks by seat and kind. 212: heaps by seat and kind. 48: the kinds of the stock in the order in
        which they will be drawn, then 255 for each tile drawn. 8: phase, turn, starter, indicator, okey, stock left,
        throws, offer (255: none). 12: by seat the points lost, the points won, and the points of the match before this
        round.
        """
        fields = {name: field[0] for name, field in self.round.fields.items()}
        left = int(fields["stock_left"])
        stock = np.full(NUM_STOCK, 255, np.uint8)
        stock[:left] = fields["stock"][NUM_STOCK - left :]
        rest = [fields[name] for name in _STATE_FIELDS]
        parts = [self.round.racks.ravel(), self.round.heaps.ravel(), stock, rest, fields["lost"], fields["won"]]
        parts.append(fields["scores"])
        return np.concatenate(parts).astype(np.uint8)

    def render(self) -> Frame:
        """The whole table, hidden tiles included: a picture, a text, or None after showing it in a window."""
        return self._renderer.render(self.round, AGENTS)

    def close(self) -> None:
        """Close the window of the mode `human`, if it is open."""
        self._renderer.close()

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def save(self) -> bytes:
        """The round and the points before it as bytes, hidden tiles included; see `okey_env.saving`."""
        return self.round.save()

    def restore(self, saved: bytes) -> None:
        """Go back to a saved game. Later rewards count from there; rewards already paid are not paid again.

        Raises:
            ValueError: the bytes are not a saved game, or the game has other rules; nothing has changed.
        """
        from_bytes(saved, self.rules)
        (self.match or self.round).restore(saved)
        self._seed, self._number = self.round.seed, (self.match or self.round).number
        self._begin()

    def record(self, players: Sequence[str] | None = None) -> Record:
        """The episode so far as a record, hidden tiles included; `players` are the names of the four seats."""
        return Record.of(self.match or self.round, players or AGENTS)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the views of the round, since the copy of a view is not a view; `__setstate__` makes new ones."""
        return {name: value for name, value in vars(self).items() if name not in ("_turn", "_ending", "_seen")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._watch()

    def _end_round(self) -> None:
        """End the episode, or deal the next round of the match; the round is over and its rewards are paid."""
        truncated = self._ending.item() == ENDED_TRUNCATED if self.match is None else self.match.truncated
        self._tell_end()
        if self.match is not None and not self.match.over:
            for info in self.infos.values():
                info["won"] = info["placement"] = 0
            self.match.next_round()
            start_in(self.round.games, 0, self._starts)
            self._begin_round()
            self.agent_selection = AGENTS[self.round.turn]
            return
        self.terminations = dict.fromkeys(AGENTS, not truncated)
        self.truncations = dict.fromkeys(AGENTS, truncated)

    def _tell_points(self) -> None:
        """Set the points in the infos, which a shown twin changes during a round."""
        for seat, agent in enumerate(AGENTS):
            now = running_info(self.round.games, seat, 0, matches=self.match is not None)
            self.infos[agent] = {**self.infos[agent], "points": now["points"]}

    def _tell_end(self, illegal: str | None = None) -> None:
        """Set the infos at the end of a round; `illegal` is the agent whose illegal action has ended the episode."""
        lengths = np.array([self.infos[agent]["length"] for agent in AGENTS])
        games = np.repeat(self.round.games, NUM_SEATS)
        is_illegal = np.array([agent == illegal for agent in AGENTS])
        found = final_infos(games, np.arange(NUM_SEATS), lengths, matches=self.match is not None, illegal=is_illegal)
        self.infos = {agent: {key: int(found[key][seat]) for key in INFO_KEYS} for seat, agent in enumerate(AGENTS)}
        if illegal is not None:
            for info in self.infos.values():
                info["ending"] = ENDING_CODES["illegal"]

    def _end_illegally(self, price: float) -> None:
        """End the episode by an illegal action of the agent to move, which gets `price` or less; the others get 0."""
        agent = self.agent_selection
        lowest = lowest_end(self._total, self.round, _SEATS[agent], matches=self.match is not None)
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self.rewards[agent] = min(price, lowest - self._paid[_SEATS[agent]])
        self._accumulate_rewards()
        info = self.infos[agent]
        self.infos[agent] = {**info, "length": info["length"] + 1}
        self._tell_end(illegal=agent)
        self.terminations = dict.fromkeys(AGENTS, True)
        self.truncations = dict.fromkeys(AGENTS, False)
        self._deads_step_first()

    def _begin_round(self) -> None:
        """Count rewards from the current state of the round on."""
        self._paid = [float(total) for total in self._total(self.round)]
        if self._dense_reward is not None:
            self._distances = distances(self.round).tolist()

    def _pay_nearer(self, agent: str, weight: float) -> None:
        """Pay the agent that has moved for the change of its distance; all else is as it was."""
        seat = _SEATS[agent]
        distance = distance_in(self.round.games, 0, seat)
        change = self._distances[seat] - distance
        if change:
            self._distances[seat] = distance
            self._paid[seat] += weight * change
            self.rewards[agent] = weight * change
            self._rewards_are_zero = False
            self._accumulate_rewards()

    def _pay(self) -> None:
        """Pay each seat the change of its total."""
        totals = [float(total) for total in self._total(self.round)]
        for agent, total, paid in zip(AGENTS, totals, self._paid, strict=True):
            self.rewards[agent] = total - paid
        self._paid = totals
        self._rewards_are_zero = False
        self._accumulate_rewards()


class _TerminateIllegalWrapper(wrappers.BaseWrapper[str, ObservationDict, int | None]):
    """PettingZoo's wrapper of this name, without an observation for each step, and with whole numbers of any size.

    Args:
        env: a `raw_env`.
        price: the reward for an illegal action, at most.
    """

    def __init__(self, env: raw_env, price: float) -> None:
        super().__init__(env)
        self._price = price

    def step(self, action: int | None) -> None:
        """Do an action; an illegal one ends the episode with a warning.

        Raises:
            ValueError: the action is not a whole number; nothing has changed.
        """
        try:
            super().step(action)
        except _IllegalActionError:
            EnvLogger.warn_on_illegal_move()
            cast("raw_env", self.env.unwrapped)._end_illegally(self._price)

    def __str__(self) -> str:
        """The name of the environment."""
        return str(self.env)


def env(
    rules: str | Rules | Mapping[str, Any] = "gamelake",
    encoder: str | Encoder = "flat",
    reward: str | RewardFunction = "zero_sum",
    render_mode: str | None = None,
    max_cycles: int | None = None,
    episode: str = "round",
    start: Start = "deal",
) -> pettingzoo.AECEnv[str, ObservationDict, int | None]:
    """`raw_env` with PettingZoo's order of calls enforced, in which an illegal action ends the episode.

    An agent that acts illegally gets a reward of minus the most that the episode can cost; the others get 0, and every
    agent terminates. A value that is not a whole number is refused with a `ValueError`.
    """
    raw = raw_env(rules, encoder, reward, render_mode, max_cycles, episode, start)
    safe = _TerminateIllegalWrapper(raw, illegal_reward(reward, raw.rules, matches=raw.match is not None))
    return cast("pettingzoo.AECEnv[str, ObservationDict, int | None]", wrappers.OrderEnforcingWrapper(safe))


def _seat_of(agent: str) -> int:
    try:
        return _SEATS[agent]
    except (KeyError, TypeError):
        raise ValueError(f"agent={shown(agent)}: expected '{AGENTS[0]}' to '{AGENTS[-1]}'") from None


def _with_cycles(rules: Rules, max_cycles: int | None) -> Rules:
    if max_cycles is None:
        return rules
    throws = NUM_SEATS * whole_number("max_cycles", max_cycles, 1, 2**63 - 1, ", or None")
    switches = {**vars(rules), "max_throws": min(rules.max_throws, throws)}
    return Rules(**switches)
