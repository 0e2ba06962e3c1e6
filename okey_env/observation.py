"""Observation: all that one seat may know of a round, and nothing else.

A bot gets an `Observation` and never a game. An observation holds public facts and the seat's own: its rack, its own
draws, all throws and takes in order, and the tiles that everyone has seen go into a rack. Seats are
counted from the observer: 0 itself, 1 its right-hand neighbour (to whom it throws), 2 opposite, 3 its left
neighbour (from whom it takes).

`observation.records` holds the same facts as an OBSERVATION record, for encoders and compiled bots.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from okey_env.actions import FINISH, NUM_ACTIONS, to_text
from okey_env.checks import seat_number, shown, whole_number
from okey_env.engine.batch import finish_points_in, observe_in, observed_mask_in, observed_masks
from okey_env.engine.events import EVENTS, HIDDEN_TILE, unpack_event
from okey_env.engine.hand import BIT_OF_KIND
from okey_env.engine.state import ENDINGS, LOG_SIZE, NO_SEAT, NO_TILE, OBSERVATION, PHASES, rules_of
from okey_env.events import MAX_EVENTS, as_array
from okey_env.rules import Rules
from okey_env.tiles import NUM_KINDS, NUM_SEATS, kind_text, rack_text


class Event(NamedTuple):
    """Something that happened in the round."""

    seat: int
    """The seat that did it, counted from the observer."""
    event: str
    """`draw`, `take`, `show`, `throw` or `finish`."""
    kind: int | None
    """The tile; None for a tile that somebody else drew from the stock."""


class Observation:
    """All that one seat may know of a round.

    Args:
        records: `(1,)` of OBSERVATION, as `okey_env.engine.observe.observe` fills it; copied.
        events: the round's events as `observe_events` gives them; copied.
    """

    __slots__ = ("_events", "_record")

    def __init__(self, records: npt.NDArray[np.record], events: npt.NDArray[np.uint16]) -> None:
        if getattr(records, "dtype", None) != OBSERVATION or records.shape != (1,):
            raise ValueError(f"records={shown(records)}: expected an array (1,) of OBSERVATION")
        # numpy copies an array of records field by field, which takes ten times as long as its bytes
        self._record = np.frombuffer(records.tobytes(), OBSERVATION)
        self._events = np.array(events, np.uint16)
        self._events.flags.writeable = False

    @classmethod
    def of(cls, games: npt.NDArray[np.record], i: int, seat: int) -> "Observation":
        """What `seat` may know of game i of `(N,)`; only the code that runs the games calls this."""
        seat, i = seat_number(seat), whole_number("i", i, 0, len(games) - 1)
        records = np.zeros(1, OBSERVATION)
        events = np.zeros(LOG_SIZE, np.uint16)
        return cls(records, events[: observe_in(games, i, seat, records, events)])

    @property
    def records(self) -> npt.NDArray[np.record]:
        """The observation as an OBSERVATION record: `(1,)`, read-only; encoders and compiled bots read it."""
        return self._record

    @property
    def seat(self) -> int:
        """The observer's seat, 0 to 3; the only seat that is not counted from the observer."""
        return int(self._record["seat"].item())

    @property
    def rules(self) -> Rules:
        """The rules of the round."""
        played = self._record["rules"].tobytes()
        if played not in _RULES:
            _RULES[played] = rules_of(self._record[0])
        return _RULES[played]

    @property
    def my_turn(self) -> bool:
        """Whether the observer is to move."""
        return self.turn == 0 and self.ending == ""

    @property
    def turn(self) -> int:
        """The seat to move, counted from the observer."""
        return int(self._record["turn"].item())

    @property
    def phase(self) -> str:
        """`draw`: the seat to move has 14 tiles; `throw`: it has 15; `over`."""
        return PHASES[self._record["phase"].item()]

    @property
    def ending(self) -> str:
        """`finish`, `void` or `truncated`; empty while the round goes on."""
        return ENDINGS[self._record["ending"].item()]

    @property
    def winner(self) -> int | None:
        """The seat that finished, counted from the observer; None if nobody has."""
        return _unless(self._record["winner"].item(), NO_SEAT)

    @property
    def starter(self) -> int:
        """The seat that began the round, counted from the observer."""
        return int(self._record["starter"].item())

    @property
    def indicator(self) -> int:
        """The face that was turned up."""
        return int(self._record["indicator"].item())

    @property
    def okey(self) -> int:
        """The face whose two copies are wild; as tiles play, the tiles of this kind are the false jokers."""
        return int(self._record["okey"].item())

    @property
    def offer(self) -> int | None:
        """The kind on offer to the seat to move while it has 14 tiles; None if nothing is on offer."""
        return _unless(self._record["offer"].item(), NO_TILE)

    @property
    def stock_left(self) -> int:
        """Tiles left in the stock, 0 to 48."""
        return int(self._record["stock_left"].item())

    @property
    def set_aside(self) -> int:
        """Unseen tiles that a short stock leaves out of play, 0 to 44; 0 after an ordinary deal."""
        return int(self._record["set_aside"].item())

    @property
    def throws(self) -> int:
        """The number of throws in the round so far."""
        return int(self._record["throws"].item())

    @property
    def shown_by(self) -> int | None:
        """The seat that showed the indicator's twin (R7), counted from the observer; None if nobody has."""
        return _unless(self._record["shown_by"].item(), NO_SEAT)

    @property
    def rack(self) -> npt.NDArray[np.uint8]:
        """The observer's rack: `(53,)` copies by kind."""
        return self._view("rack")

    @property
    def unseen(self) -> npt.NDArray[np.uint8]:
        """Copies by kind that may still be in another rack, in the stock, or aside: `(53,)`."""
        return self._view("unseen")

    @property
    def heaps(self) -> npt.NDArray[np.uint8]:
        """The throws of each seat that nobody took: `(4, 53)` copies by kind."""
        return self._view("heap")

    @property
    def known(self) -> npt.NDArray[np.uint8]:
        """Tiles that everyone knows to be in each rack: taken and not thrown since, or shown: `(4, 53)`."""
        return self._view("known")

    @property
    def taken(self) -> npt.NDArray[np.bool_]:
        """Which kinds each seat has taken in this round: `(4, 53)` bool."""
        return _kinds_in(self._record["taken"][0, :, None])

    @property
    def last_throws(self) -> tuple[int | None, ...]:
        """The kind on top of each seat's heap; None for an empty heap."""
        return tuple(_unless(kind, NO_TILE) for kind in self._record["last_throw"][0].tolist())

    @property
    def lost(self) -> tuple[int, ...]:
        """Points that each seat has lost in this round."""
        return tuple(self._record["lost"][0].tolist())

    @property
    def won(self) -> tuple[int, ...]:
        """Points that the others have lost to each seat in this round."""
        return tuple(self._record["won"][0].tolist())

    @property
    def scores(self) -> tuple[int, ...]:
        """Points of each seat in the match before this round."""
        return tuple(self._record["scores"][0].tolist())

    @property
    def finishes_by_melds(self) -> npt.NDArray[np.bool_]:
        """Kinds with which the observer may finish now because the rest are melds: `(53,)` bool."""
        return _kinds_in(self._record["finish_melds"])

    @property
    def finishes_by_pairs(self) -> npt.NDArray[np.bool_]:
        """Kinds with which the observer may finish now because the rest are seven pairs: `(53,)` bool."""
        return _kinds_in(self._record["finish_pairs"])

    @property
    def finish_points(self) -> npt.NDArray[np.int64]:
        """Points that each loser loses if the observer finishes now with a kind: `(53,)`, 0 where that is no finish.

        If the kind finishes by melds and by pairs, the better of the two counts, as in play (R6.7).
        """
        points = np.zeros(NUM_KINDS, np.int64)
        finish_points_in(self._record, 0, points)
        return points

    @property
    def events(self) -> list[Event]:
        """The events of the round in order; empty if the rules show only the tops of the heaps."""
        return [
            Event(seat, EVENTS[event], _unless(kind, HIDDEN_TILE))
            for event, seat, kind in map(unpack_event, self._events.tolist())
        ]

    def event_array(self, last: int | None = None) -> npt.NDArray[np.int8]:
        """The events as numbers, see `okey_env.events`: `(n, 3)` int8 in order.

        Args:
            last: how many of the newest events, 1 to 512: `(last, 3)`, filled up with -1 at the end. None: all.

        Raises:
            ValueError: `last` is something else.
        """
        return as_array(self._events, None if last is None else whole_number("last", last, 1, MAX_EVENTS))

    @property
    def event_entries(self) -> npt.NDArray[np.uint16]:
        """The events as in the log of a game, two bytes each (`okey_env.engine.events`): `(n,)`, read-only."""
        return self._events

    @property
    def action_mask(self) -> npt.NDArray[np.int8]:
        """1 for each action that the observer may do now: `(109,)` int8, all 0 if another seat is to move."""
        mask = np.zeros(NUM_ACTIONS, np.int8)
        observed_mask_in(self._record, 0, mask)
        return mask

    @property
    def legal_actions(self) -> list[int]:
        """The actions that the observer may do now, in order."""
        actions: list[int] = np.flatnonzero(self.action_mask).tolist()
        return actions

    def to_bytes(self) -> bytes:
        """Everything in this observation as bytes; equal observations give equal bytes."""
        return self._record.tobytes() + self._events.tobytes()

    def __eq__(self, other: object) -> bool:
        return self.to_bytes() == other.to_bytes() if isinstance(other, Observation) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __reduce__(self) -> tuple[type["Observation"], tuple[npt.NDArray[np.record], npt.NDArray[np.uint16]]]:
        return Observation, (self._record, self._events)

    def __str__(self) -> str:
        """The main facts in sentences, for debugging: `print(observation)`."""
        okey = self.okey
        names = [kind_text(kind, okey) if kind is not None else "nothing" for kind in self.last_throws]
        lines = [
            f"You are seat {self.seat} under the rules {self.rules.name}. {self._whose_turn()}",
            f"The indicator is {kind_text(self.indicator, okey)}.",
            f"The stock has {self.stock_left} tiles; {self.throws} tiles were thrown.",
            f"Your rack: {rack_text(self.rack, okey)}.",
            f"On the heaps lie {names[0]} (yours), {names[1]} (right), {names[2]} (opposite), {names[3]} (left).",
        ]
        if self.offer is not None:
            lines.append(f"The tile on offer is {kind_text(self.offer, okey)}.")
        if self.my_turn:
            points = self.finish_points
            said = [
                to_text(action, okey) + (f" ({points[action - FINISH]} points)" if action >= FINISH else "")
                for action in self.legal_actions
            ]
            lines.append(f"You may: {', '.join(said)}.")
        return "\n".join(lines)

    def _whose_turn(self) -> str:
        if self.ending:
            return f"The round is over: {self.ending}."
        who = ("You are", "The right neighbour is", "The player opposite is", "The left neighbour is")[self.turn]
        return f"{who} to {self.phase}."

    def _view(self, field: str) -> npt.NDArray[np.uint8]:
        view: npt.NDArray[np.uint8] = self._record[field][0, ..., :NUM_KINDS]
        return view


