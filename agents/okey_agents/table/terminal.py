"""The table in a terminal: `okey play --terminal`. One person against three bots, a whole match, in plain text.

It has the same table as the page (`table.web.table`), so the same rules of what is allowed and what is refused.
"""

import secrets
import sys
from collections.abc import Callable, Sequence

from okey_agents.coach.advice import WORLDS
from okey_agents.table.web.hint import hint_text
from okey_agents.table.web.rack import PLACES, ROW, Rack
from okey_agents.table.web.refusal import Refused
from okey_agents.table.web.settings import PERSON, Settings
from okey_agents.table.web.table import Table
from okey_agents.table.web.views import result
from okey_env.bots import Bot, bot_names, make_bot
from okey_env.round import derive_seed
from okey_env.rules import Rules
from okey_env.tiles import NUM_KINDS, WILD, kind_text, parse_kind

_STRENGTH = ("expert", "efficient", "greedy")
_COLOURS = {"R": "31;1", "B": "34;1", "K": "0;1", "Y": "33;1", "F": "35;1", "*": "30;43;1"}
_HELP = """\
  draw, take             draw from the stock, or take the throw on your left
  throw R5, finish R5    throw a tile, or lay one on the stock to finish
  show                   show the indicator's twin
  sort runs|groups|pairs sort the rack; move 3 17 moves a tile from one place to another
  hint, score, rules     a move with its reason; the score sheet; the rule sheet
  help, quit"""


def play(rules: Rules, against: Sequence[str] | None = None, seed: int | None = None) -> int:
    """Play a match in this terminal.

    Args:
        rules: what is played.
        against: the bots on the right, opposite and on the left.
        seed: settles deals and bots; None: at random.

    Returns:
        The exit status.

    Raises:
        ValueError: there is no such bot.
    """
    names = tuple(against) if against else (_strongest(),) * 3
    first, second, third = names
    table = Table(Settings(rules, pace="instant", seats=(PERSON, first, second, third)), _seed(seed))
    table.take_seat("You")
    bots = [make_bot(name, derive_seed(table.seed, i)) for i, name in enumerate(names, 1)]
    terminal = _Terminal(table, bots)
    print("okey: type help for what you can do")
    try:
        while terminal.step():
            pass
    except EOFError:
        print()
    return 0


def _seed(seed: int | None) -> int:
    if seed is not None:
        return seed
    return secrets.randbits(63)


def _strongest() -> str:
    names = bot_names()
    return next((name for name in _STRENGTH if name in names), names[0])


