"""The messages of the protocol as text: an Observation as a JSON object, and back.

The object is written by hand, because a message has to cost a few microseconds: Python writes a list of whole numbers
as JSON does, and what is the same in every message is made once.
"""

import itertools
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from okey_env.actions import DRAW, NUM_ACTIONS, SHOW, TAKE
from okey_env.engine._jit import kernel
from okey_env.engine.events import EVENTS, HIDDEN_TILE, pack_event, unpack_event
from okey_env.engine.hand import BIT_OF_KIND, hand_of_counts
from okey_env.engine.hand.bits import as_int, kind_set
from okey_env.engine.observe import observed_mask
from okey_env.engine.state import NO_SEAT, NO_TILE, OBSERVATION, PHASES, WIDTH
from okey_env.observation import Observation
from okey_env.rules import SWITCHES, Rules
from okey_env.tiles import NUM_KINDS, NUM_SEATS

PROTOCOL = "okey"
VERSION = 1
"""Changes whenever a program that follows this version would be misunderstood. New fields do not change it."""

_OFFSET = {name: place[1] for name, place in (OBSERVATION.fields or {}).items()}
_RULES_SIZE = OBSERVATION["rules"].itemsize
_NUM_LISTS = 1 + 3 * NUM_SEATS + 3  # rack; heaps, known and taken tiles of each seat; two sets of finishes; actions
_MOST_KINDS = 2 * NUM_KINDS + (3 * NUM_SEATS - 1) * NUM_KINDS + 2 * NUM_KINDS + NUM_ACTIONS  # more than there can be
_SEATS_OF_BITS = [str([seat for seat in range(NUM_SEATS) if bits >> seat & 1]) for bits in range(1 << NUM_SEATS)]
_EVENT_TEXT = [
    f'[{seat},"{EVENTS[event]}",{"null" if kind == HIDDEN_TILE else kind}]' if event < len(EVENTS) else ""
    for event, seat, kind in map(unpack_event, range(len(EVENTS) * 256))
]
_MOST = {"seat": 3, "starter": 3, "indicator": 51, "okey": 51, "stock_left": 48, "set_aside": 48, "throws": 255}
_MOST |= {"offer": 52, "shown_by": 3}
_MAY_BE_NULL = ("offer", "shown_by")
_DIGITS = bytes(48 + min(byte, 9) for byte in range(256))  # a count is one digit
_rules_text: dict[bytes, str] = {}


