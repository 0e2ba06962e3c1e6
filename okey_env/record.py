"""Records: a played round or match as a text file, one JSON object a line, that can be read, replayed and verified.

| line | what it holds |
|---|---|
| header | format, version, `round` or `match`, rules, players, seed |
| `deal` | number of the round, points before it, starter, indicator, racks, stock; whether the seed dealt it |
| `move` | seat, action as number and as text, and the tile that a draw or a take brought |
| `end` | how the round ended, points lost and won in it, points after it |
| `result` | who has won the match, with the final table |

Everything in it comes from the game itself, so nothing need be set up before play: `Record.of` gives the record of
what has been played so far. The same game gives the same bytes. A record holds what every seat and the stock hold, and
the seed of rounds to come: while a game is on, it is for whoever runs it.
"""

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from okey_env.actions import DRAW, FINISH, SHOW, TAKE, THROW, to_text
from okey_env.deal import Deal
from okey_env.engine.batch import deal_in
from okey_env.engine.events import EVENT_DRAW, EVENT_SHOW, EVENT_TAKE, EVENT_THROW, unpack_event
from okey_env.engine.state import new_games
from okey_env.interfaces import EPISODES
from okey_env.match import Match
from okey_env.round import Round
from okey_env.rules import Rules, as_rules
from okey_env.tiles import NUM_SEATS, face_text, kind_text, rack_text

FORMAT = "okey-env record"
VERSION = 1
"""Changes whenever a reader of the last version would misread a record."""

_ACTION_OF = {EVENT_DRAW: DRAW, EVENT_TAKE: TAKE, EVENT_SHOW: SHOW}
_Line = dict[str, Any]


class Step(NamedTuple):
    """A deal, or a move of a seat."""

    round: int
    """Which round of the record, from 0 on."""
    seat: int
    """Who moves; of a deal the starter."""
    action: int | None
    """The number of the action; None for a deal."""
    text: str
    """The action as text, tiles by their physical name; `deal` for a deal."""
    tile: str | None
    """What a draw or a take brought."""
    line: int
    """The line of the file, from 1 on."""


