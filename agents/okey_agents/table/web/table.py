"""A table without a network: who sits where, the match, the order of the racks, and what players may do.

Everything here is quick and single-threaded. A table does not ask bots: whoever runs it asks them when `bot_to_move`
names a seat, and gives the move to `play`.
"""

import math
import re
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from okey_agents.table.web.fair import new_secret
from okey_agents.table.web.rack import PLACES, Rack, fault_of
from okey_agents.table.web.refusal import Refused
from okey_agents.table.web.settings import PERSON, Settings, player_name
from okey_env import actions
from okey_env.match import Match
from okey_env.round import derive_seed
from okey_env.rules import Rules
from okey_env.tiles import NUM_KINDS, kind_text, kinds_of

MakeMatch = Callable[[Rules, int], Match]
"""Makes a match of rules and a seed."""
NewSeed = Callable[[], int]
"""Gives another seed with each call."""

Kept = TypeVar("Kept")

_VERSION = 1
_TOKEN_BYTES = 24
_NEXT_MATCH = 2**64 - 1  # index under a match's seed from which the next one's derives; rounds and bots count up from 0
BOT_NAMES = ("Defne", "Kerem", "Zeynep", "Emre")
"""Of bots, by seat, also of those that play on free chairs."""
BANK = 60.0
"""Seconds that a person has in a round beyond those of the turns."""
NEXT_ROUND = 20.0
"""Seconds after which the next round begins by itself, at a table with a clock."""
PATIENCE = 60.0
"""At a table without a clock, the same, counted from the first person who asks for the next round."""
_ASLEEP = 2
"""Turns in a row that a bot had to play, after which it plays at once until the person does something."""


class Seat:
    """One of the four seats: of a bot, by its name, or of a `PERSON`, for whom a bot plays while they are away."""

    def __init__(self, who: str, number: int) -> None:
        self.bot = None if who == PERSON else who
        """The name of the bot whose seat this is; None: a person's seat."""
        self.name = BOT_NAMES[number] if self.bot else ""
        self.token: str | None = None
        """The secret with which the person comes back; None: nobody has taken the seat yet."""
        self.person: str | None = None
        """Under which the matches of this person's browser are kept (`games`); None: they are not."""
        self.here = 0
        """Open connections of that person."""
        self.away_since: float | None = -math.inf
        """When the last of these connections closed, by the monotonic clock; None while one is open."""
        self.bank = BANK
        """Seconds left in this round beyond those of the turns."""
        self.missed = 0
        """Turns in a row for which the time was not enough."""
        self.ready = False
        self.replaced: dict[str, Any] | None = None
        """If the seat's last move was another bot's: `moves` before it, the `bot` that made it, and `why`."""
        self.rack = Rack()


