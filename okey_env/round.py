"""Round: one round of Okey as an object, for code that runs games: environments, arenas, tables, tests.

It holds one game record and checks all arguments; the kernels of `okey_env.engine` do the work. A `Round` shows
hidden tiles, so it is never given to a bot: bots get `round.observe(seat)`.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from okey_env import actions
from okey_env.checks import (
    MAX_SEED,
    action_number,
    index_of,
    list_of,
    seat_number,
    seed_number,
    shown,
    whole_number,
    yes_or_no,
)
from okey_env.deal import Deal
from okey_env.engine.batch import act_in, deal_in, mask_in
from okey_env.engine.events import EVENT_DRAW, EVENT_FINISH, EVENT_TAKE, EVENT_THROW, HIDDEN_TILE, unpack_events
from okey_env.engine.random import derive_seed as derive_seed_kernel
from okey_env.engine.state import ENDINGS, GAME, NO_SEAT, NO_TILE, PHASES, new_games, rules_of
from okey_env.observation import Observation
from okey_env.rules import START_POINTS_RANGE, Rules, as_rules
from okey_env.saving import from_bytes, to_bytes
from okey_env.tiles import NUM_KINDS, NUM_SEATS, kind_text, parse_kind


def derive_seed(seed: int, index: int) -> int:
    """The seed of game number `index` under one seed; every part of this package derives seeds in this way.

    Raises:
        ValueError: the seed or the index is not a whole number from 0 to 2**64 - 1.
    """
    index = whole_number("index", index, 0, MAX_SEED)
    return int(derive_seed_kernel(np.uint64(seed_number(seed)), np.uint64(index)))


def check_points(points: Sequence[int] | None, rules: Rules) -> list[int]:
    """The points of the four seats before a round, checked; `start_points` of the rules if `points` is None.

    Raises:
        ValueError: `points` are not four whole numbers from 1 to 21, or (R8.4) partners with different points.

    >>> check_points((2, 9, 4, 11), Rules())
    [2, 9, 4, 11]
    """
    if points is None:
        return [rules.start_points] * NUM_SEATS
    most = START_POINTS_RANGE[1]
    given = [index_of(number) for number in list_of(points)]
    numbers = [number for number in given if number is not None and 1 <= number <= most]
    if not len(given) == len(numbers) == NUM_SEATS:
        raise ValueError(
            f"points={shown(points)}: expected {NUM_SEATS} whole numbers from 1 to {most}, one for each seat"
        )
    if rules.teams and numbers[:2] != numbers[2:]:
        raise ValueError(
            f"points={shown(points)}: expected the same for seats 0 and 2, and for 1 and 3, which are teams"
        )
    return numbers


class Round:
    """One round: deal it, ask which actions are legal, do them, and look at the state.

    Args:
        rules: a preset's name, `Rules`, or a mapping of switches.
        seed: determines, with `number`, the deal; None: a random one.
        deal: a chosen position; the seed deals the tiles that it leaves open.
        number: which round of this seed.
        points: the four seats' points of the match before this round; None: `start_points` of the rules.
        draw_queues: each seat draws from its own quarter of the stock, for paired evaluation.

    Raises:
        ValueError: a value is not what it should be; the message names it.

    >>> round = Round("gamelake", seed=7)
    >>> round.phase, len(round.legal_actions()) > 0
    ('throw', True)
    """

    def __init__(
        self,
        rules: str | Rules | Mapping[str, Any] = "gamelake",
        seed: int | None = None,
        deal: Deal | None = None,
        *,
        number: int = 0,
        points: Sequence[int] | None = None,
        draw_queues: bool = False,
    ) -> None:
        self.rules = as_rules(rules)
        self._hold(new_games(self.rules, 1, draw_queues=yes_or_no("draw_queues", draw_queues)))
        self.deal(seed if seed is not None else secrets.randbits(63), deal, number=number, points=points)

    def deal(
        self, seed: int, deal: Deal | None = None, *, number: int = 0, points: Sequence[int] | None = None
    ) -> None:
        """Deal a new round with the same rules.

        Raises:
            ValueError: the points are not possible, or another value is not what it should be; nothing has changed.
        """
        checked = check_points(points, self.rules), seed_number(seed), whole_number("number", number, 0, MAX_SEED)
        if deal is not None and not isinstance(deal, Deal):
            raise ValueError(f"deal={shown(deal)}: expected an okey_env.Deal, or None")
        self.fields["scores"][0], self.fields["seed"][0], self.fields["round_number"][0] = checked
        if deal is None:
            deal_in(self.games, 0, NO_SEAT)
        else:
            deal.deal_into(self.games[0])

    def _hold(self, games: npt.NDArray[np.record]) -> None:
        self.games = games
        """The game record that the kernels use: `(1,)` of GAME."""
        self.fields: dict[str, npt.NDArray[Any]] = {name: games[name] for name in GAME.names or ()}
        """The fields of the record by name, each a view with one row."""

    # --- where the round stands --------------------------------------------------------------------------

    @property
    def seed(self) -> int:
        """The seed of its deal."""
        return int(self.fields["seed"].item())

    @property
    def number(self) -> int:
        """Which round of its seed this is."""
        return int(self.fields["round_number"].item())

    @property
    def scores(self) -> tuple[int, ...]:
        """Points of the match before this round, by seat (R8)."""
        return tuple(self.fields["scores"][0].tolist())

    @property
    def turn(self) -> int:
        """The seat to move, 0 to 3; the last mover once the round is over."""
        return int(self.fields["turn"].item())

    @property
    def phase(self) -> str:
        """`draw`: the seat to move has 14 tiles; `throw`: it has 15; `over`."""
        return PHASES[self.fields["phase"].item()]

    @property
    def over(self) -> bool:
        """Whether the round has ended."""
        return bool(self.fields["ending"].item())

    @property
    def ending(self) -> str:
        """`finish`, `void` or `truncated`; empty while the round goes on."""
        return ENDINGS[self.fields["ending"].item()]

    @property
    def winner(self) -> int | None:
        """The seat that finished; None if nobody has."""
        winner = int(self.fields["winner"].item())
        return None if winner == NO_SEAT else winner

    @property
    def indicator(self) -> int:
        """The face that was turned up."""
        return int(self.fields["indicator"].item())

    @property
    def okey(self) -> int:
        """The face whose two copies are wild in this round."""
        return int(self.fields["okey"].item())

    @property
    def offer(self) -> int | None:
        """The kind on offer to the seat to move while it has 14 tiles; None if nothing is on offer."""
        offer = int(self.fields["offer"].item())
        return None if offer == NO_TILE else offer

    @property
    def racks(self) -> npt.NDArray[np.uint8]:
        """All racks as a new array: `(4, 53)` copies by kind."""
        racks: npt.NDArray[np.uint8] = self.fields["rack"][0, :, :NUM_KINDS].copy()
        return racks

    @property
    def dealt_racks(self) -> npt.NDArray[np.uint8]:
        """All racks after the deal as a new array: `(4, 53)` copies by kind, found by undoing the events.

        Raises:
            ValueError: the round is a world (`okey_env.resample`), whose events do not say what the others drew.
        """
        racks = self.racks
        event, seat, kind = unpack_events(self.fields["log"][0, : self.fields["num_events"].item()])
        if HIDDEN_TILE in kind:
            raise ValueError("the events of the round hide tiles, as in a world: expected a round that was dealt")
        came = (event == EVENT_DRAW) | (event == EVENT_TAKE)
        went = (event == EVENT_THROW) | (event == EVENT_FINISH)
        np.subtract.at(racks, (seat[came], kind[came]), 1)  # a byte that falls below 0 comes back by a later addition
        np.add.at(racks, (seat[went], kind[went]), 1)
        return racks

    @property
    def heaps(self) -> npt.NDArray[np.uint8]:
        """The throws of each seat that nobody took, as a new array: `(4, 53)` copies by kind."""
        heaps: npt.NDArray[np.uint8] = self.fields["heap"][0, :, :NUM_KINDS].copy()
        return heaps

    @property
    def stock_left(self) -> int:
        """Tiles left in the stock, 0 to 48."""
        return int(self.fields["stock_left"].item())

    @property
    def set_aside(self) -> int:
        """The first tiles of `stock` that a short stock leaves out of play, 0 to 44; 0 after an ordinary deal."""
        return int(self.fields["set_aside"].item())

    @property
    def lost(self) -> tuple[int, ...]:
        """Points that each seat has lost in this round, 0 or more."""
        return tuple(self.fields["lost"][0].tolist())

    @property
    def won(self) -> tuple[int, ...]:
        """Points that the others have lost to each seat in this round."""
        return tuple(self.fields["won"][0].tolist())

    # --- play --------------------------------------------------------------------------------------------

    def legal_actions(self) -> list[int]:
        """The actions of the seat to move, in order; empty once the round is over."""
        legal: list[int] = np.flatnonzero(self.action_mask()).tolist()
        return legal

    def action_mask(self) -> npt.NDArray[np.int8]:
        """1 for each action that the seat to move may do: `(109,)` int8."""
        mask = np.zeros(actions.NUM_ACTIONS, np.int8)
        mask_in(self.games, 0, mask)
        return mask

    def apply(self, action: int | str) -> None:
        """Do an action of the seat to move, given as a number or as text.

        Raises:
            ValueError: the action is not legal; nothing has changed.
        """
        number = actions.from_text(action, self.okey) if isinstance(action, str) else action_number(action)
        if not 0 <= number < actions.NUM_ACTIONS or not act_in(self.games, 0, number):
            raise ValueError(self.why_illegal(number))

    def observe(self, seat: int) -> Observation:
        """All that a seat, 0 to 3, may know.

        Raises:
            ValueError: there is no such seat.
        """
        return Observation.of(self.games, 0, seat_number(seat))

    def why_illegal(self, action: int) -> str:
        """One sentence that says why the seat to move may not do an action, which must be illegal."""
        action = action_number(action)
        if not 0 <= action < actions.NUM_ACTIONS:
            return f"action {shown(action)} is not in the action table: expected 0 to {actions.NUM_ACTIONS - 1}"
        text = actions.to_text(action, self.okey)
        who = f"seat {self.turn} may not {text}"
        if self.over:
            return f"{who}: the round is over ({self.ending})"
        kind = actions.tile_of(action)
        if kind is not None:
            if self.phase == "draw":
                return f"{who}: it has 14 tiles and must draw or take first"
            if self.fields["rack"][0, self.turn, kind] == 0:
                return f"{who}: no {kind_text(kind, self.okey)} is in its rack"
            return f"{who}: the other 14 tiles are neither all melds nor seven pairs"
        if action == actions.SHOW:
            return f"{who}: {self._why_not_show()}"
        if self.phase == "throw":
            return f"{who}: it has 15 tiles and must throw or finish"
        return f"{who}: " + ("the stock is empty" if action == actions.DRAW else "nothing is on offer")

    def _why_not_show(self) -> str:
        if self.rules.indicator_points == 0:
            return "these rules give nothing for the indicator's twin"
        if self.fields["shown_by"].item() != NO_SEAT:
            return f"seat {self.fields['shown_by'].item()} has shown the twin already"
        if self.fields["rack"][0, self.turn, self.indicator] == 0:
            return f"no {kind_text(self.indicator, self.okey)} is in its rack"
        if (self.fields["has_thrown"].item() >> self.turn) & 1:
            return "its first turn is past"
        return "it has drawn already, but by these rules the twin may be shown only before drawing"

    # --- save, restore -----------------------------------------------------------------------------------

    def save(self) -> bytes:
        """The whole round, hidden tiles included, as bytes; see `okey_env.saving`."""
        return to_bytes(self.games, 0)

    def restore(self, saved: bytes) -> None:
        """Go back to a saved round, including its rules.

        Raises:
            ValueError: the bytes are not those of a saved game of this version; nothing has changed.
        """
        self.games[:] = from_bytes(saved)
        self.rules = rules_of(self.games[0])

    def __getstate__(self) -> bytes:
        return self.save()

    def __setstate__(self, state: bytes) -> None:
        self._hold(np.zeros(1, GAME))
        self.restore(state)

    def kind(self, tile: str) -> int:
        """The kind of a tile, written as text, as it plays in this round."""
        return parse_kind(tile, self.okey)