@kernel
def list_kinds(records: npt.NDArray[np.record], found: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> None:
    """Fill the lists of kinds in an observation, one behind the other, and last the legal actions.

    Args:
        records: `(1,)` of OBSERVATION.
        found: `(L,)` to fill.
        ends: `(_NUM_LISTS + 1,)` to fill: where each list begins, and where the last ends.
    """
    seen = records[0]
    ends[0] = count = row = 0
    for group in range(3):
        for seat in range(1 if group == 0 else NUM_SEATS):
            for kind in range(NUM_KINDS):
                copies = (
                    seen.rack[kind] if group == 0 else seen.heap[seat, kind] if group == 1 else seen.known[seat, kind]
                )
                for _ in range(copies):
                    found[count] = kind
                    count += 1
            row += 1
            ends[row] = count
    for group in range(NUM_SEATS + 2):
        word = (
            seen.taken[group] if group < NUM_SEATS else seen.finish_melds if group == NUM_SEATS else seen.finish_pairs
        )
        for kind in range(NUM_KINDS):
            if as_int(word) & as_int(kind_set(kind)):
                found[count] = kind
                count += 1
        row += 1
        ends[row] = count
    mask = np.zeros(NUM_ACTIONS, np.int8)
    observed_mask(seen, mask)
    for action in range(NUM_ACTIONS):
        found[count] = action
        count += mask[action]
    ends[row + 1] = count


def observation_text(observation: Observation, *, with_events: bool = True) -> str:
    """An Observation as a JSON object.

    Args:
        observation: of the seat that is to move.
        with_events: False: `events` is null, because the observation was made without them.
    """
    record = observation.records
    raw = record.tobytes()
    at = _OFFSET
    found, ends = np.empty(_MOST_KINDS, np.int64), np.empty(_NUM_LISTS + 1, np.int64)
    list_kinds(record, found, ends)
    kinds, stops = found[: ends[_NUM_LISTS]].tolist(), ends.tolist()
    rack, *lists = [kinds[first:stop] for first, stop in itertools.pairwise(stops)]
    heaps, known, taken = lists[:NUM_SEATS], lists[NUM_SEATS : 2 * NUM_SEATS], lists[2 * NUM_SEATS : 3 * NUM_SEATS]
    melds, pairs, legal = lists[3 * NUM_SEATS :]
    lost, won, top = at["lost"], at["won"], at["last_throw"]
    tops = ",".join(["null" if kind == NO_TILE else str(kind) for kind in raw[top : top + NUM_SEATS]])
    events = "null"
    if with_events:
        events = f"[{','.join([_EVENT_TEXT[entry] for entry in observation.event_entries.tolist()])}]"
    unseen = ",".join(raw[at["unseen"] : at["unseen"] + NUM_KINDS].translate(_DIGITS).decode("ascii"))
    points = "[]"
    if melds or pairs:
        paid = observation.finish_points
        points = str([[kind, int(paid[kind])] for kind in np.flatnonzero(paid).tolist()])
    return (
        f'{{"seat":{raw[at["seat"]]},"phase":"{PHASES[raw[at["phase"]]]}","starter":{raw[at["starter"]]},'
        f'"indicator":{raw[at["indicator"]]},"okey":{raw[at["okey"]]},'
        f'"stock_left":{raw[at["stock_left"]]},"set_aside":{raw[at["set_aside"]]},"throws":{raw[at["throws"]]},'
        f'"offer":{_or_null(raw[at["offer"]])},"last_chance":{"true" if raw[at["last_chance"]] else "false"},'
        f'"shown_by":{_or_null(raw[at["shown_by"]])},"have_thrown":{_SEATS_OF_BITS[raw[at["has_thrown"]]]},'
        f'"rack":{rack},"unseen":[{unseen}],'
        f'"heaps":{heaps},"last_throws":[{tops}],"known":{known},'
        f'"taken":{taken},'
        f'"lost":{list(raw[lost : lost + NUM_SEATS])},"won":{list(raw[won : won + NUM_SEATS])},'
        f'"scores":{record["scores"][0].tolist()},'
        f'"finishes_by_melds":{melds},"finishes_by_pairs":{pairs},"finish_points":{points},'
        f'"legal_actions":{legal},"events":{events},"rules":{_rules_of(observation, raw)}}}'
    )


def observation_of(data: Mapping[str, Any]) -> Observation:
    """The Observation of a JSON object; the inverse of `observation_text`.

    Raises:
        ValueError: a field is missing, or has a value that it cannot have.
    """
    try:
        return _observation_of(data)
    except (KeyError, IndexError, TypeError, OverflowError, ValueError, AttributeError) as error:
        raise ValueError(f"the observation cannot be read: {type(error).__name__}: {error}") from None


def _observation_of(data: Mapping[str, Any]) -> Observation:
    records: npt.NDArray[Any] = np.zeros(1, OBSERVATION)
    rules = Rules(**{switch.name: data["rules"][switch.name] for switch in SWITCHES})
    for switch in SWITCHES:
        records["rules"][switch.byte] = switch.to_byte(getattr(rules, switch.name))
    records["phase"] = PHASES.index(data["phase"])
    records["winner"] = NO_SEAT
    for name, most in _MOST.items():
        value = data[name]
        records[name] = NO_TILE if value is None and name in _MAY_BE_NULL else _whole(value, most)
    records["last_chance"] = _whole(int(data["last_chance"]), 1)
    records["has_thrown"] = sum(1 << _whole(seat, NUM_SEATS - 1) for seat in data["have_thrown"])
    for name, most in (("lost", 255), ("won", 255), ("scores", 32_767)):
        records[name][0] = [_whole(value, most, -most) for value in _list(data[name], NUM_SEATS)]
    tops = _list(data["last_throws"], NUM_SEATS)
    records["last_throw"][0] = [NO_TILE if kind is None else _whole(kind, NUM_KINDS - 1) for kind in tops]
    records["rack"][0] = _counts_of(data["rack"])
    records["unseen"][0, :NUM_KINDS] = [_whole(copies, 2) for copies in _list(data["unseen"], NUM_KINDS)]
    for seat in range(NUM_SEATS):
        records["heap"][0, seat] = _counts_of(_list(data["heaps"], NUM_SEATS)[seat])
        records["known"][0, seat] = _counts_of(_list(data["known"], NUM_SEATS)[seat])
        records["taken"][0, seat] = _word_of(_list(data["taken"], NUM_SEATS)[seat])
    records["finish_melds"] = _word_of(data["finishes_by_melds"])
    records["finish_pairs"] = _word_of(data["finishes_by_pairs"])
    legal = data["legal_actions"]
    records["can_draw"], records["can_take"], records["can_show"] = DRAW in legal, TAKE in legal, SHOW in legal
    records["once"], records["twice"], _ = hand_of_counts(records["rack"][0])
    events = data["events"] or []
    entries = [
        pack_event(
            EVENTS.index(event),
            _whole(seat, NUM_SEATS - 1),
            HIDDEN_TILE if kind is None else _whole(kind, NUM_KINDS - 1),
        )
        for seat, event, kind in events
    ]
    return Observation(records, np.array(entries, np.uint16))


def read_message(line: bytes) -> dict[str, Any]:
    """The message on a line.

    Raises:
        ValueError: it is not a JSON object with a `type`.
    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ValueError(
            f"{shown(line)} is not a message: expected one JSON object a line, with a 'type' (notes go to stderr)"
        )
    return message


def shown(line: bytes, length: int = 80) -> str:
    """A line as it can be shown in a sentence."""
    text = line.decode("utf-8", "replace").strip()
    return repr(text if len(text) <= length else text[:length] + "…")


def _or_null(value: int) -> str:
    return "null" if value == NO_TILE else str(value)  # NO_SEAT is the same number


def _whole(value: Any, most: int, least: int = 0) -> int:
    """A whole number in a range: kernels do not check what they read."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{value!r:.80} is out of range: expected a whole number from {least} to {most}")
    return value


def _list(values: Any, length: int) -> list[Any]:
    if not isinstance(values, list) or len(values) != length:
        raise ValueError(f"{values!r:.80} is not a list of {length}")
    return values


def _counts_of(kinds: Any) -> npt.NDArray[np.uint8]:
    """The copies by kind of a list of kinds."""
    counts = np.zeros(WIDTH, np.uint8)
    for kind in kinds:
        counts[_whole(kind, NUM_KINDS - 1)] += 1
    if counts.max() > 2:
        raise ValueError(f"{kinds!r:.80} has a tile more than twice")
    return counts


def _word_of(kinds: Any) -> np.uint64:
    """The set of a list of kinds."""
    return np.uint64(sum({1 << int(BIT_OF_KIND[_whole(kind, NUM_KINDS - 1)]) for kind in kinds}))


def _rules_of(observation: Observation, raw: bytes) -> str:
    played = raw[:_RULES_SIZE]
    if played not in _rules_text:
        rules = observation.rules
        values = {switch.name: getattr(rules, switch.name) for switch in SWITCHES}
        _rules_text[played] = json.dumps({"name": rules.name, **values}, separators=(",", ":"))
    return _rules_text[played]