def masks_of(records: npt.NDArray[np.record]) -> npt.NDArray[np.int8]:
    """What each observer may do now: `(N, 109)` int8 for `(N,)` OBSERVATION records, 1 for a legal action.

    Raises:
        ValueError: `records` are something else.

    >>> from okey_env.round import Round
    >>> seen = Round("gamelake", seed=7).observe(0)
    >>> bool((masks_of(seen.records)[0] == seen.action_mask).all())
    True
    """
    if getattr(records, "dtype", None) != OBSERVATION or records.ndim != 1:
        raise ValueError(f"records={shown(records)}: expected an array (N,) of OBSERVATION")
    masks = np.zeros((len(records), NUM_ACTIONS), np.int8)
    observed_masks(records, masks)
    return masks


def _kinds_in(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Sets of kinds as bool by kind, on the last axis."""
    kinds: npt.NDArray[np.bool_] = (words >> _KIND_BITS) & np.uint64(1) != 0
    return kinds


def _unless(value: int, none: int) -> int | None:
    return None if value == none else value


_RULES: dict[bytes, Rules] = {}  # the rules that were asked for, by their bytes
_KIND_BITS = np.asarray(BIT_OF_KIND, np.uint64)

assert NUM_SEATS == 4  # an event of the log has two bits for the seat
