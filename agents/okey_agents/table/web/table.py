"""A table without a network: who sits where, the match, the racks as they lie, and what players may do with them.

Everything here is quick and single-threaded. Bots are not asked here: whoever runs the table asks them when `mover`
says so, and brings the move to `play`.
"""

import math
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

from okey_agents.table.web.rack import PLACES, Rack, fault_of
from okey_agents.table.web.refusal import Refused
from okey_agents.table.web.settings import PERSON, Settings
from okey_env import actions
from okey_env.match import Match
from okey_env.rules import Rules
from okey_env.tiles import NUM_KINDS, kind_text, kinds_of

MakeMatch = Callable[[Rules, int], Match]
"""A match from its rules and a seed."""

_VERSION = 1
_TOKEN_BYTES = 24
_BOT_NAMES = ("Defne", "Kerem", "Zeynep", "Emre")


class Seat:
    """One of the four places: a bot's, or a person's, whom a bot stands in for while nobody is there."""

    def __init__(self, who: str, number: int) -> None:
        self.bot = None if who == PERSON else who
        """The bot that plays here; None: a person's seat."""
        self.name = _BOT_NAMES[number] if self.bot else ""
        self.token: str | None = None
        """What lets a person come back; None: nobody has taken the seat yet."""
        self.here = 0
        """Open connections of that person."""
        self.away_since: float | None = -math.inf
        """When the last of them closed, by the monotonic clock; None while one is open."""
        self.ready = False
        self.rack = Rack()


