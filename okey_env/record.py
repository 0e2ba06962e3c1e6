"""Records: a played round or match as a text file, one JSON object a line, that can be read, replayed and verified.

| line | what it holds |
|---|---|
| header | format, version, `round` or `match`, rules, players, seed |
| `deal` | number, points before it, starter, indicator, racks, stock, tiles set aside; whether the seed dealt it |
| `move` | seat, action as number and as text, and the tile that a draw or a take brought |
| `end` | how the round ended, points lost and won in it, points after it |
| `result` | who has won the match, and the final standings |

Everything in a record comes from the game itself, so nothing must be set up before play: `Record.of` gives the record
of what has been played so far. The same game gives the same bytes. A record holds the tiles of every seat and of the
stock, and the seed of later rounds. While a game goes on, do not show its record to players.
"""

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from okey_env.actions import DRAW, FINISH, NUM_ACTIONS, SHOW, TAKE, THROW, to_text
from okey_env.checks import MAX_SEED, index_of, list_of, shown
from okey_env.deal import Deal
from okey_env.engine.batch import deal_in, shorten_stock_in
from okey_env.engine.events import EVENT_DRAW, EVENT_SHOW, EVENT_TAKE, EVENT_THROW, unpack_event
from okey_env.engine.state import new_games
from okey_env.files import write_whole
from okey_env.interfaces import EPISODES
from okey_env.match import Match
from okey_env.round import Round
from okey_env.rules import Rules, as_rules
from okey_env.tiles import NUM_SEATS, NUM_STOCK, face_text, kind_text, rack_text

FORMAT = "okey-env record"
VERSION = 1
"""Changes whenever a reader of the previous version would misread a record."""

_ACTION_OF = {EVENT_DRAW: DRAW, EVENT_TAKE: TAKE, EVENT_SHOW: SHOW}
_Line = dict[str, Any]


class Step(NamedTuple):
    """A deal, or a move of a seat."""

    round: int
    """The index of the round in the record, from 0 on."""
    seat: int
    """The seat that moves; for a deal, the starter."""
    action: int | None
    """The number of the action; None for a deal."""
    text: str
    """The action as text, tiles by their physical name; `deal` for a deal."""
    tile: str | None
    """The tile that a draw or a take brought, as text; None for other steps."""
    line: int
    """The line of the file, from 1 on."""


