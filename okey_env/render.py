"""How environments show the table: as a picture, in a window, or as text.

All of them show everything, including the tiles of all four racks.
"""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from okey_env.checks import choice
from okey_env.engine.events import EVENT_SHOW, EVENT_TAKE, EVENTS, unpack_event
from okey_env.paint import load_pygame
from okey_env.picture import table_picture
from okey_env.round import Round
from okey_env.tiles import NUM_SEATS, kind_text, rack_text

RENDER_MODES = ("human", "rgb_array", "ansi")
"""`human`: a window; `rgb_array`: a picture, `(720, 960, 3)` uint8; `ansi`: a text."""
RENDER_FPS = 2
"""Moves a second in a window and, unless told otherwise, in a video."""
_LAST_EVENTS = 6
_NO_SCREEN = ("dummy", "offscreen")  # SDL drivers that show nothing

Frame = str | npt.NDArray[np.uint8] | None


class Renderer:
    """`render()` and `close()` of an environment, in one of the modes of Gymnasium and PettingZoo.

    Args:
        mode: one of `RENDER_MODES`, or None.

    Raises:
        ValueError: there is no such mode.

    >>> Renderer("rgb_array").render(Round(seed=1)).shape
    (720, 960, 3)
    """

    def __init__(self, mode: str | None) -> None:
        if mode is not None:
            choice("render_mode", mode, RENDER_MODES, ", or None")
        self.mode = mode
        self._window: _Window | None = None

    def render(self, round: Round, players: Sequence[str] | None = None) -> Frame:
        """The table in the form of the mode: an array, a text, or None after the window has shown it.

        Without a mode, a warning is given and the result is None.

        Args:
            round: the round.
            players: the names of the four seats, for pictures.
        """
        if self.mode is None:
            gymnasium.logger.warn("render() was called, but no render_mode was given when the environment was made")
            return None
        if self.mode == "ansi":
            return table_text(round)
        picture = table_picture(round, players)
        if self.mode == "rgb_array":
            return picture
        if self._window is None:
            self._window = _Window((picture.shape[1], picture.shape[0]))
        self._window.show(picture)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy without the window; the copy opens its own window when it shows something."""
        return Renderer, (self.mode,)


class _Window:
    """A window that shows pictures, each for a moment. If a person closes it, the game goes on without a window."""

    def __init__(self, size: tuple[int, int]) -> None:
        self._pygame = load_pygame()
        self._pygame.display.init()
        self._pygame.display.set_mode(size)
        self._pygame.display.set_caption("Okey")
        self._clock = self._pygame.time.Clock()
        self._open = True

    def show(self, picture: npt.NDArray[np.uint8]) -> None:
        display = self._pygame.display
        surface = display.get_surface() if self._open else None
        if surface is None:  # pygame has one window for all environments; it is closed now
            return
        self._pygame.surfarray.blit_array(surface, picture.transpose(1, 0, 2))
        display.flip()
        if self._pygame.event.get(self._pygame.QUIT):
            self.close()
        elif display.get_driver() not in _NO_SCREEN:
            self._clock.tick(RENDER_FPS)

    def close(self) -> None:
        if self._open:
            self._pygame.display.quit()
            self._open = False


def table_text(round: Round) -> str:
    """The table as lines of text: indicator, stock, racks, heaps, the last events, and how the round ended.

    >>> print(table_text(Round(seed=1)).splitlines()[0].split(",")[0])
    Okey (gamelake)
    """
    fields = {name: field[0] for name, field in round.fields.items()}
    okey = round.okey
    head = f"Okey ({round.rules.name}), indicator {kind_text(round.indicator, okey)}, stock {round.stock_left}"
    lines = [head, ""]
    for seat in range(NUM_SEATS):
        mark = ">" if seat == round.turn and not round.over else " "
        points = round.won[seat] - round.lost[seat]
        lines.append(f"{mark} seat {seat}  {points:+3d}   {rack_text(round.racks[seat], okey)}")
        if round.heaps[seat].any():
            lines.append(f"      thrown   {rack_text(round.heaps[seat], okey)}")
    if round.offer is not None:
        lines += ["", f"on offer to seat {round.turn}: {kind_text(round.offer, okey)}"]
    first = max(0, int(fields["num_events"]) - _LAST_EVENTS)
    events = [event_text(int(entry), okey) for entry in fields["log"][first : fields["num_events"]]]
    if events:
        lines += ["", "last: " + "; ".join(events)]
    if round.over:
        lines += ["", _ending_text(round)]
    return "\n".join(lines)


def event_text(entry: int, okey: int) -> str:
    """One event of a game's log, like `seat 2 throws R5`."""
    event, seat, kind = unpack_event(entry)
    tile = kind_text(kind, okey)
    verb = {EVENT_TAKE: "takes", EVENT_SHOW: "shows"}.get(event, EVENTS[event] + ("es" if event == 4 else "s"))
    return f"seat {seat} {verb} {tile}"


def _ending_text(round: Round) -> str:
    fields = {name: field[0] for name, field in round.fields.items()}
    if round.winner is None:
        return "void: " + ("the stock is empty" if round.ending == "void" else f"{fields['throws']} throws")
    how = "seven pairs" if fields["by_pairs"] else "melds"
    tile = kind_text(int(fields["finish_kind"]), round.okey)
    return f"seat {round.winner} finishes with {how}, laying {tile}" + (" (as the okey)" if fields["by_okey"] else "")
