"""Reads a message of the page: JSON as a browser writes it, and nothing else that a JSON reader lets pass."""

import json
from typing import Any, NoReturn

from okey_agents.table.web.refusal import Refused

_LARGEST = 2**53
"""Whole numbers up to here mean the same in every language."""
_DIGITS = 17
_DEPTH = 8
"""Lists and objects in one another."""


def read_message(text: str) -> dict[str, Any]:
    """A message as an object whose `type` is text, and whose numbers are whole.

    Raises:
        Refused: it is not such an object; the sentence says why.

    >>> read_message('{"type": "replay", "round": 2}')
    {'type': 'replay', 'round': 2}
    """
    try:
        message = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_whole,
            parse_float=_no_number,
            parse_constant=_no_number,
        )
    except (ValueError, RecursionError):
        raise _malformed("the message is not JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise _malformed("the message has no type: expected an object with a type")
    _check(message, 0)
    return message


def short(value: Any) -> str:
    """A value as text for an answer, cut if it is long."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _malformed("an object of the message has a key twice")
    return found


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS or abs(int(digits)) > _LARGEST:
        _no_number(digits)
    return int(digits)


def _no_number(digits: str) -> NoReturn:
    raise _malformed(f"the number {digits[:20]} is in the message: expected whole numbers up to 2^53")


def _check(value: Any, depth: int) -> None:
    """Refuse text that is no Unicode (half of a surrogate pair), and what is nested too deep."""
    if depth > _DEPTH:
        raise _malformed(f"the message is nested deeper than {_DEPTH} levels")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise _malformed(f"{short(value)} is not Unicode text: it holds half of a surrogate pair") from None
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check(key, depth)
            _check(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, depth + 1)


def _malformed(text: str) -> Refused:
    return Refused("malformed", text)