class Record:
    """A played round or match, or the part of it played so far.

    Use `Record.of` or `Record.read` to make one.

    >>> round = Round("klasik", seed=7)
    >>> round.apply(round.legal_actions()[-1])
    >>> record = Record.of(round, players=("Ayşe", "greedy", "greedy", "greedy"))
    >>> [step.text for step in record.steps], record.complete
    (['deal', 'throw Y12'], False)
    >>> record.at(1).round.save() == round.save()
    True
    """

    def __init__(self, lines: Sequence[str], name: str = "the record") -> None:
        """Read a record from its lines.

        Raises:
            ValueError: the lines are not a record, or one is damaged; the message names the line.
        """
        self.lines = list(lines)
        """The text, line by line."""
        self.name = name
        """The name of the record in messages."""
        entries = [self._entry(number) for number in range(1, len(self.lines) + 1)]
        header = self._header(entries)
        self.episode: str = header["episode"]
        """`round` or `match`."""
        self.players: tuple[str, ...] = tuple(header["players"])
        """The names of the four seats."""
        self.seed: int = header["seed"]
        """The seed of the deals."""
        self.draw_queues: bool = header["draw_queues"]
        """Whether each seat drew from its own quarter of the stock."""
        try:
            self.rules: Rules = as_rules(header["rules"])
            """The rules of the game."""
        except (ValueError, TypeError) as error:
            raise self._fault(1, str(error)) from error
        self._entries = entries
        self.steps: list[Step] = []
        """Deals and moves in order; `at(i)` is the game after step i."""
        self._read_entries()

    @classmethod
    def of(cls, game: Round | Match, players: Sequence[str] | None = None) -> "Record":
        """The record of a round or a match, over or not.

        Args:
            game: the round or match. A match that was restored from bytes begins with the restored round.
            players: the names of the four seats; None: `seat 0` to `seat 3`.
        """
        return cls(_Scribe(players).new_lines(game))

    @classmethod
    def read(cls, path: Path | str) -> "Record":
        """Read a file.

        Raises:
            ValueError: the file is not a record, or it is damaged or cut off within a line; the message says where.
            OSError: the file cannot be opened.
        """
        data = Path(path).read_bytes()
        if not data.endswith(b"\n") and data.startswith(b"{"):
            raise ValueError(f"{path} is cut off: its last line has no end")
        return cls(_split(data, str(path)), str(path))

    def write(self, path: Path | str) -> None:
        """Write the record to a file, which is overwritten."""
        write_whole(path, "".join(f"{line}\n" for line in self.lines), sync=False)

    @property
    def complete(self) -> bool:
        """Whether the round, or the match, was played to its end."""
        return bool(self._entries[-1]["type"] == ("result" if self.episode == "match" else "end"))

    def at(self, step: int) -> Match:
        """The game after a step, ready to be continued: `at(0)` is the deal, `at(-1)` the last position.

        A single round is given as a match that begins with this round.

        Raises:
            IndexError: there is no such step.
            ValueError: a line before the step disagrees with the rules.
        """
        number = index_of(step)
        if number is None:
            raise ValueError(f"step={shown(step)}: expected a whole number")
        wanted = range(len(self.steps))[number]
        return next(match for done, match in self.replay() if done is self.steps[wanted])

    def replay(self) -> Iterator[tuple[Step, Match]]:
        """Play the record again: each step with the game after it, which is the same object each time.

        Raises:
            ValueError: a line disagrees with the rules; the message names the first such line.
        """
        match = Match(self.rules, seed=0, draw_queues=self.draw_queues)
        dealt = False
        for step, entry in self._played():
            if step is None:
                self._compare_end(match, entry)
            elif step.action is None:
                if dealt:
                    self._check_next(match, step, entry)
                self._deal(match, step, entry)
                dealt = True
                yield step, match
            else:
                self._move(match, step, entry)
                yield step, match

    def verify(self) -> None:
        """Play the record again and compare every line with the rules.

        Raises:
            ValueError: a line disagrees (the message names the first one), or all lines agree but the end is missing.
        """
        for _ in self.replay():
            pass
        if not self.complete:
            last = self.steps[-1]
            raise ValueError(
                f"{self.name} stops in round {last.round} after line {len(self.lines)}, up to which all agrees: "
                f"expected the end of the {self.episode}"
            )

    # --- reading -----------------------------------------------------------------------------------------

    def _fault(self, line: int, what: str) -> ValueError:
        return ValueError(f"{self.name}, line {line}: {what}")

    def _entry(self, number: int) -> _Line:
        try:
            entry = json.loads(self.lines[number - 1], object_pairs_hook=_object)
        except _TwiceError as error:
            raise self._fault(number, f"damaged: the key {shown(error.key)} comes twice: expected once") from error
        except (ValueError, RecursionError) as error:
            if number == 1:
                raise ValueError(f"{self.name} is no okey-env record: its first line is no JSON object") from error
            raise self._fault(number, "damaged: expected a JSON object") from error
        if not isinstance(entry, dict):
            raise self._fault(number, f"damaged: expected a JSON object, got {type(entry).__name__}")
        return entry

    def _header(self, entries: list[_Line]) -> _Line:
        header = entries[0] if entries else {}
        if header.get("format") != FORMAT:
            raise ValueError(f"{self.name} is no okey-env record: expected a first line with the format {FORMAT!r}")
        if not _is_whole(header.get("version"), VERSION, VERSION):
            raise self._fault(1, f"version {shown(header.get('version'))} is not known here: expected {VERSION}")
        self._check(1, header, "header")
        return header

    def _check(self, line: int, entry: _Line, kind: str) -> None:
        """Raise a ValueError if a part of an entry is missing or has an impossible value."""
        for key, (is_right, expected) in _SHAPES[kind].items():
            if key not in entry:
                raise self._fault(line, f"damaged: there is no {key!r} in the {kind}")
            if not is_right(entry[key]):
                raise self._fault(line, f"damaged: {key}={shown(entry[key])}: expected {expected}")
        for key, (is_right, expected) in _OPTIONAL.get(kind, {}).items():
            if key in entry and not is_right(entry[key]):
                raise self._fault(line, f"damaged: {key}={shown(entry[key])}: expected {expected}")

    def _read_entries(self) -> None:
        """Find the steps and check the order of the lines; whether they agree with the rules is not checked here."""
        before, rounds = "header", 0
        for line, entry in enumerate(self._entries[1:], start=2):
            kind = entry.get("type")
            wanted = _AFTER[before] if before != "end" or self.episode == "match" else ()
            if not isinstance(kind, str) or kind not in wanted:
                expected = " or ".join(wanted) or "no more"
                raise self._fault(line, f"type={shown(kind)} after the {before}: expected {expected}")
            self._check(line, entry, kind)
            before = kind
            if kind == "deal":
                self.steps.append(Step(rounds, entry["starter"], None, "deal", None, line))
                rounds += 1
            elif kind == "move":
                tile = entry.get("tile")
                self.steps.append(Step(rounds - 1, entry["seat"], entry["action"], entry["text"], tile, line))
        if not self.steps:
            raise ValueError(f"{self.name} holds no deal: expected one after the first line")

    # --- playing again -----------------------------------------------------------------------------------

    def _played(self) -> Iterator[tuple[Step | None, _Line]]:
        """Every entry after the header, with its step; None for an entry that is not a deal or a move."""
        steps = {step.line: step for step in self.steps}
        for line, entry in enumerate(self._entries[1:], start=2):
            yield steps.get(line), {**entry, "line": line}

    def _deal(self, match: Match, step: Step, entry: _Line) -> None:
        try:
            position = Deal(entry["indicator"], entry["racks"], entry["stock"], entry["starter"])
            match.round.deal(self.seed, position, number=entry["number"], points=entry["points"])
            if "set_aside" in entry:
                shorten_stock_in(match.round.games, 0, (NUM_STOCK - entry["set_aside"]) // NUM_SEATS)
        except ValueError as error:
            raise self._fault(step.line, str(error)) from error
        written = _deal_line(match.round)
        for key in ("indicator", "racks", "stock"):
            self._compare(step.line, key, entry[key], written[key])
        if entry["by_seed"] and not written["by_seed"]:
            raise self._fault(step.line, f"these are not the tiles that round {entry['number']} of the seed deals")
        self._compare(step.line, "by_seed", entry["by_seed"], written["by_seed"])

    def _check_next(self, match: Match, step: Step, entry: _Line) -> None:
        """Check that a later round of a match follows from the round before, and go on to it."""
        try:
            match.next_round()
        except ValueError as error:
            raise self._fault(step.line, str(error)) from error
        rules = {"number": match.round.number, "points": list(match.round.scores), "starter": match.round.turn}
        for key, value in rules.items():
            self._compare(step.line, key, entry[key], value)

    def _move(self, match: Match, step: Step, entry: _Line) -> None:
        round = match.round
        if round.over:
            raise self._fault(step.line, f"seat {step.seat} moves, but the round is over ({round.ending})")
        self._compare(step.line, "seat", step.seat, round.turn)
        assert step.action is not None
        try:
            round.apply(step.action)
        except ValueError as error:
            raise self._fault(step.line, str(error)) from error
        written = _move_line(round, round.fields["num_events"].item() - 1)
        self._compare(step.line, "text", step.text, written["text"])
        self._compare(step.line, "tile", entry.get("tile"), written.get("tile"))

    def _compare_end(self, match: Match, entry: _Line) -> None:
        if not match.round.over:
            raise self._fault(entry["line"], "the round ends here, but by the rules it goes on")
        if entry["type"] == "result" and not match.over:
            raise self._fault(entry["line"], "the match ends here, but by the rules it goes on")
        written = _end_line(match.round) if entry["type"] == "end" else _result_line(match)
        for key, value in written.items():
            self._compare(entry["line"], key, entry[key], value)

    def _compare(self, line: int, key: str, given: Any, by_rules: Any) -> None:
        if given != by_rules:
            raise self._fault(line, f"{key}={shown(given)}, but by the rules it is {by_rules!r}")


class RecordWriter:
    """Writes a record line by line while the game is played, so that a process that stops loses nothing.

    Args:
        path: the file; an existing file is overwritten.
        players: the names of the four seats; None: `seat 0` to `seat 3`.
    """

    def __init__(self, path: Path | str, players: Sequence[str] | None = None) -> None:
        self.path = Path(path)
        """The file; it is open only during a write."""
        self._scribe = _Scribe(players)
        self.path.write_bytes(b"")

    def update(self, game: Round | Match) -> None:
        """Write what has happened since the last call; `game` must be the same round or match each time."""
        self._append(self._scribe.new_lines(game))

    @classmethod
    def resume(cls, path: Path | str) -> tuple["RecordWriter", Round | Match]:
        """Continue a record that was not finished: its writer, and its round or match in the last position.

        An incomplete last line is dropped.

        Raises:
            ValueError: the file is not a record, or a line disagrees with the rules; the file does not change.
        """
        data = Path(path).read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        record = Record(_split(whole, str(path)), str(path))
        match = record.at(-1)
        game = match if record.episode == "match" else match.round
        writer = cls.__new__(cls)
        writer.path = Path(path)
        writer._scribe = _Scribe(record.players)
        lines = writer._scribe.new_lines(game)
        for number, (written, line) in enumerate(zip(record.lines, lines, strict=False), start=1):
            if written != line:
                raise ValueError(f"{path}, line {number}: not as it would be written here: expected {line}")
        with writer.path.open("r+b") as file:
            file.truncate(len(whole))
        writer._append(lines[len(record.lines) :])
        return writer, game

    def _append(self, lines: Sequence[str]) -> None:
        if lines:
            with self.path.open("ab") as file:
                file.write("".join(f"{line}\n" for line in lines).encode())


class _Scribe:
    """Writes as lines what has happened in a round or a match since the last call."""

    def __init__(self, players: Sequence[str] | None) -> None:
        names = [f"seat {seat}" for seat in range(NUM_SEATS)] if players is None else list_of(players)
        if not _are_names(names):
            raise ValueError(f"players={shown(players)}: expected {NUM_SEATS} printable names")
        self._players = names
        self._begun = False  # the header is written
        self._ended = 0  # rounds that are written completely
        self._moves = -1  # moves written of the next round; -1: its deal is not written yet

    def new_lines(self, game: Round | Match) -> list[str]:
        """The lines for what has happened since the last call."""
        entries = []
        rounds = [*game.earlier, game.round] if isinstance(game, Match) else [game]
        if not self._begun:
            entries.append(self._header(rounds[0], "match" if isinstance(game, Match) else "round"))
            self._begun = True
        for round in rounds[self._ended :]:
            if self._moves < 0:
                entries.append(_deal_line(round))
                self._moves = 0
            num_events = round.fields["num_events"].item()
            entries += [_move_line(round, i) for i in range(self._moves, num_events)]
            self._moves = num_events
            if round.over:
                entries.append(_end_line(round))
                self._ended += 1
                self._moves = -1
                if isinstance(game, Match) and round is game.round and game.over:
                    entries.append(_result_line(game))
        return [json.dumps(entry, ensure_ascii=False) for entry in entries]

    def _header(self, round: Round, episode: str) -> _Line:
        return {
            "format": FORMAT,
            "version": VERSION,
            "episode": episode,
            "rules": dataclasses.asdict(round.rules),
            "players": self._players,
            "seed": round.seed,
            "draw_queues": bool(round.fields["draw_queues"].item()),
        }


def _deal_line(round: Round) -> _Line:
    """The line of the deal."""
    racks = round.dealt_racks
    starter = round.fields["starter"].item()
    line = {
        "type": "deal",
        "number": round.number,
        "points": list(round.scores),
        "starter": starter,
        "indicator": face_text(round.indicator),
        "racks": [rack_text(rack, round.okey) for rack in racks],
        "stock": " ".join(kind_text(kind, round.okey) for kind in round.fields["stock"][0].tolist()),
        "by_seed": _is_dealt_by_seed(round, racks, starter),
    }
    if round.set_aside:
        line["set_aside"] = round.set_aside
    return line


def _is_dealt_by_seed(round: Round, racks: np.ndarray[Any, Any], starter: int) -> bool:
    games = new_games(round.rules, 1)
    games["seed"], games["round_number"] = round.seed, round.number
    deal_in(games, 0, starter)
    again = Round.__new__(Round)
    again._hold(games)
    return (
        again.indicator == round.indicator
        and np.array_equal(again.racks, racks)
        and np.array_equal(again.fields["stock"], round.fields["stock"])
    )


def _move_line(round: Round, index: int) -> _Line:
    """The line of the move that is event `index` of the round's log."""
    entry = round.fields["log"][0, index].item()
    event, seat, kind = unpack_event(entry)
    action = _ACTION_OF.get(event, kind + (THROW if event == EVENT_THROW else FINISH))
    line = {"type": "move", "seat": seat, "action": action, "text": to_text(action, round.okey)}
    if action in (DRAW, TAKE):
        line["tile"] = kind_text(kind, round.okey)
    return line


def _end_line(round: Round) -> _Line:
    points = [score - lost for score, lost in zip(round.scores, round.lost, strict=True)]
    lost, won = list(round.lost), list(round.won)
    return {"type": "end", "ending": round.ending, "winner": round.winner, "lost": lost, "won": won, "points": points}


def _result_line(match: Match) -> _Line:
    standings = [{"place": row.rank, "seats": list(row.seats), "points": row.points} for row in match.standings]
    return {"type": "result", "winners": list(match.winners), "truncated": match.truncated, "standings": standings}


class _TwiceError(ValueError):
    """A key that an object has twice."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; of a key that comes twice, one value would be lost in silence."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _TwiceError(key)
        found[key] = value
    return found


def _split(data: bytes, name: str) -> list[str]:
    try:
        return data.decode("utf-8").split("\n")[:-1]
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        if line == 1:
            raise ValueError(f"{name} is no okey-env record: it is not text") from error
        raise ValueError(f"{name}, line {line}: damaged: not UTF-8") from error


# --- what the parts of a line can be ----------------------------------------------------------------------


def _is_whole(value: Any, low: int = 0, high: int = MAX_SEED) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _is_seat(value: Any) -> bool:
    return _is_whole(value, 0, NUM_SEATS - 1)


def _is_set_aside(value: Any) -> bool:
    return _is_whole(value, NUM_SEATS, NUM_STOCK - NUM_SEATS) and value % NUM_SEATS == 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable()


def _are_four(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and len(value) == NUM_SEATS and all(map(is_right, value))


_are_names = _are_four(_is_name)
_are_numbers = _are_four(lambda value: _is_whole(value, -1_000, 1_000))
_YES_OR_NO = (lambda value: isinstance(value, bool), "true or false")
_NUMBERS = (_are_numbers, "four whole numbers")
_SHAPES: dict[str, dict[str, tuple[Callable[[Any], bool], str]]] = {
    "header": {
        "episode": (lambda value: value in EPISODES, "'round' or 'match'"),
        "rules": (lambda value: isinstance(value, Mapping), "the switches of the rules"),
        "players": (_are_names, "four printable names"),
        "seed": (_is_whole, "a whole number below 2**64"),
        "draw_queues": _YES_OR_NO,
    },
    "deal": {
        "number": (_is_whole, "a whole number below 2**64"),
        "points": _NUMBERS,
        "starter": (_is_seat, "a seat 0 to 3"),
        "indicator": (_is_text, "a tile"),
        "racks": (_are_four(_is_text), "four racks as text"),
        "stock": (_is_text, "tiles as text"),
        "by_seed": _YES_OR_NO,
    },
    "move": {
        "seat": (_is_seat, "a seat 0 to 3"),
        "action": (lambda value: _is_whole(value, 0, NUM_ACTIONS - 1), f"an action, 0 to {NUM_ACTIONS - 1}"),
        "text": (_is_text, "the action as text"),
    },
    "end": {
        "ending": (_is_text, "how the round ended"),
        "winner": (lambda value: value is None or _is_seat(value), "a seat 0 to 3 or null"),
        "lost": _NUMBERS,
        "won": _NUMBERS,
        "points": _NUMBERS,
    },
    "result": {
        "winners": (lambda value: isinstance(value, list) and all(map(_is_seat, value)), "a list of seats"),
        "truncated": _YES_OR_NO,
        "standings": (lambda value: isinstance(value, list), "a list, the final standings"),
    },
}
_OPTIONAL: dict[str, dict[str, tuple[Callable[[Any], bool], str]]] = {
    "deal": {"set_aside": (_is_set_aside, "a multiple of 4, 4 to 44")},
    "move": {"tile": (_is_text, "a tile")},
}
"""What a line may have besides."""
_AFTER: dict[str, tuple[str, ...]] = {
    "header": ("deal",),
    "deal": ("move",),
    "move": ("move", "end"),
    "end": ("deal", "result"),  # both in matches only; a single round ends here
    "result": (),
}