class Record:
    """A played round or match, or the part of it played so far.

    Made by `Record.of` or `Record.read`.

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
            ValueError: they are no record, or not as records are written; the message names the line.
        """
        self.lines = list(lines)
        """The text, line by line."""
        self.name = name
        """What messages call it."""
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
            """What was played."""
        except (ValueError, TypeError) as error:
            raise self._fault(1, str(error)) from error
        self._entries = entries
        self.steps: list[Step] = []
        """Deals and moves in order; `at(i)` is the table after step i."""
        self._read_entries()

    @classmethod
    def of(cls, table: Round | Match, players: Sequence[str] | None = None) -> "Record":
        """The record of a round or a match, over or not.

        Args:
            table: what is played. A match that was restored from bytes begins with the round it was restored to.
            players: the names of the four seats; None: `seat 0` to `seat 3`.
        """
        return cls(_Scribe(players).new_lines(table))

    @classmethod
    def read(cls, path: Path | str) -> "Record":
        """Read a file.

        Raises:
            ValueError: it is no record, or damaged or cut off within a line; the message says where.
            OSError: it cannot be opened.
        """
        data = Path(path).read_bytes()
        if not data.endswith(b"\n") and data.startswith(b"{"):
            raise ValueError(f"{path} is cut off: its last line has no end")
        return cls(_split(data, str(path)), str(path))

    def write(self, path: Path | str) -> None:
        """Write it to a file."""
        Path(path).write_text("".join(f"{line}\n" for line in self.lines), encoding="utf-8", newline="\n")

    @property
    def complete(self) -> bool:
        """Whether the round, or the match, was played to its end."""
        return bool(self._entries[-1]["type"] == ("result" if self.episode == "match" else "end"))

    def at(self, step: int) -> Match:
        """The table after a step, from which play can go on: `at(0)` as it was dealt, `at(-1)` as it was left.

        A single round comes as a match that begins with it.

        Raises:
            IndexError: there is no such step.
            ValueError: a line before it is not what the rules give.
        """
        wanted = range(len(self.steps))[step]
        return next(match for done, match in self.tables() if done is self.steps[wanted])

    def tables(self) -> Iterator[tuple[Step, Match]]:
        """Play it again: each step with the table after it, always the same object.

        Raises:
            ValueError: a line is not what the rules give; the message names the first one.
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
        """Play it again by the rules.

        Raises:
            ValueError: a line disagrees, and the message names the first; or all agree, but the end is missing.
        """
        for _ in self.tables():
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
            entry = json.loads(self.lines[number - 1])
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
        if header.get("version") != VERSION:
            raise self._fault(1, f"version {header.get('version')!r} is not known here: expected {VERSION}")
        self._check(1, header, "header")
        return header

    def _check(self, line: int, entry: _Line, kind: str) -> None:
        """Every part of an entry is there and can be what it should be."""
        for key, (is_right, expected) in _SHAPES[kind].items():
            if key not in entry:
                raise self._fault(line, f"damaged: there is no {key!r} in the {kind}")
            if not is_right(entry[key]):
                raise self._fault(line, f"damaged: {key}={entry[key]!r}: expected {expected}")

    def _read_entries(self) -> None:
        """Find the steps; what may follow what is settled here, what it says is not."""
        before, rounds = "header", 0
        for line, entry in enumerate(self._entries[1:], start=2):
            kind = entry.get("type")
            wanted = _AFTER[before] if before != "end" or self.episode == "match" else ()
            if kind not in wanted:
                expected = " or ".join(wanted) or "no more"
                raise self._fault(line, f"type={kind!r} after the {before}: expected {expected}")
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
        """Every entry after the header, with its step if it is one."""
        steps = {step.line: step for step in self.steps}
        for line, entry in enumerate(self._entries[1:], start=2):
            yield steps.get(line), {**entry, "line": line}

    def _deal(self, match: Match, step: Step, entry: _Line) -> None:
        try:
            position = Deal(entry["indicator"], entry["racks"], entry["stock"], entry["starter"])
            match.round.deal(self.seed, position, number=entry["number"], points=entry["points"])
        except ValueError as error:
            raise self._fault(step.line, str(error)) from error
        written = _deal_line(match.round)
        for key in ("indicator", "racks", "stock"):
            self._compare(step.line, key, entry[key], written[key])
        if entry["by_seed"] and not written["by_seed"]:
            raise self._fault(step.line, f"these are not the tiles that round {entry['number']} of the seed deals")
        self._compare(step.line, "by_seed", entry["by_seed"], written["by_seed"])

    def _check_next(self, match: Match, step: Step, entry: _Line) -> None:
        """A later round of a match is the one that the rules deal after the one before; then make room for it."""
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
            raise self._fault(line, f"{key}={given!r}, but by the rules it is {by_rules!r}")


class RecordWriter:
    """Writes a record line by line while it is played, so that a process that stops loses nothing.

    Args:
        path: the file; what is there already is overwritten.
        players: the names of the four seats; None: `seat 0` to `seat 3`.
    """

    def __init__(self, path: Path | str, players: Sequence[str] | None = None) -> None:
        self.path = Path(path)
        """The file; it is open only while something is written."""
        self._scribe = _Scribe(players)
        self.path.write_bytes(b"")

    def update(self, table: Round | Match) -> None:
        """Write all that has happened since the last call, always for the same round or match."""
        self._append(self._scribe.new_lines(table))

    @classmethod
    def resume(cls, path: Path | str) -> tuple["RecordWriter", Round | Match]:
        """Take up a record where it was left, and the round or the match with it.

        A last line that was written in part is dropped.

        Raises:
            ValueError: it is no record, or a line of it is not what the rules give; the file is left as it is.
        """
        data = Path(path).read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        record = Record(_split(whole, str(path)), str(path))
        match = record.at(-1)
        table = match if record.episode == "match" else match.round
        writer = cls.__new__(cls)
        writer.path = Path(path)
        writer._scribe = _Scribe(record.players)
        lines = writer._scribe.new_lines(table)
        for number, (written, line) in enumerate(zip(record.lines, lines, strict=False), start=1):
            if written != line:
                raise ValueError(f"{path}, line {number}: not as it would be written here: expected {line}")
        with writer.path.open("r+b") as file:
            file.truncate(len(whole))
        writer._append(lines[len(record.lines) :])
        return writer, table

    def _append(self, lines: Sequence[str]) -> None:
        if lines:
            with self.path.open("ab") as file:
                file.write("".join(f"{line}\n" for line in lines).encode())


class _Scribe:
    """Puts into lines what a round or a match has come to since it was last asked."""

    def __init__(self, players: Sequence[str] | None) -> None:
        names = [f"seat {seat}" for seat in range(NUM_SEATS)] if players is None else list(players)
        if not _are_names(names):
            raise ValueError(f"players={players!r}: expected {NUM_SEATS} printable names")
        self._players = names
        self._begun = False  # the header is written
        self._ended = 0  # rounds that are written to their end
        self._moves = -1  # moves written of the round after them; -1: not even its deal

    def new_lines(self, table: Round | Match) -> list[str]:
        """The lines that are new."""
        entries = []
        rounds = [*table.earlier, table.round] if isinstance(table, Match) else [table]
        if not self._begun:
            entries.append(self._header(rounds[0], "match" if isinstance(table, Match) else "round"))
            self._begun = True
        for round in rounds[self._ended :]:
            if self._moves < 0:
                entries.append(_deal_line(round))
                self._moves = 0
            num_events = round.fields["num_events"].item()
            entries += [_move_line(round, place) for place in range(self._moves, num_events)]
            self._moves = num_events
            if round.over:
                entries.append(_end_line(round))
                self._ended += 1
                self._moves = -1
                if isinstance(table, Match) and round is table.round and table.over:
                    entries.append(_result_line(table))
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
    """The deal, found from the round as it is now by taking its events back."""
    racks = round.racks.astype(np.int64)
    for entry in round.fields["log"][0, : round.fields["num_events"].item()].tolist():
        event, seat, kind = unpack_event(entry)
        if event in (EVENT_DRAW, EVENT_TAKE):
            racks[seat, kind] -= 1
        elif event != EVENT_SHOW:
            racks[seat, kind] += 1
    starter = round.fields["starter"].item()
    return {
        "type": "deal",
        "number": round.number,
        "points": list(round.scores),
        "starter": starter,
        "indicator": face_text(round.indicator),
        "racks": [rack_text(rack, round.okey) for rack in racks],
        "stock": " ".join(kind_text(kind, round.okey) for kind in round.fields["stock"][0].tolist()),
        "by_seed": _is_dealt_by_seed(round, racks, starter),
    }


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


def _move_line(round: Round, place: int) -> _Line:
    """The event at a place of the round's log as a move."""
    entry = round.fields["log"][0, place].item()
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
    table = [{"place": row.place, "seats": list(row.seats), "points": row.points} for row in match.standings]
    return {"type": "result", "winners": list(match.winners), "truncated": match.truncated, "standings": table}


def _split(data: bytes, name: str) -> list[str]:
    try:
        return data.decode("utf-8").split("\n")[:-1]
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        if line == 1:
            raise ValueError(f"{name} is no okey-env record: it is not text") from error
        raise ValueError(f"{name}, line {line}: damaged: not UTF-8") from error


# --- what the parts of a line can be ----------------------------------------------------------------------


def _is_whole(value: Any, low: int = 0, high: int = 2**64 - 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _is_seat(value: Any) -> bool:
    return _is_whole(value, 0, NUM_SEATS - 1)


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
        "action": (_is_whole, "the number of an action"),
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
        "winners": (lambda value: isinstance(value, list), "a list of seats"),
        "truncated": _YES_OR_NO,
        "standings": (lambda value: isinstance(value, list), "the final table"),
    },
}
_AFTER: dict[str, tuple[str, ...]] = {
    "header": ("deal",),
    "deal": ("move",),
    "move": ("move", "end"),
    "end": ("deal", "result"),  # in matches; a single round has come to its end
    "result": (),
}
