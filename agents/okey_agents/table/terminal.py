"""Plays in a terminal (`okey play --terminal`): one person against three bots, match after match, in plain text.

The page and the terminal share one `Table` (`table.web.table`), so both allow and refuse the same.
"""

import secrets
import sys
from collections.abc import Callable, Sequence

from okey_agents.coach.advice import WORLDS, advise
from okey_agents.table.web.rack import PLACES, ROW, Rack
from okey_agents.table.web.refusal import Refused
from okey_agents.table.web.settings import PERSON, Settings, strongest
from okey_agents.table.web.table import Table
from okey_agents.table.web.views import result
from okey_env.bots import Bot, bot_names, make_bot
from okey_env.round import derive_seed
from okey_env.rules import Rules
from okey_env.tiles import NUM_KINDS, WILD, face_text, kind_text, parse_kind

_COLOURS = {"R": "31;1", "B": "34;1", "K": "0;1", "Y": "33;1", "F": "35;1", "*": "30;43;1"}
_VERBS = {"draw": "drew", "take": "took", "show": "showed the twin", "throw": "threw", "finish": "finished with"}
_HELP = """\
  draw, take             draw from the stock, or take the throw on your left
  throw R5, finish R5    throw a tile, or lay one on the stock to finish
  show                   show the indicator's twin
  sort runs|groups|pairs sort the rack; move 3 17 moves a tile from one place to another
  hint, score, rules     a move with its reason; the score sheet; the rule sheet
  help, quit"""


def play(rules: Rules, against: Sequence[str] | None = None, seed: int | None = None) -> int:
    """Play in this terminal until the player has had enough.

    Args:
        rules: what is played.
        against: the bots on the right, opposite and on the left; None: the strongest that is installed, three times.
        seed: settles deals and bots; None: a random seed.

    Returns:
        The exit status.

    Raises:
        ValueError: a bot does not exist.
    """
    first, second, third = names = tuple(against) if against else (strongest(bot_names()),) * 3
    table = Table(
        Settings(rules, pace="instant", seats=(PERSON, first, second, third)),
        secrets.randbits(63) if seed is None else seed,
    )
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


class _Terminal:
    """The table as the player in seat 0 sees it."""

    def __init__(self, table: Table, bots: list[Bot]) -> None:
        self.table = table
        self.bots = bots
        self.told = 0
        """How many events of this round have been printed."""
        self.shown: object = None
        """What was shown last; the same is not shown twice."""
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
        """One move of somebody, or the end of a round; False if the player quits."""
        table = self.table
        self.tell()
        if table.round_ended:
            return self.end()
        turn = table.match.round.turn
        if turn != 0:
            table.play(int(self.bots[turn - 1].act(table.match.round.observe(turn))))
            return True
        self.show()
        return self.ask()

    def ask(self) -> bool:
        """Read one command and carry it out; False if the player quits."""
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

    # --- what is printed ----------------------------------------------------------------------------------

    def tell(self) -> None:
        """Print what has happened since the last time."""
        round = self.table.match.round
        seen = round.observe(0)
        events = seen.events
        if len(events) < self.told:
            self.told = 0
        for event in events[self.told :]:
            who = "you" if event.seat == 0 else self.table.seats[event.seat].name
            tile = "a tile" if event.kind is None else self.tile(kind_text(event.kind, round.okey))
            print(f"  {who} {_VERBS[event.event]} {tile}")
        self.told = len(events)

    def show(self) -> None:
        """Print the table as the player sees it before a move."""
        round = self.table.match.round
        rack = self.table.seats[0].rack
        if self.shown == (self.table.moves, rack.places):
            return
        self.shown = (self.table.moves, list(rack.places))
        indicator, okey = self.tile(face_text(round.indicator)), self.tile(face_text(round.okey))
        scores = ", ".join(
            f"{seat.name} {score}" for seat, score in zip(self.table.seats, self.table.match.scores, strict=True)
        )
        print(f"\nround {len(self.table.match.earlier) + 1} · {scores}")
        print(f"indicator {indicator}, okey {self.tile('*')} = {okey}, stock {round.stock_left}")
        for row in (0, ROW):
            print("  " + " ".join(self.cell(rack.places[place], place) for place in range(row, row + ROW)))
        if round.phase == "draw":
            offer = "" if round.offer is None else f", or take {self.tile(kind_text(round.offer, round.okey))}"
            print(f"draw{offer}")
        else:
            print("throw a tile, or finish")

    def cell(self, tile: str | None, place: int) -> str:
        """A place of the rack as text, four columns wide."""
        if tile is None:
            return f"{place:>3}·" if not self.colour else f"\033[2m{place:>3}·\033[0m"
        return " " * (4 - len(tile)) + self.tile(tile)

    def tile(self, text: str) -> str:
        """A tile in its colour if the terminal shows colours."""
        return f"\033[{_COLOURS[text[0]]}m{text}\033[0m" if self.colour else text

    def end(self) -> bool:
        """Print the end of a round: racks as melds, the score. Begin the next round; False if the player quits."""
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
        """Print the points of all seats."""
        for seat, score in zip(self.table.seats, self.table.match.scores, strict=True):
            print(f"  {seat.name:8} {score:3}")

    def hint(self, _: list[str]) -> None:
        """Print the coach's move with its reasons."""
        seen = self.table.match.round.observe(0)
        print(f"  {advise(seen, WORLDS)[0].text(seen.okey)}")

    def move(self, words: list[str]) -> None:
        """Move a tile to a free place."""
        places = [int(word) for word in words if word.isdecimal() and int(word) < PLACES]
        rack = self.table.seats[0].rack
        if len(places) != 2 or rack.places[places[0]] is None or rack.places[places[1]] is not None:
            raise Refused("malformed", "move needs the place of a tile and a free place, like: move 3 17")
        rack.places[places[1]], rack.places[places[0]] = rack.places[places[0]], None

    def sort(self, words: list[str]) -> None:
        """Sort the rack by runs, groups or pairs."""
        orders: dict[str, Callable[[int], tuple[int, ...]]] = {
            "runs": lambda kind: (kind,),
            "groups": lambda kind: (kind == WILD, kind % 13, kind),
            "pairs": lambda kind: (-counts[kind], kind),
        }
        if len(words) != 1 or words[0] not in orders:
            raise Refused("malformed", f"sort needs one of {', '.join(orders)}")
        okey = self.table.match.round.okey
        seat = self.table.seats[0]
        kinds = [parse_kind(tile, okey) for tile in seat.rack.places if tile]
        counts = [kinds.count(kind) for kind in range(NUM_KINDS)]
        seat.rack = Rack.dealt(sorted(kinds, key=orders[words[0]]), okey)
