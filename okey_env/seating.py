"""Who sits where: the learning seat and the bots in the other three."""

from collections.abc import Sequence

from okey_env.bots import Bot, BotSpec, make_bot
from okey_env.tiles import NUM_SEATS


def make_opponents(opponents: BotSpec | Sequence[BotSpec]) -> list[Bot]:
    """One bot for all other seats, or three: right, opposite and left of the learning seat.

    Raises:
        ValueError: neither one nor three were given, or one cannot be made.
    """
    if isinstance(opponents, str) or not isinstance(opponents, Sequence):
        return [make_bot(opponents)]
    if len(opponents) not in (1, NUM_SEATS - 1):
        raise ValueError(f"opponents={opponents!r}: expected one bot, or three: right, opposite, left of the learner")
    return [make_bot(bot) for bot in opponents]


def learning_seat_of(seat: int | None) -> int | None:
    """The learning seat's place at the table, checked; None: it moves one place on each round."""
    if seat is not None and seat not in range(NUM_SEATS):
        raise ValueError(f"learning_seat={seat!r}: expected a seat 0 to {NUM_SEATS - 1}, or None to rotate")
    return seat
