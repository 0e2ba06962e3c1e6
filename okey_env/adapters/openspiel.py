"""The round as an OpenSpiel game, `python_okey`.

    import pyspiel, okey_env.adapters.openspiel
    game = pyspiel.load_game("python_okey(rules=klasik,seed=1)")

Parameters: `rules` (a preset), `max_throws`, `encoder` (of the observation tensor), `start` (like `distance-1`), and
`seed` (of the deals of this game object; -1: random). Actions are those of `okey_env.actions`, returns `zero_sum`.
One sampled chance node deals the whole round, and its only outcome says nothing of the tiles. So the history does not
determine a state; `state.serialize()` and `clone` keep all tiles. The information state tensor is the encoder's array
and the events so far, since an encoder need not remember who did what when.
"""

import random
from typing import Any

import numpy as np
import pyspiel

from okey_env import Round, Rules, SelfPlay, actions, as_encoder, rewards, tiles
from okey_env.resample import worlds
from okey_env.saving import to_bytes

EVENTS = ("draw", "take", "show", "throw", "finish")
"""Five numbers an event: 1, seat from the observer on / 3, place in this table / 4, is its tile known, kind / 52."""
_DEFAULTS = {"rules": "gamelake", "max_throws": 200, "encoder": "flat", "start": "deal", "seed": -1}
_TYPE = pyspiel.GameType(
    short_name="python_okey",
    long_name="Okey",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=tiles.NUM_SEATS,
    min_num_players=tiles.NUM_SEATS,
    parameter_specification=_DEFAULTS,
    provides_factored_observation_string=False,
    **{
        f"provides_{what}_{form}": True
        for what in ("information_state", "observation")
        for form in ("string", "tensor")
    },
)


class OkeyGame(pyspiel.Game):
    """Deals rounds under one set of rules; see the module for the parameters."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        chosen = {**_DEFAULTS, **(params or {})}
        self.rules = Rules.preset(chosen["rules"], max_throws=chosen["max_throws"])
        self.encoder = as_encoder(chosen["encoder"])
        self.deals = SelfPlay(1, self.rules, encoder=None, start=chosen["start"])
        self.seeds = random.Random(chosen["seed"] if chosen["seed"] >= 0 else None)
        self.max_events = 2 * chosen["max_throws"] + 2  # a turn draws or takes, and throws; one turn shows as well
        worst = rewards.worst_loss(self.rules)
        info = pyspiel.GameInfo(
            num_distinct_actions=actions.NUM_ACTIONS,
            max_chance_outcomes=1,
            num_players=tiles.NUM_SEATS,
            min_utility=-worst,
            max_utility=worst * (tiles.NUM_SEATS - 1),
            utility_sum=0.0,
            max_game_length=self.max_events,
        )
        super().__init__(_TYPE, info, params or {})

    def deal(self) -> Round:
        """The next round, hidden tiles included."""
        self.deals.reset(seed=self.seeds.getrandbits(63))
        return self.deals.clone(0)

    def new_initial_state(self) -> "OkeyState":
        """A state in which the round is still to be dealt."""
        return OkeyState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "OkeyObserver":
        """An observer; with perfect recall it also gives the events."""
        return OkeyObserver(self, iig_obs_type is not None and iig_obs_type.perfect_recall)


class OkeyState(pyspiel.State):
    """A round, or the chance node before it."""

    def __init__(self, game: OkeyGame) -> None:
        super().__init__(game)
        self.round: Any = None  # an `okey_env.Round`, hidden tiles included; None before the deal

    def current_player(self) -> int:
        """The seat to move, or OpenSpiel's number for chance or for the end."""
        if self.round is None:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self.round.over else self.round.turn

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The one outcome of the deal, which is sampled when it is applied."""
        return [(0, 1.0)]

    def _legal_actions(self, player: int) -> list[int]:
        return self.round.legal_actions() if player == self.current_player() else []

    def _apply_action(self, action: int) -> None:
        if self.round is None:
            self.round = self.get_game().deal()
        else:
            self.round.apply(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return "deal" if player == pyspiel.PlayerId.CHANCE else actions.to_text(action, self.round.okey)

    def is_terminal(self) -> bool:
        """Whether the round is over."""
        return self.round is not None and self.round.over

    def returns(self) -> list[float]:
        """The `zero_sum` rewards of the four seats once the round is over; before that 0."""
        return rewards.zero_sum(self.round) if self.is_terminal() else [0.0] * tiles.NUM_SEATS

    def resample_from_infostate(self, player_id: int, probability_sampler: Any) -> "OkeyState":
        """What the player does not know is dealt again; after another start than `deal`, to the others as if by it."""
        state = self.clone()
        seed = int(probability_sampler() * 2**53)
        state.round.restore(to_bytes(worlds(self.round.observe(player_id), 1, seed), 0))
        return state

    def __str__(self) -> str:
        return "\n".join(text_of(self, seat, recalls=False) for seat in range(tiles.NUM_SEATS))


class OkeyObserver:
    """Fills `tensor`, of which `dict` has the named views, and writes strings."""

    def __init__(self, game: OkeyGame, perfect_recall: bool) -> None:
        self._encoder, self._recalls, size = game.encoder, perfect_recall, game.encoder.size
        self.tensor = np.zeros(size + 5 * game.max_events * perfect_recall, np.float32)
        self.dict = {"observation": self.tensor[:size]}
        if perfect_recall:
            self.dict["events"] = self.tensor[size:].reshape(-1, 5)

    def set_from(self, state: OkeyState, player: int) -> None:
        """Write what a player knows in a state."""
        self.tensor.fill(0)
        if state.round is None:
            return
        seen = state.round.observe(player)
        self.dict["observation"][:] = self._encoder.encode(seen)
        if self._recalls:
            for row, (seat, event, kind) in zip(self.dict["events"], seen.events, strict=False):
                row[:] = 1, seat / 3, EVENTS.index(event) / 4, kind is not None, (kind or 0) / 52

    def string_from(self, state: OkeyState, player: int) -> str:
        """What a player knows in a state, in words, the events included if there is perfect recall."""
        return text_of(state, player, recalls=self._recalls)


def text_of(state: OkeyState, player: int, *, recalls: bool) -> str:
    """What a player knows, in words; seats are counted from the player."""
    if state.round is None:
        return "not dealt"
    seen = state.round.observe(player)
    offer = "" if seen.offer is None else f", on offer {tiles.kind_text(seen.offer, seen.okey)}"
    lines = [
        f"seat {seen.seat}, {seen.phase}, turn {seen.turn}, starter {seen.starter}, stock {seen.stock_left}{offer}",
        f"indicator {tiles.kind_text(seen.indicator, seen.okey)}, rack {tiles.rack_text(seen.rack, seen.okey)}",
        "heaps " + " | ".join(tiles.rack_text(heap, seen.okey) for heap in seen.heaps),
    ]
    for seat, event, kind in seen.events if recalls else ():
        lines.append(f"{seat} {event} {'?' if kind is None else tiles.kind_text(kind, seen.okey)}")
    return "\n".join(lines)


pyspiel.register_game(_TYPE, OkeyGame)
