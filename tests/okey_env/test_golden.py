"""A recorded round of each preset is played again and comes out the same, line by line."""

import pytest

from okey_env.rules import PRESETS
from tests.playthrough import GOLDEN, ROUNDS, playthrough


@pytest.mark.parametrize("preset", PRESETS)
def test_round_is_played_as_recorded(preset: str) -> None:
    recorded = (GOLDEN / f"{preset}.txt").read_text(encoding="utf-8")
    assert playthrough(preset, ROUNDS[preset]) == recorded
