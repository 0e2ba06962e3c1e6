"""What a bot did wrong, in words that cannot fail themselves."""

import os
import sysconfig
import traceback
from pathlib import Path

import numpy as np
import numpy.typing as npt

import okey_agents
import okey_env
from okey_agents.evaluate.guard.process_guard import ForkError, ProcessEndError
from okey_env import bots
from okey_env.engine.state import rules_of
from okey_env.round import Round

_LONGEST = 300
_OURS = tuple(f"{Path(package.__file__ or '').parent}{os.sep}" for package in (okey_env, okey_agents))
_PYTHONS = ("<frozen ", *(sysconfig.get_path(kind) + os.sep for kind in ("stdlib", "platstdlib", "purelib", "platlib")))
"""Files that come with Python and with what is installed; a bot may call them, and they fail."""


def error_text(error: BaseException) -> str:
    """An exception: its type, its text, and the file and line of the bot that it came from."""
    text = safe_text(error)
    found = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if isinstance(error, SystemExit | ProcessEndError):
        found += ", which would have ended the process"
    return shortened(found) + _place(error)


def safe_text(thing: object) -> str:
    """`str(thing)` on one line, whatever that raises."""
    try:
        return " ".join(str(thing).split())
    except BaseException as error:
        return f"(no text: its __str__ raises {type(error).__name__})"


def shortened(text: str) -> str:
    """At most 300 characters."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def illegal_text(games: npt.NDArray[np.record], i: int, action: int) -> str:
    """Why an action is not legal in game i."""
    number = action if abs(action) < 10**12 else "a number of more than 12 digits"
    if not isinstance(number, int):
        return f"illegal reply: {number}, expected an action from 0 to 108"
    round = Round(rules_of(games[i]), seed=0)
    round.games[0] = games[i]
    phase = "drawing" if any(legal < 3 for legal in round.legal_actions()) else "throwing"
    return f"illegal reply {number} in the phase of {phase}: {round.why_illegal(number)}"


def _place(error: BaseException) -> str:
    """The innermost line of the bot: not ours, nor of a library unless the bot is one. Empty if our check failed."""
    try:
        frames = traceback.extract_tb(error.__traceback__)
    except BaseException:
        return ""
    theirs = [frame for frame in frames if not frame.filename.startswith(_OURS)]
    if not frames or isinstance(error, ForkError) or frames[-1].filename == bots.__file__:
        return ""
    written = [frame for frame in theirs if not frame.filename.startswith(_PYTHONS)]
    found = (written or theirs or frames)[-1]
    return f" ({found.filename}, line {found.lineno})"
