"""What counts as a whole number, a real number, a seed, a name; and how a refused value is shown."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from okey_env import checks


class Broken:
    """A value from outside whose own methods raise."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __index__(self) -> int:
        raise RuntimeError("no")


NAN, INF = float("nan"), float("inf")
NO_WHOLE_NUMBERS: list[Any] = [
    *(2.0, np.float64(3.0), np.array(2.0), np.array([2]), [2], True, np.True_, np.array(True)),
    *("2", b"2", None, 1 + 0j, Fraction(2), NAN, INF, {}, Broken()),
]


@pytest.mark.parametrize(
    "value", [5, np.int8(5), np.uint64(5), np.array(5), np.array(5, np.uint8)], ids=lambda v: type(v).__name__
)
def test_whole_numbers_of_every_type(value: Any) -> None:
    number = checks.whole_number("deals", value, 5, 5)
    assert (number, type(number)) == (5, int)
    assert checks.real_number("margin", value) == 5.0


def test_a_tensor_without_a_dimension_is_a_number() -> None:
    torch = pytest.importorskip("torch")
    assert checks.whole_number("action", torch.tensor(7)) == 7
    assert checks.real_number("margin", torch.tensor(0.5)) == 0.5
    assert checks.index_of(torch.tensor(True)) is None
    assert checks.index_of(torch.tensor(2.0)) is None


@pytest.mark.parametrize(
    "value",
    [*NO_WHOLE_NUMBERS, -1, 2**64, 2**70, 10**5000],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_seed_is_refused_in_one_sentence(value: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^seed=[^\n]{1,90} is (not a whole number|out of range): expected 0 to 2\*\*64 - 1$"
    ):
        checks.seed_number(value)


@pytest.mark.parametrize(
    "value",
    [NAN, INF, -INF, np.float32("nan"), True, "0.5", None, 1j, [0.5], np.array([0.5]), -0.1, 10**400, Broken()],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_real_number_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^margin=.* is (not a finite number|out of range): expected 0 or more$"):
        checks.real_number("margin", value, 0)


def test_ranges_in_words() -> None:
    for low, high, text in ((0, 1, "0 to 1"), (0, np.inf, "0 or more"), (-np.inf, 2, "2 or less")):
        with pytest.raises(ValueError, match=f"^rate='x' is not a finite number: expected {text}$"):
            checks.real_number("rate", "x", low, high)
    with pytest.raises(ValueError, match=r"^rate=0 is out of range: expected more than 0$"):
        checks.positive_number("rate", 0)
    with pytest.raises(ValueError, match=r"^port=99999 is out of range: expected 0 to 65535$"):
        checks.whole_number("port", 99999, 0, 65535)


def test_batches_of_whole_numbers() -> None:
    for values in ([1, 2], (1, 2), np.array([1, 2], np.uint8), np.array([1, 9, 2])[::2]):
        batch = checks.whole_numbers("actions", values, 2)
        assert batch.tolist() == [1, 2]
        assert batch.dtype == np.int64
        assert batch.flags.c_contiguous
    for far in ([1, 2**63], [1, 2**70], [1, -(2**70)], np.array([1, 2**63], np.uint64)):
        assert checks.whole_numbers("actions", far, 2).tolist() == [1, -1]
    wrong: list[tuple[Any, str]] = [
        (np.array([1.0, 2.0]), " have the type float64: expected whole numbers$"),
        (np.array([True, False]), " have the type bool"),
        ([1, 2.0], r"\[1\]=2.0 is not a whole number: expected one$"),
        ([True, False], r"\[0\]=True"),
        (["1", "2"], r"\[0\]='1'"),
        ([1, None], r"\[1\]=None"),
        ([[1], [1, 2]], r" are no array: expected \(2,\) whole numbers"),
        ([1, 2, 3], r" have the shape \(3,\): expected \(2,\)"),
        (1, r" have the shape \(\)"),
        ([[1], [2]], r" have the shape \(2, 1\)"),
        (None, r" have the shape \(\)"),
    ]
    for values, message in wrong:
        with pytest.raises(ValueError, match=f"^actions{message}"):
            checks.whole_numbers("actions", values, 2)


def test_names_and_bools() -> None:
    assert checks.choice("episode", np.str_("round"), ("round", "match")) == "round"
    others: list[Any] = ["Round", 3, None, ["round"], {}, np.array(["round", "match"])]
    for value in others:
        with pytest.raises(ValueError, match=r"^episode=.* is not a choice: expected 'round' or 'match'$"):
            checks.choice("episode", value, ("round", "match"))
    assert (checks.yes_or_no("copy", np.True_), checks.yes_or_no("copy", False)) == (True, False)
    for value in (1, 0, "true", None):
        with pytest.raises(ValueError, match=r"^copy=.* is not a switch value: expected True or False$"):
            checks.yes_or_no("copy", value)


def test_a_value_is_shown_on_one_line() -> None:
    assert checks.shown("a\nb\ud800") == "'a\\nb\\ud800'"
    assert checks.shown(np.zeros((40, 40))).count("\n") == 0
    assert checks.shown(Broken()) == "a Broken"
    assert len(checks.shown(list(range(1000)))) == 80
