"""Packs a setup for another machine: bots that lie in files travel with what is in them.

Installed bots and modules have to be installed there, and programs (`cmd:…`) have to be there under the same path.
"""

import dataclasses
import pickle
from pathlib import Path
from typing import NamedTuple

from okey_agents.evaluate.chunks import Setup
from okey_agents.evaluate.guard.processes import pack
from okey_env.bot_lookup import files_of, read_name

MOST_BYTES = 200_000_000
"""All files of the bots of a setup."""


class Luggage(NamedTuple):
    """The files of one bot."""

    place: str
    """The name of the folder or file, by which the bot is found among them."""
    item: str
    """The class or function in a file."""
    files: dict[str, bytes]
    """By path, from the folder on in which `place` lies."""


def packed_for_away(setup: Setup) -> bytes:
    """The setup with the files of its bots, as bytes for `unpacked`.

    Raises:
        ValueError: a bot cannot be sent, its files are too large, or records are wanted, which would stay there.
    """
    if setup.records is not None:
        raise ValueError(f"records={setup.records}: records would be written on other machines, so Ray writes none")
    specs, luggage = list(setup.specs), {}
    for index, spec in enumerate(setup.specs):
        if isinstance(spec, str | Path) and read_name(spec).kind in ("file", "folder", "onnx"):
            luggage[index] = _luggage_of(spec)
            specs[index] = ""
    size = sum(len(content) for one in luggage.values() for content in one.files.values())
    if size > MOST_BYTES:
        raise ValueError(f"the files of the bots have {size:,} bytes: expected at most {MOST_BYTES:,} to be sent")
    try:
        return pack((dataclasses.replace(setup, specs=tuple(specs)), luggage))
    except ValueError as error:
        raise ValueError(f"Ray needs bots that another machine can make: {error}") from error


def unpacked(data: bytes, folder: Path) -> Setup:
    """The setup of `packed_for_away`, whose bots' files are written under a folder."""
    setup: Setup
    setup, luggage = pickle.loads(data)
    specs = list(setup.specs)
    for index, one in luggage.items():
        home = folder / str(index)  # two bots may have files of one name
        for name, content in one.files.items():
            file = home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        specs[index] = f"{home / one.place}:{one.item}" if one.item else str(home / one.place)
    return dataclasses.replace(setup, specs=tuple(specs))


def _luggage_of(spec: str | Path) -> Luggage:
    written = read_name(spec)
    place, name = Path(written.place), Path(written.place).resolve().name  # of the folder `.` as well
    inside, above = (place, name) if written.kind == "folder" else (place.parent, "")
    files = {str(above / file.relative_to(inside)): file.read_bytes() for file in files_of(spec)}
    return Luggage(name, written.item, files)