class Table:
    """One table.

    Args:
        settings: rules, rack check, pace and seats.
        seed: settles the deals of its first match.
        make_match: tests give chosen positions.
        grace: seconds after which a bot plays for a person whose connection has closed.
        new_seed: gives the seeds of later matches; None: they follow from `seed`. A server that gives out records needs
            it, because a record tells the seed of its match.
    """

    def __init__(
        self,
        settings: Settings,
        seed: int,
        make_match: MakeMatch = Match,
        new_seed: NewSeed | None = None,
        grace: float = 20.0,
    ) -> None:
        self.id = secrets.token_urlsafe(6)
        self.invite = secrets.token_urlsafe(_TOKEN_BYTES)
        """The secret with which a person takes a free seat."""
        self.watch_token: str | None = None
        """The secret with which the person who set up a table of four bots comes back to watch it."""
        self.settings = settings
        self.seats = [Seat(who, number) for number, who in enumerate(settings.seats)]
        self.started = False
        self.watchers = 0
        self.preparing: list[str] = []
        """The bots of this table that are being made ready; until then they do not move."""
        self.touched = time.time()
        """When the table last changed, in seconds since the epoch."""
        self._make_match = make_match
        self._grace = grace
        self._new_seed = new_seed or (lambda: derive_seed(self.seed, _NEXT_MATCH))
        self._begin_match(seed)

    def _begin_match(self, seed: int) -> None:
        self.seed = seed
        self.secret = new_secret(seed)
        """From which the deals of this match follow; its hash is shown at once, and itself after the match."""
        self.match = self._make_match(self.settings.rules, seed)
        self.record_name = f"{time.strftime('%Y-%m-%d')}-{secrets.token_urlsafe(12)}"
        """Under which the record of this match is kept. It cannot be guessed, because a record tells the seed."""
        self.played: list[list[int]] = [[]]
        """The actions of each round of this match. With the seed they are the whole match."""
        self._deal_racks()

    def _deal_racks(self) -> None:
        for number, seat in enumerate(self.seats):
            seat.rack = Rack.dealt(list(kinds_of(self.match.round.racks[number])), self.match.round.okey)
            seat.ready = False
            seat.replaced = None
            seat.bank = BANK
        self._start_clock()

    # --- coming and going --------------------------------------------------------------------------------

    def take_seat(self, name: str) -> tuple[int, str]:
        """Give somebody the first free seat of a person; returns the seat and the token to come back with.

        Raises:
            Refused: no seat is free.
        """
        for number, seat in enumerate(self.seats):
            if seat.bot is None and seat.token is None:
                seat.token, seat.name = secrets.token_urlsafe(_TOKEN_BYTES), name
                self._touch()
                if all(other.bot or other.token for other in self.seats):
                    self._start()
                return number, seat.token
        raise Refused("table_full", "every seat at this table is taken")

    def start_watching(self) -> str:
        """Start a table of four bots for somebody who watches; returns the token to come back with."""
        self.watch_token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._start()
        return self.watch_token

    def connect(self, number: int | None) -> None:
        """Count a connection that has opened, by its seat (None: it watches)."""
        if not self.occupied:  # nothing was played, and no clock ran
            self._start_clock()
        if number is None:
            self.watchers += 1
        else:
            self.seats[number].here += 1
            self.seats[number].away_since = None
            self.wake(number)
        self._touch()

    def disconnect(self, number: int | None, *, for_good: bool = False) -> None:
        """Count a connection that has closed; with `for_good` a bot plays for its person at once (R8.5)."""
        if number is None:
            self.watchers -= 1
        else:
            seat = self.seats[number]
            seat.here -= 1
            if seat.here == 0:
                seat.away_since = -math.inf if for_good else time.monotonic()
        self._touch()
        if self.round_ended:
            self._continue_if_ready()

    @property
    def occupied(self) -> bool:
        """Whether anybody sits or watches. At an empty table nothing is played."""
        return self.watchers > 0 or any(seat.here for seat in self.seats)

    # --- where it stands ---------------------------------------------------------------------------------

    @property
    def stage(self) -> str:
        """`lobby`, `play`, `round_over` or `match_over`."""
        if not self.started:
            return "lobby"
        if not self.match.round.over:
            return "play"
        return "match_over" if self.match.over else "round_over"

    @property
    def round_ended(self) -> bool:
        """Whether the round is over and the next round or match waits for those who are here."""
        return self.started and self.match.round.over

    @property
    def moves(self) -> int:
        """Moves of this match so far. A player's message names this number, so that a late message is recognized."""
        return sum(map(len, self.played))

    def bot_plays(self, number: int) -> bool:
        """Whether a bot plays a seat: a bot's, a free one, or that of a person who has gone or who has missed turns."""
        seat = self.seats[number]
        if seat.bot is not None or seat.token is None or seat.missed >= _ASLEEP:
            return True
        return seat.away_since is not None and time.monotonic() - seat.away_since >= self._grace

    def bot_to_move(self) -> int | None:
        """The seat to move if a bot plays it, or plays this turn because its time is up."""
        turn = self.match.round.turn
        if self.stage != "play" or not self.occupied:
            return None
        return turn if self.bot_plays(turn) or self._is_late(turn) else None

    # --- the clock ---------------------------------------------------------------------------------------

    def _start_clock(self) -> None:
        self._began, self.began_at = time.monotonic(), time.time()

    def _is_late(self, number: int) -> bool:
        clock = self.settings.clock
        return clock > 0 and time.monotonic() - self._began >= clock + self.seats[number].bank

    @property
    def seconds(self) -> float | None:
        """How long the person to move may take, or the next round waits, counted from `began_at`; None: for ever."""
        turn = self.match.round.turn
        if self.stage == "round_over":
            asked = any(seat.ready for seat in self.seats)
            return NEXT_ROUND if self.settings.clock else PATIENCE if asked else None
        if not self.settings.clock or self.stage != "play" or self.bot_plays(turn):
            return None
        return self.settings.clock + self.seats[turn].bank

    @property
    def seconds_left(self) -> float | None:
        """Seconds until `time_up` is to be called; None: never, as the table stands."""
        left = None if self.seconds is None or not self.occupied else self._began + self.seconds - time.monotonic()
        return left if left is not None and left > 0 else None

    def time_up(self) -> None:
        """Begin the next round if it has waited long enough. A turn whose time is up is left to `bot_to_move`."""
        waited = time.monotonic() - self._began
        if self.stage == "round_over" and self.seconds is not None and waited >= self.seconds:
            self._go_on()

    def wake(self, number: int | None) -> None:
        """Take note that the person of a seat is there: a bot that played for them does so no longer."""
        if number is None:
            return
        seat = self.seats[number]
        if (
            self.stage == "play"
            and self.match.round.turn == number
            and (seat.missed >= _ASLEEP or self._is_late(number))
        ):
            self._start_clock()
        seat.missed = 0

    def _count_time(self, number: int) -> None:
        """Take the time of a turn that has ended from the person's bank, and start the next turn's."""
        seat, late = self.seats[number], self._is_late(number)
        if not self.bot_plays(number):
            seat.missed = seat.missed + 1 if late else 0
            seat.bank -= min(seat.bank, max(0.0, time.monotonic() - self._began - self.settings.clock))
        self._start_clock()

    # --- play --------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin although seats are free; bots play there until somebody takes them.

        Raises:
            Refused: the table has begun already.
        """
        if self.started:
            raise Refused("round_running", "the table has begun already")
        self._start()
        self._touch()

    def _start(self) -> None:
        self.started = True
        self._start_clock()

    def act(self, number: int, text: str, at: int, place: int | None) -> None:
        """Do the action that a player asks for.

        Args:
            number: the seat.
            text: the action, like `throw R5`.
            at: `moves` as the player sees it.
            place: on the rack: where the tile to lay stands, or where a drawn tile is to stand; None: anywhere.

        Raises:
            Refused: the action is not possible, or not now; nothing has changed.
        """
        round = self.match.round
        if self.stage != "play":
            raise Refused("no_round", "no round is being played")
        if round.turn != number:
            raise Refused("not_your_turn", f"it is the turn of seat {round.turn}", turn=round.turn)
        if at != self.moves:
            raise Refused("stale", f"the table stands at move {self.moves}, the message at {at}")
        try:
            action = actions.from_text(text, round.okey)
        except ValueError as error:
            raise Refused("malformed", str(error)) from None
        kind = actions.tile_of(action)
        if kind is None:
            self._check_without_tile(action)
        else:
            self._check_with_tile(number, action, kind, place)
        self.wake(number)
        self.play(action, place)

    def play(self, action: int, place: int | None = None) -> None:
        """Do an action of the seat to move, and change its rack; `place` as in `act`.

        Raises:
            ValueError: the action is not legal; nothing has changed.
        """
        round, mover = self.match.round, self.match.round.turn
        before = round.racks[mover].astype(int)
        self.match.apply(action)
        self.played[-1].append(int(action))
        change = round.racks[mover] - before
        rack = self.seats[mover].rack
        for kind in range(NUM_KINDS):
            if change[kind] > 0:
                rack.add(kind_text(kind, round.okey), place)
            elif change[kind] < 0:
                rack.remove(kind_text(kind, round.okey), place)
        if round.over or round.turn != mover:
            self._count_time(mover)
        self._touch()

    def _check_without_tile(self, action: int) -> None:
        round = self.match.round
        if action in round.legal_actions():
            return
        if action == actions.SHOW:
            code = "cannot_show"
        elif round.phase == "throw":
            code = "must_throw"
        else:
            code = "stock_empty" if action == actions.DRAW else "nothing_offered"
        raise Refused(code, round.why_illegal(action))

    def _check_with_tile(self, number: int, action: int, kind: int, place: int | None) -> None:
        round, rack = self.match.round, self.seats[number].rack
        tile = kind_text(kind, round.okey)
        if round.phase == "draw":
            raise Refused("must_draw", round.why_illegal(action))
        if tile not in rack.places:
            raise Refused("not_held", round.why_illegal(action), tile=tile)
        if place is not None and rack.places[place] != tile:
            raise Refused("stale", f"{tile} does not stand at place {place}")
        held = [i for i in range(PLACES) if rack.places[i] == tile]
        if (place if place is not None else held[0]) in rack.down and (place is not None or rack.down >= set(held)):
            raise Refused("face_down", "that okey lies face down: turn it over before you use it", tile=tile)
        if actions.is_finish(action):
            self._check_finish(number, action, tile, place)

    def _check_finish(self, number: int, action: int, tile: str, place: int | None) -> None:
        """Refuse a finish that is not one; a wrong claim costs nothing (R5.3)."""
        round = self.match.round
        if self.settings.rack_check == "as_laid":
            laid = Rack(self.seats[number].rack.places)
            laid.remove(tile, place)
            fault = fault_of(laid.places, round.okey, run_13_1=round.rules.run_13_1)
            if fault is not None:
                tiles = " ".join(str(laid.places[i]) for i in fault.places)
                message = f"{tiles} is not a meld as it lies: {fault.reason}"
                raise Refused("laid_wrong", message, reason=fault.reason, places=list(fault.places))
        if action not in round.legal_actions():
            raise Refused("not_finished", round.why_illegal(action), tile=tile)

    def arrange(self, number: int, places: Sequence[str | None], down: Sequence[int]) -> None:
        """Put the tiles of a seat's rack in another order, as `Rack.arrange` does.

        Raises:
            Refused: the rack holds other tiles, or something other than an okey lies face down.
        """
        try:
            self.seats[number].rack.arrange(places, down)
        except ValueError as error:
            raise Refused("bad_arrangement", str(error)) from None
        self._touch()

    def ready(self, number: int | None) -> None:
        """Take note that a seat (None: a watcher) wants the next round or match, which begins when all who are here do.

        Raises:
            Refused: the round is not over.
        """
        if not self.round_ended:
            raise Refused("round_running", "the round is not over")
        if number is not None:
            if not self.settings.clock and not any(seat.ready for seat in self.seats):
                self._start_clock()
            self.seats[number].ready = True
            self.wake(number)
        self._touch()
        self._continue_if_ready(asked=True)

    def _continue_if_ready(self, *, asked: bool = False) -> None:
        here = [seat for seat in self.seats if seat.here]
        if all(seat.ready for seat in here) and (here or asked):
            self._go_on()

    def _go_on(self) -> None:
        if self.match.over:
            self._begin_match(self._new_seed())
        else:
            self.match.next_round()
            self.played.append([])
            self._deal_racks()
        self._touch()

    def _touch(self) -> None:
        self.touched = time.time()

    # --- keeping -----------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The whole table, hidden tiles included, as plain data to be kept on the server; the inverse of `restore`."""
        return {
            "version": _VERSION,
            "id": self.id,
            "invite": self.invite,
            "watch": self.watch_token,
            "settings": self.settings.to_json(),
            "started": self.started,
            "touched": self.touched,
            "seed": self.seed,
            "secret": self.secret,
            "record": self.record_name,
            "played": self.played,
            "seats": [
                {
                    "name": seat.name,
                    "token": seat.token,
                    "person": seat.person,
                    "ready": seat.ready,
                    "places": seat.rack.places,
                    "down": sorted(seat.rack.down),
                }
                for seat in self.seats
            ],
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Bring a new table, made with the settings and the seed of `saved`, to where `to_json` was called.

        Raises:
            ValueError, KeyError, TypeError: the data is of another version, or damaged.
        """
        if saved["version"] != _VERSION:
            raise ValueError(f"the table was kept in version {saved['version']}: expected {_VERSION}")
        for i, round_actions in enumerate(_a(list, saved["played"], "played")):
            if i > 0:
                self.match.next_round()
            for action in _a(list, round_actions, "played"):
                self.match.apply(_a(int, action, "played"))
        self.played = saved["played"] or [[]]
        self.id, self.invite = _a(str, saved["id"], "id"), _a(str, saved["invite"], "invite")
        self.watch_token = None if saved["watch"] is None else _a(str, saved["watch"], "watch")
        self.record_name = _a(str, saved.get("record", self.record_name), "record")
        if not re.fullmatch(r"[\w-]+", self.record_name):
            raise ValueError(f"record={self.record_name!r}: expected the name of a file without its suffix")
        self.secret = _a(str, saved.get("secret", self.secret), "secret")
        if not self.secret.startswith(f"{self.seed}-"):
            raise ValueError(f"secret={self.secret!r}: expected one of the seed {self.seed}")
        self._deal_racks()
        self.started, self.touched = _a(bool, saved["started"], "started"), float(saved["touched"])
        if not math.isfinite(self.touched):
            raise ValueError(f"touched={self.touched}: expected seconds since the epoch")
        for seat, kept in zip(self.seats, _a(list, saved["seats"], "seats"), strict=True):
            seat.name = player_name(_a(str, kept["name"], "name"))
            seat.token = None if kept["token"] is None else _a(str, kept["token"], "token")
            seat.person = None if kept.get("person") is None else _a(str, kept["person"], "person")
            seat.ready = _a(bool, kept["ready"], "ready")
            seat.rack.arrange(_a(list, kept["places"], "places"), _a(list, kept["down"], "down"))


def _a(kind: type[Kept], value: Any, name: str) -> Kept:
    """A value of a kept table, if it has the type that it must have."""
    if type(value) is not kind:
        raise ValueError(f"{name}={value!r}: expected {kind.__name__}")
    return value
