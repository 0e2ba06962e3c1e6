"""Write the pages of docs/ that are made from the code: `scripts/docs.py`. A test holds them to it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from okey_env.encoders import ENCODERS

ROOT = Path(__file__).resolve().parent.parent


def encoders_page() -> str:
    """The layout of every encoder."""
    lines = [
        "# Encoders",
        "",
        "Each encoder turns what a seat may know into one float32 array of named pieces. Seats are counted from the",
        "observer: itself, right, opposite, left. Kinds are in the order of `okey_env.tiles`: red 1 to 13, blue,",
        "black, yellow, then the wild kind.",
        "",
        "This page is made by `scripts/docs.py`.",
    ]
    for encoder in ENCODERS.values():
        lines += ["", f"## `{encoder.name}`, version {encoder.version}: ({encoder.size},)", "", encoder.table()]
    return "\n".join(lines) + "\n"


PAGES = {"encoders.md": encoders_page}
"""The pages by file name."""


def main() -> None:
    """Write them all."""
    for name, page in PAGES.items():
        (ROOT / "docs" / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
