"""Write the pages of docs/ that are made from the code: `.venv/bin/python scripts/docs.py`. A test compares them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from okey_env.encoders import ENCODERS
from okey_env.rule_sheet import markdown

ROOT = Path(__file__).resolve().parent.parent


def encoders_page() -> str:
    """The layout of every encoder."""
    lines = [
        "# Encoders",
        "",
        "An encoder turns an observation into one float32 array of named pieces. Seats are counted from the observer:",
        "itself, right, opposite, left. Kinds are in the order of `okey_env.tiles`: red 1 to 13, blue, black, yellow,",
        "then the wild kind. [learning.md](learning.md) shows how to write one.",
        "",
        "This page is made by `scripts/docs.py`.",
    ]
    for encoder in ENCODERS.values():
        lines += ["", f"## `{encoder.name}`, version {encoder.version}: ({encoder.size},)", "", encoder.table()]
    return "\n".join(lines) + "\n"


RULES_HEAD = """# The rules, numbered

Code, tests and messages cite these numbers. Two published rule pages are the sources: **G**, the French page of the
online game GameLake, and **K**, a Turkish site's *Okey Oyunu Kuralları*. The preset `gamelake` plays G, the preset
`klasik` plays K. *Said* means that the source states it; *chosen* means that the source is silent and common practice
decides. A switch names its values, and the value that each preset has; the other texts of a paragraph follow it.
`okey rules gamelake` prints the sheet of a preset, and `okey rules klasik --set stock_end=next_may_take` that of any
other setting.

Tiles in text: a colour letter (`R` red, `B` blue, `K` black, `Y` yellow or green) and a number 1 to 13, `F` a false
joker, `*` the okey of the round.

This page is made by `scripts/docs.py`.
"""

RULES_FOOT = """
Environments play single rounds, or matches with `episode="match"`: [matches.md](matches.md).

Not here: Okey 101, in which melds go on the table as soon as they total 101. That is another game.
"""


def rules_page() -> str:
    """Every paragraph of the rules, with all values of all switches."""
    return RULES_HEAD + markdown() + RULES_FOOT


PAGES = {"encoders.md": encoders_page, "rules.md": rules_page}
"""The pages by file name."""


def main() -> None:
    """Write them all."""
    for name, page in PAGES.items():
        (ROOT / "docs" / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
