"""Checks of what comes in: one function for each kind of value, and one sentence for each fault.

Every public function and constructor, every command and every file reader asks these functions, so that the same value
means the same everywhere. Each gives the value as a plain Python number or name, or raises a `ValueError` that says
the name of the argument, its value and what was expected.

**Whole numbers** (counts, seeds, seats, actions) are everything that Python takes as an index: `int`, numpy integers,
arrays and tensors without a dimension that hold an integer. A float is never a whole number, not even 2.0, because a
float where a count belongs is nearly always a mistake, and from 2**53 on floats skip numbers. Bools are not numbers.

**Real numbers** are whole numbers and floats of every kind, NaN and infinity excepted. Bools and text are not numbers.
"""

import math
import numbers
import operator
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

MAX_SEED = 2**64 - 1
"""The greatest seed."""
MAX_DEALS = 10**8
"""The most deals, worlds or decisions for which one call is asked: days of work, and within every memory."""
MAX_WORKERS = 1024
"""The most processes or threads for which one call is asked."""
_MOST_SHOWN = 80
"""Characters of a value that a message shows."""


def shown(value: Any) -> str:
    """A value as messages show it: on one line, not too long, whatever it is.

    >>> shown("a"), shown("x" * 1000)[-10:], shown(10**5000)
    ("'a'", 'xxxxxxxxx…', 'a whole number of more than 80 digits')
    """
    if isinstance(value, int) and abs(value) >= 10**_MOST_SHOWN:
        return f"a whole number of more than {_MOST_SHOWN} digits"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # the value comes from outside, and so does its `__repr__`
        return f"a {type(value).__name__}"
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"


def named(key: Any) -> str:
    """A key of a file as messages name it: plain if it is a short printable text, else as `shown`."""
    return key if isinstance(key, str) and key.isprintable() and 0 < len(key) <= _MOST_SHOWN else shown(key)


def whole_number(what: str, value: Any, low: int = 0, high: int | None = None, note: str = "") -> int:
    """A whole number in a range, as an `int`.

    Args:
        what: the name of the argument.
        value: what was given.
        low: the least number.
        high: the greatest number; None: there is none.
        note: what follows the range in the message, such as `, or None`.

    Raises:
        ValueError: the value is not a whole number, or it is out of the range.

    >>> whole_number("deals", np.int64(5), 1)
    5
    >>> whole_number("deals", 2.0, 1)
    Traceback (most recent call last):
        ...
    ValueError: deals=2.0 is not a whole number: expected 1 or more
    """
    number = index_of(value)
    if number is None or number < low or (high is not None and number > high):
        fault = "is not a whole number" if number is None else "is out of range"
        expected = f"{low} or more" if high is None else f"{low} to {_text(high)}"
        raise ValueError(f"{what}={shown(value)} {fault}: expected {expected}{note}")
    return number


def index_of(value: Any) -> int | None:
    """The value as an `int` if it is a whole number, else None.

    >>> index_of(7), index_of(np.uint8(7)), index_of(np.array(7)), index_of(7.0), index_of(True), index_of("7")
    (7, 7, 7, None, None, None)
    """
    if type(value) is int:
        return value
    if isinstance(value, np.integer):
        return int(value)
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):  # a scalar of numpy or torch, as Python has it
        value = value.item()
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except Exception:  # a TypeError, or whatever an `__index__` from outside raises
        return None


def real_number(what: str, value: Any, low: float = -math.inf, high: float = math.inf, note: str = "") -> float:
    """A real number in a range, both ends included, as a `float`; NaN and infinity are in no range.

    Args:
        what: the name of the argument.
        value: what was given.
        low: the least number; minus infinity: there is none.
        high: the greatest number; infinity: there is none.
        note: what follows the range in the message, such as ` points for each tile`.

    Raises:
        ValueError: the value is not a number, or it is out of the range.

    >>> real_number("margin", np.float32(0.5), 0)
    0.5
    >>> real_number("margin", float("nan"), 0)
    Traceback (most recent call last):
        ...
    ValueError: margin=nan is not a finite number: expected 0 or more
    """
    number = float_of(value)
    if number is None or not low <= number <= high:
        fault = "is not a finite number" if number is None else "is out of range"
        raise ValueError(f"{what}={shown(value)} {fault}: expected {_range(low, high, 'a number')}{note}")
    return number


def positive_number(what: str, value: Any, note: str = "") -> float:
    """A real number above 0, as a `float`.

    Raises:
        ValueError: the value is not a number above 0.
    """
    number = float_of(value)
    if number is None or number <= 0:
        fault = "is not a finite number" if number is None else "is out of range"
        raise ValueError(f"{what}={shown(value)} {fault}: expected more than 0{note}")
    return number


def float_of(value: Any) -> float | None:
    """The value as a `float` if it is a finite real number, else None.

    >>> float_of(3), float_of(np.float32(0.5)), float_of(float("inf")), float_of("3"), float_of(True), float_of(1j)
    (3.0, 0.5, None, None, None, None)
    """
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return number if math.isfinite(number) else None


