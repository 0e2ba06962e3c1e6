"""Which faces matter to a face, against the tiles as people name them."""

from collections.abc import Iterable

import pytest

from okey_agents.thinking.neighbours import numbers_in, one_down, one_up, related_faces, same_number
from okey_env.engine.hand import BIT_OF_KIND
from okey_env.tiles import parse_face


def _bit(face: str) -> int:
    return int(BIT_OF_KIND[parse_face(face)])


def _word(faces: Iterable[str]) -> int:
    return sum(1 << _bit(face) for face in faces)


@pytest.mark.parametrize(
    ("face", "run_13_1", "one_away", "two_away"),
    [
        ("R7", True, "R6 R8", "R5 R9"),
        ("R1", True, "R2 R13", "R3 R12"),
        ("R1", False, "R2", "R3"),
        ("B13", True, "B12 B1", "B11"),
        ("K12", True, "K11 K13", "K10 K1"),
        ("K2", True, "K1 K3", "K4"),
    ],
)
def test_a_1_is_the_neighbour_of_a_13_where_it_may_follow_it(
    face: str, run_13_1: bool, one_away: str, two_away: str
) -> None:
    itself, one, two, same = related_faces(_bit(face), run_13_1)
    assert (itself, one, two) == (_word([face]), _word(one_away.split()), _word(two_away.split()))
    assert same == same_number(_bit(face)) == _word(colour + face[1:] for colour in "RBKY" if colour != face[0])


def test_sets_move_up_and_down_the_numbers_in_a_circle() -> None:
    faces = ["R1", "B6", "Y13"]
    assert one_up(_word(faces)) == _word(["R2", "B7", "Y1"])
    assert one_down(_word(faces)) == _word(["R13", "B5", "Y12"])
    assert numbers_in(_word(["R1", "Y1", "K6", "B6", "B13"])) == _word(["R1", "R6", "R13"])