class _Terminal:
    """A running match, seen from seat 0."""

    def __init__(self, table: Table, bots: list[Bot]) -> None:
        self.table = table
        self.bots = bots
        self.told = 0
        """Events of this round that have been told."""
        self.shown: object = None
        """What the player has been shown last; it is not shown twice."""
        self.colour = sys.stdout.isatty()
        self.commands: dict[str, Callable[[list[str]], None]] = {
            "sort": self.sort,
            "move": self.move,
            "hint": self.hint,
            "score": self.score,
            "rules": lambda _: print(table.settings.rules.describe()),
            "help": lambda _: print(_HELP),
        }

    def step(self) -> bool:
        """One move of somebody, or the end of a round; False when the player has had enough."""
        table = self.table
        self.tell()
        if table.over_for_now:
            return self.end()
        turn = table.match.round.turn
        if turn != 0:
            table.play(int(self.bots[turn - 1].act(table.match.round.observe(turn))))
            return True
        self.show()
        return self.ask()

    def ask(self) -> bool:
        """Read one command and do it."""
        words = input("> ").strip().split()
        if not words:
            return True
        if words[0] in ("quit", "exit", "q"):
            return False
        try:
            if words[0] in self.commands:
                self.commands[words[0]](words[1:])
            else:
                self.table.act(0, " ".join(words), self.table.moves, None)
        except Refused as refusal:
            print(f"  {refusal.text}")
        return True

    # --- what is told ------------------------------------------------------------------------------------

    def tell(self) -> None:
        """What has happened since the last time."""
        round = self.table.match.round
        seen = round.observe(0)
        events = seen.events
        if len(events) < self.told:
            self.told = 0
        for event in events[self.told :]:
            who = "you" if event.seat == 0 else self.table.seats[event.seat].name
            tile = "a tile" if event.kind is None else self.tile(kind_text(event.kind, round.okey))
            verb = {
                "draw": "drew",
                "take": "took",
                "show": "showed the twin",
                "throw": "threw",
                "finish": "finished with",
            }
            print(f"  {who} {verb[event.event]} {tile}")
        self.told = len(events)

    def show(self) -> None:
        """The table as the player sees it before a move."""
        round = self.table.match.round
        rack = self.table.seats[0].rack
        if self.shown == (self.table.version, rack.places):
            return
        self.shown = (self.table.version, list(rack.places))
        indicator, okey = kind_text(round.indicator, round.okey), self.tile("*")
        scores = ", ".join(
            f"{seat.name} {score}" for seat, score in zip(self.table.seats, self.table.match.scores, strict=True)
        )
        print(f"\nround {len(self.table.match.earlier) + 1} · {scores}")
        print(f"indicator {self.tile(indicator)}, okey {okey} = {self.face(round.okey)}, stock {round.stock_left}")
        for row in (0, ROW):
            print("  " + " ".join(self.cell(rack.places[place], place) for place in range(row, row + ROW)))
        if round.phase == "draw":
            offer = "" if round.offer is None else f", or take {self.tile(kind_text(round.offer, round.okey))}"
            print(f"draw{offer}")
        else:
            print("throw a tile, or finish")

    def cell(self, tile: str | None, place: int) -> str:
        """A place of the rack, four columns wide."""
        if tile is None:
            return f"{place:>3}·" if not self.colour else f"\033[2m{place:>3}·\033[0m"
        return " " * (4 - len(tile)) + self.tile(tile)

    def tile(self, text: str) -> str:
        """A tile in its colour, where there are colours."""
        return f"\033[{_COLOURS[text[0]]}m{text}\033[0m" if self.colour else text

    def face(self, kind: int) -> str:
        """The face whose copies are wild."""
        return self.tile("RBKY"[kind // 13] + str(kind % 13 + 1))

    def end(self) -> bool:
        """The end of a round: racks as melds, the score, the next round if the player wants it."""
        match = self.table.match
        found = result(match.round)
        winner = found["winner"]
        title = "the round is void" if winner is None else f"{self.table.seats[winner].name} won the round"
        print(f"\n{title}, {match.round.ending}")
        for seat, laid in zip(self.table.seats, found["racks"], strict=True):
            parts = [*laid["melds"], *laid["parts"], laid["left"]]
            print(f"  {seat.name:8} " + " | ".join(" ".join(map(self.tile, part)) for part in parts if part))
        self.score([])
        if match.over:
            print("the match is over: " + " and ".join(self.table.seats[seat].name for seat in match.winners) + " won")
        if input("Enter goes on, q ends: ").strip().lower().startswith("q"):
            return False
        self.told = 0
        self.table.ready(0)
        return True

    # --- what the player asks for ------------------------------------------------------------------------

    def score(self, _: list[str]) -> None:
        """The points of all."""
        for seat, score in zip(self.table.seats, self.table.match.scores, strict=True):
            print(f"  {seat.name:8} {score:3}")

    def hint(self, _: list[str]) -> None:
        """A move and its reason."""
        print(f"  {hint_text(self.table.match.round.observe(0), WORLDS)}")

    def move(self, words: list[str]) -> None:
        """Move a tile to a free place."""
        places = [int(word) for word in words if word.isdecimal() and int(word) < PLACES]
        rack = self.table.seats[0].rack
        if len(places) != 2 or rack.places[places[0]] is None or rack.places[places[1]] is not None:
            raise Refused("malformed", "move takes the place of a tile and a free place, like: move 3 17")
        rack.places[places[1]], rack.places[places[0]] = rack.places[places[0]], None

    def sort(self, words: list[str]) -> None:
        """Sort the rack."""
        orders: dict[str, Callable[[int], tuple[int, ...]]] = {
            "runs": lambda kind: (kind,),
            "groups": lambda kind: (kind == WILD, kind % 13, kind),
            "pairs": lambda kind: (-counts[kind], kind),
        }
        if len(words) != 1 or words[0] not in orders:
            raise Refused("malformed", f"sort takes one of {', '.join(orders)}")
        okey = self.table.match.round.okey
        seat = self.table.seats[0]
        kinds = [parse_kind(tile, okey) for tile in seat.rack.places if tile]
        counts = [kinds.count(kind) for kind in range(NUM_KINDS)]
        seat.rack = Rack.dealt(sorted(kinds, key=orders[words[0]]), okey)