def seed_number(value: Any, what: str = "seed") -> int:
    """A seed: a whole number from 0 to 2**64 - 1.

    Raises:
        ValueError: the value is not a seed.

    >>> seed_number(np.uint64(2**64 - 1)) == MAX_SEED
    True
    >>> seed_number(1.5)
    Traceback (most recent call last):
        ...
    ValueError: seed=1.5 is not a whole number: expected 0 to 2**64 - 1
    """
    return whole_number(what, value, 0, MAX_SEED)


def seat_number(value: Any, what: str = "seat", note: str = "") -> int:
    """A seat, 0 to 3.

    Raises:
        ValueError: there is no such seat.
    """
    number = index_of(value)
    if number is None or not 0 <= number <= 3:
        raise ValueError(f"{what}={shown(value)} is not a seat: expected 0 to 3{note}")
    return number


def action_number(value: Any) -> int:
    """An action as an `int`; whether the action table has it is not checked.

    Raises:
        ValueError: the value is not a whole number.

    >>> action_number(np.int64(108)), action_number(-1)
    (108, -1)
    >>> action_number(2.9)
    Traceback (most recent call last):
        ...
    ValueError: action=2.9 is not a whole number: expected 0 to 108
    """
    number = index_of(value)
    if number is None:
        raise ValueError(f"action={shown(value)} is not a whole number: expected 0 to 108")
    return number


def yes_or_no(what: str, value: Any) -> bool:
    """A bool of Python or numpy, as a `bool`; 0 and 1 are numbers and are refused.

    Raises:
        ValueError: the value is not a bool.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{what}={shown(value)} is not a switch value: expected True or False")
    return bool(value)


def choice(what: str, value: Any, choices: Collection[str], note: str = "") -> str:
    """One of some names, as a `str`.

    Raises:
        ValueError: the value is not one of them.

    >>> choice("episode", "rounds", ("round", "match"))
    Traceback (most recent call last):
        ...
    ValueError: episode='rounds' is not a choice: expected 'round' or 'match'
    """
    if not is_one_of(value, choices):
        *first, last = map(repr, choices)
        names = f"{', '.join(first)} or {last}" if first else last
        raise ValueError(f"{what}={shown(value)} is not a choice: expected {names}{note}")
    return str(value)


def is_one_of(value: Any, names: Collection[str]) -> bool:
    """Whether the value, which may be of any type, is one of some names.

    >>> is_one_of("deal", {"deal": 1}), is_one_of(["deal"], {"deal": 1})
    (True, False)
    """
    return isinstance(value, str) and value in names


def text_of(value: Any) -> str:
    """The value if it is text; else an empty text, which no reader takes for a tile, a name or an action."""
    return value if isinstance(value, str) else ""


def list_of(value: Any) -> list[Any]:
    """The items of a list, a tuple or an array with one dimension; else, for text too, none.

    >>> list_of((1, 2)), list_of(np.arange(2)), list_of("ab"), list_of(3)
    ([1, 2], [np.int64(0), np.int64(1)], [], [])
    """
    if isinstance(value, np.ndarray):
        return list(value) if value.ndim == 1 else []
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else []


def whole_numbers(what: str, values: Any, length: int) -> npt.NDArray[np.int64]:
    """As many whole numbers as a batch needs: `(length,)` int64, contiguous.

    A number of 2**63 or more, which no array of a batch can mean, becomes -1.

    Args:
        what: the name of the argument, in the plural.
        values: an array, a list or a tensor; the type of an array must be one of integers.
        length: how many.

    Raises:
        ValueError: the values have another shape or another type; the message names it.

    >>> whole_numbers("actions", [3, 4], 2)
    array([3, 4])
    >>> whole_numbers("actions", [3.0, 4.0], 2)
    Traceback (most recent call last):
        ...
    ValueError: actions[0]=3.0 is not a whole number: expected one
    """
    try:
        array = np.asarray(values)
    except Exception as error:  # lists of different lengths, tensors on another device
        raise ValueError(f"{what} are no array: expected ({length},) whole numbers") from error
    if array.shape != (length,):
        raise ValueError(f"{what} have the shape {array.shape}: expected ({length},)")
    if array.dtype.kind not in "iu":
        if isinstance(values, np.ndarray) and array.dtype != object:
            raise ValueError(f"{what} have the type {array.dtype}: expected whole numbers")
        listed = [index_of(value) for value in values]
        if None in listed:
            i = listed.index(None)
            raise ValueError(f"{what}[{i}]={shown(values[i])} is not a whole number: expected one")
        array = np.array([-1 if number is None or abs(number) >= 2**63 else number for number in listed], np.int64)
    if array.dtype == np.uint64:
        array = np.where(array < 2**63, array, np.uint64(MAX_SEED))
    return np.ascontiguousarray(array, np.int64)


def _range(low: float, high: float, unlimited: str) -> str:
    if high < math.inf:
        return f"{low:g} to {high:g}" if low > -math.inf else f"{high:g} or less"
    return f"{low:g} or more" if low > -math.inf else unlimited


def _text(number: int) -> str:
    """A number in words: powers of two that nobody knows by heart as such."""
    return f"2**{number.bit_length()} - 1" if number.bit_length() >= 32 and number & (number + 1) == 0 else str(number)
