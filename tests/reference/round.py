"""One round (R1 to R7): deal, turns, finish, void, points lost."""

import random
from collections.abc import Sequence

from .melds import finishing_tiles
from .switches import Rules, flag, number, word
from .tiles import (
    FALSE_JOKER,
    KINDS,
    PHYSICAL_TILES,
    WILD,
    colour_of,
    counts_of,
    face_of_text,
    okey_face,
    played_kind,
    tiles_in_play,
)

ACTION_DRAW = 0
ACTION_TAKE = 1
ACTION_SHOW = 2
ACTION_THROW = 3  # 3 + kind
ACTION_FINISH = 56  # 56 + kind

QUEUE_LENGTH = 12  # with a draw queue for each seat: 48 stock tiles in four parts


class ReferenceRound:
    """One round, played by `step` until `phase` is "over".

    Args:
        rules: The switches by name, see `switches.GAMELAKE`; others are ignored.
        indicator: The face turned up (R1.2).
        racks: Four lists of kinds, 15 for the starter and 14 for the others (R2.1).
        stock: The kinds in the stock, drawn from index 0 on; 48 in a real round, fewer in a position set up by hand.
        starter: The seat that begins, 0..3.
        queues: Give each seat a draw queue of its own: seat s owns stock positions 12 s to 12 s + 11.

    Attributes:
        racks: Counts over the 53 kinds, for each seat. The tile laid at the finish is no longer in them.
        turn: The seat to move; when the round is over, the seat that moved last.
        phase: "draw", "throw" or "over".
        heaps: The throws that lie in front of each seat, oldest first; a tile that was taken is no longer there.
        known: Counts over the 53 kinds, for each seat: what all have seen going into that rack (R3.4) or being shown
            there (R7.3), and not leaving it since. Never more than the rack holds.
        lost: Points that each seat has lost in this round, 0 or more.
        won: What the others have lost to each seat.
        ending: None, "finish", "void" (R5.4) or "truncated" (R5.6).
        winner, finish_kind, by_pairs, by_okey: Who finished, by laying which kind, and what for (R6.2 to R6.5).
        shown_by: The seat that showed the indicator's twin (R7), or None.
        throws: Throws so far, all seats together; the tile laid at the finish is none.
    """

    def __init__(
        self,
        rules: Rules,
        indicator: int,
        racks: Sequence[Sequence[int]],
        stock: Sequence[int],
        starter: int,
        queues: bool = False,
    ) -> None:
        self.run_13_1 = flag(rules, "run_13_1")
        self.stock_end = word(rules, "stock_end", ("void_after_throw", "next_may_take"))
        self.max_throws = number(rules, "max_throws")
        self.combine = word(rules, "combine", ("product", "max"))
        self.false_joker_as_okey = flag(rules, "false_joker_as_okey")
        self.indicator_points = number(rules, "indicator_points")
        self.indicator_window = word(rules, "indicator_window", ("first_turn", "before_draw"))
        self.colour_double = flag(rules, "colour_double")
        self.void_points = number(rules, "void_points")
        self.teams = flag(rules, "teams")

        _check_deal(indicator, racks, stock, starter)
        if queues and len(stock) != 4 * QUEUE_LENGTH:
            raise ValueError("draw queues need a stock of 48")
        self.indicator = indicator
        self.starter = starter
        self.racks = [counts_of(list(rack)) for rack in racks]
        self.queues = queues
        # The stock in parts: one in play (R3.2), four when each seat has a draw queue.
        self.stock = [list(stock[at : at + QUEUE_LENGTH]) for at in (0, 12, 24, 36)] if queues else [list(stock)]

        self.turn = starter
        self.phase = "throw"  # R3.1: the starter does not draw
        self.heaps: list[list[int]] = [[], [], [], []]
        self.known = [[0] * KINDS for _ in range(4)]
        self.thrown_by = [0, 0, 0, 0]
        self.throws_on_empty_stock = 0
        self.lost = [0, 0, 0, 0]
        self.won = [0, 0, 0, 0]
        self.ending: str | None = None
        self.winner: int | None = None
        self.finish_kind: int | None = None
        self.by_pairs = False
        self.by_okey = False
        self.shown_by: int | None = None

    @property
    def stock_left(self) -> int:
        """How many tiles can still be drawn."""
        return sum(len(part) for part in self.stock)

    @property
    def throws(self) -> int:
        """How many throws there were."""
        return sum(self.thrown_by)

    @property
    def offer(self) -> int | None:
        """R3.2: the tile that the left neighbour has just thrown, while the seat to move chooses between it and a draw.

        A turn begins with a draw phase only because the left neighbour has just thrown, so there is always one then.
        """
        return self.heaps[_left_of(self.turn)][-1] if self.phase == "draw" else None

    def legal_actions(self) -> list[int]:
        """The numbers of all legal actions, in order; none when the round is over."""
        actions = []
        if self.phase == "draw":
            # R3.2: draw, or take; R5.4: from an empty stock nobody draws.
            if self.stock_left > 0:
                actions.append(ACTION_DRAW)
            actions.append(ACTION_TAKE)
        if self._may_show():
            actions.append(ACTION_SHOW)
        if self.phase == "throw":
            # R3.3: any tile may be thrown. R5.2: finishing is optional, and the player chooses the tile.
            actions += [ACTION_THROW + kind for kind in range(KINDS) if self.racks[self.turn][kind] > 0]
            actions += [ACTION_FINISH + kind for kind in sorted(self._finishes(self.racks[self.turn]))]
        return actions

    def step(self, action: int) -> None:
        """Play one action of the seat to move.

        Raises:
            ValueError: The action is not legal; nothing has changed then (R5.3: a wrong claim costs nothing).
        """
        if action not in self.legal_actions():
            raise ValueError(f"action {action} is not legal for seat {self.turn} in phase {self.phase}")
        if action == ACTION_DRAW:
            self._draw()
        elif action == ACTION_TAKE:
            self._take()
        elif action == ACTION_SHOW:
            self._show()
        elif action < ACTION_FINISH:
            self._throw(action - ACTION_THROW)
        else:
            self._finish(action - ACTION_FINISH)

    # R3.2, draw.
    def _draw(self) -> None:
        kind = self._next_from_queues() if self.queues else self.stock[0].pop(0)
        self.racks[self.turn][kind] += 1
        self.phase = "throw"

    def _next_from_queues(self) -> int:
        """The next tile of the seat's own queue, or, that being empty, the last one of the fullest other queue.

        Of queues equally full it is the first to the right.
        """
        own = self.stock[self.turn]
        if own:
            return own.pop(0)
        to_the_right = [self.stock[(self.turn + step) % 4] for step in (1, 2, 3)]
        fullest = max(len(queue) for queue in to_the_right)
        return next(queue for queue in to_the_right if len(queue) == fullest).pop()

    # R3.2, take: only the left neighbour's last throw. R3.4: all see it going into the rack.
    def _take(self) -> None:
        kind = self.heaps[_left_of(self.turn)].pop()
        self.racks[self.turn][kind] += 1
        self.known[self.turn][kind] += 1
        self.phase = "throw"

    # R7.1: the twin is the other copy of the indicator's face. A false joker never has that face (R1.4), so it is the
    # real one. The first turn of a seat lasts until its first throw.
    def _may_show(self) -> bool:
        if self.phase == "over" or self.indicator_points == 0 or self.shown_by is not None:
            return False
        in_first_turn = self.thrown_by[self.turn] == 0
        before_draw = self.phase == "draw" or self.turn == self.starter  # the starter draws nothing in its first turn
        in_window = in_first_turn and (before_draw or self.indicator_window == "first_turn")
        return in_window and self.racks[self.turn][self.indicator] > 0

    # R6.6, R7.1: each other player loses the points at once. R7.2: the tile stays in the rack; it stays this seat's
    # turn. R7.3: all know the tile now; if the seat took it from a throw, they have known already.
    def _show(self) -> None:
        self.shown_by = self.turn
        self.known[self.turn][self.indicator] = 1  # there is no second copy in play (R1.6)
        self._others_lose(self.turn, self.indicator_points)

    # R3.1, R3.2: throw one tile to the right; the next seat then draws or takes.
    def _throw(self, kind: int) -> None:
        seat = self.turn
        self._leave_rack(seat, kind)
        self.heaps[seat].append(kind)
        self.thrown_by[seat] += 1
        if self._stock_ends_round(kind):
            self._end_without_winner("void")
        elif self.throws >= self.max_throws:  # R5.6
            self._end_without_winner("truncated")
        else:
            self.turn = _right_of(seat)
            self.phase = "draw"

    # R5.4: after the throw of whoever drew the last tile the round is void; or else the next seat may take that throw,
    # if it can finish with it, and then the round is void after any further throw.
    def _stock_ends_round(self, thrown: int) -> bool:
        if self.stock_left > 0:
            return False
        self.throws_on_empty_stock += 1
        if self.stock_end == "void_after_throw" or self.throws_on_empty_stock > 1:
            return True
        rack_with_it = list(self.racks[_right_of(self.turn)])
        rack_with_it[thrown] += 1
        return not self._finishes(rack_with_it)

    # R5.5: a void round costs nothing, unless the switch says so: then everybody.
    def _end_without_winner(self, ending: str) -> None:
        self.ending = ending
        self.phase = "over"
        for seat in range(4):
            self.lost[seat] += self.void_points

    # R5.1: one tile face down on the stock, the other 14 all melds or seven pairs.
    def _finish(self, kind: int) -> None:
        seat = self.turn
        melds, pairs = self._finishes(self.racks[seat])[kind]
        self._leave_rack(seat, kind)
        self.ending = "finish"
        self.phase = "over"
        self.winner = seat
        self.finish_kind = kind
        # R6.2: the okey; R6.3: for some also a false joker, the only tile that plays as the okey's face.
        self.by_okey = kind == WILD or (self.false_joker_as_okey and kind == okey_face(self.indicator))
        # R6.7: both melds and pairs: the better score counts.
        as_pairs, as_melds = self._points(pairs=True), self._points(pairs=False)
        self.by_pairs = pairs and (not melds or as_pairs > as_melds)
        self._others_lose(seat, as_pairs if self.by_pairs else as_melds)

    # R6.9: a red or black indicator doubles. R6.8: wild tiles in any rack change nothing, so no rack is looked at.
    def _points(self, pairs: bool) -> int:
        points = 2  # R6.1
        if self.by_okey and pairs:
            points = 8 if self.combine == "product" else 4  # R6.5
        elif self.by_okey or pairs:
            points = 4  # R6.2, R6.3, R6.4
        if self.colour_double and colour_of(self.indicator) in (0, 2):
            points *= 2
        return points

    # R6: every other player loses; R8.4: with teams the two of the other team, and the partner wins along.
    def _others_lose(self, seat: int, points: int) -> None:
        for other in range(4):
            same_side = other == seat or (self.teams and other % 2 == seat % 2)
            if not same_side:
                self.lost[other] += points
            elif self.teams:
                self.won[other] += points
            else:
                self.won[other] += 3 * points

    def _leave_rack(self, seat: int, kind: int) -> None:
        self.racks[seat][kind] -= 1
        self.known[seat][kind] = max(0, self.known[seat][kind] - 1)

    def _finishes(self, counts: Sequence[int]) -> dict[int, tuple[bool, bool]]:
        rack = tuple(kind for kind in range(KINDS) for _ in range(counts[kind]))
        return finishing_tiles(rack, self.run_13_1)