class Table:
    """One table.

    Args:
        settings: what was agreed.
        seed: settles the deals of its first match.
        make_match: how a match is made; tests give chosen positions.
    """

    def __init__(self, settings: Settings, seed: int, make_match: MakeMatch = Match) -> None:
        self.id = secrets.token_urlsafe(6)
        self.invite = secrets.token_urlsafe(_TOKEN_BYTES)
        """Who has this may take a free seat."""
        self.watch: str | None = None
        """What lets whoever set up a table of four bots come back to watch it."""
        self.settings = settings
        self.seats = [Seat(who, number) for number, who in enumerate(settings.seats)]
        self.started = False
        self.watchers = 0
        self.version = 0
        """Goes up with everything that anybody can see."""
        self.touched = time.time()
        self._make_match = make_match
        self._begin(seed)

    def _begin(self, seed: int) -> None:
        self.seed = seed
        self.match = self._make_match(self.settings.rules, seed)
        self.played: list[list[int]] = [[]]
        """The actions of each round of this match; with the seed, all of it."""
        self._lay_out()

    def _lay_out(self) -> None:
        for number, seat in enumerate(self.seats):
            seat.rack = Rack.dealt(list(kinds_of(self.match.round.racks[number])), self.match.round.okey)
            seat.ready = False

    # --- coming and going --------------------------------------------------------------------------------

    def take_seat(self, name: str) -> tuple[int, str]:
        """Give the first free person's seat to somebody: the seat and the token to come back with.

        Raises:
            Refused: no seat is free.
        """
        for number, seat in enumerate(self.seats):
            if seat.bot is None and seat.token is None:
                seat.token, seat.name = secrets.token_urlsafe(_TOKEN_BYTES), name
                self._changed()
                if all(other.bot or other.token for other in self.seats):
                    self.started = True
                return number, seat.token
        raise Refused("table_full", "every seat at this table is taken")

    def take_watch(self) -> str:
        """Watch a table of four bots, which begin at once: the token to come back with."""
        self.watch = secrets.token_urlsafe(_TOKEN_BYTES)
        self.started = True
        return self.watch

    def come(self, number: int | None) -> None:
        """A connection of a seat, or of somebody who watches, has opened."""
        if number is None:
            self.watchers += 1
        else:
            self.seats[number].here += 1
            self.seats[number].away_since = None
        self._changed()

    def go(self, number: int | None, *, for_good: bool = False) -> None:
        """A connection has closed; `for_good` if its player has said so and a bot is to play at once (R8.5)."""
        if number is None:
            self.watchers -= 1
        else:
            seat = self.seats[number]
            seat.here -= 1
            if seat.here == 0:
                seat.away_since = -math.inf if for_good else time.monotonic()
        self._changed()
        if self.over_for_now:
            self._go_on_if_ready()

    @property
    def somebody_here(self) -> bool:
        """Whether anybody sits or watches; a table without is left as it is."""
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
    def over_for_now(self) -> bool:
        """Whether the next round, or the next match, waits for those who are here."""
        return self.started and self.match.round.over

    @property
    def moves(self) -> int:
        """Moves of this match so far; a player's message names it, so that a late one is known."""
        return sum(map(len, self.played))

    def program_seat(self, grace: float) -> int | None:
        """The seat to move if a program is to play it: a bot's, or a person's who has been away for `grace` seconds."""
        if self.stage != "play" or not self.somebody_here:
            return None
        seat = self.seats[self.match.round.turn]
        if seat.bot is not None or seat.token is None:
            return self.match.round.turn
        away = seat.away_since is not None and time.monotonic() - seat.away_since >= grace
        return self.match.round.turn if away else None

    # --- play --------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin although seats are free: bots play there until somebody comes.

        Raises:
            Refused: it has begun.
        """
        if self.started:
            raise Refused("round_running", "the table has begun already")
        self.started = True
        self._changed()

    def act(self, number: int, text: str, at: int, place: int | None) -> None:
        """Do what the player of a seat asks for.

        Args:
            number: the seat.
            text: the action, like `throw R5`.
            at: `moves` as the player sees it.
            place: the place of the tile to lay, or where a drawn one is to stand.

        Raises:
            Refused: it may not, or not now; nothing has changed.
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
            self._check_plain(action)
        else:
            self._check_laying(number, action, kind, place)
        self.play(action, place)

    def play(self, action: int, place: int | None = None) -> None:
        """Do a legal action of the seat to move and keep its rack; ValueError if it is not legal."""
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
        self._changed()

    def _check_plain(self, action: int) -> None:
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

    def _check_laying(self, number: int, action: int, kind: int, place: int | None) -> None:
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
            raise Refused("face_down", "that okey lies face down: turn it up before laying it", tile=tile)
        if actions.is_finish(action):
            self._check_claim(number, action, tile, place)

    def _check_claim(self, number: int, action: int, tile: str, place: int | None) -> None:
        """R5.3: a claim is looked at before it counts; a wrong one is refused and costs nothing."""
        round = self.match.round
        if self.settings.rack_check == "as_laid":
            laid = Rack(self.seats[number].rack.places)
            laid.remove(tile, place)
            fault = fault_of(laid.places, round.okey, run_13_1=round.rules.run_13_1)
            if fault is not None:
                tiles = " ".join(str(laid.places[i]) for i in fault.places)
                raise Refused(
                    "laid_wrong",
                    f"{tiles}, as it lies, is no meld: {fault.reason}",
                    reason=fault.reason,
                    places=list(fault.places),
                )
        if action not in round.legal_actions():
            raise Refused("not_finished", round.why_illegal(action), tile=tile)

    def arrange(self, number: int, places: Sequence[str | None], down: Sequence[int]) -> None:
        """Lay a rack in another order.

        Raises:
            Refused: it holds other tiles.
        """
        try:
            self.seats[number].rack.arrange(places, down)
        except ValueError as error:
            raise Refused("bad_arrangement", str(error)) from None
        self.touched = time.time()

    def ready(self, number: int | None) -> None:
        """A player wants the next round, or after the match a new one; it begins when all who are here do.

        Raises:
            Refused: the round goes on.
        """
        if not self.over_for_now:
            raise Refused("round_running", "the round is not over")
        if number is not None:
            self.seats[number].ready = True
        self._changed()
        self._go_on_if_ready(asked=True)

    def _go_on_if_ready(self, *, asked: bool = False) -> None:
        here = [seat for seat in self.seats if seat.here]
        if not all(seat.ready for seat in here) or not (here or asked):
            return
        if self.match.over:
            self._begin(secrets.randbits(63))
        else:
            self.match.next_round()
            self.played.append([])
            self._lay_out()
        self._changed()

    def _changed(self) -> None:
        self.version += 1
        self.touched = time.time()

    # --- keeping -----------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """All of the table, hidden tiles included, to be kept on the server; the inverse of `restore`."""
        return {
            "version": _VERSION,
            "id": self.id,
            "invite": self.invite,
            "watch": self.watch,
            "settings": self.settings.to_json(),
            "started": self.started,
            "touched": self.touched,
            "seed": self.seed,
            "played": self.played,
            "seats": [
                {
                    "name": seat.name,
                    "token": seat.token,
                    "ready": seat.ready,
                    "places": seat.rack.places,
                    "down": sorted(seat.rack.down),
                }
                for seat in self.seats
            ],
        }

    @classmethod
    def restore(cls, saved: dict[str, Any], settings: Settings, make_match: MakeMatch = Match) -> "Table":
        """A table as it was kept: its match is played again from seed and actions.

        Raises:
            ValueError, KeyError: it was kept by another version, or is damaged.
        """
        if saved["version"] != _VERSION:
            raise ValueError(f"the table is kept in version {saved['version']}: expected {_VERSION}")
        table = cls(settings, saved["seed"], make_match)
        for i, round_actions in enumerate(saved["played"]):
            if i > 0:
                table.match.next_round()
            for action in round_actions:
                table.match.apply(action)
        table.played = saved["played"]
        table.id, table.invite, table.watch = saved["id"], saved["invite"], saved["watch"]
        table.started, table.touched = saved["started"], saved["touched"]
        for seat, kept in zip(table.seats, saved["seats"], strict=True):
            seat.name, seat.token, seat.ready = kept["name"], kept["token"], kept["ready"]
            seat.rack = Rack(kept["places"], kept["down"])
        return table
