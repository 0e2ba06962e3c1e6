"""GAME, the record of one round, and OBSERVATION, the record of what one seat may know of it.

A game is one element of a structured array: it is copied, hashed, saved and compared as bytes, and
`games["rack"]` is an array over a whole batch. Kernels take such a record and change it in place. They
check nothing, so the caller must ask `okey_env.engine.turn.is_legal` first.

Racks are stored twice, because two readers need different forms: as counts by kind for observations, and
as two 64-bit words for the exact solver (`once`: at least one copy held, `twice`: both copies held; the bit
of a face is `4 * (number - 1) + colour`, see `okey_env.engine.hand`). Sets of kinds are words in the same
order, with bit 52 for the wild kind.

Plain Python passes a whole array and an index to kernels (`okey_env.engine.batch`), never one record: numba needs 15
microseconds to take a record and almost no time to take an array. `game.turn` is for kernels only; in plain Python
`games["turn"][i]` is many times faster.

Arrays by kind have 56 entries instead of 53, so that they are also seven 64-bit words: a whole rack is then copied or
subtracted in seven operations (`.view(np.uint64)`). The last three entries stay 0.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from okey_env.rules import MAX_THROWS_RANGE, SWITCHES, Rules
from okey_env.tiles import NUM_SEATS, NUM_STOCK

WIDTH = 56
"""Entries of an array by kind: 53 kinds and 3 of padding."""
LOG_SIZE = 512
assert 2 * MAX_THROWS_RANGE[1] + 3 <= LOG_SIZE  # a draw and a throw each, the show, the last draw and finish

# Phases
PHASE_DRAW = 0  # 14 tiles: draw or take
PHASE_THROW = 1  # 15 tiles: throw or finish
PHASE_OVER = 2
PHASES = ("draw", "throw", "over")

# Endings
NOT_ENDED = 0
ENDED_BY_FINISH = 1
ENDED_VOID = 2  # R5.4, a termination
ENDED_TRUNCATED = 3  # R5.6
ENDINGS = ("", "finish", "void", "truncated")

NO_TILE = 255
NO_SEAT = 255

PILE_SIZE = 64
"""The capacity of a heap: more than a quarter of the most throws of a round."""
assert MAX_THROWS_RANGE[1] // NUM_SEATS < PILE_SIZE


def _record(fields: list[tuple[Any, ...]]) -> np.dtype[np.record]:
    """A record type whose fields follow one another, each at a multiple of its own size."""
    record: np.dtype[np.record] = np.dtype((np.record, fields))  # type: ignore[assignment]  # numpy's stubs say void
    for name, kind, *_ in fields:
        offset = record.fields[name][1] if record.fields else 0
        assert offset % np.dtype(kind).itemsize == 0, f"{name} lies across words"
    return record


_RULES_SIZE = 16
"""Bytes of RULES: more than there are switches, so that a new switch does not move the fields after RULES."""

RULES = _record(
    [
        *((switch.byte, np.uint8) for switch in SWITCHES),
        ("spare", np.uint8, (_RULES_SIZE - len(SWITCHES),)),
    ]
)
"""The rules as kernels read them, one byte a switch (`okey_env.rules.SWITCHES`). A game record holds its own rules."""

GAME = _record(
    [
        ("rules", RULES),
        # where the round stands
        ("draw_queues", np.uint8),  # 0, 1: each seat draws from its own quarter of the stock
        ("phase", np.uint8),  # PHASE_*
        ("turn", np.uint8),  # 0 … 3, the seat to move; the last mover once the round is over
        ("starter", np.uint8),  # 0 … 3
        ("indicator", np.uint8),  # 0 … 51, a face
        ("okey", np.uint8),  # 0 … 51, the face whose copies are wild
        ("stock_left", np.uint8),  # 0 … 48
        ("throws", np.uint8),  # 0 … max_throws
        ("offer", np.uint8),  # kind that the left neighbour has just thrown, or NO_TILE
        ("has_thrown", np.uint8),  # bit per seat: its first turn is past
        ("shown_by", np.uint8),  # seat that showed the indicator's twin, or NO_SEAT
        ("last_chance", np.uint8),  # 0, 1: the stock is empty and this seat may only take and finish (R5.4)
        ("ending", np.uint8),  # ENDED_*
        ("winner", np.uint8),  # 0 … 3 or NO_SEAT
        ("finish_kind", np.uint8),  # kind laid on the stock, or NO_TILE
        ("by_pairs", np.uint8),  # 0, 1: finished with seven pairs
        ("by_okey", np.uint8),  # 0, 1: the finishing tile counted as the okey
        ("set_aside", np.uint8),  # 0 … 44, tiles of the stock that are not in play (`okey_env.engine.starts`)
        ("num_events", np.uint16),  # entries of the log
        ("queue_next", np.uint8, (NUM_SEATS,)),  # index in `stock` of the next tile of each queue
        ("queue_end", np.uint8, (NUM_SEATS,)),  # index after its last tile; both 0 unless draw_queues
        ("lost", np.uint8, (NUM_SEATS,)),  # points lost in this round
        ("won", np.uint8, (NUM_SEATS,)),  # points that others lost to this seat in this round
        ("pile_height", np.uint8, (NUM_SEATS,)),  # throws that lie on each pile
        ("scores", np.int16, (NUM_SEATS,)),  # points of the match when the round was dealt
        ("seed", np.uint64),  # with `round_number`, all that a deal depends on
        ("round_number", np.uint64),  # rounds dealt before this one
        ("finish_melds", np.uint64),  # set of kinds that finish by melds; valid in PHASE_THROW, else 0
        ("finish_pairs", np.uint64),  # the same by seven pairs
        # tiles
        ("once", np.uint64, (NUM_SEATS,)),  # racks as words for the solver, wild tiles left out
        ("twice", np.uint64, (NUM_SEATS,)),
        ("taken", np.uint64, (NUM_SEATS,)),  # set of kinds that the seat has taken in this round
        ("rack", np.uint8, (NUM_SEATS, WIDTH)),  # 0 … 2 copies
        ("heap", np.uint8, (NUM_SEATS, WIDTH)),  # thrown by the seat and still lying there, 0 … 2
        ("known", np.uint8, (NUM_SEATS, WIDTH)),  # copies that everyone knows to be in the rack, 0 … 2
        ("stock", np.uint8, (NUM_STOCK,)),  # kinds in the order in which they are drawn
        ("pile", np.uint8, (NUM_SEATS, PILE_SIZE)),  # the heaps as they lie: kinds, the last throw on top
        ("log", np.uint16, (LOG_SIZE,)),  # public events in order, stock draws with their hidden kind
    ]
)
"""One round as one record."""

OBSERVATION = _record(
    [
        ("rules", RULES),
        # what is visible to all, seats counted from the observer: 0 itself, 1 right, 2 opposite, 3 left
        ("phase", np.uint8),  # PHASE_*
        ("turn", np.uint8),  # 0 … 3
        ("starter", np.uint8),  # 0 … 3
        ("indicator", np.uint8),  # 0 … 51
        ("okey", np.uint8),  # 0 … 51
        ("stock_left", np.uint8),  # 0 … 48
        ("throws", np.uint8),  # 0 … max_throws
        ("offer", np.uint8),  # kind on offer to the seat to move, or NO_TILE
        ("has_thrown", np.uint8),  # bit per seat
        ("shown_by", np.uint8),  # 0 … 3 or NO_SEAT
        ("last_chance", np.uint8),  # 0, 1
        ("ending", np.uint8),  # ENDED_*
        ("winner", np.uint8),  # 0 … 3 or NO_SEAT
        ("seat", np.uint8),  # 0 … 3, the absolute seat of the observer
        # what the observer may do now; throws and finishes follow from `rack` and `finish_*`
        ("can_draw", np.uint8),  # 0, 1
        ("can_take", np.uint8),  # 0, 1
        ("can_show", np.uint8),  # 0, 1
        ("set_aside", np.uint8),  # 0 … 44, unseen tiles that are neither in a rack nor in the stock
        ("spare", np.uint8, (2,)),
        ("lost", np.uint8, (NUM_SEATS,)),
        ("won", np.uint8, (NUM_SEATS,)),
        ("last_throw", np.uint8, (NUM_SEATS,)),  # kind on top of each heap, or NO_TILE
        ("scores", np.int16, (NUM_SEATS,)),
        ("once", np.uint64),  # the own rack as words for the solver
        ("twice", np.uint64),
        ("finish_melds", np.uint64),  # kinds that finish by melds, own turn in PHASE_THROW only
        ("finish_pairs", np.uint64),
        ("taken", np.uint64, (NUM_SEATS,)),  # set of kinds that each seat has taken
        ("rack", np.uint8, (WIDTH,)),  # the own rack
        ("unseen", np.uint8, (WIDTH,)),  # copies that may be in another rack or in the stock
        ("heap", np.uint8, (NUM_SEATS, WIDTH)),  # thrown by each seat and still lying there
        ("known", np.uint8, (NUM_SEATS, WIDTH)),  # tiles of each rack that everyone has seen
    ]
)
"""All that one seat may know except the order of past events; see `okey_env.observation`."""


def new_games(rules: Rules, num_games: int, *, draw_queues: bool = False) -> npt.NDArray[np.record]:
    """New game records in which nothing is dealt yet: `(num_games,)` of GAME.

    Args:
        rules: the rules of all games.
        num_games: the number of games.
        draw_queues: each seat draws from its own quarter of the stock, so that a taken throw does not
            change what the others draw; for paired evaluation.
    """
    games = np.zeros(num_games, GAME)
    for switch in SWITCHES:
        games["rules"][switch.byte] = switch.to_byte(getattr(rules, switch.name))
    games["draw_queues"] = draw_queues
    games["scores"] = rules.start_points
    games["phase"] = PHASE_OVER
    return games


def rules_of(record: np.record) -> Rules:
    """The rules of a GAME or an OBSERVATION, from its bytes."""
    played = record["rules"]
    return Rules(**{switch.name: switch.of_byte(int(played[switch.byte])) for switch in SWITCHES})