# R2.3: seats are numbered in playing order, and a seat throws to the one on its right.
def _right_of(seat: int) -> int:
    return (seat + 1) % 4


def _left_of(seat: int) -> int:
    return (seat + 3) % 4


def _check_deal(indicator: int, racks: Sequence[Sequence[int]], stock: Sequence[int], starter: int) -> None:
    """R1.6, R2.1: 15 tiles for the starter, 14 for the others, and no kind more often than a round has it."""
    if [len(rack) for rack in racks] != [15 if seat == starter else 14 for seat in range(4)]:
        raise ValueError("the starter needs 15 tiles, the others 14")
    dealt = counts_of([*stock, *(kind for rack in racks for kind in rack)])
    for kind, count in enumerate(tiles_in_play(indicator)):
        if dealt[kind] > count:
            raise ValueError(f"kind {kind} is dealt {dealt[kind]} times, a round has {count}")


def random_round(rules: Rules, rng: random.Random, queues: bool = False) -> ReferenceRound:
    """R1, R2: shuffle 106 physical tiles, deal, turn the indicator, and read what each tile plays as."""
    tiles = list(PHYSICAL_TILES)
    rng.shuffle(tiles)
    starter = rng.randrange(4)  # R2.2
    hands = []
    for seat in range(4):  # R2.1
        size = 15 if seat == starter else 14
        hands.append(tiles[:size])
        tiles = tiles[size:]
    turned = tiles.pop(0)
    while turned == FALSE_JOKER:  # R1.5: it goes back, and another is turned
        tiles.insert(rng.randrange(len(tiles) + 1), turned)
        turned = tiles.pop(0)
    indicator = face_of_text(turned)
    racks = [[played_kind(tile, indicator) for tile in hand] for hand in hands]
    return ReferenceRound(rules, indicator, racks, [played_kind(tile, indicator) for tile in tiles], starter, queues)
