"""The action table: the meaning of each number from 0 to 108, and its text.

| action | meaning | text |
|---|---|---|
| 0 | draw the top of the stock | `draw` |
| 1 | take the left neighbour's throw | `take` |
| 2 | show the indicator's twin | `show` |
| 3 … 55 | throw kind 0 … 52 | `throw R5`, `throw F`, `throw *` |
| 56 … 108 | finish, laying kind 0 … 52 on the stock | `finish R5`, `finish F`, `finish *` |

Kinds are tiles as they play (see `okey_env.tiles`), so the table is the same in every round. The table has a
version: an exported bot names the version it was trained on.
"""

from okey_env.checks import action_number, shown, text_of
from okey_env.tiles import NUM_KINDS, kind_text, parse_kind

ACTIONS_VERSION = 1
"""Changes whenever an action number changes its meaning."""

DRAW = 0
TAKE = 1
SHOW = 2
THROW = 3
"""The first throw; `THROW + kind` throws a tile of that kind."""
FINISH = THROW + NUM_KINDS
"""The first finish; `FINISH + kind` lays a tile of that kind on the stock and wins the round."""
NUM_ACTIONS = FINISH + NUM_KINDS
"""All actions: the size of the `Discrete` action space, 109."""

_PLAIN = {DRAW: "draw", TAKE: "take", SHOW: "show"}
_BASES = {"throw": THROW, "finish": FINISH}


def is_throw(action: int) -> bool:
    """Whether the action throws a tile."""
    return THROW <= action_number(action) < FINISH


def is_finish(action: int) -> bool:
    """Whether the action finishes the round."""
    return FINISH <= action_number(action) < NUM_ACTIONS


def tile_of(action: int) -> int | None:
    """The kind that a throw or a finish lays down; None for the other actions.

    >>> tile_of(THROW + 7), tile_of(DRAW)
    (7, None)
    """
    number = action_number(action)
    if THROW <= number < FINISH:
        return number - THROW
    return number - FINISH if FINISH <= number < NUM_ACTIONS else None


def to_text(action: int, okey: str | int) -> str:
    """The text of an action; tiles have their physical names in a round with this okey.

    Raises:
        ValueError: the number is not an action.

    >>> to_text(0, "Y5"), to_text(THROW + 4, "Y5"), to_text(FINISH + 52, "Y5")
    ('draw', 'throw R5', 'finish *')
    """
    number = action_number(action)
    if not 0 <= number < NUM_ACTIONS:
        raise ValueError(f"action {shown(action)} is not in the action table: expected 0 to {NUM_ACTIONS - 1}")
    kind = tile_of(number)
    if kind is None:
        return _PLAIN[number]
    return f"{'throw' if is_throw(number) else 'finish'} {kind_text(kind, okey)}"


def from_text(text: str, okey: str | int) -> int:
    """The action with this text; the inverse of `to_text`.

    Raises:
        ValueError: the text is not an action, or its tile does not exist.

    >>> from_text("throw R5", "Y5"), from_text("finish Y5", "Y5")
    (7, 108)
    """
    words = text_of(text).strip().lower().split()
    for action, name in _PLAIN.items():
        if words == [name]:
            return action
    if len(words) == 2 and words[0] in _BASES:
        return _BASES[words[0]] + parse_kind(words[1], okey)
    raise ValueError(
        f"{shown(text)} is not an action: expected draw, take, show, or throw or finish with a tile, like 'throw R5'"
    )
