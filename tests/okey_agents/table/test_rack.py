"""A rack as it lies: places that keep the player's order, and the inspection of R9.1."""

import pytest

from okey_agents.table.web.rack import PLACES, ROW, Rack, blocks, fault_of
from okey_env.tiles import parse_face

OKEY = "Y5"


def laid(top: str, bottom: str = "") -> list[str | None]:
    """Thirty places from two rows of text; a point is an empty place."""
    places: list[str | None] = []
    for row in (top, bottom):
        tiles = [None if tile == "." else tile for tile in row.split()]
        places += tiles + [None] * (ROW - len(tiles))
    return places


def fault(top: str, bottom: str = "", *, run_13_1: bool = True) -> tuple[str, str] | None:
    """The reason and the tiles of the first fault."""
    places = laid(top, bottom)
    found = fault_of(places, parse_face(OKEY), run_13_1=run_13_1)
    return found and (found.reason, " ".join(str(places[place]) for place in found.places))


@pytest.mark.parametrize(
    ("top", "bottom"),
    [
        ("R1 R2 R3 . B5 B6 B7 B8", "K9 Y9 R9 . Y1 Y2 Y3 Y4"),
        ("R3 R2 R1 . B8 B7 B6 B5", "R9 K9 Y9 . Y4 Y3 Y2 Y1"),  # either direction
        ("R12 R13 R1 . B1 B2 B3 B4", "Y9 R9 K9 . R4 R5 R6 R7"),
        ("R1 R13 R12 . B1 * B3 B4", "Y9 * K9 . R4 R5 R6 R7"),
        ("* * R3 . Y4 F Y6", "K1 K2 K3 K4 . B7 B8 B9 B10"),  # a false joker is the okey's own face
        ("R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 R1", ""),
        ("R1 R1 . B2 B2 . K3 K3 . Y4 Y4 . F F", "* R9 . * K7"),  # pairs
    ],
)
def test_melds_with_gaps_are_accepted(top: str, bottom: str) -> None:
    """R9.1."""
    assert fault(top, bottom) is None


@pytest.mark.parametrize(
    ("top", "bottom", "reason", "tiles"),
    [
        ("R1 R2 R3 . B5 B6 B7 B8", "K9 Y9 R9 . Y1 Y2 . Y3 Y4", "short", "Y1 Y2"),
        ("R1 R2 R3 . B5", "K9 Y9 R9", "alone", "B5"),
        ("R1 R2 R3 B5 B6 B7", "", "mixed", "R1 R2 R3 B5 B6 B7"),  # no gap between them
        ("R1 R3 R2 . B5 B6 B7", "", "order", "R1 R3 R2"),
        ("R13 R1 R2 . B5 B6 B7", "", "order", "R13 R1 R2"),  # nothing follows that 1
        ("K9 Y9 K9 . B5 B6 B7", "", "repeat", "K9 Y9 K9"),
        ("K9 Y9 R9 B9 * . B5 B6 B7", "", "repeat", "K9 Y9 R9 B9 *"),  # a fifth tile would repeat a colour
        ("R1 R1 . B2 B2 . K3 K3 . Y4 Y4 . F Y5", "* R9 . K7 K8", "no_pair", "K7 K8"),
    ],
)
def test_the_first_fault_is_pointed_out(top: str, bottom: str, reason: str, tiles: str) -> None:
    assert fault(top, bottom) == (reason, tiles)


def test_a_row_ends_a_meld() -> None:
    over_the_edge = laid(" ".join([". " * 13 + "R1 R2"]), "R3 R4")
    assert [[over_the_edge[place] for place in block] for block in blocks(over_the_edge)] == [
        ["R1", "R2"],
        ["R3", "R4"],
    ]


def test_1_after_13_is_a_switch() -> None:
    assert fault("R12 R13 R1") is None
    assert fault("R12 R13 R1", run_13_1=False) == ("order", "R12 R13 R1")


def test_tiles_come_and_go_and_nothing_else_moves() -> None:
    rack = Rack(laid("R1 . R2", "B3"))
    assert rack.add("K7", 1) == 1
    assert rack.add("K8", 0) == PLACES - 1  # that place is taken: apart from the others
    rack.remove("R2")
    assert rack.places == laid("R1 K7 .", "B3" + " ." * 13 + " K8")


def test_of_two_okeys_the_one_that_lies_face_up_goes() -> None:
    rack = Rack(laid("* * R1"), down=[0])
    rack.remove("*")
    assert rack.places == laid("* . R1")
    assert rack.down == {0}


def test_an_arrangement_must_hold_the_same_tiles() -> None:
    rack = Rack(laid("R1 R2 *"))
    rack.arrange(laid("* . R2", "R1"), [0])
    assert rack.down == {0}
    wrong: list[tuple[list[str | None], list[int]]] = [
        (laid("R1 R2 R3"), []),
        (laid("R1 R2"), []),
        (laid("R1 R2 *"), [0]),
        ([None] * 3, []),
    ]
    for places, down in wrong:
        with pytest.raises(ValueError, match=r"rack|arrangement|okey"):
            rack.arrange(places, down)
    assert rack.places == laid("* . R2", "R1")
